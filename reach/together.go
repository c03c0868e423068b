package reach

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// maxOrigins bounds the loads that Origins goes back over.
const maxOrigins = 8

// Origins lists the registers of a function that a register gets what it holds
// from, by field addresses, loads and one edge of phis, nearest first, the register's own
// place before all: where Together may be asked with success. It claims nothing.
func (e *Effects) Origins(f *facts.Func, r facts.Reg) []facts.Reg {
	p := e.t.plan(f)
	if p.fl == nil {
		return nil
	}
	var out []facts.Reg
	for len(out) < maxOrigins && r != facts.NoReg {
		if r = p.placeOf(r, 0).reg; slices.Contains(out, r) {
			break
		}
		out = append(out, r)
		if len(p.defs[r]) != 1 {
			break
		}
		pt := f.Points[p.defs[r][0].point]
		switch {
		case pt.Op == facts.OpMem && !f.Mems[pt.Row].Write:
			r = f.Mems[pt.Row].Base
		case pt.Op == facts.OpAssert:
			r = f.Asserts[pt.Row].X
		case pt.Op == facts.OpPhi:
			r = slices.Max(f.Phis[pt.Row].Edges) // any that is not nil
		default:
			return out
		}
	}
	return out
}

// Together reports whether the object target that base points to at a point lies
// below one frame of b's node with the object that the register from points to
// there, whose value base was loaded from.
//
//	(G1) base gets what it holds by loads from the value of from (O1), none of which
//	     is still to be stored
//	(G2) all cells on the ways to target hold what lies, with their own object, below
//	     one frame of the node or of one below it, by their effects
//	(G3) frames of the node do not nest, so that each object has one above it at most;
//	     OwnFrame gives no others
//
// Soundness: by (G2) each load leads from an object to another with which it shares a
// frame below which both lie, and above which, or at which, is a frame of the node.
// By (G3) this is the one above either, so that it is the same all the way.
func (e *Effects) Together(b stage.Began, n pta.InstID, point uint32, base facts.Reg, target pta.ObjID, from facts.Reg) bool {
	g := Node(b.Node)
	if e.types[n] == nil || e.exempt.Has(int(target)) {
		return false
	}
	leads, ok := e.Leads(n, point, base, from) // (G1)
	if !ok || slices.ContainsFunc(leads, func(x Lead) bool {
		return slices.ContainsFunc(x.hops, func(h hop) bool { return h.put != 0 })
	}) {
		return false
	}
	seen := map[pta.ObjID]bool{}
	some := false
	e.v.Res.PointsTo(n, from, 0).Each(func(c uint32) {
		h, _ := e.v.Res.Object(c)
		if !ok || seen[h] {
			return
		}
		seen[h] = true
		for _, x := range leads {
			t := trail{e: e, hops: x.hops}
			if t.lay(h, target) {
				some = true
				ok = ok && t.within(g)
			}
		}
	})
	return ok && some
}

// within reports (G2) of a trail. Without hops there are no cells to ask about.
func (t *trail) within(g Node) bool {
	if len(t.objs) == 0 {
		return false // lay could not tell
	}
	for i := range t.hops {
		if slices.ContainsFunc(t.objs[i+1], func(o pta.ObjID) bool { return t.e.exempt.Has(int(o)) }) {
			return false // effects say nothing of them
		}
		for _, c := range t.cells[i] {
			if w := t.e.cells[c]; w == none || !t.e.t.above(g, w) {
				return false
			}
		}
	}
	return true
}
