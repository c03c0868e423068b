package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// join says that a Wait on the wait group at Cell, executed by thread Owner,
// waits for every goroutine of the threads Joined that Owner has started.
//
// It holds under these conditions, all checked by newJoin:
//
//	(W1) the wait group is one object: its abstract object is made at most
//	     once, its cell lies in no array, and nothing overwrites it
//	(W2) every decrement of a wait group that may be this one is a Done (-1) of
//	     surely this one, executed by Owner or at most once in each goroutine
//	     of a joined thread
//	(W3) joined threads are started by Owner alone, and Owner is one goroutine
//	(W4) credits: on every path of Owner, units added by Owner cover each start
//	     of a joined goroutine and each Done of its own, before it happens
//	     (credits.go)
//
// Then at a Wait of Owner the counter is at least the number of joined
// goroutines that Owner started and that have not called Done: with the counter
// at zero there are none, and what they did before Done happens before the
// Wait's return. Further Adds, by anybody, only keep Wait waiting longer.
// A goroutine that never calls Done keeps Wait from returning.
type join struct {
	Cell   uint32
	Owner  int
	Joined []int
	done   map[int][]spot // where each joined thread calls Done
	after  map[int]*after // what may follow it there
	// starts are the points that start joined threads, lead what leads to them;
	// see noStartAfter.
	starts []spot
	lead   stage.Bits
	tally  *tally // of counters that are no wait groups
}

// change is an operation on a counter: an addition.
type change struct {
	spot
	by amount
	is bool // surely on this counter
}

// waitGroups finds the joins of the view: those of wait groups, and of counters.
func (r *run) waitGroups(v *stage.View) []join {
	changes := map[uint32][]change{} // by cell that the operand may point to
	var cells []uint32
	for i := 1; i < len(v.Res.Insts); i++ {
		if !v.Live.Has(i) {
			continue
		}
		id := pta.InstID(i)
		f := v.Res.Func(id)
		if f == nil || len(f.Syncs) == 0 {
			continue
		}
		for p, pt := range f.Points {
			if pt.Op != facts.OpSync || f.Syncs[pt.Row].Op != facts.SyncAdd {
				continue
			}
			y := &f.Syncs[pt.Row]
			by := constant(y.N)
			if !y.Known {
				by = r.amountOf(v, id, y.Val, uint32(p))
			}
			_, one := v.Single(id, y.Obj)
			v.Res.PointsTo(id, y.Obj, 0).Each(func(c uint32) {
				if changes[c] == nil {
					cells = append(cells, c)
				}
				changes[c] = append(changes[c], change{spot{id, uint32(p)}, by, one})
			})
		}
	}
	var js []join
	for _, c := range cells {
		if !oneObject(v, c) || r.over.Has(c) { // (W1)
			continue
		}
		if j, _, ok := r.newJoin(v, c, changes[c], 0); ok {
			js = append(js, j)
		}
	}
	return append(js, r.counts(v)...)
}

// newJoin returns the join of a counter with some changes, of which start units are
// there at first, and how its owner pays.
func (r *run) newJoin(v *stage.View, cell uint32, changes []change, start int) (join, *credits, bool) {
	j := join{Cell: cell, Owner: -1, done: map[int][]spot{}, after: map[int]*after{}}
	type decrement struct {
		at spot
		ts []int
	}
	var decs []decrement
	c := credits{r: r, v: v, join: &j, start: start, changes: map[spot]amount{}, poor: map[spot]bool{}, memo: map[creditKey]purse{}, busy: map[pta.InstID]bool{}}
	var open []spot // additions of who knows what
	for _, ch := range changes {
		switch {
		case ch.by.n != 0 && ch.by.negative():
			open = append(open, ch.spot)
		case ch.by.negative():
			if ch.by.k != -1 || !ch.is {
				return j, nil, false // (W2)
			}
			decs = append(decs, decrement{ch.spot, v.ThreadsOf(ch.Inst)})
		}
		if ch.is {
			c.changes[ch.spot] = ch.by
		}
	}
	// Threads that call Done and were all started by one thread are joined; the
	// starter covers its own Dones.
	for _, d := range decs {
		for _, t := range d.ts {
			if t == 0 {
				continue
			}
			if ps := v.Threads[t].Parents; len(ps) == 1 && (j.Owner < 0 || j.Owner == ps[0]) {
				j.Owner = ps[0]
			}
		}
	}
	if j.Owner < 0 || !v.Threads[j.Owner].Single { // (W3)
		return j, nil, false
	}
	for _, d := range decs {
		for _, t := range d.ts {
			if t == j.Owner {
				continue
			}
			if ps := v.Threads[t].Parents; len(ps) != 1 || ps[0] != j.Owner { // (W3)
				return j, nil, false
			}
			j.done[t] = append(j.done[t], d.at)
		}
	}
	for t := range v.Threads {
		at := j.done[t]
		if len(at) == 0 {
			continue
		}
		// (W2) at most one Done a goroutine: one place, executed at most once.
		// Points of one deferred call stand for one call.
		if !atMostOnce(v, t, at) {
			return j, nil, false
		}
		j.Joined = append(j.Joined, t)
		j.after[t] = newAfter(v, t, at)
	}
	c.exact = !slices.ContainsFunc(changes, func(ch change) bool {
		return !ch.is || ch.by != constant(-1) && slices.ContainsFunc(v.ThreadsOf(ch.Inst), func(t int) bool { return t != j.Owner })
	})
	if len(open) > 0 && !c.exact { // (W7)
		return j, nil, false
	}
	if len(j.Joined) == 0 || !c.cover() { // (W4)
		return j, nil, false
	}
	return j, &c, true
}

// atMostOnce reports whether the places together execute at most once in one
// goroutine of thread t: all in one instance that is entered at most once, no
// one following another.
func atMostOnce(v *stage.View, t int, at []spot) bool {
	n := at[0].Inst
	if !v.OnceIn(t, n) {
		return false
	}
	var ps []uint32
	for _, s := range at {
		if s.Inst != n {
			return false
		}
		ps = append(ps, s.Point)
	}
	return v.Flow(n).RowOnce(ps)
}

// oneObject reports whether a cell is one variable of one object: (1) of the
// rules for "same instance" in the package comment.
func oneObject(v *stage.View, cell uint32) bool {
	o, off := v.Res.Object(cell)
	ob := &v.Res.Objs[o]
	if ob.Type == 0 || ob.Untyped || v.Res.Cell(o, off).Array != 0 {
		return false
	}
	return v.OnceObject(o)
}

// overwritten is the set of cells of synchronisation objects that a plain
// store or a copy of a whole value may overwrite: such objects guard nothing.
//
// (O1) The stores that initialise an object where it is made do not count: the
// address is the allocation's own register, in its block, and nothing that
// may use the object stands in between.
type overwritten struct{ cells map[uint32]bool }

// Has reports whether the cell may be overwritten.
func (o *overwritten) Has(cell uint32) bool { return o.cells[cell] }

func findOverwritten(w *stage.World) *overwritten {
	o := &overwritten{map[uint32]bool{}}
	sync := syncCells(w)
	for i := range w.Accesses {
		a := &w.Accesses[i]
		if !a.Write || a.Atomic || a.Sync != stage.NoUse {
			continue
		}
		f := w.Res.Func(a.Inst)
		if !a.Deep && initialises(w, a, f) { // (O1)
			continue
		}
		for _, c := range w.CellsOf(uint32(i)) {
			if sync[c] {
				o.cells[c] = true
			}
		}
	}
	return o
}

// syncCells returns the cells that locks, wait groups and onces occupy.
func syncCells(w *stage.World) map[uint32]bool {
	cells := map[uint32]bool{}
	add := func(n pta.InstID, r facts.Reg) {
		w.Res.PointsTo(n, r, 0).Each(func(c uint32) { cells[c] = true })
	}
	for i := 1; i < len(w.Res.Insts); i++ {
		f := w.Res.Func(pta.InstID(i))
		if f == nil {
			continue
		}
		for _, y := range f.Syncs {
			if y.Op != facts.SyncSend && y.Op != facts.SyncRecv && y.Op != facts.SyncClose && y.Op != facts.SyncParallel {
				add(pta.InstID(i), y.Obj)
			}
		}
	}
	return cells
}

func initialises(w *stage.World, a *stage.Access, f *facts.Func) bool {
	base := f.Mems[a.Row].Base
	def := f.Regs[base].Def
	if def == 0 || f.Points[def-1].Op != facts.OpAlloc {
		return false
	}
	fl := w.Flow(a.Inst)
	if fl.Block(def-1) != fl.Block(a.Point) || def-1 > a.Point {
		return false
	}
	for p := def; p < a.Point; p++ {
		switch f.Points[p].Op {
		case facts.OpCall, facts.OpAny, facts.OpSync, facts.OpSelect:
			return false
		}
	}
	return true
}
