package pta

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// What reflection does to values. It gives references: pairs of a cell and the
// type of the variable that starts there. A reference in an interface stands
// for a pointer to the variable, or for what the variable holds; a box stands
// for its payload. The models of package reflect, encoding/json and their like
// say what they do in these terms.

// isHandle reports whether t is the type of what the pointer in a reflect.Value
// points to.
func (s *solver) isHandle(t facts.TypeID) bool { return t != 0 && t == s.handleType }

// ref returns the reference to the variable of type t that starts at cell p, or
// 0 if there is none.
func (s *solver) ref(p uint32, t facts.TypeID) uint32 {
	k := objKey{ObjRef, p, uint32(t), 0}
	if o, ok := s.objOf[k]; ok {
		return s.objs[o].Node
	}
	ob := &s.objs[s.obj[p]]
	if ob.Type == 0 || !s.cellsOf(s.class(t)).Has(p) {
		return 0
	}
	o := s.obj[p]
	n := s.objs[s.object(k, 0, 0)].Node
	s.refs[o] = append(s.refs[o], n)
	return n
}

// give adds the variable of type t at cell p to node dst, and, if it is an
// interface, what it holds.
func (s *solver) give(dst, p uint32, t facts.TypeID) {
	if n := s.ref(p, t); n != 0 {
		s.insert(s.find(dst), n)
	}
	if s.u.Types[t].Kind == facts.Interface {
		s.copyEdge(p, dst, flows)
	}
}

// value returns the type of the value that p stands for and the cell where it
// starts, if p is a reference or a box. Parts of what a box holds are those of a
// copy of it.
func (s *solver) value(p uint32) (facts.TypeID, uint32, bool) {
	ob := &s.objs[s.obj[p]]
	switch {
	case ob.Kind == ObjRef:
		return ob.As, ob.Of, true
	case s.isBox(ob):
		t := ob.Type
		v := s.unboxed(s.obj[p])
		return t, s.objs[v].Node, true
	}
	return 0, 0, false
}

// unboxed returns the object that stands for a copy of what box o holds, if it
// has parts; else the box.
func (s *solver) unboxed(o ObjID) ObjID {
	ob := &s.objs[o]
	if k := s.u.Types[ob.Type].Kind; k.PointerLike() || k == facts.Scalar {
		return o
	}
	k := objKey{ObjUnboxed, uint32(o), 0, 0}
	c, ok := s.objOf[k]
	if !ok {
		c = s.object(k, ob.Type, ob.Inst)
		from, to := s.objs[o].Node, s.objs[c].Node
		for _, q := range s.ptrCells(c) {
			s.copyEdge(from+q, to+q, flows)
		}
	}
	return c
}

// variable returns the cells of the variable of type t that starts at cell p,
// or those that exported fields lead to. An object that was viewed at a foreign
// type is taken whole.
func (s *solver) variable(p uint32, t facts.TypeID, exported bool) []uint32 {
	ob := &s.objs[s.obj[p]]
	var cs []uint32
	switch {
	case ob.Untyped:
		for i := range ob.N {
			cs = append(cs, ob.Node+i)
		}
	case exported:
		for _, c := range s.u.ExportedCells(t) {
			if q := p + c; q < ob.Node+ob.N {
				cs = append(cs, q)
			}
		}
	default:
		for i := range uint32(len(s.u.Layout(t).Cells)) {
			if q := p + i; q < ob.Node+ob.N {
				cs = append(cs, q)
			}
		}
	}
	return cs
}

// reaches adds the constraints of Reaches[row] of instance id.
func (s *solver) reaches(id InstID, in Inst, f *facts.Func, row uint32) {
	r := f.Reaches[row]
	node := func(r facts.Reg) uint32 { return in.Base + f.Regs[r].Node }
	n := s.leaves(f, r.X)
	if n == 0 {
		return
	}
	switch r.How {
	case facts.ReachPrint:
		b := s.printed(node(r.X))
		s.copyEdge(b+printRead, node(r.Dst), flows)
		s.copyEdge(b+printAlso, node(r.Dst), flows)
	case facts.Step, facts.StepAll:
		for i := range n {
			s.on(node(r.X)+uint32(i), constraint{kind: consStep, only: n == 1, a: node(r.Dst), off: uint32(r.How)})
		}
	case facts.ReachConverted:
		if s.leaves(f, r.Type) == 1 && n == 1 {
			s.on(node(r.Type), constraint{kind: consConvert, a: node(r.Dst), off: node(r.X), inst: id, row: row})
		}
	case facts.ReachAt:
		if s.leaves(f, r.Type) == 1 && n == 1 {
			s.on(node(r.Type), constraint{kind: consTypesAt, a: node(r.Dst), off: node(r.X)})
		}
	case facts.ReachSliced:
		for i := range n {
			s.on(node(r.X)+uint32(i), constraint{kind: consSlice, only: n == 1, a: node(r.Dst)})
		}
	case facts.ReachMethods:
		site := uint32(s.ctxs.site(in.Ctx))
		if site != 0 {
			g := s.elemFn[site]
			if row := site - s.callBase[g]; int(row) >= len(s.u.Funcs[g].Calls) || s.u.Funcs[g].Calls[row].Name == "" {
				site = 0
			}
		}
		for i := range n {
			m := s.object(objKey{ObjMethod, node(r.X) + uint32(i), site, 0}, 0, 0)
			s.insert(s.find(node(r.Dst)), s.objs[m].Node)
		}
	case facts.ReachTypes, facts.TypeOver, facts.TypeParts, facts.TypeMethods:
		for i := range n {
			s.on(node(r.X)+uint32(i), constraint{kind: consTypes, only: n == 1, a: node(r.Dst), off: uint32(r.How), row: uint32(r.Kind)})
		}
	default:
		if closureOf(r.How) == everything {
			s.copyEdge(node(r.Dst), s.unknown, flows)
		}
		if n == 1 { // nothing else defines the register
			s.unites = append(s.unites, [2]uint32{s.contentReach(closureOf(r.How), node(r.X)), node(r.Dst)})
			return
		}
		s.reachable(closureOf(r.How), in, f, r.X, node(r.Dst))
	}
}

func closureOf(how facts.Reached) closure {
	if how == facts.ReachExported {
		return exported
	}
	return everything
}

// reachable makes node d hold all that register x reaches.
func (s *solver) reachable(kind closure, in Inst, f *facts.Func, x facts.Reg, d uint32) {
	for i := range s.leaves(f, x) {
		s.copyEdge(s.contentReach(kind, in.Base+f.Regs[x].Node+uint32(i)), d, flows)
	}
}

// touches adds the constraints of Deeps[row] of instance id.
func (s *solver) touches(id InstID, in Inst, f *facts.Func, row uint32) {
	d := &f.Deeps[row]
	touched := in.Deep + row
	n := s.leaves(f, d.X)
	x := in.Base + f.Regs[d.X].Node
	kind := closureOf(d.How)
	switch d.How {
	case facts.ReachVars, facts.ReachCells:
		for i := range uint32(n) {
			s.on(x+i, constraint{kind: consVars, only: n == 1, a: touched, off: uint32(d.How), typ: f.Regs[d.X].Type})
		}
	case facts.ReachGiven:
		for i := range uint32(n) {
			s.copyEdge(x+i, touched, flows)
		}
	case facts.ReachPrint:
		if n > 0 {
			s.copyEdge(s.printed(x)+printRead, touched, flows)
		}
	case facts.ReachExported:
		for i := range uint32(n) {
			s.on(s.contentReach(exported, x+i), constraint{kind: consVars, a: touched, off: uint32(d.How)})
		}
	default:
		if n == 1 {
			s.alias(touched, s.contentReach(kind, x))
		} else {
			s.reachable(kind, in, f, d.X, touched)
		}
	}
	switch {
	case !d.Write:
	case d.Fresh:
		s.on(touched, constraint{kind: consFresh, inst: id, row: row})
	case d.How == facts.ReachAll:
		// Any of it may be stored into any of it.
		s.closed(kind, touched)
		s.on(touched, constraint{kind: consHavoc})
		s.copyEdge(touched, s.unknown, flows)
	case d.From != facts.NoReg:
		for i := range uint32(s.leaves(f, d.From)) {
			st := s.storesOf(in.Base + f.Regs[d.From].Node + i)
			for j := range uint32(n) {
				s.storeInto(s.stored(x+j, d.How, f.Regs[d.X].Type), st)
			}
		}
	}
}

// set adds to the node c.a and those after it what a variable of type c.typ, no
// interface, gets of a value p that is assigned to it: the leaves of one of the
// same shape; of a reference also the pointer. What is no value flows as it is.
// With c.off, p is converted: arrays and their pointers are made of slices.
func (s *solver) set(c constraint, p uint32) {
	want := s.u.Layout(c.typ).Ptrs
	t, base, ok := s.value(p)
	if !ok {
		if len(want) == 1 {
			s.pointsTo(c.a, p)
		}
		if !s.boxed.Has(p) {
			s.awaited.Add(p)
		} else if s.cell(p) != nil && s.cellsOf(s.class(c.typ)).Has(p) { // or the variable there
			for i, cell := range want {
				s.copyEdge(p+cell, c.a+uint32(i), flows)
			}
		}
		return
	}
	have := s.u.Layout(t).Ptrs
	a, b := &s.u.Types[t], &s.u.Types[c.typ]
	pa, pb := s.u.Pointee(t), s.u.Pointee(c.typ)
	switch {
	case c.off == 0 && s.u.Assignable(t, c.typ) || c.off != 0 && s.u.Convertible(t, c.typ):
		if c.off == convertFew {
			s.converts(t, c.typ)
		}
		for i := range min(len(have), len(want)) {
			s.copyEdge(base+have[i], c.a+uint32(i), flows)
		}
	case c.off == 0:
	case pa != 0 && pb != 0 && s.pointersConvert(c.off, s.base(pa), s.base(pb)): // to an array's pointer too
		s.copyEdge(base, c.a, flows)
	case a.Kind == facts.Slice && b.Kind == facts.Array && pa == b.Elem:
		for i, cell := range want {
			s.on(base, constraint{kind: consLoad, a: c.a + uint32(i), off: cell, typ: t})
		}
	}
	if b.Kind == facts.Pointer && s.objs[s.obj[p]].Kind == ObjRef && (b.Elem == t || c.off != 0 && s.pointersConvert(c.off, t, b.Elem)) {
		s.pointsTo(c.a, base)
	}
}

// How values convert to the types of one row: to few types, or to more than
// maxTypes. Pointers then keep to the class of what they point to, which is an
// assumption that the model prints.
const (
	convertFew  = 1
	convertMany = 2
)

// pointersConvert reports whether pointers to a t are converted to pointers to a
// v, and notes it.
func (s *solver) pointersConvert(how uint32, t, v facts.TypeID) bool {
	if how == convertMany {
		return s.class(t) == s.class(v)
	}
	if !s.u.Convertible(t, v) {
		return false
	}
	s.same(t, v)
	return true
}

// box returns the first cell of the box of type t that a model puts into node
// dst, and whether it was not there: (N).
func (s *solver) box(dst uint32, t facts.TypeID, inst InstID) (uint32, bool) {
	b := boxKey{dst, t}
	if o, ok := s.boxes[b]; ok {
		return s.objs[o].Node, false
	}
	k := objKey{ObjBox, dst, uint32(t), 0}
	nk := newKey{0, dst}
	if s.news[nk] >= maxNew {
		k.a = 0
	} else {
		s.news[nk]++
	}
	o := s.object(k, t, inst)
	s.boxes[b] = o
	n := s.objs[o].Node
	s.insert(s.find(dst), n)
	return n, true
}

// convert converts what node c.off holds to the types that p stands for. What a
// conversion from a string makes is fresh.
func (s *solver) convert(c constraint, p uint32) {
	for _, t := range s.standsFor(p) {
		if s.u.Types[t].Kind == facts.Interface {
			s.copyEdge(c.off, c.a, flows)
			continue
		}
		b, fresh := s.box(c.a, t, c.inst)
		if !fresh {
			continue
		}
		l := s.u.Layout(t)
		if len(l.Ptrs) == 0 {
			continue
		}
		v := s.leavesOf(l)
		for i, cell := range l.Ptrs {
			s.copyEdge(v+uint32(i), b+cell, flows)
		}
		how := uint32(convertFew)
		k := newKey{^InstID(0), c.a}
		if s.news[k]++; s.news[k] > maxTypes {
			how = convertMany
		}
		s.on(c.off, constraint{kind: consSet, a: v, off: how, typ: t})
		if m := s.u.Pointee(t); s.u.Types[t].Kind == facts.Slice && s.u.Types[m].Kind == facts.Scalar {
			f := s.u.Funcs[s.insts[c.inst].Fn]
			s.pointsTo(v, s.newObject(c.inst, uint32(len(f.News)+len(f.Deeps))+c.row, m))
		}
	}
}

// slice gives slices of the array that p stands for. Where the program has no
// type for them, nobody takes one out of an interface: the model gives the array
// too, whose elements are theirs.
func (s *solver) slice(c constraint, p uint32) {
	t, base, ok := s.value(p)
	if !ok || s.u.Types[t].Kind != facts.Array {
		return
	}
	elem := s.u.Types[t].Elem
	xs := s.u.Over(elem, facts.Slice)
	if s.u.Types[elem].Shape == "uint8" { // Bytes gives bytes of any type
		if b := s.u.TypeByName("[]uint8"); b != 0 && !slices.Contains(xs, b) {
			s.same(elem, s.u.Types[b].Elem)
			xs = append(xs[:len(xs):len(xs)], b)
		}
	}
	for _, x := range xs {
		b, _ := s.box(c.a, x, 0)
		s.pointsTo(b, base)
	}
}

// cell describes a cell; nil for functions and what is no object.
func (s *solver) cell(p uint32) *facts.Cell {
	ob := &s.objs[s.obj[p]]
	if ob.Type == 0 {
		return nil
	}
	return &s.u.Layout(ob.Type).Cells[p-ob.Node]
}

// step gives what one step leads to from the value that p stands for.
func (s *solver) step(c constraint, p uint32) {
	t, base, ok := s.value(p)
	if !ok { // a function, or a pointer whose type is not known
		s.insert(s.find(c.a), p)
		if s.writable(&s.objs[s.obj[p]]) {
			for _, t := range s.cell(p).Types {
				s.give(c.a, p, t)
			}
		}
		return
	}
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.Struct:
		s.fields(base, t, facts.Reached(c.off) == facts.StepAll, func(p uint32, t facts.TypeID) { s.give(c.a, p, t) })
	case facts.Array:
		s.give(c.a, base, ty.Elem)
	case facts.Interface, facts.FuncKind:
		s.copyEdge(base, c.a, flows)
	case facts.Pointer, facts.Slice, facts.Map, facts.Chan:
		s.on(base, constraint{kind: consDeref, a: c.a, typ: t})
	}
	if ob := &s.objs[s.obj[base]]; ob.Untyped {
		s.copyEdge(ob.foreign, c.a, flows)
	}
}

// fields calls f with each field of the struct of type t that starts at cell p;
// without all, with those that reflection lets a program use.
func (s *solver) fields(p uint32, t facts.TypeID, all bool, f func(p uint32, t facts.TypeID)) {
	ty := &s.u.Types[t]
	for i := range ty.Fields {
		x := &ty.Fields[i]
		if all || ty.Usable(x) {
			f(p, x.Type)
		}
		p += uint32(len(s.u.Layout(x.Type).Cells))
	}
}

// pointees calls f with each variable that a value of type t leads to if it
// points to cell p. An address somewhere in an object leads to all cells that
// have the type.
func (s *solver) pointees(t facts.TypeID, p uint32, f func(p uint32, t facts.TypeID)) {
	if ob := s.objs[s.obj[p]]; ob.Kind == ObjArith {
		of := &s.objs[ob.Of]
		for i := range of.N {
			if q := of.Node + i; of.Type != 0 && (t == 0 || s.native(q, of, t)) {
				s.pointees(t, q, f)
			}
		}
		return
	}
	if s.objs[s.obj[p]].Type == 0 {
		return
	}
	switch ty := &s.u.Types[t]; ty.Kind {
	case facts.Pointer, facts.Slice:
		f(p, ty.Elem)
	case facts.Map:
		key := s.u.Types[ty.Obj].Fields[1].Type
		f(p, ty.Obj)
		f(p+1, key)
		f(p+1+uint32(len(s.u.Layout(key).Cells)), ty.Elem)
	case facts.Chan:
		f(p, ty.Obj)
		f(p, ty.Elem)
	case facts.Scalar, facts.UnsafePointer: // not known: the largest variable that starts there
		ts := s.cell(p).Types
		f(p, ts[len(ts)-1])
	}
}

// vars adds the variables that p stands for to the cells that a Deep touches.
func (s *solver) vars(c constraint, p uint32) {
	how := facts.Reached(c.off)
	add := func(p uint32, t facts.TypeID) {
		for _, q := range s.variable(p, t, how == facts.ReachExported) {
			s.insert(s.find(c.a), q)
		}
	}
	ob := &s.objs[s.obj[p]]
	switch {
	case ob.Kind == ObjRef:
		t, base := ob.As, ob.Of
		add(base, t)
		for _, q := range s.u.Layout(t).Ptrs {
			if how == facts.ReachCells {
				s.on(base+q, constraint{kind: consPointee, a: c.a, typ: s.u.Layout(t).Cells[q].Type})
			}
		}
	case ob.Type == 0 && ob.Kind != ObjArith || s.isClosure(ob):
	case s.isBox(ob):
		if how == facts.ReachCells && ob.Node == p {
			for _, q := range s.u.Layout(ob.Type).Ptrs {
				s.on(ob.Node+q, constraint{kind: consPointee, a: c.a, typ: s.u.Layout(ob.Type).Cells[q].Type})
			}
		}
	case how == facts.ReachCells && s.u.Pointee(c.typ) != 0:
		s.pointees(c.typ, p, add)
	default: // a pointer whose type is not known
		s.pointees(0, p, add)
	}
}

// typesOf gives the types of what p stands for, or of their parts or methods.
func (s *solver) typesOf(c constraint, p uint32) {
	if m := s.objs[s.obj[p]]; m.Kind == ObjMethod {
		if facts.Reached(c.off) == facts.ReachTypes { // its parameters and results
			s.on(m.Of, constraint{kind: consTypes, a: c.a, off: uint32(facts.TypeMethods)})
		}
		return // a method has no methods
	}
	for _, t := range s.standsFor(p) {
		ts := []facts.TypeID{t}
		switch facts.Reached(c.off) {
		case facts.TypeOver:
			ts = append(ts, s.u.Over(t, facts.Kind(c.row))...)
		case facts.TypeParts:
			ts = s.u.PartTypes(t)
		case facts.TypeMethods:
			ts = s.u.MethodTypes(t)
		}
		for _, t := range ts {
			o := s.object(objKey{ObjType, uint32(t), 0, 0}, 0, 0)
			s.insert(s.find(c.a), s.objs[o].Node)
		}
	}
}

func (s *solver) standsFor(p uint32) []facts.TypeID {
	ob := &s.objs[s.obj[p]]
	switch {
	case ob.Kind == ObjType:
		return []facts.TypeID{facts.TypeID(ob.Of)}
	case ob.Kind == ObjRef:
		if pt := s.pointerTo(ob.As); pt != 0 {
			return []facts.TypeID{ob.As, pt}
		}
		return []facts.TypeID{ob.As}
	case ob.Type == 0:
		return nil
	case s.isBox(ob):
		return []facts.TypeID{ob.Type}
	}
	return s.typesAt(p, false)
}

// makeNew gives News[row] a variable of each type that p stands for; slices,
// maps and channels get something to point to.
func (s *solver) makeNew(c constraint, p uint32) {
	for _, t := range s.standsFor(p) {
		n := s.newObject(c.inst, c.row, t)
		s.give(c.a, n, t)
		if m := s.u.Pointee(t); m != 0 && s.u.Types[t].Kind != facts.Pointer {
			s.pointsTo(n, s.newObject(c.inst, c.row, m))
		}
	}
}

// newObject returns the first cell of the object of type t that row makes in
// instance id: (N).
func (s *solver) newObject(id InstID, row uint32, t facts.TypeID) uint32 {
	in := s.insts[id]
	k := objKey{ObjNew, uint32(in.Fn), row<<20 | uint32(t), s.ctxs.heap(in.Ctx, s.policy[in.Fn].HK)}
	if _, ok := s.objOf[k]; !ok {
		if nk := (newKey{id, row}); s.news[nk] >= maxNew {
			k = objKey{ObjNew, 0, uint32(t), 0}
		} else {
			s.news[nk]++
		}
	}
	o := s.object(k, t, id)
	s.objs[o].Fn = in.Fn
	return s.objs[o].Node
}

// makeFresh lets Deeps[c.row] store a fresh object in cell p, if its type
// points to something.
func (s *solver) makeFresh(c constraint, p uint32) {
	if !s.writable(&s.objs[s.obj[p]]) {
		return
	}
	if t := s.u.Pointee(s.cell(p).Type); t != 0 {
		row := uint32(len(s.u.Funcs[s.insts[c.inst].Fn].News)) + c.row
		s.pointsTo(p, s.newObject(c.inst, row, t))
	}
}

// writable reports whether an object has variables that models write. Nobody
// writes boxes, bindings and what stands for a box's payload.
func (s *solver) writable(ob *Object) bool {
	return ob.Type != 0 && ob.Kind != ObjUnboxed && !s.isBox(ob) && !s.isClosure(ob)
}
