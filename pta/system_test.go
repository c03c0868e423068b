package pta

import (
	"fmt"
	"math/rand/v2"

	"github.com/bfverify/bfverify/facts"
)

// function is a function under construction.
type function struct {
	*facts.Func
	g     *generator
	sig   sig          // without receiver
	ref   facts.FuncID // in the record
	void  bool         // only its name is known
	large int          // how many times larger than others
}

// newSystem returns the facts of a random package, the same for the same seed.
func newSystem(seed uint64) *facts.Record { return makeSystem(seed, 1, false) }

// newSystemOf returns one of about size times as many functions, of which the
// larger main calls many.
func newSystemOf(seed uint64, size int) *facts.Record { return makeSystem(seed, size, false) }

// newSystemReaching returns one with rows for everything that is reachable.
func newSystemReaching(seed uint64) *facts.Record { return makeSystem(seed, 1, true) }

func makeSystem(seed uint64, size int, deeps bool) *facts.Record {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 11)), types: &types{byName: map[string]facts.TypeID{}}}
	rec := &facts.Record{
		PkgID: "p", Path: "p", Name: "main",
		Files: make([]string, 1), Types: make([]facts.Type, 1), FuncRef: make([]string, 1),
		Methods: make([]string, 1), Globals: make([]facts.Global, 1),
	}
	g.types.rec = rec
	g.deeps = deeps
	g.illTyped = g.IntN(4) == 0
	g.ghosts = !g.illTyped && g.IntN(3) == 0
	if g.IntN(8) == 0 {
		g.wide = 20 + g.IntN(40)
		if g.IntN(6) == 0 {
			g.wide = 600
		}
	}
	g.makeTypes()
	g.makeMethods()
	for i := range 2 + g.IntN(2) {
		t := g.pool[g.IntN(len(g.pool))]
		g.globals = append(g.globals, t)
		rec.Globals = append(rec.Globals, facts.Global{Name: fmt.Sprintf("p.g%d", i), Pkg: "p", Type: t})
	}
	for i := range size * (3 + g.IntN(4)) {
		s := g.sigs[g.IntN(2)]
		f := g.function(fmt.Sprintf("p.f%d", i), 0, 0, s)
		if g.IntN(6) == 0 {
			f.Flags |= facts.FnInline | facts.FnModel
		}
		f.void = g.IntN(25) == 0
	}
	for i := range size * (1 + g.IntN(3)) {
		f := g.function(fmt.Sprintf("p.f0$%d", i), facts.FnClosure, 0, g.sigs[g.IntN(2)])
		for range g.IntN(3) {
			f.Free = append(f.Free, f.reg(g.pool[g.IntN(len(g.pool))]))
		}
		if g.IntN(6) == 0 {
			f.Flags |= facts.FnModel
		}
	}
	g.function("p.main", 0, 0, sig{})
	main := g.funcs[len(g.funcs)-1]
	main.large = size
	for _, f := range g.funcs {
		if len(f.sig.results) > 0 {
			f.Ret = f.reg(g.types.tuple(f.sig.results))
		}
	}
	for _, f := range g.funcs {
		if f.void {
			continue
		}
		if f.Points == nil { // wrappers have their bodies
			f.body()
		}
		rec.Funcs = append(rec.Funcs, f.Func)
	}
	rec.Exports = []facts.ExportFn{{Name: "main", Fn: main.ref}}
	return rec
}

func (g *generator) function(name string, flags uint32, recv facts.TypeID, s sig) *function {
	rec := g.types.rec
	f := &function{Func: &facts.Func{Name: name, Pkg: "p", PkgID: "p", Flags: flags, Recv: recv, Regs: make([]facts.RegInfo, 1), Lins: make([]facts.Lin, 1)}, g: g, sig: s, ref: facts.FuncID(len(rec.FuncRef))}
	rec.FuncRef = append(rec.FuncRef, name)
	f.ID = f.ref
	if recv != 0 {
		f.Params = append(f.Params, f.reg(recv))
	}
	for _, p := range s.params {
		f.Params = append(f.Params, f.reg(p))
	}
	g.funcs = append(g.funcs, f)
	return f
}

// makeMethods gives the structs methods and the interfaces keys.
func (g *generator) makeMethods() {
	t, rec := g.types, g.types.rec
	for i := range 2 {
		s := g.sigs[i]
		g.methods = append(g.methods, s)
		rec.Methods = append(rec.Methods, fmt.Sprintf("M%d %s", i, t.name(t.funcOf(s))))
	}
	for i, it := range g.ifaces {
		for m := range i + 1 {
			t.at(it).Methods = append(t.at(it).Methods, facts.Method{Key: facts.MethodID(m + 1)})
		}
	}
	ss := g.structs
	for _, p := range g.twins {
		ss = append(ss[:len(ss):len(ss)], p[1])
	}
	for _, s := range ss {
		p := t.ptr(s)
		t.at(p).Concrete, t.at(s).Concrete = true, true
		for m := range g.methods {
			name := fmt.Sprintf("%s.M%d", t.name(s), m)
			switch g.IntN(4) {
			case 0:
			case 1: // on the value, and a wrapper for pointers
				f := g.function("("+name+")", facts.FnValue, s, g.methods[m])
				w := g.function("(*"+name+")", facts.FnMethod|facts.FnWrapper, p, g.methods[m])
				t.at(s).Methods = append(t.at(s).Methods, facts.Method{Key: facts.MethodID(m + 1), Fn: f.ref})
				t.at(p).Methods = append(t.at(p).Methods, facts.Method{Key: facts.MethodID(m + 1), Fn: w.ref})
				w.wrap(f, s)
			default:
				f := g.function("(*"+name+")", facts.FnMethod, p, g.methods[m])
				f.void = g.IntN(40) == 0
				t.at(p).Methods = append(t.at(p).Methods, facts.Method{Key: facts.MethodID(m + 1), Fn: f.ref})
			}
		}
	}
}

// wrap makes f a wrapper of value method m.
func (f *function) wrap(m *function, s facts.TypeID) {
	v := f.reg(s)
	f.Mems = append(f.Mems, facts.Mem{Base: f.Params[0], Type: s, Val: v})
	f.Ret = facts.NoReg
	c := facts.Call{Static: m.ref, Args: append([]facts.Reg{v}, f.Params[1:]...)}
	if ts := f.sig.results; len(ts) > 0 {
		f.Ret = f.reg(f.g.types.tuple(ts))
		c.Dst = f.results(ts)
		f.Copies = append(f.Copies, facts.Copy{Dst: f.Ret, Src: c.Dst, N: uint16(f.leaves(f.Ret)), Index: -1})
	}
	f.Calls = append(f.Calls, c)
	f.Points = points(f.Func)
}

// points lists the rows of f, one kind after another.
func points(f *facts.Func) []facts.Point {
	ps := []facts.Point{}
	for _, t := range []struct {
		op facts.Op
		n  int
	}{
		{facts.OpAlloc, len(f.Allocs)}, {facts.OpCopy, len(f.Copies)}, {facts.OpPhi, len(f.Phis)}, {facts.OpAddr, len(f.Addrs)}, {facts.OpMem, len(f.Mems)},
		{facts.OpAssert, len(f.Asserts)}, {facts.OpGhost, len(f.Ghosts)}, {facts.OpReach, len(f.Reaches)}, {facts.OpDeep, len(f.Deeps)}, {facts.OpCall, len(f.Calls)}, {facts.OpSelect, len(f.Selects)},
	} {
		for i := range t.n {
			ps = append(ps, facts.Point{Op: t.op, Row: uint32(i)})
		}
	}
	return ps
}

// reg makes a register.
func (f *function) reg(t facts.TypeID) facts.Reg {
	r := facts.Reg(len(f.Regs))
	f.Regs = append(f.Regs, facts.RegInfo{Type: t, Node: f.NumNode})
	f.NumNode += uint32(f.g.types.leaves(t))
	return r
}

// results makes the register for what a call returns.
func (f *function) results(ts []facts.TypeID) facts.Reg {
	if len(ts) == 1 {
		return f.reg(ts[0])
	}
	return f.reg(f.g.types.tuple(ts))
}

func (f *function) leaves(r facts.Reg) int       { return f.g.types.leaves(f.Regs[r].Type) }
func (f *function) kind(r facts.Reg) *facts.Type { return f.g.types.at(f.Regs[r].Type) }

// pick returns a register that ok accepts, or NoReg.
func (f *function) pick(ok func(r facts.Reg) bool) facts.Reg {
	n := len(f.Regs) - 1
	if n == 0 {
		return facts.NoReg
	}
	from := f.g.IntN(n)
	for i := range n {
		if r := facts.Reg(1 + (from+i)%n); r != f.Ret && f.kind(r).Name != "*p.hidden" && ok(r) {
			return r
		}
	}
	return facts.NoReg
}

// of returns a register of type t, or one of one pointer-like leaf in a system
// that is not well typed, or NoReg.
func (f *function) of(t facts.TypeID) facts.Reg {
	if f.g.illTyped && f.g.types.leaves(t) == 1 && f.g.IntN(6) == 0 {
		return f.pick(func(r facts.Reg) bool { return f.leaves(r) == 1 })
	}
	return f.pick(func(r facts.Reg) bool { return f.Regs[r].Type == t })
}

func (f *function) ofKind(ks ...facts.Kind) facts.Reg {
	return f.pick(func(r facts.Reg) bool {
		for _, k := range ks {
			if f.kind(r).Kind == k {
				return true
			}
		}
		return false
	})
}

func (f *function) alloc(dst, typ facts.TypeID, kind facts.SiteKind, fn facts.FuncID) facts.Reg {
	r := f.reg(dst)
	f.Sites = append(f.Sites, facts.Site{Kind: kind, Heap: true, Type: typ, Fn: fn})
	f.Allocs = append(f.Allocs, facts.Alloc{Dst: r, Site: facts.SiteID(len(f.Sites) - 1)})
	return r
}

func (f *function) copies(d, s facts.Reg, dl, sl, n int) {
	f.Copies = append(f.Copies, facts.Copy{Dst: d, Src: s, DstLeaf: uint16(dl), SrcLeaf: uint16(sl), N: uint16(n), Index: -1})
}

// load loads a t, sometimes into a register that other rows define too, or of
// another type.
func (f *function) load(base facts.Reg, off int, t facts.TypeID) {
	v := facts.NoReg
	switch f.g.IntN(12) {
	case 0:
		v = f.pick(func(r facts.Reg) bool { return f.Regs[r].Type == t && int(r) > len(f.Params)+len(f.Free) })
	case 1:
		if x := f.g.pool[f.g.IntN(len(f.g.pool))]; f.g.illTyped && f.g.types.leaves(x) == 1 && f.g.types.leaves(t) == 1 {
			v = f.reg(x)
		}
	}
	if v == facts.NoReg {
		v = f.reg(t)
	}
	f.Mems = append(f.Mems, facts.Mem{Base: base, Off: uint32(off), Type: t, Val: v})
}

func (f *function) store(base facts.Reg, off int, t facts.TypeID, mode facts.Mode) {
	if v := f.of(t); v != facts.NoReg {
		f.Mems = append(f.Mems, facts.Mem{Base: base, Off: uint32(off), Type: t, Val: v, Write: true, Mode: mode})
	}
}

// body makes the rows of a function.
func (f *function) body() {
	g := f.g
	var phis []int
	for range 1 + g.IntN(4) {
		f.Phis = append(f.Phis, facts.Phi{Dst: f.reg(g.pool[g.IntN(len(g.pool))])})
		phis = append(phis, len(f.Phis)-1)
	}
	if g.wide > 0 && g.IntN(2) == 0 {
		f.many(g.wide)
	}
	for range 6 + g.IntN(26) {
		f.row()
	}
	for range 20 * max(f.large-1, 0) {
		f.row()
		f.call()
	}
	for _, i := range phis {
		p := &f.Phis[i]
		t := f.Regs[p.Dst].Type
		for range 1 + g.IntN(4) {
			e := f.of(t)
			if e != facts.NoReg && f.leaves(e) != f.leaves(p.Dst) {
				e = facts.NoReg
			}
			p.Edges = append(p.Edges, e)
		}
	}
	if f.Ret != facts.NoReg {
		for range 1 + g.IntN(2) {
			leaf := 0
			for _, t := range f.sig.results {
				if r := f.of(t); r != facts.NoReg {
					f.copies(f.Ret, r, leaf, 0, g.types.leaves(t))
				}
				leaf += g.types.leaves(t)
			}
		}
	}
	f.Points = points(f.Func)
}

// many makes a variable with many objects, and two of these with each other's
// addresses in them.
func (f *function) many(n int) {
	g := f.g
	s := g.structs[g.IntN(len(g.structs))]
	t := g.types.ptr(s)
	p := facts.Phi{Dst: f.reg(t)}
	for range n {
		p.Edges = append(p.Edges, f.alloc(t, s, facts.SiteNew, 0))
	}
	f.Phis = append(f.Phis, p)
	for _, fd := range g.types.at(s).Fields[:1] {
		f.load(p.Dst, 0, fd.Type)
		f.store(p.Dst, 0, fd.Type, facts.Plain)
	}
}
