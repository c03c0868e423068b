package pta

import (
	"maps"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// What models store into many variables at once. Between the values and the
// variables stands one node for each type of variable, so that the edges are
// about as many as variables, not as variables times values.

// spread says what is stored into the cells that a node holds.
type spread struct {
	vars map[facts.TypeID]uint32 // by type of cell: what goes into those
	from []stored
}

// stored are the nodes of values that are stored: those that stand for
// themselves, and what is in structs among them.
type stored struct{ vals, held uint32 }

// storesOf returns the nodes for storing what node n holds. Into interfaces
// goes what n holds and what is in interfaces of it; into other variables what
// their type says (set), or what is in structs.
func (s *solver) storesOf(n uint32) stored {
	n = s.find(n)
	st, ok := s.stores[n]
	if !ok {
		st = stored{s.node(0), s.node(0)}
		s.stores[n] = st
		s.copyEdge(n, st.vals, flows)
		s.on(n, constraint{kind: consHeld, a: st.held, off: st.vals})
	}
	return st
}

// storeInto lets st be stored into the cells that node n holds.
func (s *solver) storeInto(n uint32, st stored) {
	n = s.find(n)
	sp := s.spreads[n]
	if sp == nil {
		sp = &spread{vars: map[facts.TypeID]uint32{}}
		s.spreads[n] = sp
		s.on(n, constraint{kind: consSpread})
		sp = s.spreads[s.find(n)]
	}
	for _, x := range sp.from {
		if s.find(x.vals) == s.find(st.vals) && s.find(x.held) == s.find(st.held) {
			return
		}
	}
	sp.from = append(sp.from, st)
	for _, t := range slices.Sorted(maps.Keys(sp.vars)) {
		s.storeType(st, t, sp.vars[t])
	}
}

// storeType lets what st gives to variables of type t flow into node to.
func (s *solver) storeType(st stored, t facts.TypeID, to uint32) {
	if s.u.Types[t].Kind == facts.Interface {
		s.copyEdge(st.vals, to, flows)
		return
	}
	s.copyEdge(s.fitting(st.vals, t, true), to, flows)
	s.copyEdge(st.held, to, flows)
}

// fitKey is a type, shifted by one, and 1 for an assignment.
type fitKey uint64

// fitting returns the node for what node n holds and a variable of type t may
// get: with assign, by an assignment of it.
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
		m = s.node(t)
		s.havoc[n][k] = m
		if assign {
			s.on(n, constraint{kind: consSet, a: m, typ: t})
		} else {
			s.copyEdge(n, m, flows)
		}
	}
	return m
}

// spreadCell lets cell p, which node n holds, get what is stored into it.
// Boxes and bindings are never written.
func (s *solver) spreadCell(n, p uint32, ob *Object) {
	if !s.writable(ob) {
		return
	}
	cell := &s.u.Layout(ob.Type).Cells[p-ob.Node]
	if !cell.Ptr {
		return
	}
	sp := s.spreads[s.find(n)]
	m, ok := sp.vars[cell.Type]
	if !ok {
		m = s.node(cell.Type)
		sp.vars[cell.Type] = m
		for _, st := range sp.from {
			s.storeType(st, cell.Type, m)
		}
	}
	s.copyEdge(m, p, flows)
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
				s.unites = append(s.unites, [2]uint32{m, hw[k]})
			} else {
				hv[k] = hw[k]
			}
		}
	}
	delete(s.havoc, w)
	if a, ok := s.stores[w]; ok {
		if b, both := s.stores[v]; both {
			s.unites = append(s.unites, [2]uint32{a.vals, b.vals}, [2]uint32{a.held, b.held})
		} else {
			s.stores[v] = a
		}
		delete(s.stores, w)
	}
	switch sv, sw := s.spreads[v], s.spreads[w]; {
	case sw == nil:
	case sv == nil:
		s.spreads[v] = sw
	default:
		// The types that only w has first get what v stores.
		for _, t := range slices.Sorted(maps.Keys(sw.vars)) {
			if m, ok := sv.vars[t]; ok {
				s.unites = append(s.unites, [2]uint32{m, sw.vars[t]})
				continue
			}
			sv.vars[t] = sw.vars[t]
			for _, st := range sv.from {
				s.storeType(st, t, sw.vars[t])
			}
		}
		for _, st := range sw.from {
			s.storeInto(v, st)
		}
	}
	delete(s.spreads, w)
}
