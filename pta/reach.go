package pta

import (
	"cmp"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Everything that is reachable. The variable of an object holds all its cells,
// and the variables of the objects that its cells point to; that of a node, the
// variables of the objects that it points to. They are shared by all that asks,
// and those of a cycle of objects collapse into one.
//
// What reflection lets a program use is the same cell by cell: the variable of
// a cell holds the exported parts of what starts there, and what these lead to.

// A closure says how far a reach variable goes.
type closure uint8

const (
	everything closure = iota
	exported
	closures
)

// contentReach returns the variable that holds all that node n reaches.
func (s *solver) contentReach(kind closure, n uint32) uint32 {
	n = s.find(n)
	if s.reach[kind][n] == 0 {
		r := s.node(0) // grows s.reach
		s.reach[kind][n] = r
		s.reachTodo = append(s.reachTodo, reachJob{kind: kind, node: n})
	}
	return s.reach[kind][n]
}

// closed notes that node n holds all that its elements reach.
func (s *solver) closed(kind closure, n uint32) {
	n = s.find(n)
	if r := s.reach[kind][n]; r != 0 {
		s.unites = append(s.unites, [2]uint32{n, r})
	} else {
		s.reach[kind][n] = n
	}
}

func (s *solver) objectReach(o ObjID) uint32 {
	if s.objReach[o] == 0 {
		s.objReach[o] = s.node(0)
		s.reachTodo = append(s.reachTodo, reachJob{obj: o})
	}
	return s.objReach[o]
}

// exportedReach returns the variable that holds all that reflection lets a
// program reach from cell p.
func (s *solver) exportedReach(p uint32) uint32 {
	if s.cellReach[p] == 0 {
		r := s.node(0) // grows s.cellReach
		s.cellReach[p] = r
		s.reachTodo = append(s.reachTodo, reachJob{cell: p})
	}
	return s.cellReach[p]
}

func (s *solver) fillReach(j reachJob) {
	switch {
	case j.obj != 0:
		s.fillObject(j.obj)
	case j.cell != 0:
		s.fillCell(j.cell)
	default:
		n := s.find(j.node)
		if s.pts[n] == nil {
			return
		}
		var all Set // the node may get more meanwhile
		all.addAll(s.pts[n])
		if j.kind == everything {
			s.reachObjects(&all, n, s.reach[everything][n])
		} else {
			s.reachCells(&all, n, s.reach[exported][n])
		}
	}
}

func (s *solver) fillObject(id ObjID) {
	o := s.objs[id]
	r := s.objReach[id]
	s.insertAll(s.find(r), &o)
	if o.Kind == ObjArith {
		s.copyEdge(s.objectReach(ObjID(o.Of)), r, flows)
	}
	if o.Kind == ObjRef {
		s.copyEdge(s.objectReach(s.obj[o.Of]), r, flows)
	}
	if s.isBox(&o) {
		if v := s.unboxed(id); v != id {
			s.copyEdge(s.objectReach(v), r, flows)
			return
		}
	}
	for _, c := range s.ptrCells(id) {
		s.copyEdge(s.contentReach(everything, o.Node+c), r, flows)
	}
	for _, g := range s.ghostsOf[id] {
		s.copyEdge(s.objectReach(g), r, flows)
	}
	if o.Untyped {
		s.copyEdge(s.contentReach(everything, o.foreign), r, flows)
	}
}

// ghost returns the hidden cell of type t that hangs on cell p. It is a part of
// what reaches p: the memory that the real code has in its place is.
func (s *solver) ghost(p uint32, t facts.TypeID) uint32 {
	k := objKey{ObjGhost, p, 0, 0}
	g, ok := s.objOf[k]
	if !ok {
		g = s.object(k, t, 0)
		of := s.obj[p]
		s.ghostsOf[of] = append(s.ghostsOf[of], g)
		if r := s.objReach[of]; r != 0 {
			s.copyEdge(s.objectReach(g), r, flows)
		}
	}
	return s.objs[g].Node
}

// fillCell fills the variable of a reference, box or function.
func (s *solver) fillCell(p uint32) {
	r := s.cellReach[p]
	s.insert(s.find(r), p)
	if t, base, ok := s.value(p); ok {
		s.fillValue(r, base, t)
	} else if ob := &s.objs[s.obj[p]]; s.writable(ob) { // a pointer whose type is not known
		for _, t := range s.cell(p).Types {
			if n := s.ref(p, t); n != 0 {
				s.copyEdge(s.exportedReach(n), r, flows)
			}
		}
	}
}

// fillValue adds to r the exported parts of the value of type t that starts at
// cell base, and what they lead to. It recurses as deep as types nest.
func (s *solver) fillValue(r, base uint32, t facts.TypeID) {
	part := func(p uint32, t facts.TypeID) {
		if n := s.ref(p, t); n != 0 {
			s.insert(s.find(r), n)
		}
		s.fillValue(r, p, t)
	}
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.Struct:
		s.fields(base, t, false, part)
	case facts.Array:
		part(base, ty.Elem)
	case facts.FuncKind, facts.Interface: // unsafe may have put other cells into a function
		s.copyEdge(s.contentReach(exported, base), r, flows)
	case facts.Pointer, facts.Slice, facts.Map, facts.Chan:
		s.on(base, constraint{kind: consReachDeref, a: r, typ: t})
	}
	if ob := &s.objs[s.obj[base]]; ob.Untyped {
		s.copyEdge(s.contentReach(exported, ob.foreign), r, flows)
	}
}

// reachObjects adds what the objects of d, which node n holds, reach to variable
// r.
func (s *solver) reachObjects(d *Set, n, r uint32) {
	last := noObj
	s.reachAll(d, n, r, func(p uint32) uint32 {
		o := s.obj[p]
		if o == last {
			return 0
		}
		last = o
		return s.objectReach(o)
	})
}

// reachCells adds what reflection lets a program reach from the cells of d,
// which node n holds, to variable r.
func (s *solver) reachCells(d *Set, n, r uint32) { s.reachAll(d, n, r, s.exportedReach) }

// reachAll adds edges to r from the variables that of gives for the elements of
// d; 0 is none. Such a variable is closed: with an element it holds all that the
// element reaches. So what one of them brought to r needs no edge of its own,
// and the largest come first. If n is r itself, its elements came from elsewhere.
func (s *solver) reachAll(d *Set, n, r uint32, of func(p uint32) uint32) {
	type source struct{ elem, from uint32 }
	var todo []source
	own, last := s.find(n) == s.find(r), uint32(0)
	covered := func(p uint32) bool {
		x := s.pts[s.find(r)]
		return !own && x != nil && x.Has(p)
	}
	d.Each(func(p uint32) {
		if covered(p) {
			return
		}
		if m := of(p); m != 0 {
			if m = s.find(m); m != last {
				last = m
				todo = append(todo, source{p, m})
			}
		}
	})
	size := func(n uint32) int {
		if x := s.pts[n]; x != nil {
			return x.Len()
		}
		return 0
	}
	slices.SortFunc(todo, func(a, b source) int {
		return cmp.Or(cmp.Compare(size(b.from), size(a.from)), cmp.Compare(a.elem, b.elem))
	})
	for _, x := range todo {
		if !covered(x.elem) {
			s.copyEdge(x.from, r, flows)
		}
	}
}
