package check

import "github.com/bfverify/bfverify/facts"

// findBad finds the cells whose locks guard nothing, since the flows of locks.go do
// not show that they exclude:
//
//	(G1) some release that may be of it is not by who surely holds it, by the
//	     release's own operand
//	(G2) a plain store may overwrite it, other than one that initialises an object
//	     in the block that makes it, with no call or synchronisation in between
//
// Who surely holds a lock that is not bad, for writing, is alone: it is released by
// its holder only, so nobody else acquires it in between; and what the holder did
// comes before the release, and that before the next acquire.
func (k *checker) findBad() {
	for i := 1; i < len(k.c.Insts); i++ {
		id := InstID(i)
		f := k.fn(id)
		for p, pt := range f.Points {
			op, at := k.lockOp(id, f, pt), At{id, uint32(p)}
			if op.release && !k.holds(id, f, k.heldAt(at), op.obj) && !(op.channel && k.first(at, op.obj)) { // (G1)
				for _, c := range k.set(k.pts(id, op.obj, 0)) {
					k.bad[c] = true
				}
			}
		}
	}
}

// findOverwritten finds the cells of (G2).
func (k *checker) findOverwritten() {
	for i := range k.accesses {
		a := &k.accesses[i]
		if !a.write || a.atomic || k.initialises(a.at) {
			continue
		}
		for _, c := range k.touched(a) {
			k.bad[c] = true
		}
	}
}

// initialises reports whether a store is part of the making of its object. (G2)
func (k *checker) initialises(at At) bool {
	f := k.fn(at.Inst)
	if f.Points[at.Point].Op != facts.OpMem {
		return false
	}
	def := f.Regs[f.Mems[f.Points[at.Point].Row].Base].Def
	if def == 0 || f.Points[def-1].Op != facts.OpAlloc || def-1 > at.Point || k.flowOf(f).blockOf[def-1] != k.flowOf(f).blockOf[at.Point] {
		return false
	}
	for p := def; p < at.Point; p++ {
		switch f.Points[p].Op {
		case facts.OpCall, facts.OpAny, facts.OpSync, facts.OpSelect:
			return false
		}
	}
	return true
}

// guard reports whether a name held at an instance's point stands for locks that
// are not bad: for a register, where its objects have a cell at the distance, in
// the same innermost element.
func (k *checker) guard(i InstID, n Fact) bool {
	if n.Reg == 0 {
		return !k.bad[n.Cell]
	}
	pts := k.set(k.pts(i, n.Reg, 0))
	for _, c := range pts {
		id := k.objOf[c]
		if k.objType[id] == 0 {
			return false
		}
		first, found := k.c.Objects[id].First, false
		cells := k.p.Layout(k.objType[id]).Cells
		base := &cells[c-first]
		for j := range cells {
			if cells[j].Array == base.Array && cells[j].Off == base.Off+n.Off {
				found = true
				if k.bad[first+uint32(j)] {
					return false
				}
			}
		}
		if !found {
			return false
		}
	}
	return len(pts) > 0
}

// sameLock judges the evidence that two accesses hold the lock at one cell, one
// variable of the run, one of them for writing.
func (k *checker) sameLock(a, b *access, cell uint32) bool {
	if !k.oneVariable(cell) || k.bad[cell] {
		return false
	}
	s, t := k.heldAt(a.at), k.heldAt(b.at)
	r, w := Fact{Cell: cell}, Fact{Cell: cell, Write: true}
	return s.has(w) && (t.has(w) || t.has(r)) || s.has(r) && t.has(w)
}

// sameBase judges the evidence that two accesses to a cell hold the lock that lies
// delta bytes from what they access, one of them for writing. In each access the
// two addresses are distances from one register, through fields alone; so if the
// locations are one, the locks are.
func (k *checker) sameBase(a, b *access, cell uint32, delta int64) bool {
	for _, m := range [...][2]bool{{true, true}, {true, false}, {false, true}} {
		if k.holdsNear(a, cell, delta, m[0]) && k.holdsNear(b, cell, delta, m[1]) {
			return true
		}
	}
	return false
}

// holdsNear reports whether a lock delta bytes from the accessed cell is held.
func (k *checker) holdsNear(a *access, cell uint32, delta int64, write bool) bool {
	f := k.fn(a.at.Inst)
	if f.Points[a.at.Point].Op != facts.OpMem {
		return false
	}
	m := &f.Mems[f.Points[a.at.Point].Row]
	dist, ok := k.distance(a, m, cell)
	rt := k.rootsOf(f)[m.Base]
	n := Fact{Reg: rt.reg, Off: rt.off + dist + delta, Write: write}
	return ok && k.heldAt(a.at).has(n) && k.guard(a.at.Inst, n)
}

// distance returns how many bytes a cell lies from where an access's base points,
// if that is one number.
func (k *checker) distance(a *access, m *facts.Mem, cell uint32) (int64, bool) {
	found, cells := -1, k.p.Layout(m.Type).Cells
	for i := range cells {
		from := cell - m.Off - uint32(i)
		if m.Off+uint32(i) <= cell && k.objOf[from] == k.objOf[cell] && k.has(k.pts(a.at.Inst, m.Base, 0), from) {
			if found >= 0 {
				return 0, false
			}
			found = i
		}
	}
	if found < 0 || m.Off != 0 || cells[found].Array != 0 {
		return 0, false
	}
	return cells[found].Off, true
}
