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
// It holds under these conditions, all checked by waitGroups:
//
//	(W1) the wait group is one object: its abstract object is made at most
//	     once, its cell lies in no array, and nothing overwrites it
//	(W2) every decrement of a wait group that may be this one is a Done (-1) of
//	     surely this one, executed by Owner or at most once in each goroutine
//	     of a joined thread
//	(W3) joined threads are started by Owner alone, and Owner is one goroutine
//	(W4) credits: on every path of Owner, units added by Owner cover each start
//	     of a joined goroutine and each Done of its own, before it happens
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
}

// syncOp is one operation on a synchronisation object in one instance.
type syncOp struct {
	spot
	Row uint32
}

// waitGroups finds the joins of the view.
func waitGroups(v *stage.View, ov *overwritten) []join {
	adds := map[uint32][]syncOp{} // by cell that the operand may point to
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
			v.Res.PointsTo(id, f.Syncs[pt.Row].Obj, 0).Each(func(c uint32) {
				if adds[c] == nil {
					cells = append(cells, c)
				}
				adds[c] = append(adds[c], syncOp{spot{id, uint32(p)}, pt.Row})
			})
		}
	}
	var js []join
	for _, c := range cells {
		if j, ok := waitGroup(v, ov, c, adds[c]); ok {
			js = append(js, j)
		}
	}
	return js
}

func waitGroup(v *stage.View, ov *overwritten, cell uint32, ops []syncOp) (join, bool) {
	j := join{Cell: cell, Owner: -1, done: map[int][]spot{}, after: map[int]*after{}}
	if !oneObject(v, cell) || ov.Has(cell) { // (W1)
		return j, false
	}
	var own []spot // decrements that Owner has to cover itself
	type decrement struct {
		op syncOp
		ts []int
	}
	var decs []decrement
	for _, op := range ops {
		f := v.Res.Func(op.Inst)
		s := &f.Syncs[op.Row]
		n, known := s.N, s.Known
		if !known {
			n, known = v.ConstOf(op.Inst, s.Val)
		}
		if known && n >= 0 {
			continue
		}
		if !known || n != -1 {
			return j, false // (W2)
		}
		if c, ok := v.Single(op.Inst, s.Obj); !ok || c != cell {
			return j, false // (W2)
		}
		decs = append(decs, decrement{op, v.ThreadsOf(op.Inst)})
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
		return j, false
	}
	for _, d := range decs {
		for _, t := range d.ts {
			if t == j.Owner {
				own = append(own, d.op.spot)
				continue
			}
			if ps := v.Threads[t].Parents; len(ps) != 1 || ps[0] != j.Owner { // (W3)
				return j, false
			}
			j.done[t] = append(j.done[t], d.op.spot)
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
			return j, false
		}
		j.Joined = append(j.Joined, t)
		j.after[t] = newAfter(v, t, at)
	}
	c := credits{v: v, join: &j, ops: ops, own: own, memo: map[creditKey]int{}, busy: map[pta.InstID]bool{}}
	if len(j.Joined) == 0 || !c.cover() { // (W4)
		return j, false
	}
	return j, true
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

// credits checks (W4): a forward analysis of Owner whose state is a lower
// bound of the units added and not yet spent.
type credits struct {
	v    *stage.View
	join *join
	ops  []syncOp
	own  []spot
	rel  stage.Bits // instances that add, spend or wait, or call one that does
	memo map[creditKey]int
	busy map[pta.InstID]bool
	bad  bool
}

// creditKey is an instance and the credit that it is entered with.
type creditKey struct {
	n  pta.InstID
	in int
}

func (c *credits) cover() bool {
	v := c.v
	c.rel = stage.NewBits(len(v.Res.Insts))
	mark := func(n pta.InstID) {
		todo := []pta.InstID{n}
		for len(todo) > 0 {
			m := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !v.Runs(c.join.Owner, m) || !c.rel.Add(int(m)) {
				continue
			}
			for _, e := range v.In(m) {
				if !stage.IsSpawn(e.Kind) {
					todo = append(todo, e.Inst)
				}
			}
		}
	}
	for _, op := range c.ops {
		mark(op.Inst)
	}
	for _, t := range c.join.Joined {
		for _, s := range v.Threads[t].Spawns {
			mark(s.By)
		}
	}
	c.inst(v.Threads[c.join.Owner].Entry, 0)
	return !c.bad
}

// inst returns the credit after instance n, entered with credit in, and marks
// the analysis bad where credit is missing. Recursion is bad.
func (c *credits) inst(n pta.InstID, in int) int {
	if c.busy[n] {
		c.bad = true
	}
	if c.bad {
		return 0
	}
	if out, ok := c.memo[creditKey{n, in}]; ok {
		return out
	}
	c.busy[n] = true
	out := c.body(n, in)
	c.busy[n] = false
	c.memo[creditKey{n, in}] = out
	return out
}

// body computes inst.
func (c *credits) body(n pta.InstID, in int) int {
	v := c.v
	f := v.Res.Func(n)
	state := make([]int, len(f.Blocks))
	seen := make([]bool, len(f.Blocks))
	state[0], seen[0] = in, true
	out, returns := 0, false
	flow := func(b int, s int) bool {
		if !seen[b] || s < state[b] {
			seen[b], state[b] = true, s
			return true
		}
		return false
	}
	rounds := 0
	for changed := true; changed && !c.bad; {
		changed = false
		if rounds++; rounds > len(f.Blocks)+16 {
			c.bad = true // credit sinks around a loop
			break
		}
		out, returns = 0, false
	blocks:
		for b := range f.Blocks {
			if !seen[b] {
				continue
			}
			blk := &f.Blocks[b]
			s := state[b]
			for p := blk.Start; p < blk.End && !c.bad; p++ {
				s = c.point(n, f, p, s)
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					// Somewhere inside a callee: nothing is known but that
					// credit never falls below zero.
					changed = flow(int(blk.Panic), 0) || changed
				}
				if v.Cut(n, p) {
					continue blocks
				}
			}
			for _, t := range blk.Succs {
				changed = flow(int(t), s) || changed
			}
			if blk.Return {
				if !returns || s < out {
					out = s
				}
				returns = true
			}
		}
	}
	return out
}

// point returns the credit after one point.
func (c *credits) point(n pta.InstID, f *facts.Func, p uint32, s int) int {
	v := c.v
	pt := f.Points[p]
	switch pt.Op {
	case facts.OpSync:
		y := &f.Syncs[pt.Row]
		if y.Op == facts.SyncWait {
			return min(s, 0)
		}
		if y.Op != facts.SyncAdd {
			return s
		}
		cell, ok := v.Single(n, y.Obj)
		if !ok || cell != c.join.Cell {
			return s
		}
		k, known := y.N, y.Known
		if !known {
			k, known = v.ConstOf(n, y.Val)
		}
		if !known || k > 1<<20 {
			return s
		}
		s += int(k)
	case facts.OpCall, facts.OpAny:
		low, any := s, false
		for _, e := range v.EdgesAt(n, pt) {
			r := s
			if stage.IsSpawn(e.Kind) {
				if slices.Contains(c.join.Joined, v.ThreadAt(n, e)) {
					r--
					if e.Kind == pta.EdgeAnyGo { // any number of them
						c.bad = true
					}
				}
			} else if c.rel.Has(int(e.Callee)) {
				if e.Kind == pta.EdgeAny { // any number of times, in any order
					c.bad = true
				}
				r = c.inst(e.Callee, s)
			}
			if !any || r < low {
				low, any = r, true
			}
		}
		s = low
	}
	if s < 0 {
		c.bad = true
	}
	return s
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
