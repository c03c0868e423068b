package pta

import (
	"cmp"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Stats counts what an analysis did, the last attempt if it lost contexts.
type Stats struct {
	Nodes, Insts, Objects, Edges int            // cells and variables, functions in contexts, objects, call edges
	Collapsed                    int            // nodes merged with others
	Effort                       int            // chunks of sets copied: a measure of time that is the same in every run
	Untyped                      int            // objects viewed at a foreign type
	Missing                      []facts.FuncID // called, but without facts
}

// Result is the solution: points-to sets, objects and the call graph.
// It is immutable and safe for concurrent reading.
type Result struct {
	Prog  *facts.Program
	Insts []Inst   // by InstID; element 0 is unused; Out is sorted by row
	Objs  []Object // by ObjID; element 0 is unused
	Root  InstID   // calls the initialisers and main, or the tests
	Stats Stats
	// Coarse are the packages that lost their contexts, costliest first.
	Coarse []Coarse

	elemFn []facts.FuncID
	rep    []uint32
	pts    []*Set
	obj    []ObjID
	u      *facts.Universe
	ctx    *contexts
}

func (s *solver) result(root InstID) *Result {
	r := &Result{
		Prog: s.prog, Insts: s.insts, Objs: s.objs, Root: root,
		elemFn: s.elemFn, rep: s.rep, pts: s.pts, obj: s.obj, u: s.u, ctx: s.ctxs,
	}
	for i := range r.rep {
		r.rep[i] = s.find(uint32(i))
	}
	n := 0
	for i := range r.Insts {
		out := r.Insts[i].Out
		slices.SortFunc(out, func(a, b Edge) int {
			return cmp.Or(a.compareRow(b.Kind.any(), b.Row), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Callee, b.Callee))
		})
		n += len(out)
	}
	s.stats.Insts, s.stats.Objects, s.stats.Edges = len(s.insts)-1, len(s.objs)-1, n
	r.Stats = s.stats
	return r
}

var empty Set

// Func returns the function of an instance; nil if only its name is known.
func (r *Result) Func(i InstID) *facts.Func { return r.u.Funcs[r.Insts[i].Fn] }

// With returns the result with f in the place of the function of its id: one with
// the same rows, whose control flow takes some of the paths only. Cost: the number
// of functions.
func (r *Result) With(f *facts.Func) *Result {
	out, prog, u := *r, *r.Prog, *r.u
	u.Funcs = slices.Clone(u.Funcs)
	u.Funcs[f.ID] = f
	prog.Universe, out.Prog, out.u = &u, &prog, &u
	return &out
}

// any reports whether the edge's row is one of Anys rather than of Calls.
func (k EdgeKind) any() bool { return k == EdgeAny || k == EdgeAnyGo }

// compareRow orders edges by the row that they belong to, Calls before Anys.
func (e Edge) compareRow(any bool, row uint32) int {
	switch {
	case e.Kind.any() == any:
		return cmp.Compare(e.Row, row)
	case any:
		return -1
	}
	return 1
}

// EdgesAt returns the call edges that leave instance i at a point, sorted by
// kind and callee; none if the point calls nothing. The caller must not change
// the result. Cost: the logarithm of the instance's edges.
func (r *Result) EdgesAt(i InstID, pt facts.Point) []Edge {
	if pt.Op != facts.OpCall && pt.Op != facts.OpAny {
		return nil
	}
	any, out := pt.Op == facts.OpAny, r.Insts[i].Out
	lo, ok := slices.BinarySearchFunc(out, pt.Row, func(e Edge, row uint32) int { return e.compareRow(any, row) })
	if !ok {
		return nil
	}
	hi := lo
	for hi < len(out) && out[hi].compareRow(any, pt.Row) == 0 {
		hi++
	}
	return out[lo:hi:hi]
}

// PointsTo returns the cells that a leaf of register v may point to in instance
// i; none if v is NoReg or has no pointer-like leaf. Leaves are numbered as in
// facts.Layout.Ptrs: 0 for a pointer, interface, slice and the like, more for structs,
// arrays and tuples. What an interface holds is a box, whose Content is the value.
// Reading: may; a cell that is absent is never pointed to. The caller must not
// change the set. Cost: constant.
func (r *Result) PointsTo(i InstID, v facts.Reg, leaf uint32) *Set {
	f := r.Func(i)
	if v == facts.NoReg || len(r.u.Layout(f.Regs[v].Type).Ptrs) == 0 {
		return &empty
	}
	return r.set(r.Insts[i].Base + f.Regs[v].Node + leaf)
}

// Deep returns the cells that Deeps[row] of instance i touches.
func (r *Result) Deep(i InstID, row uint32) *Set { return r.set(r.Insts[i].Deep + row) }

func (r *Result) set(n uint32) *Set {
	if p := r.pts[r.rep[n]]; p != nil {
		return p
	}
	return &empty
}

// Content returns what the cell may hold, if it is pointer-like; else nothing.
// The caller must not change the set. Cost: constant.
func (r *Result) Content(cell uint32) *Set { return r.set(cell) }

// Cells returns the number of cells; all are below it.
func (r *Result) Cells() int { return len(r.obj) }

// Object returns the object that a cell belongs to, and the cell's offset.
func (r *Result) Object(cell uint32) (ObjID, uint32) {
	o := r.obj[cell]
	return o, cell - r.Objs[o].Node
}

// Behind calls f with cells of the objects that o, which is none itself, leads
// to: what a reference refers to, what an address that unsafe computed lies in,
// what a method may be called on. Such elements have no content of their own.
func (r *Result) Behind(o ObjID, f func(cell uint32)) {
	switch ob := &r.Objs[o]; ob.Kind {
	case ObjRef:
		f(ob.Of)
	case ObjArith:
		f(r.Objs[ob.Of].Node)
	case ObjMethod:
		r.set(ob.Of).Each(f)
	}
}

// Cell describes the cell at an offset of an object, in cells; nil for functions.
func (r *Result) Cell(o ObjID, off uint32) *facts.Cell {
	t := r.Objs[o].Type
	if t == 0 {
		return nil
	}
	return &r.u.Layout(t).Cells[off]
}

// SiteKind returns the kind of an object's allocation site, and whether it has one.
func (r *Result) SiteKind(o ObjID) (facts.SiteKind, bool) {
	ob := &r.Objs[o]
	if ob.Kind != ObjSite {
		return 0, false
	}
	return r.u.Funcs[ob.Fn].Sites[ob.Site].Kind, true
}

// Site returns the allocation site of an object made at one, or nil. It is one of
// the Sites of function Object.Fn.
func (r *Result) Site(o ObjID) *facts.Site {
	ob := &r.Objs[o]
	if ob.Kind != ObjSite {
		return nil
	}
	return &r.u.Funcs[ob.Fn].Sites[ob.Site]
}

// MayAlias reports whether two registers, by their first leaves, may point to a
// common cell; true is the safe answer. Pointers to a struct and to its first field
// do, pointers to a struct and to another field do not. Two interfaces do if they may
// hold one box; for what they hold, compare the Content of the boxes. Cost: linear in
// the chunks of the sets.
func (r *Result) MayAlias(i InstID, v facts.Reg, j InstID, w facts.Reg) bool {
	return r.PointsTo(i, v, 0).Meets(r.PointsTo(j, w, 0))
}

// Pairs returns the number of points-to pairs of the variables of instance i.
// Cost: linear in its variables.
func (r *Result) Pairs(i InstID) int {
	f, n := r.Func(i), 0
	if f == nil {
		return 0
	}
	for v := range f.NumNode {
		n += r.set(r.Insts[i].Base + v).Len()
	}
	return n
}
