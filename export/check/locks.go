package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Locks that are surely held, as facts. A lock is named by a cell that is one
// variable, or by a register and a distance in bytes from what it points to.
//
//	(L1) an acquire adds its operand's names; who holds for writing holds for reading
//	(L2) a release takes away every name that may be its operand: a cell that it may
//	     point to, or a register that may point into the object of such a cell; and
//	     a call all that some callee may release without having acquired it
//	(L3) what an instance may release without having acquired it: what it releases
//	     and what its callees so release, unless its own operand is named in Own
//
// (L2) is right where a callee acquires and releases a lock of the caller: held
// for writing by either, it would block for ever; held for reading by both, it is
// held once less, as before.

// releases checks (L3) at a point with state s of Own.
func (k *checker) releases(i InstID, f *facts.Func, p uint32, s State, ask *Asked) {
	pt, to := f.Points[p], &k.c.Insts[i].Releases
	switch pt.Op {
	case facts.OpSync:
		if op := k.lockOp(i, f, pt); op.release && !k.holds(i, f, s, op.obj) {
			ask.Has("L3", i, to, k.set(k.pts(i, op.obj, 0)))
		}
	case facts.OpCall, facts.OpAny:
		row, _ := callRow(f, pt)
		for _, e := range k.edgesAt(i, row) {
			if e.Go {
				continue
			}
			if j := k.releaser(k.fn(e.Callee)); j >= 0 {
				if _, ok := k.argument(f, row, j); ok && f.Calls[row].Method == 0 && k.holds(i, f, s, f.Calls[row].Args[j]) {
					continue
				}
			}
			ask.Has("L3", i, to, k.c.Insts[e.Callee].Releases)
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

// acquired returns the facts of an acquire. (L1)
func (k *checker) acquired(i InstID, f *facts.Func, pt facts.Point) []Fact {
	op := k.lockOp(i, f, pt)
	if !op.acquire {
		return nil
	}
	out := k.names(i, f, op.obj, false)
	if op.write {
		out = append(out, k.names(i, f, op.obj, true)...)
	}
	return out
}

// afterRelease takes away what a release may. (L2)
func (k *checker) afterRelease(i InstID, f *facts.Func, pt facts.Point, s State) State {
	op := k.lockOp(i, f, pt)
	if !op.release {
		return s
	}
	gone := k.set(k.pts(i, op.obj, 0))
	return s.drop(func(n Fact) bool { return n.Kind == Held && k.mayBe(i, f, n, gone) })
}

// names returns the names of what a register points to.
func (k *checker) names(i InstID, f *facts.Func, r facts.Reg, write bool) []Fact {
	rt := k.rootsOf(f)[r]
	out := []Fact{{Reg: rt.reg, Off: rt.off, Write: write}}
	if c, ok := k.single(i, r); ok && k.oneVariable(c) {
		out = append(out, Fact{Cell: c, Write: write})
	}
	return out
}

// holds reports whether a state names what a register points to.
func (k *checker) holds(i InstID, f *facts.Func, s State, r facts.Reg) bool {
	return s.All || slices.ContainsFunc(append(k.names(i, f, r, true), k.names(i, f, r, false)...), s.has)
}

// mayBe reports whether a name may be one of some cells.
func (k *checker) mayBe(i InstID, f *facts.Func, n Fact, cells []uint32) bool {
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
