package pta

import "github.com/bfverify/bfverify/facts"

// What reflect.NewAt and SliceAt make of a raw pointer: variables of types that are
// found at run time (R8).

// maxTypes is the number of types that NewAt tells apart at one place.
const maxTypes = 16

// at gives the variables of the types that p stands for where the
// unsafe.Pointer in node c.off points, and slices of them: those that are
// declared so, and bytes (U2). Up to maxTypes types have a constraint each on the
// cells; the others share one: (R8).
func (s *solver) at(c constraint, p uint32) {
	cells := s.node(0)
	s.on(c.off, constraint{kind: consCells, only: true, a: cells})
	for _, t := range s.standsFor(p) {
		k := newKey{^InstID(0), c.a}
		if s.news[k]++; s.news[k] == 1 {
			s.on(cells, constraint{kind: consAt, a: c.a, typ: s.u.TypeByName("uint8")})
		}
		pt := s.pointerTo(t)
		switch {
		case s.news[k] > maxTypes && s.u.Types[t].Kind != facts.Array:
			s.atMany(c.a, cells, t)
		case pt == 0:
			s.on(cells, constraint{kind: consAt, a: c.a, typ: t})
		default:
			m := s.node(pt)
			s.copyEdge(cells, m, flows)
			s.on(m, constraint{kind: consAt, a: c.a, typ: t})
		}
	}
}

// atMany makes t one of the types of which node dst gets the variables at the
// cells in node cells.
func (s *solver) atMany(dst, cells uint32, t facts.TypeID) {
	types := s.wide[dst]
	if types == nil {
		types = map[facts.TypeID]bool{}
		s.wide[dst] = types
		s.on(cells, constraint{kind: consAt, a: dst})
	}
	if types[t] {
		return
	}
	types[t] = true
	if have := s.pts[s.find(cells)]; have != nil {
		var some Set
		some.addMeet(have, s.cellsOf(s.class(t)))
		some.Each(func(p uint32) { s.giveAt(dst, p, t) })
	}
}

// giveAt gives the variable of type t at cell p, or those of the types that
// atMany has for dst if t is 0, and slices of them.
func (s *solver) giveAt(dst, p uint32, t facts.TypeID) {
	if t != 0 {
		if k := s.class(t); s.declared(p, k) || s.viewed.Has(p) && s.cellsOf(k).Has(p) {
			s.giveSliced(dst, p, t)
		}
		return
	}
	for _, x := range s.typesAt(p, false) {
		if s.wide[dst][x] {
			s.giveSliced(dst, p, x)
		}
	}
}

// giveSliced gives the variable of type t at cell p, and slices of it.
func (s *solver) giveSliced(dst, p uint32, t facts.TypeID) {
	s.give(dst, p, t)
	for _, y := range s.u.Over(t, facts.Slice) {
		b, _ := s.box(dst, y, 0)
		s.pointsTo(b, p)
	}
}
