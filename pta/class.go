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
	s.refit.addMinus(x, y)
	s.refit.addMinus(y, x)
	x.addAll(y)
	s.classes[b] = a
	s.classCells[b] = nil
	s.loose[a] = append(s.loose[a], s.loose[b]...)
}

// converts notes a conversion of values of type from to type to: of pointers,
// if both are.
func (s *solver) converts(from, to facts.TypeID) {
	if from == to {
		return
	}
	if _, ok := s.targetClass(from); ok {
		if _, ok := s.targetClass(to); ok {
			s.unite(s.target(from), s.target(to))
		}
	}
}

// loosen notes that unsafe makes values of type t, which may then point to all
// variables of the same shape as what t points to: those of other types join the
// class's cells, but not the class.
func (s *solver) loosen(t facts.TypeID) {
	k, ok := s.targetClass(t)
	if !ok {
		return
	}
	shape := s.u.ShapeOf(s.target(t))
	if slices.Contains(s.loose[k], shape) {
		return
	}
	s.loose[k] = append(s.loose[k], shape)
	s.looseOf[shape] = append(s.looseOf[shape], k)
	cells := s.cellsOf(k)
	for i := 1; i < len(s.u.Types); i++ {
		if x := facts.TypeID(i); s.base(x) == x && s.u.ShapeOf(x) == shape && s.class(x) != k {
			y := s.cellsOf(s.class(x))
			s.refit.addMinus(y, cells)
			cells.addAll(y)
		}
	}
}

// starts notes that a variable of type t starts at cell p.
func (s *solver) starts(p uint32, t facts.TypeID) {
	s.cellsOf(s.class(t)).Add(p)
	for _, k := range s.looseOf[s.u.ShapeOf(t)] {
		s.cellsOf(s.class(k)).Add(p)
	}
}
