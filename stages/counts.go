package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Counts: a counter of the program's own is a wait group for who has seen it at its
// end. What is left is the counter, if that goes down to zero, or a constant less the
// counter, if it goes up to that from zero.
//
//	(Q1) the counter is one variable (oneObject), an integer that begins with zero and
//	     that nothing writes but additions of constants: all atomic; or all by a load
//	     and a store under one lock, (C1) to (C3) of sections.go. If it goes down, one
//	     store may set it, executed at most once in the run, by Owner, who adds
//	     nothing before that and alone adds at all
//	(Q2) the additions are changes of what is left as (W2) to (W7) ask of a wait
//	     group, whose Owner begins with the constant; none adds who knows what
//	(Q3) nothing wraps around: the counter has 64 bits; or what adds to what is left
//	     executes at most once each
//	(Q4) the wait is the edge of a branch that tells that nothing was left at a load,
//	     atomic or under the lock, by its value or by what an addition makes of it
//	     (sights.go)
//	(Q5) for (R3), which is about the present, no joined goroutine is started between
//	     the load and the branch
//	(Q6) for (S6) joined goroutines may wait, too, if Owner adds only where something
//	     is left for sure. Then nobody sees the end before the last of them is
//	     started. An addition that executes at most once may be the first, if nothing
//	     is there from the start
//
// By (Q1) each addition or load sees all that came before, under the lock or in the
// order of the atomic operations, and happens after it: so does what follows who has
// seen the end, after all additions that led there.
type tally struct {
	// load is where the branch saw it, and kills whether (Q5), by edge.
	load  map[edgeKey]spot
	kills map[edgeKey]bool
	edges []edgeKey        // in order
	takes map[edgeKey]bool // whether the load is that of an addition which leads there
	ahead bool             // (Q6)
}

// counter is a variable that fulfils (Q1).
type counter struct {
	cell    uint32
	changes []change
	set     spot      // the store that sets it; zero: none
	under   *sections // nil: it is atomic
}

// test is a branch that tells of a load.
type test struct {
	e edgeKey
	s sight
}

// end is where a counter ends.
type end struct {
	up bool
	at int64
}

// counts finds the joins of counters.
func (r *run) counts(v *stage.View) (js []join) {
	tests := map[uint32][]test{}
	var cells []uint32
	r.sights(v).branches(func(e edgeKey, s sight) {
		m := &v.Res.Func(s.n).Mems[v.Res.Func(s.n).Points[s.p].Row]
		c, one := v.Single(s.n, m.Base)
		if !one || !r.newIteration(nil).integer(m.Type) {
			return
		}
		if c += m.Off; tests[c] == nil {
			cells = append(cells, c)
		}
		tests[c] = append(tests[c], test{e, s})
	})
	slices.Sort(cells)
	for _, c := range cells {
		if x, ok := r.counterAt(v, c); ok {
			js = append(js, r.countsOf(v, x, tests[c])...)
		}
	}
	return js
}

// counterAt returns the counter at a cell. (Q1)
func (r *run) counterAt(v *stage.View, cell uint32) (counter, bool) {
	x := counter{cell: cell}
	o, off := v.Res.Object(cell)
	if !oneObject(v, cell) || v.FlowTouched(cell) || r.pub.reflected(r.w, o) {
		return x, false
	}
	switch ob := &v.Res.Objs[o]; ob.Kind {
	case pta.ObjGlobal:
		if v.Prog.Globals[ob.Global].Pkg == "runtime" {
			return x, false
		}
	case pta.ObjSite:
		if k, _ := v.Res.SiteKind(o); k != facts.SiteNew || v.Prog.Funcs[ob.Fn].Is(facts.FnModel) {
			return x, false
		}
	default:
		return x, false
	}
	t := v.Res.Cell(o, off).Type
	locked := false
	for _, id := range v.At(cell) {
		a := &v.Accesses[id]
		if !a.Write || !v.Live.Has(int(a.Inst)) {
			continue
		}
		f := v.Res.Func(a.Inst)
		sp := spot{a.Inst, a.Point}
		if a.Deep || a.Sync != stage.NoUse || f.Mems[a.Row].Type != t && v.Prog.Types[f.Mems[a.Row].Type].Shape != v.Prog.Types[t].Shape {
			return x, false
		}
		if name := atomicName(f); a.Atomic && name == "Add" && len(f.Params) == 2 {
			d := v.ValuesOf(a.Inst, f.Params[1])
			if d.Top || len(d.Ks) != 1 {
				return x, false
			}
			x.changes = append(x.changes, change{sp, constant(d.Ks[0]), true})
			continue
		} else if a.Atomic && name != "Store" {
			return x, false
		}
		if _, ok := r.sectionAt(v, cell, a); ok && !a.Atomic {
			locked = true
			continue
		}
		if x.set != (spot{}) || !v.Once.Has(int(a.Inst)) || v.Flow(a.Inst).OnCycle(a.Point) || f.Mems[a.Row].ValLeaf != 0 {
			return x, false
		}
		x.set = sp
		x.changes = append(x.changes, change{sp, r.amountOf(v, a.Inst, f.Mems[a.Row].Val, a.Point), true})
	}
	if locked {
		var ok bool
		if x.under, ok = r.lockedWrites(v, cell, x.set); !ok {
			return x, false
		}
		for _, w := range x.under.list {
			x.changes = append(x.changes, change{spot{w.n, w.store}, constant(w.by), true})
		}
	}
	return x, len(x.changes) > 0
}

// countsOf returns the joins of a counter, one for each end that tests tell.
func (r *run) countsOf(v *stage.View, x counter, tests []test) (js []join) {
	at := map[end]*tally{}
	var ends []end
	for _, t := range tests {
		e, took, ok := r.endOf(v, x, t.s)
		if !ok {
			continue
		}
		c := at[e]
		if c == nil {
			c = &tally{load: map[edgeKey]spot{}, kills: map[edgeKey]bool{}, takes: map[edgeKey]bool{}}
			at[e] = c
			ends = append(ends, e)
		}
		c.load[t.e] = spot{t.s.n, t.s.p}
		c.takes[t.e] = took
		c.edges = append(c.edges, t.e)
	}
	for _, e := range ends {
		j, ok := r.countTo(v, x, e)
		if !ok {
			continue
		}
		at[e].ahead = j.tally.ahead
		j.tally = at[e]
		for _, t := range tests {
			if _, ok := j.tally.load[t.e]; ok {
				j.tally.kills[t.e] = j.present(v, t)
			}
		}
		js = append(js, j)
	}
	return js
}

// endOf returns the end that a branch tells, and whether it tells that an addition
// led there. (Q4)
func (r *run) endOf(v *stage.View, x counter, s sight) (e end, took, ok bool) {
	f := v.Res.Func(s.n)
	by, left := int64(0), int64(0)
	switch {
	case x.under == nil && f.Mems[f.Points[s.p].Row].Mode == facts.Atomic:
		for _, ch := range x.changes {
			if ch.Inst == s.n && ch.spot != x.set { // of the operation that loads
				by += ch.by.k
			}
		}
	case x.under != nil && slices.ContainsFunc(r.guardsIn(v, spot{s.n, s.p}), func(g stage.Guard) bool { return g.Cell == x.under.lock }):
		fl := v.Flow(s.n)
		for _, w := range x.under.list {
			switch {
			case w.n != s.n:
			case w.load == s.p:
				by = w.by
			case w.store < s.p && fl.Block(w.store) == fl.Block(s.p) && x.under.quiet(r, s.n, w.store, s.p):
				by, left = w.by, w.by // it sees what the addition left
			}
		}
	default:
		return e, false, false
	}
	k := s.k + by - left
	switch s.op {
	case facts.ArithEq:
		e, ok = end{k > 0, k}, 0 <= k && k <= maxUnits
	case facts.ArithLe:
		ok = k == 0
	case facts.ArithLt:
		ok = k == 1
	case facts.ArithGe:
		e, ok = end{true, k}, 0 < k && k <= maxUnits
	case facts.ArithGt:
		e, ok = end{true, k + 1}, 0 <= k && k < maxUnits
	}
	return e, e.up && by > 0 || !e.up && by < 0, ok
}

// countTo returns the join of a counter with an end. (Q1) to (Q3), (Q6)
func (r *run) countTo(v *stage.View, x counter, e end) (join, bool) {
	changes := slices.Clone(x.changes)
	o, off := v.Res.Object(x.cell)
	wide := v.Prog.Types[v.Res.Cell(o, off).Type].Size == 8
	var more []spot // what adds to what is left
	for i := range changes {
		ch := &changes[i]
		if e.up {
			ch.by.k = -ch.by.k
		}
		switch {
		case ch.by.known() && (ch.by.k > maxUnits || ch.by.k < -maxUnits), ch.spot == x.set && (e.up || ch.by.negative()):
			return join{}, false
		case ch.by.known() && ch.by.k <= 0:
			continue
		case !wide && (!v.Once.Has(int(ch.Inst)) || v.Flow(ch.Inst).OnCycle(ch.Point)): // (Q3)
			return join{}, false
		}
		if more = append(more, ch.spot); !ch.by.known() && ch.by.negative() {
			return join{}, false
		}
	}
	start := 0
	if e.up {
		start = int(e.at)
	}
	j, c, ok := r.newJoin(v, x.cell, changes, start)
	if !ok {
		return join{}, false
	}
	if x.set != (spot{}) && !r.setsFirst(v, x, &j, more) {
		return join{}, false
	}
	j.tally = &tally{ahead: len(c.poor) == 0}
	if len(c.poor) == 1 && start == 0 {
		for sp := range c.poor {
			j.tally.ahead = v.Once.Has(int(sp.Inst)) && !v.Flow(sp.Inst).OnCycle(sp.Point)
		}
	}
	return j, true
}

// setsFirst reports what (Q1) asks of the store that sets a counter.
func (r *run) setsFirst(v *stage.View, x counter, j *join, more []spot) bool {
	var own []spot
	for _, ch := range x.changes {
		ts := v.ThreadsOf(ch.Inst)
		if slices.Contains(more, ch.spot) && (len(ts) != 1 || ts[0] != j.Owner) {
			return false
		}
		if ch.spot != x.set && slices.Contains(ts, j.Owner) {
			own = append(own, ch.spot)
		}
	}
	return len(own) == 0 || !newAfter(v, j.Owner, own).Has(v, x.set.Inst, x.set.Point)
}

// present reports (Q5): the load and the branch are in one block, or a call that
// leads to the load is, and nothing on the way starts a joined goroutine.
func (j *join) present(v *stage.View, t test) bool {
	starts, lead := j.startPoints(v)
	fl := v.Flow(t.e.n)
	if fl.Block(t.s.at) != t.e.b {
		return false
	}
	for p := t.s.at; p < fl.F.Blocks[t.e.b].End; p++ {
		if slices.Contains(starts, spot{t.e.n, p}) {
			return false
		}
		for _, e := range v.EdgesAt(t.e.n, fl.F.Points[p]) {
			if !stage.IsSpawn(e.Kind) && lead.Has(int(e.Callee)) {
				return false
			}
		}
	}
	return true
}

// startPoints returns the points that start joined threads, and what leads to them.
func (j *join) startPoints(v *stage.View) ([]spot, stage.Bits) {
	if j.starts == nil {
		for _, c := range j.Joined {
			j.starts = append(j.starts, startsOf(v, c)...)
		}
		j.lead = leading(v, j.starts)
	}
	return j.starts, j.lead
}

// rule is the join's name in evidence.
func (j *join) rule() string {
	if j.tally != nil {
		return "count"
	}
	return "wait"
}
