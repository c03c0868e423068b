package stages

import (
	"slices"
	"sync"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// credits checks (W4): a forward analysis of Owner whose state, a purse, is a
// lower bound of the units added and not yet spent.
//
//	(W5) a constant adds its number, and each start of a joined goroutine, and each
//	     Done of Owner's own, spends one
//	(W6) a loop of at most as many trips (trips.go) as there are units can be paid
//	     for in advance: where it is entered they are put aside, and each trip takes
//	     its share. What is left where the loop ends is forgotten
//	(W7) a number that is not known is added as such, to pay for such a loop alone.
//	     Where it may be below zero, all that is known to be added is Owner's, and
//	     no joined goroutine was started since Owner began or since its last Wait:
//	     then the counter is the units not yet spent, and Add would panic if it took
//	     more than there are. What was there before is forgotten, and nothing on the
//	     way up may recover from the panic
type credits struct {
	r       *run
	v       *stage.View
	join    *join
	changes map[spot]amount // those that are surely of this counter
	exact   bool            // nobody else adds
	start   int             // units that are there at first
	poor    map[spot]bool   // additions of Owner's where nothing may be left
	rel     stage.Bits      // instances that add, spend or wait, or call one that does
	memo    map[creditKey]purse
	busy    map[pta.InstID]bool
	bad     bool
}

// maxUnits bounds what is counted: more is as if it were not there.
const maxUnits = 1 << 20

// purse is the units that are there for sure: k, and as many as more says, unless
// that is constant(0).
type purse struct {
	k     int
	more  amount
	clean bool // no joined goroutine is running
}

// creditKey is an instance and what it is entered with.
type creditKey struct {
	n  pta.InstID
	in purse
}

// meet is what is there for sure on both of two ways.
func (s purse) meet(t purse) purse {
	if s.more != t.more {
		s.more = amount{}
	}
	return purse{min(s.k, t.k), s.more, s.clean && t.clean}
}

// after forgets units that are counted by a register of an instance where that is
// defined again.
func (s purse) after(n pta.InstID, r facts.Reg) purse {
	if r != facts.NoReg && s.more.n == n && s.more.r == r {
		s.more = amount{}
	}
	return s
}

// outside forgets units that are counted by any register of an instance.
func (s purse) outside(n pta.InstID) purse {
	if s.more.n == n {
		s.more = amount{}
	}
	return s
}

func (c *credits) cover() bool {
	v := c.v
	c.rel = stage.NewBits(len(v.Res.Insts))
	mark := func(n pta.InstID) {
		todo := []pta.InstID{n}
		for len(todo) > 0 {
			m := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !v.Runs(c.join.Owner, m) || !c.rel.Add(int(m)) {
				continue
			}
			for _, e := range v.In(m) {
				if !stage.IsSpawn(e.Kind) {
					todo = append(todo, e.Inst)
				}
			}
		}
	}
	for sp := range c.changes {
		mark(sp.Inst)
	}
	for _, t := range c.join.Joined {
		for _, s := range v.Threads[t].Spawns {
			mark(s.By)
		}
	}
	c.inst(v.Threads[c.join.Owner].Entry, purse{k: c.start, clean: true})
	return !c.bad
}

// inst returns what is there after instance n, entered with in, and marks the
// analysis bad where credit is missing. Recursion is bad.
func (c *credits) inst(n pta.InstID, in purse) purse {
	if c.busy[n] {
		c.bad = true
	}
	if c.bad {
		return purse{}
	}
	if out, ok := c.memo[creditKey{n, in}]; ok {
		return out
	}
	c.busy[n] = true
	out := c.body(n, in).outside(n)
	c.busy[n] = false
	if !c.bad {
		c.memo[creditKey{n, in}] = out
	}
	return out
}

// share is what each trip of a loop takes of what was put aside for it. (W6)
type share struct {
	*stage.Loop
	trips func() (trips, bool)
	units int
	more  bool // one for each unit that more says, instead
	// What the last pass found: by how much a trip lowers what is there, and that
	// more is as much as there are trips.
	lacks int
	fits  bool
}

// body computes inst. Where credit sinks around a loop, it is put aside for it in
// another pass.
func (c *credits) body(n pta.InstID, in purse) purse {
	var shares []share
	for _, l := range c.v.Flow(n).Loops() {
		shares = append(shares, share{Loop: l, trips: sync.OnceValues(func() (trips, bool) { return c.r.tripsOf(c.v, n, l) })})
	}
	for range 2*len(shares) + 1 {
		out := c.pass(n, in, shares)
		more := false
		for i := range shares {
			x := &shares[i]
			more = more || x.lacks > 0 || x.fits
			x.units += x.lacks
			x.more = x.more || x.fits
			x.lacks, x.fits = 0, false
		}
		if !c.bad || !more {
			return out
		}
		c.bad = false
	}
	c.bad = true
	return purse{}
}

// pass is body with some units put aside for loops.
func (c *credits) pass(n pta.InstID, in purse, shares []share) purse {
	v := c.v
	f := v.Res.Func(n)
	state := make([]purse, len(f.Blocks))
	seen := make([]bool, len(f.Blocks))
	state[0], seen[0] = in, true
	var out purse
	returns, changed := false, true
	flow := func(b int, s purse) {
		if seen[b] {
			s = state[b].meet(s)
		}
		if !seen[b] || s != state[b] {
			seen[b], state[b], changed = true, s, true
		}
	}
	for rounds := 0; changed && !c.bad; rounds++ {
		if rounds > len(f.Blocks)+16 {
			c.bad = true // credit sinks around a loop
			break
		}
		changed = false
		out, returns = purse{}, false
	blocks:
		for b := range f.Blocks {
			if !seen[b] {
				continue
			}
			blk := &f.Blocks[b]
			s := state[b]
			for p := blk.Start; p < blk.End && !c.bad; p++ {
				s = c.point(n, f, p, s).after(n, f.Defines(f.Points[p]))
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					// Somewhere inside a callee: nothing is known but that
					// credit never falls below zero.
					c.bad = c.bad || slices.ContainsFunc(shares, func(x share) bool { return x.Head == int(blk.Panic) && (x.units > 0 || x.more) })
					flow(int(blk.Panic), purse{})
				}
				if v.Cut(n, p) {
					continue blocks
				}
			}
			for _, t := range blk.Succs {
				flow(int(t), c.edge(n, b, int(t), s, seen[t], state[t], shares))
			}
			if blk.Return {
				if returns {
					s = s.meet(out)
				}
				out, returns = s, true
			}
		}
	}
	return out
}

// edge returns what is there after an edge of control flow. (W6)
func (c *credits) edge(n pta.InstID, b, to int, s purse, seen bool, head purse, shares []share) purse {
	for i := range shares {
		x := &shares[i]
		if to == x.Head && !x.Blocks.Has(b) { // the loop is entered
			a, ok := x.trips()
			fits := ok && !a.known() && a.amount == s.more && c.spends(n, x.Loop)
			switch {
			case x.more && !fits:
				c.bad = true
			case x.more:
				s.more = amount{}
			case x.units > 0:
				s.k -= x.units * int(max(a.k, 0))
			default:
				x.fits = fits
			}
		}
		if x.units > 0 || x.more { // its trips take their shares
			if a, _ := x.trips(); a.atHead && to == x.Head || !a.atHead && b == x.Head && x.Blocks.Has(to) {
				s.k += x.units
				if x.more {
					s.k++
				}
			}
		}
		if d := head.k - s.k; to == x.Head && x.Blocks.Has(b) && seen && d > 0 && x.lacks == 0 && !x.more {
			if a, ok := x.trips(); ok && a.known() && a.k <= maxUnits {
				x.lacks = d
			}
		}
	}
	c.bad = c.bad || s.k < 0
	return s
}

// spends reports whether a loop may start a joined goroutine, or call what does.
func (c *credits) spends(n pta.InstID, l *stage.Loop) bool {
	f := c.v.Res.Func(n)
	for b := range f.Blocks {
		if !l.Blocks.Has(b) {
			continue
		}
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			for _, e := range c.v.EdgesAt(n, f.Points[p]) {
				if stage.IsSpawn(e.Kind) && slices.Contains(c.join.Joined, c.v.ThreadAt(n, e)) || !stage.IsSpawn(e.Kind) && c.rel.Has(int(e.Callee)) {
					return true
				}
			}
		}
	}
	return false
}

// point returns what is there after one point.
func (c *credits) point(n pta.InstID, f *facts.Func, p uint32, s purse) purse {
	v := c.v
	pt := f.Points[p]
	if by, ok := c.changes[spot{n, p}]; ok {
		s = c.change(n, p, s, by)
	}
	switch pt.Op {
	case facts.OpSync:
		if f.Syncs[pt.Row].Op == facts.SyncWait {
			cell, ok := v.Single(n, f.Syncs[pt.Row].Obj)
			if ok && cell != c.join.Cell {
				return s
			}
			return purse{k: min(s.k, 0), clean: s.clean || ok}
		}
	case facts.OpCall, facts.OpAny:
		low, any := s, false
		for _, e := range v.EdgesAt(n, pt) {
			t := s
			if stage.IsSpawn(e.Kind) {
				if slices.Contains(c.join.Joined, v.ThreadAt(n, e)) {
					t.k--
					t.clean = false
					if e.Kind == pta.EdgeAnyGo { // any number of them
						c.bad = true
					}
				}
			} else if c.rel.Has(int(e.Callee)) {
				if e.Kind == pta.EdgeAny { // any number of times, in any order
					c.bad = true
				}
				t = c.inst(e.Callee, s)
			}
			if any {
				t = low.meet(t)
			}
			low, any = t, true
		}
		s = low
	}
	c.bad = c.bad || s.k < 0
	return s
}

// change returns what is there after an addition. (W5), (W7)
func (c *credits) change(n pta.InstID, p uint32, s purse, by amount) purse {
	if s.k < 1 && (!by.known() || by.k > 0) {
		c.poor[spot{n, p}] = true
	}
	switch {
	case by.known() && by.k <= maxUnits:
		s.k += int(by.k)
	case by.known():
	case !by.negative():
		if s.more == (amount{}) {
			s.more = by
		}
	case c.exact && s.clean && !c.recovered(n, p):
		return purse{more: by, clean: true}
	default:
		c.bad = true
	}
	return s
}

// recovered reports whether Owner may go on after a panic at a point.
func (c *credits) recovered(n pta.InstID, p uint32) bool {
	v := c.v
	seen := stage.NewBits(len(v.Res.Insts))
	up := func(n pta.InstID, p uint32) bool { // within an instance
		fl := v.Flow(n)
		b := fl.F.Blocks[fl.Block(p)].Panic
		if b < 0 {
			return false
		}
		for to := range fl.F.Blocks {
			if fl.F.Blocks[to].Return && (to == int(b) || fl.Reach(int(b)).Has(to)) {
				return true
			}
		}
		return false
	}
	todo := []spot{{n, p}}
	for len(todo) > 0 {
		sp := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if up(sp.Inst, sp.Point) {
			return true
		}
		if !seen.Add(int(sp.Inst)) {
			continue
		}
		for _, e := range v.In(sp.Inst) {
			if stage.IsSpawn(e.Kind) || !v.Runs(c.join.Owner, e.Inst) {
				continue
			}
			for _, q := range v.PointsOf(e.Inst, e.Kind, e.Row) {
				todo = append(todo, spot{e.Inst, q})
			}
		}
	}
	return false
}
