package pta

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/bfverify/bfverify/facts"
)

// Config chooses the context policy and the budget of an analysis.
type Config struct {
	Policy Policy
	K      int // calling contexts: call sites; 0 means none
	HK     int // heap contexts; -1: the policy's default (K for hybrid, K-1 for obj)
	// MemLimit ends the analysis with ErrBudget when the heap exceeds so many
	// bytes; 0 is no limit.
	MemLimit uint64
	Progress func(nodes, insts int, st Stats)
	// Parallel holds the context keys (Result.CtxKey) of the instances of
	// TestRunner whose call is a start of a goroutine, because the test may call
	// t.Parallel.
	Parallel map[string]bool
}

// ErrBudget is returned when the analysis ran out of memory by its MemLimit.
var ErrBudget = errors.New("points-to analysis: memory budget exhausted")

// ObjID identifies an abstract object: an allocation site with a heap context,
// a global, a function as a value, a ghost. 0 is none.
type ObjID uint32

const noObj ObjID = 0

// ObjKind says what an abstract object stands for.
type ObjKind uint8

// The kinds of object.
const (
	ObjSite ObjKind = iota
	ObjGlobal
	ObjFunc
	ObjGhost
	ObjNew // made by a model, of a type found at run time
)

// Object is an abstract object. Its cells are the nodes [Node, Node+N).
type Object struct {
	Kind   ObjKind
	Type   facts.TypeID
	Node   uint32
	N      uint32
	Ctx    CtxID          // heap context
	Inst   InstID         // ObjSite: some instance of the function that allocates it
	Fn     facts.FuncID   // ObjSite: the allocating function; ObjFunc: the function
	Site   facts.SiteID   // ObjSite
	Global facts.GlobalID // ObjGlobal
	Of     uint32         // ObjGhost: the cell it belongs to
	// Untyped is set when a pointer into the object was converted to a type that
	// it does not have: from then on any access may touch any cell.
	Untyped bool
	elem    element
}

// InstID identifies a function in a calling context. 0 is none.
type InstID uint32

// Inst is one function in one context. Register r's leaf i is the node
// Base + Regs[r].Node + i.
type Inst struct {
	Fn   facts.FuncID
	Ctx  CtxID
	Base uint32
	// Deep is the first of the nodes that hold what Deeps and Reaches reach:
	// two for each Deeps row (what is touched, what may be stored), then two for
	// each Anys row (functions, arguments).
	Deep uint32
	// Out are the call edges out of the instance, sorted.
	Out []Edge
}

// EdgeKind says through which row of the caller an edge goes.
type EdgeKind uint8

// The kinds of call edge.
const (
	EdgeCall  EdgeKind = iota // Calls[Row], in the caller's goroutine
	EdgeGo                    // Calls[Row], in a new goroutine
	EdgeAny                   // Anys[Row]
	EdgeAnyGo                 // Anys[Row] with Spawn
)

// Edge is a call edge.
type Edge struct {
	Kind   EdgeKind
	Row    uint32
	Callee InstID
}

type instKey struct {
	fn  facts.FuncID
	ctx CtxID
}

// solver holds the constraint graph.
type solver struct {
	prog *facts.Program
	u    *facts.Universe
	cfg  Config
	ctxs *contexts

	insts  []Inst
	instOf map[instKey]InstID
	objs   []Object
	objOf  map[objKey]ObjID

	// Nodes. A cell of an object is a node: the variable that it is.
	rep   []uint32 // union-find
	pts   []*Set
	delta []*Set
	succ  []*Set         // copy edges
	typ   []facts.TypeID // type of the leaf: the filter
	obj   []ObjID        // object of a cell, 0 for variables
	cons  [][]constraint
	fsucc []*Set          // copy edges that need the type filter
	usucc map[uint32]*Set // the same where what does not fit becomes untyped

	// shapeCells are the cells at which a shape starts, untypedCells those of
	// untyped objects: the filter for whole sets.
	shapeCells   []*Set
	untypedCells Set
	boxCells     Set
	funcCells    Set

	work   []uint32
	queued []bool

	siteBase, callBase []uint32 // element numbers of functions
	nextElem           uint32
	elemFn             []facts.FuncID // the function an element belongs to
	edgeSet            map[edgeKey]bool
	thisSet            map[thisKey]bool
	havoc              map[havocKey]uint32
	newEdges           int
	collapseAt         int
	steps              int
	ctx                context.Context
	fallback           []pendingCall
	fresh              []InstID // instances whose constraints are not added yet
	stats              Stats
}

type objKey struct {
	kind ObjKind
	a, b uint32
	ctx  CtxID
}

type edgeKey struct {
	from InstID
	kind EdgeKind
	row  uint32
	to   InstID
}

// consKind is the kind of a complex constraint on a node: what to do for each
// new (object, cell) in its set.
type consKind uint8

const (
	consLoad    consKind = iota // a = dst node, off: dst ⊇ content(o, c+off)
	consStore                   // a = src node, off
	consAddr                    // a = dst node, off
	consAssert                  // a = dst node (first leaf), typ
	consCall                    // static method call: inst, row
	consFn                      // call of a function value
	consInvoke                  // interface call
	consThis                    // receiver payload of an interface call: fn
	consReach                   // the node itself takes all that is reachable
	consHavoc                   // what node a holds may be stored into the cells
	consShallow                 // a = dst node: what it directly points to
	consNew                     // a = dst node
	consGhost                   // a = dst node
	consAny                     // call every function: inst, row
)

type constraint struct {
	kind consKind
	a    uint32
	off  uint32
	typ  facts.TypeID
	inst InstID
	row  uint32
	fn   facts.FuncID
	edge EdgeKind
}

// pendingCall is a method call whose receiver may stay empty.
type pendingCall struct {
	inst InstID
	row  uint32
	node uint32 // the receiver
	fn   facts.FuncID
}

// havocKey names the variable that holds what node holds and fits type typ.
type havocKey struct {
	node uint32
	typ  facts.TypeID
}

// thisKey names the payload of a box at an interface call.
type thisKey struct {
	inst InstID
	row  uint32
	box  ObjID
}

// Analyze solves the points-to problem of p. It fails only for want of budget
// or when ctx ends.
func Analyze(ctx context.Context, p *facts.Program, cfg Config) (*Result, error) {
	if cfg.HK < 0 {
		cfg.HK = cfg.K
		if cfg.Policy == Obj {
			cfg.HK = max(cfg.K-1, 0)
		}
		if cfg.Policy == Insens {
			cfg.HK = 0
		}
	}
	s := &solver{
		prog: p, u: p.Universe, cfg: cfg, ctxs: newContexts(), ctx: ctx,
		insts: make([]Inst, 1), instOf: map[instKey]InstID{},
		objs: make([]Object, 1), objOf: map[objKey]ObjID{},
		edgeSet: map[edgeKey]bool{}, usucc: map[uint32]*Set{}, havoc: map[havocKey]uint32{}, thisSet: map[thisKey]bool{}, collapseAt: 1 << 14,
		siteBase: make([]uint32, len(p.Funcs)), callBase: make([]uint32, len(p.Funcs)),
		nextElem: 1, elemFn: make([]facts.FuncID, 1),
	}
	s.node(0, 0) // node 0 is unused
	// Elements are numbered before anything else, so that context keys mean the
	// same in every analysis of the program.
	for fn := range p.Funcs {
		if p.Funcs[fn] != nil {
			s.elemBase(facts.FuncID(fn))
		}
	}
	root := s.instance(p.Root, 0)
	if err := s.solve(); err != nil {
		return nil, err
	}
	return s.result(root), nil
}

// node makes a node of the given type; obj is its object if it is a cell.
func (s *solver) node(t facts.TypeID, obj ObjID) uint32 {
	n := uint32(len(s.rep))
	s.rep = append(s.rep, n)
	s.pts = append(s.pts, nil)
	s.delta = append(s.delta, nil)
	s.succ = append(s.succ, nil)
	s.typ = append(s.typ, t)
	s.obj = append(s.obj, obj)
	s.cons = append(s.cons, nil)
	s.fsucc = append(s.fsucc, nil)
	s.queued = append(s.queued, false)
	return n
}

func (s *solver) find(n uint32) uint32 {
	for s.rep[n] != n {
		s.rep[n] = s.rep[s.rep[n]]
		n = s.rep[n]
	}
	return n
}

// elemBase numbers the sites and calls of fn.
func (s *solver) elemBase(fn facts.FuncID) {
	if s.siteBase[fn] == 0 {
		f := s.u.Funcs[fn]
		s.siteBase[fn] = s.nextElem
		s.nextElem += uint32(len(f.Sites))
		s.callBase[fn] = s.nextElem
		s.nextElem += uint32(len(f.Calls)+len(f.Anys)) + 1
		for uint32(len(s.elemFn)) < s.nextElem {
			s.elemFn = append(s.elemFn, fn)
		}
	}
}

// object returns the object for a key, making it with type t.
func (s *solver) object(k objKey, t facts.TypeID, inst InstID) ObjID {
	if o, ok := s.objOf[k]; ok {
		return o
	}
	id := ObjID(len(s.objs))
	o := Object{Kind: k.kind, Type: t, Ctx: k.ctx, Inst: inst, Node: uint32(len(s.rep))}
	switch k.kind {
	case ObjSite:
		o.Fn, o.Site = facts.FuncID(k.a), facts.SiteID(k.b)
		o.elem = element(s.siteBase[k.a] + k.b)
	case ObjGlobal:
		o.Global = facts.GlobalID(k.a)
	case ObjFunc:
		o.Fn = facts.FuncID(k.a)
	case ObjGhost:
		o.Of = k.a
	case ObjNew:
		o.Fn, o.Site = facts.FuncID(k.a), facts.SiteID(k.b)
	}
	if k.kind != ObjSite {
		o.elem = element(s.nextElem)
		s.nextElem++
		s.elemFn = append(s.elemFn, o.Fn)
	}
	if t == 0 {
		s.node(0, id)
	} else {
		for _, c := range s.u.Layout(t).Cells {
			n := s.node(c.Type, id)
			for _, k := range c.Keys {
				for int(k) >= len(s.shapeCells) {
					s.shapeCells = append(s.shapeCells, nil)
				}
				if s.shapeCells[k] == nil {
					s.shapeCells[k] = new(Set)
				}
				s.shapeCells[k].Add(n)
			}
		}
	}
	o.N = uint32(len(s.rep)) - o.Node
	s.objs = append(s.objs, o)
	if box, fn := s.isBox(&o), o.Kind == ObjFunc || s.isClosure(&o); box || fn {
		for i := range o.N {
			if box {
				s.boxCells.Add(o.Node + i)
			} else {
				s.funcCells.Add(o.Node + i)
			}
		}
	}
	s.objOf[k] = id
	return id
}

// instance returns the instance of fn in ctx, adding its constraints when new.
func (s *solver) instance(fn facts.FuncID, ctx CtxID) InstID {
	f := s.u.Funcs[fn]
	if f != nil && f.Is(facts.FnTests) && s.prog.Tests != 0 && fn != s.prog.Tests {
		fn = s.prog.Tests
		f = s.u.Funcs[fn]
	}
	k := instKey{fn, ctx}
	if i, ok := s.instOf[k]; ok {
		return i
	}
	id := InstID(len(s.insts))
	s.instOf[k] = id
	if f == nil { // a name without facts: nothing is known to happen in it
		s.insts = append(s.insts, Inst{Fn: fn, Ctx: ctx})
		s.stats.Missing = append(s.stats.Missing, fn)
		return id
	}
	base := uint32(len(s.rep))
	for _, r := range f.Regs[1:] {
		if r.Type == 0 {
			continue
		}
		l := s.u.Layout(r.Type)
		for _, c := range l.Ptrs {
			s.node(l.Cells[c].Type, 0)
		}
	}
	if got := uint32(len(s.rep)) - base; got != f.NumNode {
		for _, r := range f.Regs[1:] {
			fmt.Println(s.u.Types[r.Type].Name, r.Node, len(s.u.Layout(r.Type).Ptrs))
		}
		panic(fmt.Sprintf("pta: %s has %d variables, its registers make %d", f.Name, f.NumNode, got))
	}
	deep := uint32(len(s.rep))
	for range 2 * (len(f.Deeps) + len(f.Anys)) {
		s.node(0, 0)
	}
	s.insts = append(s.insts, Inst{Fn: fn, Ctx: ctx, Base: base, Deep: deep})
	s.fresh = append(s.fresh, id)
	return id
}

// leaves returns the number of pointer-like leaves of a register.
func (s *solver) leaves(f *facts.Func, r facts.Reg) int {
	if r == facts.NoReg || f.Regs[r].Type == 0 {
		return 0
	}
	return len(s.u.Layout(f.Regs[r].Type).Ptrs)
}

// pointsTo adds an element to a node, subject to the filter.
func (s *solver) pointsTo(n, p uint32, unsafe bool) {
	n = s.find(n)
	if !s.accepts(n, p, unsafe) {
		return
	}
	s.insert(n, p)
}

func (s *solver) insert(n, p uint32) {
	if s.pts[n] == nil {
		s.pts[n] = new(Set)
	}
	if s.pts[n].Add(p) {
		if s.delta[n] == nil {
			s.delta[n] = new(Set)
		}
		s.delta[n].Add(p)
		s.enqueue(n)
	}
}

func (s *solver) enqueue(n uint32) {
	if !s.queued[n] {
		s.queued[n] = true
		s.work = append(s.work, n)
	}
}

// accepts applies the type filter of node n to cell p.
//
//	(F1) a pointer, slice, map or channel holds only cells at which its target's
//	     shape starts
//	(F2) an interface holds boxes whose dynamic type implements it, and cells
//	     that reflection may have put there
//	(F3) a function value holds functions and closures
//	(F4) an object that was viewed at a foreign type fits everywhere
func (s *solver) accepts(n, p uint32, unsafe bool) bool {
	t := s.typ[n]
	if t == 0 {
		return true
	}
	o := &s.objs[s.obj[p]]
	if o.Untyped {
		return true
	}
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.Interface:
		if !s.isBox(o) {
			return true
		}
		return s.u.Implements(o.Type, t)
	case facts.FuncKind:
		return o.Kind == ObjFunc || s.isClosure(o)
	case facts.UnsafePointer, facts.Opaque:
		return true
	}
	shape, ok := s.u.Target(t)
	if !ok {
		return true
	}
	if o.Type != 0 && s.u.Layout(o.Type).Cells[p-o.Node].HasShape(shape) {
		return true
	}
	if unsafe && o.Kind != ObjFunc {
		s.untype(s.obj[p])
		return true
	}
	return false
}

func (s *solver) isBox(o *Object) bool {
	return o.Kind == ObjSite && s.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteBox
}

func (s *solver) isClosure(o *Object) bool {
	return o.Kind == ObjSite && s.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteClosure
}

// untype marks an object as viewed at a foreign type: (F4), and its cells
// become one variable, since any store may reach any of them.
func (s *solver) untype(id ObjID) {
	o := &s.objs[id]
	if o.Untyped {
		return
	}
	o.Untyped = true
	s.stats.Untyped++
	for i := range o.N {
		s.typ[s.find(o.Node+i)] = 0
		s.typ[o.Node+i] = 0
		s.untypedCells.Add(o.Node + i)
	}
	node, n := o.Node, o.N // s.objs may move below
	for i := uint32(1); i < n; i++ {
		s.copyEdge(node, node+i, false)
		s.copyEdge(node+i, node, false)
	}
	// What its cells refused to hand on for its type goes on now.
	for i := range n {
		c := s.find(node + i)
		if s.pts[c] != nil {
			s.filteredEdges(c, s.pts[c])
		}
	}
}

// copyEdge adds dst ⊇ src.
func (s *solver) copyEdge(src, dst uint32, unsafe bool) {
	src, dst = s.find(src), s.find(dst)
	if src == dst {
		return
	}
	if unsafe || s.needsFilter(src, dst) {
		set := s.fsucc[src]
		if unsafe {
			set = s.usucc[src]
		}
		if set == nil {
			set = new(Set)
			if unsafe {
				s.usucc[src] = set
			} else {
				s.fsucc[src] = set
			}
		}
		if set.Add(dst) {
			s.newEdges++
			if s.pts[src] != nil {
				s.flowFiltered(s.pts[src], dst, unsafe || s.untypedCell(src))
			}
		}
		return
	}
	if s.succ[src] == nil {
		s.succ[src] = new(Set)
	}
	if s.succ[src].Add(dst) {
		s.newEdges++
		if s.pts[src] != nil {
			s.flow(s.pts[src], dst)
		}
	}
}

// needsFilter reports whether dst may refuse something that src holds.
func (s *solver) needsFilter(src, dst uint32) bool {
	a, b := s.typ[src], s.typ[dst]
	if b == 0 || a == b {
		return false
	}
	kb := s.u.Types[b].Kind
	if kb == facts.UnsafePointer || kb == facts.Opaque {
		return false
	}
	if a == 0 {
		return true
	}
	if kb == facts.Interface {
		return len(s.u.Types[b].Methods) > 0
	}
	if kb == facts.FuncKind {
		return s.u.Types[a].Kind != facts.FuncKind
	}
	sa, oka := s.u.Target(a)
	sb, okb := s.u.Target(b)
	return !oka || !okb || sa != sb
}

func (s *solver) flow(from *Set, dst uint32) {
	if s.pts[dst] == nil {
		s.pts[dst] = new(Set)
	}
	if s.delta[dst] == nil {
		s.delta[dst] = new(Set)
	}
	if s.pts[dst].UnionDiff(from, s.delta[dst]) {
		s.enqueue(dst)
	}
}

func (s *solver) flowFiltered(from *Set, dst uint32, unsafe bool) {
	if t := s.typ[dst]; t != 0 && !unsafe {
		if shape, ok := s.u.Target(t); ok { // (F1), (F4) a word at a time
			var fit Set
			if int(shape) < len(s.shapeCells) && s.shapeCells[shape] != nil {
				fit.addMeet(from, s.shapeCells[shape])
			}
			fit.addMeet(from, &s.untypedCells)
			if !fit.Empty() {
				s.flow(&fit, dst)
			}
			return
		}
	}
	if t := s.typ[dst]; t == 0 {
		s.flow(from, dst)
		return
	} else if !unsafe {
		var fit, rest Set
		switch s.u.Types[t].Kind {
		case facts.UnsafePointer, facts.Opaque:
			s.flow(from, dst)
			return
		case facts.FuncKind: // (F3)
			fit.addMeet(from, &s.funcCells)
			fit.addMeet(from, &s.untypedCells)
		case facts.Interface: // (F2)
			fit.addMinus(from, &s.boxCells)
			rest.addMeet(from, &s.boxCells)
			rest.Each(func(p uint32) {
				if s.accepts(dst, p, false) {
					fit.Add(p)
				}
			})
		default:
			return
		}
		if !fit.Empty() {
			s.flow(&fit, dst)
		}
		return
	}
	// (F4): what does not fit becomes untyped, once an object; then all fits.
	var odd Set
	odd.addMinus(from, &s.untypedCells)
	for _, p := range odd.Elems(nil) {
		s.accepts(dst, p, true)
	}
	var fit Set
	from.Each(func(p uint32) {
		if s.untypedCells.Has(p) || s.accepts(dst, p, false) {
			fit.Add(p)
		}
	})
	if !fit.Empty() {
		s.flow(&fit, s.find(dst))
	}
}

// solve runs the worklist to its fixed point.
func (s *solver) solve() error {
	for {
		if err := s.drain(); err != nil {
			return err
		}
		if !s.unreached() {
			return nil
		}
	}
}

// drain processes the worklist until it is empty.
func (s *solver) drain() error {
	for len(s.work) > 0 || len(s.fresh) > 0 {
		for len(s.fresh) > 0 {
			id := s.fresh[0]
			s.fresh = s.fresh[1:]
			s.constrain(id, s.u.Funcs[s.insts[id].Fn])
			if err := s.tick(); err != nil {
				return err
			}
		}
		batch := s.work
		s.work = nil
		for _, n := range batch {
			s.queued[n] = false
			if s.rep[n] != n {
				continue // collapsed meanwhile
			}
			d := s.delta[n]
			if d == nil || d.Empty() {
				continue
			}
			s.delta[n] = nil
			if err := s.tick(); err != nil {
				return err
			}
			s.process(n, d)
		}
		if s.newEdges > s.collapseAt {
			s.collapse()
			s.collapseAt = s.newEdges + max(s.newEdges/2, 1<<14)
		}
	}
	return nil
}

func (s *solver) tick() error {
	s.steps++
	if s.steps&(1<<12-1) != 0 {
		return nil
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.cfg.Progress != nil {
		s.cfg.Progress(len(s.rep), len(s.insts), s.stats)
	}
	if s.cfg.MemLimit > 0 && s.steps&(1<<16-1) == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > s.cfg.MemLimit {
			return fmt.Errorf("%w: %d MB in use, %d nodes, %d function instances", ErrBudget, m.HeapAlloc>>20, len(s.rep), len(s.insts))
		}
	}
	return nil
}

// process propagates the new elements d of node n.
func (s *solver) process(n uint32, d *Set) {
	// Constraints may be added to n while they are walked: those see all of
	// pts(n) when they are added.
	if cs := s.cons[n]; len(cs) > 0 {
		elems := d.Elems(nil)
		for i := range cs {
			c := cs[i]
			for _, p := range elems {
				s.apply(n, c, p)
			}
		}
	}
	n = s.find(n)
	if s.succ[n] != nil {
		s.succ[n].Each(func(m uint32) {
			if m = s.find(m); m != n {
				s.flow(d, m)
			}
		})
	}
	s.filteredEdges(n, d)
}

// filteredEdges hands d on along the filtered edges out of n.
func (s *solver) filteredEdges(n uint32, d *Set) {
	if s.fsucc[n] != nil {
		unsafe := s.untypedCell(n)
		for _, to := range s.fsucc[n].Elems(nil) {
			if to = s.find(to); to != n {
				s.flowFiltered(d, to, unsafe)
			}
		}
	}
	if u := s.usucc[n]; u != nil {
		for _, to := range u.Elems(nil) {
			if to = s.find(to); to != n {
				s.flowFiltered(d, to, true)
			}
		}
	}
}

// untypedCell reports whether n is a cell of an object viewed at a foreign type.
func (s *solver) untypedCell(n uint32) bool { return s.obj[n] != 0 && s.objs[s.obj[n]].Untyped }

// on adds a constraint to a node and applies it to what the node holds.
func (s *solver) on(n uint32, c constraint) {
	n = s.find(n)
	s.cons[n] = append(s.cons[n], c)
	if s.pts[n] == nil {
		return
	}
	// What is still in delta will be seen by process; applying twice is harmless.
	for _, p := range s.pts[n].Elems(nil) {
		s.apply(n, c, p)
	}
}

// collapse merges the nodes of each cycle of unfiltered copy edges.
func (s *solver) collapse() {
	n := len(s.rep)
	index := make([]uint32, n)
	low := make([]uint32, n)
	onStack := make([]bool, n)
	var stack []uint32
	next := uint32(1)
	type frame struct {
		v     uint32
		succs []uint32
		i     int
	}
	var frames []frame
	for root := range n {
		r := uint32(root)
		if s.rep[r] != r || index[r] != 0 || s.succ[r] == nil {
			continue
		}
		frames = append(frames[:0], frame{v: r, succs: s.succ[r].Elems(nil)})
		index[r], low[r] = next, next
		next++
		stack = append(stack, r)
		onStack[r] = true
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.i < len(f.succs) {
				w := s.find(f.succs[f.i])
				f.i++
				if index[w] == 0 {
					index[w], low[w] = next, next
					next++
					stack = append(stack, w)
					onStack[w] = true
					var ss []uint32
					if s.succ[w] != nil {
						ss = s.succ[w].Elems(nil)
					}
					frames = append(frames, frame{v: w, succs: ss})
				} else if onStack[w] && index[w] < low[f.v] {
					low[f.v] = index[w]
				}
				continue
			}
			v := f.v
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				if p := frames[len(frames)-1].v; low[v] < low[p] {
					low[p] = low[v]
				}
			}
			if low[v] == index[v] {
				for {
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[w] = false
					if w == v {
						break
					}
					s.unite(v, w)
				}
			}
		}
	}
}

// unite merges node w into v. Nodes of one cycle of unfiltered edges hold the
// same sets at the fixed point. A merged node refuses nothing that one of its
// members accepted: members that differ in type get no filter.
func (s *solver) unite(v, w uint32) {
	v, w = s.find(v), s.find(w)
	if v == w {
		return
	}
	s.stats.Collapsed++
	s.rep[w] = v
	if s.typ[v] != s.typ[w] {
		sv, okv := facts.ShapeID(0), false
		sw, okw := facts.ShapeID(0), false
		if s.typ[v] != 0 {
			sv, okv = s.u.Target(s.typ[v])
		}
		if s.typ[w] != 0 {
			sw, okw = s.u.Target(s.typ[w])
		}
		if !okv || !okw || sv != sw {
			s.typ[v] = 0
		}
	}
	s.succ[v] = merged(s.succ[v], s.succ[w])
	s.succ[w] = nil
	s.fsucc[v] = merged(s.fsucc[v], s.fsucc[w])
	s.fsucc[w] = nil
	if u := s.usucc[w]; u != nil {
		s.usucc[v] = merged(s.usucc[v], u)
		delete(s.usucc, w)
	}
	s.cons[v] = append(s.cons[v], s.cons[w]...)
	s.cons[w] = nil
	all := new(Set)
	var diff Set
	if s.pts[v] != nil {
		all.UnionDiff(s.pts[v], &diff)
	}
	if s.pts[w] != nil {
		all.UnionDiff(s.pts[w], &diff)
	}
	s.pts[v], s.pts[w] = all, nil
	s.delta[w] = nil
	if !all.Empty() {
		// Everything is new to the constraints and edges of the other member.
		d := new(Set)
		var sink Set
		d.UnionDiff(all, &sink)
		s.delta[v] = d
		s.enqueue(v)
	}
}

// merged returns the union of two sets, either of which may be nil.
func merged(a, b *Set) *Set {
	if a == nil {
		return b
	}
	if b != nil {
		var diff Set
		a.UnionDiff(b, &diff)
	}
	return a
}
