package stages

import (
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// parallel decides which accesses may happen in parallel. For two goroutines
// there is a lowest common ancestor in the tree of starts, so that (H1) to (H3)
// are all the ways in which they can overlap:
//
//	(H1) the first is an ancestor of the second and runs while that one may
//	(H2) the other way round
//	(H3) an ancestor of both starts one (or its ancestor) while the other may run
//
// Where one of them is possible, the pair is still ordered if
//
//	(H4) one access precedes every signal of an object that the other has
//	     waited for (awaited.go)
//	(H5) both lie in the body of one Once, which runs at most once, or behind one
//	     branch that is taken at most once (claims.go)
//	(H6) both are by one goroutine, though where it is started comes round again
//	(H7) they belong to two bodies of one Once, of which one runs at most (once.go)
type parallel struct {
	v    *stage.View
	run  *running
	wait *awaited
	// beside[t] is what may run where t, or an ancestor of t, is started.
	beside  []stage.Set // in run.sets
	kinds   []int       // by thread, see findKinds
	after   *stage.Pool // of sets of joins
	signals *stage.Pool // of sets of signals
	classes map[classKey]*stage.OrderClass
	list    []*stage.OrderClass
	memo    map[[2]int]stage.Evidence
	same    []*stage.OrderClass // by class: the one that stands for it, see merge
	at      map[instPoint][]*stage.OrderClass
	split   map[splitKey][]kindOf
}

type classKey struct {
	kind                            int
	running, after, awaited, before stage.Set
}

type instPoint struct {
	n pta.InstID
	p uint32
}

func newParallel(v *stage.View, run *running, wait *awaited) *parallel {
	nt := len(v.Threads)
	p := &parallel{v: v, run: run, wait: wait, classes: map[classKey]*stage.OrderClass{}, memo: map[[2]int]stage.Evidence{},
		beside: make([]stage.Set, nt), after: stage.NewPool(len(run.joins)), signals: stage.NewPool(len(wait.signals)),
		at: map[instPoint][]*stage.OrderClass{}, split: map[splitKey][]kindOf{}}
	sets := run.sets
	for c := range v.Threads {
		at := stage.None
		for _, s := range v.Threads[c].Spawns {
			for _, t := range v.ThreadsOf(s.By) {
				for _, q := range v.PointsOf(s.By, s.Kind, s.Row) {
					at = sets.Or(at, run.At(t, s.By, q))
				}
			}
			if s.Kind == pta.EdgeAnyGo { // any number at one point
				at = sets.Or(at, run.start[c])
			}
		}
		p.beside[c] = sets.Or(p.beside[c], at)
		for d := range v.Threads {
			if v.Threads[c].Desc.Has(d) {
				p.beside[d] = sets.Or(p.beside[d], at)
			}
		}
	}
	p.findKinds()
	return p
}

// class returns the order class of point q of n in thread t, where awaited is
// what it has waited for.
func (p *parallel) class(t int, n pta.InstID, q uint32, awaited stage.Set) *stage.OrderClass {
	k := classKey{kind: p.kinds[t], running: p.run.At(t, n, q), awaited: awaited}
	for j := range p.run.joins {
		if af := p.run.joins[j].after[t]; af != nil && af.Has(p.v, n, q) {
			k.after = p.after.Or(k.after, p.after.One(j))
		}
	}
	for _, i := range p.wait.by[t] {
		if p.wait.before(i, t, n, q) {
			k.before = p.signals.Or(k.before, p.signals.One(i))
		}
	}
	for _, i := range p.wait.claims[n] {
		if p.wait.signals[i].claim.has(p.v, n, q) {
			k.before = p.signals.Or(k.before, p.signals.One(i))
		}
	}
	for _, x := range p.wait.rivals {
		if p.wait.startedIn(x, t, nil) {
			k.before = p.signals.Or(k.before, p.signals.One(x.signal))
		}
	}
	for _, b := range p.wait.bodiesWith(n) {
		if p.v.ThreadPool().Has(b.threads, t) {
			k.before = p.signals.Or(k.before, p.signals.One(b.signal))
		}
	}
	if c := p.classes[k]; c != nil {
		return c
	}
	c := &stage.OrderClass{
		ID: len(p.list), Thread: t, Running: p.run.sets.Bits(k.running), Beside: p.run.sets.Bits(p.beside[t]),
		After: p.after.Bits(k.after), Awaited: p.signals.Bits(k.awaited), Before: p.signals.Bits(k.before),
	}
	p.classes[k] = c
	p.list = append(p.list, c)
	return c
}

// paid reports whether an Add by thread t on the wait group beside cell finds
// the counter above zero: t itself is paid for and has not called Done.
func (p *parallel) paid(cell uint32, t int, a *stage.Access) bool {
	for i := range p.run.joins {
		j := &p.run.joins[i]
		if af := j.after[t]; j.tally == nil && j.Cell+1 == cell && af != nil && !af.Has(p.v, a.Inst, a.Point) {
			return true
		}
	}
	return false
}

// stopped reports whether no goroutine of a's thread can be at a while the
// elements s are what may run.
func (p *parallel) stopped(s stage.Bits, a *stage.OrderClass) bool {
	return !s.Has(a.Thread) || p.joined(s, a) != nil
}

// joined returns the join by which a's thread, as far as a, has been waited for where
// the elements s may run; nil if there is none.
func (p *parallel) joined(s stage.Bits, a *stage.OrderClass) *join {
	for j := range p.run.joins {
		for i, c := range p.run.joins[j].Joined {
			if c == a.Thread && !s.Has(p.run.elem[j]+i) && !a.After.Has(j) {
				return &p.run.joins[j]
			}
		}
	}
	return nil
}

// ordered returns why accesses of two classes cannot happen in parallel, or nil.
func (p *parallel) ordered(a, b *stage.OrderClass) stage.Evidence {
	k := [2]int{a.ID, b.ID}
	if a.ID > b.ID {
		k = [2]int{b.ID, a.ID}
	}
	if o, ok := p.memo[k]; ok {
		return o
	}
	o := p.decide(a, b)
	p.memo[k] = o
	return o
}

func (p *parallel) decide(a, b *stage.OrderClass) stage.Evidence {
	if a.Thread == b.Thread && p.v.Threads[a.Thread].Single { // (H6)
		rule := "program order"
		if !p.stopped(a.Running, b) || !p.stopped(b.Running, a) || !p.stopped(a.Beside, b) || !p.stopped(b.Beside, a) {
			rule = "one goroutine"
		}
		return stage.Ordered{Rule: rule, Thread: a.Thread}
	}
	for _, x := range p.wait.rivals { // (H7)
		for _, y := range p.wait.rivals {
			if x != y && x.cell == y.cell && a.Before.Has(x.signal) && b.Before.Has(y.signal) {
				return p.wait.signals[x.signal].evidence(a.Thread)
			}
		}
	}
	for i := range p.wait.signals { // (H4), (H5)
		s := &p.wait.signals[i]
		switch {
		case a.Before.Has(i) && b.Awaited.Has(i):
			return s.evidence(a.Thread)
		case b.Before.Has(i) && a.Awaited.Has(i):
			return s.evidence(b.Thread)
		case (s.kind == signalOnce || s.kind == signalClaim) && a.Before.Has(i) && b.Before.Has(i):
			return s.evidence(a.Thread)
		}
	}
	if !p.stopped(a.Running, b) || !p.stopped(b.Running, a) || // (H1), (H2)
		!p.stopped(a.Beside, b) || !p.stopped(b.Beside, a) { // (H3)
		return nil
	}
	for _, x := range [...]struct {
		s stage.Bits
		c *stage.OrderClass
	}{{a.Running, b}, {b.Running, a}, {a.Beside, b}, {b.Beside, a}} {
		if x.s.Has(x.c.Thread) { // started, so a join stopped it
			j := p.joined(x.s, x.c)
			return stage.Ordered{Rule: j.rule(), Thread: x.c.Thread, Object: j.Cell}
		}
	}
	if a.Thread == b.Thread {
		return stage.Ordered{Rule: "program order", Thread: a.Thread}
	}
	return stage.Ordered{Rule: "go", Thread: a.Thread}
}

// classesAt returns the order classes of an access, one for each of the kinds
// of thread that run its instance.
func (p *parallel) classesAt(kinds []kindOf, a *stage.Access) []*stage.OrderClass {
	k := instPoint{a.Inst, a.Point}
	if l, ok := p.at[k]; ok {
		return l
	}
	awaited := stage.None
	if counts := p.wait.At(a.Inst, a.Point); counts != nil {
		for i := range p.wait.signals {
			if counts[i] >= p.wait.signals[i].Need {
				awaited = p.signals.Or(awaited, p.signals.One(i))
			}
		}
	}
	l := make([]*stage.OrderClass, len(kinds))
	for i := range kinds {
		l[i] = p.class(kinds[i].thread, a.Inst, a.Point, awaited)
	}
	p.at[k] = l
	return l
}
