package stages

import (
	"math/bits"
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// heard is a must-analysis: at a point, for which homes a wait has been completed
// for a channel that lies, with the object that a register points to, below one
// frame of the home's node. Such a note names the register and the home.
//
//	(N1) a receive, or an edge that tells how a receive or a select ended ((E1) to
//	     (E3) of waits.go), gives notes for its channel and for all values that it was
//	     loaded from, of the home of all signals of that channel, the one that the
//	     operand may be; where the wait is known to have ended by a close, of the home
//	     of its closes
//	(N2) a call gives the notes that every return of every callee has of a
//	     parameter, for the argument and all values that it was loaded from
//	(N3) a note stays good, being about the past, until its register is defined again
//	(N4) states meet by intersection; what panics takes the state before the point
//	(N5) an instance is entered with the notes that all its callers have of their
//	     arguments, for what was loaded from the parameters. They are asked for where
//	     an access needs them
//
// That values are loaded from another is asked of reach.Together, for each home.
type heard struct {
	h *homes
	// waits are the instances with waits or with calls that lead to such, and under
	// those that calls lead to from there.
	waits, under stage.Bits
	states       map[pta.InstID]*notes
	sums         map[pta.InstID][]note // of parameters, at all returns
}

// note says that the home has been heard of by whatever reg points to.
type note struct {
	reg  facts.Reg
	home int
}

// notes are those of one instance, and the states at the heads of its blocks, sets
// of them.
type notes struct {
	list    []note
	points  map[uint32]uint64
	ends    map[uint32]uint64 // notes of what a point defines
	edges   map[edgeKey]uint64
	heads   []uint64
	reached []bool
}

// Bounds: how many calls up or down notes are looked for, how many callers are
// asked, and how many objects an argument may point to.
const (
	maxHeard   = 3
	maxAskers  = 16
	maxTargets = 16
)

// find finds the instances in question.
func (e *heard) find(h *homes) {
	v := h.r.v
	n := len(v.Res.Insts)
	e.h = h
	e.waits, e.under = stage.NewBits(n), stage.NewBits(n)
	e.states, e.sums = map[pta.InstID]*notes{}, map[pta.InstID][]note{}
	var todo []pta.InstID
	for i := range h.list {
		for _, sp := range h.r.par.wait.ops[h.list[i].Cell].recvs {
			if e.waits.Add(int(sp.Inst)) {
				todo = append(todo, sp.Inst)
			}
		}
	}
	spread := func(to stage.Bits, next func(pta.InstID, func(pta.InstID))) {
		for range maxHeard {
			var more []pta.InstID
			for _, n := range todo {
				next(n, func(m pta.InstID) {
					if to.Add(int(m)) {
						more = append(more, m)
					}
				})
			}
			todo = more
		}
	}
	spread(e.waits, func(n pta.InstID, visit func(pta.InstID)) {
		for _, c := range v.In(n) {
			if c.Kind == pta.EdgeCall {
				visit(c.Inst)
			}
		}
	})
	todo = nil
	for i := range n {
		if e.waits.Has(i) {
			e.under.Add(i)
			todo = append(todo, pta.InstID(i))
		}
	}
	spread(e.under, func(n pta.InstID, visit func(pta.InstID)) {
		for _, g := range v.Res.Insts[n].Out {
			if g.Kind == pta.EdgeCall && v.Has(n, g) {
				visit(g.Callee)
			}
		}
	})
	order := v.CallOrder()
	for i := len(order) - 1; i >= 0; i-- {
		if e.waits.Has(int(order[i])) {
			e.solve(order[i])
		}
	}
}

// by lists the homes heard of, at a point, by those of the objects targets that a
// register points to.
func (e *heard) by(n pta.InstID, p uint32, r facts.Reg, targets []pta.ObjID, up int) []int {
	var out []int
	v := e.h.r.v
	f := v.Res.Func(n)
	if e.waits.Has(int(n)) {
		st := e.states[n]
		for at := e.at(n, st, p); at != 0; at &= at - 1 {
			x := st.list[bits.TrailingZeros64(at)]
			if !slices.Contains(out, x.home) && e.together(x.home, n, p, r, targets, x.reg) {
				out = append(out, x.home)
			}
		}
	}
	if callers := v.In(n); up < maxHeard && len(callers) > 0 && len(callers) <= maxAskers { // (N5)
		from := e.h.r.lock.Effects().Origins(f, r)
		for i, x := range f.Params {
			if slices.Contains(from, x) {
				for _, k := range e.byCallers(n, f, i, up) {
					if !slices.Contains(out, k) && e.together(k, n, p, r, targets, x) {
						out = append(out, k)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// byCallers lists the homes that all callers have heard of by what they pass as a
// parameter. (N5)
func (e *heard) byCallers(n pta.InstID, f *facts.Func, param, up int) []int {
	v := e.h.r.v
	var out []int
	first := true
	for _, c := range v.In(n) {
		if c.Kind != pta.EdgeCall || !e.under.Has(int(c.Inst)) {
			return nil
		}
		a, ok := argumentOf(&v.Res.Func(c.Inst).Calls[c.Row], f, param)
		points := v.PointsOf(c.Inst, c.Kind, c.Row)
		if !ok || a == facts.NoReg || len(points) == 0 {
			return nil
		}
		targets, ok := e.targets(c.Inst, a)
		if !ok {
			return nil
		}
		for _, q := range points {
			ks := e.by(c.Inst, q, a, targets, up+1)
			if first {
				out, first = ks, false
			} else {
				out = slices.DeleteFunc(out, func(k int) bool { return !slices.Contains(ks, k) })
			}
			if len(out) == 0 {
				return nil
			}
		}
	}
	return out
}

// targets lists the objects that a register points to, if they are few.
func (e *heard) targets(n pta.InstID, r facts.Reg) (out []pta.ObjID, ok bool) {
	ok = true
	v := e.h.r.v
	v.Res.PointsTo(n, r, 0).Each(func(c uint32) {
		o, _ := v.Res.Object(c)
		if ok && !slices.Contains(out, o) {
			out = append(out, o)
			ok = len(out) <= maxTargets
		}
	})
	return out, ok && len(out) > 0
}

// together reports whether all the targets that r points to at a point lie below
// one frame of a home's node with what from points to.
func (e *heard) together(k int, n pta.InstID, p uint32, r facts.Reg, targets []pta.ObjID, from facts.Reg) bool {
	for _, o := range targets {
		if !e.h.r.lock.Effects().Together(e.h.list[k].of, n, p, r, o, from) {
			return false
		}
	}
	return len(targets) > 0
}

// gather finds the notes that points and edges of an instance give.
func (e *heard) gather(n pta.InstID, f *facts.Func, st *notes) {
	v := e.h.r.v
	eff := e.h.r.lock.Effects()
	give := func(p uint32, r facts.Reg, targets []pta.ObjID, k int) (set uint64) {
		for _, from := range eff.Origins(f, r) {
			if !e.together(k, n, p, r, targets, from) {
				continue
			}
			x := note{from, k}
			i := slices.Index(st.list, x)
			if i < 0 {
				if i = len(st.list); i == 64 {
					return set
				}
				st.list = append(st.list, x)
			}
			set |= 1 << i
		}
		return set
	}
	received := func(p uint32, r facts.Reg, home map[uint32]int) uint64 { // (N1)
		c, ok := v.Single(n, r)
		k := home[c]
		if !ok || k == 0 {
			return 0
		}
		o, _ := v.Res.Object(c)
		return give(p, r, []pta.ObjID{o}, k-1)
	}
	edge := e.h.r.par.wait.edge[f.ID]
	rows := map[uint32]uint32{} // of Syncs and Selects: their points
	for p, pt := range f.Points {
		p := uint32(p)
		if v.DeadAt(n, p) {
			continue
		}
		switch pt.Op {
		case facts.OpSync:
			if y := &f.Syncs[pt.Row]; y.Op == facts.SyncRecv {
				rows[pt.Row] = p
				st.points[p] |= received(p, y.Obj, e.h.first)
			}
		case facts.OpSelect:
			rows[pt.Row|selectRow] = p
			if only, live := e.ready(n, &f.Selects[pt.Row]); live == 1 && f.Selects[pt.Row].Blocking && !f.Selects[pt.Row].Cases[only].Send {
				st.points[p] |= received(p, f.Selects[pt.Row].Cases[only].Chan, e.h.first)
			}
		case facts.OpCall:
			st.points[p] |= e.returned(n, f, pt, p, give)
		}
	}
	for b := range f.Blocks {
		c := f.Blocks[b].Cond
		if edge == nil || len(f.Blocks[b].Succs) != 2 {
			continue
		}
		for k := range 2 {
			holds := (k == 0) != c.Neg
			set := uint64(0)
			switch c.Kind {
			case facts.CondTrue:
				row, ok := edge.ok[c.X]
				if p, at := rows[row]; ok && at && !holds {
					set = received(p, f.Syncs[row].Obj, e.h.close)
				}
			case facts.CondEq:
				row, ok := edge.index[c.X]
				if p, at := rows[row|selectRow]; ok && at && holds && c.K >= 0 && c.K < int64(len(f.Selects[row].Cases)) && !f.Selects[row].Cases[c.K].Send {
					set = received(p, f.Selects[row].Cases[c.K].Chan, e.h.first)
				}
			}
			if set != 0 {
				st.edges[edgeKey{n, b, k}] = set
			}
		}
	}
}

// selectRow marks rows of Selects among those of Syncs.
const selectRow = 1 << 31

// ready returns the last case of a select that can ever be ready, and how many can.
func (e *heard) ready(n pta.InstID, s *facts.Select) (last, live int) {
	for k := range s.Cases {
		if e.h.r.v.MayCommunicate(n, &s.Cases[k]) {
			last = k
			live++
		}
	}
	return last, live
}

// returned gives the notes of (N2).
func (e *heard) returned(n pta.InstID, f *facts.Func, pt facts.Point, p uint32, give func(uint32, facts.Reg, []pta.ObjID, int) uint64) (set uint64) {
	v := e.h.r.v
	call := &f.Calls[pt.Row]
	for i, g := range v.EdgesAt(n, pt) {
		if g.Kind != pta.EdgeCall {
			return 0
		}
		here := uint64(0)
		callee := v.Res.Func(g.Callee)
		for _, x := range e.sums[g.Callee] {
			a, ok := argumentOf(call, callee, slices.Index(callee.Params, x.reg))
			if !ok || a == facts.NoReg {
				continue
			}
			if targets, ok := e.targets(n, a); ok {
				here |= give(p, a, targets, x.home)
			}
		}
		if i == 0 {
			set = here
		}
		set &= here
	}
	return set
}

// solve finds the notes of an instance, those of its callees being known but for
// what calls itself.
func (e *heard) solve(n pta.InstID) {
	f := e.h.r.v.Res.Func(n)
	st := &notes{points: map[uint32]uint64{}, ends: map[uint32]uint64{}, edges: map[edgeKey]uint64{}, heads: make([]uint64, len(f.Blocks)), reached: make([]bool, len(f.Blocks))}
	e.states[n] = st
	e.gather(n, f, st)
	if len(st.list) == 0 {
		return
	}
	for p, pt := range f.Points { // (N3)
		for i, x := range st.list {
			if f.Defines(pt) == x.reg {
				st.ends[uint32(p)] |= 1 << i
			}
		}
	}
	all := e.flow(n, f, st)
	var out []note
	for i, x := range st.list {
		if all&(1<<i) != 0 && slices.Contains(f.Params, x.reg) {
			out = append(out, x)
		}
	}
	e.sums[n] = out
}

// flow finds the states at the heads of blocks, and returns what all returns have.
func (e *heard) flow(n pta.InstID, f *facts.Func, st *notes) (returns uint64) {
	st.reached[0] = true
	for changed := true; changed; {
		changed = false
		returns = ^uint64(0)
		meet := func(b int, s uint64) {
			if st.reached[b] {
				s &= st.heads[b]
			}
			if !st.reached[b] || s != st.heads[b] {
				st.reached[b], st.heads[b], changed = true, s, true
			}
		}
		for b := range f.Blocks {
			if !st.reached[b] {
				continue
			}
			s, blk := st.heads[b], &f.Blocks[b]
			through := true
			for p := blk.Start; p < blk.End && through; p++ {
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					meet(int(blk.Panic), s) // (N4)
				}
				s = (s | st.points[p]) &^ st.ends[p]
				through = !e.h.r.v.Cut(n, p)
			}
			if !through {
				continue
			}
			for k, to := range blk.Succs {
				meet(int(to), s|st.edges[edgeKey{n, b, k}])
			}
			if blk.Return {
				returns &= s
			}
		}
	}
	return returns
}

// at returns the state before a point.
func (e *heard) at(n pta.InstID, st *notes, p uint32) uint64 {
	if len(st.list) == 0 {
		return 0
	}
	fl := e.h.r.v.Flow(n)
	b := fl.Block(p)
	if !st.reached[b] {
		return 0
	}
	s := st.heads[b]
	for q := fl.F.Blocks[b].Start; q < p; q++ {
		s = (s | st.points[q]) &^ st.ends[q]
	}
	return s
}
