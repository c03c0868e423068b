package stages

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// spot is a point of an instance.
type spot struct {
	Inst  pta.InstID
	Point uint32
}

// after is the set of points of one thread that may execute after one of some
// signals, in one goroutine of the thread.
//
//	(P1) in the signal's instance, what may follow the signal's point
//	(P2) the callees, whole, of calls that may follow
//	(P3) in every caller of an instance with such points, what may follow the
//	     call; the call's own callees only if the call may follow itself
//
// It is a may-set: a point outside it executes before the first signal only.
//
// (P3) does not depend on (P1) and (P2): the instances on the way up come first,
// each once, then the calls in them, then what those lead to. The last is the
// most, and is put off until it is asked for.
type after struct {
	partial map[pta.InstID]*region
	callees []pta.InstID // called where (P2) or (P3) say so
	full    stage.Bits   // what they lead to; nil: not yet found
}

// region is the part of one instance that may follow some of its points.
type region struct {
	blocks stage.Bits // followed as a whole
	least  []uint32   // by block: it is followed from after this point on
}

// add adds what may follow a point.
func (r *region) add(fl *stage.Flow, p uint32) {
	b := fl.Block(p)
	r.least[b] = min(r.least[b], p)
	r.blocks.Or(fl.Reach(b))
}

func (r *region) has(fl *stage.Flow, p uint32) bool {
	b := fl.Block(p)
	return r.least[b] < p || r.blocks.Has(b)
}

// newAfter computes the points of thread t after any of signals. Cost: the calls
// of the signals' instances and of their callers, direct or not, in t.
func newAfter(v *stage.View, t int, signals []spot) *after {
	a := &after{partial: map[pta.InstID]*region{}}
	var chain []pta.InstID
	push := func(n pta.InstID, p uint32) {
		r := a.partial[n]
		if r == nil {
			f := v.Flow(n).F
			r = &region{stage.NewBits(len(f.Blocks)), make([]uint32, len(f.Blocks))}
			for b := range r.least {
				r.least[b] = ^uint32(0)
			}
			a.partial[n] = r
			chain = append(chain, n)
		}
		r.add(v.Flow(n), p)
	}
	for _, s := range signals { // (P1)
		push(s.Inst, s.Point)
	}
	for i := 0; i < len(chain); i++ { // (P3)
		for _, c := range v.In(chain[i]) {
			if stage.IsSpawn(c.Kind) || !v.Runs(t, c.Inst) {
				continue
			}
			for _, p := range v.PointsOf(c.Inst, c.Kind, c.Row) {
				push(c.Inst, p)
			}
			if c.Kind == pta.EdgeAny && v.Runs(t, chain[i]) {
				a.callees = append(a.callees, chain[i])
			}
		}
	}
	for _, n := range chain { // (P2)
		fl, r := v.Flow(n), a.partial[n]
		for _, e := range v.Res.Insts[n].Out {
			if stage.IsSpawn(e.Kind) || !v.Has(n, e) || !v.Runs(t, e.Callee) {
				continue
			}
			if slices.ContainsFunc(v.PointsOf(n, e.Kind, e.Row), func(p uint32) bool { return r.has(fl, p) }) {
				a.callees = append(a.callees, e.Callee)
			}
		}
	}
	slices.Sort(a.callees)
	a.callees = slices.Compact(a.callees)
	return a
}

// Has reports whether the point may execute after a signal.
func (a *after) Has(v *stage.View, n pta.InstID, p uint32) bool {
	if a.full == nil {
		a.full = stage.NewBits(len(v.Res.Insts))
		todo := slices.Clone(a.callees)
		for _, n := range todo {
			a.full.Add(int(n))
		}
		for len(todo) > 0 {
			m := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, e := range v.Res.Insts[m].Out {
				if !stage.IsSpawn(e.Kind) && v.Has(m, e) && a.full.Add(int(e.Callee)) {
					todo = append(todo, e.Callee)
				}
			}
		}
	}
	return a.full.Has(int(n)) || a.within(v, n, p)
}

// HasAny reports whether one of a few spots may execute after a signal. It is Has
// by way of what leads to the spots, which the caller finds once (leading) and
// asks many sets about.
func (a *after) HasAny(v *stage.View, at []spot, lead stage.Bits) bool {
	for _, n := range a.callees {
		if lead.Has(int(n)) {
			return true
		}
	}
	return slices.ContainsFunc(at, func(s spot) bool { return a.within(v, s.Inst, s.Point) })
}

func (a *after) within(v *stage.View, n pta.InstID, p uint32) bool {
	r := a.partial[n]
	return r != nil && r.has(v.Flow(n), p)
}

// leading returns the instances of some spots and all that leads to them by
// calls.
func leading(v *stage.View, at []spot) stage.Bits {
	lead := stage.NewBits(len(v.Res.Insts))
	var todo []pta.InstID
	add := func(n pta.InstID) {
		if lead.Add(int(n)) {
			todo = append(todo, n)
		}
	}
	for _, s := range at {
		add(s.Inst)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range v.In(n) {
			if !stage.IsSpawn(c.Kind) {
				add(c.Inst)
			}
		}
	}
	return lead
}

// startsOf lists the points that start goroutines of thread t.
func startsOf(v *stage.View, t int) []spot {
	var out []spot
	for _, s := range v.Threads[t].Spawns {
		for _, p := range v.PointsOf(s.By, s.Kind, s.Row) {
			out = append(out, spot{s.By, p})
		}
	}
	return out
}
