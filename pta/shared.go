package pta

import "github.com/bfverify/bfverify/facts"

// The constraints of one node. Those that depend on the node and their kind
// alone are shared: the second one gets a variable that only the first defines,
// and that serves all others.

// shared reports whether what c gives depends on its node and kind alone.
func (c *constraint) shared() bool {
	switch c.kind {
	case consLoad, consAddr, consDeref, consReachDeref, consStep, consVars, consTypes, consSlice, consCells, consHandle:
		return true
	}
	return false
}

// sharedKey says which shared constraints of a node give the same.
type sharedKey struct {
	kind   consKind
	off    uint32
	typ    facts.TypeID
	row    uint32
	result facts.TypeID
}

func (s *solver) sharedKey(c *constraint) sharedKey {
	return sharedKey{c.kind, c.off, c.typ, c.row, s.decl[c.a]}
}

// fewCons is the number of constraints of a node up to which they are searched
// one by one.
const fewCons = 16

// alike returns the index of the shared constraint of node n that gives the same
// as c, or -1.
func (s *solver) alike(n uint32, c *constraint) int {
	key := s.sharedKey(c)
	cs := s.cons[n]
	if len(cs) <= fewCons {
		for i := range cs {
			if k := &cs[i]; k.kind == c.kind && s.sharedKey(k) == key {
				return i
			}
		}
		return -1
	}
	if i, ok := s.indexOf(n)[key]; ok {
		return int(i)
	}
	return -1
}

// indexOf returns the shared constraints of node n by key.
func (s *solver) indexOf(n uint32) map[sharedKey]int32 {
	m := s.consIndex[n]
	if m == nil {
		m = map[sharedKey]int32{}
		s.consIndex[n] = m
		for i := range s.cons[n] {
			if c := &s.cons[n][i]; c.shared() {
				m[s.sharedKey(c)] = int32(i)
			}
		}
	}
	return m
}

// add appends c, which is like no other, to the constraints of n.
func (s *solver) add(n uint32, c constraint) {
	if m := s.consIndex[n]; m != nil && c.shared() {
		m[s.sharedKey(&c)] = int32(len(s.cons[n]))
	}
	s.cons[n] = append(s.cons[n], c)
}

// on adds a constraint to a node and applies it to what the node holds.
func (s *solver) on(n uint32, c constraint) {
	n = s.find(n)
	if c.shared() {
		if i := s.alike(n, &c); i >= 0 {
			s.share(n, i, c)
			return
		}
	}
	s.add(n, c)
	s.replay(n, c)
}

// share lets c have what the i-th constraint of n, which is like it, gives.
func (s *solver) share(n uint32, i int, c constraint) {
	k := &s.cons[n][i]
	if !k.only {
		l := s.node(s.decl[c.a])
		s.copyEdge(l, k.a, flows)
		k.a, k.only = l, true
		s.replay(n, *k)
		k = &s.cons[n][i]
	}
	if c.only {
		s.alias(c.a, k.a)
	} else {
		s.copyEdge(k.a, c.a, flows)
	}
}

// dedupe removes constraints of node n that have become equal.
func (s *solver) dedupe(n uint32) {
	cs := s.cons[n]
	if len(cs) < 8 {
		return
	}
	seen := make(map[constraint]bool, len(cs))
	out := cs[:0]
	for _, c := range cs {
		k := c
		k.a = s.find(k.a)
		if !seen[k] {
			seen[k] = true
			out = append(out, c)
		}
	}
	if len(out) < len(cs) {
		delete(s.consIndex, n)
	}
	s.cons[n] = out
}

// saw returns what the constraints of node n have seen.
func (s *solver) saw(n uint32) *Set {
	var old Set
	if d := s.delta[n]; d != nil {
		old.addMinus(s.pts[n], d)
	} else {
		old.addAll(s.pts[n])
	}
	if d := s.late[n]; d != nil {
		rest := new(Set)
		rest.addMinus(&old, d)
		return rest
	}
	return &old
}

// mergeCons gives v the constraints of w, which was merged to it; those of v have
// seen sawV, those of w sawW. Two that are alike and whose results only they
// define are one without seeing more.
func (s *solver) mergeCons(v, w uint32, sawV, sawW *Set) {
	theirs := s.cons[w]
	s.cons[w] = nil
	delete(s.consIndex, w)
	var newToV, newToW, both Set
	newToV.addMinus(sawW, sawV)
	newToW.addMinus(sawV, sawW)
	both.addAll(sawV)
	both.addAll(sawW)
	own := len(s.cons[v])
	need := make([]*Set, own, own+len(theirs)) // by constraint of v
	for i := range need {
		need[i] = &newToV
	}
	saved := false
	for _, c := range theirs {
		i := -1
		if c.shared() {
			i = s.alike(v, &c)
		}
		if i < 0 || i >= own {
			s.add(v, c)
			need = append(need, &newToW)
			continue
		}
		k := &s.cons[v][i]
		switch {
		case k.only && c.only:
			s.unites = append(s.unites, [2]uint32{k.a, c.a})
			need[i] = nil
			saved = true
			continue
		case c.only:
			*k, c = c, *k
			need[i] = &newToW
		case !k.only:
			l := s.node(s.decl[c.a])
			s.copyEdge(l, k.a, flows)
			k.a, k.only = l, true
			need[i] = &both
		}
		s.copyEdge(k.a, c.a, flows)
	}
	s.late[w] = nil
	late := new(Set)
	late.addMinus(s.pts[v], &both)
	if !saved { // all at once, later
		late.addAll(&newToV)
		late.addAll(&newToW)
		for i := range need {
			if need[i] == &both {
				late.addAll(&both)
			}
			need[i] = nil
		}
	}
	if !late.Empty() {
		s.late[v] = nil
		s.postpone(v, late)
	}
	for i, d := range need {
		if d != nil && !d.Empty() {
			s.replayTo(v, s.cons[v][i], d)
		}
	}
}

// constraintsOf applies the constraints of n to its new elements d.
func (s *solver) constraintsOf(n uint32, d *Set) {
	// Constraints may be added to n while they are walked: those see all of
	// pts(n) when they are added.
	if cs := s.cons[n]; len(cs) > 0 {
		elems := d.Elems(nil)
		for i := range cs {
			c := cs[i]
			if c.kind == consSet || c.kind == consAssert {
				s.replayTo(n, c, d)
				continue
			}
			for _, p := range elems {
				s.apply(n, c, p)
			}
		}
	}
}

// replay applies constraint c of node n to what the node holds.
func (s *solver) replay(n uint32, c constraint) {
	if s.pts[n] == nil {
		return
	}
	s.replayTo(n, c, s.saw(n)) // what is new or late is seen by all at once
}

// replayTo applies constraint c of node n to those of the elements d that may
// matter to it: for assertions and assignments, values of the type's shape,
// references to what the type points to, and what is no value.
func (s *solver) replayTo(n uint32, c constraint, d *Set) {
	if (c.kind == consSet || c.kind == consAssert) && s.u.Types[c.typ].Kind != facts.Interface {
		var some, raw Set
		raw.addMinus(d, &s.values)
		if k, ok := s.targetClass(c.typ); ok {
			some.addMeet(&raw, s.cellsOf(k))
		} else {
			some.addAll(&raw)
		}
		some.addMeet(&raw, s.cellsOf(s.class(c.typ)))
		some.addMeet(d, s.like(s.u.SkeletonOf(c.typ)))
		elem := c.typ
		if ty := &s.u.Types[c.typ]; ty.Kind == facts.Pointer {
			elem = ty.Elem
			some.addMeet(d, s.like(s.u.SkeletonOf(elem)))
		}
		if s.u.Types[elem].Kind == facts.Array { // made of slices
			some.addMeet(d, s.like(s.u.SliceSkeleton(s.u.Types[elem].Elem)))
		}
		d = &some
	}
	for _, p := range d.Elems(nil) {
		s.apply(n, c, p)
	}
}
