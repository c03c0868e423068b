package stage

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Dead code: blocks that no execution of an instance enters, because the
// branches on the way to them go the other way for every value that what they
// test may hold (values.go), or because a call on the way never returns
// (noreturn.go). Accesses there are none, and calls and starts there
// are no edges of any View. Control flow (Flow) keeps them, which is the safe
// side for what may follow what.
//
// A checker must check, for each branch that is not taken, the claim that the
// tested register holds none of the values for which it is: from the rows that
// rules (V1) to (V6) of values name.

// decide returns, for each of the two successors of block b of instance n,
// whether no value takes it.
func (x *values) decide(n pta.InstID, f *facts.Func, b int) (never [2]bool) {
	blk := &f.Blocks[b]
	if len(blk.Succs) != 2 || !exact(f) {
		return
	}
	c := blk.Cond
	first := 0 // the successor where the condition holds
	if c.Neg {
		first = 1
	}
	switch c.Kind {
	case facts.CondConst:
		never[1-first] = true
	case facts.CondTrue, facts.CondEq:
		v := x.reg(n, c.X)
		if v.Top || len(v.Ks) == 0 {
			return
		}
		want := c.K
		if c.Kind == facts.CondTrue {
			want = 1
		}
		holds, fails := false, false
		for _, k := range v.Ks {
			if k == want {
				holds = true
			} else {
				fails = true
			}
		}
		never[first], never[1-first] = !holds, !fails
	}
	return
}

// findDead computes the dead blocks of all instances, and takes the accesses in
// them away.
func (w *World) findDead() {
	w.dead = make([]Bits, len(w.Res.Insts))
	w.cuts = make([][]uint32, len(w.Res.Insts))
	x := newValues(w)
	w.values, w.partners = x, w.findPartners()
	w.findCuts()
	some := slices.ContainsFunc(w.cuts, func(c []uint32) bool { return len(c) > 0 })
	for i := 1; i < len(w.Res.Insts); i++ {
		n := pta.InstID(i)
		f := w.Res.Func(n)
		if f == nil || (len(f.Blocks) < 3 || !exact(f)) && len(w.cuts[n]) == 0 {
			continue
		}
		live := x.liveBlocks(n, f)
		if live == nil {
			continue
		}
		for b := range f.Blocks {
			if !live.Has(b) {
				if w.dead[i] == nil {
					w.dead[i] = NewBits(len(f.Blocks))
				}
				w.dead[i].Add(b)
				some = true
			}
		}
	}
	if some {
		w.keep(func(a *Access) bool { return !w.DeadAt(a.Inst, a.Point) })
	}
}

// liveBlocks returns the blocks of an instance that are not dead; nil if nothing is
// taken away.
func (x *values) liveBlocks(n pta.InstID, f *facts.Func) Bits {
	live := NewBits(len(f.Blocks))
	live.Add(0)
	todo := []int{0}
	push := func(b int) {
		if live.Add(b) {
			todo = append(todo, b)
		}
	}
	some := len(x.w.cuts[n]) > 0
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		blk := &f.Blocks[b]
		d := x.decide(n, f, b)
		some = some || d[0] || d[1]
		through := true
		for _, p := range x.w.cuts[n] { // (N1)
			through = through && (p < blk.Start || p >= blk.End)
		}
		for k, s := range blk.Succs {
			if through && (k > 1 || !d[k]) {
				push(int(s))
			}
		}
		if blk.Panic >= 0 {
			push(int(blk.Panic))
		}
	}
	if !some {
		return nil
	}
	return live
}

// DeadAt reports whether no execution of instance n reaches point p.
func (w *World) DeadAt(n pta.InstID, p uint32) bool {
	if w.dead[n] == nil && len(w.cuts[n]) == 0 {
		return false
	}
	b := w.Flow(n).Block(p)
	if w.dead[n] != nil && w.dead[n].Has(b) {
		return true
	}
	for _, q := range w.cuts[n] {
		if q < p && w.Flow(n).Block(q) == b {
			return true
		}
	}
	return false
}

// deadEdge reports whether no execution of instance n takes its call edge e.
func (w *World) deadEdge(n pta.InstID, e pta.Edge) bool {
	if w.dead == nil || w.dead[n] == nil && len(w.cuts[n]) == 0 {
		return false
	}
	at := w.PointsOf(n, e.Kind, e.Row)
	for _, p := range at {
		if !w.DeadAt(n, p) {
			return false
		}
	}
	return len(at) > 0
}

// keep takes away the accesses for which f is false.
func (w *World) keep(f func(*Access) bool) {
	old, cells := w.Accesses, w.cells
	w.Accesses, w.cells = nil, lists{}
	for i := range w.ByInst {
		w.ByInst[i] = nil
	}
	w.Cells, w.at = nil, lists{}
	written := NewBits(w.Res.Cells())
	for i := range old {
		if f(&old[i]) {
			w.addAccess(old[i], cells.of(i), written)
		}
	}
	w.invert(written)
	w.number()
}
