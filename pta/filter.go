package pta

import "github.com/bfverify/bfverify/facts"

// verdicts are decisions of the filter of one interface type.
type verdicts struct{ known, yes Set }

// accepts applies the type filter of node n to cell p: rules (F1) to (F4) of the
// package comment.
func (s *solver) accepts(n, p uint32) bool {
	t := s.typ[n]
	if t == 0 {
		return true
	}
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.Interface:
		return len(ty.Methods) == 0 || s.implements(p, t)
	case facts.FuncKind:
		return s.funcCells.Has(p)
	}
	k, ok := s.targetClass(t)
	return !ok || s.cellsOf(k).Has(p)
}

// implements decides (F2) for one cell and remembers the answer.
func (s *solver) implements(p uint32, t facts.TypeID) bool {
	v := s.ifaces[t]
	if v == nil {
		v = new(verdicts)
		s.ifaces[t] = v
	}
	if !v.known.Add(p) {
		return v.yes.Has(p)
	}
	o := &s.objs[s.obj[p]]
	yes := false
	switch {
	case o.Kind == ObjRef:
		q := s.pointerTo(o.As)
		yes = s.u.Implements(o.As, t) || q != 0 && s.u.Implements(q, t)
	case s.isBox(o):
		yes = s.u.Implements(o.Type, t)
	case o.Type != 0:
		for _, x := range s.typesAt(p, true) {
			if s.u.Implements(x, t) {
				yes = true
				break
			}
			if q := s.pointerTo(x); q != 0 && s.u.Implements(q, t) {
				yes = true
				break
			}
		}
	}
	if yes {
		v.yes.Add(p)
	}
	return yes
}

// pointerTo returns the type *t, or 0 if the program does not have it.
func (s *solver) pointerTo(t facts.TypeID) facts.TypeID {
	q, ok := s.ptrTo[t]
	if !ok {
		q = s.u.TypeByName("*" + s.u.Types[t].Name)
		s.ptrTo[t] = q
	}
	return q
}

// target returns the type of what a value of type t points to.
func (s *solver) target(t facts.TypeID) facts.TypeID {
	ty := &s.u.Types[t]
	if ty.Kind == facts.Map || ty.Kind == facts.Chan {
		return ty.Obj
	}
	return ty.Elem
}

// native reports whether a pointer of type t may point to cell p and leads to
// the object's own cells from there.
func (s *solver) native(p uint32, ob *Object, t facts.TypeID) bool {
	k, ok := s.targetClass(t)
	return !ok || ob.Type != 0 && (s.ofClass(&s.u.Layout(ob.Type).Cells[p-ob.Node], k) || !ob.Untyped && s.viewed.Has(p) && s.cellsOf(k).Has(p))
}

// needsFilter reports whether dst may refuse something that src holds.
func (s *solver) needsFilter(src, dst uint32) bool { return s.filters(s.typ[src], s.typ[dst]) }

// filters reports whether type b may refuse what type a holds.
func (s *solver) filters(a, b facts.TypeID) bool {
	if b == 0 || a == b {
		return false
	}
	switch s.u.Types[b].Kind {
	case facts.UnsafePointer, facts.Opaque:
		return false
	case facts.Interface:
		if len(s.u.Types[b].Methods) == 0 {
			return false
		}
		return a == 0 || s.u.Types[a].Kind != facts.Interface || !s.u.Implements(a, b)
	case facts.FuncKind:
		return a == 0 || s.u.Types[a].Kind != facts.FuncKind
	}
	if a == 0 {
		return true
	}
	sa, oka := s.targetClass(a)
	sb, okb := s.targetClass(b)
	return !oka || !okb || sa != sb
}
