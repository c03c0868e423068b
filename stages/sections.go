package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Counters under a lock: what is loaded of a counter in a critical section that
// stores more is seen in no other such section.
//
//	(C1) every write of the counter stores, in one block, what a load of the block
//	     saw of the counter plus d
//	(C2) from the load to the store one lock is surely held for writing: one object
//	     for the program, a usable guard, the same at all writes
//	(C3) between the two, nothing that is called may release the lock or write the
//	     counter, and nothing here does
//	(C4) what is loaded of the counter in the same block, and (C2) and (C3) from or
//	     to there, is as much as that load saw, or d more after the store. Before the
//	     store, it goes nowhere but into sums until that is done: who has it has
//	     passed the store, even if there is a panic on the way. (A defer statement
//	     ends its block, so that today (C1) alone keeps values from deferred calls)
//
// By (C2) and (C3) the sections from load to store exclude each other, by (C1) each
// finds what the one before has left.

// section is a load of a counter and the store that follows.
type section struct {
	n           pta.InstID
	load, store uint32
}

// loads returns the form of what a load draws of the counter, which the cell
// becomes if there is none yet. (C4)
func (d *tickets) loads(r *run, n pta.InstID, f *facts.Func, p uint32) (form, bool) {
	m := &f.Mems[f.Points[p].Row]
	if m.Write || m.Mode != facts.Plain || m.ValLeaf != 0 {
		return form{}, false
	}
	cell, one := d.v.Single(n, m.Base)
	if !one || !d.is(r, cell+m.Off, true) {
		return form{}, false
	}
	fl := r.v.Flow(n)
	for _, w := range d.sections {
		if w.n != n || fl.Block(w.store) != fl.Block(p) || !slices.Contains(r.heldFor(spot{n, p}), d.lock) {
			continue
		}
		if p < w.store {
			return form{coef: 1}, unused(f, m.Val, p, w.store) && d.quiet(r, section{n, min(p, w.load), w.store})
		}
		return form{coef: 1, k: d.delta}, d.quiet(r, section{n, w.store, p})
	}
	return form{}, false
}

// unused reports whether a register goes nowhere but into sums, and these nowhere
// but into memory at q, between two points. (C4)
func unused(f *facts.Func, x facts.Reg, p, q uint32) bool {
	ok := true
	sums := []facts.Reg{x}
	for at := p + 1; at < q; at++ {
		pt := f.Points[at]
		f.Uses(pt, func(u facts.Reg) {
			if slices.Contains(sums, u) {
				ok = ok && pt.Op == facts.OpArith
			}
		})
		if pt.Op == facts.OpArith && slices.ContainsFunc(sums, func(u facts.Reg) bool { return u == f.Ariths[pt.Row].X || u == f.Ariths[pt.Row].Y }) {
			sums = append(sums, f.Ariths[pt.Row].Dst)
		}
	}
	return ok
}

// lockedCounter reports whether a cell is a counter under a lock, and by how much
// it counts; it fills in sections. (C1) to (C4)
func (d *tickets) lockedCounter(r *run, cell uint32) (delta int64, ok bool) {
	if !d.variable(r, cell) {
		return 0, false
	}
	var locks []uint32
	for _, id := range r.w.At(cell) {
		a := &r.w.Accesses[id]
		if !a.Write || !r.v.Live.Has(int(a.Inst)) {
			continue
		}
		if a.Deep || a.Sync != stage.NoUse || a.Atomic {
			return 0, false
		}
		w, k, found := d.sectionAt(r, cell, a)
		if !found || ok && k != delta {
			return 0, false
		}
		held := common(r.heldFor(spot{w.n, w.load}), r.heldFor(spot{w.n, w.store}))
		if ok {
			held = common(held, locks)
		}
		locks, delta, ok = held, k, true
		d.sections = append(d.sections, w)
	}
	if !ok || !small(delta) {
		return 0, false
	}
	for _, l := range locks {
		d.lock, d.busy = l, d.busyWith(r, cell, l)
		if !slices.ContainsFunc(d.sections, func(w section) bool { return !d.quiet(r, w) }) {
			return delta, true
		}
	}
	return 0, false
}

// sectionAt returns the load that belongs to a store, and what it adds. (C1), (C4)
func (d *tickets) sectionAt(r *run, cell uint32, a *stage.Access) (w section, k int64, ok bool) {
	f := r.v.Res.Func(a.Inst)
	fl := r.v.Flow(a.Inst)
	it := r.newIteration(nil)
	m := &f.Mems[a.Row]
	sum := m.Val
	if m.ValLeaf != 0 || !it.long(m.Type) || f.Regs[sum].Def == 0 || f.Points[f.Regs[sum].Def-1].Op != facts.OpArith {
		return w, 0, false
	}
	x := f.Ariths[f.Points[f.Regs[sum].Def-1].Row].X
	k, ok = it.plus(f, sum, x)
	if !ok || f.Regs[x].Def == 0 || it.severalDefs(f).Has(int(x)) || f.Points[f.Regs[x].Def-1].Op != facts.OpMem {
		return w, 0, false
	}
	p, add, q := f.Regs[x].Def-1, f.Regs[sum].Def-1, a.Point
	ld := &f.Mems[f.Points[p].Row]
	c, one := d.v.Single(a.Inst, ld.Base)
	if !one || c+ld.Off != cell || ld.Write || ld.Mode != facts.Plain || ld.ValLeaf != 0 || ld.Type != m.Type {
		return w, 0, false
	}
	if b := fl.Block(q); fl.Block(p) != b || fl.Block(add) != b || !(p < add && add < q) {
		return w, 0, false
	}
	return section{a.Inst, p, q}, k, unused(f, x, p, q)
}

// common lists what is in both lists.
func common(a, b []uint32) []uint32 {
	return slices.DeleteFunc(a, func(x uint32) bool { return !slices.Contains(b, x) })
}

// busyWith returns the instances that may write a cell or release a lock, and all
// that leads to one by calls.
func (d *tickets) busyWith(r *run, cell, lock uint32) stage.Bits {
	v := r.v
	var at []spot
	for _, id := range r.w.At(cell) {
		if a := &r.w.Accesses[id]; a.Write {
			at = append(at, spot{a.Inst, a.Point})
		}
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects) == 0 {
			continue
		}
		for p := range f.Points {
			if r.lock.MayRelease(n, uint32(p), lock) {
				at = append(at, spot{n, uint32(p)})
				break
			}
		}
	}
	return leading(v, at)
}

// quiet reports (C3) of what lies between the ends of a section.
func (d *tickets) quiet(r *run, w section) bool {
	f := r.v.Res.Func(w.n)
	for p := w.load + 1; p < w.store; p++ {
		if r.lock.MayRelease(w.n, p, d.lock) {
			return false
		}
		pt := f.Points[p]
		if pt.Op == facts.OpMem && f.Mems[pt.Row].Write && d.writes(r, w.n, p) {
			return false
		}
		for _, e := range r.v.EdgesAt(w.n, pt) {
			if d.busy.Has(int(e.Callee)) {
				return false
			}
		}
	}
	return true
}

// writes reports whether a point writes the counter.
func (d *tickets) writes(r *run, n pta.InstID, p uint32) bool {
	return slices.ContainsFunc(d.sections, func(w section) bool { return w.n == n && w.store == p })
}
