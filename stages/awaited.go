package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// awaited is the must-analysis of completed waits: the relation
// awaited(N, I, signal, count), a lower bound of the number of waits for each
// signal that happen before the point.
//
//	(A1) the initial goroutine starts with none
//	(A2) a wait adds one, up to Need; it counts where it surely is for this object
//	(A3) states meet by minimum, over callers, starts of goroutines and paths:
//	     what the starter has waited for, the started inherits
//	(A4) a call adds the least that any return of any callee added
//	(A5) what panics takes the state before the point
type awaited struct {
	r           *run
	v           *stage.View
	overwritten func(cell uint32) bool
	signals     []signal
	joins       []join
	ops         map[uint32]*chanOps
	byCell      map[uint32][]int // signals by their cells, but for flags and (S9)
	by          [][]int          // signals that accesses of a thread may precede
	late        map[int][]int    // by signal: the threads that (S6) lets wait
	starts      map[int]*after   // by thread with one parent: what may follow its starts
	// ownWaits are the joins of signals of kind wait.
	ownWaits   map[int]*join
	edge       map[facts.FuncID]*edgeRegs
	waits      map[spot][]int // signals waited for, by point
	placeSpots []spot         // sends, receives and acquires outside select, for (S9)
	edgeWaits  map[edgeKey][]int
	gens       []bool // instances that wait, or call one that does
	sum        [][]uint8
	entry      [][]uint8
	blocks     map[pta.InstID][][]uint8
	solved     bool
	afters     map[threadSpot]*after
	atSpot     map[spot][]int
	// bodies of Do and of claims, found when first asked for.
	bodies      []body
	bodiesFound bool
	claims      map[pta.InstID][]int // signals, by instance
	// Bodies of Onces with several, and which threads run what outside of them.
	rivals  []rival
	outside map[rival][]stage.Set
}

func newAwaited(r *run, v *stage.View, joins []join) *awaited {
	a := &awaited{r: r, v: v, joins: joins, overwritten: r.over.Has, ops: map[uint32]*chanOps{}, byCell: map[uint32][]int{},
		late: map[int][]int{}, starts: map[int]*after{}, ownWaits: map[int]*join{}, waits: map[spot][]int{}, edgeWaits: map[edgeKey][]int{},
		afters: map[threadSpot]*after{}, atSpot: map[spot][]int{}}
	a.findSignals(r.lock)
	a.solve()
	a.solved = true
	a.findCandidates()
	return a
}

func (a *awaited) solve() {
	v := a.v
	a.sum = make([][]uint8, len(v.Res.Insts))
	a.entry = make([][]uint8, len(v.Res.Insts))
	a.gens = make([]bool, len(v.Res.Insts))
	a.blocks = map[pta.InstID][][]uint8{}
	if len(a.signals) == 0 {
		return
	}
	var list, todo []pta.InstID
	mark := func(n pta.InstID) {
		if !a.gens[n] {
			a.gens[n] = true
			list = append(list, n)
			todo = append(todo, n)
		}
	}
	waiting := map[pta.InstID]bool{}
	for sp := range a.waits {
		waiting[sp.Inst] = true
	}
	for e := range a.edgeWaits {
		waiting[e.n] = true
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		id := pta.InstID(i)
		if v.Res.Func(id) == nil || !v.Live.Has(i) {
			continue
		}
		if waiting[id] {
			mark(id)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range v.In(n) {
			if !stage.IsSpawn(c.Kind) && c.Kind != pta.EdgeAny {
				mark(c.Inst)
			}
		}
	}
	// Summaries: least added on the way to a return. From "adds nothing"
	// upwards each round is sound; a few rounds give nested helpers their due.
	for _, n := range list {
		a.sum[n] = make([]uint8, len(a.signals))
	}
	rounds := make([]uint8, len(v.Res.Insts))
	work := slices.Clone(list)
	queued := make([]bool, len(v.Res.Insts))
	for _, n := range list {
		queued[n] = true
	}
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued[n] = false
		rounds[n]++
		s := a.summary(n)
		if slices.Equal(s, a.sum[n]) {
			continue
		}
		a.sum[n] = s
		for _, c := range v.In(n) {
			if a.gens[c.Inst] && !stage.IsSpawn(c.Kind) && !queued[c.Inst] && rounds[c.Inst] < 8 {
				queued[c.Inst] = true
				work = append(work, c.Inst)
			}
		}
	}
	// Entry states, top-down: the greatest fixed point from unvisited.
	root := v.Root()
	a.entry[root] = make([]uint8, len(a.signals)) // (A1)
	work = append(work, root)
	queued[root] = true
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued[n] = false
		// push meets c's entry state with s. States are shared between
		// instances, and never changed in place.
		push := func(c pta.InstID, s []uint8) {
			old := a.entry[c]
			if old != nil && &old[0] == &s[0] {
				return
			}
			if old != nil {
				lower := slices.Clone(old)
				for i, x := range s {
					lower[i] = min(lower[i], x)
				}
				if slices.Equal(lower, old) {
					return
				}
				s = lower
			}
			a.entry[c] = s
			if !queued[c] {
				queued[c] = true
				work = append(work, c)
			}
		}
		if v.Res.Func(n) == nil {
			continue
		}
		if !a.gens[n] {
			for _, e := range v.Res.Insts[n].Out {
				if v.Has(n, e) {
					push(e.Callee, a.entry[n])
				}
			}
			continue
		}
		f := v.Res.Func(n)
		in := a.flow(n, a.entry[n])
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			s := append([]uint8(nil), in[b]...)
			for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
				if edges := v.EdgesAt(n, f.Points[p]); len(edges) > 0 {
					before := slices.Clone(s)
					for _, e := range edges {
						push(e.Callee, before)
					}
				}
				a.step(n, f, p, s)
			}
		}
	}
}

// step applies point p to s.
func (a *awaited) step(n pta.InstID, f *facts.Func, p uint32, s []uint8) {
	pt := f.Points[p]
	switch pt.Op {
	case facts.OpSync, facts.OpSelect:
		a.count(s, a.waits[spot{n, p}])
		return
	case facts.OpCall:
	default:
		return
	}
	var add []uint8 // (A4)
	none := false
	for _, e := range a.v.EdgesAt(n, pt) {
		if e.Kind == pta.EdgeGo || !a.gens[e.Callee] {
			none = true
			continue
		}
		if add == nil {
			add = append([]uint8(nil), a.sum[e.Callee]...)
			continue
		}
		for i, x := range a.sum[e.Callee] {
			add[i] = min(add[i], x)
		}
	}
	if none {
		return
	}
	for i, x := range add {
		s[i] = min(s[i]+x, a.signals[i].Need)
	}
}

// count adds one completed wait for each of some signals. (A2)
func (a *awaited) count(s []uint8, waits []int) {
	for _, i := range waits {
		if s[i] < a.signals[i].Need {
			s[i]++
		}
	}
}

// flow returns the states at the heads of n's blocks; nil is unreached.
func (a *awaited) flow(n pta.InstID, entry []uint8) [][]uint8 {
	f := a.v.Res.Func(n)
	in := make([][]uint8, len(f.Blocks))
	in[0] = append([]uint8(nil), entry...)
	for changed := true; changed; {
		changed = false
		meet := func(b int, s []uint8) {
			if in[b] == nil {
				in[b] = append([]uint8(nil), s...)
				changed = true
				return
			}
			for i := range s {
				if s[i] < in[b][i] {
					in[b][i] = s[i]
					changed = true
				}
			}
		}
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			blk := &f.Blocks[b]
			s := append([]uint8(nil), in[b]...)
			through := true
			for p := blk.Start; p < blk.End && through; p++ {
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					meet(int(blk.Panic), s) // (A5)
				}
				a.step(n, f, p, s)
				through = !a.v.Cut(n, p)
			}
			if !through {
				continue
			}
			for k, q := range blk.Succs {
				x := s
				if w := a.edgeWaits[edgeKey{n, b, k}]; len(w) > 0 {
					x = append([]uint8(nil), s...)
					a.count(x, w)
				}
				meet(int(q), x)
			}
		}
	}
	return in
}

// summary returns the least that a return of n adds; "never returns" adds Need.
func (a *awaited) summary(n pta.InstID) []uint8 {
	f := a.v.Res.Func(n)
	in := a.flow(n, make([]uint8, len(a.signals)))
	out := make([]uint8, len(a.signals))
	for i := range out {
		out[i] = a.signals[i].Need
	}
	for b := range f.Blocks {
		if in[b] == nil || !f.Blocks[b].Return {
			continue
		}
		s := append([]uint8(nil), in[b]...)
		through := true
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			a.step(n, f, p, s)
			through = through && !a.v.Cut(n, p)
		}
		for i := range out {
			if through {
				out[i] = min(out[i], s[i])
			}
		}
	}
	return out
}

// At returns the counts at point p of n; nil means none.
func (a *awaited) At(n pta.InstID, p uint32) []uint8 {
	entry := a.entry[n]
	if entry == nil {
		return nil
	}
	if !a.gens[n] {
		return entry
	}
	in, ok := a.blocks[n]
	if !ok {
		in = a.flow(n, entry)
		a.blocks[n] = in
	}
	fl := a.v.Flow(n)
	b := fl.Block(p)
	if in[b] == nil {
		return nil
	}
	s := append([]uint8(nil), in[b]...)
	for q := fl.F.Blocks[b].Start; q < p; q++ {
		a.step(n, fl.F, q, s)
	}
	return s
}
