package check

import (
	"fmt"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Report is what the checker says of claims.
type Report struct {
	// Closed: every claim about points-to sets, calls, escape, starts and locks
	// holds.
	Closed bool
	// Refuted counts the pairs of accesses, at each cell where they may meet, that
	// evidence refutes, by its kind; NotChecked those with evidence of kinds that
	// are not judged; Wrong those whose evidence does not hold; Open those without.
	Refuted, NotChecked map[string]int
	Wrong, Open         int
	// Bad is the evidence that does not hold, where it was asked for.
	Bad []*Evidence
	// Failed is the first claim that does not hold; nil if all do, or if the
	// program was refused.
	Failed *Failure
	// Refused counts the constructs of the program that no rule covers yet. With
	// any of them the claims are not Closed.
	Refused []Refusal
	// Assumed are what the facts of functions with instances say was not modelled.
	Assumed []facts.Assumption
}

// Proved reports whether the checker accepts that no two accesses of the program
// race of which the scope has the pair: all claims hold, and the evidence refutes every pair.
func (r *Report) Proved() bool {
	return r.Closed && r.Failed == nil && len(r.Refused) == 0 && len(r.NotChecked) == 0 && r.Wrong == 0 && r.Open == 0
}

// Failure is a claim that does not hold.
type Failure struct {
	Rule string // as shape.go, points.go and calls.go number them
	At   facts.Pos
	Text string
}

// Error says which rule a claim breaks, and where.
func (f *Failure) Error() string { return fmt.Sprintf("rule %s: %s", f.Rule, f.Text) }

// Refusal says how often a program has a construct that no rule covers.
type Refusal struct {
	Construct string
	At        facts.Pos // the first
	Count     int
}

// checker holds the claims and what follows from the program alone.
type checker struct {
	p       *facts.Program
	scope   func(pkg string) bool
	c       *Claims
	rep     *Report
	refused map[string]int // index in rep.Refused
	assumed map[facts.FuncID]bool

	objOf   []ObjID // by cell
	objType []facts.TypeID
	globals map[facts.GlobalID]ObjID
	ghosts  map[uint32][]ObjID // by cell that they hang on
	copies  map[ObjID]ObjID    // by box
	ptrTo   map[facts.TypeID]facts.TypeID
	subsets map[[2]SetID]bool

	instsOf map[facts.FuncID][]InstID
	callers [][]caller // by instance
	flows   map[facts.FuncID]*flow
	roots   map[facts.FuncID][]root
	once    Bits            // instances
	ones    map[uint32]bool // see oneVariable
	called  Bits            // see ours

	threads  []thread
	threadOf map[InstID]map[Edge]int
	runBy    [][]int // by instance: the threads that run it
	accesses []access
	bad      map[uint32]bool // see findBad

	signals   []signal
	numbers   [][]int          // of signals, by claimed one
	ofCell    map[uint32][]int // signals
	ops       map[uint32]*operations
	events    map[event]int
	happening map[InstID][]happening
	chanLocks map[uint32]SignalKind // channels that are locks
	tokens    map[uint32]At         // see first

	beside    []Bits // by thread
	places    map[[2]int][]place
	memo      map[At]Bits  // of done
	stateAt   map[At]State // of heldAt
	outsideDo map[[2]int]Bits
	before    map[question]judgement

	at               [][]int // accesses, by cell
	evidence         map[uint32]*CellEvidence
	free             map[uint32]judgement // see raceFree
	handed           map[ObjID]judgement
	holders          map[ObjID][]uint32 // see findHolders
	moved, finalized Bits
	kept             map[param]kept
	shift            Bits // see shifted
}

// Check judges claims about a program and its pairs in scope; see scope.go, nil is
// all. It reads nothing else, and calls nothing that made them. Bad claims, of whatever kind, are a Failure; it does not
// panic. Cost: one pass over the rows of every instance, and the pairs.
func Check(p *facts.Program, scope func(pkg string) bool, c *Claims) *Report {
	k := newChecker(p, c)
	k.scope = scope
	k.run(func() {
		if k.shape(); len(k.rep.Refused) > 0 {
			return // what other objects are made of is not known
		}
		if k.points(); len(k.rep.Refused) > 0 {
			return
		}
		k.control()
		k.more()
		if k.closed(); len(k.rep.Refused) > 0 {
			return
		}
		k.rep.Closed = true
		k.findBeside()
		k.findBad()
		k.pairs()
	})
	return k.rep
}

// Points judges the points-to sets and the call graph alone. What it refuses or
// fails, Check does too.
func Points(p *facts.Program, c *Claims) *Report {
	k := newChecker(p, c)
	k.run(func() {
		if k.shape(); len(k.rep.Refused) == 0 {
			k.points()
		}
	})
	return k.rep
}

func newChecker(p *facts.Program, c *Claims) *checker {
	return &checker{p: p, c: c, rep: &Report{Refuted: map[string]int{}, NotChecked: map[string]int{}}, assumed: map[facts.FuncID]bool{}, copies: map[ObjID]ObjID{}, ptrTo: map[facts.TypeID]facts.TypeID{},
		instsOf: map[facts.FuncID][]InstID{}, flows: map[facts.FuncID]*flow{}, roots: map[facts.FuncID][]root{}, ones: map[uint32]bool{},
		chanLocks: map[uint32]SignalKind{}, tokens: map[uint32]At{}, events: map[event]int{}, happening: map[InstID][]happening{}, bad: map[uint32]bool{}, outsideDo: map[[2]int]Bits{}, before: map[question]judgement{},
		free: map[uint32]judgement{}, handed: map[ObjID]judgement{}, kept: map[param]kept{}}
}

// control finds what follows from the call graph.
func (k *checker) control() {
	k.callers = make([][]caller, len(k.c.Insts))
	for i := 1; i < len(k.c.Insts); i++ {
		k.instsOf[k.c.Insts[i].Fn] = append(k.instsOf[k.c.Insts[i].Fn], InstID(i))
		for _, e := range k.c.Insts[i].Edges {
			k.callers[e.Callee] = append(k.callers[e.Callee], caller{InstID(i), e.Row})
		}
	}
	k.findOnce()
	k.findThreads()
	k.findAccesses()
	k.findOverwritten()
	k.findSignals()
	k.forget()
}

// forget forgets what follows from claims about what may be done and facts.
func (k *checker) forget() {
	k.places, k.memo, k.stateAt = map[[2]int][]place{}, map[At]Bits{}, map[At]State{}
}

// caller is a row of an instance with an edge to another.
type caller struct {
	inst InstID
	row  uint32
}

// stop ends the check at the first failure.
type stop struct{}

// run calls f and ends where a claim fails.
func (k *checker) run(f func()) {
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(stop); !ok {
				panic(e)
			}
		}
	}()
	f()
}

// fail says that a claim does not hold.
func (k *checker) fail(rule string, at facts.Pos, format string, args ...any) {
	k.rep.Failed = &Failure{rule, at, fmt.Sprintf(format, args...)}
	panic(stop{})
}

// refuse notes a construct that no rule covers.
func (k *checker) refuse(construct string, at facts.Pos) {
	if k.refused == nil {
		k.refused = map[string]int{}
	}
	i, ok := k.refused[construct]
	if !ok {
		i = len(k.rep.Refused)
		k.refused[construct] = i
		k.rep.Refused = append(k.rep.Refused, Refusal{construct, at, 0})
	}
	k.rep.Refused[i].Count++
}

func (k *checker) fn(i InstID) *facts.Func { return k.p.Funcs[k.c.Insts[i].Fn] }
func (k *checker) set(s SetID) []uint32    { return k.c.Sets[s] }
func (k *checker) has(s SetID, x uint32) bool {
	_, ok := slices.BinarySearch(k.c.Sets[s], x)
	return ok
}

// within reports whether set s is a subset of set t.
func (k *checker) within(s, t SetID) bool {
	if s == t || len(k.c.Sets[s]) == 0 {
		return true
	}
	key := [2]SetID{s, t}
	if ok, known := k.subsets[key]; known {
		return ok
	}
	b, ok := k.c.Sets[t], true
	for _, x := range k.c.Sets[s] {
		i, found := slices.BinarySearch(b, x)
		if !found {
			ok = false
			break
		}
		b = b[i+1:]
	}
	k.subsets[key] = ok
	return ok
}

// leaves returns the pointer-like leaves of a register.
func (k *checker) leaves(f *facts.Func, r facts.Reg) uint32 {
	if r == facts.NoReg || f.Regs[r].Type == 0 {
		return 0
	}
	return uint32(len(k.p.Layout(f.Regs[r].Type).Ptrs))
}

// pts returns what a leaf of a register may point to.
func (k *checker) pts(i InstID, r facts.Reg, leaf uint32) SetID {
	f := k.fn(i)
	if k.leaves(f, r) <= leaf {
		return 0
	}
	return k.c.Insts[i].Vars[f.Regs[r].Node+leaf]
}

// single returns the one cell that a register points to, if there is just one.
func (k *checker) single(i InstID, r facts.Reg) (uint32, bool) {
	if s := k.set(k.pts(i, r, 0)); len(s) == 1 {
		return s[0], true
	}
	return 0, false
}

// cells returns the number of cells of an object.
func (k *checker) cells(o ObjID) uint32 {
	if k.objType[o] == 0 {
		return 1
	}
	return uint32(len(k.p.Layout(k.objType[o]).Cells))
}

// at returns the position of the first point that runs a row.
func at(f *facts.Func, op facts.Op, row int) facts.Pos {
	for _, pt := range f.Points {
		if pt.Op == op && int(pt.Row) == row && pt.Pos.Valid() {
			return pt.Pos
		}
	}
	return f.Pos
}
