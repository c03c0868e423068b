package pta

import "github.com/bfverify/bfverify/facts"

// (W) What reflection is asked of more than maxReflected values at one place is
// not told apart by place: the parts of such Values (package reflect's model
// keeps them in handles) are one node in all of the program, anyValue, and so is
// what steps lead to from there. Programs decode, encode, copy and compare by
// reflection; where that meets many types, what it derives from them goes round
// through all the code that does such things, and every one of its variables
// comes to hold nearly the same.
//
// That node may hold a large part of the program, and what holds all that it
// does holds one element instead, an ObjAll. It stands for the content of a
// node: constraints that meet it go to that node, where equal ones are shared;
// an interface type that filters it gets the ObjAll of a node that is filtered
// so. In results it is replaced by what it stands for.

// maxReflected is the number of values that a reflect.Value may stand for before
// it is widened: far more than code that reflects on types of its own meets.
const maxReflected = 256

// maxTypes is the number of types that NewAt tells apart at one place.
const maxTypes = 16

// widen lets handles that hold too many values become one.
func (s *solver) widen() {
	for _, h := range s.handles {
		n := s.find(h)
		if n == s.find(s.anyValue) || s.pts[n] == nil || s.pts[n].Len() <= maxReflected {
			continue
		}
		if s.anyValue == 0 {
			s.anyValue = n
			s.on(n, constraint{kind: consStep, a: n, off: uint32(facts.Step)})
			s.seal()
			continue
		}
		s.unites = append(s.unites, [2]uint32{s.anyValue, n})
	}
}

// seal lets the successors of anyValue hold an ObjAll instead of its elements.
func (s *solver) seal() {
	n := s.find(s.anyValue)
	for _, set := range [2]**Set{&s.succ[n], &s.fsucc[n]} {
		if *set == nil {
			continue
		}
		var rest Set
		for _, m := range (*set).Elems(nil) {
			if m = s.find(m); s.absorbs(m) {
				s.insert(m, s.allOf(m))
			} else if m != n {
				rest.Add(m)
			}
		}
		*set = &rest
	}
}

// absorbs reports whether node n may hold an ObjAll of anyValue.
func (s *solver) absorbs(n uint32) bool {
	return n != s.find(s.anyValue) && s.typ[n] != 0 && s.u.Types[s.typ[n]].Kind == facts.Interface && !s.allNodes[n]
}

// allOf returns the ObjAll of what node dst admits of anyValue.
func (s *solver) allOf(dst uint32) uint32 {
	if t := s.typ[dst]; len(s.u.Types[t].Methods) > 0 {
		return s.all(s.allFiltered(t))
	}
	return s.all(s.anyValue)
}

// all returns the ObjAll of node n.
func (s *solver) all(n uint32) uint32 {
	p := s.objs[s.object(objKey{ObjAll, n, 0, 0}, 0, 0)].Node
	s.alls.Add(p)
	return p
}

// allFitting returns the ObjAll for what interface type t admits of ObjAll p:
// one that was filtered by another type counts as all of anyValue.
func (s *solver) allFitting(p uint32, t facts.TypeID) uint32 {
	if have := s.decl[s.objs[s.obj[p]].Of]; have != 0 && s.u.Types[have].Kind == facts.Interface && s.u.Implements(have, t) {
		return p
	}
	return s.all(s.allFiltered(t))
}

// allFiltered returns the node for what interface type t admits of anyValue.
func (s *solver) allFiltered(t facts.TypeID) uint32 {
	m, ok := s.filtered[t]
	if !ok {
		m = s.node(t)
		s.filtered[t] = m
		s.allNodes[m] = true
		s.copyEdge(s.anyValue, m, flows)
	}
	return m
}

// delegation is a constraint that an ObjAll brought to the node it stands for.
type delegation struct {
	node uint32
	constraint
}

// applyAll runs constraint c of node n for the ObjAll of node of: it goes there.
func (s *solver) applyAll(n uint32, c constraint, of uint32) {
	of = s.find(of)
	if n == of || n == s.find(s.anyValue) {
		return // n holds that itself
	}
	if c.kind == consHeld || c.kind == consSet && c.row == ofStored {
		return // consStores does it
	}
	k := delegation{of, c}
	if s.delegated[k] {
		return
	}
	s.delegated[k] = true
	if c.kind == consStores {
		s.storeInto(c.a, of)
		return
	}
	s.on(of, c)
}

// expand replaces each ObjAll by what it stands for. Nodes that hold nothing
// else share one set.
func (s *solver) expand() {
	if s.alls.Empty() {
		return
	}
	// What they stand for is in anyValue, which has no part that it does not hold
	// itself.
	plain := map[uint32]*Set{}
	for _, p := range s.alls.Elems(nil) {
		n := s.find(s.objs[s.obj[p]].Of)
		if s.pts[n] != nil && plain[n] == nil {
			plain[n] = new(Set)
			plain[n].addMinus(s.pts[n], &s.alls)
		}
	}
	for n, set := range s.pts {
		if set == nil || !set.Meets(&s.alls) {
			continue
		}
		var all, rest Set
		all.addMeet(set, &s.alls)
		rest.addMinus(set, &s.alls)
		of := all.Elems(nil)
		if x := plain[s.find(s.objs[s.obj[of[0]]].Of)]; len(of) == 1 && rest.Empty() && x != nil {
			s.pts[n] = x
			continue
		}
		out := new(Set)
		out.addAll(&rest)
		for _, p := range of {
			if x := plain[s.find(s.objs[s.obj[p]].Of)]; x != nil {
				out.addAll(x)
			}
		}
		s.pts[n] = out
	}
}

// isHandle reports whether t is the type of what the pointer in a reflect.Value
// points to.
func (s *solver) isHandle(t facts.TypeID) bool { return t != 0 && t == s.handleType }
