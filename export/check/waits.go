package check

import "github.com/bfverify/bfverify/facts"

// waited returns the facts that a point gains by waiting: its operand is the signal's
// object, and no other. (W3), (W4)
func (k *checker) waited(i InstID, f *facts.Func, p uint32) []Fact {
	if f.Points[p].Op != facts.OpSync || len(k.signals) == 0 {
		return nil
	}
	y := &f.Syncs[f.Points[p].Row]
	switch y.Op {
	case facts.SyncRecv, facts.SyncSend:
		return k.communicated(i, y.Obj, y.Op == facts.SyncSend)
	case facts.SyncOnce:
		return k.past(i, y.Obj, func(s *signal) bool { return s.Kind == OnceDone })
	case facts.SyncWait:
		return k.joined(i, y.Obj)
	}
	return nil
}

// past returns that what some signals of the object of a register wait for is past.
func (k *checker) past(i InstID, r facts.Reg, which func(*signal) bool) (out []Fact) {
	if c, ok := k.single(i, r); ok {
		for _, n := range k.ofCell[c] {
			if which(&k.signals[n]) {
				out = append(out, Fact{Kind: Past, Signal: uint32(n), N: 1})
			}
		}
	}
	return out
}

// communicated returns what a completed send or receive has waited for.
func (k *checker) communicated(i InstID, r facts.Reg, send bool) []Fact {
	return k.past(i, r, func(s *signal) bool {
		o := k.ops[s.Cell]
		switch s.Kind {
		case Message:
			return !send
		case Close:
			return !send && len(o.sends) == 0
		case Sends:
			return !send && len(o.closes) == 0
		}
		return s.Kind == Receives && send
	})
}

// edgeFacts returns the facts that the n-th way out of a block gains: a branch on the
// second result of a receive, or on the case that a select took. (W3)
func (k *checker) edgeFacts(i InstID, f *facts.Func, b, n int) []Fact {
	c := f.Blocks[b].Cond
	if len(f.Blocks[b].Succs) != 2 || len(k.signals) == 0 || c.Kind != facts.CondTrue && c.Kind != facts.CondEq {
		return nil
	}
	def := f.Regs[c.X].Def
	if def == 0 || f.Points[def-1].Op != facts.OpCopy {
		return nil
	}
	cp, holds := &f.Copies[f.Points[def-1].Row], (n == 0) != c.Neg
	if cp.Src == facts.NoReg {
		return nil
	}
	for j := range f.Syncs { // what it receives defines the tuple, too
		y := &f.Syncs[j]
		if y.Op == facts.SyncRecv && y.Comma && y.Dst == cp.Src && cp.Index == 1 && c.Kind == facts.CondTrue && !holds {
			return k.past(i, y.Obj, func(s *signal) bool { return s.Kind == Close })
		}
	}
	for j := range f.Selects {
		if cs := f.Selects[j].Cases; f.Selects[j].Dst == cp.Src && cp.Index == 0 && c.Kind == facts.CondEq && holds && c.K >= 0 && c.K < int64(len(cs)) {
			return k.communicated(i, cs[c.K].Chan, cs[c.K].Send)
		}
	}
	return nil
}
