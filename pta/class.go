package pta

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Pointers are filtered by what they point to: a *T leads to variables of type
// T. Types between which the program converts pointers are one class, so that
// (*U)(p) for a p of type *T is a pointer to the same cells. Types start in
// classes of their own, and classes are united as conversions are met: a
// conversion in code that is not reached unites nothing. Arrays count as their
// elements, since slices, pointers to arrays and pointers to elements share
// cells.

// base returns the type of an array's innermost elements, or t.
func (s *solver) base(t facts.TypeID) facts.TypeID {
	for s.u.Types[t].Kind == facts.Array {
		t = s.u.Types[t].Elem
	}
	return t
}

// class returns the class of type t.
func (s *solver) class(t facts.TypeID) facts.TypeID {
	t = s.base(t)
	for int(t) >= len(s.classes) {
		s.classes = append(s.classes, facts.TypeID(len(s.classes)))
	}
	for s.classes[t] != t {
		s.classes[t] = s.classes[s.classes[t]]
		t = s.classes[t]
	}
	return t
}

// targetClass returns the class of the variables that a value of type t may
// point to without the help of unsafe, and whether there is such a filter.
// Interfaces, functions, unsafe pointers and iterators have none here.
func (s *solver) targetClass(t facts.TypeID) (facts.TypeID, bool) {
	switch ty := &s.u.Types[t]; ty.Kind {
	case facts.Pointer, facts.Slice:
		return s.class(ty.Elem), true
	case facts.Map, facts.Chan:
		return s.class(ty.Obj), true
	}
	return 0, false
}

// cellsOf returns the cells at which a variable of class k starts.
func (s *solver) cellsOf(k facts.TypeID) *Set {
	if int(k) >= len(s.classCells) {
		s.classCells = append(s.classCells, make([]*Set, len(s.u.Types)-len(s.classCells))...)
	}
	if s.classCells[k] == nil {
		s.classCells[k] = new(Set)
	}
	return s.classCells[k]
}

// ofClass reports whether a variable of class k is declared where the cell is,
// or one of its shape if the class is loose.
func (s *solver) ofClass(c *facts.Cell, k facts.TypeID) bool {
	for _, t := range c.Types {
		if s.class(t) == k || slices.Contains(s.loose[k], s.u.ShapeOf(t)) {
			return true
		}
	}
	return false
}

// unite makes one class of those of types t and v.
func (s *solver) unite(t, v facts.TypeID) {
	a, b := s.class(t), s.class(v)
	if a == b {
		return
	}
	a, b = min(a, b), max(a, b)
	x, y := s.cellsOf(a), s.cellsOf(b)
	var fresh Set
	fresh.addMinus(x, y)
	fresh.addMinus(y, x)
	x.addAll(y)
	s.classes[b] = a
	s.classCells[b] = nil
	s.loose[a] = append(s.loose[a], s.loose[b]...)
	s.members[a] = append(s.membersOf(a), s.membersOf(b)...)
	s.reconsider(&fresh)
}

// membersOf returns the types of class k.
func (s *solver) membersOf(k facts.TypeID) []facts.TypeID {
	if m := s.members[k]; m != nil {
		return m
	}
	return []facts.TypeID{k}
}

// reconsider lets filters decide again on cells that fit more classes than
// before, when they are offered again.
func (s *solver) reconsider(cells *Set) {
	s.refit.addAll(cells)
}

// forget drops what was decided about cells for interface types.
func (s *solver) forget(cells *Set) {
	for _, v := range s.ifaces {
		if v != nil && v.known.Meets(cells) {
			var known Set
			known.addMinus(&v.known, cells)
			v.known = known
		}
	}
}

// declared reports whether a variable of class k is declared at cell p.
func (s *solver) declared(p uint32, k facts.TypeID) bool {
	return slices.ContainsFunc(s.cell(p).Types, func(t facts.TypeID) bool { return s.class(t) == k })
}

// typesAt returns the types of variables that start at cell p as pointers may
// take them: those declared and those of views, what is in their classes, and,
// with loose, the loose ones of their shapes.
func (s *solver) typesAt(p uint32, loose bool) []facts.TypeID {
	c := s.cell(p)
	if c == nil {
		return nil
	}
	out := c.Types[:len(c.Types):len(c.Types)]
	add := func(ts []facts.TypeID) {
		for _, t := range ts {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	add(s.viewedAs[p])
	for i := 0; i < len(out); i++ {
		add(s.members[s.class(out[i])])
		if loose {
			add(s.looseOf[s.u.ShapeOf(out[i])])
		}
	}
	return out
}

// viewsAs notes that unsafe makes a variable of type t of what is at cell p,
// and reports whether that is news.
func (s *solver) viewsAs(p uint32, t facts.TypeID) bool {
	fresh := s.starts(p, t)
	if slices.Contains(s.viewedAs[p], t) || slices.Contains(s.cell(p).Types, t) {
		return fresh
	}
	s.viewedAs[p] = append(s.viewedAs[p], t)
	return true
}

// converts notes that values of type from are converted to type to, whose
// underlying types may differ in names and tags, at every level. It recurses as
// deep as types nest.
func (s *solver) converts(from, to facts.TypeID) {
	if from == to || !s.met(from, to, 0) {
		return
	}
	if _, ok := s.targetClass(from); ok {
		if _, ok := s.targetClass(to); ok {
			s.same(s.target(from), s.target(to))
		}
	}
	s.parts(from, to, s.converts)
}

// same notes that a variable of type t may be taken for one of type v.
func (s *solver) same(t, v facts.TypeID) {
	if t == v || !s.met(t, v, 1) {
		return
	}
	s.unite(t, v)
	s.converts(t, v)
	s.parts(t, v, s.same)
}

// met reports whether a question was not asked before.
func (s *solver) met(t, v facts.TypeID, what int) bool {
	k := viewKey{t, v, uint32(what)}
	if s.asked[k] {
		return false
	}
	s.asked[k] = true
	return true
}

// parts calls f with the parts of types t and v, of one structure: fields,
// elements, and, with converts, parameters and results.
func (s *solver) parts(t, v facts.TypeID, f func(a, b facts.TypeID)) {
	x, y := &s.u.Types[t], &s.u.Types[v]
	if x.Kind != y.Kind {
		return
	}
	switch x.Kind {
	case facts.Array:
		f(x.Elem, y.Elem)
	case facts.Struct:
		for i := range min(len(x.Fields), len(y.Fields)) {
			f(x.Fields[i].Type, y.Fields[i].Type)
		}
	case facts.FuncKind:
		for i := range min(len(x.Fields), len(y.Fields)) {
			s.converts(x.Fields[i].Type, y.Fields[i].Type)
		}
	case facts.Map, facts.Chan:
		s.same(x.Elem, y.Elem)
		if x.Key != 0 && y.Key != 0 {
			s.same(x.Key, y.Key)
		}
	}
}

// loosen notes that unsafe makes values of type t, which may then point to all
// variables of the same shape as what t points to: those of other types join the
// class's cells, but not the class.
func (s *solver) loosen(t facts.TypeID) {
	if s.u.Types[t].Kind == facts.FuncKind {
		s.loosenFuncs(t)
	}
	k, ok := s.targetClass(t)
	if !ok {
		return
	}
	shape := s.u.ShapeOf(s.target(t))
	if slices.Contains(s.loose[k], shape) {
		return
	}
	s.loose[k] = append(s.loose[k], shape)
	s.looseOf[shape] = append(s.looseOf[shape], s.base(s.target(t)))
	cells := s.cellsOf(k)
	var fresh Set
	for i := 1; i < len(s.u.Types); i++ {
		if x := facts.TypeID(i); s.base(x) == x && s.u.ShapeOf(x) == shape && s.class(x) != k {
			y := s.cellsOf(s.class(x))
			fresh.addMinus(y, cells)
			cells.addAll(y)
		}
	}
	s.reconsider(&fresh)
}

// starts notes that a variable of type t starts at cell p, and reports whether
// that makes it fit a class that it did not.
func (s *solver) starts(p uint32, t facts.TypeID) bool {
	fresh := s.cellsOf(s.class(t)).Add(p)
	for _, k := range s.looseOf[s.u.ShapeOf(t)] {
		fresh = s.cellsOf(s.class(k)).Add(p) || fresh
	}
	return fresh
}
