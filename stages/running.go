package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// running computes, for each thread and point, which threads may be running
// that this goroutine has started, directly or through others: the relation
// mayRun(t, N, I, element). An element is a thread, or a thread together with
// a join: (c, j) stands for "c started and j not yet waited for".
//
//	(R1) a goroutine starts with nothing running
//	(R2) starting c adds c, all that c may start, and their elements for joins
//	(R3) a Wait of join j by j's owner removes (c, j) for the joined threads c; of
//	     counters, the edge that tells the end (counts.go)
//	(R4) and (d, i) for each d that c alone starts, all before its Done, if
//	     (d, i) is not running at any Done of c either
//	(R5) states meet by union; a call applies its callees' summaries; what a
//	     callee starts may run where its panic goes
//
// Threads that are one goroutine have states of their own. All others share one
// state a point, the union over them, of which each takes what it can start
// itself: they own no joins (W3), so that nothing but starts tells them apart.
type running struct {
	v      *stage.View
	joins  []join
	sets   *stage.Pool // of elements
	n      int         // elements
	elem   []int       // first join element of each join
	start  []stage.Set // by thread: what starting it adds
	below  []stage.Set // by thread: all that it may start
	all    stage.Set
	kill   []stage.Set // by join: what its Wait removes
	starts map[pta.InstID][]int
	groups []*group
	of     []*group // by thread; nil if it starts nothing
}

// group is the states of some threads.
type group struct {
	threads []int
	owner   int // the thread, if it owns a join; else -1
	*summaries
	entry []stage.Set // by instance
	reach stage.Bits  // instances reached
}

// summaries are the effects of the instances that start or wait, or call one
// that does.
type summaries struct {
	owner int
	rel   map[pta.InstID]int // index in what follows
	any   []stage.Set        // all that an instance may start
	heads [][]effect         // at the heads of blocks, from the entry
	exit  []effect
}

// effect is a transformer of states: out = in minus kill, plus gen. It is
// distributive, so that effects at the points of a function, applied to its
// entry state, are the states there.
type effect struct{ gen, kill stage.Set }

// unreached marks the head of a block that is not reached.
var unreached = effect{^stage.Set(0), ^stage.Set(0)}

func newRunning(v *stage.View, joins []join) *running {
	r := &running{v: v, joins: joins, n: len(v.Threads), starts: map[pta.InstID][]int{}}
	for i := range joins {
		r.elem = append(r.elem, r.n)
		r.n += len(joins[i].Joined)
	}
	r.sets = stage.NewPool(r.n)
	all := stage.NewBits(r.n)
	for i := range r.n {
		all.Add(i)
	}
	r.all = r.sets.Of(all)
	for j := range joins { // (R3)
		k := stage.NewBits(r.n)
		for i := range joins[j].Joined {
			k.Add(r.elem[j] + i)
		}
		r.kill = append(r.kill, r.sets.Of(k))
	}
	elements := make([][]int, len(v.Threads))
	for t := range v.Threads {
		elements[t] = []int{t}
	}
	for j := range joins {
		for i, t := range joins[j].Joined {
			elements[t] = append(elements[t], r.elem[j]+i)
		}
	}
	for t := range v.Threads { // (R2)
		b := stage.NewBits(r.n)
		for d := range v.Threads {
			if v.Threads[t].Desc.Has(d) {
				for _, e := range elements[d] {
					b.Add(e)
				}
			}
		}
		r.below = append(r.below, r.sets.Of(b))
		for _, e := range elements[t] {
			b.Add(e)
		}
		r.start = append(r.start, r.sets.Of(b))
		for _, s := range v.Threads[t].Spawns {
			r.starts[s.By] = append(r.starts[s.By], t)
		}
	}
	r.makeGroups()
	r.solve()
	// (R4) grows the kills; each round starts from a sound solution.
	for range 3 {
		if !r.killDescendants() {
			break
		}
		r.solve()
	}
	return r
}

// makeGroups decides which threads share states.
func (r *running) makeGroups() {
	owns := map[int]bool{}
	for j := range r.joins {
		owns[r.joins[j].Owner] = true
	}
	many := &group{owner: -1}
	r.of = make([]*group, len(r.v.Threads))
	for t := range r.v.Threads {
		if r.v.Threads[t].Desc.Empty() {
			continue // starts nothing: (R1) holds throughout
		}
		g := many
		if owns[t] {
			g = &group{owner: t}
		} else if r.v.Threads[t].Single {
			g = &group{owner: -1}
		}
		if len(g.threads) == 0 {
			r.groups = append(r.groups, g)
		}
		g.threads = append(g.threads, t)
		r.of[t] = g
	}
}

func (r *running) solve() {
	var common *summaries // of all groups that own no join
	for _, g := range r.groups {
		switch {
		case g.owner >= 0:
			g.summaries = r.summarise(g.owner)
		case common == nil:
			common = r.summarise(-1)
			fallthrough
		default:
			g.summaries = common
		}
		r.enter(g)
	}
}

// summarise computes the effects of instances on behalf of one owner of joins,
// or of all threads that own none (-1), bottom-up to a fixed point.
func (r *running) summarise(owner int) *summaries {
	v := r.v
	s := &summaries{owner: owner, rel: map[pta.InstID]int{}}
	var list []pta.InstID
	mark := func(n pta.InstID) {
		if _, ok := s.rel[n]; !ok && v.Live.Has(int(n)) && (owner < 0 || v.Runs(owner, n)) && v.Res.Func(n) != nil {
			s.rel[n] = len(list)
			list = append(list, n)
		}
	}
	for n := range v.Res.Insts {
		if id := pta.InstID(n); len(r.starts[id]) > 0 || owner >= 0 && r.waits(owner, id) {
			mark(id)
		}
	}
	for i := 0; i < len(list); i++ {
		for _, c := range v.In(list[i]) {
			if !stage.IsSpawn(c.Kind) {
				mark(c.Inst)
			}
		}
	}
	s.any = make([]stage.Set, len(list))
	s.exit = make([]effect, len(list))
	s.heads = make([][]effect, len(list))
	// upwards runs step on every instance, and again on the callers of those
	// for which it reports a change.
	upwards := func(step func(i int, n pta.InstID) bool) {
		work := make([]int, len(list))
		queued := make([]bool, len(list))
		for i := range list {
			work[i], queued[i] = i, true
		}
		for len(work) > 0 {
			i := work[0]
			work = work[1:]
			queued[i] = false
			if !step(i, list[i]) {
				continue
			}
			for _, c := range v.In(list[i]) {
				if k, ok := s.rel[c.Inst]; ok && !stage.IsSpawn(c.Kind) && !queued[k] {
					queued[k] = true
					work = append(work, k)
				}
			}
		}
	}
	for i, n := range list {
		for _, c := range r.starts[n] {
			s.any[i] = r.sets.Or(s.any[i], r.start[c])
		}
	}
	upwards(func(i int, n pta.InstID) bool {
		old := s.any[i]
		for _, e := range v.Res.Insts[n].Out {
			if k, ok := s.rel[e.Callee]; ok && !stage.IsSpawn(e.Kind) && v.Has(n, e) {
				s.any[i] = r.sets.Or(s.any[i], s.any[k])
			}
		}
		return s.any[i] != old
	})
	// From "returns never" downwards to a fixed point: kills only shrink and
	// gens only grow.
	for i := range list {
		s.exit[i] = effect{stage.None, r.all}
	}
	upwards(func(i int, n pta.InstID) bool {
		heads, exit := r.flow(s, n)
		s.heads[i] = heads
		changed := exit != s.exit[i]
		s.exit[i] = exit
		return changed
	})
	return s
}

// waits reports whether instance n waits for a join that t owns.
func (r *running) waits(t int, n pta.InstID) bool {
	f := r.v.Res.Func(n)
	if f == nil {
		return false
	}
	for i := range f.Syncs {
		if r.joinAt(t, n, uint32(i)) >= 0 {
			return true
		}
	}
	return slices.ContainsFunc(r.joins, func(j join) bool {
		return j.Owner == t && j.tally != nil && slices.ContainsFunc(j.tally.edges, func(e edgeKey) bool { return e.n == n && j.tally.kills[e] })
	})
}

// edge returns the effect of an edge of control flow. (R3)
func (r *running) edge(s *summaries, e edgeKey) (out effect) {
	for j := range r.joins {
		if c := r.joins[j].tally; c != nil && r.joins[j].Owner == s.owner && c.kills[e] {
			out = r.then(out, effect{stage.None, r.kill[j]})
		}
	}
	return out
}

// joinAt returns the join that Syncs[row] of n waits for on behalf of t, or -1.
func (r *running) joinAt(t int, n pta.InstID, row uint32) int {
	y := &r.v.Res.Func(n).Syncs[row]
	if y.Op != facts.SyncWait {
		return -1
	}
	c, ok := r.v.Single(n, y.Obj)
	if !ok {
		return -1
	}
	for j := range r.joins {
		if r.joins[j].Cell == c && r.joins[j].Owner == t {
			return j
		}
	}
	return -1
}

// point returns the effect of a point of n, and what may have been started
// where it panics. No effect is the zero effect.
func (r *running) point(s *summaries, n pta.InstID, pt facts.Point) (out effect, panics stage.Set) {
	if pt.Op == facts.OpSync && s.owner >= 0 {
		if j := r.joinAt(s.owner, n, pt.Row); j >= 0 {
			return effect{stage.None, r.kill[j]}, stage.None
		}
	}
	for i, e := range r.v.EdgesAt(n, pt) {
		one := effect{}
		if stage.IsSpawn(e.Kind) {
			one.gen = r.start[r.v.ThreadAt(n, e)]
		} else if k, ok := s.rel[e.Callee]; ok {
			one = s.exit[k]
			if e.Kind == pta.EdgeAny { // any number of times
				one = effect{s.any[k], stage.None}
			}
			panics = r.sets.Or(panics, s.any[k])
		}
		if i == 0 {
			out = one
		} else {
			out = r.meet(out, one)
		}
	}
	return out, panics
}

func (r *running) apply(s stage.Set, e effect) stage.Set {
	return r.sets.Or(r.sets.AndNot(s, e.kill), e.gen)
}

// then returns the effect of e followed by f.
func (r *running) then(e, f effect) effect {
	if f == (effect{}) {
		return e
	}
	return effect{r.apply(e.gen, f), r.sets.Or(e.kill, f.kill)}
}

func (r *running) meet(e, f effect) effect {
	return effect{r.sets.Or(e.gen, f.gen), r.sets.And(e.kill, f.kill)}
}

// flow returns the effects of getting from the entry of n to the heads of its
// blocks and to its returns, from its callees' summaries.
func (r *running) flow(s *summaries, n pta.InstID) (in []effect, out effect) {
	f := r.v.Res.Func(n)
	in = make([]effect, len(f.Blocks))
	for b := range in {
		in[b] = unreached
	}
	in[0] = effect{}
	out = effect{stage.None, r.all}
	if f.Is(facts.FnAnyOrder) {
		return in, r.flowAnyOrder(s, n, in)
	}
	for changed := true; changed; {
		changed = false
		to := func(b int, e effect) {
			if in[b] != unreached {
				e = r.meet(in[b], e)
			}
			if e != in[b] {
				in[b] = e
				changed = true
			}
		}
	blocks:
		for b := range f.Blocks {
			if in[b] == unreached {
				continue
			}
			blk := &f.Blocks[b]
			x, thrown := in[b], unreached // thrown: the last effect that went to Panic
			for p := blk.Start; p < blk.End; p++ {
				pt := f.Points[p]
				e, panics := r.point(s, n, pt)
				if pt.Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					if y := r.then(x, effect{panics, stage.None}); y != thrown {
						to(int(blk.Panic), y)
						thrown = y
					}
				}
				x = r.then(x, e)
				if r.v.Cut(n, p) {
					continue blocks
				}
			}
			for k, q := range blk.Succs {
				to(int(q), r.then(x, r.edge(s, edgeKey{n, b, k})))
			}
			if blk.Return {
				out = r.meet(out, x)
			}
		}
	}
	return in, out
}

// flowAnyOrder is flow for the entries of a test binary (facts.FnAnyOrder). What
// a test leaves running may run in all others of its kind, but not when it is
// itself started, which happens once; that others wait for something is not
// known, since they may be left out.
func (r *running) flowAnyOrder(s *summaries, n pta.InstID, in []effect) (out effect) {
	f := r.v.Res.Func(n)
	through := func(b int, x effect) effect {
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			e, _ := r.point(s, n, f.Points[p])
			x = r.then(x, e)
		}
		return x
	}
	out = effect{stage.None, r.all}
	for b := range f.Blocks { // hubs before the calls that they lead to
		blk := &f.Blocks[b]
		var calls, on []int // calls lead back here
		for _, q := range blk.Succs {
			switch {
			case int(q) < b:
			case slices.Contains(f.Blocks[q].Succs, uint32(b)):
				calls = append(calls, int(q))
			default:
				on = append(on, int(q))
			}
		}
		x := through(b, in[b])
		if len(calls) > 0 {
			// What those before and those after each call start.
			before, after := make([]stage.Set, len(calls)+1), make([]stage.Set, len(calls)+1)
			for i, q := range calls {
				before[i+1] = r.sets.Or(before[i], through(q, effect{}).gen)
			}
			for i, q := range slices.Backward(calls) {
				after[i] = r.sets.Or(after[i+1], through(q, effect{}).gen)
			}
			for i, q := range calls {
				in[q] = r.then(x, effect{r.sets.Or(before[i], after[i+1]), stage.None})
			}
			x = r.then(x, effect{after[0], stage.None})
			in[b] = x
		}
		for _, q := range on {
			in[q] = x
		}
		if blk.Return {
			out = r.meet(out, x)
		}
	}
	return out
}

// enter computes the entry states of a group, top-down.
func (r *running) enter(g *group) {
	v := r.v
	g.entry = make([]stage.Set, len(v.Res.Insts))
	g.reach = stage.NewBits(len(v.Res.Insts))
	var work []pta.InstID
	queued := stage.NewBits(len(v.Res.Insts))
	push := func(n pta.InstID, s stage.Set) {
		s = r.sets.Or(g.entry[n], s)
		if (g.reach.Add(int(n)) || s != g.entry[n]) && queued.Add(int(n)) {
			work = append(work, n)
		}
		g.entry[n] = s
	}
	for _, t := range g.threads { // (R1)
		push(v.Threads[t].Entry, stage.None)
	}
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued.Remove(int(n))
		f := v.Res.Func(n)
		if f == nil {
			continue
		}
		if _, ok := g.rel[n]; !ok {
			for _, e := range v.Res.Insts[n].Out {
				if !stage.IsSpawn(e.Kind) && v.Has(n, e) {
					push(e.Callee, g.entry[n])
				}
			}
			continue
		}
		r.walk(g, n, func(p uint32, s stage.Set) {
			for _, e := range v.EdgesAt(n, f.Points[p]) {
				if !stage.IsSpawn(e.Kind) {
					push(e.Callee, s)
				}
			}
		})
	}
}

// walk calls f with every reached point of n and the state before it.
func (r *running) walk(g *group, n pta.InstID, visit func(p uint32, s stage.Set)) {
	f := r.v.Res.Func(n)
	heads := g.heads[g.rel[n]]
	for b := range f.Blocks {
		if heads[b] == unreached {
			continue
		}
		s := r.apply(g.entry[n], heads[b])
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			visit(p, s)
			e, _ := r.point(g.summaries, n, f.Points[p])
			s = r.apply(s, e)
		}
	}
}

// At returns the elements that may run while thread t is at point p of n.
func (r *running) At(t int, n pta.InstID, p uint32) stage.Set {
	g := r.of[t]
	if g == nil || !g.reach.Has(int(n)) {
		return stage.None
	}
	s := g.entry[n]
	if i, ok := g.rel[n]; ok {
		fl := r.v.Flow(n)
		b := fl.Block(p)
		if g.heads[i][b] == unreached {
			return stage.None
		}
		s = r.apply(s, g.heads[i][b])
		for q := fl.F.Blocks[b].Start; q < p; q++ {
			e, _ := r.point(g.summaries, n, fl.F.Points[q])
			s = r.apply(s, e)
		}
	}
	return r.sets.And(s, r.below[t])
}

// AtEnd returns the elements that may run while thread t is at the end of a block.
func (r *running) AtEnd(t int, n pta.InstID, b int) stage.Set {
	g := r.of[t]
	if g == nil || !g.reach.Has(int(n)) {
		return stage.None
	}
	s := g.entry[n]
	if i, ok := g.rel[n]; ok {
		if g.heads[i][b] == unreached {
			return stage.None
		}
		s = r.apply(s, g.heads[i][b])
		f := r.v.Res.Func(n)
		for q := f.Blocks[b].Start; q < f.Blocks[b].End; q++ {
			e, _ := r.point(g.summaries, n, f.Points[q])
			s = r.apply(s, e)
		}
	}
	return r.sets.And(s, r.below[t])
}

// killDescendants extends the kills by (R4) and reports whether any grew.
func (r *running) killDescendants() bool {
	grew := false
	for j := range r.joins {
		jn := &r.joins[j]
		for _, c := range jn.Joined {
			for i := range r.joins {
				for k, d := range r.joins[i].Joined {
					e := r.elem[i] + k
					if r.sets.Has(r.kill[j], e) || !r.only(d, c, jn) {
						continue
					}
					runs := false
					for _, s := range jn.done[c] {
						runs = runs || r.sets.Has(r.At(c, s.Inst, s.Point), e)
					}
					if !runs {
						r.kill[j] = r.sets.Or(r.kill[j], r.sets.One(e))
						grew = true
					}
				}
			}
		}
	}
	return grew
}

// only reports whether d is started by c alone, and before c's Done.
func (r *running) only(d, c int, jn *join) bool {
	th := &r.v.Threads[d]
	if len(th.Parents) != 1 || th.Parents[0] != c {
		return false
	}
	for _, s := range startsOf(r.v, d) {
		if jn.after[c].Has(r.v, s.Inst, s.Point) {
			return false
		}
	}
	return true
}
