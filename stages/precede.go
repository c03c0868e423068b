package stages

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// What precedes a signal. An access, a point of one thread, precedes a spot of
// another or the same if, in every execution, each execution of the access
// happens before each of the spot:
//
//	(B1) they are of one goroutine, and the access cannot follow the spot
//	(B2) the access precedes every start of the goroutines that run the spot
//	(B3) the goroutine at the spot has waited for a signal that the access precedes
//	(B4) or no execution has both: they belong to two bodies of one Once (once.go)
//
// A join precedes what it waits for by its own rule, (S6).

// before reports whether every execution of the point by thread t precedes signal
// i: all of its spots, or some of them, as the signal's kind asks.
func (a *awaited) before(i, t int, n pta.InstID, p uint32) bool {
	return a.beforeSignal(i, t, n, p, nil)
}

// beforeSignal is before; within are the signals and threads that are being asked
// about, and cannot be reasons for themselves.
func (a *awaited) beforeSignal(i, t int, n pta.InstID, p uint32, within []int) bool {
	s := &a.signals[i]
	switch s.kind {
	case signalOnce, signalClaim, signalBody:
		return false // see once.go
	case signalWait:
		af := s.after[t]
		return af != nil && !af.Has(a.v, n, p)
	}
	if slices.Contains(within, -1-i) {
		return false
	}
	within = append(within[:len(within):len(within)], -1-i)
	for _, sp := range s.spots {
		if ok := a.spotAfter(t, n, p, sp, within); ok != s.all() {
			return ok
		}
	}
	return s.all() && len(s.spots) > 0
}

// spotAfter reports whether the point of thread t precedes a spot, whichever
// thread runs it.
func (a *awaited) spotAfter(t int, n pta.InstID, p uint32, sp spot, within []int) bool {
	for _, s := range a.v.ThreadsOf(sp.Inst) {
		if !a.spotOf(s, t, n, p, sp, within) {
			return false
		}
	}
	return true
}

// spotOf is spotAfter for a spot that thread s runs.
func (a *awaited) spotOf(s, t int, n pta.InstID, p uint32, sp spot, within []int) bool {
	if s == t && a.v.Threads[t].Single { // (B1)
		return !a.afterSpot(t, sp).Has(a.v, n, p)
	}
	if a.exclusive(t, n, s, sp.Inst) { // (B4)
		return true
	}
	if !slices.Contains(within, s) && s != 0 { // (B2)
		in := append(within[:len(within):len(within)], s)
		starts := startsOf(a.v, s)
		ok := len(starts) > 0
		for _, st := range starts {
			ok = ok && a.spotAfter(t, n, p, st, in)
		}
		if ok {
			return true
		}
	}
	for _, j := range a.signalsAt(sp) { // (B3)
		if a.beforeSignal(j, t, n, p, within) {
			return true
		}
	}
	return false
}

type threadSpot struct {
	t  int
	sp spot
}

// afterSpot is newAfter, cached.
func (a *awaited) afterSpot(t int, sp spot) *after {
	k := threadSpot{t, sp}
	af := a.afters[k]
	if af == nil {
		af = newAfter(a.v, t, []spot{sp})
		a.afters[k] = af
	}
	return af
}

// signalsAt lists the signals surely waited for before a spot.
func (a *awaited) signalsAt(sp spot) []int {
	if !a.solved {
		return nil
	}
	l, ok := a.atSpot[sp]
	if !ok {
		for i, n := range a.At(sp.Inst, sp.Point) {
			if n >= a.signals[i].Need {
				l = append(l, i)
			}
		}
		a.atSpot[sp] = l
	}
	return l
}

// findCandidates finds, for each thread, the signals that its accesses may
// precede: those of which it, or what it starts, runs spots; and those whose
// senders have waited for such.
func (a *awaited) findCandidates() {
	v := a.v
	up := make([]stage.Bits, len(v.Threads)) // of each thread, those that start it, and itself
	for t := range v.Threads {
		up[t] = stage.NewBits(len(v.Threads))
		up[t].Add(t)
	}
	for t := range v.Threads {
		for d := range v.Threads {
			if v.Threads[t].Desc.Has(d) {
				up[d].Add(t)
			}
		}
	}
	cand := make([]stage.Bits, len(a.signals))
	for i := range a.signals {
		cand[i] = stage.NewBits(len(v.Threads))
		for _, t := range a.signals[i].Senders {
			if a.signals[i].kind == signalWait {
				cand[i].Add(t)
			} else {
				cand[i].Or(up[t])
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range a.signals {
			for _, sp := range a.signals[i].spots {
				for _, j := range a.signalsAt(sp) {
					changed = cand[i].Or(cand[j]) || changed
				}
				// What those that start the sender have waited for, it has too.
			}
		}
	}
	joined := stage.NewBits(len(v.Threads))
	for i := range a.joins {
		for _, t := range a.joins[i].Joined {
			joined.Add(t)
		}
	}
	a.by = make([][]int, len(v.Threads))
	for t := range v.Threads {
		if !v.Threads[t].Single && !joined.Has(t) {
			continue // its accesses precede nothing
		}
		for i := range a.signals {
			if cand[i].Has(t) {
				a.by[t] = append(a.by[t], i)
			}
		}
	}
}
