package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// The stage local-frame: the object is made in a frame (frames.go), so that both
// accesses are in one execution of it, and there
//
//	(F1) one happens before the other, by the order of a program that is that
//	     execution alone, in which objects of the frame and no others order; or
//	(F2) both hold one lock, which the frame makes at most once in an execution,
//	     in modes that exclude
//
// Accesses by what does not run in the frame are to other objects, whatever the
// points-to relation says.
//
// A checker must check (M1) to (M5) from the points-to relation, and the evidence
// of each order on the frame.

// refuteFrame is the stage.
func refuteFrame(r *run, p *stage.Pair) stage.Evidence {
	o, _ := r.v.Res.Object(p.Cell)
	for _, f := range r.frames.Of(o) {
		if !r.frames.open(f) {
			return nil
		}
		if by := f.refute(r, p); by != nil {
			return stage.Framed{Root: f.Root, Head: f.head(), Object: uint32(o), By: by}
		}
	}
	return nil
}

// head is the first block of an iteration, -1 for an activation.
func (f *frame) head() int {
	if f.Loop == nil {
		return -1
	}
	return f.Loop.Head
}

// local is accesses of a class as they are in a frame: by order class there, and
// locks.
type local struct {
	order *stage.OrderClass
	locks []stage.Guard
}

// refute returns why no two accesses of the pair race in an execution of the
// frame; nil if some may.
func (f *frame) refute(r *run, p *stage.Pair) []stage.Evidence {
	by := []stage.Evidence{}
	bs := f.locals(r, p.Cell, p.B)
	for _, a := range f.locals(r, p.Cell, p.A) {
		for _, b := range bs {
			e := f.par.ordered(a.order, b.order)
			if e == nil {
				e = excluded(a.locks, b.locks)
			}
			if e == nil {
				return nil
			}
			by = append(by, e)
		}
	}
	return by
}

// excluded returns the lock that two accesses hold in modes that exclude.
func excluded(as, bs []stage.Guard) stage.Evidence {
	for _, g := range as {
		for _, h := range bs {
			if g.Cell == h.Cell && (g.Write || h.Write) {
				return stage.SameLock{Cell: g.Cell}
			}
		}
	}
	return nil
}

// locals lists a class's accesses in the frame.
func (f *frame) locals(r *run, cell uint32, c *stage.Class) []local {
	type key struct {
		order int
		inst  pta.InstID // locks differ by instance and point
		point uint32
	}
	seen := map[key]bool{}
	var out []local
	for _, m := range c.Members {
		a := &r.w.Accesses[m.Access]
		if !f.live.Has(int(a.Inst)) || a.Inst == f.Root && !f.inside(r.v, a.Point) {
			continue
		}
		locks := r.guardsIn(f.view, spot{a.Inst, a.Point})
		kinds := f.par.kindsAt(a.Inst, stage.None)
		for i, oc := range f.par.classesAt(kinds, a) {
			if a.Sync == stage.UseAdd && f.par.paid(cell, kinds[i].thread, a) {
				continue
			}
			k := key{order: oc.ID}
			if len(locks) > 0 {
				k.inst, k.point = a.Inst, a.Point
			}
			if !seen[k] {
				seen[k] = true
				out = append(out, local{oc, locks})
			}
		}
	}
	return out
}

// guardsIn lists the locks surely held at a point that guard and are one object in a
// view.
func (r *run) guardsIn(v *stage.View, s spot) []stage.Guard {
	var out []stage.Guard
	for _, m := range r.lock.At(s.Inst, s.Point) {
		if m.Once || !r.lock.Guards(s.Inst, m) {
			continue
		}
		cell := m.Cell
		if !m.Object {
			c, ok := v.Single(s.Inst, m.Reg)
			if !ok {
				continue
			}
			if cell, ok = cellAt(r.v, c, m.Off); !ok {
				continue
			}
		}
		if oneObject(v, cell) {
			out = append(out, stage.Guard{Object: true, Cell: cell, Write: m.Write})
		}
	}
	return out
}

// cellAt returns the cell that lies some bytes from another, in the same element.
func cellAt(v *stage.View, c uint32, bytes int64) (uint32, bool) {
	o, off := v.Res.Object(c)
	ob := &v.Res.Objs[o]
	if ob.Type == 0 || ob.Untyped {
		return 0, false
	}
	cells := v.Prog.Layout(ob.Type).Cells
	at := slices.IndexFunc(cells, func(x facts.Cell) bool {
		return x.Array == cells[off].Array && x.Off == cells[off].Off+bytes
	})
	return ob.Node + uint32(at), at >= 0
}
