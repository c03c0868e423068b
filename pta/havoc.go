package pta

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// What models store into many variables at once. Between the values and the
// variables stands one block of nodes for each type of variable, so that the edges
// are about as many as variables, not as variables times values.

// spread says what is stored into the variables that a node stands for.
type spread struct {
	vars map[spreadKey]uint32 // the first node of what goes into those
	from []*stored
}

// spreadKey is a type of variables, and what they get.
type spreadKey struct {
	typ facts.TypeID
	how spreadHow
}

type spreadHow uint8

const (
	spreadWhole  spreadHow = iota // values that are assigned to a variable of the type
	spreadPieces                  // a cell of an untyped object: what is in values
)

// stored are the nodes of values that are stored: the values, and, if that was
// asked for, what is in structs among them.
type stored struct{ vals, held uint32 }

// storesOf returns the nodes for storing what node n holds.
func (s *solver) storesOf(n uint32) *stored {
	n = s.find(n)
	st := s.stores[n]
	if st == nil {
		st = &stored{vals: n}
		s.stores[n] = st
	}
	return st
}

// storeInto lets st be stored into the variables that node n stands for.
func (s *solver) storeInto(n uint32, st *stored) {
	n = s.find(n)
	sp := s.spreads[n]
	if sp == nil {
		sp = &spread{vars: map[spreadKey]uint32{}}
		s.spreads[n] = sp
		s.on(n, constraint{kind: consSpread})
		sp = s.spreads[s.find(n)]
	}
	if slices.ContainsFunc(sp.from, func(x *stored) bool { return x == st || s.find(x.vals) == s.find(st.vals) }) {
		return
	}
	sp.from = append(sp.from, st)
	for _, k := range spreadKeys(sp) {
		s.storeType(st, k, sp.vars[k])
	}
}

func spreadKeys(sp *spread) []spreadKey {
	return slices.SortedFunc(maps.Keys(sp.vars), func(a, b spreadKey) int {
		return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.how, b.how))
	})
}

// storeType lets what st gives to variables of k flow into the nodes from to on.
// Into an interface goes each value (who has a reference to an interface has what
// is in it too, see give); into others what their type says (set).
func (s *solver) storeType(st *stored, k spreadKey, to uint32) {
	if s.u.Types[k.typ].Kind == facts.Interface {
		s.copyEdge(st.vals, to, flows)
		return
	}
	if k.how == spreadPieces {
		if st.held == 0 {
			st.held = s.node(0)
			s.on(st.vals, constraint{kind: consHeld, a: st.held})
		}
		s.copyEdge(st.held, to, flows)
	}
	from := s.fitting(st.vals, k.typ, true)
	for i := range uint32(len(s.u.Layout(k.typ).Ptrs)) {
		s.copyEdge(from+i, to+i, flows)
	}
}

// fitKey is a type, shifted by one, and 1 for an assignment.
type fitKey uint64

// fitting returns the first of the nodes for what node n holds and a variable of
// type t may get, one for each of its pointer-like leaves: with assign, by an
// assignment of it.
func (s *solver) fitting(n uint32, t facts.TypeID, assign bool) uint32 {
	n = s.find(n)
	if s.havoc[n] == nil {
		s.havoc[n] = map[fitKey]uint32{}
	}
	k := fitKey(t) << 1
	if assign {
		k |= 1
	}
	m, ok := s.havoc[n][k]
	if !ok {
		if assign {
			m = s.leavesOf(s.u.Layout(t))
			s.havoc[n][k] = m
			s.on(n, constraint{kind: consSet, a: m, typ: t})
		} else {
			m = s.node(t)
			s.havoc[n][k] = m
			s.copyEdge(n, m, flows)
		}
	}
	return m
}

// spreadTo lets the variables that p, which node n holds, stands for get what is
// stored into them: of a reference the variable, of a pointer whose type is not
// known the largest that starts there. Boxes and bindings are never written.
func (s *solver) spreadTo(n, p uint32) {
	ob := &s.objs[s.obj[p]]
	switch {
	case ob.Kind == ObjRef:
		s.spreadVar(n, ob.Of, ob.As)
	case s.isBox(ob):
	default:
		s.pointees(0, p, func(p uint32, t facts.TypeID) { s.spreadVar(n, p, t) })
	}
}

// spreadVar is spreadTo for the variable of type t at cell p.
func (s *solver) spreadVar(n, p uint32, t facts.TypeID) {
	ob := s.objs[s.obj[p]]
	if !s.writable(&ob) {
		return
	}
	if ob.Untyped && !s.declared(p, s.class(t)) { // taken whole
		for _, c := range s.ptrCells(s.obj[p]) {
			q := ob.Node + c
			s.spreadType(n, q, spreadKey{s.cell(q).Type, spreadPieces})
		}
		return
	}
	s.spreadType(n, p, spreadKey{t, spreadWhole})
}

// spreadType lets the variable at cell p get what is stored into those of k.
func (s *solver) spreadType(n, p uint32, k spreadKey) {
	l := s.u.Layout(k.typ)
	if len(l.Ptrs) == 0 {
		return
	}
	sp := s.spreads[s.find(n)]
	m, ok := sp.vars[k]
	if !ok {
		m = s.leavesOf(l)
		sp.vars[k] = m
		for _, st := range sp.from {
			s.storeType(st, k, m)
		}
	}
	for i, c := range l.Ptrs {
		if q := p + c; s.obj[q] == s.obj[p] {
			s.copyEdge(m+uint32(i), q, flows)
		}
	}
}

// stored returns the node of the variables that a Deep writes through register
// leaf x of type t: with ReachCells, what pointers in them and boxes lead to too.
func (s *solver) stored(x uint32, how facts.Reached, t facts.TypeID) uint32 {
	if how != facts.ReachCells {
		return x
	}
	vars := s.node(0)
	s.on(x, constraint{kind: consPlaces, a: vars, typ: t})
	return vars
}

// places adds to node c.a references to the variables that a write through p, of
// a register of type c.typ, may mean.
func (s *solver) places(c constraint, p uint32) {
	ob := &s.objs[s.obj[p]]
	switch t, base, ok := s.value(p); {
	case ok:
		if ob.Kind == ObjRef {
			s.insert(s.find(c.a), p)
		}
		for _, q := range s.u.Layout(t).Ptrs {
			s.on(base+q, constraint{kind: consPlace, a: c.a, typ: s.u.Layout(t).Cells[q].Type})
		}
	case ob.Type == 0 && ob.Kind != ObjArith || s.isClosure(ob):
	case s.u.Pointee(c.typ) != 0:
		s.place(constraint{a: c.a, typ: c.typ}, p)
	default: // a pointer whose type is not known
		s.place(constraint{a: c.a}, p)
	}
}

// place adds to node c.a references to what a value of type c.typ that points to
// cell p leads to.
func (s *solver) place(c constraint, p uint32) {
	s.pointees(c.typ, p, func(p uint32, t facts.TypeID) {
		if n := s.ref(p, t); n != 0 {
			s.insert(s.find(c.a), n)
		}
	})
}

// held adds what is in the struct or array that p stands for to node c.a.
func (s *solver) held(c constraint, p uint32) {
	t, base, ok := s.value(p)
	if !ok || s.u.Types[t].Kind != facts.Struct && s.u.Types[t].Kind != facts.Array {
		return
	}
	for _, q := range s.variable(base, t, false) {
		if cell := s.cell(q); cell != nil && cell.Ptr {
			s.copyEdge(q, c.a, flows)
		}
	}
}

// havocCell lets what node n holds be stored into cell p, which is among it, as
// far as its type goes: through one variable a type. All that n reaches is in n,
// so that all p holds is in n and of p's type: p and the variable hold the same
// and become one node. For the empty interface the variable holds what n does,
// so that it is n. Boxes and bindings are never written.
func (s *solver) havocCell(n, p uint32, ob *Object) {
	if !s.writable(ob) {
		return
	}
	cell := &s.u.Layout(ob.Type).Cells[p-ob.Node]
	if !cell.Ptr {
		return
	}
	from := s.find(n)
	if ty := &s.u.Types[cell.Type]; ty.Kind == facts.Interface && len(ty.Methods) == 0 {
		if s.find(p) != from {
			o := s.obj[p] // reaches n, and is reached from it
			s.unites = append(s.unites, [2]uint32{from, p}, [2]uint32{from, s.objectReach(o)})
		}
		return
	}
	if m := s.fitting(from, cell.Type, false); s.find(m) != s.find(p) {
		s.unites = append(s.unites, [2]uint32{m, p})
	}
}

// mergeStores makes node v, to which node w was merged, store what w stores.
func (s *solver) mergeStores(v, w uint32) {
	if hv, hw := s.havoc[v], s.havoc[w]; hv == nil && hw != nil {
		s.havoc[v] = hw
	} else {
		for _, k := range slices.Sorted(maps.Keys(hw)) {
			if m, ok := hv[k]; ok {
				s.uniteBlocks(m, hw[k], facts.TypeID(k>>1), k&1 != 0)
			} else {
				hv[k] = hw[k]
			}
		}
	}
	delete(s.havoc, w)
	if a := s.stores[w]; a != nil {
		if b := s.stores[v]; b == nil {
			s.stores[v] = a
		} else { // spreads keep a: what it has more than b goes on
			s.unites = append(s.unites, [2]uint32{b.vals, a.vals})
		}
		delete(s.stores, w)
	}
	switch sv, sw := s.spreads[v], s.spreads[w]; {
	case sw == nil:
	case sv == nil:
		s.spreads[v] = sw
	default:
		// The types that only w has first get what v stores.
		for _, k := range spreadKeys(sw) {
			if m, ok := sv.vars[k]; ok {
				s.uniteBlocks(m, sw.vars[k], k.typ, true)
				continue
			}
			sv.vars[k] = sw.vars[k]
			for _, st := range sv.from {
				s.storeType(st, k, sw.vars[k])
			}
		}
		for _, st := range sw.from {
			s.storeInto(v, st)
		}
	}
	delete(s.spreads, w)
}

// uniteBlocks makes one of two blocks of nodes: one node for each pointer-like
// leaf of type t or, without leaves, one.
func (s *solver) uniteBlocks(m, n uint32, t facts.TypeID, leaves bool) {
	size := uint32(1)
	if leaves {
		size = uint32(len(s.u.Layout(t).Ptrs))
	}
	for i := range size {
		s.unites = append(s.unites, [2]uint32{m + i, n + i})
	}
}
