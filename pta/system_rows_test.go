package pta

import (
	"github.com/bfverify/bfverify/facts"
)

// row adds one random row, or a few that belong together.
func (f *function) row() {
	g, t := f.g, f.g.types
	if g.deeps && g.IntN(16) == 0 {
		f.deep()
		return
	}
	switch g.IntN(24) {
	case 0, 1, 2:
		x := g.pool[g.IntN(len(g.pool))]
		if g.IntN(2) == 0 {
			x = g.structs[g.IntN(len(g.structs))]
		}
		f.alloc(t.ptr(x), x, facts.SiteNew, 0)
	case 3:
		x := g.pool[g.IntN(len(g.pool))]
		switch ty := t.at(x); ty.Kind {
		case facts.Map:
			f.alloc(x, ty.Obj, facts.SiteMap, 0)
		case facts.Chan:
			f.alloc(x, ty.Obj, facts.SiteChan, 0)
		case facts.Slice:
			f.alloc(x, t.array("?", ty.Elem), facts.SiteSlice, 0)
		case facts.Pointer:
			f.alloc(x, ty.Elem, facts.SiteNew, 0)
		}
	case 4, 5:
		f.box()
	case 6:
		f.closure()
	case 7:
		f.reference()
	case 8:
		r := f.reg(t.ptr(g.globals[g.IntN(len(g.globals))]))
		for i, x := range g.globals {
			if t.ptr(x) == f.Regs[r].Type {
				f.Globals = append(f.Globals, facts.GlobalAddr{Dst: r, Global: facts.GlobalID(i + 1)})
				break
			}
		}
	case 9, 10:
		f.copyRow()
	case 11, 12:
		f.address()
	case 13, 14, 15, 16:
		f.access()
	case 17, 18:
		x := f.ofKind(facts.Interface)
		if x == facts.NoReg {
			return
		}
		to := g.pool[g.IntN(len(g.pool))]
		if len(g.boxed) > 0 && g.IntN(3) > 0 {
			to = g.boxed[g.IntN(len(g.boxed))]
		}
		f.Asserts = append(f.Asserts, facts.Assert{Dst: f.reg(to), X: x, Type: to})
	case 19:
		if b := f.pick(func(r facts.Reg) bool { return f.kind(r).Kind == facts.Pointer && f.kind(r).Elem == g.structs[0] }); g.ghosts && b != facts.NoReg {
			r := f.reg(t.ptr(g.hidden))
			f.Ghosts = append(f.Ghosts, facts.Ghost{Dst: r, Base: b})
			f.load(r, 0, g.hidden)
			if v := f.of(g.empty); v != facts.NoReg {
				f.Mems = append(f.Mems, facts.Mem{Base: r, Type: g.hidden, Val: v, Write: true})
			}
			h := f.reg(g.empty)
			f.copies(h, f.Mems[len(f.Mems)-1].Val, 0, 0, 1)
		}
	default:
		f.call()
	}
}

// deep reads or writes all that a register reaches, or gives it. What gives it is
// the only definition of its register, whose type no other row asks for.
func (f *function) deep() {
	x := f.ofKind(facts.Interface) // what boxes hold
	if x == facts.NoReg || f.g.IntN(2) == 0 {
		x = f.pick(func(r facts.Reg) bool { return f.leaves(r) > 0 })
	}
	if x == facts.NoReg {
		return
	}
	switch f.g.IntN(4) {
	case 0, 1:
		all := f.g.types.add(facts.Type{Name: "p.all", Kind: facts.Interface, Size: 16, Named: true})
		f.Reaches = append(f.Reaches, facts.Reach{Dst: f.reg(all), X: x, How: facts.ReachAll})
	case 2:
		f.Deeps = append(f.Deeps, facts.Deep{X: x, How: facts.ReachAll})
	default:
		f.Deeps = append(f.Deeps, facts.Deep{X: x, How: facts.ReachAll, Write: true})
	}
}

// box puts something into an interface.
func (f *function) box() {
	g := f.g
	x := f.pick(func(r facts.Reg) bool {
		return f.kind(r).Kind != facts.Interface && !f.kind(r).Builtin && f.leaves(r) > 0
	})
	if s := f.ofKind(facts.Struct); g.deeps && s != facts.NoReg && !f.kind(s).Builtin && f.leaves(s) > 0 {
		x = s
	}
	if x == facts.NoReg {
		return
	}
	to := g.empty
	if it := g.ifaces[g.IntN(len(g.ifaces))]; len(f.kind(x).Methods) >= len(g.types.at(it).Methods) || g.illTyped {
		to = it
	}
	g.boxed = append(g.boxed, f.Regs[x].Type)
	r := f.alloc(to, f.Regs[x].Type, facts.SiteBox, 0)
	f.Mems = append(f.Mems, facts.Mem{Base: r, Type: f.Regs[x].Type, Val: x, Write: true, Mode: facts.Flow})
}

// closure makes a closure with its bindings.
func (f *function) closure() {
	g, t := f.g, f.g.types
	lit := g.anyFunc(func(x *function) bool { return x.Is(facts.FnClosure) })
	var names []string
	var ts []facts.TypeID
	for _, v := range lit.Free {
		names = append(names, "v")
		ts = append(ts, lit.Regs[v].Type)
	}
	obj := t.object("closure.object "+lit.Name, names, ts)
	r := f.alloc(t.funcOf(lit.sig), obj, facts.SiteClosure, lit.ref)
	off := 0
	for _, x := range ts {
		f.store(r, off, x, facts.Flow)
		off += t.cells(x)
	}
}

// anyFunc returns a function that ok accepts, or nil.
func (g *generator) anyFunc(ok func(*function) bool) *function {
	from := g.IntN(len(g.funcs))
	for i := range g.funcs {
		if x := g.funcs[(from+i)%len(g.funcs)]; ok(x) {
			return x
		}
	}
	return nil
}

// reference takes a function, or a method expression, as a value.
func (f *function) reference() {
	x := f.g.anyFunc(func(x *function) bool { return len(x.Free) == 0 })
	s := x.sig
	if x.Recv != 0 {
		s.params = append([]facts.TypeID{x.Recv}, s.params...)
	}
	f.FuncRef = append(f.FuncRef, facts.FuncAddr{Dst: f.reg(f.g.types.funcOf(s)), Fn: x.ref})
}

// copyRow copies a register: whole, in part, or converted.
func (f *function) copyRow() {
	g, t := f.g, f.g.types
	s := f.pick(func(r facts.Reg) bool { return f.leaves(r) > 0 })
	if s == facts.NoReg {
		return
	}
	ty := f.kind(s)
	switch ty.Kind {
	case facts.Struct: // a field, or a component
		i := g.IntN(len(ty.Fields))
		leaf := 0
		for _, x := range ty.Fields[:i] {
			leaf += t.leaves(x.Type)
		}
		f.copies(f.reg(ty.Fields[i].Type), s, 0, leaf, t.leaves(ty.Fields[i].Type))
		return
	case facts.Interface:
		to := g.empty
		if it := g.ifaces[g.IntN(len(g.ifaces))]; len(t.at(it).Methods) <= len(ty.Methods) || g.illTyped {
			to = it
		}
		f.copies(f.reg(to), s, 0, 0, 1)
		return
	case facts.Slice: // to a pointer to an array
		if g.IntN(3) == 0 {
			f.copies(f.reg(t.ptr(t.array("4", ty.Elem))), s, 0, 0, 1)
			return
		}
	}
	to := f.Regs[s].Type
	for _, p := range g.twins { // conversions between types of one structure
		for i := range 2 {
			switch to {
			case p[i]:
				to = p[1-i]
			case t.ptr(p[i]):
				to = t.ptr(p[1-i])
			case t.slice(p[i]):
				if g.illTyped {
					to = t.slice(p[1-i])
				}
			default:
				continue
			}
			break
		}
	}
	if g.illTyped && f.leaves(s) == 1 && g.IntN(3) == 0 {
		to = g.empty // what no code put there that the facts show
		if x := g.pool[g.IntN(len(g.pool))]; t.leaves(x) == 1 && g.IntN(2) == 0 {
			to = x
		}
	}
	d := f.reg(to)
	if g.IntN(6) == 0 { // a loop of one more variable
		x := f.reg(to)
		f.Phis = append(f.Phis, facts.Phi{Dst: x, Edges: []facts.Reg{d, x, facts.NoReg}})
		if t.leaves(to) == f.leaves(s) {
			f.Phis = append(f.Phis, facts.Phi{Dst: d, Edges: []facts.Reg{s, x}})
			return
		}
	}
	f.copies(d, s, 0, 0, f.leaves(s))
}

// address derives an address.
func (f *function) address() {
	g, t := f.g, f.g.types
	b := f.ofKind(facts.Pointer, facts.Slice)
	if b == facts.NoReg {
		return
	}
	elem := t.at(f.kind(b).Elem)
	switch {
	case f.kind(b).Kind == facts.Slice && g.IntN(2) == 0:
		f.Addrs = append(f.Addrs, facts.Addr{Dst: f.reg(f.Regs[b].Type), Base: b, Kind: facts.AddrSlice})
	case f.kind(b).Kind == facts.Slice:
		f.Addrs = append(f.Addrs, facts.Addr{Dst: f.reg(t.ptr(f.kind(b).Elem)), Base: b, Kind: facts.AddrElem})
	case elem.Kind == facts.Array && g.IntN(2) == 0:
		f.Addrs = append(f.Addrs, facts.Addr{Dst: f.reg(t.slice(elem.Elem)), Base: b, Kind: facts.AddrSlice})
	case elem.Kind == facts.Array:
		f.Addrs = append(f.Addrs, facts.Addr{Dst: f.reg(t.ptr(elem.Elem)), Base: b, Kind: facts.AddrElem})
	case elem.Kind == facts.Struct && len(elem.Fields) > 0:
		i := g.IntN(len(elem.Fields))
		off := 0
		for _, x := range elem.Fields[:i] {
			off += t.cells(x.Type)
		}
		f.Addrs = append(f.Addrs, facts.Addr{Dst: f.reg(t.ptr(elem.Fields[i].Type)), Base: b, Off: uint32(off)})
	}
}

// access loads or stores.
func (f *function) access() {
	g, t := f.g, f.g.types
	b := f.ofKind(facts.Pointer, facts.Map, facts.Chan)
	if b == facts.NoReg {
		return
	}
	ty := *f.kind(b)
	switch ty.Kind {
	case facts.Pointer:
		x, off := ty.Elem, 0
		if e := t.at(x); e.Kind == facts.Struct && len(e.Fields) > 0 && g.IntN(3) == 0 { // a field at once
			i := g.IntN(len(e.Fields))
			for _, y := range e.Fields[:i] {
				off += t.cells(y.Type)
			}
			x = e.Fields[i].Type
		}
		if g.IntN(2) == 0 {
			f.store(b, off, x, facts.Plain)
			return
		}
		for range 1 + g.IntN(3)*g.IntN(4) { // loads of one thing are shared
			f.load(b, off, x)
		}
	case facts.Chan:
		if g.IntN(2) == 0 {
			f.store(b, 0, ty.Elem, facts.Flow)
			return
		}
		f.load(b, 0, ty.Elem)
	case facts.Map:
		value := 1 + t.cells(ty.Key)
		switch g.IntN(3) {
		case 0:
			f.store(b, 1, ty.Key, facts.Flow)
			f.store(b, value, ty.Elem, facts.Flow)
		case 1:
			f.load(b, value, ty.Elem)
		default: // range
			it := f.reg(t.add(facts.Type{Name: "iter", Kind: facts.Opaque, Size: 8}))
			f.Copies = append(f.Copies, facts.Copy{Dst: it, Src: b, N: 1, Index: -1, Unsafe: true})
			r := f.reg(t.tuple([]facts.TypeID{ty.Key, ty.Elem}))
			f.Mems = append(f.Mems,
				facts.Mem{Base: it, Off: 1, Type: ty.Key, Val: r},
				facts.Mem{Base: it, Off: uint32(value), Type: ty.Elem, Val: r, ValLeaf: uint16(t.leaves(ty.Key))})
		}
	}
}

// call calls something.
func (f *function) call() {
	g := f.g
	c := facts.Call{}
	if k := g.IntN(8); k < 2 {
		c.Mode = []facts.CallMode{facts.ModeGo, facts.ModeDefer}[k]
	}
	var s sig
	switch g.IntN(5) {
	case 0, 1, 2:
		x := g.anyFunc(func(x *function) bool {
			// Copies of inlined functions within each other are many.
			return len(x.Free) == 0 && (!x.Is(facts.FnInline) || !f.Is(facts.FnInline) || g.IntN(4) == 0)
		})
		if x == nil {
			return
		}
		s = x.sig
		c.Static = x.ref
		if x.Recv != 0 {
			c.Args = append(c.Args, f.of(x.Recv))
		}
	case 3:
		c.Recv = f.pick(func(r facts.Reg) bool { return f.kind(r).Kind == facts.Interface && len(f.kind(r).Methods) > 0 })
		if c.Recv == facts.NoReg {
			return
		}
		m := f.kind(c.Recv).Methods[g.IntN(len(f.kind(c.Recv).Methods))].Key
		c.Method, s = m, g.methods[m-1]
	default:
		c.Fn = f.ofKind(facts.FuncKind)
		if c.Fn == facts.NoReg {
			return
		}
		s = g.sigs[g.IntN(len(g.sigs))]
		for _, x := range g.sigs {
			if g.types.funcOf(x) == f.Regs[c.Fn].Type {
				s = x
			}
		}
	}
	for _, p := range s.params {
		c.Args = append(c.Args, f.of(p))
	}
	if len(s.results) > 0 && c.Mode == facts.ModeCall {
		c.Dst = f.results(s.results)
	}
	f.Calls = append(f.Calls, c)
}
