package mustnot

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// How the locksets are solved, and why that is cheap for many contexts:
//
//	(C1) releases and entries have one least or greatest solution, whatever the
//	     order; components of the call graph go one after the other, callees
//	     first for releases and callers first for entries, so that most instances
//	     are looked at once
//	(C2) an instance that is entered with nothing, takes no lock, and whose callees
//	     bring none back holds nothing anywhere: no flow through its body is needed
//	(C3) all sets are numbers in tables; what an operation gave is remembered
//	(C4) in the rounds for acquires, only what saw a change is computed again
//
// None of them changes the solution; TestSharing compares it with the plain one.

// solve computes releases, acquires and entries.
func (l *Locks) solve() {
	l.findRelevant()
	// Releases grow, acquires shrink only where releases grew: start with no
	// releases and no acquires, and go on until nothing changes. Acquires that
	// rest on a callee's grow in the rounds after its own are known.
	acquired := stage.NewBits(len(l.acquires)) // by the last round
	loosened := stage.NewBits(len(l.acquires)) // whose releases changed since
	stale := func(n pta.InstID) bool {         // (C4)
		for _, e := range l.v.Res.Insts[n].Out {
			if c := int(e.Callee); acquired.Has(c) || loosened.Has(c) {
				return true
			}
		}
		return false
	}
	// Releases first, without any credit for acquires of callees: the largest.
	l.findHolding()
	l.findReleases(nil, loosened)
	// Now acquires, bottom-up in rounds; each round's releases are recomputed
	// from scratch with the acquires known so far, which can only remove some.
	next := make([]held, len(l.acquires))
	for round := range 6 {
		clear(next)
		for _, n := range l.order {
			switch {
			case !l.holding.Has(int(n)): // (C2)
			case round == 0 || stale(n):
				next[n] = l.exit(n)
			default:
				next[n] = l.acquires[n]
			}
		}
		clear(acquired)
		clear(loosened)
		changed := false
		for _, n := range l.order {
			if next[n] != l.acquires[n] {
				acquired.Add(int(n))
				changed = true
			}
		}
		l.acquires, next = next, l.acquires
		if !changed {
			break
		}
		l.findHolding()
		l.findReleases(stale, loosened)
	}
	l.enter()
}

// findRelevant finds the instances that lock or unlock, or call one that does,
// numbers the cells that may be released, and orders the call graph.
func (l *Locks) findRelevant() {
	v := l.v
	var todo []pta.InstID
	mark := func(n pta.InstID) {
		if l.rel.Add(int(n)) {
			todo = append(todo, n)
		}
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects) == 0 {
			continue
		}
		for p := range f.Points {
			y, ok := l.opAt(n, f, uint32(p))
			if !ok {
				continue
			}
			mark(n)
			if y.acquire {
				l.takes.Add(i)
				continue
			}
			v.Res.PointsTo(n, y.obj, 0).Each(func(c uint32) {
				if _, ok := l.index[c]; !ok {
					l.index[c] = len(l.index)
				}
			})
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range v.In(n) {
			if !stage.IsSpawn(c.Kind) {
				mark(c.Inst)
			}
		}
	}
	l.cells = stage.NewPool(len(l.index))
	for _, n := range v.CallOrder() {
		if l.rel.Has(int(n)) {
			l.order = append(l.order, n)
		}
	}
	slices.Reverse(l.order)
}

// components calls f with the members of each component of the call graph, in
// the order of list.
func (l *Locks) components(list []pta.InstID, f func(members []pta.InstID)) {
	for len(list) > 0 {
		k := 1
		for k < len(list) && l.v.Component(list[k]) == l.v.Component(list[0]) {
			k++
		}
		f(list[:k])
		list = list[k:]
	}
}

// findHolding finds the instances that may hold something although entered with
// nothing. (C2)
func (l *Locks) findHolding() {
	clear(l.holding)
	for _, n := range l.order {
		if l.takes.Has(int(n)) {
			l.holding.Add(int(n))
			continue
		}
		for _, e := range l.v.Res.Insts[n].Out {
			if l.acquires[e.Callee] != nothing {
				l.holding.Add(int(n))
				break
			}
		}
	}
}

// findReleases computes the releases with the present acquires, as a smallest
// solution from nothing, of the components with a member that is stale (nil: of
// all). It adds to changed the instances whose releases are others than before.
func (l *Locks) findReleases(stale func(pta.InstID) bool, changed stage.Bits) {
	queued := stage.NewBits(len(l.releases))
	var before []stage.Set
	l.components(l.order, func(members []pta.InstID) {
		if stale != nil && !slices.ContainsFunc(members, stale) {
			return
		}
		before = before[:0]
		for _, n := range members {
			before = append(before, l.releases[n])
			l.releases[n] = stage.None
			queued.Add(int(n))
		}
		comp := l.v.Component(members[0])
		for again := true; again; {
			again = false
			for _, n := range members {
				if !queued.Has(int(n)) {
					continue
				}
				queued.Remove(int(n))
				r := l.summarise(n)
				if r == l.releases[n] {
					continue
				}
				l.releases[n] = r
				// Its callers see more, and so does n itself if it is one of them.
				for _, c := range l.v.In(n) {
					if !stage.IsSpawn(c.Kind) && l.v.Component(c.Inst) == comp && l.rel.Has(int(c.Inst)) {
						queued.Add(int(c.Inst))
						again = true
					}
				}
			}
		}
		for i, n := range members {
			if l.releases[n] != before[i] {
				changed.Add(int(n))
			}
		}
	})
}

// summarise returns n's releases with what its points may release unbalanced.
func (l *Locks) summarise(n pta.InstID) stage.Set {
	f := l.v.Res.Func(n)
	sh := l.shapeOf(f)
	out := l.releases[n]
	if !l.holding.Has(int(n)) { // (C2)
		for _, p := range sh.syncs {
			if y, ok := l.opAt(n, f, p); ok && !y.acquire {
				out = l.cells.Or(out, l.cellsOf(n, y.obj))
			}
		}
		for _, e := range l.v.Res.Insts[n].Out {
			if r := l.releases[e.Callee]; r != stage.None && !stage.IsSpawn(e.Kind) && l.v.Has(n, e) && sh.runs(e) {
				out = l.cells.Or(out, r)
			}
		}
		return out
	}
	l.walk(n, f, sh, l.flow(n, f, sh, nothing), func(sp *shapePoint, s held) {
		switch sp.kind {
		case sync:
			if y, ok := l.opAt(n, f, sp.point); ok && !y.acquire && !l.holds(n, sh, s, y.obj) {
				out = l.cells.Or(out, l.cellsOf(n, y.obj))
			}
		case call:
			for _, e := range l.v.EdgesAt(n, f.Points[sp.point]) {
				if r := l.releases[e.Callee]; r != stage.None && !stage.IsSpawn(e.Kind) && l.unbalanced(n, f, sh, e, s) {
					out = l.cells.Or(out, r)
				}
			}
		}
	})
	return out
}

// runs reports whether a reached point makes the call of an edge.
func (sh *shape) runs(e pta.Edge) bool {
	if e.Kind == pta.EdgeAny || e.Kind == pta.EdgeAnyGo {
		return sh.anys.Has(int(e.Row))
	}
	return sh.calls.Has(int(e.Row))
}

// unbalanced reports whether the callee of e may release what n does not surely
// hold by itself. A callee that releases exactly its parameter (Unlock itself)
// releases what n passes.
func (l *Locks) unbalanced(n pta.InstID, f *facts.Func, sh *shape, e pta.Edge, s held) bool {
	if s == nothing {
		return true
	}
	arg, ok := l.releasedParam(f, e)
	return !ok || !l.holds(n, sh, s, arg)
}

// releasedParam returns the argument whose target a callee releases, if the
// callee releases nothing else: its one release is of a parameter itself.
func (l *Locks) releasedParam(f *facts.Func, e pta.Edge) (facts.Reg, bool) {
	if e.Kind != pta.EdgeCall || !l.plainRelease(e.Callee) {
		return 0, false
	}
	g := l.v.Res.Func(e.Callee)
	call := &f.Calls[e.Row]
	for i, p := range g.Params {
		for _, y := range g.Syncs {
			if y.Op == facts.SyncRelease && y.Obj == p && call.Method == 0 && i < len(call.Args) && call.Args[i] != facts.NoReg {
				return call.Args[i], true
			}
		}
	}
	return 0, false
}

// plainRelease reports whether an instance does nothing but release.
func (l *Locks) plainRelease(n pta.InstID) bool {
	f := l.v.Res.Func(n)
	return len(f.Syncs) == 1 && len(f.Selects) == 0 && f.Syncs[0].Op == facts.SyncRelease && len(f.Calls)+len(f.Anys) == 0
}

// enter computes the entry states top-down, as a greatest fixed point.
func (l *Locks) enter() {
	v := l.v
	for i := range l.entry {
		l.entry[i] = unreached
	}
	queued := stage.NewBits(len(l.entry))
	push := func(c pta.InstID, s held) {
		if old := l.entry[c]; old != unreached {
			if s = l.sets.meet(old, s); s == old {
				return
			}
		}
		l.entry[c] = s
		queued.Add(int(c))
	}
	push(v.Res.Root, nothing)
	visit := func(n pta.InstID) {
		f := v.Res.Func(n)
		if f == nil {
			return
		}
		if rel := l.rel.Has(int(n)); l.entry[n] == nothing && !l.holding.Has(int(n)) { // (C2)
			for _, e := range v.Res.Insts[n].Out {
				if v.Has(n, e) && (!rel || l.shapeOf(f).runs(e)) {
					push(e.Callee, nothing)
				}
			}
			return
		}
		sh := l.shapeOf(f)
		l.walk(n, f, sh, l.flow(n, f, sh, l.entry[n]), func(sp *shapePoint, s held) {
			if sp.kind != call {
				return
			}
			for _, e := range v.EdgesAt(n, f.Points[sp.point]) {
				if stage.IsSpawn(e.Kind) {
					push(e.Callee, nothing) // (L1)
				} else {
					push(e.Callee, l.translateIn(n, f, sh, e, s))
				}
			}
		})
	}
	// What is spawned may come earlier in the order than where it is.
	for !queued.Empty() {
		l.components(v.CallOrder(), func(members []pta.InstID) {
			for again := true; again; {
				again = false
				for _, n := range members {
					if queued.Has(int(n)) {
						queued.Remove(int(n))
						visit(n)
						again = len(members) > 1
					}
				}
			}
		})
	}
}
