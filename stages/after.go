package stages

import (
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
type after struct {
	full    stage.Bits
	partial map[pta.InstID][]uint32
}

// newAfter computes the points of thread t after any of signals.
func newAfter(v *stage.View, t int, signals []spot) *after {
	a := &after{full: stage.NewBits(len(v.Res.Insts)), partial: map[pta.InstID][]uint32{}}
	var todo []spot
	push := func(s spot) {
		for _, p := range a.partial[s.Inst] {
			if p == s.Point {
				return
			}
		}
		a.partial[s.Inst] = append(a.partial[s.Inst], s.Point)
		todo = append(todo, s)
	}
	var whole []pta.InstID
	fill := func(n pta.InstID) { // (P2)
		if !v.Runs(t, n) || !a.full.Add(int(n)) {
			return
		}
		whole = append(whole, n)
		for len(whole) > 0 {
			m := whole[len(whole)-1]
			whole = whole[:len(whole)-1]
			for _, e := range v.Res.Insts[m].Out {
				if !stage.IsSpawn(e.Kind) && v.Has(m, e) && a.full.Add(int(e.Callee)) {
					whole = append(whole, e.Callee)
				}
			}
		}
	}
	for _, s := range signals {
		push(s)
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		fl := v.Flow(s.Inst)
		for _, e := range v.Res.Insts[s.Inst].Out {
			if stage.IsSpawn(e.Kind) || !v.Has(s.Inst, e) {
				continue
			}
			for _, p := range v.PointsOf(s.Inst, e.Kind, e.Row) {
				if fl.MayFollow(s.Point, p) {
					fill(e.Callee)
				}
			}
		}
		for _, c := range v.In(s.Inst) { // (P3)
			if stage.IsSpawn(c.Kind) || !v.Runs(t, c.Inst) {
				continue
			}
			for _, p := range v.PointsOf(c.Inst, c.Kind, c.Row) {
				push(spot{c.Inst, p})
			}
			if c.Kind == pta.EdgeAny {
				fill(s.Inst)
			}
		}
	}
	return a
}

// Has reports whether the point may execute after a signal.
func (a *after) Has(v *stage.View, n pta.InstID, p uint32) bool {
	if a.full.Has(int(n)) {
		return true
	}
	for _, s := range a.partial[n] {
		if v.Flow(n).MayFollow(s, p) {
			return true
		}
	}
	return false
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
