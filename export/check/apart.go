package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// element is the position of an accessed element: one parameter, or captured variable,
// of the goroutine's first function plus a constant.
type element struct {
	inst        InstID
	param, free int // -1: not that
	plus        int64
}

// apart judges the evidence that two accesses to a cell of an array are in goroutines
// of one go statement, each to an element of its own, or in one of these:
//
//	(I1) both are of elements of a slice, at a value that the goroutine's first
//	     function got from the go statement plus one constant; only that statement
//	     runs it
//	(I2) all slices of the array begin where it does, and its elements hold no array
//	(I3) the statement is in a function that is entered once; each time that it is
//	     executed the value is another one (induction.go)
func (k *checker) apart(a, b *access, c uint32) bool {
	x, ok := k.elementOf(a, c)
	y, same := k.elementOf(b, c)
	if !ok || !same || x != y || k.shifted().Has(int(k.objOf[c])) || len(k.runBy[x.inst]) != 1 || len(k.callers[x.inst]) != 1 {
		return false
	}
	by := k.callers[x.inst][0]
	f := k.fn(by.inst)
	if int(by.row) >= len(f.Calls) || f.Calls[by.row].Mode != facts.ModeGo || !k.once.Has(int(by.inst)) {
		return false
	}
	at := k.flowOf(f).calls[by.row]
	if len(at) != 1 {
		return false
	}
	call := &f.Calls[by.row]
	if x.param >= 0 {
		return call.Method == 0 && x.param < len(call.Args) && k.differs(f, call.Args[x.param], at[0])
	}
	v, ok := k.binds(f, k.fn(x.inst), x.free, call.Fn, at[0])
	return ok && k.differs(f, v, at[0])
}

// elementOf returns the position of an access. (I1), (I2)
func (k *checker) elementOf(a *access, c uint32) (out element, ok bool) {
	f, o := k.fn(a.at.Inst), k.objOf[c]
	if f.Points[a.at.Point].Op != facts.OpMem || k.objType[o] == 0 || k.p.Types[k.objType[o]].Kind != facts.Array {
		return out, false
	}
	m := &f.Mems[f.Points[a.at.Point].Row]
	if m.What != facts.WhatVar && m.What != facts.WhatElem || m.Index != 0 ||
		slices.ContainsFunc(k.p.Layout(k.objType[o]).Cells, func(x facts.Cell) bool { return x.Array != 1 }) {
		return out, false
	}
	for r := m.Base; ; {
		d := f.Regs[r].Def
		if d == 0 || f.Points[d-1].Op != facts.OpAddr {
			return out, false
		}
		ad := &f.Addrs[f.Points[d-1].Row]
		if ad.Kind == facts.AddrField {
			r = ad.Base
			continue
		}
		l := &f.Lins[ad.Index]
		if ad.Kind != facts.AddrElem || ad.Index == 0 || k.p.Types[f.Regs[ad.Base].Type].Kind != facts.Slice || !l.Known || len(l.Terms) != 1 || l.Terms[0].Coef != 1 {
			return out, false
		}
		v := copied(f, l.Terms[0].Reg)
		out = element{a.at.Inst, slices.Index(f.Params, v), slices.Index(f.Free, v), l.Const}
		return out, out.param >= 0 || out.free >= 0
	}
}

// shifted finds the objects of which slices may begin elsewhere than they do: parts
// that do are made, or unsafe has them, or a model other than those that hand on what
// they get, or a box that such a model has. (I2)
func (k *checker) shifted() Bits {
	if k.shift != nil {
		return k.shift
	}
	k.shift = NewBits(len(k.c.Objects))
	var add func(s SetID, boxed bool)
	add = func(s SetID, boxed bool) {
		for _, o := range k.objects(s) {
			if _, box := k.box(k.c.Objects[o].First); k.shift.Add(int(o)) && box && boxed {
				k.each(ObjID(o), func(_ *facts.Cell, c uint32) { add(k.c.Content[c], true) })
			}
		}
	}
	for i := 1; i < len(k.c.Insts); i++ {
		f := k.fn(InstID(i))
		for _, ad := range f.Addrs {
			if l := &f.Lins[ad.Index]; ad.Kind == facts.AddrSlice && ad.Index != 0 && !(l.Known && l.Const == 0 && len(l.Terms) == 0) {
				add(k.pts(InstID(i), ad.Dst, 0), false)
			}
		}
		for _, c := range f.Copies {
			if c.Unsafe {
				add(k.pts(InstID(i), c.Dst, uint32(c.DstLeaf)), false)
			}
		}
		if !f.Is(facts.FnModel) && len(f.Unknown) == 0 || slices.Contains([]string{"sync", "sync/atomic", "context", "fmt"}, f.Pkg) {
			continue
		}
		for _, v := range k.c.Insts[i].Vars {
			add(v, true)
		}
	}
	return k.shift
}

// binds returns the register that a closure which is made in the block of a go
// statement binds to the n-th captured variable of its function g.
func (k *checker) binds(f, g *facts.Func, n int, fn facts.Reg, q uint32) (facts.Reg, bool) {
	off := uint32(0)
	for _, r := range g.Free[:n] {
		off += uint32(len(k.p.Layout(g.Regs[r].Type).Cells))
	}
	alloc := f.Regs[copied(f, fn)].Def
	if alloc == 0 || f.Points[alloc-1].Op != facts.OpAlloc || f.Sites[f.Allocs[f.Points[alloc-1].Row].Site].Fn != g.ID {
		return 0, false
	}
	return k.stored(f, f.Allocs[f.Points[alloc-1].Row].Dst, off, alloc-1, q)
}

// stored returns the register of the one store in a function through a register, at an
// offset, if it is in the block of two points, between them.
func (k *checker) stored(f *facts.Func, base facts.Reg, off, from, to uint32) (v facts.Reg, ok bool) {
	fl, stores := k.flowOf(f), 0
	for p, pt := range f.Points {
		if pt.Op != facts.OpMem || !f.Mems[pt.Row].Write || f.Mems[pt.Row].Base != base || f.Mems[pt.Row].Off != off {
			continue
		}
		stores++
		v, ok = f.Mems[pt.Row].Val, from < uint32(p) && uint32(p) < to && fl.blockOf[from] == fl.blockOf[to]
	}
	return v, ok && stores == 1
}
