package stages

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// entered reports (I4) for the loop of a frame and an object.
func (r *run) entered(f *frame, o pta.ObjID, p *stage.Pair) bool {
	if r.enteredIn(r.v, r.par, nil, f, p) {
		return true
	}
	for _, g := range r.frames.Of(o) {
		if g != f && (g.Root == f.Root || g.live.Has(int(f.Root))) && r.frames.open(g) && r.enteredIn(g.view, g.par, g.Loop, f, p) {
			return true
		}
	}
	for _, h := range r.inheritedByBoth(p) { // its executions exclude each other
		g := h.frame
		if (g.Root == f.Root || g.live.Has(int(f.Root))) && r.frames.open(g) && r.enteredIn(g.view, g.par, nil, f, p) {
			return true
		}
	}
	return false
}

// enteredIn reports whether a loop is executed at most once in a view, the whole
// program or the frame of a loop or of a function; or else by one goroutine that
// has joined, at each entry, all others that make accesses of the pair.
func (r *run) enteredIn(v *stage.View, par *parallel, within *stage.Loop, f *frame, p *stage.Pair) bool {
	root, outer := f.Root, f.Loop.Parent
	if root != v.Root() {
		within = nil
	}
	inner := within == nil // the loop lies in an iteration of that one
	for l := outer; l != nil; l = l.Parent {
		inner = inner || l == within
	}
	if !inner {
		return false
	}
	if v.Once.Has(int(root)) && outer == within && !cyclic(r.v.Flow(root), f.Loop) {
		return true
	}
	ts := v.ThreadsOf(root)
	if len(ts) != 1 || !v.Threads[ts[0]].Single || r.frames.frame(root, nil).own == nil { // it may be recursive
		return false
	}
	t := ts[0]
	fl := v.Flow(root)
	for b := range fl.F.Blocks {
		if f.Loop.Blocks.Has(b) {
			continue
		}
		enters := false
		fl.Succs(b, func(s int) { enters = enters || s == f.Loop.Head })
		if !enters {
			continue
		}
		running := par.run.sets.Bits(par.run.AtEnd(t, root, b))
		for _, c := range []*stage.Class{p.A, p.B} {
			for _, m := range c.Members {
				a := &r.w.Accesses[m.Access]
				cs := par.classesAt(par.kindsAt(a.Inst, stage.None), a)
				for _, u := range v.ThreadsOf(a.Inst) {
					// Threads that a join waits for are alone of their kind.
					joined := func(oc *stage.OrderClass) bool { return oc.Thread == u && par.stopped(running, oc) }
					if u != t && running.Has(u) && !slices.ContainsFunc(cs, joined) {
						return false
					}
				}
			}
		}
	}
	return true
}

// cyclic reports whether a loop may be entered twice in one execution of the loop
// that it is directly in, or of the function: by a cycle that is no loop itself.
func cyclic(fl *stage.Flow, l *stage.Loop) bool {
	// Control that leaves the loop and comes back passes the outer header, or else
	// a cycle with several entries.
	seen := stage.NewBits(len(fl.F.Blocks))
	var todo []int
	push := func(b int) {
		if !l.Blocks.Has(b) && (l.Parent == nil || l.Parent.Blocks.Has(b) && b != l.Parent.Head) && seen.Add(b) {
			todo = append(todo, b)
		}
	}
	for b := range fl.F.Blocks {
		if l.Blocks.Has(b) {
			fl.Succs(b, push)
		}
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		back := false
		fl.Succs(b, func(s int) {
			back = back || s == l.Head
			push(s)
		})
		if back {
			return true
		}
	}
	return false
}
