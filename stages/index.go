package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// The stage local-index: accesses to elements of one array by position.
//
//	(I1) both are of the elements of an array at one place in the object, by
//	     element type, at positions from the start of that array: the slice that is
//	     indexed begins there, or it is a part [lo:hi] of one that does, and then
//	     the access lies in it. All slices of the object begin there but such parts
//	     as are indexed where they are made (starts)
//	(I2) the positions are constants that differ; or
//	(I3) both run in iterations of one loop alone, and are of positions c*i + x,
//	     where i is the loop's control variable (induction.go), x the same in all
//	     iterations of one execution of the loop, and c, i and the widths of the
//	     parts such that two iterations never get to one element
//	(I4) the loop is executed at most once, in the program, in an execution of a
//	     frame that the object belongs to, or of one whose executions exclude each
//	     other as both accesses inherit a lock in it (inherited.go); or by one
//	     goroutine, and all that its iterations start and that makes the accesses
//	     has been joined where the loop is entered again
//	(I5) in one iteration the accesses are ordered, or hold one lock of the
//	     iteration, as for the stage local-frame
//
// Or they are of positions that a counter gives out (tickets.go).
//
// By (I1) and (I3) two accesses to one element, in one execution of the loop, are
// of one iteration, and (I5) orders them. Those of different executions are apart
// or ordered by (I4).
//
// A checker must check the chain of registers from each index to the control
// variable by (V1) to (V5), (D1) to (D3) on the loop, the sums of (I3), and the
// evidence of (I4) and (I5).

// span is the positions [lo, lo+width) of the array at a cell.
type span struct {
	array uint32
	elem  facts.TypeID
	lo    form
	width int64
}

// refuteIndex is the stage.
func refuteIndex(r *run, p *stage.Pair) stage.Evidence {
	if !r.indexed(p.Cell) {
		return nil
	}
	o, _ := r.v.Res.Object(p.Cell)
	none := r.newIteration(nil)
	if none.apart(p) { // (I2)
		return stage.Apart{Object: uint32(o), Head: -1}
	}
	if by := r.refuteTickets(p); by != nil {
		return by
	}
	// Loops of instances that all accesses run under, or whose closures do.
	root := pta.InstID(0)
	for _, c := range []*stage.Class{p.A, p.B} {
		for _, m := range c.Members {
			n := r.frames.origin(r.w.Accesses[m.Access].Inst)
			if root == 0 {
				root = n
			}
			root = r.v.CommonDominator(root, n)
		}
	}
	for range maxFrameHeight {
		if root == 0 || r.v.Res.Func(root) == nil {
			break
		}
		for _, l := range r.v.Flow(root).Loops() {
			f := r.frames.frame(root, l)
			if f.own == nil || !f.holds(r, p.A) || !f.holds(r, p.B) {
				continue
			}
			it := f.iteration(r)
			if !it.loop.some() || !it.disjoint(p) || !r.entered(f, o, p) || !r.frames.open(f) { // (I3), (I4)
				continue
			}
			if by := f.refute(r, p); by != nil { // (I5)
				return stage.Apart{Object: uint32(o), Root: root, Head: l.Head, By: by}
			}
		}
		root = r.v.Dominator(root)
	}
	return nil
}

// indexed reports whether a cell is in an array of whose elements the stage knows
// positions. (I1)
func (r *run) indexed(cell uint32) bool {
	o, off := r.v.Res.Object(cell)
	ob := &r.v.Res.Objs[o]
	return ob.Type != 0 && !ob.Untyped && r.v.Res.Cell(o, off).Array != 0 && (ob.Kind == pta.ObjSite || ob.Kind == pta.ObjGlobal) && !r.pub.reflected(r.w, o) && r.starts(o)
}

// holds reports whether all accesses of a class run in the frame alone.
func (f *frame) holds(r *run, c *stage.Class) bool {
	for _, m := range c.Members {
		a := &r.w.Accesses[m.Access]
		if a.Inst == f.Root {
			if !f.inside(r.v, a.Point) {
				return false
			}
		} else if !r.frames.only(f, a.Inst) {
			return false
		}
	}
	return true
}

func (r *run) newIteration(f *frame) *iteration {
	return &iteration{r: r, f: f, multi: map[facts.FuncID]stage.Bits{}, once: map[origin]origin{}}
}

// iteration returns what is known of values in the frame, an iteration of a loop.
// The frame's view is needed for it only while a value is followed.
func (f *frame) iteration(r *run) *iteration {
	it := r.newIteration(f)
	if r.frames.open(f) {
		it.findInduction()
	}
	return it
}

// spans lists the positions of a class's accesses; not ok if one is not known.
func (it *iteration) spans(cell uint32, c *stage.Class) ([]span, bool) {
	var out []span
	for _, m := range c.Members {
		a := &it.r.w.Accesses[m.Access]
		g, ok := it.span(cell, a)
		if !ok {
			return nil, false
		}
		if !slices.ContainsFunc(out, func(h span) bool { return same(g, h) && g.lo.k == h.lo.k && g.width == h.width }) {
			out = append(out, g)
		}
	}
	return out, true
}

// same reports whether the positions of two spans differ by a constant in one
// iteration.
func same(g, h span) bool {
	return g.array == h.array && g.elem == h.elem && g.lo.coef == h.lo.coef && slices.Equal(g.lo.terms, h.lo.terms)
}

// apart reports (I2).
func (it *iteration) apart(p *stage.Pair) bool {
	return it.all(p, func(g, h span) bool {
		fixed := g.lo.coef == 0 && len(g.lo.terms) == 0
		return fixed && (g.lo.k+g.width <= h.lo.k || h.lo.k+h.width <= g.lo.k)
	})
}

// disjoint reports the arithmetic of (I3): positions c*i + x and c*j + y are of
// different elements if i and j differ. They differ by a multiple of Step that is
// not zero; modulo the size of a word, which a coefficient other than 1 and -1
// would not survive if i were not bounded.
func (it *iteration) disjoint(p *stage.Pair) bool {
	return it.all(p, func(g, h span) bool {
		c, step := g.lo.coef, it.loop.step
		if c == 0 || (c != 1 && c != -1 || step != 1 && step != -1) && !it.loop.bounded {
			return false
		}
		apart := c * step
		if apart < 0 {
			apart = -apart
		}
		d := g.lo.k - h.lo.k
		if d < 0 {
			d = -d
		}
		return apart-d >= max(g.width, h.width)
	})
}

// all reports whether ok holds of the spans of all accesses of a pair, two by
// two, and each two are of one array and differ by a constant.
func (it *iteration) all(p *stage.Pair, ok func(g, h span) bool) bool {
	gs, known := it.spans(p.Cell, p.A)
	if !known {
		return false
	}
	hs, known := it.spans(p.Cell, p.B)
	if !known {
		return false
	}
	for _, g := range gs {
		for _, h := range hs {
			if !same(g, h) || !ok(g, h) {
				return false
			}
		}
	}
	return true
}

// span returns the positions of an access to a cell. (I1)
func (it *iteration) span(cell uint32, a *stage.Access) (span, bool) {
	if a.Deep || a.Sync != stage.NoUse {
		return span{}, false
	}
	v := it.r.v
	f := v.Res.Func(a.Inst)
	m := &f.Mems[a.Row]
	n, base := a.Inst, m.Base
	if m.What == facts.WhatCopy || m.What == facts.WhatConvert { // a part as a whole
		return it.part(cell, n, base, m.Type)
	}
	if m.What == facts.WhatAppend || m.What == facts.WhatRange || m.What == facts.WhatMap || m.Index != 0 {
		return span{}, false
	}
	for range 16 {
		s, ok := it.source(n, base, 0)
		if !ok || s.load {
			break
		}
		g := v.Res.Func(s.n)
		def := g.Regs[s.r].Def
		if def == 0 || g.Points[def-1].Op != facts.OpAddr || it.severalDefs(g).Has(int(s.r)) {
			break
		}
		ad := &g.Addrs[g.Points[def-1].Row]
		if ad.Kind == facts.AddrField {
			n, base = s.n, ad.Base
			continue
		}
		if ad.Kind != facts.AddrElem {
			break
		}
		return it.element(cell, s.n, g, ad)
	}
	return span{}, false
}

// element returns the position of an element.
func (it *iteration) element(cell uint32, n pta.InstID, g *facts.Func, ad *facts.Addr) (span, bool) {
	types := it.r.v.Prog.Types
	t := types[g.Regs[ad.Base].Type]
	elem := t.Elem
	if t.Kind == facts.Pointer && types[elem].Kind == facts.Array {
		elem = types[elem].Elem
	} else if t.Kind != facts.Slice {
		return span{}, false
	}
	at, ok := it.arrayAt(cell, n, ad.Base)
	if !ok {
		return span{}, false
	}
	index, known := it.linear(n, ad.Index)
	known = known && ad.Index != 0
	if s, ok := it.source(n, ad.Base, 0); ok && !s.load {
		h := it.r.v.Res.Func(s.n)
		if d := h.Regs[s.r].Def; d != 0 && h.Points[d-1].Op == facts.OpAddr && h.Addrs[h.Points[d-1].Row].Kind == facts.AddrSlice {
			part, ok := it.part(cell, s.n, s.r, elem)
			switch {
			case known && zero(h, &h.Addrs[h.Points[d-1].Row]):
			case known && ok:
				index = index.plus(part.lo, 1)
			default:
				return part, ok && part.array == at
			}
		}
	}
	return span{at, elem, index, 1}, known && index.small()
}

// arrayAt returns the one cell of the object where a slice or pointer to an array
// points.
func (it *iteration) arrayAt(cell uint32, n pta.InstID, base facts.Reg) (at uint32, ok bool) {
	o, _ := it.r.v.Res.Object(cell)
	count := 0
	it.r.v.Res.PointsTo(n, base, 0).Each(func(c uint32) {
		if q, _ := it.r.v.Res.Object(c); q == o {
			at = c
			count++
		}
	})
	return at, count == 1
}

// part returns the positions of all of a slice s[lo:hi] of a slice, or pointer to
// an array, that begins where the array does.
func (it *iteration) part(cell uint32, n pta.InstID, r facts.Reg, elem facts.TypeID) (span, bool) {
	s, ok := it.source(n, r, 0)
	if !ok || s.load {
		return span{}, false
	}
	f := it.r.v.Res.Func(s.n)
	def := f.Regs[s.r].Def
	if def == 0 || f.Points[def-1].Op != facts.OpAddr || it.severalDefs(f).Has(int(s.r)) || it.r.v.Prog.Types[f.Regs[s.r].Type].Elem != elem {
		return span{}, false
	}
	ad := &f.Addrs[f.Points[def-1].Row]
	if ad.Kind != facts.AddrSlice || ad.High == 0 {
		return span{}, false
	}
	b, ok := it.source(s.n, ad.Base, 0)
	if !ok {
		return span{}, false
	}
	h := it.r.v.Res.Func(b.n)
	if d := h.Regs[b.r].Def; d != 0 && !b.load && h.Points[d-1].Op == facts.OpAddr {
		if x := &h.Addrs[h.Points[d-1].Row]; x.Kind == facts.AddrSlice && !zero(h, x) {
			return span{}, false // a part of a part
		}
	}
	at, ok := it.arrayAt(cell, s.n, ad.Base)
	lo, ok1 := it.linear(s.n, ad.Index)
	width, ok2 := it.width(s.n, f, ad.High, lo)
	return span{at, elem, lo, width}, ok && ok1 && ok2 && width >= 0
}

// width returns how far above lo the end of a part is at most: the end is a sum
// that differs from lo by a constant, or the lesser of such and something else.
func (it *iteration) width(n pta.InstID, f *facts.Func, high uint32, lo form) (int64, bool) {
	if hi, ok := it.linear(n, high); ok {
		return hi.above(lo)
	}
	l := &f.Lins[high]
	if !l.Known || l.Const != 0 || len(l.Terms) != 1 || l.Terms[0].Coef != 1 {
		return 0, false
	}
	s, ok := it.source(n, l.Terms[0].Reg, 0)
	if !ok || s.load {
		return 0, false
	}
	g := it.r.v.Res.Func(s.n)
	def := g.Regs[s.r].Def
	if def == 0 || g.Points[def-1].Op != facts.OpArith || g.Ariths[g.Points[def-1].Row].Op != facts.ArithMin || it.severalDefs(g).Has(int(s.r)) {
		return 0, false
	}
	a := &g.Ariths[g.Points[def-1].Row]
	for _, x := range []facts.Reg{a.X, a.Y} {
		if hi, ok := it.formOf(s.n, x, 0); ok {
			if k, ok := hi.above(lo); ok {
				return k, true
			}
		}
	}
	return 0, false
}
