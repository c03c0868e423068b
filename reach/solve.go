package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// worker applies the rules to one instance at a time.
type worker struct {
	e     *Effects
	dirty stage.Bits
	// loads are the instances that loaded something of which more than nothing was
	// said: they may have to look again.
	loads stage.Bits

	n    pta.InstID
	f    *facts.Func
	p    *plan
	vars []Node // types of n
	// before are the types of the results at the last visit
	before []Node
}

// visit applies all rows of an instance.
func (w *worker) visit(n pta.InstID) {
	w.n, w.f = n, w.e.v.Res.Func(n)
	if w.f == nil || w.e.types[n] == nil {
		return
	}
	w.p, w.vars = w.e.t.plan(w.f), w.e.types[n]
	w.loads.Remove(int(n))
	ret := uint32(0)
	if w.f.Ret != facts.NoReg {
		ret = w.f.Regs[w.f.Ret].Node
	}
	before := append(w.before[:0], w.vars[ret:ret+w.p.leaves(w.f.Ret)]...)
	w.before = before
	for i := range w.p.ops {
		w.apply(&w.p.ops[i])
	}
	for k := range before {
		if w.vars[ret+uint32(k)] != before[k] {
			for _, c := range w.e.v.In(n) {
				w.dirty.Add(int(c.Inst))
			}
			return
		}
	}
}

// at returns the type of a variable where it shares the iteration of a loop with
// its definition.
func (w *worker) at(x uint32, l int32) Node {
	return w.e.t.move(w.vars[x], w.e.t.node(w.n, l))
}

// set gives a type to a variable.
func (w *worker) set(x *op, i uint32, t Node) {
	if x.out {
		t = w.e.t.move(t, w.e.t.act[w.n])
	}
	if w.e.lower(w.n, x.dst+i, t) {
		w.dirty.Add(int(w.n))
	}
}

func (w *worker) apply(x *op) {
	e, t := w.e, w.e.t
	switch x.kind {
	case opMake: // (R1)
		switch here := t.node(w.n, x.at); {
		case e.ofModel(w.f, w.f.Allocs[x.row].Site): // (R6)
			w.set(x, 0, Root)
		case here != Root:
			w.set(x, 0, here)
		}
	case opMove: // (R2), (R3)
		for i := range x.n {
			w.set(x, i, w.at(x.src+i, x.loop))
		}
	case opTop: // (R6)
		for i := range x.n {
			w.set(x, i, Root)
		}
	case opLoad:
		m := &w.f.Mems[x.row]
		w.load(x, w.at(x.src, x.loop), e.v.Res.PointsTo(w.n, m.Base, 0), m)
	case opStore:
		w.store(x, &w.f.Mems[x.row])
	case opAssert:
		w.assert(x)
	case opCall:
		w.call(x)
	}
}

// load is (R5).
func (w *worker) load(x *op, base Node, set *pta.Set, m *facts.Mem) {
	ptrs := w.e.v.Prog.Layout(m.Type).Ptrs
	for i := range x.n {
		t := Root
		if base != Root {
			t = w.e.t.meet(base, w.e.loaded(set, m.Off+ptrs[i]))
		}
		if t != Root {
			w.loads.Add(int(w.n))
		}
		w.set(x, i, t)
	}
}

// loaded returns what holds of the cells off further than those of a set.
func (e *Effects) loaded(set *pta.Set, off uint32) Node {
	k := gaveKey{set, off}
	if t, ok := e.gave[k]; ok {
		return t
	}
	t := none
	set.Each(func(c uint32) {
		if t == Root {
			return
		}
		o, at := e.v.Res.Object(c)
		switch {
		case at+off < e.v.Res.Objs[o].N && !e.v.Res.Objs[o].Untyped:
			t = e.t.meet(t, e.cells[c+off])
		default:
			t = Root
		}
	})
	e.gave[k] = t
	return t
}

// store is (R4).
func (w *worker) store(x *op, m *facts.Mem) {
	e, t := w.e, w.e.t
	base := w.at(x.src, x.loop)
	set := e.v.Res.PointsTo(w.n, m.Base, 0)
	ptrs := e.v.Prog.Layout(m.Type).Ptrs
	for i := range x.n {
		val := none
		if x.values >= 0 {
			for _, s := range w.p.values[x.values] {
				val = t.meet(val, w.at(w.f.Regs[s.reg].Node+s.leaf, s.loop))
			}
		} else {
			val = w.at(x.dst+i, x.vloop)
		}
		if val == none {
			continue // nothing yet, or only what is exempt
		}
		w.e.stored(set, m.Off+ptrs[i], t.meet(base, val))
	}
}

// stored joins an effect into the cells off further than those of a set.
func (e *Effects) stored(set *pta.Set, off uint32, t Node) {
	k := gaveKey{set, off}
	if have, ok := e.put[k]; ok && e.t.meet(have, t) == have {
		return
	}
	e.put[k] = t
	set.Each(func(c uint32) {
		if o, at := e.v.Res.Object(c); at+off < e.v.Res.Objs[o].N {
			e.lowerCell(c+off, t)
		}
	})
}

// assert is (R5) for the box of an interface value.
func (w *worker) assert(x *op) {
	e := w.e
	a := &w.f.Asserts[x.row]
	base := w.at(x.src, x.loop)
	ptrs := e.v.Prog.Layout(a.Type).Ptrs
	for i := range x.n {
		t := Root
		if base != Root {
			t = none
			e.v.Res.PointsTo(w.n, a.X, 0).Each(func(c uint32) {
				if t != Root {
					t = e.t.meet(t, e.payload(c, a.Type, ptrs[i]))
				}
			})
			if t != none {
				t = e.t.meet(base, t)
			}
		}
		if t != Root {
			w.loads.Add(int(w.n))
		}
		w.set(x, i, t)
	}
}

// payload returns what holds of a cell of a box of a type (0: of any); none for a
// box of another type.
func (e *Effects) payload(c uint32, t facts.TypeID, off uint32) Node {
	o, _ := e.v.Res.Object(c)
	ob := &e.v.Res.Objs[o]
	if k, ok := e.v.Res.SiteKind(o); !ok || k != facts.SiteBox {
		return Root
	}
	if t != 0 && ob.Type != t {
		return none
	}
	if off >= ob.N {
		return Root
	}
	return e.cells[ob.Node+off]
}

// call is (R3): arguments, bindings, results.
func (w *worker) call(x *op) {
	e := w.e
	o := facts.OpCall
	if x.src == 1 {
		o = facts.OpAny
	}
	for _, g := range e.v.EdgesAt(w.n, facts.Point{Op: o, Row: x.row}) {
		if g.Kind == pta.EdgeAny || g.Kind == pta.EdgeAnyGo {
			continue // see enterAll
		}
		c := &w.f.Calls[x.row]
		if e.types[g.Callee] == nil { // without facts, or not live
			w.result(x, c, nil, nil)
			continue
		}
		callee := e.v.Res.Func(g.Callee)
		if w.enter(x, c, g.Callee, callee) {
			w.dirty.Add(int(g.Callee))
		}
		if g.Kind == pta.EdgeCall {
			w.result(x, c, &g, callee)
		}
	}
}

// enter gives an instance what a call enters it with, and reports whether that
// changed something.
func (w *worker) enter(x *op, c *facts.Call, to pta.InstID, callee *facts.Func) bool {
	e := w.e
	first := 0
	if c.Method != 0 {
		first = 1
	}
	if len(callee.Params) != len(c.Args)+first {
		return e.unknownEntry(to)
	}
	changed := false
	give := func(r facts.Reg, leaf uint32, t Node) {
		changed = e.lower(to, callee.Regs[r].Node+leaf, e.t.enter(t, to)) || changed
	}
	p := e.t.plan(callee)
	for i, r := range callee.Params {
		if i < first {
			w.receiver(x, c, r, p, give)
			continue
		}
		a := c.Args[i-first]
		n := w.p.leaves(a)
		for k := range p.leaves(r) {
			switch {
			case a == facts.NoReg:
			case k < n:
				give(r, k, w.at(w.f.Regs[a].Node+k, w.p.use(a, x.point)))
			default:
				give(r, k, Root)
			}
		}
	}
	w.bindings(x, c, callee, p, give)
	return changed
}

// receiver gives a method what the boxes of an interface hold.
func (w *worker) receiver(x *op, c *facts.Call, r facts.Reg, p *plan, give func(facts.Reg, uint32, Node)) {
	e := w.e
	base := w.at(w.f.Regs[c.Recv].Node, w.p.use(c.Recv, x.point))
	for k := range p.leaves(r) {
		t := Root
		if base != Root {
			if t = e.received(e.v.Res.PointsTo(w.n, c.Recv, 0), k); t != none {
				t = e.t.meet(base, t)
			}
		}
		if t != Root {
			w.loads.Add(int(w.n))
		}
		give(r, k, t)
	}
}

// received returns what holds of the k-th pointer-like leaf of what the boxes of a
// set hold: the same for all methods that a call may run.
func (e *Effects) received(set *pta.Set, k uint32) Node {
	key := gaveKey{set, k}
	if t, ok := e.boxed[key]; ok {
		return t
	}
	t := none
	set.Each(func(cell uint32) {
		if t == Root {
			return
		}
		o, _ := e.v.Res.Object(cell)
		ob := &e.v.Res.Objs[o]
		if ob.Type == 0 {
			t = Root
			return
		}
		if ptrs := e.v.Prog.Layout(ob.Type).Ptrs; int(k) < len(ptrs) {
			t = e.t.meet(t, e.payload(cell, 0, ptrs[k]))
		} else if kind, ok := e.v.Res.SiteKind(o); !ok || kind != facts.SiteBox {
			t = Root
		}
	})
	e.boxed[key] = t
	return t
}

// bindings gives a closure's free variables what its objects hold.
func (w *worker) bindings(x *op, c *facts.Call, callee *facts.Func, p *plan, give func(facts.Reg, uint32, Node)) {
	if len(callee.Free) == 0 {
		return
	}
	e := w.e
	base := Root
	if c.Fn != facts.NoReg {
		base = w.at(w.f.Regs[c.Fn].Node, w.p.use(c.Fn, x.point))
	}
	at := 0 // pointer-like cells of the closure, as bindings follow each other
	for _, r := range callee.Free {
		for k := range p.leaves(r) {
			t := Root
			if c.Fn != facts.NoReg {
				t = none
				e.v.Res.PointsTo(w.n, c.Fn, 0).Each(func(cell uint32) {
					o, _ := e.v.Res.Object(cell)
					ob := &e.v.Res.Objs[o]
					switch s := e.v.Res.Site(o); {
					case s == nil && ob.Kind != pta.ObjFunc:
						t = Root
					case s == nil || s.Kind != facts.SiteClosure || s.Fn != callee.ID:
					default:
						if ptrs := e.v.Prog.Layout(ob.Type).Ptrs; at < len(ptrs) {
							t = e.t.meet(t, e.cells[ob.Node+ptrs[at]])
						} else {
							t = Root
						}
					}
				})
				if t != none {
					t = e.t.meet(base, t)
				}
			}
			if t != Root {
				w.loads.Add(int(w.n))
			}
			give(r, k, t)
			at++
		}
	}
}

// result gives a call's result what a callee returns; nil: what is not known.
func (w *worker) result(x *op, c *facts.Call, g *pta.Edge, callee *facts.Func) {
	n := w.p.leaves(c.Dst)
	if n == 0 {
		return
	}
	y := *x
	y.dst = w.f.Regs[c.Dst].Node
	have := uint32(0)
	if callee != nil {
		have = w.e.t.plan(callee).leaves(callee.Ret)
	}
	for k := range n {
		t := Root
		if k < have {
			t = w.e.types[g.Callee][callee.Regs[callee.Ret].Node+k]
			t = w.e.t.leave(w.e.t.move(t, w.e.t.act[g.Callee]), g.Callee, w.e.t.node(w.n, x.at))
		}
		w.set(&y, k, t)
	}
}
