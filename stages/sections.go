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
//	     saw of the counter plus a constant
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

// section is a load of a counter and the store that follows, of by more.
type section struct {
	n           pta.InstID
	load, store uint32
	by          int64
	hidden      bool // (C4)
}

// sections are all writes of a counter under a lock, and what may write it or release
// the lock, or calls who does.
type sections struct {
	lock uint32
	list []section
	busy stage.Bits
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
	for _, w := range d.under.list {
		if w.n != n || fl.Block(w.store) != fl.Block(p) || !slices.Contains(r.heldIn(d.v, spot{n, p}), d.under.lock) {
			continue
		}
		if p < w.store {
			return form{coef: 1}, unused(f, m.Val, p, w.store) && d.under.quiet(r, n, min(p, w.load), w.store)
		}
		return form{coef: 1, k: d.delta}, d.under.quiet(r, n, w.store, p)
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

// lockedCounter reports whether a cell is a counter under a lock from which tickets
// are drawn, and by how much it counts. (C1) to (C4)
func (d *tickets) lockedCounter(r *run, cell uint32) (delta int64, ok bool) {
	if !d.variable(r, cell) {
		return 0, false
	}
	if d.under, ok = r.lockedWrites(d.v, cell, spot{}); !ok {
		return 0, false
	}
	o, off := r.v.Res.Object(cell)
	if !r.newIteration(nil).long(r.v.Res.Cell(o, off).Type) {
		return 0, false
	}
	delta = d.under.list[0].by
	odd := slices.ContainsFunc(d.under.list, func(w section) bool { return w.by != delta || !w.hidden })
	return delta, !odd && small(delta)
}

// lockedWrites finds the writes of a counter under a lock, but for one. (C1) to (C3)
func (r *run) lockedWrites(v *stage.View, cell uint32, but spot) (*sections, bool) {
	out := &sections{}
	var locks []uint32
	for _, id := range r.w.At(cell) {
		a := &r.w.Accesses[id]
		if !a.Write || !r.v.Live.Has(int(a.Inst)) || but == (spot{a.Inst, a.Point}) {
			continue
		}
		if a.Deep || a.Sync != stage.NoUse || a.Atomic {
			return nil, false
		}
		w, found := r.sectionAt(v, cell, a)
		if !found {
			return nil, false
		}
		held := common(r.heldIn(v, spot{w.n, w.load}), r.heldIn(v, spot{w.n, w.store}))
		if len(out.list) > 0 {
			held = common(held, locks)
		}
		locks = held
		out.list = append(out.list, w)
	}
	for _, l := range locks {
		out.lock, out.busy = l, out.busyWith(r, cell, l)
		if !slices.ContainsFunc(out.list, func(w section) bool { return !out.quiet(r, w.n, w.load, w.store) }) {
			return out, true
		}
	}
	return nil, false
}

// sectionAt returns the load that belongs to a store, and what it adds. (C1), (C4)
func (r *run) sectionAt(v *stage.View, cell uint32, a *stage.Access) (w section, ok bool) {
	f := r.v.Res.Func(a.Inst)
	fl := r.v.Flow(a.Inst)
	it := r.newIteration(nil)
	m := &f.Mems[a.Row]
	sum := m.Val
	if m.ValLeaf != 0 || !it.integer(m.Type) || f.Regs[sum].Def == 0 || f.Points[f.Regs[sum].Def-1].Op != facts.OpArith {
		return w, false
	}
	x := f.Ariths[f.Points[f.Regs[sum].Def-1].Row].X
	k, ok := it.plus(f, sum, x)
	if !ok || f.Regs[x].Def == 0 || it.severalDefs(f).Has(int(x)) || f.Points[f.Regs[x].Def-1].Op != facts.OpMem {
		return w, false
	}
	p, add, q := f.Regs[x].Def-1, f.Regs[sum].Def-1, a.Point
	ld := &f.Mems[f.Points[p].Row]
	c, one := v.Single(a.Inst, ld.Base)
	if !one || c+ld.Off != cell || ld.Write || ld.Mode != facts.Plain || ld.ValLeaf != 0 || ld.Type != m.Type {
		return w, false
	}
	if b := fl.Block(q); fl.Block(p) != b || fl.Block(add) != b || !(p < add && add < q) {
		return w, false
	}
	return section{a.Inst, p, q, k, unused(f, x, p, q)}, true
}

// heldIn lists the locks that are one object in a view, guard, and are surely held
// for writing at a point.
func (r *run) heldIn(v *stage.View, s spot) (out []uint32) {
	for _, g := range r.guardsIn(v, s) {
		if g.Write && !slices.Contains(out, g.Cell) {
			out = append(out, g.Cell)
		}
	}
	return out
}

// common lists what is in both lists.
func common(a, b []uint32) []uint32 {
	return slices.DeleteFunc(a, func(x uint32) bool { return !slices.Contains(b, x) })
}

// busyWith returns the instances that may write a cell or release a lock, and all
// that leads to one by calls.
func (d *sections) busyWith(r *run, cell, lock uint32) stage.Bits {
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

// quiet reports (C3) of what lies between two points.
func (d *sections) quiet(r *run, n pta.InstID, from, to uint32) bool {
	f := r.v.Res.Func(n)
	for p := from + 1; p < to; p++ {
		if r.lock.MayRelease(n, p, d.lock) {
			return false
		}
		pt := f.Points[p]
		if pt.Op == facts.OpMem && f.Mems[pt.Row].Write && d.writes(n, p) {
			return false
		}
		for _, e := range r.v.EdgesAt(n, pt) {
			if d.busy.Has(int(e.Callee)) {
				return false
			}
		}
	}
	return true
}

// writes reports whether a point writes the counter.
func (d *sections) writes(n pta.InstID, p uint32) bool {
	return slices.ContainsFunc(d.list, func(w section) bool { return w.n == n && w.store == p })
}
