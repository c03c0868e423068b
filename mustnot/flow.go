package mustnot

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// names calls f with the names of the object that a register points to.
func (l *Locks) names(n pta.InstID, sh *shape, r facts.Reg, write bool, f func(Name)) {
	rt := sh.roots[r]
	f(Name{Reg: rt.reg, Off: rt.off, Write: write})
	if c, ok := l.v.Single(n, r); ok && l.oneObject(c) {
		f(Name{Object: true, Cell: c, Write: write})
	}
}

// oneObject reports whether a cell is one variable of one object.
func (l *Locks) oneObject(c uint32) bool {
	one, ok := l.one[c]
	if !ok {
		o, off := l.v.Res.Object(c)
		ob := &l.v.Res.Objs[o]
		one = ob.Type != 0 && !ob.Untyped && l.v.Res.Cell(o, off).Array == 0 && l.v.OnceObject(o)
		l.one[c] = one
	}
	return one
}

// mayBe reports whether a name may be one of the numbered cells.
func (l *Locks) mayBe(n pta.InstID, name Name, cells stage.Set) bool {
	if name.Once { // (O2)
		return false
	}
	if name.Object {
		i, ok := l.index[name.Cell]
		return ok && l.cells.Has(cells, i)
	}
	near := l.nearOf(n, name.Reg)
	if near == stage.None || cells == stage.None {
		return false
	}
	k := [2]stage.Set{near, cells}
	m, ok := l.meets[k]
	if !ok {
		m = l.cells.Bits(near).Meets(l.cells.Bits(cells))
		l.meets[k] = m
	}
	return m
}

// nearOf returns the numbered cells in the objects that a register points to:
// the safe answer to which of them a name with that root may be. Registers of
// many instances point to one set, so it is kept by set.
func (l *Locks) nearOf(n pta.InstID, r facts.Reg) stage.Set {
	pts := l.v.Res.PointsTo(n, r, 0)
	s, ok := l.near[pts]
	if !ok {
		b := stage.NewBits(len(l.index))
		var last pta.ObjID // 0 is no object
		pts.Each(func(c uint32) {
			o, _ := l.v.Res.Object(c)
			if o == last {
				return // its cells follow each other
			}
			last = o
			ob := &l.v.Res.Objs[o]
			for i := range ob.N {
				if k, ok := l.index[ob.Node+i]; ok {
					b.Add(k)
				}
			}
		})
		s = l.cells.Of(b)
		l.near[pts] = s
	}
	return s
}

// cellsOf returns the numbered cells that a register points to.
func (l *Locks) cellsOf(n pta.InstID, r facts.Reg) stage.Set {
	pts := l.v.Res.PointsTo(n, r, 0)
	s, ok := l.exact[pts]
	if !ok {
		b := stage.NewBits(len(l.index))
		pts.Each(func(c uint32) {
			if k, ok := l.index[c]; ok {
				b.Add(k)
			}
		})
		s = l.cells.Of(b)
		l.exact[pts] = s
	}
	return s
}

// holds reports whether h has a name of what r points to.
func (l *Locks) holds(n pta.InstID, sh *shape, h held, r facts.Reg) bool {
	if h == nothing {
		return false
	}
	s, found := l.sets.sets[h], false
	for _, w := range [2]bool{true, false} {
		l.names(n, sh, r, w, func(name Name) { found = found || s.has(name) })
	}
	return found
}

// step returns the state after a point, and the state where it panics.
func (l *Locks) step(n pta.InstID, f *facts.Func, sh *shape, sp *shapePoint, s held) (out, panics held) {
	panics = s
	if sp.def != facts.NoReg && s != nothing { // (L5)
		s = l.sets.drop(s, func(m Name) bool { return !m.Object && m.Reg == sp.def })
	}
	switch sp.kind {
	case sync:
		y, ok := l.opAt(n, f, sp.point)
		switch {
		case !ok:
		case y.acquire: // (L2)
			l.names(n, sh, y.obj, y.write, func(name Name) {
				name.Once = y.once
				s = l.sets.with(s, name)
			})
		default: // (L3)
			if s == nothing {
				break
			}
			set := l.cellsOf(n, y.obj)
			s = l.sets.drop(s, func(m Name) bool { return l.mayBe(n, m, set) })
			panics = s
		}
	case call: // (L4)
		gained, some := nothing, false
		panics = s
		for _, e := range l.v.EdgesAt(n, f.Points[sp.point]) {
			g := nothing
			if !stage.IsSpawn(e.Kind) && l.rel.Has(int(e.Callee)) {
				if r := l.releases[e.Callee]; s != nothing && r != stage.None {
					gone := func(m Name) bool { return l.mayBe(n, m, r) }
					s = l.sets.drop(s, gone)
					if !l.relocks(e.Callee) { // (L8)
						panics = l.sets.drop(panics, gone)
					}
				}
				if e.Kind == pta.EdgeCall {
					g = l.translateOut(f, sh, e)
				}
			}
			if some {
				g = l.sets.meet(gained, g)
			}
			gained, some = g, true
		}
		s = l.sets.union(s, gained)
	}
	return s, panics
}

// translateOut gives a callee's acquires names in the caller: objects as they
// are, parameters as the arguments.
func (l *Locks) translateOut(f *facts.Func, sh *shape, e pta.Edge) held {
	acquired := l.acquires[e.Callee]
	if acquired == nothing {
		return nothing
	}
	g := l.v.Res.Func(e.Callee)
	call := &f.Calls[e.Row]
	out := nothing
	for _, m := range l.sets.sets[acquired] {
		if m.Object {
			out = l.sets.with(out, m)
			continue
		}
		for i, p := range g.Params {
			if p != m.Reg {
				continue
			}
			if a := argument(call, i); a != facts.NoReg {
				out = l.sets.with(out, m.at(sh.roots[a].reg, m.Off+sh.roots[a].off))
			}
		}
		for _, b := range l.bound(f, e) {
			if b.free == m.Reg {
				out = l.sets.with(out, m.at(sh.roots[b.to].reg, m.Off+sh.roots[b.to].off))
			}
		}
	}
	return out
}

// argument returns the register that a call passes for parameter i; NoReg
// where it is none of the caller's (the receiver of an interface call).
func argument(call *facts.Call, i int) facts.Reg {
	if call.Method != 0 {
		i--
	}
	if i < 0 || i >= len(call.Args) {
		return facts.NoReg
	}
	return call.Args[i]
}

// translateIn gives what a caller holds names in the callee. (L1)
func (l *Locks) translateIn(n pta.InstID, f *facts.Func, sh *shape, e pta.Edge, h held) held {
	out := l.inBody(n, f, e)
	if h == nothing {
		return out
	}
	s := l.sets.sets[h]
	for _, m := range s {
		if m.Object {
			out = l.sets.with(out, m)
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
		rt := sh.roots[a]
		for _, m := range s {
			if !m.Object && m.Reg == rt.reg {
				out = l.sets.with(out, m.at(p, m.Off-rt.off))
			}
		}
	}
	for _, b := range l.bound(f, e) {
		for _, m := range s {
			if rt := sh.roots[b.to]; !m.Object && m.Reg == rt.reg {
				out = l.sets.with(out, m.at(b.free, m.Off-rt.off))
			}
		}
	}
	return out
}

// at is the name of what lies off bytes from another register.
func (m Name) at(r facts.Reg, off int64) Name {
	m.Reg, m.Off = r, off
	return m
}

// flow returns the states at the heads of n's blocks. The result is good until
// the next call.
func (l *Locks) flow(n pta.InstID, f *facts.Func, sh *shape, entry held) []held {
	in := l.heads[:0]
	for range f.Blocks {
		in = append(in, unreached)
	}
	l.heads = in
	in[0] = entry
	for changed := true; changed; {
		changed = false
		meet := func(b int, s held) {
			if in[b] != unreached {
				s = l.sets.meet(in[b], s)
			}
			if s != in[b] {
				in[b] = s
				changed = true
			}
		}
	blocks:
		for b := range f.Blocks {
			s := in[b]
			if s == unreached {
				continue
			}
			blk, pts := &f.Blocks[b], sh.blocks[b].points
			for i := range pts {
				out, panics := l.step(n, f, sh, &pts[i], s)
				if pts[i].throw { // (L6)
					meet(int(blk.Panic), l.sets.meet(s, panics))
				}
				s = out
				if pts[i].kind != other && l.v.Cut(n, pts[i].point) {
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

// walk visits the points of n at which something is locked, unlocked or called,
// with the states before them.
func (l *Locks) walk(n pta.InstID, f *facts.Func, sh *shape, in []held, visit func(sp *shapePoint, s held)) {
	for b := range sh.blocks {
		s := in[b]
		if s == unreached {
			continue
		}
		pts := sh.blocks[b].points
		for i := range pts {
			if pts[i].kind != other {
				visit(&pts[i], s)
			}
			s, _ = l.step(n, f, sh, &pts[i], s)
		}
	}
}

// exit returns what every return of n surely holds, started with nothing.
func (l *Locks) exit(n pta.InstID) held {
	f := l.v.Res.Func(n)
	sh := l.shapeOf(f)
	in := l.flow(n, f, sh, nothing)
	out := unreached
	for b := range f.Blocks {
		s := in[b]
		if s == unreached || !f.Blocks[b].Return {
			continue
		}
		pts, through := sh.blocks[b].points, true
		for i := range pts {
			s, _ = l.step(n, f, sh, &pts[i], s)
			through = through && (pts[i].kind == other || !l.v.Cut(n, pts[i].point))
		}
		if !through {
			continue
		}
		if out != unreached {
			s = l.sets.meet(out, s)
		}
		out = s
	}
	if out == unreached {
		return nothing
	}
	return out
}
