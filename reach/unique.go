package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// putBy returns the one store that puts objects of site h into some cells, if each
// of these objects is put there once: then an object tells in whose cell it lies.
//
//	(P1) the cells are written by recognised stores alone, and h is made by one
//	     point, at a node
//	(P2) every store that may bring an object of h into one of the cells, of what
//	     was not loaded from that same cell of that same object, is this one
//	(P3) it stores what that point made in the very frame in which it stores: the
//	     point and the store run once a frame, so that the object of a frame goes
//	     into one object, the one that the store's base is then
//
// This is no rule of the paper: a fact of the kind that ownership types state
// (an external unique pointer), from the same frames.
func (e *Effects) putBy(cells []uint32, h pta.ObjID) (storeAt, bool) {
	node, ok := e.unique(h)
	if !ok || node == Root || !e.clean.Has(int(h)) { // (P1)
		return storeAt{}, false
	}
	idx := e.index()
	var by storeAt
	some := false
	for _, c := range cells {
		o, _ := e.v.Res.Object(c)
		if !e.clean.Has(int(o)) || !idx.explains(e, c, false) {
			return storeAt{}, false
		}
		for _, s := range idx.by[c] {
			if !e.mayBe(e.value(s), h) {
				continue
			}
			real, ok := e.putsFresh(s, h, node)
			switch {
			case !ok:
				return storeAt{}, false
			case !real: // it puts back what is there
			case some && (s.inst != by.inst || s.op != by.op):
				return storeAt{}, false
			default:
				by, some = storeAt{inst: s.inst, op: s.op}, true
			}
		}
	}
	return by, some
}

func (e *Effects) mayBe(s *pta.Set, o pta.ObjID) (yes bool) {
	ob := &e.v.Res.Objs[o]
	for i := range ob.N {
		if s.Has(ob.Node + i) {
			return true
		}
	}
	return false
}

// putsFresh reports (P3) of a store as far as objects of h go, and whether it puts
// any.
func (e *Effects) putsFresh(s storeAt, h pta.ObjID, node Node) (real, ok bool) {
	f := e.v.Res.Func(s.inst)
	p := e.t.plan(f)
	x := &p.ops[s.op]
	if x.point == entry || e.t.node(s.inst, x.at) != node {
		// It may yet put nothing of h but what is there.
		srcs, ok := e.valueSources(s)
		if !ok || x.values < 0 {
			return false, false
		}
		for _, src := range srcs {
			if e.mayBe(e.v.Res.PointsTo(s.inst, src.reg, src.leaf), h) {
				return false, false
			}
		}
		return false, true
	}
	srcs, ok := e.valueSources(s)
	if !ok {
		return false, false
	}
	for _, src := range srcs {
		is, ok := e.fresh(s.inst, src, h, node, 0)
		if !ok {
			return false, false
		}
		real = real || is
	}
	return real, true
}

// maxFresh bounds the calls through which fresh looks for an allocation.
const maxFresh = 4

// fresh reports whether a source is what the one point of h made in the present
// frame of its node (is), or else that it is no object of h (ok without is).
func (e *Effects) fresh(n pta.InstID, s source, h pta.ObjID, node Node, depth int) (is, ok bool) {
	if !e.mayBe(e.v.Res.PointsTo(n, s.reg, s.leaf), h) {
		return false, true
	}
	f := e.v.Res.Func(n)
	p := e.t.plan(f)
	if depth > maxFresh || len(p.defs[s.reg]) != 1 || e.t.node(n, s.loop) != node {
		return false, false
	}
	at := p.defs[s.reg][0].point
	switch pt := f.Points[at]; pt.Op {
	case facts.OpAlloc:
		m := &e.made[h]
		return true, m.inst == n && m.point == at
	case facts.OpCall:
		for _, g := range e.v.EdgesAt(n, pt) {
			callee := e.v.Res.Func(g.Callee)
			if g.Kind != pta.EdgeCall || e.types[g.Callee] == nil || e.t.own[g.Callee] || callee.Ret == facts.NoReg || s.leaf >= e.t.plan(callee).leaves(callee.Ret) {
				return false, false
			}
			srcs, ok := e.t.plan(callee).sources(callee.Ret, s.leaf, -1)
			if !ok {
				return false, false
			}
			for _, r := range srcs {
				made, ok := e.fresh(g.Callee, r, h, node, depth+1)
				if !ok {
					return false, false
				}
				is = is || made
			}
		}
		return is, true
	}
	return false, false
}
