package stage

import (
	"strings"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Calls that never return, and channel operations that never complete
// (partner.go): the relation cut(N, I). An instance may return if
// some path leads from its entry to a return on which every call has a callee
// that may return; where a call goes is taken from the points-to relation, and a
// callee without facts or body may return. The smallest such set: a recursion
// without an end returns never. Panics and runtime.Goexit are no returns, but
// what recovers may return.
//
//	(N1) control goes on after a cut only where its panics go
//	(N2) testing's Skip may return: what a test leaves out by it is judged too
//
// A checker must check that no callee at a cut has a path to a return but through
// cuts of its own.

// findCuts computes the points of each instance that never return.
func (w *World) findCuts() {
	n := len(w.Res.Insts)
	returns := make([]bool, n)
	queued := make([]bool, n)
	var work []pta.InstID
	for i := n - 1; i > 0; i-- {
		work = append(work, pta.InstID(i))
		queued[i] = true
	}
	cut := func(i pta.InstID, pt facts.Point) bool {
		switch pt.Op {
		case facts.OpSync, facts.OpSelect:
			return w.blocks(i, pt)
		case facts.OpCall:
		default:
			return false
		}
		edges := w.Res.EdgesAt(i, pt)
		for _, e := range edges {
			if e.Kind != pta.EdgeCall || returns[e.Callee] {
				return false
			}
		}
		return len(edges) > 0
	}
	var seen Bits
	var todo []int
	may := func(i pta.InstID) bool {
		f := w.Res.Func(i)
		if f == nil || len(f.Blocks) == 0 || f.Is(facts.FnUnknown) || f.Pkg == "testing" && strings.Contains(f.Name, ".Skip") { // (N2)
			return true
		}
		seen = NewBits(len(f.Blocks))
		seen.Add(0)
		todo = append(todo[:0], 0)
		for len(todo) > 0 {
			blk := &f.Blocks[todo[len(todo)-1]]
			todo = todo[:len(todo)-1]
			if blk.Panic >= 0 && seen.Add(int(blk.Panic)) {
				todo = append(todo, int(blk.Panic))
			}
			through := true
			for p := blk.Start; p < blk.End && through; p++ {
				through = !cut(i, f.Points[p])
			}
			if !through {
				continue
			}
			if blk.Return {
				return true
			}
			for _, s := range blk.Succs {
				if seen.Add(int(s)) {
					todo = append(todo, int(s))
				}
			}
		}
		return false
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		queued[i] = false
		if returns[i] || !may(i) {
			continue
		}
		returns[i] = true
		for _, c := range w.Callers[i] {
			if !returns[c.Inst] && !queued[c.Inst] {
				queued[c.Inst] = true
				work = append(work, c.Inst)
			}
		}
	}
	look := NewBits(n)
	for i := 1; i < n; i++ {
		if f := w.Res.Func(pta.InstID(i)); f != nil && len(f.Syncs)+len(f.Selects) > 0 {
			look.Add(i)
		}
		if returns[i] {
			continue
		}
		for _, c := range w.Callers[i] {
			look.Add(int(c.Inst))
		}
	}
	for i := 1; i < n; i++ {
		if !look.Has(i) {
			continue
		}
		id := pta.InstID(i)
		for p, pt := range w.Res.Func(id).Points {
			if cut(id, pt) {
				w.cuts[id] = append(w.cuts[id], uint32(p))
			}
		}
	}
}

// blocks reports whether a channel operation can never complete.
func (w *World) blocks(i pta.InstID, pt facts.Point) bool {
	f := w.Res.Func(i)
	if pt.Op == facts.OpSelect {
		s := &f.Selects[pt.Row]
		for k := range s.Cases {
			if w.MayCommunicate(i, &s.Cases[k]) {
				return false
			}
		}
		return s.Blocking
	}
	switch y := &f.Syncs[pt.Row]; y.Op {
	case facts.SyncSend, facts.SyncRecv:
		return !w.MayCommunicate(i, &facts.SelectCase{Send: y.Op == facts.SyncSend, Chan: y.Obj})
	}
	return false
}

// Cut reports whether control never goes on after point p of instance n, but
// where its panics go.
func (w *World) Cut(n pta.InstID, p uint32) bool {
	for _, q := range w.cuts[n] {
		if p == q {
			return true
		}
	}
	return false
}
