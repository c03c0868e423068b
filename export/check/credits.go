package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// credits finds the joins without credit, and reports whether there are more. (J4)
func (k *checker) credits() (more bool) {
	for n := range k.signals {
		s := &k.signals[n]
		if s.Kind != Group {
			continue
		}
		j, paid := s.join, Fact{Kind: Credit, Signal: uint32(s.join.first), N: 1}
		for _, at := range slices.Concat(j.own, k.startsOf(s.thread)) {
			if !j.bad && !k.heldAt(at).has(paid) {
				j.bad, more = true, true
			}
		}
	}
	return more
}

// afterAdd adds or spends credits: constants alone. (J4)
func (k *checker) afterAdd(i InstID, f *facts.Func, pt facts.Point, s State) (out, panics State) {
	if pt.Op != facts.OpSync || f.Syncs[pt.Row].Op != facts.SyncAdd || len(k.signals) == 0 {
		return s, s
	}
	c, ok := k.single(i, f.Syncs[pt.Row].Obj)
	n, known := k.added(i, &f.Syncs[pt.Row])
	for _, x := range k.ofCell[c] {
		if first := uint32(x); ok && known && k.signals[x].Kind == Group && x == k.signals[x].join.first {
			if n > 0 {
				return s.and(Fact{Kind: Credit, Signal: first, N: uint32(min(n, maxCount))}), s
			}
			s = s.spend(first)
		}
	}
	return s, s
}

// afterStarts takes away what calls and starts of a row end: credits that callees
// may spend, or starts do, and Joined of what may start. (J4), (J5)
func (k *checker) afterStarts(i InstID, row uint32, s State) State {
	if len(k.signals) == 0 {
		return s
	}
	spent := map[uint32]bool{}
	for _, e := range k.edgesAt(i, row) {
		does, t := k.c.Insts[e.Callee].Does, -1
		if e.Go {
			t = k.threadAt(i, e)
		}
		s = s.drop(func(n Fact) bool {
			if n.Kind == Joined {
				x := k.signals[n.Signal].thread
				return x == t || does.Has(x)
			}
			return n.Kind == Credit && !e.Go
		})
		for n := range k.signals {
			if x := &k.signals[n]; x.Kind == Group && x.thread == t {
				spent[uint32(x.join.first)] = true
			}
		}
	}
	for first := range spent {
		s = s.spend(first)
	}
	return s
}

// spend takes one credit away, if there is one.
func (s State) spend(first uint32) State {
	n, ok := s.count(Fact{Kind: Credit, Signal: first})
	s = s.drop(func(x Fact) bool { return x.Kind == Credit && x.Signal == first })
	if ok && n > 1 {
		s = s.and(Fact{Kind: Credit, Signal: first, N: n - 1})
	}
	return s
}

// added returns what an Add adds, if that is a constant: an operand, or a parameter
// for which a single caller passes one.
func (k *checker) added(i InstID, y *facts.Sync) (int64, bool) {
	r := y.Val
	for range 8 {
		f := k.fn(i)
		for _, c := range f.Consts {
			if c.Dst == r && c.Known {
				return c.Int, true
			}
		}
		j := slices.Index(f.Params, r)
		if by := k.callers[i]; y.Op != facts.SyncAdd || j < 0 || r == facts.NoReg || len(by) != 1 || int(by[0].row) >= len(k.fn(by[0].inst).Calls) {
			break
		}
		by := k.callers[i][0]
		c := &k.fn(by.inst).Calls[by.row]
		if c.Method != 0 {
			j--
		}
		if j < 0 || j >= len(c.Args) {
			break
		}
		i, r = by.inst, c.Args[j]
	}
	return y.N, y.Known
}
