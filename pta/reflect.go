package pta

import (
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// What reflection does to values. It gives references: pairs of a cell and the
// type of the variable that starts there. A reference in an interface stands
// for a pointer to the variable, or for what the variable holds; a box stands
// for its payload. The models of package reflect, encoding/json and their like
// say what they do in these terms.

// isHandle reports whether t is the type of what the pointer in a reflect.Value
// points to.
func (s *solver) isHandle(t facts.TypeID) bool {
	n := s.u.Types[t].Name
	return n == "reflect.bfx_handle" || n == "reflect.bfx_derived"
}

// ref returns the reference to the variable of type t that starts at cell p, or
// 0 if there is none.
func (s *solver) ref(p uint32, t facts.TypeID) uint32 {
	k := objKey{ObjRef, p, uint32(t), 0}
	if o, ok := s.objOf[k]; ok {
		return s.objs[o].Node
	}
	ob := &s.objs[s.obj[p]]
	if ob.Type == 0 || !ob.Untyped && !s.u.Layout(ob.Type).Cells[p-ob.Node].HasShape(s.u.ShapeOf(t)) {
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

// reaches adds the constraints of one Reach.
func (s *solver) reaches(in Inst, f *facts.Func, r facts.Reach) {
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
			s.on(node(r.X)+uint32(i), constraint{kind: consStep, a: node(r.Dst), off: uint32(r.How)})
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
			s.on(node(r.X)+uint32(i), constraint{kind: consMethods, a: node(r.Dst), off: site})
		}
	case facts.ReachTypes, facts.TypeParts, facts.TypeMethods:
		for i := range n {
			s.on(node(r.X)+uint32(i), constraint{kind: consTypes, a: node(r.Dst), off: uint32(r.How)})
		}
	default:
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

// deep adds the constraints of Deeps[row] of instance id.
func (s *solver) deep(id InstID, in Inst, f *facts.Func, row uint32) {
	d := &f.Deeps[row]
	touched, stored := in.Deep+2*row, in.Deep+2*row+1
	n := s.leaves(f, d.X)
	x := in.Base + f.Regs[d.X].Node
	kind := closureOf(d.How)
	switch d.How {
	case facts.ReachVars, facts.ReachCells:
		for i := range uint32(n) {
			s.on(x+i, constraint{kind: consVars, a: touched, off: uint32(d.How), typ: f.Regs[d.X].Type})
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
		s.on(touched, constraint{kind: consHavoc, a: touched, off: 1})
	case d.From != facts.NoReg:
		// Into interfaces goes what From holds and what is in interfaces of it; into
		// other variables what their type says (set), or what is in structs.
		held := s.node(0)
		for i := range uint32(s.leaves(f, d.From)) {
			y := in.Base + f.Regs[d.From].Node + i
			s.copyEdge(y, stored, flows)
			s.on(y, constraint{kind: consHeld, a: held, off: stored})
		}
		s.on(touched, constraint{kind: consHavoc, a: stored, row: held})
	}
}

// held adds what is in the struct or array that p stands for to node c.a, and
// what is in its interfaces, or in itself if it is one, to node c.off.
func (s *solver) held(c constraint, p uint32) {
	t, base, ok := s.value(p)
	if !ok {
		return
	}
	parts := s.u.Types[t].Kind == facts.Struct || s.u.Types[t].Kind == facts.Array
	for _, q := range s.variable(base, t, false) {
		switch cell := s.cell(q); {
		case cell == nil || !cell.Ptr:
		case s.u.Types[cell.Type].Kind == facts.Interface:
			s.copyEdge(q, c.off, flows)
		case parts:
			s.copyEdge(q, c.a, flows)
		}
	}
}

// set adds to node c.a what a variable of type c.typ, no interface, gets if
// reflection stores p in it: what a value of a type that is assignable holds; of
// a reference, also the pointer. What is no value flows as it is.
func (s *solver) set(c constraint, p uint32) {
	t, base, ok := s.value(p)
	if !ok {
		s.pointsTo(c.a, p)
		return
	}
	if s.u.ShapeOf(t) == s.u.ShapeOf(c.typ) {
		s.copyEdge(base, c.a, flows)
	}
	if ty := &s.u.Types[c.typ]; ty.Kind == facts.Pointer && s.objs[s.obj[p]].Kind == ObjRef && s.u.ShapeOf(ty.Elem) == s.u.ShapeOf(t) {
		s.pointsTo(c.a, base)
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
	if !ok {
		s.insert(s.find(c.a), p) // a function, or an address that unsafe made
		return
	}
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.Struct:
		off := base
		for i := range ty.Fields {
			f := &ty.Fields[i]
			if facts.Reached(c.off) == facts.StepAll || ty.Usable(f) {
				s.give(c.a, off, f.Type)
			}
			off += uint32(len(s.u.Layout(f.Type).Cells))
		}
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

// pointees calls f with each variable that a value of type t leads to if it
// points to cell p.
func (s *solver) pointees(t facts.TypeID, p uint32, f func(p uint32, t facts.TypeID)) {
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
	case ob.Type == 0 || s.isClosure(ob):
	case s.isBox(ob):
		if how == facts.ReachCells && ob.Node == p {
			for _, q := range s.u.Layout(ob.Type).Ptrs {
				s.on(ob.Node+q, constraint{kind: consPointee, a: c.a, typ: s.u.Layout(ob.Type).Cells[q].Type})
			}
		}
	case how == facts.ReachCells && s.u.Pointee(c.typ) != 0:
		add(p, s.u.Pointee(c.typ))
	default: // a pointer whose type is not known: the largest variable that starts there
		ts := s.cell(p).Types
		add(p, ts[len(ts)-1])
	}
}

// typesOf gives the types of what p stands for, or of their parts or methods.
func (s *solver) typesOf(c constraint, p uint32) {
	for _, t := range s.standsFor(p) {
		ts := []facts.TypeID{t}
		switch facts.Reached(c.off) {
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
	return s.u.Layout(ob.Type).Cells[p-ob.Node].Types
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
			k.ctx = 0
		} else {
			s.news[nk]++
		}
	}
	return s.objs[s.object(k, t, id)].Node
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

// callMethods connects Anys[c.row] with the exported methods of what p stands
// for: of a value, of a pointer to it where p refers to a variable, or those
// that MethodByName names.
func (s *solver) callMethods(c constraint, p uint32) {
	named := func(m facts.Method) bool { return facts.Exported(s.u.Methods[m.Key]) }
	if ob := &s.objs[s.obj[p]]; ob.Kind == ObjMethod {
		if site := uint32(ob.As); site != 0 {
			g := s.elemFn[site]
			name := s.u.Funcs[g].Calls[site-s.callBase[g]].Name + " "
			named = func(m facts.Method) bool { return strings.HasPrefix(s.u.Methods[m.Key], name) }
		}
		p = ob.Of
	}
	t, base, ok := s.value(p)
	if !ok {
		if ob := &s.objs[s.obj[p]]; ob.Kind == ObjType {
			s.callTypeMethods(c, facts.TypeID(ob.Of), named)
		}
		return
	}
	for _, m := range s.u.Types[t].Methods {
		if s.u.Types[t].Kind != facts.Interface && named(m) {
			s.callMethod(c, m.Fn, t, base)
		}
	}
	if pt := s.pointerTo(t); pt != 0 && s.objs[s.obj[p]].Kind == ObjRef {
		for _, m := range s.u.Types[pt].Methods {
			if named(m) {
				c.fn = m.Fn
				s.anyThis(c, base)
			}
		}
	}
}

// callMethod connects Anys[c.row] with method fn of the value of type t that
// starts at cell base.
func (s *solver) callMethod(c constraint, fn facts.FuncID, t facts.TypeID, base uint32) {
	callee := s.u.Funcs[fn]
	if callee == nil {
		return
	}
	if s.u.Types[t].Kind == facts.Pointer {
		c.kind, c.fn = consAnyThis, fn
		s.on(base, c)
		return
	}
	a, in, f := s.any(c)
	to := s.instance(fn, s.calleeCtx(callee, s.anyElem(f, c.row), in.Ctx, noObj))
	s.linkAny(c, a, to, 1)
	s.receiveValue(to, t, base)
}

// callTypeMethods connects Anys[c.row] with the exported methods of type t, as
// functions whose first argument is the receiver.
func (s *solver) callTypeMethods(c constraint, t facts.TypeID, named func(facts.Method) bool) {
	if s.u.Types[t].Kind == facts.Interface {
		return
	}
	for _, m := range s.u.Types[t].Methods {
		if callee := s.u.Funcs[m.Fn]; callee != nil && named(m) {
			a, in, f := s.any(c)
			s.linkAny(c, a, s.instance(m.Fn, s.calleeCtx(callee, s.anyElem(f, c.row), in.Ctx, noObj)), 0)
		}
	}
}

// anyThis connects Anys[c.row] with method c.fn on receiver p.
func (s *solver) anyThis(c constraint, p uint32) {
	callee := s.u.Funcs[c.fn]
	if callee == nil {
		return
	}
	a, in, f := s.any(c)
	to := s.instance(c.fn, s.calleeCtx(callee, s.anyElem(f, c.row), in.Ctx, s.obj[p]))
	s.linkAny(c, a, to, 1)
	s.receive(to, p)
}

// receiveValue lets the value of type t at cell base flow into the receiver
// parameter of an instance.
func (s *solver) receiveValue(to InstID, t facts.TypeID, base uint32) {
	out := s.insts[to]
	callee := s.u.Funcs[out.Fn]
	if callee == nil || len(callee.Params) == 0 {
		return
	}
	for i, cell := range s.u.Layout(t).Ptrs {
		s.copyEdge(base+cell, out.Base+callee.Regs[callee.Params[0]].Node+uint32(i), flows)
	}
}

func (s *solver) any(c constraint) (*facts.CallAny, Inst, *facts.Func) {
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	return &f.Anys[c.row], in, f
}

// anyElem is the call site that stands for Anys[row] in contexts.
func (s *solver) anyElem(f *facts.Func, row uint32) element {
	return element(s.callBase[f.ID] + uint32(len(f.Calls)) + row)
}
