package stages

import (
	"encoding/binary"

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
//	(H5) both lie in the body of one Once, which runs at most once
type parallel struct {
	v    *stage.View
	run  *running
	wait *awaited
	// beside[t] is what may run where t, or an ancestor of t, is started.
	beside  []stage.Bits
	classes map[string]*stage.OrderClass
	list    []*stage.OrderClass
	memo    map[[2]int]*stage.Ordered
	points  map[pointKey]*stage.OrderClass
	buf     []byte
}

type pointKey struct {
	t int
	n pta.InstID
	p uint32
}

func newParallel(v *stage.View, run *running, wait *awaited) *parallel {
	p := &parallel{v: v, run: run, wait: wait, classes: map[string]*stage.OrderClass{}, memo: map[[2]int]*stage.Ordered{}, points: map[pointKey]*stage.OrderClass{}}
	nt := len(v.Threads)
	at := make([]stage.Bits, nt)
	p.beside = make([]stage.Bits, nt)
	for c := 0; c < nt; c++ {
		at[c] = stage.NewBits(run.n)
		p.beside[c] = stage.NewBits(run.n)
		th := &v.Threads[c]
		if th.Spawner == 0 {
			continue
		}
		for _, t := range th.Parents {
			for _, q := range v.PointsOf(th.Spawner, th.Kind, th.Row) {
				at[c].Or(run.At(t, th.Spawner, q))
			}
			if th.Kind == pta.EdgeAnyGo { // any number at one point
				at[c].Or(run.start(c))
			}
		}
	}
	for c := range v.Threads {
		p.beside[c].Or(at[c])
		for d := range v.Threads {
			if v.Threads[c].Desc.Has(d) {
				p.beside[d].Or(at[c])
			}
		}
	}
	return p
}

// class returns the order class of point q of n in thread t.
func (p *parallel) class(t int, n pta.InstID, q uint32) *stage.OrderClass {
	k := pointKey{t, n, q}
	if c := p.points[k]; c != nil {
		return c
	}
	c := &stage.OrderClass{
		Thread: t, Running: p.run.At(t, n, q), After: stage.NewBits(len(p.run.joins)),
		Awaited: stage.NewBits(len(p.wait.signals)), Before: stage.NewBits(len(p.wait.signals)),
	}
	for j := range p.run.joins {
		if af := p.run.joins[j].after[t]; af != nil && af.Has(p.v, n, q) {
			c.After.Add(j)
		}
	}
	if len(p.wait.signals) > 0 {
		counts := p.wait.At(n, q)
		for i := range p.wait.signals {
			if counts != nil && counts[i] >= p.wait.signals[i].Need {
				c.Awaited.Add(i)
			}
			if p.wait.before(i, t, n, q) {
				c.Before.Add(i)
			}
		}
	}
	p.buf = binary.LittleEndian.AppendUint32(p.buf[:0], uint32(t))
	for _, b := range [...]stage.Bits{c.Running, c.After, c.Awaited, c.Before} {
		for _, w := range b {
			p.buf = binary.LittleEndian.AppendUint64(p.buf, w)
		}
	}
	key := string(p.buf)
	if old := p.classes[key]; old != nil {
		c = old
	} else {
		c.ID = len(p.list)
		p.classes[key] = c
		p.list = append(p.list, c)
	}
	p.points[k] = c
	return c
}

// paid reports whether an Add by thread t on the wait group beside cell finds
// the counter above zero: t itself is paid for and has not called Done.
func (p *parallel) paid(cell uint32, t int, a *stage.Access) bool {
	for i := range p.run.joins {
		j := &p.run.joins[i]
		if af := j.after[t]; j.Cell+1 == cell && af != nil && !af.Has(p.v, a.Inst, a.Point) {
			return true
		}
	}
	return false
}

// stopped reports whether no goroutine of a's thread can be at a while the
// elements s are what may run.
func (p *parallel) stopped(s stage.Bits, a *stage.OrderClass) bool {
	return !s.Has(a.Thread) || p.joined(s, a) != 0
}

// joined returns the wait group by which a's thread, as far as a, has been
// waited for where the elements s may run; 0 if there is none.
func (p *parallel) joined(s stage.Bits, a *stage.OrderClass) uint32 {
	for j := range p.run.joins {
		for i, c := range p.run.joins[j].Joined {
			if c == a.Thread && !s.Has(p.run.elem[j]+i) && !a.After.Has(j) {
				return p.run.joins[j].Cell
			}
		}
	}
	return 0
}

// ordered returns why accesses of two classes cannot happen in parallel, or nil.
func (p *parallel) ordered(a, b *stage.OrderClass) *stage.Ordered {
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

func (p *parallel) decide(a, b *stage.OrderClass) *stage.Ordered {
	for i := range p.wait.signals { // (H4), (H5)
		s := &p.wait.signals[i]
		rule := [...]string{"close", "send", "receive", "once", "wait"}[s.kind]
		switch {
		case a.Before.Has(i) && b.Awaited.Has(i):
			return &stage.Ordered{Rule: rule, Thread: a.Thread, Object: s.Cell}
		case b.Before.Has(i) && a.Awaited.Has(i):
			return &stage.Ordered{Rule: rule, Thread: b.Thread, Object: s.Cell}
		case s.kind == signalOnce && a.Before.Has(i) && b.Before.Has(i):
			return &stage.Ordered{Rule: "once", Thread: a.Thread, Object: s.Cell}
		}
	}
	if !p.stopped(a.Running, b) || !p.stopped(b.Running, a) || // (H1), (H2)
		!p.stopped(p.beside[a.Thread], b) || !p.stopped(p.beside[b.Thread], a) { // (H3)
		return nil
	}
	for _, x := range [...]struct {
		s stage.Bits
		c *stage.OrderClass
	}{{a.Running, b}, {b.Running, a}, {p.beside[a.Thread], b}, {p.beside[b.Thread], a}} {
		if x.s.Has(x.c.Thread) { // started, so a join stopped it
			return &stage.Ordered{Rule: "wait", Thread: x.c.Thread, Object: p.joined(x.s, x.c)}
		}
	}
	if a.Thread == b.Thread {
		return &stage.Ordered{Rule: "program order", Thread: a.Thread}
	}
	return &stage.Ordered{Rule: "go", Thread: a.Thread}
}
