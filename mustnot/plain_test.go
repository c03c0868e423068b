package mustnot

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// plain is the plain twin of Locks: rules (L1) to (L8) on every instance that
// locks, unlocks, or calls one that does, point by point and in any order until
// nothing changes. Nothing is shared, skipped or remembered between instances.
type plain struct {
	v        *stage.View
	opAt     func(pta.InstID, *facts.Func, uint32) (lockOp, bool)
	same     func(*facts.Func) map[facts.Reg]facts.Reg
	bound    func(*facts.Func, pta.Edge) []binding
	inBody   func(pta.InstID, *facts.Func, pta.Edge) Set
	once     func(uint32) bool
	rel      map[pta.InstID]bool
	releases map[pta.InstID]map[uint32]bool
	acquires map[pta.InstID]Set
	entry    map[pta.InstID]Set
	roots    map[facts.FuncID][]root
	blocks   map[pta.InstID][]*Set
}

func newPlain(real *Locks) *plain {
	l := &plain{v: real.v, opAt: real.opAt, same: real.Effects().SameLoads, bound: real.bound, once: real.Effects().WrittenOnce,
		inBody: func(n pta.InstID, f *facts.Func, e pta.Edge) Set { return real.sets.sets[real.inBody(n, f, e)] },
		rel:    map[pta.InstID]bool{}, releases: map[pta.InstID]map[uint32]bool{}, acquires: map[pta.InstID]Set{},
		entry: map[pta.InstID]Set{}, roots: map[facts.FuncID][]root{}, blocks: map[pta.InstID][]*Set{}}
	l.solve()
	return l
}

func (s Set) with(n Name) Set {
	if s.has(n) {
		return s
	}
	out := append(slices.Clone(s), n)
	slices.SortFunc(out, Name.less)
	return out
}

func (s Set) without(gone func(Name) bool) Set { return slices.DeleteFunc(slices.Clone(s), gone) }

// both returns what two sets have in common; of a lock that they have in different
// modes only, the weaker one: (L6).
func (s Set) both(t Set) Set {
	common := s.without(func(n Name) bool { return !t.has(n) })
	out := common
	for _, n := range append(slices.Clone(s), t...) {
		w, r := n, n
		w.Write, r.Write = true, false
		if !common.has(w) && (s.has(w) && t.has(r) || s.has(r) && t.has(w)) {
			out = out.with(r)
		}
	}
	return out
}

// add adds the elements of b to a and reports whether any was new.
func add(a, b map[uint32]bool) (grew bool) {
	for c := range b {
		grew = grew || !a[c]
		a[c] = true
	}
	return grew
}

// names returns the names of the object that a register points to.
func (l *plain) names(n pta.InstID, f *facts.Func, r facts.Reg, write bool) []Name {
	rt := l.rootOf(f, r)
	out := []Name{{Reg: rt.reg, Off: rt.off, Write: write}}
	if c, ok := l.v.Single(n, r); ok && l.oneObject(c) {
		out = append(out, Name{Object: true, Cell: c, Write: write})
	}
	return out
}

// oneObject reports whether a cell is one variable of one object.
func (l *plain) oneObject(c uint32) bool {
	o, off := l.v.Res.Object(c)
	ob := &l.v.Res.Objs[o]
	return ob.Type != 0 && !ob.Untyped && l.v.Res.Cell(o, off).Array == 0 && l.v.OnceObject(o)
}

// mayBe reports whether a name may be one of some cells.
func (l *plain) mayBe(n pta.InstID, name Name, cells map[uint32]bool) bool {
	if name.Once {
		return false
	}
	if name.Object {
		return cells[name.Cell]
	}
	found := false
	l.v.Res.PointsTo(n, name.Reg, 0).Each(func(c uint32) {
		o, _ := l.v.Res.Object(c)
		ob := &l.v.Res.Objs[o]
		for i := range ob.N {
			found = found || cells[ob.Node+i]
		}
	})
	return found
}

func (l *plain) cellsOf(n pta.InstID, r facts.Reg) map[uint32]bool {
	out := map[uint32]bool{}
	l.v.Res.PointsTo(n, r, 0).Each(func(c uint32) { out[c] = true })
	return out
}

func (l *plain) solve() {
	v := l.v
	var list, todo []pta.InstID
	mark := func(n pta.InstID) {
		if !l.rel[n] {
			l.rel[n] = true
			list = append(list, n)
			todo = append(todo, n)
		}
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		f := v.Res.Func(pta.InstID(i))
		if f == nil || !v.Live.Has(i) {
			continue
		}
		for p := range f.Points {
			if _, ok := l.opAt(pta.InstID(i), f, uint32(p)); ok {
				mark(pta.InstID(i))
			}
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
	// Releases grow, acquires shrink only where releases grew: start with no
	// releases and no acquires, and go on until nothing changes. Acquires that
	// rest on a callee's grow in the rounds after its own are known.
	slices.Sort(list)
	// Releases first, without any credit for acquires of callees: the largest.
	l.findReleases(list)
	// Now acquires, bottom-up in rounds; each round's releases are recomputed
	// from scratch with the acquires known so far, which can only remove some.
	for range 6 {
		before := l.acquires
		l.acquires = map[pta.InstID]Set{}
		for _, n := range list {
			l.acquires[n] = before[n]
		}
		changed := false
		next := map[pta.InstID]Set{}
		for _, n := range list {
			next[n] = l.exit(n)
			if !slices.Equal(next[n], l.acquires[n]) {
				changed = true
			}
		}
		l.acquires = next
		if !changed {
			break
		}
		l.findReleases(list)
	}
	l.enter()
}

// findReleases computes the releases with the present acquires, as a smallest
// solution from nothing.
func (l *plain) findReleases(list []pta.InstID) {
	queued := make(map[pta.InstID]bool, len(list))
	work := append([]pta.InstID(nil), list...)
	for _, n := range list {
		l.releases[n] = map[uint32]bool{}
		queued[n] = true
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		queued[n] = false
		if !l.summarise(n) {
			continue
		}
		// Its callers see more, and so does n itself if it is one of them.
		for _, c := range l.v.In(n) {
			if !stage.IsSpawn(c.Kind) && l.rel[c.Inst] && !queued[c.Inst] {
				queued[c.Inst] = true
				work = append(work, c.Inst)
			}
		}
	}
}

// summarise adds to n's releases what its points may release unbalanced, and
// reports whether they grew.
func (l *plain) summarise(n pta.InstID) bool {
	f := l.v.Res.Func(n)
	in := l.flow(n, nil)
	grew := false
	l.walk(n, f, in, func(p uint32, s Set) {
		pt := f.Points[p]
		switch pt.Op {
		case facts.OpSync, facts.OpSelect:
			if y, ok := l.opAt(n, f, p); ok && !y.acquire && !l.holds(n, f, s, y.obj) {
				grew = add(l.releases[n], l.cellsOf(n, y.obj)) || grew
			}
		case facts.OpCall, facts.OpAny:
			l.callees(n, p, func(e pta.Edge) {
				if r := l.releases[e.Callee]; r != nil && !stage.IsSpawn(e.Kind) {
					if l.unbalanced(n, f, e, s) {
						grew = add(l.releases[n], r) || grew
					}
				}
			})
		}
	})
	return grew
}

// unbalanced reports whether the callee of e may release what n does not surely
// hold by itself. A callee that releases exactly its parameter (Unlock itself)
// releases what n passes.
func (l *plain) unbalanced(n pta.InstID, f *facts.Func, e pta.Edge, s Set) bool {
	arg, ok := l.releasedParam(f, e)
	return !ok || !l.holds(n, f, s, arg)
}

// releasedParam returns the argument whose target a callee releases, if the
// callee releases nothing else: its one release is of a parameter itself.
func (l *plain) releasedParam(f *facts.Func, e pta.Edge) (facts.Reg, bool) {
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
func (l *plain) plainRelease(n pta.InstID) bool {
	f := l.v.Res.Func(n)
	return len(f.Syncs) == 1 && len(f.Selects) == 0 && f.Syncs[0].Op == facts.SyncRelease && len(f.Calls)+len(f.Anys) == 0
}

// holds reports whether s has a name of what r points to.
func (l *plain) holds(n pta.InstID, f *facts.Func, s Set, r facts.Reg) bool {
	for _, w := range [2]bool{true, false} {
		for _, name := range l.names(n, f, r, w) {
			if s.has(name) {
				return true
			}
		}
	}
	return false
}

// callees calls f with the edges of the view that leave n at p.
func (l *plain) callees(n pta.InstID, p uint32, f func(pta.Edge)) {
	for _, e := range l.v.EdgesAt(n, l.v.Res.Func(n).Points[p]) {
		f(e)
	}
}

// step returns the state after point p, and what the callee may release in
// case it panics (nil: nothing).
func (l *plain) step(n pta.InstID, f *facts.Func, p uint32, s Set) (out Set, panics Set) {
	pt := f.Points[p]
	panics = s
	if d := f.Defines(pt); d != facts.NoReg { // (L5)
		s = s.without(func(m Name) bool { return !m.Object && m.Reg == d })
	}
	switch pt.Op {
	case facts.OpSync, facts.OpSelect:
		y, ok := l.opAt(n, f, p)
		switch {
		case !ok:
		case y.acquire: // (L2)
			for _, name := range l.names(n, f, y.obj, y.write) {
				name.Once = y.once
				s = s.with(name)
			}
		default: // (L3)
			if len(s) == 0 {
				break
			}
			set := l.cellsOf(n, y.obj)
			s = s.without(func(m Name) bool { return l.mayBe(n, m, set) })
			panics = s
		}
	case facts.OpCall, facts.OpAny: // (L4)
		if len(s) == 0 && !l.mayAcquire(n, p) {
			return s, s
		}
		var gained Set
		first, some := true, false
		l.callees(n, p, func(e pta.Edge) {
			some = true
			if stage.IsSpawn(e.Kind) || !l.rel[e.Callee] {
				gained, first = nil, false
				return
			}
			if r := l.releases[e.Callee]; len(s) > 0 && len(r) > 0 {
				s = s.without(func(m Name) bool { return l.mayBe(n, m, r) })
				if !findRelock(l.v, e.Callee, l.rootOf, l.once) { // (L8)
					panics = panics.without(func(m Name) bool { return l.mayBe(n, m, r) })
				}
			}
			var g Set
			if e.Kind == pta.EdgeCall {
				g = l.translateOut(n, f, e)
			}
			if first {
				gained, first = g, false
			} else {
				gained = gained.both(g)
			}
		})
		if some {
			for _, m := range gained {
				s = s.with(m)
			}
		}
	}
	return s, panics
}

func (l *plain) mayAcquire(n pta.InstID, p uint32) bool {
	any := false
	l.callees(n, p, func(e pta.Edge) {
		any = any || len(l.acquires[e.Callee]) > 0 && !stage.IsSpawn(e.Kind)
	})
	return any
}

// translateOut gives a callee's acquires names in the caller: objects as they
// are, parameters as the arguments.
func (l *plain) translateOut(n pta.InstID, f *facts.Func, e pta.Edge) Set {
	g := l.v.Res.Func(e.Callee)
	call := &f.Calls[e.Row]
	var out Set
	for _, m := range l.acquires[e.Callee] {
		if m.Object {
			out = out.with(m)
			continue
		}
		for i, p := range g.Params {
			if p != m.Reg {
				continue
			}
			if a := argument(call, i); a != facts.NoReg {
				rt := l.rootOf(f, a)
				out = out.with(m.at(rt.reg, rt.off+m.Off))
			}
		}
		for _, b := range l.bound(f, e) {
			if rt := l.rootOf(f, b.to); b.free == m.Reg {
				out = out.with(m.at(rt.reg, rt.off+m.Off))
			}
		}
	}
	return out
}

// translateIn gives what a caller holds names in the callee. (L1)
func (l *plain) translateIn(n pta.InstID, f *facts.Func, e pta.Edge, s Set) Set {
	out := l.inBody(n, f, e)
	for _, m := range s {
		if m.Object {
			out = out.with(m)
		}
	}
	g := l.v.Res.Func(e.Callee)
	if g == nil || e.Kind != pta.EdgeCall {
		return out
	}
	call := &f.Calls[e.Row]
	for i, p := range g.Params {
		a := argument(call, i)
		if a == facts.NoReg {
			continue
		}
		rt := l.rootOf(f, a)
		for _, m := range s {
			if !m.Object && m.Reg == rt.reg {
				out = out.with(m.at(p, m.Off-rt.off))
			}
		}
	}
	for _, b := range l.bound(f, e) {
		for _, m := range s {
			if rt := l.rootOf(f, b.to); !m.Object && m.Reg == rt.reg {
				out = out.with(m.at(b.free, m.Off-rt.off))
			}
		}
	}
	return out
}

// flow returns the states at the heads of n's blocks; nil is unreached.
func (l *plain) flow(n pta.InstID, entry Set) []*Set {
	f := l.v.Res.Func(n)
	in := make([]*Set, len(f.Blocks))
	in[0] = &entry
	for changed := true; changed; {
		changed = false
		meet := func(b int, s Set) {
			if in[b] == nil {
				in[b] = &s
				changed = true
				return
			}
			if m := in[b].both(s); !slices.Equal(m, *in[b]) {
				in[b] = &m
				changed = true
			}
		}
	blocks:
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			blk := &f.Blocks[b]
			s := *in[b]
			for p := blk.Start; p < blk.End; p++ {
				out, panics := l.step(n, f, p, s)
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 { // (L6)
					meet(int(blk.Panic), s.both(panics))
				}
				s = out
				if l.v.Cut(n, p) {
					continue blocks
				}
			}
			for _, q := range blk.Succs {
				meet(int(q), s)
			}
		}
	}
	return in
}

func (l *plain) walk(n pta.InstID, f *facts.Func, in []*Set, visit func(p uint32, s Set)) {
	for b := range f.Blocks {
		if in[b] == nil {
			continue
		}
		s := *in[b]
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			visit(p, s)
			s, _ = l.step(n, f, p, s)
		}
	}
}

// exit returns what every return of n surely holds, started with nothing.
func (l *plain) exit(n pta.InstID) Set {
	f := l.v.Res.Func(n)
	in := l.flow(n, nil)
	var out Set
	first := true
	for b := range f.Blocks {
		if in[b] == nil || !f.Blocks[b].Return {
			continue
		}
		s, through := *in[b], true
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			s, _ = l.step(n, f, p, s)
			through = through && !l.v.Cut(n, p)
		}
		if !through {
			continue
		}
		if first {
			out, first = s, false
		} else {
			out = out.both(s)
		}
	}
	return out
}

// enter computes the entry states top-down, as a greatest fixed point.
func (l *plain) enter() {
	v := l.v
	root := v.Res.Root
	l.entry[root] = nil
	work := []pta.InstID{root}
	queued := map[pta.InstID]bool{root: true}
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued[n] = false
		f := v.Res.Func(n)
		if f == nil {
			continue
		}
		push := func(c pta.InstID, s Set) {
			old, ok := l.entry[c]
			if ok {
				m := old.both(s)
				if slices.Equal(m, old) {
					return
				}
				s = m
			}
			l.entry[c] = s
			if !queued[c] {
				queued[c] = true
				work = append(work, c)
			}
		}
		if !l.rel[n] && len(l.entry[n]) == 0 {
			for _, e := range v.Res.Insts[n].Out {
				if v.Has(n, e) {
					push(e.Callee, nil)
				}
			}
			continue
		}
		in := l.flow(n, l.entry[n])
		l.walk(n, f, in, func(p uint32, s Set) {
			if op := f.Points[p].Op; op != facts.OpCall && op != facts.OpAny {
				return
			}
			l.callees(n, p, func(e pta.Edge) {
				if stage.IsSpawn(e.Kind) {
					push(e.Callee, nil) // (L1)
				} else {
					push(e.Callee, l.translateIn(n, f, e, s))
				}
			})
		})
	}
}

// At returns the names of the locks surely held at point p of n.
func (l *plain) At(n pta.InstID, p uint32) Set {
	entry, ok := l.entry[n]
	if !ok {
		return nil
	}
	if !l.rel[n] && len(entry) == 0 {
		return nil
	}
	in, ok := l.blocks[n]
	if !ok {
		in = l.flow(n, entry)
		l.blocks[n] = in
	}
	fl := l.v.Flow(n)
	b := fl.Block(p)
	if in[b] == nil {
		return nil
	}
	s := *in[b]
	for q := fl.F.Blocks[b].Start; q < p; q++ {
		s, _ = l.step(n, fl.F, q, s)
	}
	return s
}
