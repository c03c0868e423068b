package pta

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

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
	ObjNew   // made by a model, of a type found at run time
	ObjArith // no object: an address somewhere in object Of, computed with unsafe
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
	Of     uint32         // ObjGhost: the cell it belongs to; ObjArith: the object
	// Untyped is set when a pointer into the object was converted to a type that
	// it does not have. An access through a pointer of a type that its cell does
	// not have touches the cells that it overlaps.
	Untyped bool
	blurred bool   // Untyped: accesses at other types touch all cells
	foreign uint32 // Untyped: the variable that holds what such stores stored
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
	typ   []facts.TypeID // type of the leaf: the filter; 0 where merged nodes differ
	decl  []facts.TypeID // type of the leaf as declared
	obj   []ObjID        // object of a cell, 0 for variables
	cons  [][]constraint
	fsucc []*Set                   // copy edges that need the type filter
	usucc map[uint32][]unsafeEdges // the same for unsafe conversions
	reach []uint32                 // the variable that holds all that the node's content reaches, or 0

	// Filters for whole sets: the cells at which a shape starts, or which were
	// viewed at it; those of boxes, functions and untyped objects; what was
	// decided for interface types.
	shapeCells   []*Set
	untypedCells Set
	boxCells     Set
	funcCells    Set
	ifaces       []*verdicts // by type
	ptrTo        map[facts.TypeID]facts.TypeID
	refit        Set // cells that filters may have refused before

	objReach  []uint32   // by object: the variable that holds all that the object reaches, or 0
	reachTodo []reachJob // variables of reach and objReach to be filled
	unites    [][2]uint32

	// Variables and cells are numbered in blocks of their own, so that
	// points-to sets, which hold cells, are dense.
	next, end [2]uint32

	work   []uint64 // heap of order and node
	queued []bool
	ord    []uint32 // topological order of the last collapse

	siteBase, callBase []uint32 // element numbers of functions
	nextElem           uint32
	elemFn             []facts.FuncID // the function an element belongs to
	edgeSet            map[edgeKey]bool
	thisSet            map[thisKey]bool
	havoc              map[uint32]map[facts.TypeID]uint32 // by node and type: what the node holds and fits the type
	newEdges           int
	collapseAt         int
	steps              int
	ctx                context.Context
	fallback           []pendingCall
	fresh              []InstID // instances whose constraints are not added yet
	stats              Stats
	fits               map[viewKey]bool
	copies             map[facts.FuncID][]regCopy
	prints             map[uint32]uint32
	news               map[newKey]int
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
	consLoad         consKind = iota // a = dst node, off: dst ⊇ content(o, c+off); typ: of the base
	consStore                        // a = src node, off
	consAddr                         // a = dst node, off
	consAssert                       // a = dst node (first leaf), typ
	consCall                         // static method call: inst, row
	consFn                           // call of a function value
	consInvoke                       // interface call
	consThis                         // receiver payload of an interface call: fn
	consHavoc                        // what node a holds may be stored into the cells; off 1: a is the node itself
	consShallow                      // a = dst node: what it directly points to
	consNew                          // a = dst node
	consGhost                        // a = dst node
	consAny                          // call every function: inst, row
	consPrint                        // a slice of operands; off = its block of variables
	consPrintOperand                 // an operand
	consPrintValue                   // what else printing visits
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

// verdicts are decisions of the filter of one interface type.
type verdicts struct{ known, yes Set }

// reachJob asks to fill the reach variable of an object, or of a node.
type reachJob struct {
	obj  ObjID
	node uint32
}

// newKey names a New row; at most maxNew objects of one row and context are
// told apart from those that other contexts make.
type newKey struct {
	inst InstID
	row  uint32
}

const maxNew = 64

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
		objs: make([]Object, 1), objOf: map[objKey]ObjID{}, objReach: make([]uint32, 1),
		edgeSet: map[edgeKey]bool{}, usucc: map[uint32][]unsafeEdges{}, havoc: map[uint32]map[facts.TypeID]uint32{}, thisSet: map[thisKey]bool{}, collapseAt: 1 << 14,
		siteBase: make([]uint32, len(p.Funcs)), callBase: make([]uint32, len(p.Funcs)),
		ifaces: make([]*verdicts, len(p.Types)), ptrTo: map[facts.TypeID]facts.TypeID{}, news: map[newKey]int{}, fits: map[viewKey]bool{}, copies: map[facts.FuncID][]regCopy{}, prints: map[uint32]uint32{},
		nextElem: 1, elemFn: make([]facts.FuncID, 1),
	}
	s.node(0) // node 0 is unused
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

// Nodes are numbered in blocks of blockSize, variables and cells apart.
const (
	blockSize = 1 << 12
	variables = 0
	cells     = 1
)

// nodes makes n nodes with adjacent numbers and returns the first.
func (s *solver) nodes(space, n int) uint32 {
	if uint32(n) > s.end[space]-s.next[space] {
		size := max(blockSize, n)
		first := uint32(len(s.rep))
		for i := range size {
			s.rep = append(s.rep, first+uint32(i))
		}
		s.pts = append(s.pts, make([]*Set, size)...)
		s.delta = append(s.delta, make([]*Set, size)...)
		s.succ = append(s.succ, make([]*Set, size)...)
		s.typ = append(s.typ, make([]facts.TypeID, size)...)
		s.decl = append(s.decl, make([]facts.TypeID, size)...)
		s.obj = append(s.obj, make([]ObjID, size)...)
		s.cons = append(s.cons, make([][]constraint, size)...)
		s.fsucc = append(s.fsucc, make([]*Set, size)...)
		s.reach = append(s.reach, make([]uint32, size)...)
		s.queued = append(s.queued, make([]bool, size)...)
		for range size {
			s.ord = append(s.ord, 1<<31) // not known yet
		}
		if n >= blockSize {
			s.stats.Nodes += n
			return first // a block of its own
		}
		s.next[space], s.end[space] = first, first+uint32(size)
	}
	s.stats.Nodes += n
	first := s.next[space]
	s.next[space] += uint32(n)
	return first
}

// node makes a variable of the given type.
func (s *solver) node(t facts.TypeID) uint32 {
	n := s.nodes(variables, 1)
	s.typ[n], s.decl[n] = t, t
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
	o := Object{Kind: k.kind, Type: t, Ctx: k.ctx, Inst: inst, N: 1}
	switch k.kind {
	case ObjSite:
		o.Fn, o.Site = facts.FuncID(k.a), facts.SiteID(k.b)
		o.elem = element(s.siteBase[k.a] + k.b)
	case ObjGlobal:
		o.Global = facts.GlobalID(k.a)
	case ObjFunc:
		o.Fn = facts.FuncID(k.a)
	case ObjGhost, ObjArith:
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
		o.Node = s.nodes(cells, 1)
		s.obj[o.Node] = id
	} else {
		l := s.u.Layout(t)
		o.N = uint32(len(l.Cells))
		o.Node = s.nodes(cells, len(l.Cells))
		for i := range l.Cells {
			c := &l.Cells[i]
			n := o.Node + uint32(i)
			s.typ[n], s.decl[n], s.obj[n] = c.Type, c.Type, id
			for _, k := range c.Keys {
				s.shape(k).Add(n)
			}
		}
	}
	s.objs = append(s.objs, o)
	s.objReach = append(s.objReach, 0)
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

// shape returns the set of cells at which shape k starts.
func (s *solver) shape(k facts.ShapeID) *Set {
	for int(k) >= len(s.shapeCells) {
		s.shapeCells = append(s.shapeCells, nil)
	}
	if s.shapeCells[k] == nil {
		s.shapeCells[k] = new(Set)
	}
	return s.shapeCells[k]
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
	deeps := 2 * (len(f.Deeps) + len(f.Anys))
	base := s.nodes(variables, int(f.NumNode)+deeps)
	n := base
	for _, r := range f.Regs[1:] {
		if r.Type == 0 {
			continue
		}
		l := s.u.Layout(r.Type)
		for _, c := range l.Ptrs {
			if n-base < f.NumNode {
				s.typ[n], s.decl[n] = l.Cells[c].Type, l.Cells[c].Type
			}
			n++
		}
	}
	if n-base != f.NumNode {
		panic(fmt.Sprintf("pta: %s has %d variables, its registers make %d", f.Name, f.NumNode, n-base))
	}
	s.insts = append(s.insts, Inst{Fn: fn, Ctx: ctx, Base: base, Deep: base + f.NumNode})
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
func (s *solver) pointsTo(n, p uint32) {
	n = s.find(n)
	if s.accepts(n, p) {
		s.insert(n, p)
	}
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

// insertAll adds all cells of an object to a node that refuses none.
func (s *solver) insertAll(n uint32, o *Object) {
	for i := range o.N {
		s.insert(n, o.Node+i)
	}
}

func (s *solver) enqueue(n uint32) {
	if !s.queued[n] {
		s.queued[n] = true
		s.push(uint64(s.ord[n])<<32 | uint64(n))
	}
}

// accepts applies the type filter of node n to cell p.
//
//	(F1) a pointer, slice, map or channel holds only cells at which its target's
//	     shape starts
//	(F2) an interface holds boxes whose dynamic type implements it, and cells
//	     that reflection may have put there: those at which a type starts that
//	     implements it, itself or through a pointer
//	(F3) a function value holds functions and closures
//	(F4) an object that was viewed at a foreign type fits where that type and
//	     the types in it do, and into interfaces and functions
func (s *solver) accepts(n, p uint32) bool {
	t := s.typ[n]
	if t == 0 {
		return true
	}
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.Interface:
		return len(ty.Methods) == 0 || s.implements(p, t)
	case facts.FuncKind:
		return s.funcCells.Has(p) || s.untypedCells.Has(p)
	}
	shape, ok := s.u.Target(t)
	return !ok || s.shape(shape).Has(p)
}

// implements decides (F2) for one cell and remembers the answer.
func (s *solver) implements(p uint32, t facts.TypeID) bool {
	v := s.ifaces[t]
	if v == nil {
		v = new(verdicts)
		s.ifaces[t] = v
	}
	if !v.known.Add(p) {
		return v.yes.Has(p) || s.untypedCells.Has(p)
	}
	o := &s.objs[s.obj[p]]
	yes := false
	switch {
	case s.isBox(o):
		yes = s.u.Implements(o.Type, t)
	case o.Type != 0:
		for _, x := range s.u.Layout(o.Type).Cells[p-o.Node].Types {
			if s.u.Implements(x, t) {
				yes = true
				break
			}
			if q := s.pointerTo(x); q != 0 && s.u.Implements(q, t) {
				yes = true
				break
			}
		}
	}
	if yes {
		v.yes.Add(p)
	}
	return yes || o.Untyped
}

// pointerTo returns the type *t, or 0 if the program does not have it.
func (s *solver) pointerTo(t facts.TypeID) facts.TypeID {
	q, ok := s.ptrTo[t]
	if !ok {
		q = s.u.TypeByName("*" + s.u.Types[t].Name)
		s.ptrTo[t] = q
	}
	return q
}

func (s *solver) isBox(o *Object) bool {
	return o.Kind == ObjSite && s.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteBox
}

func (s *solver) isClosure(o *Object) bool {
	return o.Kind == ObjSite && s.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteClosure
}

// view makes the object of cell p fit at type t (of a pointer, slice, map or
// channel), to which unsafe converted a pointer to it: (F4).
//
// The cells stay as they are for accesses through pointers of types that they
// have; foreignAccess says what others do.
func (s *solver) view(p uint32, t facts.TypeID) {
	id := s.obj[p]
	o := &s.objs[id]
	elem := s.target(t)
	for _, c := range s.u.Layout(elem).Cells {
		for _, k := range c.Keys {
			set := s.shape(k)
			for i := range o.N {
				if set.Add(o.Node + i) {
					s.refit.Add(o.Node + i)
				}
			}
		}
	}
	if o.Untyped {
		return
	}
	o.Untyped = true
	s.stats.Untyped++
	foreign := s.node(0)
	o.foreign = foreign
	for i := range o.N {
		s.untypedCells.Add(o.Node + i)
		s.refit.Add(o.Node + i)
	}
	if r := s.objReach[id]; r != 0 {
		s.copyEdge(s.contentReach(foreign), r, flows)
	}
}

// target returns the type of what a value of type t points to.
func (s *solver) target(t facts.TypeID) facts.TypeID {
	ty := &s.u.Types[t]
	if ty.Kind == facts.Map || ty.Kind == facts.Chan {
		return ty.Obj
	}
	return ty.Elem
}

// raw reports whether o is an array of bytes and t points to plain numbers.
func (s *solver) raw(o ObjID, t facts.TypeID) bool {
	ob := &s.objs[o]
	elem := s.target(t)
	if elem == 0 || ob.Type == 0 || ob.N != 1 || !s.isBytes(&s.u.Layout(ob.Type).Cells[0]) {
		return false
	}
	ok := true
	l := s.u.Layout(elem)
	for i := range l.Cells {
		s.words(&l.Cells[i], func(_ int64, w byte) { ok = ok && w != 'p' })
	}
	return ok
}

func (s *solver) isBytes(c *facts.Cell) bool {
	return c.Array != 0 && s.u.Types[c.Type].Shape == "uint8"
}

// viewKey names a question to plausible.
type viewKey struct {
	of, as facts.TypeID
	off    uint32
}

// plausible reports whether a pointer to cell p may be converted to type t by
// rule (1) of package unsafe: the target is no larger, and has an equivalent
// memory layout, that is, pointers where the object has pointers (the garbage
// collector needs that too). A target without pointers fits all memory, bytes
// fit any target, a uintptr fits a pointer. That programs keep to the rule is an
// assumption: without it, one function that converts to several types is taken
// to view all that it is handed at each of them.
func (s *solver) plausible(p uint32, ob *Object, t facts.TypeID) bool {
	elem := s.target(t)
	if ob.Type == 0 || elem == 0 {
		return false
	}
	k := viewKey{ob.Type, elem, p - ob.Node}
	if r, ok := s.fits[k]; ok {
		return r
	}
	r := s.plausibleView(k)
	s.fits[k] = r
	return r
}

func (s *solver) plausibleView(k viewKey) bool {
	have, want := s.u.Layout(k.of), s.u.Layout(k.as)
	base := &have.Cells[k.off]
	if base.Array == 0 && base.Off+s.u.Types[k.as].Size > s.u.Types[k.of].Size {
		return false
	}
	if len(want.Ptrs) == 0 {
		return true
	}
	if s.isBytes(base) {
		return true // an arena
	}
	words := map[int64]byte{}
	for i := range have.Cells {
		if c := &have.Cells[i]; c.Array == base.Array {
			s.words(c, func(off int64, w byte) { words[off] = w })
		}
	}
	ok := true
	for i := range want.Cells {
		c := &want.Cells[i]
		if c.Array != want.Cells[0].Array {
			continue
		}
		s.words(c, func(off int64, w byte) {
			if h := words[base.Off+off]; h != w && h != 'u' && w != 'u' && (h != 0 || w == 'p') {
				ok = false
			}
		})
	}
	return ok
}

// words tells f of each word of a cell whether it is a pointer ('p'), a number
// ('n') or a uintptr ('u').
func (s *solver) words(c *facts.Cell, f func(off int64, w byte)) {
	kinds := "n"
	switch ty := &s.u.Types[c.Type]; ty.Kind {
	case facts.Slice:
		kinds = "pnn"
	case facts.Interface:
		kinds = "pp"
	case facts.Scalar:
		switch ty.Shape {
		case "string":
			kinds = "pn"
		case "uintptr":
			kinds = "u"
		case "complex128":
			kinds = "nn"
		}
	default:
		kinds = "p"
	}
	for i := range len(kinds) {
		f(c.Off&^7+int64(8*i), kinds[i])
	}
}

// ptrCells returns the offsets of an object's pointer-like cells.
func (s *solver) ptrCells(o ObjID) []uint32 {
	if t := s.objs[o].Type; t != 0 {
		return s.u.Layout(t).Ptrs
	}
	return nil
}

// native reports whether a pointer of type t may point to cell p without the
// help of unsafe.
func (s *solver) native(p uint32, ob *Object, t facts.TypeID) bool {
	shape, ok := s.u.Target(t)
	return !ok || ob.Type != 0 && s.u.Layout(ob.Type).Cells[p-ob.Node].HasShape(shape)
}

// edgeMode says what a copy edge does with cells that do not fit its target.
type edgeMode uint8

const (
	// flows refuses them.
	flows edgeMode = iota
	// views makes them fit: an address is converted where it is taken.
	views
	// opaque is a conversion of an unsafe.Pointer that was passed or kept. It
	// refuses cells that do not fit, but for bytes that are viewed as numbers:
	// that such a pointer is converted back to a type that its object has is an
	// assumption.
	opaque
	// arithmetic gives an address somewhere in the object. A conversion of it to
	// a pointer gives the cells that have the type; in raw memory that has none,
	// the object viewed at the type. That arithmetic in a structured object leads
	// to a field of the type that the result is given is an assumption.
	arithmetic
)

// unsafeEdges are the copy edges out of one node of another mode than flows, to
// variables declared with type typ.
type unsafeEdges struct {
	mode edgeMode
	typ  facts.TypeID
	dst  *Set
}

// unsafeEdge adds such an edge and reports whether it is new.
func (s *solver) unsafeEdge(src, dst uint32, mode edgeMode, typ facts.TypeID) bool {
	es := s.usucc[src]
	for i := range es {
		if es[i].mode == mode && es[i].typ == typ {
			return es[i].dst.Add(dst)
		}
	}
	set := new(Set)
	set.Add(dst)
	s.usucc[src] = append(es, unsafeEdges{mode, typ, set})
	return true
}

// copyEdge adds dst ⊇ src.
func (s *solver) copyEdge(src, dst uint32, mode edgeMode) {
	s.typedEdge(src, dst, mode, s.decl[dst])
}

// typedEdge is copyEdge for a dst that was declared with type typ.
func (s *solver) typedEdge(src, dst uint32, mode edgeMode, typ facts.TypeID) {
	src, dst = s.find(src), s.find(dst)
	if src == dst && mode == flows {
		return
	}
	switch {
	case mode != flows:
		if s.unsafeEdge(src, dst, mode, typ) {
			s.newEdges++
			if s.pts[src] != nil {
				s.flowUnsafe(s.pts[src], dst, mode, typ)
			}
		}
	case s.needsFilter(src, dst):
		if s.fsucc[src] == nil {
			s.fsucc[src] = new(Set)
		}
		if s.fsucc[src].Add(dst) {
			s.newEdges++
			if s.pts[src] != nil {
				s.flowFiltered(s.pts[src], dst)
			}
		}
	default:
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
}

// needsFilter reports whether dst may refuse something that src holds.
func (s *solver) needsFilter(src, dst uint32) bool { return s.filters(s.typ[src], s.typ[dst]) }

// filters reports whether type b may refuse what type a holds.
func (s *solver) filters(a, b facts.TypeID) bool {
	if b == 0 || a == b {
		return false
	}
	switch s.u.Types[b].Kind {
	case facts.UnsafePointer, facts.Opaque:
		return false
	case facts.Interface:
		if len(s.u.Types[b].Methods) == 0 {
			return false
		}
		return a == 0 || s.u.Types[a].Kind != facts.Interface || !s.u.Implements(a, b)
	case facts.FuncKind:
		return a == 0 || s.u.Types[a].Kind != facts.FuncKind
	}
	if a == 0 {
		return true
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

// flowFiltered lets what dst accepts flow, a chunk at a time.
func (s *solver) flowFiltered(from *Set, dst uint32) {
	t := s.typ[dst]
	if t == 0 {
		s.flow(from, dst)
		return
	}
	var fit Set
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.UnsafePointer, facts.Opaque:
		s.flow(from, dst)
		return
	case facts.Interface: // (F2)
		if len(ty.Methods) == 0 {
			s.flow(from, dst)
			return
		}
		var fresh Set
		if v := s.ifaces[t]; v == nil {
			fresh.addAll(from)
		} else {
			fresh.addMinus(from, &v.known)
		}
		fresh.Each(func(p uint32) { s.implements(p, t) })
		fit.addMeet(from, &s.ifaces[t].yes)
		fit.addMeet(from, &s.untypedCells)
	case facts.FuncKind: // (F3)
		fit.addMeet(from, &s.funcCells)
		fit.addMeet(from, &s.untypedCells)
	default: // (F1)
		shape, ok := s.u.Target(t)
		if !ok {
			s.flow(from, dst)
			return
		}
		fit.addMeet(from, s.shape(shape))
	}
	if !fit.Empty() {
		s.flow(&fit, dst)
	}
}

// flowUnsafe lets everything flow: what does not fit is viewed at type t, with
// which dst was declared, from now on. An interface value seen as its words is what it holds, if that
// is a pointer, else a pointer to it.
func (s *solver) flowUnsafe(from *Set, dst uint32, mode edgeMode, t facts.TypeID) {
	if t == 0 {
		s.flow(from, dst)
		return
	}
	var add Set
	kind := s.u.Types[t].Kind
	if mode == arithmetic {
		last := noObj
		for _, p := range from.Elems(nil) {
			if o := s.obj[p]; o != last {
				last = o
				switch ob := &s.objs[o]; {
				case ob.Kind == ObjFunc, ob.Kind == ObjArith:
					add.Add(p)
				case ob.Kind != ObjGhost:
					add.Add(s.objs[s.object(objKey{ObjArith, uint32(o), 0, 0}, 0, 0)].Node)
				}
			}
		}
	} else {
		add.addAll(from)
	}
	if kind != facts.Interface {
		var boxes Set
		boxes.addMeet(from, &s.boxCells)
		for _, p := range boxes.Elems(nil) {
			o := &s.objs[s.obj[p]]
			if ty := s.u.Types[o.Type]; o.Node == p && ty.Kind.PointerLike() && ty.Kind != facts.Slice && ty.Kind != facts.Interface {
				s.typedEdge(p, dst, mode, t)
			}
		}
		dst = s.find(dst)
	}
	if shape, ok := s.u.Target(t); ok {
		var odd Set
		odd.addMinus(&add, s.shape(shape))
		for _, p := range odd.Elems(nil) {
			switch ob := &s.objs[s.obj[p]]; {
			case ob.Kind == ObjFunc:
			case ob.Kind == ObjArith:
				of := ob.Of
				b := &s.objs[of]
				found := false
				for i := range b.N {
					if s.native(b.Node+i, b, t) {
						found = true
						add.Add(b.Node + i)
					}
				}
				if !found && s.raw(ObjID(of), t) && s.plausible(b.Node, b, t) {
					s.view(b.Node, t)
					add.Add(s.objs[of].Node)
				}
			case !s.shape(shape).Has(p) && (mode == views || s.raw(s.obj[p], t)) && s.plausible(p, ob, t):
				s.view(p, t)
			}
		}
		dst = s.find(dst)
	}
	s.flowFiltered(&add, dst)
}

// push and pop keep the worklist as a heap: nodes go in the topological order
// of the copy edges, as far as it is known, so that what arrives on several
// paths goes on together.
func (s *solver) push(x uint64) {
	h := append(s.work, x)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h[p] <= x {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = x
	s.work = h
}

func (s *solver) pop() uint64 {
	h := s.work
	top := h[0]
	x := h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if x <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = x
	}
	s.work = h
	return top
}

// solve runs the worklist to its fixed point.
func (s *solver) solve() error {
	for {
		if err := s.drain(); err != nil {
			return err
		}
		if s.refitAll() {
			continue
		}
		if !s.unreached() {
			return nil
		}
	}
}

// refitAll hands on, once more, cells that fit more types than when filters and
// constraints saw them.
func (s *solver) refitAll() bool {
	if s.refit.Empty() {
		return false
	}
	refit := s.refit
	s.refit = Set{}
	for i := range s.rep {
		n := uint32(i)
		if s.rep[n] != n || s.pts[n] == nil || len(s.cons[n]) == 0 && s.fsucc[n] == nil {
			continue
		}
		var again Set
		again.addMeet(s.pts[n], &refit)
		if !again.Empty() {
			s.process(n, &again)
		}
	}
	return true
}

// drain processes the worklist until it is empty.
func (s *solver) drain() error {
	for len(s.work) > 0 || len(s.fresh) > 0 || len(s.reachTodo) > 0 || len(s.unites) > 0 {
		for len(s.fresh) > 0 {
			id := s.fresh[0]
			s.fresh = s.fresh[1:]
			s.constrain(id, s.u.Funcs[s.insts[id].Fn])
			if err := s.tick(); err != nil {
				return err
			}
		}
		s.pending()
		if len(s.work) > 0 {
			n := uint32(s.pop())
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
			s.collapseAt = s.newEdges + max(s.newEdges/8, 1<<14)
		}
	}
	return nil
}

// pending fills reach variables and merges nodes found to be equal.
func (s *solver) pending() {
	for len(s.reachTodo) > 0 || len(s.unites) > 0 {
		for len(s.reachTodo) > 0 {
			j := s.reachTodo[len(s.reachTodo)-1]
			s.reachTodo = s.reachTodo[:len(s.reachTodo)-1]
			s.fillReach(j)
		}
		for len(s.unites) > 0 {
			p := s.unites[len(s.unites)-1]
			s.unites = s.unites[:len(s.unites)-1]
			s.merge(p[0], p[1])
		}
	}
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
		s.cfg.Progress(s.stats.Nodes, len(s.insts), s.stats)
	}
	if s.cfg.MemLimit > 0 && s.steps&(1<<16-1) == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > s.cfg.MemLimit {
			return fmt.Errorf("%w: %d MB in use, %d nodes, %d function instances", ErrBudget, m.HeapAlloc>>20, s.stats.Nodes, len(s.insts))
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
	if s.reach[n] != 0 {
		s.reachObjects(d, s.reach[n])
	}
	if s.succ[n] != nil {
		s.succ[n].Each(func(m uint32) {
			if m = s.find(m); m != n {
				s.flow(d, m)
			}
		})
	}
	if s.fsucc[n] != nil {
		s.fsucc[n].Each(func(m uint32) {
			if m = s.find(m); m != n {
				s.flowFiltered(d, m)
			}
		})
	}
	for _, e := range s.usucc[n] {
		for _, m := range e.dst.Elems(nil) { // may grow: a box in a box
			s.flowUnsafe(d, s.find(m), e.mode, e.typ)
		}
	}
}

// on adds a constraint to a node and applies it to what the node holds.
func (s *solver) on(n uint32, c constraint) {
	n = s.find(n)
	s.cons[n] = append(s.cons[n], c)
	if s.pts[n] == nil {
		return
	}
	// What is still in delta is seen by process, all constraints at once.
	var old Set
	if d := s.delta[n]; d != nil {
		old.addMinus(s.pts[n], d)
	} else {
		old.addAll(s.pts[n])
	}
	for _, p := range old.Elems(nil) {
		s.apply(n, c, p)
	}
}

// Everything that is reachable. The variable of an object holds all its cells,
// and the variables of the objects that its cells point to; that of a node, the
// variables of the objects that it points to. They are shared by all that asks,
// and those of a cycle of objects collapse into one.

// contentReach returns the variable that holds all that node n reaches.
func (s *solver) contentReach(n uint32) uint32 {
	n = s.find(n)
	if s.reach[n] == 0 {
		s.reach[n] = s.node(0)
		s.reachTodo = append(s.reachTodo, reachJob{node: n})
	}
	return s.reach[n]
}

// closed notes that node n holds all that its elements reach.
func (s *solver) closed(n uint32) {
	n = s.find(n)
	if r := s.reach[n]; r != 0 {
		s.unites = append(s.unites, [2]uint32{n, r})
	} else {
		s.reach[n] = n
	}
}

func (s *solver) objectReach(o ObjID) uint32 {
	if s.objReach[o] == 0 {
		s.objReach[o] = s.node(0)
		s.reachTodo = append(s.reachTodo, reachJob{obj: o})
	}
	return s.objReach[o]
}

func (s *solver) fillReach(j reachJob) {
	if j.obj == 0 {
		n := s.find(j.node)
		if s.pts[n] != nil {
			s.reachObjects(s.pts[n], s.reach[n])
		}
		return
	}
	o := s.objs[j.obj]
	r := s.objReach[j.obj]
	s.insertAll(s.find(r), &o)
	if o.Kind == ObjArith {
		s.copyEdge(s.objectReach(ObjID(o.Of)), r, flows)
	}
	for _, c := range s.ptrCells(j.obj) {
		s.copyEdge(s.contentReach(o.Node+c), r, flows)
	}
	if o.Untyped {
		s.copyEdge(s.contentReach(o.foreign), r, flows)
	}
}

// reachObjects adds what the objects of d reach to variable r.
func (s *solver) reachObjects(d *Set, r uint32) {
	last, from := noObj, uint32(0)
	d.Each(func(p uint32) {
		if o := s.obj[p]; o != last {
			last = o
			if n := s.find(s.objectReach(o)); n != from { // often the same: a cycle
				from = n
				s.copyEdge(n, r, flows)
			}
		}
	})
}

// collapse merges the nodes of each cycle of unfiltered copy edges, and orders
// the rest.
func (s *solver) collapse() {
	n := len(s.rep)
	index := make([]uint32, n)
	low := make([]uint32, n)
	onStack := make([]bool, n)
	var stack []uint32
	next := uint32(1)
	done := uint32(0)
	type frame struct {
		v     uint32
		start int // of its successors in buf
		i     int
	}
	var frames []frame
	var buf []uint32 // the successors of the frames
	enter := func(v uint32) {
		index[v], low[v] = next, next
		next++
		stack = append(stack, v)
		onStack[v] = true
		frames = append(frames, frame{v: v, start: len(buf), i: len(buf)})
		if old := s.succ[v]; old != nil {
			set := new(Set)
			old.Each(func(w uint32) {
				if w = s.find(w); w != v && set.Add(w) {
					buf = append(buf, w)
				}
			})
			s.succ[v] = set
		}
	}
	for root := range n {
		r := uint32(root)
		if s.rep[r] != r || index[r] != 0 || s.succ[r] == nil {
			continue
		}
		enter(r)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.i < len(buf) {
				w := s.find(buf[f.i])
				f.i++
				if index[w] == 0 {
					enter(w)
				} else if onStack[w] && index[w] < low[f.v] {
					low[f.v] = index[w]
				}
				continue
			}
			v := f.v
			buf = buf[:f.start]
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				if p := frames[len(frames)-1].v; low[v] < low[p] {
					low[p] = low[v]
				}
			}
			if low[v] == index[v] {
				done++
				for {
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[w] = false
					s.ord[w] = ^done // who is finished last comes first
					if w == v {
						break
					}
					s.unites = append(s.unites, [2]uint32{v, w})
				}
			}
		}
	}
	s.pending()
	for v := range n {
		if s.rep[v] == uint32(v) {
			s.fsucc[v] = s.renamed(s.fsucc[v])
			s.dedupe(uint32(v))
		}
	}
	for _, es := range s.usucc {
		for i := range es {
			es[i].dst = s.renamed(es[i].dst)
		}
	}
}

// renamed replaces merged nodes by what they were merged into.
func (s *solver) renamed(set *Set) *Set {
	if set == nil {
		return nil
	}
	stale := false
	set.Each(func(x uint32) { stale = stale || s.rep[x] != x })
	if !stale {
		return set
	}
	out := new(Set)
	set.Each(func(x uint32) { out.Add(s.find(x)) })
	return out
}

// dedupe removes constraints that have become equal.
func (s *solver) dedupe(n uint32) {
	cs := s.cons[n]
	if len(cs) < 8 {
		return
	}
	seen := make(map[constraint]bool, len(cs))
	out := cs[:0]
	for _, c := range cs {
		if c.a != 0 {
			c.a = s.find(c.a)
		}
		if !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	s.cons[n] = out
}

// merge makes one node of two that hold the same at the fixed point: the nodes
// of a cycle of unfiltered edges, or cells of one type into which the same may
// be stored. A merged node refuses nothing that one of its members accepted:
// members that differ in type get no filter.
func (s *solver) merge(v, w uint32) {
	v, w = s.find(v), s.find(w)
	if v == w {
		return
	}
	if s.pts[v] == nil {
		s.pts[v] = new(Set)
	}
	if s.pts[w] == nil {
		s.pts[w] = new(Set)
	}
	if s.pts[w].Len() > s.pts[v].Len() {
		v, w = w, v
	}
	s.stats.Collapsed++
	// First each sees what is new to it.
	for _, x := range [2][2]uint32{{v, w}, {w, v}} {
		n, from := x[0], x[1]
		s.flow(s.pts[from], n)
		if d := s.delta[n]; d != nil && !d.Empty() {
			s.delta[n] = nil
			s.process(n, d)
		}
	}
	// Processing may have brought more.
	d := new(Set)
	for _, n := range [2]uint32{v, w} {
		if s.delta[n] != nil {
			d.addAll(s.delta[n])
			s.delta[n] = nil
		}
	}
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
	for _, e := range s.usucc[w] {
		for _, m := range e.dst.Elems(nil) {
			s.unsafeEdge(v, m, e.mode, e.typ)
		}
	}
	delete(s.usucc, w)
	s.cons[v] = append(s.cons[v], s.cons[w]...)
	s.cons[w] = nil
	if hv, hw := s.havoc[v], s.havoc[w]; hv == nil && hw != nil {
		s.havoc[v] = hw
	} else if hw != nil {
		for _, t := range slices.Sorted(maps.Keys(hw)) {
			if m, ok := hv[t]; ok {
				s.unites = append(s.unites, [2]uint32{m, hw[t]})
			} else {
				hv[t] = hw[t]
			}
		}
	}
	delete(s.havoc, w)
	if a, b := s.reach[v], s.reach[w]; a == 0 {
		s.reach[v] = b
	} else if b != 0 {
		s.unites = append(s.unites, [2]uint32{a, b})
	}
	var more Set
	s.pts[v].UnionDiff(s.pts[w], &more)
	d.addAll(&more)
	s.pts[w] = nil
	if !d.Empty() {
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
		a.addAll(b)
	}
	return a
}
