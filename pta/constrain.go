package pta

import (
	"github.com/bfverify/bfverify/facts"
)

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
	hctx := s.ctxs.heap(in.Ctx, s.cfg.HK)
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
			continue
		}
		s.on(node(a.Base), constraint{kind: consAddr, a: node(a.Dst), off: a.Off, typ: f.Regs[a.Base].Type})
	}
	for _, m := range f.Mems {
		if m.Val == facts.NoReg || m.Type == 0 {
			continue
		}
		l := s.u.Layout(m.Type)
		for i, c := range l.Ptrs {
			k := constraint{kind: consLoad, a: node(m.Val) + uint32(m.ValLeaf) + uint32(i), off: m.Off + c, typ: f.Regs[m.Base].Type}
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
	for _, r := range f.Reaches {
		if s.leaves(f, r.X) == 1 && !r.Print {
			// Nothing else defines the register.
			s.unites = append(s.unites, [2]uint32{s.contentReach(node(r.X)), node(r.Dst)})
			continue
		}
		if r.Print {
			if s.leaves(f, r.X) > 0 {
				b := s.printed(node(r.X))
				s.copyEdge(b+printRead, node(r.Dst), flows)
				s.copyEdge(b+printAlso, node(r.Dst), flows)
			}
			continue
		}
		s.reachable(in, f, r.X, node(r.Dst))
	}
	for i, d := range f.Deeps {
		touched, stored := in.Deep+uint32(2*i), in.Deep+uint32(2*i)+1
		if d.Shallow {
			for j := range s.leaves(f, d.X) {
				s.on(node(d.X)+uint32(j), constraint{kind: consShallow, a: touched})
			}
		} else if d.Print {
			if s.leaves(f, d.X) > 0 {
				s.copyEdge(s.printed(node(d.X))+printRead, touched, flows)
			}
		} else if s.leaves(f, d.X) == 1 {
			s.alias(touched, s.contentReach(node(d.X)))
		} else {
			s.reachable(in, f, d.X, touched)
		}
		if !d.Write {
			continue
		}
		if d.From != facts.NoReg {
			s.reachable(in, f, d.From, stored)
		} else if !d.Shallow {
			stored = touched // any of it may be stored into any of it
		}
		k := constraint{kind: consHavoc, a: stored}
		if stored == touched {
			k.off = 1
			s.closed(touched)
		}
		s.on(touched, k)
	}
	for i, n := range f.News {
		if s.leaves(f, n.X) > 0 {
			s.on(node(n.X), constraint{kind: consNew, a: node(n.Dst), inst: id, row: uint32(i)})
		}
	}
	for i, a := range f.Anys {
		fns := in.Deep + uint32(2*(len(f.Deeps)+i))
		s.reachable(in, f, a.Fn, fns)
		s.reachable(in, f, a.X, fns+1)
		s.on(fns, constraint{kind: consAny, inst: id, row: uint32(i)})
	}
	for i := range f.Calls {
		s.call(id, f, uint32(i))
	}
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
	defs := make([]uint8, len(f.Regs)) // rows that define the register, up to 2
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
	if d != dst || s.pts[d] != nil || s.succ[d] != nil || s.fsucc[d] != nil || len(s.usucc[d]) > 0 || len(s.cons[d]) > 0 || s.reach[d] != 0 {
		s.unites = append(s.unites, [2]uint32{src, d})
		return
	}
	s.rep[dst] = src
	s.stats.Collapsed++
}

// conversion tells how register x is converted to d: an unsafe.Pointer to
// something is a view if it is the address of a variable, made right here, else
// opaque; to an unsafe.Pointer it is arithmetic.
func (s *solver) conversion(f *facts.Func, d, x facts.Reg) edgeMode {
	if s.u.Types[f.Regs[d].Type].Kind == facts.UnsafePointer {
		return arithmetic
	}
	if s.u.Types[f.Regs[x].Type].Kind != facts.UnsafePointer {
		return views
	}
	if def := f.Regs[x].Def; def != 0 {
		if p := f.Points[def-1]; p.Op == facts.OpCopy {
			if y := f.Copies[p.Row].Src; s.u.Types[f.Regs[y].Type].Kind.PointerLike() && s.u.Types[f.Regs[y].Type].Kind != facts.UnsafePointer {
				return views
			}
		}
	}
	return opaque
}

// reachable makes node d hold all that register x reaches.
func (s *solver) reachable(in Inst, f *facts.Func, x facts.Reg, d uint32) {
	for i := range s.leaves(f, x) {
		s.copyEdge(s.contentReach(in.Base+f.Regs[x].Node+uint32(i)), d, flows)
	}
}

// What printing looks at: a block of variables for each slice of operands.
//
//	(P1) the operands' array, and what its boxes hold; a pointer is followed (top)
//	(P2) of all that: what slices, maps and interfaces hold (below), and so on
//	(P3) what other pointers point to is not read, but given for its methods (also)
//	(P4) what an unsafe.Pointer reaches is read: a reflect.Value is printed as
//	     the variable that it denotes
const (
	printRead = iota // all that is read
	printOperand
	printTop
	printBelow
	printAlso
	printVars
)

// printed returns the block for the slice of operands in node n.
func (s *solver) printed(n uint32) uint32 {
	b, ok := s.prints[n]
	if !ok {
		b = s.nodes(variables, printVars)
		s.prints[n] = b
		s.on(n, constraint{kind: consPrint, off: b})
		s.on(b+printOperand, constraint{kind: consPrintOperand, off: b})
		s.on(b+printTop, constraint{kind: consPrintValue, off: b})
		s.on(b+printBelow, constraint{kind: consPrintValue, off: b})
	}
	return b
}

// print applies (P1) to (P4) to object o.
func (s *solver) print(kind consKind, b uint32, o ObjID) {
	ob := s.objs[o]
	if kind == consPrintOperand && !s.isBox(&ob) {
		for i := range ob.N { // a cell that reflection made an operand of
			s.insert(s.find(b+printTop), ob.Node+i)
		}
		return
	}
	if r := s.find(b + printRead); s.pts[r] != nil && s.pts[r].Has(ob.Node) {
		return // has been here, or all that it reaches is read
	}
	s.insertAll(s.find(b+printRead), &ob)
	for _, c := range s.ptrCells(o) {
		q := ob.Node + c
		k := s.u.Types[s.u.Layout(ob.Type).Cells[c].Type].Kind
		switch {
		case kind == consPrint:
			s.copyEdge(q, b+printOperand, flows)
		case k == facts.Slice, k == facts.Map, k == facts.Interface:
			s.copyEdge(q, b+printBelow, flows)
		case k == facts.UnsafePointer, k == facts.Opaque:
			s.copyEdge(s.contentReach(q), b+printRead, flows)
		case kind == consPrintOperand && k == facts.Pointer:
			s.copyEdge(q, b+printTop, flows)
		default:
			s.copyEdge(q, b+printAlso, flows)
		}
	}
}

// call adds the constraints of Calls[row].
func (s *solver) call(id InstID, f *facts.Func, row uint32) {
	in := s.insts[id]
	c := &f.Calls[row]
	switch {
	case c.Static != 0:
		callee := s.u.Funcs[c.Static]
		if callee == nil {
			s.edge(id, s.edgeKind(c, c.Static), row, s.instance(c.Static, 0))
			return
		}
		if callee.Is(facts.FnMethod) && s.cfg.Policy != Insens && !callee.Is(facts.FnInline) {
			if len(c.Args) > 0 && c.Args[0] != facts.NoReg {
				n := in.Base + f.Regs[c.Args[0]].Node
				s.on(n, constraint{kind: consCall, inst: id, row: row, fn: c.Static})
				s.fallback = append(s.fallback, pendingCall{id, row, n, c.Static})
				return
			}
		}
		s.link(id, f, row, c.Static, s.calleeCtx(callee, s.callElem(f, row), in.Ctx, noObj), true)
	case c.Method != 0:
		if c.Recv != facts.NoReg {
			s.on(in.Base+f.Regs[c.Recv].Node, constraint{kind: consInvoke, inst: id, row: row})
		}
	case c.Fn != facts.NoReg:
		s.on(in.Base+f.Regs[c.Fn].Node, constraint{kind: consFn, inst: id, row: row})
	}
}

func (s *solver) callElem(f *facts.Func, row uint32) element {
	return element(s.callBase[f.ID] + row)
}

// unreached instantiates the callees of method calls whose receiver stayed
// empty (nil, or from code that is not modelled) under the plain rule, and
// reports whether there were any.
func (s *solver) unreached() bool {
	todo := s.fallback
	s.fallback = nil
	any := false
	for _, p := range todo {
		n := s.find(p.node)
		if s.pts[n] != nil && !s.pts[n].Empty() {
			continue
		}
		in := s.insts[p.inst]
		f := s.u.Funcs[in.Fn]
		callee := s.u.Funcs[p.fn]
		s.link(p.inst, f, p.row, p.fn, s.calleeCtx(callee, s.callElem(f, p.row), in.Ctx, noObj), true)
		any = true
	}
	return any || len(s.fallback) > 0
}

func (s *solver) edgeKind(c *facts.Call, fn facts.FuncID) EdgeKind {
	if c.Mode == facts.ModeGo {
		return EdgeGo
	}
	return EdgeCall
}

// edge records a call edge and reports whether it is new.
func (s *solver) edge(from InstID, kind EdgeKind, row uint32, to InstID) bool {
	k := edgeKey{from, kind, row, to}
	if s.edgeSet[k] {
		return false
	}
	s.edgeSet[k] = true
	s.insts[from].Out = append(s.insts[from].Out, Edge{kind, row, to})
	return true
}

// link connects Calls[row] of instance id with fn in ctx: arguments to
// parameters (the first one too if withRecv), results back.
func (s *solver) link(id InstID, f *facts.Func, row uint32, fn facts.FuncID, ctx CtxID, withRecv bool) InstID {
	c := &f.Calls[row]
	to := s.instance(fn, ctx)
	kind := s.edgeKind(c, fn)
	if kind == EdgeCall && f.Name == TestRunner && s.cfg.Parallel[s.ctxs.key(s.insts[id].Ctx)] {
		kind = EdgeGo
	}
	if !s.edge(id, kind, row, to) {
		return to
	}
	callee := s.u.Funcs[s.insts[to].Fn]
	if callee == nil {
		return to
	}
	in, out := s.insts[id], s.insts[to]
	params := callee.Params
	args := c.Args
	if c.Method != 0 && len(params) > 0 {
		params = params[1:]
	} else if !withRecv && len(args) > 0 {
		args, params = args[1:], params[1:]
	}
	inlined := callee.Is(facts.FnInline) && c.Static != 0 && !s.ctxs.full(ctx)
	for i, a := range args {
		if a == facts.NoReg || i >= len(params) {
			continue
		}
		n := min(s.leaves(f, a), s.leaves(callee, params[i]))
		for j := range n {
			x, y := in.Base+f.Regs[a].Node+uint32(j), out.Base+callee.Regs[params[i]].Node+uint32(j)
			if inlined && !s.filters(s.decl[x], s.decl[y]) {
				s.alias(y, x) // its only call
			} else {
				s.copyEdge(x, y, flows)
			}
		}
	}
	if c.Dst != facts.NoReg && callee.Ret != facts.NoReg {
		n := min(s.leaves(f, c.Dst), s.leaves(callee, callee.Ret))
		for j := range n {
			x, y := out.Base+callee.Regs[callee.Ret].Node+uint32(j), in.Base+f.Regs[c.Dst].Node+uint32(j)
			if inlined && !s.filters(s.decl[x], s.decl[y]) {
				s.alias(y, x) // its only result
			} else {
				s.copyEdge(x, y, flows)
			}
		}
	}
	return to
}

// TestRunner is the model function whose one call runs one test.
const TestRunner = "testing.bfx_tRunner"

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
		if c.kind == consLoad {
			s.copyEdge(q, c.a, flows)
		} else {
			s.copyEdge(c.a, q, flows)
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
		s.callValue(c, o)
	case consInvoke:
		s.invoke(c, p, o)
	case consThis:
		in := s.insts[c.inst]
		f := s.u.Funcs[in.Fn]
		ctx := s.calleeCtx(s.u.Funcs[c.fn], s.callElem(f, c.row), in.Ctx, o)
		to := s.link(c.inst, f, c.row, c.fn, ctx, false)
		s.receive(to, p)
	case consShallow:
		if s.isBox(ob) {
			for i := range ob.N {
				s.copyEdge(ob.Node+i, c.a, flows)
			}
			return
		}
		s.insertAll(s.find(c.a), ob)
	case consNew:
		s.makeNew(c, p, o)
	case consHavoc:
		s.havocCell(c, p, ob)
	case consGhost:
		g := s.object(objKey{ObjGhost, p, 0, 0}, c.typ, 0)
		s.pointsTo(c.a, s.objs[g].Node)
	case consAny:
		s.callAny(c, o)
	case consPrint, consPrintOperand, consPrintValue:
		s.print(c.kind, c.off, o)
	}
}

// foreignRange returns the bytes that cell off of what a pointer of type t
// points to takes, if it points to cell p of ob; ok is false if an array makes
// that unclear.
func (s *solver) foreignRange(p uint32, ob *Object, t facts.TypeID, off uint32) (from, to int64, ok bool) {
	elem := s.target(t)
	base := &s.u.Layout(ob.Type).Cells[p-ob.Node]
	if elem == 0 || base.Array != 0 || ob.blurred || s.u.Types[elem].Kind == facts.Array {
		return 0, 0, false
	}
	l := s.u.Layout(elem)
	if int(off) >= len(l.Cells) || l.Cells[off].Array != 0 {
		return 0, 0, false
	}
	c := &l.Cells[off]
	return base.Off + c.Off, base.Off + c.Off + c.Size, true
}

// foreignAddr derives the address of a part of an untyped object, through a
// pointer to cell p of a type that the cell does not have: the cell that starts
// at that byte. If there is none, the object is blurred: from then on every
// such access touches all cells.
func (s *solver) foreignAddr(c constraint, p uint32, o ObjID) {
	ob := &s.objs[o]
	from, _, ok := s.foreignRange(p, ob, c.typ, c.off)
	cells := s.u.Layout(ob.Type).Cells
	if ok {
		for i := range cells {
			if cells[i].Array == 0 && cells[i].Off == from {
				s.pointsTo(c.a, ob.Node+uint32(i))
				return
			}
		}
	}
	if !ob.blurred {
		ob.blurred = true
		for i := range ob.N {
			s.refit.Add(ob.Node + i)
		}
	}
	for i := range cells {
		s.pointsTo(c.a, ob.Node+uint32(i))
	}
}

// foreignAccess is a load or store through a pointer to cell p of an untyped
// object, of a type that the cell does not have. It touches the cells whose
// bytes it overlaps, or all if that is unclear. What is loaded from or stored
// into a cell that holds pointers is viewed at the other type; what overlaps no
// such cell goes through a variable of its own.
func (s *solver) foreignAccess(c constraint, p uint32, o ObjID) {
	ob := s.objs[o]
	from, to, ok := s.foreignRange(p, &ob, c.typ, c.off)
	plain := false
	cells := s.u.Layout(ob.Type).Cells
	for i := range cells {
		x := &cells[i]
		if ok && x.Array == 0 && (x.Off >= to || from >= x.Off+x.Size) {
			continue
		}
		switch q := ob.Node + uint32(i); {
		case !x.Ptr:
			plain = true
		case c.kind == consStore:
			s.copyEdge(c.a, q, views)
		default:
			s.copyEdge(q, c.a, views)
		}
	}
	if plain && c.kind == consStore {
		s.copyEdge(c.a, ob.foreign, flows)
	} else if plain {
		s.copyEdge(ob.foreign, c.a, opaque)
	}
}

// havocCell lets what node c.a holds be stored into cell p, as far as its type
// goes: through one variable a type. Boxes and bindings are never written.
//
// If any of it may be stored into any of it (c.off), p is part of what c.a
// reaches, so that all p holds is in c.a and of p's type: p and the variable
// hold the same and become one node. For the empty interface the variable holds
// what c.a does, so that it is c.a.
func (s *solver) havocCell(c constraint, p uint32, ob *Object) {
	if ob.Type == 0 || s.isBox(ob) || s.isClosure(ob) {
		return
	}
	cell := &s.u.Layout(ob.Type).Cells[p-ob.Node]
	if !cell.Ptr {
		return
	}
	from := s.find(c.a)
	ty := &s.u.Types[cell.Type]
	if c.off == 1 && ty.Kind == facts.Interface && len(ty.Methods) == 0 {
		if s.find(p) != from {
			o := s.obj[p] // reaches c.a, and is reached from it
			s.unites = append(s.unites, [2]uint32{from, p}, [2]uint32{from, s.objectReach(o)})
		}
		return
	}
	if s.havoc[from] == nil {
		s.havoc[from] = map[facts.TypeID]uint32{}
	}
	m, ok := s.havoc[from][cell.Type]
	if !ok {
		m = s.node(cell.Type)
		s.havoc[from][cell.Type] = m
		s.copyEdge(from, m, flows)
	}
	if c.off == 0 {
		s.copyEdge(m, p, flows)
	} else if s.find(m) != s.find(p) {
		s.unites = append(s.unites, [2]uint32{m, p})
	}
}

// receive puts p into the receiver parameter of an instance.
func (s *solver) receive(to InstID, p uint32) {
	out := s.insts[to]
	callee := s.u.Funcs[out.Fn]
	if callee == nil || len(callee.Params) == 0 || s.leaves(callee, callee.Params[0]) == 0 {
		return
	}
	s.pointsTo(out.Base+callee.Regs[callee.Params[0]].Node, p)
}

// assert adds what p gives to x.(T).
func (s *solver) assert(c constraint, p uint32, ob *Object) {
	t := &s.u.Types[c.typ]
	if t.Kind == facts.Interface {
		if s.isBox(ob) && !s.u.Implements(ob.Type, c.typ) {
			return
		}
		s.pointsTo(c.a, p)
		return
	}
	l := s.u.Layout(c.typ)
	if s.isBox(ob) {
		if ob.Type != c.typ {
			return
		}
		for i, cell := range l.Ptrs {
			s.copyEdge(ob.Node+cell, c.a+uint32(i), flows)
		}
		return
	}
	// A cell that reflection made an interface of: a pointer to it, or what it
	// holds.
	if len(l.Ptrs) == 1 && len(l.Cells) == 1 {
		s.pointsTo(c.a, p)
	}
	shape := s.u.ShapeOf(c.typ)
	if ob.Type != 0 && (ob.Untyped || s.u.Layout(ob.Type).Cells[p-ob.Node].HasShape(shape)) {
		for i, cell := range l.Ptrs {
			if q := p + cell; q < ob.Node+ob.N {
				s.copyEdge(q, c.a+uint32(i), flows)
			}
		}
	}
}

// callValue connects a call of a function value with one function object.
func (s *solver) callValue(c constraint, o ObjID) {
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	fn, closure := s.function(o)
	if fn == 0 {
		return
	}
	callee := s.u.Funcs[fn]
	if callee != nil && len(callee.Params) != len(f.Calls[c.row].Args) {
		return // a function of another signature got here by imprecision
	}
	recv := noObj
	if closure {
		recv = o
	}
	var ctx CtxID
	if callee != nil {
		ctx = s.calleeCtx(callee, s.callElem(f, c.row), in.Ctx, recv)
	}
	to := s.link(c.inst, f, c.row, fn, ctx, true)
	s.bind(to, o)
}

// function returns the function that an object is, if it is one, and whether
// it is a closure.
func (s *solver) function(o ObjID) (facts.FuncID, bool) {
	ob := &s.objs[o]
	switch {
	case ob.Kind == ObjFunc:
		return ob.Fn, false
	case s.isClosure(ob):
		return s.u.Funcs[ob.Fn].Sites[ob.Site].Fn, true
	}
	return 0, false
}

// bind lets the bindings of closure object o flow into an instance of its function.
func (s *solver) bind(to InstID, o ObjID) {
	ob := s.objs[o]
	if ob.Kind != ObjSite {
		return
	}
	out := s.insts[to]
	callee := s.u.Funcs[out.Fn]
	if callee == nil {
		return
	}
	l := s.u.Layout(ob.Type)
	leaf := uint32(0)
	var first uint32
	if len(callee.Free) > 0 {
		first = callee.Regs[callee.Free[0]].Node
	}
	// The free variables were numbered one after another, like the cells.
	for _, cell := range l.Ptrs {
		s.copyEdge(ob.Node+cell, out.Base+first+leaf, flows)
		leaf++
	}
}

// invoke connects an interface call with what p gives.
func (s *solver) invoke(c constraint, p uint32, o ObjID) {
	f := s.u.Funcs[s.insts[c.inst].Fn]
	key := f.Calls[c.row].Method
	ob := &s.objs[o]
	if !s.isBox(ob) {
		s.invokeRaw(c, key, p, o)
		return
	}
	fn := s.u.MethodOf(ob.Type, key)
	if fn == 0 {
		return
	}
	if s.u.Types[ob.Type].Kind == facts.Pointer {
		k := thisKey{c.inst, c.row, o}
		if !s.thisSet[k] {
			s.thisSet[k] = true
			c.kind, c.fn = consThis, fn
			s.fallback = append(s.fallback, pendingCall{c.inst, c.row, ob.Node, fn})
			s.on(ob.Node, c)
		}
		return
	}
	in := s.insts[c.inst]
	callee := s.u.Funcs[fn]
	var ctx CtxID
	if callee != nil {
		ctx = s.calleeCtx(callee, s.callElem(f, c.row), in.Ctx, noObj)
	}
	node := ob.Node
	l := s.u.Layout(ob.Type)
	to := s.link(c.inst, f, c.row, fn, ctx, false)
	if callee == nil || len(callee.Params) == 0 {
		return
	}
	out := s.insts[to]
	for i, cell := range l.Ptrs {
		s.copyEdge(node+cell, out.Base+callee.Regs[callee.Params[0]].Node+uint32(i), flows)
	}
}

// invokeRaw connects an interface call with a cell that reflection made an
// interface value of: the method of every type that starts there, called on a
// pointer to it.
func (s *solver) invokeRaw(c constraint, key facts.MethodID, p uint32, o ObjID) {
	ob := s.objs[o]
	if ob.Type == 0 || ob.Kind == ObjFunc {
		return
	}
	f := s.u.Funcs[s.insts[c.inst].Fn]
	for _, t := range s.u.Layout(ob.Type).Cells[p-ob.Node].Types {
		pt := s.pointerTo(t)
		if pt == 0 {
			continue
		}
		fn := s.u.MethodOf(pt, key)
		if fn == 0 || s.u.Funcs[fn] == nil {
			continue
		}
		in := s.insts[c.inst]
		ctx := s.calleeCtx(s.u.Funcs[fn], s.callElem(f, c.row), in.Ctx, o)
		s.receive(s.link(c.inst, f, c.row, fn, ctx, false), p)
	}
}

// callAny connects Anys[row] with one function object.
func (s *solver) callAny(c constraint, o ObjID) {
	fn, closure := s.function(o)
	if fn == 0 || s.u.Funcs[fn] == nil {
		return
	}
	callee := s.u.Funcs[fn]
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	a := &f.Anys[c.row]
	recv := noObj
	if closure {
		recv = o
	}
	site := element(s.callBase[f.ID] + uint32(len(f.Calls)) + c.row)
	to := s.instance(fn, s.calleeCtx(callee, site, in.Ctx, recv))
	kind := EdgeAny
	if a.Spawn {
		kind = EdgeAnyGo
	}
	if !s.edge(c.inst, kind, c.row, to) {
		return
	}
	s.bind(to, o)
	out := s.insts[to]
	callee = s.u.Funcs[out.Fn]
	x := in.Deep + uint32(2*(len(f.Deeps)+int(c.row))) + 1
	for _, p := range callee.Params {
		for i := range s.leaves(callee, p) {
			s.copyEdge(x, out.Base+callee.Regs[p].Node+uint32(i), flows)
		}
	}
	if a.Dst != facts.NoReg && callee.Ret != facts.NoReg {
		for i := range s.leaves(callee, callee.Ret) {
			s.copyEdge(out.Base+callee.Regs[callee.Ret].Node+uint32(i), in.Base+f.Regs[a.Dst].Node, flows)
		}
	}
}

// makeNew gives News[row] an object of the types that p stands for: a box's
// dynamic type, or the types that start at a cell; for pointers what they
// point to as well, since a model may be handed a pointer for its element.
func (s *solver) makeNew(c constraint, p uint32, o ObjID) {
	ob := &s.objs[o]
	if ob.Type == 0 {
		return
	}
	ts := s.u.Layout(ob.Type).Cells[p-ob.Node].Types
	if s.isBox(ob) {
		ts = []facts.TypeID{ob.Type}
	}
	in := s.insts[c.inst]
	hctx := s.ctxs.heap(in.Ctx, s.cfg.HK)
	for _, t := range ts {
		for range 2 {
			k := objKey{ObjNew, uint32(in.Fn), c.row<<20 | uint32(t), hctx}
			if _, ok := s.objOf[k]; !ok {
				if nk := (newKey{c.inst, c.row}); s.news[nk] >= maxNew {
					k.ctx = 0
				} else {
					s.news[nk]++
				}
			}
			n := s.object(k, t, c.inst)
			s.insert(s.find(c.a), s.objs[n].Node)
			ty := &s.u.Types[t]
			if ty.Kind != facts.Pointer && ty.Kind != facts.Slice || ty.Elem == 0 {
				break
			}
			t = ty.Elem
		}
	}
}
