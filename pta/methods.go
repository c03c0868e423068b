package pta

import (
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// Methods that reflection gives, and their calls.

// A boundMethod is a method as reflection gives it, with its receiver: what the
// variable of pointer type at base holds; the address base; or the value of type
// t at base. A method of a type takes it as an argument.
type boundMethod struct {
	fn   facts.FuncID
	recv receiver
	t    facts.TypeID
	base uint32
}

type receiver uint8

const (
	recvHeld receiver = iota
	recvAt
	recvValue
	recvArg
)

// methodsOf calls f with each method of p: of a value, of a pointer to it where
// that is a variable, or of a type; exported ones, or those of the name that
// MethodByName was called with at site.
func (s *solver) methodsOf(p, site uint32, f func(boundMethod)) {
	named := func(x facts.Method) bool { return facts.Exported(s.u.Methods[x.Key]) }
	if site != 0 {
		g := s.elemFn[site]
		name := s.u.Funcs[g].Calls[site-s.callBase[g]].Name + " "
		named = func(x facts.Method) bool { return strings.HasPrefix(s.u.Methods[x.Key], name) }
	}
	each := func(t facts.TypeID, b boundMethod) {
		if t == 0 || s.u.Types[t].Kind == facts.Interface {
			return
		}
		for _, x := range s.u.Types[t].Methods {
			if s.u.Funcs[x.Fn] != nil && named(x) {
				b.fn = x.Fn
				f(b)
			}
		}
	}
	if of := &s.objs[s.obj[p]]; of.Kind == ObjType {
		each(facts.TypeID(of.Of), boundMethod{recv: recvArg})
		return
	}
	t, base, ok := s.value(p)
	if !ok {
		if s.cell(p) != nil { // a pointer whose type is not known
			for _, t := range s.typesAt(p, true) {
				each(s.pointerTo(t), boundMethod{recv: recvAt, base: p})
			}
		}
		return
	}
	if s.u.Types[t].Kind == facts.Pointer {
		each(t, boundMethod{recv: recvHeld, t: t, base: base})
	} else {
		each(t, boundMethod{recv: recvValue, t: t, base: base})
	}
	if s.objs[s.obj[p]].Kind == ObjRef {
		each(s.pointerTo(t), boundMethod{recv: recvAt, base: base})
	}
}

// callMethods connects Anys[c.row] with the methods of p.
func (s *solver) callMethods(c constraint, p uint32) {
	s.methodsOf(p, c.off, func(m boundMethod) {
		switch c.fn = m.fn; m.recv {
		case recvHeld, recvValue:
			if m.recv == recvHeld && s.byReceiver(s.u.Funcs[m.fn]) {
				s.copyEdge(m.base, s.receivers(c, m.fn, m.t, calledAny), flows)
			} else {
				s.receiveValue(s.callOne(c, noObj, 1), m.t, m.base)
			}
		case recvAt:
			s.anyThis(c, m.base)
		case recvArg:
			s.callOne(c, noObj, 0)
		}
	})
}

// callOne connects Anys[c.row] with c.fn, called on receiver recv; the first
// skip parameters get no arguments.
func (s *solver) callOne(c constraint, recv ObjID, skip int) InstID {
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	to := s.instance(c.fn, s.anyCtx(s.u.Funcs[c.fn], f, c.row, in.Ctx, recv))
	s.linkAny(c, &f.Anys[c.row], to, skip)
	return to
}

// anyThis connects Anys[c.row] with method c.fn on receiver p.
func (s *solver) anyThis(c constraint, p uint32) {
	s.receive(s.callOne(c, s.obj[p], 1), p)
}

// callMethodValue connects a call of a function value with the methods of p.
func (s *solver) callMethodValue(c constraint, p uint32) {
	in := s.insts[c.inst]
	f := s.u.Funcs[in.Fn]
	link := func(fn facts.FuncID, recv ObjID, bound bool) InstID {
		return s.link(c.inst, f, c.row, fn, s.calleeCtx(s.u.Funcs[fn], s.callElem(f, c.row), in.Ctx, recv), !bound)
	}
	s.methodsOf(p, c.off, func(m boundMethod) {
		params := len(s.u.Funcs[m.fn].Params)
		if m.recv != recvArg {
			params--
		}
		if params != len(f.Calls[c.row].Args) {
			return // of another signature
		}
		switch m.recv {
		case recvHeld, recvValue:
			if m.recv == recvHeld && s.byReceiver(s.u.Funcs[m.fn]) {
				s.copyEdge(m.base, s.receivers(c, m.fn, m.t, calledAs), flows)
			} else {
				s.receiveValue(link(m.fn, noObj, true), m.t, m.base)
			}
		case recvAt:
			s.receive(link(m.fn, s.obj[m.base], true), m.base)
		case recvArg:
			link(m.fn, noObj, false)
		}
	})
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

// anyCtx is the context of a callee of Anys[row] of f in context ctx. Models are
// not copied for such calls: those of reflection may call each other so.
func (s *solver) anyCtx(callee, f *facts.Func, row uint32, ctx CtxID, recv ObjID) CtxID {
	if callee.Is(facts.FnInline) {
		return 0
	}
	return s.calleeCtx(callee, s.anyElem(f, row), ctx, recv)
}

// anyElem is the call site that stands for Anys[row] in contexts.
func (s *solver) anyElem(f *facts.Func, row uint32) element {
	return element(s.callBase[f.ID] + uint32(len(f.Calls)) + row)
}
