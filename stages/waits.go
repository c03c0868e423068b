package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Where waits complete: points, and edges of control flow.
//
//	(E1) a receive, a send, an acquire, a return of Do, a Wait: the point
//	(E2) what a receive with a second result says: the edges on which that is
//	     true, or false. Where waits are counted, nothing else tests that result,
//	     and the edge is not taken again before the next receive
//	(E3) a case of a select: the edge on which the index is this case's. A select
//	     without default of which one case alone can ever be ready: the point.
//	     Default, and a case that is not taken, give nothing
//
// The operand must point to one cell, so that it is the signal's object wherever
// the wait completes at all.

// edgeKey is an edge of control flow in an instance: from block b to its k-th
// successor.
type edgeKey struct {
	n    pta.InstID
	b, k int
}

// edgeRegs are the registers of a function that say how waits ended.
type edgeRegs struct {
	ok    map[facts.Reg]uint32 // second results of receives: the row of Syncs
	index map[facts.Reg]uint32 // chosen cases: the row of Selects
}

// findEdgeRegs fills in edgeRegs.
func (a *awaited) findEdgeRegs() {
	a.edge = map[facts.FuncID]*edgeRegs{}
	for i := 1; i < len(a.v.Res.Insts); i++ {
		f := a.v.Res.Func(pta.InstID(i))
		if f == nil || a.edge[f.ID] != nil || len(f.Syncs)+len(f.Selects) == 0 {
			continue
		}
		r := &edgeRegs{map[facts.Reg]uint32{}, map[facts.Reg]uint32{}}
		recvs, selects := map[facts.Reg]uint32{}, map[facts.Reg]uint32{}
		for row, y := range f.Syncs {
			if y.Op == facts.SyncRecv && y.Comma {
				recvs[y.Dst] = uint32(row)
			}
		}
		for row := range f.Selects {
			selects[f.Selects[row].Dst] = uint32(row)
		}
		for _, c := range f.Copies {
			if row, ok := recvs[c.Src]; ok && c.Index == 1 {
				r.ok[c.Dst] = row
			}
			if row, ok := selects[c.Src]; ok && c.Index == 0 {
				r.index[c.Dst] = row
			}
		}
		a.edge[f.ID] = r
	}
}

// findWaits fills in waits, edgeWaits and placeSpots.
func (a *awaited) findWaits() {
	v := a.v
	for i := 1; i < len(v.Res.Insts); i++ {
		id := pta.InstID(i)
		f := v.Res.Func(id)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects) == 0 {
			continue
		}
		for p, pt := range f.Points {
			if pt.Op == facts.OpSync && !v.DeadAt(id, uint32(p)) {
				switch f.Syncs[pt.Row].Op {
				case facts.SyncSend, facts.SyncRecv, facts.SyncAcquire:
					a.placeSpots = append(a.placeSpots, spot{id, uint32(p)})
				}
			}
			if l := a.pointWaits(id, f, uint32(p)); len(l) > 0 {
				a.waits[spot{id, uint32(p)}] = l
			}
		}
		for b := range f.Blocks {
			for k := range f.Blocks[b].Succs {
				if l := a.edgeWaitsAt(id, f, b, k); len(l) > 0 {
					e := edgeKey{id, b, k}
					a.edgeWaits[e] = append(a.edgeWaits[e], l...)
				}
			}
		}
	}
}

// pointWaits returns the signals that a point waits for. (E1)
func (a *awaited) pointWaits(n pta.InstID, f *facts.Func, p uint32) []int {
	pt := f.Points[p]
	switch pt.Op {
	case facts.OpSelect: // (E3)
		s := &f.Selects[pt.Row]
		only := -1
		for k := range s.Cases {
			if a.v.MayCommunicate(n, &s.Cases[k]) {
				if only >= 0 {
					return nil
				}
				only = k
			}
		}
		if only < 0 || !s.Blocking {
			return nil
		}
		return a.caseWaits(n, &s.Cases[only])
	case facts.OpSync:
	default:
		return nil
	}
	y := &f.Syncs[pt.Row]
	switch y.Op {
	case facts.SyncRecv, facts.SyncSend, facts.SyncOnce, facts.SyncWait, facts.SyncAcquire:
	default:
		return nil
	}
	c, ok := a.v.Single(n, y.Obj)
	if !ok {
		return nil
	}
	switch y.Op {
	case facts.SyncRecv:
		return a.received(c)
	case facts.SyncSend, facts.SyncAcquire:
		return a.ofKind(c, signalRecv)
	case facts.SyncOnce:
		return a.ofKind(c, signalOnce)
	}
	var out []int
	for _, i := range a.ofKind(c, signalWait) {
		if a.allLate(i, n, p) {
			out = append(out, i)
		}
	}
	return out
}

// ofKind returns the signals of a kind at a cell.
func (a *awaited) ofKind(c uint32, k signalKind) (out []int) {
	for _, i := range a.byCell[c] {
		if a.signals[i].kind == k {
			out = append(out, i)
		}
	}
	return out
}

// received returns what a completed receive waits for: a message or a close.
func (a *awaited) received(c uint32) []int {
	out := a.ofKind(c, signalFirst)
	o := a.ops[c]
	if o == nil {
		return out
	}
	if len(o.sends) == 0 { // (S2)
		out = append(out, a.ofKind(c, signalClose)...)
	}
	if len(o.closes) == 0 { // (S3)
		out = append(out, a.ofKind(c, signalSend)...)
	}
	return out
}

func (a *awaited) caseWaits(n pta.InstID, k *facts.SelectCase) []int {
	c, ok := a.v.Single(n, k.Chan)
	if !ok {
		return nil
	}
	if k.Send {
		return a.ofKind(c, signalRecv)
	}
	return a.received(c)
}

// edgeWaitsAt returns the signals that taking successor k of block b waits for.
// (E2), (E3)
func (a *awaited) edgeWaitsAt(n pta.InstID, f *facts.Func, b, k int) []int {
	c := f.Blocks[b].Cond
	r := a.edge[f.ID]
	if len(f.Blocks[b].Succs) != 2 || r == nil {
		return nil
	}
	holds := (k == 0) != c.Neg
	switch c.Kind {
	case facts.CondTrue:
		row, ok := r.ok[c.X]
		if !ok {
			return nil
		}
		cell, ok := a.v.Single(n, f.Syncs[row].Obj)
		if !ok {
			return nil
		}
		if !holds {
			return a.ofKind(cell, signalClose)
		}
		if o := a.ops[cell]; o == nil || len(o.closes) == 0 {
			return nil // the point counted it
		}
		once := testedOnce(a.v.Flow(n), r, row, b)
		return slices.DeleteFunc(a.ofKind(cell, signalSend), func(i int) bool { return a.signals[i].Need > 1 && !once })
	case facts.CondEq:
		row, ok := r.index[c.X]
		if !ok || !holds {
			return nil
		}
		s := &f.Selects[row]
		if c.K < 0 || c.K >= int64(len(s.Cases)) {
			return nil
		}
		live := 0
		for i := range s.Cases {
			if a.v.MayCommunicate(n, &s.Cases[i]) {
				live++
			}
		}
		if live < 2 && s.Blocking {
			return nil // the point counted it
		}
		return a.caseWaits(n, &s.Cases[c.K])
	}
	return nil
}

// testedOnce reports whether block b alone tests the second result of the receive
// in Syncs[row], and at most once for each time that the receive executes.
func testedOnce(fl *stage.Flow, r *edgeRegs, row uint32, b int) bool {
	f := fl.F
	for i := range f.Blocks {
		if of, ok := r.ok[f.Blocks[i].Cond.X]; i != b && ok && of == row {
			return false
		}
	}
	at := -1 // the block of the receive
	for p, pt := range f.Points {
		if pt.Op == facts.OpSync && pt.Row == row {
			if at >= 0 {
				return false
			}
			at = fl.Block(uint32(p))
		}
	}
	if at == b {
		return true
	}
	seen := stage.NewBits(len(f.Blocks))
	todo := []int{b}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		fl.Succs(c, func(s int) {
			if s == at {
				s = int(f.Blocks[at].Panic) // before the receive
			}
			if s >= 0 && seen.Add(s) {
				todo = append(todo, s)
			}
		})
	}
	return at >= 0 && !seen.Has(b)
}

// findCounted adds the waits for counters, (Q4) of counts.go, to edgeWaits.
func (a *awaited) findCounted() {
	for i := range a.signals {
		j := a.ownWaits[i]
		if j == nil || j.tally == nil {
			continue
		}
		for _, e := range j.tally.edges {
			if l := j.tally.load[e]; a.allLate(i, l.Inst, l.Point) {
				a.edgeWaits[e] = append(a.edgeWaits[e], i)
			}
		}
	}
}

// allLate reports whether point p of instance n runs only where (S6) lets it
// wait for signal i.
func (a *awaited) allLate(i int, n pta.InstID, p uint32) bool {
	j := a.ownWaits[i]
	for _, t := range a.v.ThreadsOf(n) {
		if t == j.Owner {
			if !a.noStartAfter(j, a.afterSpot(t, spot{n, p})) {
				return false
			}
			continue
		}
		ok := j.tally != nil && j.tally.ahead && slices.Contains(j.Joined, t) // (Q6)
		for _, l := range a.late[i] {
			ok = ok || l == t
		}
		if !ok {
			return false
		}
	}
	return true
}
