package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// iteration looks at the values that an iteration of a loop computes with: where
// they come from, within the iteration and its frame. Its zero value knows no
// frame, and follows values within one activation only.
type iteration struct {
	r     *run
	f     *frame // the iteration; nil: none
	loop  induction
	draw  *tickets                    // nil: positions are no tickets
	multi map[facts.FuncID]stage.Bits // registers with several definitions
	once  map[origin]origin           // variables that are stored to once, at their allocation
}

// origin is a register of an activation of an instance; with Load, what the
// variable that it points to holds.
type origin struct {
	n    pta.InstID
	r    facts.Reg
	load bool
}

// source returns the register that a register has its value from. The two are of
// activations in one iteration, and hold the same:
//
//	(V1) through copies of one pointer or scalar of one type
//	(V2) from a parameter to the argument, if all calls and starts in the frame
//	     that enter the instance give the same register
//	(V3) from a captured value to what was bound, if all closures that may be
//	     called agree; they are objects of the iteration
//	(V4) from a load to what was stored, if one store alone writes the variable,
//	     just after its allocation, before any other use
//	(V5) the control variable of the loop is where the way ends, whether it is a
//	     register or a variable that each iteration gets a copy of
func (it *iteration) source(n pta.InstID, r facts.Reg, depth int) (origin, bool) {
	const deep = 24
	if depth > deep || r == facts.NoReg {
		return origin{}, false
	}
	v := it.r.v
	f := v.Res.Func(n)
	here := origin{n, r, false}
	if it.f != nil && n == it.f.Root && (r == it.loop.value || r == it.loop.pointer) {
		return here, true // (V5)
	}
	def := f.Regs[r].Def
	if def == 0 {
		if it.f == nil || n == it.f.Root {
			return here, true
		}
		if i := slices.Index(f.Params, r); i >= 0 {
			return it.argument(n, f, i, depth)
		}
		if i := slices.Index(f.Free, r); i >= 0 {
			return it.captured(n, f, i, depth)
		}
		return here, true
	}
	if it.severalDefs(f).Has(int(r)) {
		return here, true
	}
	switch pt := f.Points[def-1]; pt.Op {
	case facts.OpCopy: // (V1)
		c := &f.Copies[pt.Row]
		if c.Index < 0 && !c.Unsafe && c.SrcLeaf == 0 && c.DstLeaf == 0 && c.N <= 1 && it.alike(f.Regs[c.Src].Type, f.Regs[c.Dst].Type) {
			return it.source(n, c.Src, depth+1)
		}
	case facts.OpMem: // (V4)
		m := &f.Mems[pt.Row]
		if m.Write || m.ValLeaf != 0 || m.Off != 0 || m.Mode != facts.Plain {
			break
		}
		p, ok := it.source(n, m.Base, depth+1)
		if !ok || p.load {
			break
		}
		if it.f != nil && p == (origin{it.f.Root, it.loop.pointer, false}) {
			return origin{p.n, p.r, true}, true // (V5)
		}
		if s, ok := it.storedOnce(p); ok {
			return it.source(s.n, s.r, depth+1)
		}
	}
	return here, true
}

// alike reports whether a copy between registers of two types is the value.
func (it *iteration) alike(t, u facts.TypeID) bool {
	if t == 0 || u == 0 {
		return false
	}
	x, y := &it.r.v.Prog.Types[t], &it.r.v.Prog.Types[u]
	return x.Kind == y.Kind && (x.Kind == facts.Pointer || x.Kind == facts.Slice || x.Kind == facts.Scalar && t == u)
}

// severalDefs returns the registers that several points define.
func (it *iteration) severalDefs(f *facts.Func) stage.Bits {
	b, ok := it.multi[f.ID]
	if !ok {
		b = stage.NewBits(len(f.Regs))
		once := stage.NewBits(len(f.Regs))
		for _, pt := range f.Points {
			if d := f.Defines(pt); d != facts.NoReg && !once.Add(int(d)) {
				b.Add(int(d))
			}
		}
		it.multi[f.ID] = b
	}
	return b
}

// argument is (V2).
func (it *iteration) argument(n pta.InstID, f *facts.Func, i, depth int) (out origin, ok bool) {
	for _, c := range it.f.view.In(n) {
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo {
			return origin{}, false
		}
		arg, given := argumentOf(&it.r.v.Res.Func(c.Inst).Calls[c.Row], f, i)
		if !given {
			return origin{}, false
		}
		s, found := it.source(c.Inst, arg, depth+1)
		if !found || ok && s != out {
			return origin{}, false
		}
		out, ok = s, true
	}
	return out, ok
}

// argumentOf returns the register that a call gives for the i-th parameter of its
// callee f, unless it gives none as it is.
func argumentOf(call *facts.Call, f *facts.Func, i int) (facts.Reg, bool) {
	params := len(f.Params)
	if call.Method != 0 { // the receiver is none of the arguments
		i, params = i-1, params-1
	}
	if i < 0 || len(call.Args) != params {
		return facts.NoReg, false
	}
	return call.Args[i], true
}

// captured is (V3).
func (it *iteration) captured(n pta.InstID, f *facts.Func, i, depth int) (out origin, ok bool) {
	v := it.r.v
	off := uint32(0)
	for _, r := range f.Free[:i] {
		off += uint32(len(v.Prog.Layout(f.Regs[r].Type).Cells))
	}
	good := true
	for _, c := range it.f.view.In(n) {
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo || v.Res.Func(c.Inst).Calls[c.Row].Fn == facts.NoReg {
			return origin{}, false
		}
		v.Res.PointsTo(c.Inst, v.Res.Func(c.Inst).Calls[c.Row].Fn, 0).Each(func(cell uint32) {
			o, _ := v.Res.Object(cell)
			s := v.Res.Site(o)
			if !good || s == nil || s.Kind != facts.SiteClosure || s.Fn != f.ID {
				return
			}
			if !it.f.own.Has(int(o)) {
				good = false
				return
			}
			for _, m := range v.MakersOf(o) {
				if !it.f.live.Has(int(m)) {
					continue // of another frame
				}
				p, found := it.bound(m, o, off, depth)
				if !found || ok && p != out {
					good = false
					return
				}
				out, ok = p, true
			}
		})
	}
	return out, ok && good
}

// bound returns what an instance binds at a cell of a closure.
func (it *iteration) bound(m pta.InstID, o pta.ObjID, off uint32, depth int) (out origin, ok bool) {
	f := it.r.v.Res.Func(m)
	site := it.r.v.Res.Objs[o].Site
	for _, pt := range f.Points {
		if pt.Op != facts.OpMem {
			continue
		}
		s := &f.Mems[pt.Row]
		if !s.Write || s.Mode != facts.Flow || s.Off != off || s.ValLeaf != 0 {
			continue
		}
		d := f.Regs[s.Base].Def
		if d == 0 || f.Points[d-1].Op != facts.OpAlloc || f.Allocs[f.Points[d-1].Row].Site != site || m == it.f.Root && !it.f.inside(it.r.v, d-1) {
			continue
		}
		p, found := it.source(m, s.Val, depth+1)
		if !found || ok && p != out {
			return origin{}, false
		}
		out, ok = p, true
	}
	return out, ok
}

// storedOnce returns what the variable at an address always holds. (V4)
func (it *iteration) storedOnce(p origin) (origin, bool) {
	if s, ok := it.once[p]; ok {
		return s, s.r != facts.NoReg
	}
	s := origin{n: p.n, r: it.onlyStore(p)}
	it.once[p] = s
	return s, s.r != facts.NoReg
}

func (it *iteration) onlyStore(p origin) facts.Reg {
	f := it.r.v.Res.Func(p.n)
	stores := it.stores(p)
	if len(stores) != 1 {
		return facts.NoReg
	}
	def, q := f.Regs[p.r].Def-1, stores[0]
	fl := it.r.v.Flow(p.n)
	if q < def || fl.Block(q) != fl.Block(def) {
		return facts.NoReg
	}
	val := f.Mems[f.Points[q].Row].Val
	used := val == p.r
	for x := def + 1; x < q; x++ {
		f.Uses(f.Points[x], func(r facts.Reg) { used = used || r == p.r })
	}
	if used {
		return facts.NoReg
	}
	return val
}

// storedBefore returns what the only store to a variable of the activation stores,
// and the store, where no path leads from the allocation to a load but through that.
func (it *iteration) storedBefore(n pta.InstID, f *facts.Func, p uint32) (facts.Reg, uint32, bool) {
	m := &f.Mems[f.Points[p].Row]
	if m.Write || m.ValLeaf != 0 || m.Off != 0 || m.Mode != facts.Plain {
		return facts.NoReg, 0, false
	}
	base, ok := it.source(n, m.Base, 0)
	if !ok || base.load || base.n != n || f.Regs[base.r].Def == 0 {
		return facts.NoReg, 0, false
	}
	stores := it.stores(base)
	if len(stores) != 1 || reaches(it.r.v.Flow(n), f.Regs[base.r].Def-1, p, stores[0]) {
		return facts.NoReg, 0, false
	}
	return f.Mems[f.Points[stores[0]].Row].Val, stores[0], true
}

// stores lists all points that write a variable of one cell that an activation
// allocates, through the allocation's own register or any other pointer; nil if
// there are others than stores in the function that allocates it, of its whole
// value.
func (it *iteration) stores(p origin) []uint32 {
	v := it.r.v
	f := v.Res.Func(p.n)
	def := f.Regs[p.r].Def
	if def == 0 || f.Points[def-1].Op != facts.OpAlloc {
		return nil
	}
	site := f.Allocs[f.Points[def-1].Row].Site
	cell, one := v.World.Single(p.n, p.r)
	if !one || f.Sites[site].Kind != facts.SiteNew || len(v.AllocsOf(p.n, it.object(cell))) != 1 {
		return nil
	}
	o := it.object(cell)
	ob := &v.Res.Objs[o]
	if ob.N != 1 || ob.Untyped || ob.Fn != f.ID || it.r.pub.reflected(it.r.w, o) || v.FlowTouched(cell) {
		return nil
	}
	var out []uint32
	for _, id := range it.r.w.At(cell) {
		a := &it.r.w.Accesses[id]
		if !a.Write {
			continue
		}
		g := v.Res.Func(a.Inst)
		if a.Deep || a.Sync != stage.NoUse || g.ID != f.ID || g.Mems[a.Row].Base != p.r || g.Mems[a.Row].Type != ob.Type {
			return nil
		}
		if !slices.Contains(out, a.Point) {
			out = append(out, a.Point)
		}
	}
	slices.Sort(out)
	return out
}

func (it *iteration) object(cell uint32) pta.ObjID {
	o, _ := it.r.v.Res.Object(cell)
	return o
}

// reflected reports whether (U4) excludes an object.
func (p *published) reflected(w *stage.World, o pta.ObjID) bool {
	p.index(w)
	return p.reflects.Has(int(o))
}
