package stages

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Inherited locks: goroutines that are started under a lock and waited for before
// it is released do what they do while it is held. A class of accesses inherits a
// lock in a frame, an activation of a function, if
//
//	(N1) all goroutines that make the accesses are started in the frame (frames.go),
//	     as no path leads there but through its root, by its own goroutine; each
//	     start is made where the lock, one object and a usable guard, is surely held
//	     for writing
//	(N2) it is not surely held where the activation begins. So the activation has
//	     acquired it on the way: had it been held before, that would block for ever
//	(N3) wherever the activation may release the lock, and where it returns, all
//	     that it has started and that makes the accesses has been waited for, by the
//	     order of the frame
//
// The accesses come after the acquire and before the release, if there is one: an
// activation that ends by a panic with the lock held leaves it locked, as who
// releases a usable guard holds it (mustnot, usable guards), and nobody else can.
// They do not race with
//
//	(N4) accesses that hold the lock surely, by themselves, in goroutines none of
//	     which executes the frame: these are in a critical section of another
//	     goroutine, before that acquire or after that release
//	(N5) accesses that inherit the lock in the same frame, if those in one execution
//	     of it do not race: its executions exclude each other
//
// A checker must check (N1) and (N2) on the locksets, and the evidence of each
// order of (N3) on the frame.

// inherited is a lock that a class inherits, and the frame.
type inherited struct {
	frame *frame
	lock  uint32
}

// refuteInherited refutes pairs of which an access inherits a lock.
func (r *run) refuteInherited(p *stage.Pair) stage.Evidence {
	for _, x := range [...][2]*stage.Class{{p.A, p.B}, {p.B, p.A}} {
		for _, h := range r.inheritedBy(p.Cell, x[0]) { // (N4)
			for _, g := range x[1].Locks {
				if g.Object && g.Cell == h.lock && !r.runsOf(x[1], h.frame.Root) {
					return stage.Inherited{Cell: h.lock, Root: h.frame.Root}
				}
			}
		}
	}
	for _, h := range r.inheritedByBoth(p) { // (N5)
		if r.frames.open(h.frame) {
			if by := h.frame.refute(r, p); by != nil {
				return stage.Inherited{Cell: h.lock, Root: h.frame.Root, By: by}
			}
		}
	}
	return nil
}

// inheritedByBoth lists what both classes of a pair inherit: frames of which no two
// executions make accesses of the pair at a time.
func (r *run) inheritedByBoth(p *stage.Pair) (out []inherited) {
	mine := r.inheritedBy(p.Cell, p.A)
	if len(mine) == 0 || p.A == p.B {
		return mine
	}
	for _, h := range r.inheritedBy(p.Cell, p.B) {
		if slices.Contains(mine, h) {
			out = append(out, h)
		}
	}
	return out
}

// threadsOf lists the threads of a class: those of its kind that run a member.
func (r *run) threadsOf(c *stage.Class) stage.Bits {
	out := stage.NewBits(len(r.v.Threads))
	for _, m := range c.Members {
		for _, t := range r.v.ThreadsOf(r.w.Accesses[m.Access].Inst) {
			if r.par.kinds[t] == r.par.kinds[c.Thread] {
				out.Add(t)
			}
		}
	}
	return out
}

// inheritedBy lists the locks that the accesses of a class to a cell inherit.
func (r *run) inheritedBy(cell uint32, c *stage.Class) []inherited {
	if !r.startsUnderLock(c.Thread) {
		return nil
	}
	if l, ok := r.inherits[c]; ok {
		return l
	}
	l := r.findInherited(cell, c)
	r.inherits[c] = l
	return l
}

// startsUnderLock reports whether all starts of a thread are under some lock, as
// few are.
func (r *run) startsUnderLock(t int) bool {
	if r.underLock == nil {
		r.inherits, r.underLock = map[*stage.Class][]inherited{}, stage.NewBits(len(r.v.Threads))
		for t := range r.v.Threads {
			starts := startsOf(r.v, t)
			if len(starts) > 0 && !slices.ContainsFunc(starts, func(s spot) bool { return len(r.heldFor(s)) == 0 }) {
				r.underLock.Add(t)
			}
		}
	}
	return r.underLock.Has(t)
}

func (r *run) findInherited(cell uint32, c *stage.Class) (out []inherited) {
	v := r.v
	var starts []spot
	var locks []uint32
	root := pta.InstID(0)
	for t, mine := 0, r.threadsOf(c); t < len(v.Threads); t++ {
		if !mine.Has(t) {
			continue
		}
		list := startsOf(v, t)
		if len(list) == 0 {
			return nil // the main goroutine
		}
		for _, s := range list {
			held := r.heldFor(s)
			if root == 0 {
				root, locks = s.Inst, held
			}
			root = v.CommonDominator(root, s.Inst)
			locks = common(locks, held)
			if starts = append(starts, s); len(locks) == 0 {
				return nil
			}
		}
	}
	for range maxFrameHeight {
		if root == 0 || v.Res.Func(root) == nil {
			break
		}
		if f := r.frames.frame(root, nil); f.own != nil {
			for _, lock := range locks {
				if !slices.Contains(r.heldFor(spot{root, 0}), lock) && r.inheritsIn(f, cell, c, starts, lock) { // (N2)
					out = append(out, inherited{f, lock})
				}
			}
		}
		root = v.Dominator(root)
	}
	return out
}

// heldFor lists the locks that guard and are surely held for writing at a point.
func (r *run) heldFor(s spot) (out []uint32) {
	for _, m := range r.lock.At(s.Inst, s.Point) {
		if m.Object && m.Write && !m.Once && r.lock.Guards(s.Inst, m) {
			out = append(out, m.Cell)
		}
	}
	return out
}

// runsOf reports whether a thread of a class runs an instance.
func (r *run) runsOf(c *stage.Class, n pta.InstID) bool {
	mine := r.threadsOf(c)
	return slices.ContainsFunc(r.v.ThreadsOf(n), func(t int) bool { return mine.Has(t) })
}

// inheritsIn reports (N1) and (N3) for a frame.
func (r *run) inheritsIn(f *frame, cell uint32, first *stage.Class, starts []spot, lock uint32) bool {
	if !r.frames.open(f) {
		return false
	}
	for _, s := range starts {
		if ts := f.view.ThreadsOf(s.Inst); len(ts) != 1 || ts[0] != 0 {
			return false
		}
	}
	var started []*stage.OrderClass
	for _, x := range f.locals(r, cell, first) {
		if x.order.Thread != 0 {
			started = append(started, x.order)
		}
	}
	if len(started) == 0 {
		return false // what the frame shows is not what the class is
	}
	over := func(running stage.Set) bool {
		s := f.par.run.sets.Bits(running)
		return !slices.ContainsFunc(started, func(oc *stage.OrderClass) bool { return !f.par.stopped(s, oc) })
	}
	root := r.v.Res.Func(f.Root)
	for b := range root.Blocks {
		if root.Blocks[b].Return && !over(f.par.run.AtEnd(0, f.Root, b)) {
			return false
		}
	}
	for i := range r.v.Res.Insts {
		n := pta.InstID(i)
		g := r.v.Res.Func(n)
		if g == nil || len(g.Syncs)+len(g.Selects) == 0 || !f.live.Has(i) || !f.view.Runs(0, n) {
			continue
		}
		for p := range g.Points {
			if r.lock.MayRelease(n, uint32(p), lock) && !over(f.par.run.At(0, n, uint32(p))) {
				return false
			}
		}
	}
	return true
}
