package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// call checks that Calls[row] of an instance may enter all that it can:
//
//	(C1) a function that is called: some edge of the row goes to it
//	(C2) a function value: for each function in its set some edge; for each closure
//	     an edge to an instance into whose free variables all that it binds flows
//	(C3) a method of an interface: for each box the method of its dynamic type,
//	     with what the box holds as receiver
//	(C4) arguments flow to the parameters of every instance of the function that
//	     the row may enter, and results back. A first parameter of one leaf may be
//	     shared out instead: each cell goes to some of these instances. So a call
//	     is, for each value of its receiver, in one of them
//
// Which instance, of those of one function, is all that contexts decide.
func (k *checker) call(i InstID, f *facts.Func, row uint32) {
	c := &f.Calls[row]
	switch {
	case c.Static != 0:
		ms := k.enter(i, f, row, c.Static, 0)
		if len(ms) > 0 {
			k.arguments(i, f, c, ms, 1, 0) // and results
		}
		if len(ms) > 0 && len(c.Args) > 0 {
			k.receiver(i, f, row, ms, k.leaves(f, c.Args[0]), func(n uint32) []uint32 { return k.set(k.pts(i, c.Args[0], n)) })
		}
	case c.Fn != facts.NoReg: // (C2)
		for _, cell := range k.set(k.pts(i, c.Fn, 0)) {
			fn, closure := k.function("C2", f, c.Pos, cell)
			if g := k.p.Funcs[fn]; g != nil && len(g.Params) != len(c.Args) {
				continue // of another type
			}
			ms := k.enter(i, f, row, fn, 0)
			if len(ms) == 0 {
				continue
			}
			k.arguments(i, f, c, ms, 0, 0)
			if closure && !k.bound(k.objOf[cell], ms) {
				k.fail("C2", c.Pos, "%s: what closure %s binds flows to no instance that is entered", f.Name, k.p.FuncName(fn))
			}
		}
	case c.Method != 0: // (C3)
		for _, cell := range k.set(k.pts(i, c.Recv, 0)) {
			k.dynamic("C3", f, c.Pos, cell, func(t facts.TypeID, address bool) {
				fn := k.p.MethodOf(t, c.Method)
				if fn == 0 {
					return // of another type
				}
				ms := k.enter(i, f, row, fn, 1)
				if len(ms) == 0 {
					return
				}
				k.arguments(i, f, c, ms, 0, 1)
				ptrs := k.p.Layout(t).Ptrs
				leaf := func(n uint32) []uint32 { return k.set(k.c.Content[cell+ptrs[n]]) }
				if address {
					leaf = func(uint32) []uint32 { return []uint32{cell} }
				}
				k.receiver(i, f, row, ms, uint32(len(ptrs)), leaf)
			})
		}
	}
}

// function returns the function that a cell of a function value is, and whether it
// is a closure.
func (k *checker) function(rule string, f *facts.Func, pos facts.Pos, cell uint32) (facts.FuncID, bool) {
	o := &k.c.Objects[k.objOf[cell]]
	switch o.Kind {
	case ObjFunc:
		return o.Fn, false
	case ObjSite:
		if s := &k.p.Funcs[o.Fn].Sites[o.Site]; s.Kind == facts.SiteClosure && s.Fn != 0 {
			return s.Fn, true
		}
	}
	k.fail(rule, pos, "%s: a function value holds what is no function", f.Name)
	return 0, false
}

// enter returns the instances of fn that a row may enter; there must be some. (C1)
func (k *checker) enter(i InstID, f *facts.Func, row uint32, fn facts.FuncID, recv int) []InstID {
	pos := f.Pos
	if int(row) < len(f.Calls) {
		pos = f.Calls[row].Pos
	}
	g := k.p.Funcs[fn]
	if g == nil || len(g.Params) < recv {
		k.refuse("functions without body", pos)
		return nil
	}
	var ms []InstID
	for _, e := range k.edgesAt(i, row) {
		if k.c.Insts[e.Callee].Fn == fn {
			ms = append(ms, e.Callee)
		}
	}
	if len(ms) == 0 {
		k.fail("C1", pos, "%s: a call does not enter %s", f.Name, g.Name)
	}
	return ms
}

// arguments checks that the arguments from the first-th on flow to parameters, of
// which skip come before, and results back. (C4)
func (k *checker) arguments(i InstID, f *facts.Func, c *facts.Call, ms []InstID, first, skip int) {
	for _, m := range ms {
		g := k.fn(m)
		for j := first; j < len(c.Args) && j+skip < len(g.Params); j++ {
			k.flow(f, c, i, c.Args[j], m, g.Params[j+skip])
		}
		k.flow(f, c, m, g.Ret, i, c.Dst)
	}
}

// flow checks that a register flows to one of another instance.
func (k *checker) flow(f *facts.Func, c *facts.Call, i InstID, a facts.Reg, m InstID, b facts.Reg) {
	if a == facts.NoReg || b == facts.NoReg {
		return
	}
	n := k.leaves(k.fn(i), a)
	if n != k.leaves(k.fn(m), b) {
		k.refuse("calls at another type", c.Pos)
		return
	}
	for leaf := range n {
		if !k.within(k.pts(i, a, leaf), k.pts(m, b, leaf)) {
			k.fail("C4", c.Pos, "%s: an argument or result is not all in the set of where it goes", f.Name)
		}
	}
}

// receiver checks that the first argument goes to the first parameter: to every
// instance, or, where it is one pointer, each of its cells to some. (C4)
func (k *checker) receiver(i InstID, f *facts.Func, row uint32, ms []InstID, leaves uint32, leaf func(uint32) []uint32) {
	params := k.fn(ms[0]).Params
	if len(params) == 0 || leaves == 0 {
		return
	}
	pos := f.Calls[row].Pos
	if leaves != k.leaves(k.fn(ms[0]), params[0]) {
		k.refuse("calls at another type", pos)
		return
	}
	for n := range leaves {
		for _, c := range leaf(n) {
			into := func(m InstID) bool { return k.has(k.pts(m, params[0], n), c) }
			if all := slices.IndexFunc(ms, func(m InstID) bool { return !into(m) }) < 0; !all && (leaves > 1 || !slices.ContainsFunc(ms, into)) {
				k.fail("C4", pos, "%s: a receiver goes to no instance that is entered", f.Name)
			}
		}
	}
}

// bound reports whether all that a closure binds flows to the free variables of
// one of the instances. (C2)
func (k *checker) bound(o ObjID, ms []InstID) bool {
	ptrs := k.p.Layout(k.objType[o]).Ptrs
next:
	for _, m := range ms {
		g, n := k.fn(m), 0
		for _, r := range g.Free {
			for leaf := range k.leaves(g, r) {
				if n >= len(ptrs) || !k.within(k.c.Content[k.c.Objects[o].First+ptrs[n]], k.pts(m, r, leaf)) {
					continue next
				}
				n++
			}
		}
		if n == len(ptrs) {
			return true
		}
	}
	return false
}
