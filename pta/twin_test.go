package pta

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// naive is the plain twin of the solver: it applies the rules of doc.go to all
// rows of all instances, in any order, until nothing changes. It knows the core
// of the language; outsideCore says what it does not know.
//
// Nothing here is clever on purpose. There are no differences, no edges that
// stay, no merged nodes, nothing is shared or put off.
type naive struct {
	u       *facts.Universe
	policy  func(facts.FuncID) PackagePolicy
	insts   []naiveInst
	instOf  map[naiveInst]int // by function and context
	objs    []naiveObj
	objOf   map[naiveObj]int // by all but first and n
	nodes   []naiveNode
	edges   map[naiveEdge]bool
	plain   map[pendingKey]bool // method calls that go by the plain rule, for want of a receiver
	class   []facts.TypeID      // (F1) by type: the least type of its class
	asked   map[[3]uint32]bool  // conversions that were seen
	names   map[int]string      // of objects
	changed bool
	limit   int // of instances; 0 is none
}

// naiveCtx is a context: its elements, newest first, each followed by a blank,
// and how many of them are call sites of inlined functions.
type naiveCtx struct {
	seq     string
	inlined int
}

type naiveInst struct {
	fn   facts.FuncID
	ctx  naiveCtx
	base int // the first node of its variables
}

type naiveObj struct {
	kind     ObjKind
	a, b     uint32 // function and site; global; function; cell that a ghost hangs on
	ctx      naiveCtx
	typ      facts.TypeID
	first, n int // its cells
}

// naiveNode is a variable or a cell.
type naiveNode struct {
	typ facts.TypeID // as declared: the filter
	obj int          // of a cell, else 0
	pts map[int]bool
}

type naiveEdge struct {
	from, to int // instances
	kind     EdgeKind
	row      uint32
}

type pendingKey struct {
	inst int
	row  uint32
	fn   facts.FuncID // interface calls: the method
}

// solveNaively returns the least solution for a program of the core language, or
// nil if it has more instances than limit.
func solveNaively(p *facts.Program, cfg Config, limit int) *naive {
	n := &naive{
		u: p.Universe, limit: limit,
		insts: make([]naiveInst, 1), objs: make([]naiveObj, 1), nodes: make([]naiveNode, 1),
		instOf: map[naiveInst]int{}, objOf: map[naiveObj]int{}, edges: map[naiveEdge]bool{},
		plain: map[pendingKey]bool{}, asked: map[[3]uint32]bool{}, names: map[int]string{},
		policy: func(facts.FuncID) PackagePolicy {
			return PackagePolicy{Policy: cfg.Policy, K: cfg.K, HK: cfg.HK}.normal()
		},
	}
	for t := range p.Types {
		n.class = append(n.class, facts.TypeID(t))
	}
	n.instance(p.Root, naiveCtx{})
	for {
		n.changed = false
		for i := 1; i < len(n.insts); i++ {
			if f := n.u.Funcs[n.insts[i].fn]; f != nil {
				n.rows(i, f)
			}
			if limit > 0 && len(n.insts) > limit {
				return nil
			}
		}
		if !n.changed {
			n.callPlainly()
		}
		if !n.changed {
			return n
		}
	}
}

// outsideCore names a row of f that the twin has no rule for, or returns "".
func outsideCore(u *facts.Universe, f *facts.Func) string {
	switch {
	case slices.ContainsFunc(f.Deeps, func(d facts.Deep) bool { return d.How != facts.ReachAll || d.Fresh || d.From != facts.NoReg }):
		return "deep access"
	case slices.ContainsFunc(f.Reaches, func(r facts.Reach) bool { return r.How != facts.ReachAll }):
		return "reach"
	case len(f.Anys) > 0:
		return "call of anything"
	case len(f.News) > 0:
		return "new of types found at run time"
	case f.Is(facts.FnTests):
		return "tests"
	}
	for _, c := range f.Copies {
		if c.N > 0 && c.Unsafe && u.Types[f.Regs[c.Src].Type].Kind != facts.Map {
			return "unsafe conversion"
		}
	}
	return ""
}

// rows applies the rules to all rows of f, in instance i.
func (n *naive) rows(i int, f *facts.Func) {
	at := func(r facts.Reg, leaf int) int { return n.insts[i].base + int(f.Regs[r].Node) + leaf }
	for _, g := range f.Globals {
		n.add(at(g.Dst, 0), n.object(naiveObj{kind: ObjGlobal, a: uint32(g.Global)}, n.u.Globals[g.Global].Type))
	}
	for _, r := range f.FuncRef {
		n.add(at(r.Dst, 0), n.object(naiveObj{kind: ObjFunc, a: uint32(r.Fn)}, 0))
	}
	for _, a := range f.Allocs {
		n.add(at(a.Dst, 0), n.object(naiveObj{kind: ObjSite, a: uint32(f.ID), b: uint32(a.Site), ctx: n.heapCtx(i)}, f.Sites[a.Site].Type))
	}
	for _, c := range f.Copies {
		for j := range int(c.N) {
			d, s := at(c.Dst, int(c.DstLeaf)+j), at(c.Src, int(c.SrcLeaf)+j)
			if !c.Unsafe { // a range over a map is no conversion
				n.converts(n.nodes[s].typ, n.nodes[d].typ)
			}
			n.flow(d, s)
		}
	}
	for _, p := range f.Phis {
		for _, e := range p.Edges {
			if e != facts.NoReg {
				for j := range n.leaves(f, p.Dst) {
					n.flow(at(p.Dst, j), at(e, j))
				}
			}
		}
	}
	for _, a := range f.Addrs {
		if n.leaves(f, a.Base) == 0 {
			continue
		}
		off := 0
		if a.Kind == facts.AddrField {
			off = int(a.Off)
		}
		for _, p := range n.elems(at(a.Base, 0)) {
			if q, ok := n.shift(p, off); ok && (off == 0 || n.pointsAs(f.Regs[a.Base].Type, p)) {
				n.add(at(a.Dst, 0), q)
			}
		}
	}
	for _, m := range f.Mems {
		if m.Val == facts.NoReg || m.Type == 0 {
			continue
		}
		for j, cell := range n.u.Layout(m.Type).Ptrs {
			v := at(m.Val, int(m.ValLeaf)+j)
			for _, p := range n.elems(at(m.Base, 0)) {
				if !n.pointsAs(f.Regs[m.Base].Type, p) {
					continue
				}
				if q, ok := n.shift(p, int(m.Off+cell)); !ok {
				} else if m.Write {
					n.flow(q, v)
				} else {
					n.flow(v, q)
				}
			}
		}
	}
	for _, a := range f.Asserts {
		if a.X != facts.NoReg {
			n.assert(at(a.Dst, 0), at(a.X, 0), a.Type)
		}
	}
	for _, g := range f.Ghosts {
		if n.leaves(f, g.Base) > 0 {
			for _, p := range n.elems(at(g.Base, 0)) {
				n.add(at(g.Dst, 0), n.object(naiveObj{kind: ObjGhost, a: uint32(p)}, n.u.Types[f.Regs[g.Dst].Type].Elem))
			}
		}
	}
	for _, r := range f.Reaches {
		for p := range n.reachable(i, f, r.X, true) {
			n.add(at(r.Dst, 0), p)
		}
	}
	for _, d := range f.Deeps {
		if d.Write {
			n.havoc(n.reachable(i, f, d.X, true))
		}
	}
	for row := range f.Calls {
		n.call(i, f, uint32(row))
	}
}

// assert is dst = x.(T) for the leaves of dst.
func (n *naive) assert(dst, x int, t facts.TypeID) {
	ty := &n.u.Types[t]
	l := n.u.Layout(t)
	for _, p := range n.elems(x) {
		o := &n.objs[n.nodes[p].obj]
		switch {
		case ty.Kind == facts.Interface:
			if !n.isBox(o) || n.u.Implements(o.typ, t) {
				n.add(dst, p)
			}
		case n.isBox(o):
			if o.typ == t {
				for j, cell := range l.Ptrs {
					n.flow(dst+j, o.first+int(cell))
				}
			}
		default: // raw: the pointer itself, or what it points to
			if len(l.Ptrs) == 1 && len(l.Cells) == 1 {
				n.add(dst, p)
			}
			if n.startsAt(p, t) {
				for j, cell := range l.Ptrs {
					if q, ok := n.shift(p, int(cell)); ok {
						n.flow(dst+j, q)
					}
				}
			}
		}
	}
}

// call applies Calls[row] of f in instance i.
func (n *naive) call(i int, f *facts.Func, row uint32) {
	c := &f.Calls[row]
	at := func(r facts.Reg) int { return n.insts[i].base + int(f.Regs[r].Node) }
	switch {
	case c.Static != 0:
		callee := n.u.Funcs[c.Static]
		if callee == nil {
			n.edge(i, c, row, n.instance(c.Static, naiveCtx{}))
			return
		}
		if callee.Is(facts.FnMethod) && !callee.Is(facts.FnInline) && n.policy(c.Static).Policy != Insens && len(c.Args) > 0 && c.Args[0] != facts.NoReg {
			n.callOn(i, f, row, callee, at(c.Args[0]))
			if n.plain[pendingKey{i, row, 0}] {
				n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, 0), c.Args, callee.Params)
			}
			return
		}
		n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, 0), c.Args, callee.Params)
	case c.Method != 0:
		if c.Recv != facts.NoReg {
			for _, p := range n.elems(at(c.Recv)) {
				n.invoke(i, f, row, p)
			}
		}
	case c.Fn != facts.NoReg:
		for _, p := range n.elems(at(c.Fn)) {
			n.callValue(i, f, row, p)
		}
	}
}

// callOn calls a pointer method on all receivers that node this holds, one
// object at a time.
func (n *naive) callOn(i int, f *facts.Func, row uint32, callee *facts.Func, this int) {
	args := f.Calls[row].Args
	if f.Calls[row].Method == 0 {
		args = args[1:]
	}
	for _, p := range n.elems(this) {
		to := n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, n.nodes[p].obj), args, tail(callee.Params))
		n.receive(to, callee, p)
	}
}

// receive adds p to the receiver parameter of instance to.
func (n *naive) receive(to int, callee *facts.Func, p int) {
	if len(callee.Params) > 0 && n.leaves(callee, callee.Params[0]) > 0 {
		n.add(n.insts[to].base+int(callee.Regs[callee.Params[0]].Node), p)
	}
}

// invoke applies an interface call to element p of the interface.
func (n *naive) invoke(i int, f *facts.Func, row uint32, p int) {
	c := &f.Calls[row]
	o := n.objs[n.nodes[p].obj]
	if n.isBox(&o) {
		fn := n.u.MethodOf(o.typ, c.Method)
		callee := n.u.Funcs[fn]
		switch {
		case fn == 0 || n.u.Types[o.typ].Kind == facts.Interface:
		case callee == nil:
			n.edge(i, c, row, n.instance(fn, naiveCtx{}))
		case n.u.Types[o.typ].Kind == facts.Pointer && n.byReceiver(callee):
			n.callOn(i, f, row, callee, o.first)
			if n.plain[pendingKey{i, row, fn}] {
				n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, 0), c.Args, tail(callee.Params))
			}
		default:
			to := n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, 0), c.Args, tail(callee.Params))
			for j, cell := range n.u.Layout(o.typ).Ptrs {
				n.flow(n.insts[to].base+int(callee.Regs[callee.Params[0]].Node)+j, o.first+int(cell))
			}
		}
		return
	}
	if o.typ == 0 {
		return
	}
	for _, t := range n.typesAt(p) { // raw: a pointer to any of these
		if q := n.u.TypeByName("*" + n.u.Types[t].Name); q != 0 {
			if callee := n.u.Funcs[n.u.MethodOf(q, c.Method)]; callee != nil {
				n.receive(n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, n.nodes[p].obj), c.Args, tail(callee.Params)), callee, p)
			}
		}
	}
}

// callValue applies a call of a function value to element p of it.
func (n *naive) callValue(i int, f *facts.Func, row uint32, p int) {
	c := &f.Calls[row]
	o := n.objs[n.nodes[p].obj]
	fn, closure := facts.FuncID(0), 0
	switch {
	case o.kind == ObjFunc:
		fn = facts.FuncID(o.a)
	case n.siteKind(&o) == facts.SiteClosure:
		fn, closure = n.u.Funcs[o.a].Sites[o.b].Fn, n.nodes[p].obj
	default:
		return
	}
	callee := n.u.Funcs[fn]
	if callee == nil {
		n.edge(i, c, row, n.instance(fn, naiveCtx{}))
		return
	}
	if len(callee.Params) != len(c.Args) {
		return
	}
	to := n.link(i, f, row, callee, n.calleeCtx(i, f, row, callee, closure), c.Args, callee.Params)
	if closure == 0 {
		return
	}
	v := 0
	if len(callee.Free) > 0 {
		v = n.insts[to].base + int(callee.Regs[callee.Free[0]].Node)
	}
	for j, cell := range n.u.Layout(o.typ).Ptrs { // free variables stand in the order of the bindings
		n.flow(v+j, o.first+int(cell))
	}
}

// link makes Calls[row] of instance i run callee in context ctx, with args for
// params, and returns the callee's instance.
func (n *naive) link(i int, f *facts.Func, row uint32, callee *facts.Func, ctx naiveCtx, args, params []facts.Reg) int {
	c := &f.Calls[row]
	to := n.instance(callee.ID, ctx)
	n.edge(i, c, row, to)
	pass := func(d int, df *facts.Func, dr facts.Reg, s int, sf *facts.Func, sr facts.Reg) {
		for j := range min(n.leaves(df, dr), n.leaves(sf, sr)) {
			x, y := n.insts[d].base+int(df.Regs[dr].Node)+j, n.insts[s].base+int(sf.Regs[sr].Node)+j
			if c.Static != 0 { // the caller may have declared the callee otherwise
				n.converts(n.nodes[y].typ, n.nodes[x].typ)
			}
			n.flow(x, y)
		}
	}
	for k, a := range args {
		if a != facts.NoReg && k < len(params) {
			pass(to, callee, params[k], i, f, a)
		}
	}
	if c.Dst != facts.NoReg && callee.Ret != facts.NoReg {
		pass(i, f, c.Dst, to, callee, callee.Ret)
	}
	return to
}

// callPlainly finds the method calls that have no receiver when nothing moves
// any more.
func (n *naive) callPlainly() {
	mark := func(k pendingKey, this int) {
		if len(n.nodes[this].pts) == 0 && !n.plain[k] {
			n.plain[k], n.changed = true, true
		}
	}
	for i := 1; i < len(n.insts); i++ {
		f := n.u.Funcs[n.insts[i].fn]
		if f == nil {
			continue
		}
		for row := range f.Calls {
			c := &f.Calls[row]
			k := pendingKey{i, uint32(row), 0}
			switch {
			case c.Static != 0 && len(c.Args) > 0 && c.Args[0] != facts.NoReg:
				if n.leaves(f, c.Args[0]) > 0 {
					mark(k, n.insts[i].base+int(f.Regs[c.Args[0]].Node))
				}
			case c.Method != 0 && c.Recv != facts.NoReg:
				// A method that is called on anything is not called plainly.
				held := map[facts.FuncID]int{}
				for _, p := range n.elems(n.insts[i].base + int(f.Regs[c.Recv].Node)) {
					if o := &n.objs[n.nodes[p].obj]; n.isBox(o) && n.u.Types[o.typ].Kind == facts.Pointer {
						held[n.u.MethodOf(o.typ, c.Method)] += len(n.nodes[o.first].pts)
					}
				}
				for fn, pts := range held {
					if k.fn = fn; pts == 0 && !n.plain[k] {
						n.plain[k], n.changed = true, true
					}
				}
			}
		}
	}
}

func tail(rs []facts.Reg) []facts.Reg { return rs[min(1, len(rs)):] }

func (n *naive) edge(i int, c *facts.Call, row uint32, to int) {
	e := naiveEdge{from: i, to: to, row: row}
	if c.Mode == facts.ModeGo {
		e.kind = EdgeGo
	}
	if !n.edges[e] {
		n.edges[e], n.changed = true, true
	}
}

func (n *naive) leaves(f *facts.Func, r facts.Reg) int {
	if r == facts.NoReg || f.Regs[r].Type == 0 {
		return 0
	}
	return len(n.u.Layout(f.Regs[r].Type).Ptrs)
}

// elems returns what node v holds, in order.
func (n *naive) elems(v int) []int {
	out := make([]int, 0, len(n.nodes[v].pts))
	for p := range n.nodes[v].pts {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func (n *naive) flow(d, s int) {
	for p := range n.nodes[s].pts {
		n.add(d, p)
	}
}

// add puts cell p into node v, if v's type allows it.
func (n *naive) add(v, p int) {
	if d := &n.nodes[v]; !d.pts[p] && n.fits(d.typ, p) {
		if d.pts == nil {
			d.pts = map[int]bool{}
		}
		d.pts[p], n.changed = true, true
	}
}

// shift returns the cell off further in the object of p.
func (n *naive) shift(p, off int) (int, bool) {
	o := &n.objs[n.nodes[p].obj]
	return p + off, p+off < o.first+o.n
}

// instance returns the instance of fn in ctx.
func (n *naive) instance(fn facts.FuncID, ctx naiveCtx) int {
	k := naiveInst{fn: fn, ctx: ctx}
	if i, ok := n.instOf[k]; ok {
		return i
	}
	i := len(n.insts)
	n.instOf[k], n.changed = i, true
	k.base = len(n.nodes)
	n.insts = append(n.insts, k)
	if f := n.u.Funcs[fn]; f != nil {
		for _, r := range f.Regs[1:] {
			if r.Type != 0 {
				l := n.u.Layout(r.Type)
				for _, cell := range l.Ptrs {
					n.nodes = append(n.nodes, naiveNode{typ: l.Cells[cell].Type})
				}
			}
		}
	}
	return i
}

// object returns the first cell of an object.
func (n *naive) object(k naiveObj, t facts.TypeID) int {
	k.typ = t
	if o, ok := n.objOf[k]; ok {
		return n.objs[o].first
	}
	id := len(n.objs)
	n.objOf[k] = id
	k.first, k.n = len(n.nodes), 1
	if t == 0 {
		n.nodes = append(n.nodes, naiveNode{obj: id})
	} else {
		l := n.u.Layout(t)
		k.n = len(l.Cells)
		for i := range l.Cells {
			n.nodes = append(n.nodes, naiveNode{typ: l.Cells[i].Type, obj: id})
		}
	}
	n.objs = append(n.objs, k)
	return k.first
}
