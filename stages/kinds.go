package stages

import (
	"encoding/binary"
	"slices"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Threads of one kind cannot be told apart by the order relation, so that one
// of them speaks for all: a server has hundreds of goroutines that may run at
// any time beside each other. A thread that is one goroutine, that a join waits
// for, or that signals, is alone of its kind. Others are of one kind if they
// may start the same threads, if the same may run where they are started, and
// if in each state at any point, and beside any thread, either all of them may
// run or none.

// kindOf stands for the threads of one kind that run an instance alike.
type kindOf struct {
	thread int // one of them
	count  int
	user   bool // under a call made in scope
}

// allAlone makes every thread alone of its kind and merges no order classes.
// Tests set it: results must be the same.
var allAlone bool

// findKinds computes kinds.
func (p *parallel) findKinds() {
	v, sets := p.v, p.run.sets
	used := p.run.used()
	for t := range v.Threads {
		used.Add(int(p.run.below[t]))
		used.Add(int(p.beside[t]))
	}
	alone := make([]bool, len(v.Threads))
	for t := range v.Threads {
		alone[t] = v.Threads[t].Single || allAlone
	}
	for j := range p.run.joins {
		for _, t := range p.run.joins[j].Joined {
			alone[t] = true
		}
	}
	for t := range v.Threads {
		alone[t] = alone[t] || len(p.wait.by[t]) > 0 || slices.ContainsFunc(p.wait.rivals, func(x rival) bool { return p.wait.startedIn(x, t, nil) })
	}
	p.kinds = make([]int, len(v.Threads))
	kinds := map[string]int{}
	for t := range v.Threads {
		var key []byte
		if alone[t] {
			key = binary.LittleEndian.AppendUint32(key, uint32(t))
		} else {
			key = binary.LittleEndian.AppendUint32(key, uint32(p.run.below[t]))
			key = binary.LittleEndian.AppendUint32(key, uint32(p.beside[t]))
			in, bits := byte(0), 0
			for s := range sets.Len() {
				if !used.Has(s) {
					continue
				}
				in <<= 1
				if sets.Has(stage.Set(s), t) {
					in |= 1
				}
				if bits++; bits%8 == 0 {
					key = append(key, in)
					in = 0
				}
			}
			key = append(key, in)
		}
		k, ok := kinds[string(key)]
		if !ok {
			k = len(kinds)
			kinds[string(key)] = k
		}
		p.kinds[t] = k
	}
}

// used returns the states that some group has at some point.
func (r *running) used() stage.Bits {
	seen := map[stage.Set]bool{}
	for _, g := range r.groups {
		for n := range g.entry {
			if !g.reach.Has(n) {
				continue
			}
			seen[g.entry[n]] = true
			if _, ok := g.rel[pta.InstID(n)]; ok {
				r.walk(g, pta.InstID(n), func(_ uint32, s stage.Set) { seen[s] = true })
			}
		}
	}
	out := stage.NewBits(r.sets.Len())
	for s := range seen {
		out.Add(int(s))
	}
	return out
}

// splitKey is what decides how the threads of an instance split into kinds; n
// only if the body of some Do runs it.
type splitKey struct {
	threads, user stage.Set
	n             pta.InstID
}

// kindsAt lists the kinds of thread that run n, apart by whether they run it
// under a call made in scope (user, a set of threads).
func (p *parallel) kindsAt(n pta.InstID, user stage.Set) []kindOf {
	key := splitKey{p.v.ThreadSet(n), user, 0}
	bodies := p.wait.bodiesWith(n)
	if len(bodies) > 0 {
		key.n = n
	}
	if l, ok := p.split[key]; ok {
		return l
	}
	type id struct {
		kind int
		user bool
		body stage.Set
	}
	at := map[id]int{}
	var list []kindOf
	for _, t := range p.v.ThreadsOf(n) {
		k := id{kind: p.kinds[t], user: p.v.ThreadPool().Has(user, t)}
		for _, b := range bodies { // a body of Do for some of them only
			if p.v.ThreadPool().Has(b.threads, t) {
				k.body = p.signals.Or(k.body, p.signals.One(b.signal))
			}
		}
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, kindOf{thread: t, user: k.user})
		}
		list[i].count++
	}
	p.split[key] = list
	return list
}

// maxMerge bounds the order classes that are compared with each other; beyond,
// each stands for itself, which costs time and proves the same.
const maxMerge = 1 << 12

// merge finds the order classes that the order relation does not tell apart:
// those that stand to every class as another does, for the same reason.
func (p *parallel) merge() {
	n := len(p.list)
	p.same = make([]*stage.OrderClass, n)
	copy(p.same, p.list)
	if n > maxMerge || allAlone {
		return
	}
	type reason struct {
		rule   string
		object uint32
	}
	reasons := map[reason]byte{}
	first := map[string]*stage.OrderClass{}
	row := make([]byte, n)
	for i, a := range p.list {
		for j, b := range p.list {
			row[j] = 0
			if o := p.decide(a, b); o != nil {
				var k reason
				switch o := o.(type) {
				case stage.Ordered:
					k = reason{o.Rule, o.Object}
				case stage.Signalled:
					k = reason{o.Rule, o.Cell}
				}
				c, ok := reasons[k]
				if !ok {
					if len(reasons) == 255 {
						copy(p.same, p.list) // too many to tell in a byte
						return
					}
					c = byte(len(reasons) + 1)
					reasons[k] = c
				}
				row[j] = c
			}
		}
		if old := first[string(row)]; old != nil {
			p.same[i] = old
		} else {
			first[string(row)] = a
		}
	}
}

// merged returns the class that stands for c.
func (p *parallel) merged(c *stage.OrderClass) *stage.OrderClass {
	if c.ID < len(p.same) {
		return p.same[c.ID]
	}
	return c
}
