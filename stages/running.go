package stages

import (
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
//	(R3) a Wait of join j by j's owner removes (c, j) for the joined threads c
//	(R4) and (d, i) for each d that c alone starts, all before its Done, if
//	     (d, i) is not running at any Done of c either
//	(R5) states meet by union; a call applies its callees' summaries; what a
//	     callee starts may run where its panic goes
type running struct {
	v      *stage.View
	joins  []join
	n      int   // elements
	elem   []int // first join element of each join
	spawns stage.Bits
	rel    []stage.Bits                // per thread: instances that start or wait, or call one that does
	entry  []map[pta.InstID]stage.Bits // per thread, non-empty states only
	sum    []map[pta.InstID]*effect
	any    []map[pta.InstID]stage.Bits // all that an instance may start
	kill   map[int]stage.Bits          // by join: what its Wait removes
	empty  stage.Bits
	blocks map[runKey][]stage.Bits
}

type runKey struct {
	t int
	n pta.InstID
}

// effect is the summary of a call: out = in minus kill, plus gen.
type effect struct{ gen, kill stage.Bits }

func newRunning(v *stage.View, joins []join) *running {
	r := &running{v: v, joins: joins, n: len(v.Threads), kill: map[int]stage.Bits{}}
	for i := range joins {
		r.elem = append(r.elem, r.n)
		r.n += len(joins[i].Joined)
	}
	r.empty = stage.NewBits(r.n)
	for j := range joins { // (R3)
		k := stage.NewBits(r.n)
		for i := range joins[j].Joined {
			k.Add(r.elem[j] + i)
		}
		r.kill[j] = k
	}
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

// start returns what starting thread c adds. (R2)
func (r *running) start(c int) stage.Bits {
	b := stage.NewBits(r.n)
	add := func(t int) {
		b.Add(t)
		for j := range r.joins {
			for i, x := range r.joins[j].Joined {
				if x == t {
					b.Add(r.elem[j] + i)
				}
			}
		}
	}
	add(c)
	for d := range r.v.Threads {
		if r.v.Threads[c].Desc.Has(d) {
			add(d)
		}
	}
	return b
}

func (r *running) solve() {
	v := r.v
	nt := len(v.Threads)
	r.rel = make([]stage.Bits, nt)
	r.entry = make([]map[pta.InstID]stage.Bits, nt)
	r.sum = make([]map[pta.InstID]*effect, nt)
	r.any = make([]map[pta.InstID]stage.Bits, nt)
	r.blocks = map[runKey][]stage.Bits{}
	starts := make(map[pta.InstID][]int)
	for t := 1; t < nt; t++ {
		starts[v.Threads[t].Spawner] = append(starts[v.Threads[t].Spawner], t)
	}
	owns := make([]bool, nt)
	for j := range r.joins {
		owns[r.joins[j].Owner] = true
	}
	var common *summaries // of all threads that own no join: they differ in nothing
	for t := range v.Threads {
		if v.Threads[t].Desc.Empty() {
			continue // starts nothing: (R1) holds throughout
		}
		var s *summaries
		if owns[t] {
			s = r.summaries(t, v.Threads[t].Reach, starts)
		} else {
			if common == nil {
				common = r.summaries(t, v.Live, starts)
			}
			s = common
		}
		r.rel[t], r.any[t], r.sum[t] = s.rel, s.any, s.sum
		r.solveThread(t)
	}
}

// summaries are the effects of the instances that start or wait, or call one
// that does.
type summaries struct {
	rel stage.Bits
	any map[pta.InstID]stage.Bits
	sum map[pta.InstID]*effect
}

// summaries computes the effects of the instances in within on behalf of
// thread t, bottom-up to a fixed point.
func (r *running) summaries(t int, within stage.Bits, starts map[pta.InstID][]int) *summaries {
	v := r.v
	rel := stage.NewBits(len(v.Res.Insts))
	any := map[pta.InstID]stage.Bits{}
	var todo, list []pta.InstID
	mark := func(n pta.InstID) {
		if within.Has(int(n)) && rel.Add(int(n)) {
			todo = append(todo, n)
		}
	}
	for n := range v.Res.Insts {
		id := pta.InstID(n)
		if !within.Has(n) || v.Res.Func(id) == nil {
			continue
		}
		if len(starts[id]) > 0 || r.waits(t, id) {
			mark(id)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		list = append(list, n)
		for _, c := range v.In(n) {
			if !stage.IsSpawn(c.Kind) {
				mark(c.Inst)
			}
		}
	}
	for _, n := range list {
		b := stage.NewBits(r.n)
		for _, c := range starts[n] {
			b.Or(r.start(c))
		}
		any[n] = b
	}
	// upwards runs step on every instance, and again on the callers of those
	// for which it reports a change.
	upwards := func(step func(n pta.InstID) bool) {
		work := append([]pta.InstID(nil), list...)
		queued := make(map[pta.InstID]bool, len(list))
		for _, n := range list {
			queued[n] = true
		}
		for len(work) > 0 {
			n := work[0]
			work = work[1:]
			queued[n] = false
			if !step(n) {
				continue
			}
			for _, c := range v.In(n) {
				if !stage.IsSpawn(c.Kind) && rel.Has(int(c.Inst)) && !queued[c.Inst] {
					queued[c.Inst] = true
					work = append(work, c.Inst)
				}
			}
		}
	}
	upwards(func(n pta.InstID) bool {
		grew := false
		for _, e := range v.Res.Insts[n].Out {
			if b := any[e.Callee]; b != nil && !stage.IsSpawn(e.Kind) && v.Has(n, e) {
				grew = any[n].Or(b) || grew
			}
		}
		return grew
	})
	// From "returns never" downwards to a fixed point: kills only shrink and
	// gens only grow.
	sum := map[pta.InstID]*effect{}
	r.rel[t], r.any[t], r.sum[t] = rel, any, sum
	for _, n := range list {
		sum[n] = r.never()
	}
	upwards(func(n pta.InstID) bool {
		e, old := r.summary(t, n), sum[n]
		if same(e.gen, old.gen) && same(e.kill, old.kill) {
			return false
		}
		sum[n] = e
		return true
	})
	return &summaries{rel, any, sum}
}

// solveThread computes the entry states of thread t, top-down.
func (r *running) solveThread(t int) {
	v, th, rel := r.v, &r.v.Threads[t], r.rel[t]
	entry := map[pta.InstID]stage.Bits{th.Entry: stage.NewBits(r.n)}
	r.entry[t] = entry
	work := []pta.InstID{th.Entry}
	queued := map[pta.InstID]bool{th.Entry: true}
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued[n] = false
		if v.Res.Func(n) == nil {
			continue
		}
		push := func(callee pta.InstID, s stage.Bits) {
			old, ok := entry[callee]
			if !ok {
				old = stage.NewBits(r.n)
				entry[callee] = old
			}
			if (old.Or(s) || !ok) && !queued[callee] {
				queued[callee] = true
				work = append(work, callee)
			}
		}
		if !rel.Has(int(n)) {
			for _, e := range v.Res.Insts[n].Out {
				if !stage.IsSpawn(e.Kind) && v.Has(n, e) {
					push(e.Callee, entry[n])
				}
			}
			continue
		}
		in := r.flowBlocks(t, n, entry[n])
		r.walk(t, n, in, func(p uint32, s stage.Bits) {
			r.calls(n, p, func(e pta.Edge) {
				if !stage.IsSpawn(e.Kind) {
					push(e.Callee, s)
				}
			})
		})
	}
}

func same(a, b stage.Bits) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// never is the effect of a call that does not return.
func (r *running) never() *effect {
	k := stage.NewBits(r.n)
	for i := range r.n {
		k.Add(i)
	}
	return &effect{stage.NewBits(r.n), k}
}

// waits reports whether instance n waits for a join that t owns.
func (r *running) waits(t int, n pta.InstID) bool {
	f := r.v.Res.Func(n)
	for i := range f.Syncs {
		if f.Syncs[i].Op == facts.SyncWait && r.joinAt(t, n, uint32(i)) >= 0 {
			return true
		}
	}
	return false
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

// calls calls f with the edges of the view that leave instance n at point p.
func (r *running) calls(n pta.InstID, p uint32, f func(pta.Edge)) {
	pt := r.v.Res.Func(n).Points[p]
	if pt.Op != facts.OpCall && pt.Op != facts.OpAny {
		return
	}
	for _, e := range r.v.Res.Insts[n].Out {
		isAny := e.Kind == pta.EdgeAny || e.Kind == pta.EdgeAnyGo
		if e.Row == pt.Row && isAny == (pt.Op == facts.OpAny) && r.v.Has(n, e) {
			f(e)
		}
	}
}

// threadOf returns the thread that a spawn edge starts.
func (r *running) threadOf(n pta.InstID, e pta.Edge) int {
	for t := 1; t < len(r.v.Threads); t++ {
		th := &r.v.Threads[t]
		if th.Spawner == n && th.Kind == e.Kind && th.Row == e.Row && th.Entry == e.Callee {
			return t
		}
	}
	panic("stages: spawn edge without thread")
}

// pointEffect returns the effect of point p, or nil for none, and what may
// have been started where it panics.
func (r *running) pointEffect(t int, n pta.InstID, p uint32) (e *effect, panics stage.Bits) {
	f := r.v.Res.Func(n)
	pt := f.Points[p]
	switch pt.Op {
	case facts.OpSync:
		if j := r.joinAt(t, n, pt.Row); j >= 0 {
			return &effect{r.empty, r.kill[j]}, nil
		}
	case facts.OpCall, facts.OpAny:
		callees := 0
		r.calls(n, p, func(ed pta.Edge) {
			callees++
			var one *effect
			switch {
			case stage.IsSpawn(ed.Kind):
				one = &effect{r.start(r.threadOf(n, ed)), r.empty}
			case r.rel[t].Has(int(ed.Callee)):
				one = r.sum[t][ed.Callee]
				if ed.Kind == pta.EdgeAny { // any number of times
					one = &effect{r.any[t][ed.Callee], r.empty}
				}
				if panics == nil {
					panics = stage.NewBits(r.n)
				}
				panics.Or(r.any[t][ed.Callee])
			default:
				one = &effect{r.empty, r.empty}
			}
			if e == nil {
				e = &effect{one.gen.Clone(), one.kill.Clone()}
				return
			}
			e.gen.Or(one.gen)
			for i := range e.kill {
				e.kill[i] &= one.kill[i]
			}
		})
	}
	return e, panics
}

func (e *effect) apply(s stage.Bits) {
	for i := range s {
		s[i] = s[i]&^e.kill[i] | e.gen[i]
	}
}

// then makes e the effect of e followed by f.
func (e *effect) then(f *effect) {
	for i := range e.gen {
		e.gen[i] = e.gen[i]&^f.kill[i] | f.gen[i]
		e.kill[i] |= f.kill[i]
	}
}

// summary computes the effect of instance n from its callees'.
func (r *running) summary(t int, n pta.InstID) *effect {
	f := r.v.Res.Func(n)
	in := make([]*effect, len(f.Blocks))
	in[0] = &effect{r.empty.Clone(), r.empty.Clone()}
	out := r.never()
	meet := func(b int, e *effect) bool {
		if in[b] == nil {
			in[b] = &effect{e.gen.Clone(), e.kill.Clone()}
			return true
		}
		changed := in[b].gen.Or(e.gen)
		for i := range in[b].kill {
			if k := in[b].kill[i] & e.kill[i]; k != in[b].kill[i] {
				in[b].kill[i] = k
				changed = true
			}
		}
		return changed
	}
	for changed := true; changed; {
		changed = false
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			blk := &f.Blocks[b]
			s := &effect{in[b].gen.Clone(), in[b].kill.Clone()}
			for p := blk.Start; p < blk.End; p++ {
				e, panics := r.pointEffect(t, n, p)
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					x := &effect{s.gen.Clone(), s.kill.Clone()}
					if panics != nil {
						x.then(&effect{panics, r.empty})
					}
					changed = meet(int(blk.Panic), x) || changed
				}
				if e != nil {
					s.then(e)
				}
			}
			for _, q := range blk.Succs {
				changed = meet(int(q), s) || changed
			}
			if blk.Return {
				out.gen.Or(s.gen)
				for i := range out.kill {
					out.kill[i] &= s.kill[i]
				}
			}
		}
	}
	return out
}

// flowBlocks returns the states at the heads of n's blocks; nil is unreached.
func (r *running) flowBlocks(t int, n pta.InstID, entry stage.Bits) []stage.Bits {
	f := r.v.Res.Func(n)
	in := make([]stage.Bits, len(f.Blocks))
	in[0] = entry.Clone()
	for changed := true; changed; {
		changed = false
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			blk := &f.Blocks[b]
			s := in[b].Clone()
			flow := func(q int, s stage.Bits) {
				if in[q] == nil {
					in[q] = s.Clone()
					changed = true
				} else if in[q].Or(s) {
					changed = true
				}
			}
			for p := blk.Start; p < blk.End; p++ {
				e, panics := r.pointEffect(t, n, p)
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					x := s
					if panics != nil {
						x = s.Clone()
						x.Or(panics)
					}
					flow(int(blk.Panic), x)
				}
				if e != nil {
					e.apply(s)
				}
			}
			for _, q := range blk.Succs {
				flow(int(q), s)
			}
		}
	}
	return in
}

// walk calls f with every reached point of n and the state before it.
func (r *running) walk(t int, n pta.InstID, in []stage.Bits, f func(p uint32, s stage.Bits)) {
	fn := r.v.Res.Func(n)
	for b := range fn.Blocks {
		if in[b] == nil {
			continue
		}
		s := in[b].Clone()
		for p := fn.Blocks[b].Start; p < fn.Blocks[b].End; p++ {
			f(p, s)
			if e, _ := r.pointEffect(t, n, p); e != nil {
				e.apply(s)
			}
		}
	}
}

// At returns the elements that may run while thread t is at point p of n.
// The caller must not change the result.
func (r *running) At(t int, n pta.InstID, p uint32) stage.Bits {
	if r.entry[t] == nil {
		return r.empty
	}
	entry, ok := r.entry[t][n]
	if !ok {
		return r.empty // not reached
	}
	if !r.rel[t].Has(int(n)) {
		return entry
	}
	k := runKey{t, n}
	in, ok := r.blocks[k]
	if !ok {
		in = r.flowBlocks(t, n, entry)
		r.blocks[k] = in
	}
	fl := r.v.Flow(n)
	b := fl.Block(p)
	if in[b] == nil {
		return r.empty
	}
	s := in[b].Clone()
	for q := fl.F.Blocks[b].Start; q < p; q++ {
		if e, _ := r.pointEffect(t, n, q); e != nil {
			e.apply(s)
		}
	}
	return s
}

// killDescendants extends the kills by (R4) and reports whether any grew.
func (r *running) killDescendants() bool {
	grew := false
	for j := range r.joins {
		jn := &r.joins[j]
		for _, c := range jn.Joined {
			for i := range r.joins {
				for k, d := range r.joins[i].Joined {
					if r.kill[j].Has(r.elem[i]+k) || !r.only(d, c, jn) {
						continue
					}
					runs := false
					for _, s := range jn.done[c] {
						runs = runs || r.At(c, s.Inst, s.Point).Has(r.elem[i]+k)
					}
					if !runs {
						r.kill[j].Add(r.elem[i] + k)
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
	for _, p := range r.v.PointsOf(th.Spawner, th.Kind, th.Row) {
		if jn.after[c].Has(r.v, th.Spawner, p) {
			return false
		}
	}
	return true
}
