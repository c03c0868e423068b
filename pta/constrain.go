package pta

import "github.com/bfverify/bfverify/facts"

// consKind is the kind of a complex constraint on a node: what to do for each
// new (object, cell) in its set.
type consKind uint8

const (
	consLoad         consKind = iota // a = dst node, off: dst ⊇ content(o, c+off); typ: of the base
	consStore                        // a = src node, off
	consAddr                         // a = dst node, off
	consAssert                       // a = dst node (first leaf), typ
	consCall                         // static method call: inst, row
	consFn                           // call of a function value
	consInvoke                       // interface call
	consThis                         // receiver payload of an interface call: fn
	consElements                     // a = dst node: the other elements of an array that unsafe sees in an object
	consHavoc                        // what the node holds may be stored into the cells
	consSpread                       // the variables get what spreads says
	consPlaces                       // a = dst node: references to what a write through a register of type typ may mean
	consPlace                        // a = dst node: references to what a value of type typ leads to
	consVars                         // a = dst node, off = the facts.Reached: the variables that p stands for
	consPointee                      // a = dst node: the variables that a value of type typ leads to
	consStep                         // a = dst node, off = the facts.Reached
	consDeref                        // a = dst node: references to what a value of type typ leads to
	consReachDeref                   // a = dst node: what these reach
	consSet                          // a = dst node, typ: what a variable of that type gets; off 1: converted
	consHeld                         // a = dst node: what is in structs and arrays
	consConvert                      // types of a conversion to node a: off = the values, inst, row of Reaches
	consSlice                        // a = dst node, inst
	consTypesAt                      // types of variables for node a: off = the unsafe.Pointer to them
	consCells                        // a = dst node: the cells where an unsafe.Pointer may point
	consAt                           // a = dst node: the variables of type typ, or of all types, at cells
	consMethods                      // calls of methods by Anys: inst, row, off = the call site of MethodByName, or 0
	consMethodValue                  // the same by Calls
	consTypes                        // a = dst node, off = the facts.Reached
	consNew                          // a = dst node
	consFresh                        // a write of fresh values: inst, row of Deeps
	consGhost                        // a = dst node
	consAny                          // call every function: inst, row
	consAnyThis                      // receiver of such a method: fn
	consPrint                        // a slice of operands; off = its block of variables
	consPrintOperand                 // an operand
	consPrintValue                   // what else printing visits
	consHandle                       // a = dst node: the values of what a reflect.Value points to
	consUnknown                      // what code that is not known may have boxed
)

type constraint struct {
	kind consKind
	a    uint32
	off  uint32
	typ  facts.TypeID
	inst InstID
	row  uint32
	fn   facts.FuncID
	edge EdgeKind
	only bool // consLoad: nothing else defines a; once shared, a serves all
}

// constrain adds the constraints of all rows of f for instance id. The order
// of rows does not matter: the analysis is flow-insensitive.
func (s *solver) constrain(id InstID, f *facts.Func) {
	in := s.insts[id]
	node := func(r facts.Reg) uint32 { return in.Base + f.Regs[r].Node }
	for _, c := range s.copiesOf(f) {
		s.alias(in.Base+c.dst, in.Base+c.src)
	}
	for _, g := range f.Globals {
		gl := &s.u.Globals[g.Global]
		o := s.object(objKey{ObjGlobal, uint32(g.Global), 0, 0}, gl.Type, 0)
		s.pointsTo(node(g.Dst), s.objs[o].Node)
	}
	for _, fr := range f.FuncRef {
		o := s.object(objKey{ObjFunc, uint32(fr.Fn), 0, 0}, 0, 0)
		s.pointsTo(node(fr.Dst), s.objs[o].Node)
	}
	hctx := s.ctxs.heap(in.Ctx, s.policy[f.ID].HK)
	for _, a := range f.Allocs {
		site := &f.Sites[a.Site]
		o := s.object(objKey{ObjSite, uint32(f.ID), uint32(a.Site), hctx}, site.Type, id)
		s.pointsTo(node(a.Dst), s.objs[o].Node)
	}
	for _, c := range f.Copies {
		if c.N == 0 {
			continue
		}
		d, src := node(c.Dst)+uint32(c.DstLeaf), node(c.Src)+uint32(c.SrcLeaf)
		how := flows
		if c.Unsafe && s.u.Types[f.Regs[c.Src].Type].Kind != facts.Map { // a map becomes an iterator
			how = s.conversion(f, c.Dst, c.Src)
		}
		for i := range uint32(c.N) {
			s.copyEdge(src+i, d+i, how)
		}
	}
	for _, p := range f.Phis {
		n := s.leaves(f, p.Dst)
		for _, e := range p.Edges {
			if e == facts.NoReg {
				continue
			}
			for i := range n {
				s.copyEdge(node(e)+uint32(i), node(p.Dst)+uint32(i), flows)
			}
		}
	}
	for _, a := range f.Addrs {
		if s.leaves(f, a.Base) == 0 {
			continue
		}
		if a.Kind != facts.AddrField || a.Off == 0 {
			// Same cell: elements share their array's cells, and a first field
			// starts where its struct does.
			s.copyEdge(node(a.Base), node(a.Dst), flows)
			if t := &s.u.Types[f.Regs[a.Base].Type]; a.Kind != facts.AddrField && t.Kind == facts.Pointer && s.manyElements(t.Elem) {
				s.on(node(a.Base), constraint{kind: consElements, a: node(a.Dst)})
			}
			continue
		}
		s.on(node(a.Base), constraint{kind: consAddr, a: node(a.Dst), off: a.Off, typ: f.Regs[a.Base].Type})
	}
	for _, m := range f.Mems {
		if m.Val == facts.NoReg || m.Type == 0 {
			continue
		}
		l := s.u.Layout(m.Type)
		only := !m.Write && s.defsOf(f)[m.Val] == 1 && m.Val != f.Ret
		for i, c := range l.Ptrs {
			k := constraint{kind: consLoad, only: only, a: node(m.Val) + uint32(m.ValLeaf) + uint32(i), off: m.Off + c, typ: f.Regs[m.Base].Type}
			if m.Write {
				k.kind = consStore
			}
			s.on(node(m.Base), k)
		}
	}
	for _, a := range f.Asserts {
		if a.X == facts.NoReg {
			continue
		}
		s.on(node(a.X), constraint{kind: consAssert, a: node(a.Dst), typ: a.Type})
	}
	for _, g := range f.Ghosts {
		if g.Base == facts.NoReg || s.leaves(f, g.Base) == 0 {
			continue
		}
		t := s.u.Types[f.Regs[g.Dst].Type].Elem
		s.on(node(g.Base), constraint{kind: consGhost, a: node(g.Dst), typ: t})
	}
	for i := range f.Reaches {
		s.reaches(id, in, f, uint32(i))
	}
	for i := range f.Deeps {
		if f.Deeps[i].Write {
			s.touches(id, in, f, uint32(i))
		} else {
			s.reads = append(s.reads, deepRead{id, uint32(i)})
		}
	}
	for i, n := range f.News {
		if s.leaves(f, n.X) > 0 {
			s.on(node(n.X), constraint{kind: consNew, a: node(n.Dst), inst: id, row: uint32(i)})
		}
	}
	for i, a := range f.Anys {
		fns := in.Deep + uint32(len(f.Deeps)+2*i)
		kind := exported
		if a.Spawn {
			kind = everything // code that is not known
		}
		s.reachable(kind, in, f, a.X, fns+1)
		if !a.Spawn { // functions that Fn holds, or variables in it
			for j := range uint32(s.leaves(f, a.Fn)) {
				s.copyEdge(node(a.Fn)+j, fns, flows)
				s.on(node(a.Fn)+j, constraint{kind: consStep, a: fns, off: uint32(facts.StepAll)})
			}
			s.on(fns, constraint{kind: consAny, inst: id, row: uint32(i)})
			continue
		}
		s.reachable(kind, in, f, a.Fn, fns)
		s.copyEdge(fns+1, s.unknown, flows)
		s.copyEdge(fns, s.unknown, flows)
		s.on(fns, constraint{kind: consAny, inst: id, row: uint32(i)})
	}
	for i := range f.Calls {
		s.call(id, f, uint32(i))
	}
}

// defsOf returns, by register, how many rows define it, up to 2. Computed once a
// function.
func (s *solver) defsOf(f *facts.Func) []uint8 {
	if defs, ok := s.defs[f.ID]; ok {
		return defs
	}
	defs := make([]uint8, len(f.Regs))
	def := func(r facts.Reg) {
		if defs[r] < 2 {
			defs[r]++
		}
	}
	for _, r := range f.Params {
		def(r)
	}
	for _, r := range f.Free {
		def(r)
	}
	for _, r := range f.Globals {
		def(r.Dst)
	}
	for _, r := range f.FuncRef {
		def(r.Dst)
	}
	for i := range f.Points {
		if r := f.Defines(f.Points[i]); r != facts.NoReg {
			def(r)
		}
	}
	for i := range f.Mems { // several may fill one tuple
		if m := &f.Mems[i]; !m.Write && m.Val != facts.NoReg && m.ValLeaf > 0 {
			defs[m.Val] = 2
		}
	}
	s.defs[f.ID] = defs
	return defs
}

// regCopy says that a leaf holds just what another one does.
type regCopy struct{ dst, src uint32 }

// copiesOf returns the variables of f that are defined by one copy of one other
// variable and by nothing else, and so hold the same: copies, derived addresses
// of the same cell, phis with one operand. Computed once a function.
func (s *solver) copiesOf(f *facts.Func) []regCopy {
	if cs, ok := s.copies[f.ID]; ok {
		return cs
	}
	defs := s.defsOf(f)
	cs := []regCopy{}
	add := func(d facts.Reg, dl int, r facts.Reg, rl, n int) {
		if d == f.Ret || d == r || defs[d] != 1 {
			return
		}
		ld, ls := s.u.Layout(f.Regs[d].Type), s.u.Layout(f.Regs[r].Type)
		for i := range min(n, len(ld.Ptrs)-dl, len(ls.Ptrs)-rl) {
			a, b := ls.Cells[ls.Ptrs[rl+i]].Type, ld.Cells[ld.Ptrs[dl+i]].Type
			if !s.filters(a, b) {
				cs = append(cs, regCopy{f.Regs[d].Node + uint32(dl+i), f.Regs[r].Node + uint32(rl+i)})
			}
		}
	}
	for _, c := range f.Copies {
		if c.N > 0 && !c.Unsafe {
			ld, ls := s.u.Layout(f.Regs[c.Dst].Type), s.u.Layout(f.Regs[c.Src].Type)
			for i := range int(c.N) {
				s.converts(ls.Cells[ls.Ptrs[int(c.SrcLeaf)+i]].Type, ld.Cells[ld.Ptrs[int(c.DstLeaf)+i]].Type)
			}
			add(c.Dst, int(c.DstLeaf), c.Src, int(c.SrcLeaf), int(c.N))
		}
	}
	for _, a := range f.Addrs {
		if s.leaves(f, a.Base) == 1 && (a.Kind != facts.AddrField || a.Off == 0) {
			add(a.Dst, 0, a.Base, 0, 1)
		}
	}
	for _, p := range f.Phis {
		one := facts.NoReg
		for _, e := range p.Edges {
			switch {
			case e == facts.NoReg, e == p.Dst, e == one:
			case one == facts.NoReg:
				one = e
			default:
				one = p.Dst // more than one
			}
		}
		if one != facts.NoReg && one != p.Dst {
			add(p.Dst, 0, one, 0, s.leaves(f, p.Dst))
		}
	}
	s.copies[f.ID] = cs
	return cs
}

// alias makes dst, a fresh variable that nothing else defines, one with src.
func (s *solver) alias(dst, src uint32) {
	src = s.find(src)
	d := s.find(dst)
	if d == src {
		return
	}
	if d != dst || s.pts[d] != nil || s.succ[d] != nil || s.fsucc[d] != nil || len(s.usucc[d]) > 0 || len(s.cons[d]) > 0 || s.reach[everything][d] != 0 || s.reach[exported][d] != 0 {
		s.unites = append(s.unites, [2]uint32{src, d})
		return
	}
	s.rep[dst] = src
	s.stats.Collapsed++
}

// apply runs constraint c of node n for a new element p.
func (s *solver) apply(n uint32, c constraint, p uint32) {
	o := s.obj[p]
	ob := &s.objs[o]
	switch c.kind {
	case consLoad, consStore:
		if !s.native(p, ob, c.typ) {
			if ob.Untyped {
				s.foreignAccess(c, p, o)
			}
			return // else (F1): no value of the base's type points here
		}
		q := p + c.off
		if q >= ob.Node+ob.N {
			return
		}
		s.access(c, p, q)
		if ob.Untyped && s.seenAsArray(q, ob, c.typ, c.off) {
			for q++; q < ob.Node+ob.N; q++ {
				s.access(c, p, q)
			}
		}
	case consElements:
		if ob.Untyped && s.cell(p).Array == 0 {
			for q := p + 1; q < ob.Node+ob.N; q++ {
				s.pointsTo(c.a, q)
			}
		}
	case consAddr:
		if !s.native(p, ob, c.typ) {
			if ob.Untyped {
				s.foreignAddr(c, p, o)
			}
			return
		}
		if q := p + c.off; q < ob.Node+ob.N {
			s.pointsTo(c.a, q)
		}
	case consAssert:
		s.assert(c, p, ob)
	case consCall:
		in := s.insts[c.inst]
		f := s.u.Funcs[in.Fn]
		ctx := s.calleeCtx(s.u.Funcs[c.fn], s.callElem(f, c.row), in.Ctx, o)
		to := s.link(c.inst, f, c.row, c.fn, ctx, false)
		s.receive(to, p)
	case consFn:
		s.callValue(c, p, o)
	case consInvoke:
		s.invoke(c, p, o)
	case consThis:
		in := s.insts[c.inst]
		f := s.u.Funcs[in.Fn]
		ctx := s.calleeCtx(s.u.Funcs[c.fn], s.callElem(f, c.row), in.Ctx, o)
		to := s.link(c.inst, f, c.row, c.fn, ctx, false)
		s.receive(to, p)
	case consVars:
		s.vars(c, p)
	case consPointee:
		s.pointees(c.typ, p, func(p uint32, t facts.TypeID) {
			for _, q := range s.variable(p, t, false) {
				s.insert(s.find(c.a), q)
			}
		})
	case consStep:
		s.step(c, p)
	case consDeref:
		s.pointees(c.typ, p, func(p uint32, t facts.TypeID) { s.give(c.a, p, t) })
	case consReachDeref:
		s.pointees(c.typ, p, func(p uint32, t facts.TypeID) {
			if n := s.ref(p, t); n != 0 {
				s.copyEdge(s.exportedReach(n), c.a, flows)
			}
		})
	case consSet:
		s.set(c, p)
	case consHeld:
		s.held(c, p)
	case consMethods:
		s.callMethods(c, p)
	case consMethodValue:
		s.callMethodValue(c, p)
	case consTypes:
		s.typesOf(c, p)
	case consNew:
		s.makeNew(c, p)
	case consFresh:
		s.makeFresh(c, p)
	case consHavoc:
		s.havocCell(n, p, ob)
	case consSpread:
		s.spreadTo(n, p)
	case consPlaces:
		s.places(c, p)
	case consPlace:
		s.place(c, p)
	case consGhost:
		s.pointsTo(c.a, s.ghost(p, c.typ))
	case consAny:
		s.callAny(c, p, o)
	case consConvert:
		s.convert(c, p)
	case consSlice:
		s.slice(c, p)
	case consTypesAt:
		s.at(c, p)
	case consCells:
		s.pointees(0, p, func(p uint32, _ facts.TypeID) { s.insert(s.find(c.a), p) })
	case consAt:
		s.giveAt(c.a, p, c.typ)
	case consAnyThis:
		s.anyThis(c, p)
	case consPrint, consPrintOperand, consPrintValue:
		s.print(c.kind, c.off, o)
	case consUnknown:
		if s.boxed.Add(p) && s.awaited.Has(p) {
			s.refit.Add(p)
		}
	case consHandle:
		if s.isHandle(ob.Type) {
			s.copyEdge(ob.Node, c.a, flows)
		}
	}
}

// assert adds what p gives to x.(T): what a box of type T holds; of a reference
// to a T what the variable holds, and the pointer if T is a pointer to its type.
func (s *solver) assert(c constraint, p uint32, ob *Object) {
	t := &s.u.Types[c.typ]
	if t.Kind == facts.Interface {
		if s.isBox(ob) && !s.u.Implements(ob.Type, c.typ) {
			return
		}
		s.pointsTo(c.a, p) // (F2)
		return
	}
	load := func(base uint32) {
		for i, cell := range s.u.Layout(c.typ).Ptrs {
			if q := base + cell; s.obj[q] == s.obj[base] {
				s.copyEdge(q, c.a+uint32(i), flows)
			}
		}
	}
	switch {
	case s.isBox(ob):
		if ob.Type == c.typ {
			load(ob.Node)
		}
	case ob.Kind == ObjRef:
		if ob.As == c.typ {
			load(ob.Of)
		}
		if t.Kind == facts.Pointer && t.Elem == ob.As {
			s.pointsTo(c.a, ob.Of)
		}
	default: // a pointer whose type is not known: itself, or what it points to
		if l := s.u.Layout(c.typ); len(l.Ptrs) == 1 && len(l.Cells) == 1 {
			s.pointsTo(c.a, p)
		}
		if ob.Type != 0 && s.cellsOf(s.class(c.typ)).Has(p) {
			load(p)
		}
	}
}
