package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/stages/stage"
)

// Flags: a branch on a value that was loaded tells who stored it. Let P be what
// the branch says of the value: how it compares with a constant.
//
//	(F1) the cell is one variable (oneObject), of one word, that nothing writes
//	     but stores of one scalar or pointer
//	(F2) P is false of zero, so that the value was stored by one of the stores
//	     that may leave a value with P; these are the spots. The store of the very
//	     operation that loaded (CompareAndSwap, Add) is none of them where it
//	     executes at most once in the whole run: it comes after its load
//	(F3) the load and all spots are atomic; or the load and all spots are done
//	     under one lock (must-locksets), the spots holding it for writing. Then
//	     the store that left the value happens before the load
//	(F4) the value that the branch tests is that load's (sights.go): through copies,
//	     comparisons with constants, negations, sums with constants and results of
//	     calls. CompareAndSwap(old) is true where it saw old and false where it did
//	     not; Add(d) gives r where it saw r-d. Of sums, equality alone tells
//
// The wait is the edge of the branch, in the instance that tests. Stores in dead
// code are none. A store of a value that is not known may leave any.
//
// A checker must check the path of (F4) from the register to the load, and that
// the spots are all accesses of the cell that write and may leave P.

// maxFlags bounds the flags of a program, which cost a count at each point.
const maxFlags = 128

// findFlags adds the signals of flags, and the edges that wait for them.
func (a *awaited) findFlags(locks *mustnot.Locks) {
	v := a.v
	type key struct {
		cell  uint32
		pred  pred
		self  spot
		lock  uint32
		plain bool
	}
	known := map[key]int{}
	a.r.sights(v).branches(func(e edgeKey, s sight) {
		if s.may(stage.Values{Ks: []int64{0}}) || s.sum && !s.equality() { // (F2)
			return
		}
		cell, id, ok := a.flagCell(s)
		if !ok {
			return
		}
		acc := &v.Accesses[id]
		ky := key{cell: cell, pred: s.pred, self: a.selfStore(s, cell), plain: !acc.Atomic}
		guards := []stage.Guard{{}}
		if !acc.Atomic {
			guards = locks.GuardsAt(acc, cell)
		}
		for _, g := range guards {
			if !acc.Atomic && !g.Object {
				continue
			}
			ky.lock = g.Cell
			sig, done := known[ky]
			if !done {
				sig = -1
				if spots, ok := a.flagStores(cell, s.pred, ky.self, acc.Atomic, g, locks); ok && len(spots) > 0 && len(known) < maxFlags {
					sig = a.add(signal{kind: signalFlag, Cell: cell, Need: 1, spots: spots})
				}
				known[ky] = sig
			}
			if sig >= 0 {
				a.edgeWaits[e] = append(a.edgeWaits[e], sig)
				break
			}
		}
	})
}

// flagCell returns the cell that a load reads and the access that it is. (F1)
func (a *awaited) flagCell(s sight) (cell uint32, access uint32, ok bool) {
	v := a.v
	f := v.Res.Func(s.n)
	m := &f.Mems[f.Points[s.p].Row]
	c, one := v.Single(s.n, m.Base)
	if !one || !oneWord(v, m.Type) || v.Prog.Types[m.Type].Size > v.Word() && m.Mode != facts.Atomic {
		return 0, 0, false
	}
	c += m.Off
	if !oneObject(v, c) {
		return 0, 0, false
	}
	for _, id := range v.ByInst[s.n] {
		if x := &v.Accesses[id]; x.Point == s.p && x.Sync == stage.NoUse {
			return c, id, true
		}
	}
	return 0, 0, false
}

// selfStore returns the store of the operation that loads, where it executes at
// most once. (F2)
func (a *awaited) selfStore(s sight, cell uint32) spot {
	v := a.v
	f := v.Res.Func(s.n)
	if !f.Is(facts.FnAtomic) || !v.Once.Has(int(s.n)) {
		return spot{}
	}
	at := spot{}
	for p, pt := range f.Points {
		if pt.Op == facts.OpMem && f.Mems[pt.Row].Write && f.Mems[pt.Row].Mode == facts.Atomic {
			if at != (spot{}) || uint32(p) < s.p || v.Flow(s.n).OnCycle(uint32(p)) {
				return spot{}
			}
			at = spot{s.n, uint32(p)}
		}
	}
	return at
}

// flagStores returns the stores that may leave a value with P in a cell; not ok
// if one of them is not as (F1) and (F3) ask.
func (a *awaited) flagStores(cell uint32, want pred, self spot, atomic bool, guard stage.Guard, locks *mustnot.Locks) ([]spot, bool) {
	v := a.v
	var spots []spot
	for _, id := range v.At(cell) {
		x := &v.Accesses[id]
		if !x.Write || x.Sync != stage.NoUse || !v.Live.Has(int(x.Inst)) {
			continue
		}
		f := v.Res.Func(x.Inst)
		if x.Deep || !oneWord(v, f.Mems[x.Row].Type) {
			return nil, false
		}
		sp := spot{x.Inst, x.Point}
		if sp == self || !want.may(v.ValuesOf(x.Inst, f.Mems[x.Row].Val)) {
			continue
		}
		if x.Atomic != atomic {
			return nil, false
		}
		if !atomic {
			held := false
			for _, g := range locks.GuardsAt(x, cell) {
				held = held || g.Object && g.Cell == guard.Cell && g.Write
			}
			if !held {
				return nil, false
			}
		}
		spots = append(spots, sp)
	}
	return spots, true
}
