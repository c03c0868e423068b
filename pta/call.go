package pta

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// pendingCall is a method call whose receiver may stay empty.
type pendingCall struct {
	inst InstID
	row  uint32
	node uint32 // the receiver
	fn   facts.FuncID
	how  calledHow
}

// calledHow says how a method gets its receiver.
type calledHow uint8

const (
	calledOn  calledHow = iota // Calls: an argument, or from the interface
	calledAs                   // Calls: bound to a method value
	calledAny                  // Anys
)

// thisKey names a method that a call may run.
type thisKey struct {
	inst InstID
	row  uint32
	fn   facts.FuncID
	how  calledHow
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
		if callee.Is(facts.FnMethod) && s.policy[c.Static].Policy != Insens && !callee.Is(facts.FnInline) {
			if len(c.Args) > 0 && c.Args[0] != facts.NoReg {
				n := in.Base + f.Regs[c.Args[0]].Node
				s.on(n, constraint{kind: consCall, inst: id, row: row, fn: c.Static})
				s.fallback = append(s.fallback, pendingCall{id, row, n, c.Static, calledOn})
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
// reports whether there were any. Which these are is decided for all of them
// before the first one adds anything, so that it does not depend on their order.
func (s *solver) unreached() bool {
	todo := slices.DeleteFunc(s.fallback, func(p pendingCall) bool {
		n := s.find(p.node)
		return s.pts[n] != nil && !s.pts[n].Empty()
	})
	s.fallback = nil
	for _, p := range todo {
		in := s.insts[p.inst]
		f := s.u.Funcs[in.Fn]
		callee := s.u.Funcs[p.fn]
		if p.how == calledAny {
			s.callOne(constraint{inst: p.inst, row: p.row, fn: p.fn}, noObj, 1)
			continue
		}
		s.link(p.inst, f, p.row, p.fn, s.calleeCtx(callee, s.callElem(f, p.row), in.Ctx, noObj), p.how == calledOn)
	}
	return len(todo) > 0
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
	if (c.Method != 0 || c.Fn != facts.NoReg && !withRecv) && len(params) > 0 {
		params = params[1:]
	} else if !withRecv && len(args) > 0 {
		args, params = args[1:], params[1:]
	}
	if c.Static != 0 || c.Fn != facts.NoReg && s.looseFuncs[s.u.SkeletonOf(f.Regs[c.Fn].Type)] {
		s.passes(f, c, callee, args, params) // go:linkname, or unsafe, may declare it otherwise
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

// passes notes that a call converts arguments to the types of the callee's
// parameters, and results back.
func (s *solver) passes(f *facts.Func, c *facts.Call, callee *facts.Func, args, params []facts.Reg) {
	convert := func(from, to facts.TypeID) {
		x, y := s.u.Layout(from), s.u.Layout(to)
		for i := range min(len(x.Ptrs), len(y.Ptrs)) {
			s.converts(x.Cells[x.Ptrs[i]].Type, y.Cells[y.Ptrs[i]].Type)
		}
	}
	for i := range min(len(args), len(params)) {
		if a := args[i]; a != facts.NoReg {
			convert(f.Regs[a].Type, callee.Regs[params[i]].Type)
		}
	}
	if d := c.Dst; d != facts.NoReg && callee.Ret != facts.NoReg {
		convert(callee.Regs[callee.Ret].Type, f.Regs[d].Type)
	}
}

// loosenFuncs notes that unsafe makes functions of type t, which may then be
// declared otherwise, also those that calls have reached before.
func (s *solver) loosenFuncs(t facts.TypeID) {
	k := s.u.SkeletonOf(t)
	if s.looseFuncs[k] {
		return
	}
	s.looseFuncs[k] = true
	s.refit.addAll(&s.funcCells)      // calls may have refused some
	rows := map[facts.FuncID][]bool{} // calls of such values
	for i := 1; i < len(s.insts); i++ {
		in := &s.insts[i]
		f := s.u.Funcs[in.Fn]
		if f == nil {
			continue
		}
		of, ok := rows[in.Fn]
		if !ok {
			for row := range f.Calls {
				if c := &f.Calls[row]; c.Fn != facts.NoReg && s.u.SkeletonOf(f.Regs[c.Fn].Type) == k {
					of = append(of, make([]bool, row+1-len(of))...)
					of[row] = true
				}
			}
			rows[in.Fn] = of
		}
		if of == nil {
			continue
		}
		for _, e := range in.Out {
			if callee := s.u.Funcs[s.insts[e.Callee].Fn]; !e.Kind.any() && int(e.Row) < len(of) && of[e.Row] && callee != nil {
				c := &f.Calls[e.Row]
				bound := max(len(callee.Params)-len(c.Args), 0) // a receiver without argument
				s.passes(f, c, callee, c.Args, callee.Params[bound:])
			}
		}
	}
}

// TestRunner is the model function whose one call runs one test.
const TestRunner = "testing.bfx_tRunner"

// receive puts p into the receiver parameter of an instance.
func (s *solver) receive(to InstID, p uint32) {
	out := s.insts[to]
	callee := s.u.Funcs[out.Fn]
	if callee == nil || len(callee.Params) == 0 || s.leaves(callee, callee.Params[0]) == 0 {
		return
	}
	s.pointsTo(out.Base+callee.Regs[callee.Params[0]].Node, p)
}

// callValue connects a call of a function value with one function object.
func (s *solver) callValue(c constraint, p uint32, o ObjID) {
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	if m := s.objs[o]; m.Kind == ObjMethod {
		s.on(m.Of, constraint{kind: consMethodValue, inst: c.inst, row: c.row, off: uint32(m.As)})
		return
	}
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

// invoke connects an interface call with what p gives: the method of a box's
// dynamic type, or of the type of a variable, or of a pointer to it.
func (s *solver) invoke(c constraint, p uint32, o ObjID) {
	f := s.u.Funcs[s.insts[c.inst].Fn]
	key := f.Calls[c.row].Method
	ob := &s.objs[o]
	switch {
	case s.isBox(ob):
		s.invokeOn(c, key, ob.Type, ob.Node)
	case ob.Kind == ObjRef:
		t, base := ob.As, ob.Of
		s.invokeOn(c, key, t, base)
		s.invokeAt(c, key, t, base)
	case ob.Type != 0 && ob.Kind != ObjFunc: // a pointer whose type is not known
		for _, t := range s.typesAt(p, true) {
			s.invokeAt(c, key, t, p)
		}
	}
}

// invokeOn connects an interface call with the method of the value of type t
// that starts at cell base.
func (s *solver) invokeOn(c constraint, key facts.MethodID, t facts.TypeID, base uint32) {
	if s.u.Types[t].Kind == facts.Interface {
		return
	}
	fn := s.u.MethodOf(t, key)
	if fn == 0 {
		return
	}
	callee := s.u.Funcs[fn]
	if callee == nil {
		s.edge(c.inst, s.edgeKind(&s.u.Funcs[s.insts[c.inst].Fn].Calls[c.row], fn), c.row, s.instance(fn, 0))
		return
	}
	if s.u.Types[t].Kind == facts.Pointer && s.byReceiver(callee) {
		s.copyEdge(base, s.receivers(c, fn, t, calledOn), flows)
		return
	}
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	ctx := s.calleeCtx(callee, s.callElem(f, c.row), in.Ctx, noObj)
	s.receiveValue(s.link(c.inst, f, c.row, fn, ctx, false), t, base)
}

// receivers returns the node for what a row of an instance calls method fn of
// pointer type t on. Many boxes hold the same pointers: each is called once.
func (s *solver) receivers(c constraint, fn facts.FuncID, t facts.TypeID, how calledHow) uint32 {
	k := thisKey{c.inst, c.row, fn, how}
	n, ok := s.this[k]
	if !ok {
		n = s.node(t)
		s.this[k] = n
		c.kind, c.fn = consThis, fn
		if how == calledAny {
			c.kind = consAnyThis
		}
		s.fallback = append(s.fallback, pendingCall{c.inst, c.row, n, fn, how})
		s.on(n, c)
	}
	return n
}

// invokeAt connects an interface call with the method of a pointer to the
// variable of type t at cell p.
func (s *solver) invokeAt(c constraint, key facts.MethodID, t facts.TypeID, p uint32) {
	pt := s.pointerTo(t)
	if pt == 0 {
		return
	}
	fn := s.u.MethodOf(pt, key)
	if fn == 0 || s.u.Funcs[fn] == nil {
		return
	}
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	ctx := s.calleeCtx(s.u.Funcs[fn], s.callElem(f, c.row), in.Ctx, s.obj[p])
	s.receive(s.link(c.inst, f, c.row, fn, ctx, false), p)
}

// callAny connects Anys[row] with one function object.
func (s *solver) callAny(c constraint, p uint32, o ObjID) {
	if m := s.objs[o]; m.Kind == ObjMethod {
		s.on(m.Of, constraint{kind: consMethods, inst: c.inst, row: c.row, off: uint32(m.As)})
		return
	}
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
	to := s.instance(fn, s.anyCtx(callee, f, c.row, in.Ctx, recv))
	if s.linkAny(c, a, to, 0) {
		s.bind(to, o)
	}
}

// linkAny connects Anys[c.row] with an instance: arguments, but for the first
// skip parameters, and results. It reports whether the edge is new.
func (s *solver) linkAny(c constraint, a *facts.CallAny, to InstID, skip int) bool {
	kind := EdgeAny
	if a.Spawn {
		kind = EdgeAnyGo
	}
	if !s.edge(c.inst, kind, c.row, to) {
		return false
	}
	in, out := s.insts[c.inst], s.insts[to]
	f, callee := s.u.Funcs[in.Fn], s.u.Funcs[out.Fn]
	x := in.Deep + uint32(len(f.Deeps)+2*int(c.row)) + 1
	for _, p := range callee.Params[min(skip, len(callee.Params)):] {
		t := callee.Regs[p].Type
		switch n := s.leaves(callee, p); {
		case n == 0:
		case a.Spawn || s.u.Types[t].Kind == facts.Interface:
			for i := range n {
				s.copyEdge(x, out.Base+callee.Regs[p].Node+uint32(i), flows)
			}
		default: // what fits the type is asked once for all parameters of it
			from := s.fitting(x, t, true)
			for i := range uint32(n) {
				s.copyEdge(from+i, out.Base+callee.Regs[p].Node+i, flows)
			}
		}
		if s.u.Types[t].Kind == facts.Slice && p == callee.Params[len(callee.Params)-1] {
			s.variadic(c, x, out.Base+callee.Regs[p].Node, s.u.Types[t].Elem)
		}
	}
	if a.Dst != facts.NoReg && callee.Ret != facts.NoReg {
		dst, ret := in.Base+f.Regs[a.Dst].Node, callee.Regs[callee.Ret]
		ts := []facts.TypeID{ret.Type}
		if s.u.Types[ret.Type].Builtin {
			ts = s.u.PartTypes(ret.Type)
		}
		leaf := out.Base + ret.Node
		for _, t := range ts {
			n := uint32(len(s.u.Layout(t).Ptrs))
			if a.Spawn || s.u.Types[t].Kind == facts.Interface {
				for i := range n {
					s.copyEdge(leaf+i, dst, flows)
				}
			} else {
				box, _ := s.box(dst, t, c.inst)
				for i, cell := range s.u.Layout(t).Ptrs {
					s.copyEdge(leaf+uint32(i), box+cell, flows)
				}
			}
			leaf += n
		}
	}
	return true
}

// variadic lets the slice in node to hold what a call makes of the arguments in
// node x, should the parameter be variadic.
func (s *solver) variadic(c constraint, x, to uint32, elem facts.TypeID) {
	f := s.u.Funcs[s.insts[c.inst].Fn]
	o := s.newObject(c.inst, uint32(len(f.News)+len(f.Deeps)+len(f.Reaches))+c.row, elem)
	s.pointsTo(to, o)
	l := s.u.Layout(elem)
	if s.u.Types[elem].Kind == facts.Interface {
		s.copyEdge(x, o, flows)
		return
	}
	if len(l.Ptrs) == 0 {
		return
	}
	v := s.fitting(x, elem, true)
	for i, cell := range l.Ptrs {
		s.copyEdge(v+uint32(i), o+cell, flows)
	}
}
