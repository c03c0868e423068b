package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// locks checks the claims about locks that are surely held. Each instance has two
// flows through its blocks: Held, with what every caller holds, and Own, with what
// it acquires itself, as if entered with nothing. A lock is named by a cell that is
// one variable, or by a register and a distance in bytes from what it points to.
// Names are added narrowly and taken away widely:
//
//	(L1) a goroutine starts with nothing; an instance that is called starts with no
//	     more than every caller holds, in names of its parameters; Own with nothing
//	(L2) an acquire adds its operand's names; who holds for writing holds for reading
//	(L3) a release takes away every name that may be its operand: a cell that it may
//	     point to, or a register that may point into the object of such a cell
//	(L4) a call takes away what some callee may release without having acquired it,
//	     and adds what all callees surely acquired when they return
//	(L5) a register that is defined again loses its names
//	(L6) where control meets, no more is held than on each way; a point that panics
//	     has taken away, and added nothing
//	(L7) what an instance may release without having acquired it: what it releases
//	     and what its callees so release, unless its own operand is named in Own
//
// (L4) is right where a callee acquires and releases a lock of the caller: held
// for writing by either, it would block for ever; held for reading by both, it is
// held once less, as before.
//
// A state with All is that of a point that no execution reaches.
func (k *checker) locks(ask *Asked) {
	ask.Holds("L1", k.head(k.c.Root, 0, true), State{})
	for i := 1; i < len(k.c.Insts); i++ {
		ask.Holds("L1", k.head(InstID(i), 0, false), State{})
		k.lockFlow(InstID(i), false, ask)
		k.lockFlow(InstID(i), true, ask)
	}
}

// head is the claim of the state at the head of a block.
func (k *checker) head(i InstID, b uint32, held bool) *State {
	if held {
		return &k.c.Insts[i].Held[b]
	}
	return &k.c.Insts[i].Own[b]
}

// lockFlow checks one flow of an instance, block by block.
func (k *checker) lockFlow(i InstID, held bool, ask *Asked) {
	f, in := k.fn(i), &k.c.Insts[i]
	for b := range f.Blocks {
		blk := &f.Blocks[b]
		s := *k.head(i, uint32(b), held)
		if s.All {
			continue
		}
		for p := blk.Start; p < blk.End && !s.All; p++ {
			if !held {
				k.releases(i, f, p, s, ask)
			} else if f.Points[p].Op == facts.OpCall {
				k.enters(i, f, p, s, ask)
			}
			out, panics := k.step(i, f, p, s)
			if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
				ask.Holds("L6", k.head(i, uint32(blk.Panic), held), panics)
			}
			s = out
		}
		for _, q := range blk.Succs {
			ask.Holds("L6", k.head(i, q, held), s)
		}
		if blk.Return && !held {
			ask.Holds("L4", &in.Acquires, s.drop(func(n Lock) bool { return n.Reg != 0 && !slices.Contains(f.Params, n.Reg) }))
		}
	}
}

// enters checks what the callees of a point start with. (L1)
func (k *checker) enters(i InstID, f *facts.Func, p uint32, s State, ask *Asked) {
	row := f.Points[p].Row
	for _, e := range k.edgesAt(i, row) {
		if e.Go {
			ask.Holds("L1", k.head(e.Callee, 0, true), State{})
			continue
		}
		var in []Lock
		for _, n := range s.Locks {
			if n.Reg == 0 {
				in = append(in, n)
				continue
			}
			for j, q := range k.fn(e.Callee).Params {
				if rt, ok := k.argument(f, &f.Calls[row], j); ok && rt.reg == n.Reg {
					in = append(in, Lock{Reg: q, Off: n.Off - rt.off, Write: n.Write})
				}
			}
		}
		ask.Holds("L1", k.head(e.Callee, 0, true), State{Locks: Sorted(in)})
	}
}

// argument returns what a call passes for a parameter, as root. A call that a
// function makes when it ends may stand for several, one for each time that its
// statement ran, and its registers hold what they held then: those that are defined
// in a cycle say nothing.
func (k *checker) argument(f *facts.Func, c *facts.Call, j int) (root, bool) {
	if c.Method != 0 {
		j--
	}
	if j < 0 || j >= len(c.Args) || c.Args[j] == facts.NoReg {
		return root{}, false
	}
	rt := k.rootsOf(f)[c.Args[j]]
	def := f.Regs[rt.reg].Def
	return rt, c.Mode != facts.ModeDefer || def == 0 || !k.flowOf(f).follows(def-1, def-1)
}

// step returns the state after a point, and where it panics.
func (k *checker) step(i InstID, f *facts.Func, p uint32, s State) (out, panics State) {
	pt := f.Points[p]
	if d := f.Defines(pt); d != facts.NoReg { // (L5)
		s = s.drop(func(n Lock) bool { return n.Reg == d })
	}
	panics = s
	switch pt.Op {
	case facts.OpSync:
		switch y := &f.Syncs[pt.Row]; y.Op {
		case facts.SyncAcquire: // (L2)
			held := append(k.names(i, f, y.Obj, false), s.Locks...)
			if y.Write {
				held = append(held, k.names(i, f, y.Obj, true)...)
			}
			s = State{Locks: Sorted(held)}
		case facts.SyncRelease: // (L3)
			gone := k.set(k.pts(i, y.Obj, 0))
			s = s.drop(func(n Lock) bool { return k.mayBe(i, f, n, gone) })
			panics = s
		}
	case facts.OpCall: // (L4)
		all := State{All: true}
		for _, e := range k.edgesAt(i, pt.Row) {
			if e.Go {
				return s, s
			}
			callee := &k.c.Insts[e.Callee]
			s = s.drop(func(n Lock) bool { return k.mayBe(i, f, n, callee.Releases) })
			all = all.Meet(k.gained(f, pt.Row, e.Callee))
		}
		panics = s
		if len(k.edgesAt(i, pt.Row)) > 0 {
			s = s.union(all)
		}
	}
	return s, panics
}

// gained gives what a callee acquires names in the caller.
func (k *checker) gained(f *facts.Func, row uint32, m InstID) State {
	c, in := &f.Calls[row], &k.c.Insts[m]
	if in.Acquires.All {
		return in.Acquires
	}
	var out []Lock
	for _, n := range in.Acquires.Locks {
		if n.Reg == 0 {
			out = append(out, n)
			continue
		}
		for j, q := range k.fn(m).Params {
			if rt, ok := k.argument(f, c, j); ok && q == n.Reg {
				out = append(out, Lock{Reg: rt.reg, Off: rt.off + n.Off, Write: n.Write})
			}
		}
	}
	return State{Locks: Sorted(out)}
}

// releases checks (L7) at a point with state s of Own.
func (k *checker) releases(i InstID, f *facts.Func, p uint32, s State, ask *Asked) {
	pt, to := f.Points[p], &k.c.Insts[i].Releases
	switch pt.Op {
	case facts.OpSync:
		if y := &f.Syncs[pt.Row]; y.Op == facts.SyncRelease && !k.holds(i, f, s, y.Obj) {
			ask.Releases("L7", to, k.set(k.pts(i, y.Obj, 0)))
		}
	case facts.OpCall:
		c := &f.Calls[pt.Row]
		for _, e := range k.edgesAt(i, pt.Row) {
			if e.Go {
				continue
			}
			if j := k.releaser(k.fn(e.Callee)); j >= 0 && c.Method == 0 {
				if _, ok := k.argument(f, c, j); ok && k.holds(i, f, s, c.Args[j]) {
					continue
				}
			}
			ask.Releases("L7", to, k.c.Insts[e.Callee].Releases)
		}
	}
}

// releaser returns which parameter a function releases, if it does nothing else
// to locks and calls nothing; else -1.
func (k *checker) releaser(f *facts.Func) int {
	if len(f.Calls) > 0 || len(f.Syncs) != 1 || f.Syncs[0].Op != facts.SyncRelease {
		return -1
	}
	return slices.Index(f.Params, f.Syncs[0].Obj)
}

// names returns the names of what a register points to.
func (k *checker) names(i InstID, f *facts.Func, r facts.Reg, write bool) []Lock {
	rt := k.rootsOf(f)[r]
	out := []Lock{{Reg: rt.reg, Off: rt.off, Write: write}}
	if c, ok := k.single(i, r); ok && k.oneVariable(c) {
		out = append(out, Lock{Cell: c, Write: write})
	}
	return out
}

// holds reports whether a state names what a register points to.
func (k *checker) holds(i InstID, f *facts.Func, s State, r facts.Reg) bool {
	return s.All || slices.ContainsFunc(append(k.names(i, f, r, true), k.names(i, f, r, false)...), s.has)
}

// mayBe reports whether a name may be one of some cells.
func (k *checker) mayBe(i InstID, f *facts.Func, n Lock, cells []uint32) bool {
	if len(cells) == 0 {
		return false
	}
	if n.Reg == 0 {
		_, ok := slices.BinarySearch(cells, n.Cell)
		return ok
	}
	for _, c := range k.set(k.pts(i, n.Reg, 0)) {
		first := k.c.Objects[k.objOf[c]].First
		if j, _ := slices.BinarySearch(cells, first); j < len(cells) && k.objOf[cells[j]] == k.objOf[c] {
			return true
		}
	}
	return false
}
