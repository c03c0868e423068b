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

// Config chooses the context policy and the budget of an analysis. Policy must be
// set.
type Config struct {
	Policy Policy
	K      int // calling contexts: call sites; 0 means none, but for receivers (see the package comment)
	HK     int // elements of a heap context; -1: the policy's default (K for hybrid, K-1 for obj)
	// Packages are policies for the functions of some packages; the last that
	// matches counts.
	Packages []PackagePolicy
	// Effort is how much an analysis with contexts may copy (Stats.Effort) before
	// the packages that cost most lose their contexts and it starts again with
	// twice the limit; 0 is no limit. It measures time, but is the same in every
	// run.
	Effort int
	// MemLimit is how many bytes the heap of the process may have. Beyond, packages
	// lose their contexts as for Effort, and once none has any the analysis ends with
	// ErrBudget; 0 is no limit.
	MemLimit uint64
	// Progress, if set, is told now and then, by the goroutine that called Analyze,
	// how many nodes and instances there are.
	Progress func(nodes, insts int, st Stats)
	// Parallel holds the context keys (Result.CtxKey) of the instances of
	// TestRunner whose call is a start of a goroutine, because the test may call
	// t.Parallel.
	Parallel map[string]bool
}

// ErrBudget is returned when the analysis ran out of memory by its MemLimit.
var ErrBudget = errors.New("points-to analysis: memory budget exhausted")

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
	delta []*Set         // what copy edges have not seen
	late  []*Set         // what constraints have not seen
	succ  []*Set         // copy edges
	typ   []facts.TypeID // type of the leaf: the filter; 0 where merged nodes differ
	decl  []facts.TypeID // type of the leaf as declared
	obj   []ObjID        // object of a cell, 0 for variables
	cons  [][]constraint
	fsucc []*Set                  // copy edges that need the type filter
	usucc map[uint32][]unsafeEdge // the same for unsafe conversions
	// reach is, for each closure, the variable that holds all that the node's
	// content reaches, or 0.
	reach [closures][]uint32

	// Filters for whole sets: classes of types (class.go) and the cells at which
	// variables of them start, or which were viewed so; cells of boxes, functions and untyped objects; what was
	// decided for interface types.
	classes    []facts.TypeID // union-find
	classCells []*Set
	loose      map[facts.TypeID][]facts.ShapeID // by class: shapes of what its pointers may point to as well
	members    map[facts.TypeID][]facts.TypeID  // by class, if more than one
	asked      map[viewKey]bool                 // by converts and same
	looseFuncs map[facts.SkeletonID]bool        // functions to whose types unsafe converts
	looseOf    map[facts.ShapeID][]facts.TypeID // the same by shape
	viewedAs   map[uint32][]facts.TypeID        // by cell: types of views that start there, besides those declared
	boxCells   Set
	funcCells  Set // of functions, closures, and what unsafe makes functions of
	refCells   Set
	viewed     Set    // cells that have shapes of other types of the same size and kind
	worded     Set    // references that were viewed as words
	refWords   uint32 // what their words are
	// What code that is not known may have put into interfaces: pointers, or
	// variables there. Unsafe code that makes interfaces of words is taken to use
	// words of interfaces; a pointer there is itself.
	unknown    uint32
	boxed      Set
	awaited    Set // what set took for pointers alone before it was known to be boxed
	handleType facts.TypeID
	values     Set         // references and boxes
	valuesLike []*Set      // by skeleton: those that stand for a value of such a type
	ifaces     []*verdicts // by type
	ptrTo      map[facts.TypeID]facts.TypeID
	refs       map[ObjID][]uint32 // references to parts of an object
	ghostsOf   map[ObjID][]ObjID  // hidden cells that hang on an object
	refit      Set                // cells that filters may have refused before

	objReach  []uint32 // by object: the variable that holds all that the object reaches, or 0
	cellReach []uint32 // by cell: the variable that holds all that reflection lets a program reach from it, or 0
	reads     []deepRead
	reachTodo []reachJob // variables of reach and objReach to be filled
	unites    [][2]uint32
	owed      map[uint32]*Set // by merged node: what some of its edges have not seen

	// Variables and cells are numbered in blocks of their own, so that
	// points-to sets, which hold cells, are dense.
	next, end [2]uint32

	work    []uint64 // heap of order and node
	waiting []uint64 // order and node of those with late elements
	queued  []bool
	ord     []uint32 // topological order of the last collapse

	siteBase, callBase []uint32 // element numbers of functions
	nextElem           uint32
	elemFn             []facts.FuncID // the function an element belongs to
	edgeSet            map[edgeKey]bool
	this               map[thisKey]uint32             // receivers
	consIndex          map[uint32]map[sharedKey]int32 // by node
	havoc              map[uint32]map[fitKey]uint32   // by node and type: what the node holds and fits the type
	boxes              map[boxKey]ObjID
	wide               map[uint32]map[facts.TypeID]bool // by node: the types of which NewAt gives variables there
	stores             map[uint32]*stored               // by node: for storing what it holds
	spreads            map[uint32]*spread               // by node: what is stored into the variables that it stands for
	newEdges           int
	collapseAt         int
	collapsed          int // newEdges at the last collapse
	effort             int // elements copied since then
	lookEffort         int // effort, and new edges, after which cycles are looked for; tests lower them
	lookEdges          int
	steps              int
	ctx                context.Context
	fallback           []pendingCall
	fresh              []InstID // instances whose constraints are not added yet
	stats              Stats
	fits               map[viewKey]bool
	policy             []PackagePolicy // by function: Policy, K and HK
	sensitive          bool            // some function has contexts
	copies             map[facts.FuncID][]regCopy
	defs               map[facts.FuncID][]uint8
	prints             map[uint32]uint32
	printVisits        map[printVisit]bool
	news               map[newKey]int
}

// reachJob asks to fill the reach variable of an object, or of a node.
type reachJob struct {
	obj  ObjID
	cell uint32 // where obj is 0
	kind closure
	node uint32 // where both are 0
}

// newKey names a New row; at most maxNew objects of one row and context are
// told apart from those that other contexts make.
type newKey struct {
	inst InstID
	row  uint32
}

const maxNew = 16

// boxKey names the box of one type that goes into a node.
type boxKey struct {
	dst uint32
	typ facts.TypeID
}

// Analyze solves the points-to problem of p, from p.Root on. It fails only with
// ErrBudget or when ctx ends, with its error. It fills caches of p's Universe, so
// that two analyses over one Universe must not run at the same time. Cost: cubic in
// the size of the program at worst, with contexts in the number of instances; in
// practice the budget decides.
// Source: Andersen, Program analysis and specialization for the C programming
// language, DIKU 1994, chapter 4, for the constraints; the package comment names
// those of the policies.
func Analyze(ctx context.Context, p *facts.Program, cfg Config) (*Result, error) {
	var coarse []Coarse
	for attempt := 0; ; attempt++ {
		s := newSolver(ctx, p, cfg)
		root := s.instance(p.Root, 0)
		err := s.solve()
		if err == nil {
			r := s.result(root)
			r.Coarse = coarse
			return r, nil
		}
		if !errors.Is(err, errEffort) && !errors.Is(err, ErrBudget) {
			return nil, err
		}
		more := s.costliest(1 << (2 * attempt))
		switch {
		case len(more) > 0:
		case errors.Is(err, errEffort): // what has contexts is not what costs
			cfg.Effort = 0
			continue
		default:
			return nil, err
		}
		if s = nil; errors.Is(err, ErrBudget) {
			runtime.GC() // or what is left of this attempt counts for the next
		}
		coarse = append(coarse, more...)
		cfg.Effort *= 2 // or what is left may cost more than the limit, without contexts
		cfg.Packages = slices.Clone(cfg.Packages)
		for _, c := range more {
			cfg.Packages = append(cfg.Packages, PackagePolicy{Pattern: c.Pkg, Policy: Insens})
		}
	}
}

// newSolver returns a solver without constraints.
func newSolver(ctx context.Context, p *facts.Program, cfg Config) *solver {
	s := &solver{
		prog: p, u: p.Universe, cfg: cfg, ctxs: newContexts(), ctx: ctx,
		insts: make([]Inst, 1), instOf: map[instKey]InstID{},
		objs: make([]Object, 1), objOf: map[objKey]ObjID{}, objReach: make([]uint32, 1),
		edgeSet: map[edgeKey]bool{}, usucc: map[uint32][]unsafeEdge{}, havoc: map[uint32]map[fitKey]uint32{}, stores: map[uint32]*stored{}, boxes: map[boxKey]ObjID{}, wide: map[uint32]map[facts.TypeID]bool{}, members: map[facts.TypeID][]facts.TypeID{}, asked: map[viewKey]bool{}, looseFuncs: map[facts.SkeletonID]bool{}, loose: map[facts.TypeID][]facts.ShapeID{}, viewedAs: map[uint32][]facts.TypeID{}, looseOf: map[facts.ShapeID][]facts.TypeID{}, spreads: map[uint32]*spread{}, this: map[thisKey]uint32{}, owed: map[uint32]*Set{}, consIndex: map[uint32]map[sharedKey]int32{}, collapseAt: maxNewEdges, lookEffort: maxEffort, lookEdges: maxNewEdges,
		siteBase: make([]uint32, len(p.Funcs)), callBase: make([]uint32, len(p.Funcs)),
		ifaces: make([]*verdicts, len(p.Types)), ptrTo: map[facts.TypeID]facts.TypeID{}, news: map[newKey]int{}, fits: map[viewKey]bool{}, copies: map[facts.FuncID][]regCopy{}, prints: map[uint32]uint32{}, printVisits: map[printVisit]bool{}, defs: map[facts.FuncID][]uint8{}, refs: map[ObjID][]uint32{}, ghostsOf: map[ObjID][]ObjID{},
		nextElem: 1, elemFn: make([]facts.FuncID, 1),
	}
	s.node(0) // node 0 is unused
	s.unknown = s.node(0)
	s.on(s.unknown, constraint{kind: consUnknown})
	s.handleType = s.u.TypeByName("reflect.bfx_handle")
	// Elements are numbered before anything else, so that context keys mean the
	// same in every analysis of the program.
	for fn := range p.Funcs {
		if p.Funcs[fn] != nil {
			s.elemBase(facts.FuncID(fn))
		}
	}
	s.contexts()
	return s
}

// solve runs the worklist to its fixed point.
func (s *solver) solve() error {
	for {
		if err := s.settle(); err != nil {
			return err
		}
		if !s.unreached() {
			return s.deepReads()
		}
	}
}

// settle runs the worklist until nothing moves.
func (s *solver) settle() error {
	for {
		if err := s.drain(); err != nil {
			return err
		}
		if !s.refitAll() {
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
	s.forget(&refit)
	for i := range s.rep {
		n := uint32(i)
		if s.rep[n] != n || s.pts[n] == nil || len(s.cons[n]) == 0 && s.fsucc[n] == nil && len(s.usucc[n]) == 0 {
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

// maxEffort is how much is copied before cycles are looked for, if there are
// new edges: on the largest programs less cost more in looking, more in copying.
const maxEffort = 1 << 18

// maxNewEdges is how many edges are added before cycles are looked for. After
// much copying a part of it does.
const maxNewEdges = 1 << 14

// drain processes the worklist until it is empty.
func (s *solver) drain() error {
	for len(s.work) > 0 || len(s.waiting) > 0 || len(s.fresh) > 0 || len(s.reachTodo) > 0 || len(s.unites) > 0 {
		for len(s.fresh) > 0 {
			id := s.fresh[0]
			s.fresh = s.fresh[1:]
			s.constrain(id, s.u.Funcs[s.insts[id].Fn])
			if err := s.tick(); err != nil {
				return err
			}
		}
		if err := s.pending(); err != nil {
			return err
		}
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
			s.propagate(n, d)
			s.postpone(n, d)
			s.effort += 1 + d.Len()/64
			if s.effort > s.lookEffort && s.newEdges > s.collapsed+s.lookEdges/64 {
				if err := s.collapse(); err != nil {
					return err
				}
			}
			continue
		}
		if s.newEdges > s.collapseAt {
			if err := s.collapse(); err != nil {
				return err
			}
			continue
		}
		if err := s.constraints(); err != nil {
			return err
		}
	}
	return nil
}

// pending fills reach variables and merges nodes found to be equal. The edges of
// merged nodes get what some of them have not seen once all are merged.
func (s *solver) pending() error {
	for len(s.reachTodo) > 0 || len(s.unites) > 0 || len(s.owed) > 0 {
		for len(s.reachTodo) > 0 {
			j := s.reachTodo[len(s.reachTodo)-1]
			s.reachTodo = s.reachTodo[:len(s.reachTodo)-1]
			s.fillReach(j)
			if err := s.tick(); err != nil {
				return err
			}
		}
		for len(s.unites) > 0 {
			p := s.unites[len(s.unites)-1]
			s.unites = s.unites[:len(s.unites)-1]
			s.merge(p[0], p[1])
			if err := s.tick(); err != nil {
				return err
			}
		}
		if len(s.reachTodo) > 0 || len(s.owed) == 0 {
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(s.owed)) {
			if d := s.owed[n]; d != nil {
				delete(s.owed, n)
				s.propagate(s.find(n), d)
			}
		}
	}
	return nil
}

func (s *solver) tick() error {
	s.steps++
	if s.steps&(1<<6-1) != 0 {
		return nil
	}
	if s.cfg.Effort > 0 && s.stats.Effort > s.cfg.Effort && s.sensitive {
		return errEffort
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.cfg.Progress != nil {
		s.cfg.Progress(s.stats.Nodes, len(s.insts), s.stats)
	}
	if s.cfg.MemLimit > 0 && s.steps&(1<<12-1) == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > s.cfg.MemLimit {
			return fmt.Errorf("%w: %d MB in use, %d nodes, %d function instances", ErrBudget, m.HeapAlloc>>20, s.stats.Nodes, len(s.insts))
		}
	}
	return nil
}

// postpone keeps the new elements d of node n for its constraints, which wait
// until nothing more can be copied: they then see many elements at once.
func (s *solver) postpone(n uint32, d *Set) {
	if len(s.cons[n]) == 0 {
		return
	}
	if s.late[n] != nil {
		s.late[n].addAll(d)
		return
	}
	s.late[n] = d
	s.waiting = append(s.waiting, uint64(s.ord[n])<<32|uint64(n))
}

// constraints applies the constraints of all nodes that have late elements.
func (s *solver) constraints() error {
	todo := s.waiting
	s.waiting = nil
	slices.Sort(todo)
	for _, x := range todo {
		n := uint32(x)
		d := s.late[n]
		if s.rep[n] != n || d == nil {
			continue // merged meanwhile
		}
		s.late[n] = nil
		if err := s.tick(); err != nil {
			return err
		}
		s.constraintsOf(n, d)
	}
	return nil
}

// process shows the new elements d of node n to its edges and constraints.
func (s *solver) process(n uint32, d *Set) {
	s.propagate(n, d)
	s.constraintsOf(n, d)
}

// propagate copies the new elements d of node n along its edges.
func (s *solver) propagate(n uint32, d *Set) {
	if r := s.reach[everything][n]; r != 0 {
		s.reachObjects(d, n, r)
	}
	if r := s.reach[exported][n]; r != 0 {
		s.reachCells(d, n, r)
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
		s.flowUnsafe(d, s.find(e.via), e.mode, e.typ)
	}
}
