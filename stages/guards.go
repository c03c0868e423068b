package stages

import (
	"context"
	"slices"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/guards"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/stages/stage"
)

// Guards adds to a table the accesses of one program to the fields of the struct
// types, and to the package variables, of the packages in opt.Scope, with the locks
// surely held there. Locations to which no access is under a lock are left out.
//
// An access is shared if some stage other than those on locks keeps a pair of it: so
// it may run beside one that conflicts with it, but for locks. What is ordered before
// or after, belongs to the making of an object, or is to an object of one goroutine,
// is not shared.
//
// An access to the elements of a map, or of the array of a slice, is one to the field
// or variable from which the map or slice was loaded.
//
// The error is that of a spent budget, or of a fault of the input. Cost: that of
// Verify, of which it looks at the cells that matter, each by itself.
func Guards(ctx context.Context, p *facts.Program, opt Options, into *guards.Table) error {
	opt.fill()
	opt.Entry, opt.Off, opt.Why = nil, nil, ""
	res, _, err := solve(ctx, p, &opt)
	if err != nil {
		return err
	}
	opt.Progress("accesses", 0, 0)
	w := stage.NewWorld(res)
	ov := findOverwritten(w)
	opt.Progress("locks", 0, 0)
	sh := &shared{over: ov, locks: mustnot.NewLocks(stage.NewView(w, stage.AllEntries), ov.Has)}
	r, cells, err := newRun(ctx, w, &opt, sh, stage.AllEntries, func(name string, f func()) { opt.Progress(name, 0, 0); f() })
	if err != nil {
		return err
	}
	g := &guarding{r: r, rp: newReport(r), into: into, layers: map[layerKey][]layer{}}
	g.findLocked(cells)
	for k, cell := range cells {
		if k%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			opt.Progress("pairs", k, len(cells))
		}
		if g.locked(cell) {
			g.cell(cell)
		}
	}
	return nil
}

// guarding collects accesses with their locks.
type guarding struct {
	r      *run
	rp     *report
	into   *guards.Table
	layers map[layerKey][]layer
	under  map[guards.Location]bool // locations to which some access is under a lock
}

// findLocked finds the locations to which some access holds a lock.
func (g *guarding) findLocked(cells []uint32) {
	g.under = map[guards.Location]bool{}
	for _, cell := range cells {
		for _, id := range g.r.w.At(cell) {
			if a := &g.r.w.Accesses[id]; len(g.r.lock.At(a.Inst, a.Point)) > 0 {
				g.each(a, cell, func(_ *target, l layer) { g.under[l.loc] = true })
			}
		}
	}
}

// locked reports whether a cell lies in one of these locations.
func (g *guarding) locked(cell uint32) bool {
	is := false
	for _, id := range g.r.w.At(cell) {
		g.each(&g.r.w.Accesses[id], cell, func(_ *target, l layer) { is = is || g.under[l.loc] })
	}
	return is
}

// cell adds the accesses to one cell.
func (g *guarding) cell(cell uint32) {
	r := g.r
	classes := r.refine(cell, r.classes(cell, false))
	shared, open := make([]bool, len(classes)), make([]bool, len(classes))
	if r.closer(cell) {
		obj, _ := r.v.Res.Object(cell)
		for i, a := range classes {
			for j := i; j < len(classes); j++ {
				b := classes[j]
				p := &stage.Pair{Cell: cell, A: a, B: b}
				if !r.conflict(a, b) || shared[i] && shared[j] && open[i] && open[j] || r.apartUnlocked(p) {
					continue
				}
				shared[i], shared[j] = true, true
				if by, _ := r.refute(p); by == nil && (a.InScope || b.InScope || a.User && b.User && r.madeInScope(obj)) {
					open[i], open[j] = true, true
				}
			}
		}
	}
	for i, c := range classes {
		for _, m := range c.Members {
			g.access(cell, m, shared[i], open[i])
		}
	}
}

// apartUnlocked reports whether a pair is refuted without regard to locks held at
// both accesses.
func (r *run) apartUnlocked(p *stage.Pair) bool {
	for at := rowEscaping; at < len(Pipeline); at++ {
		var by stage.Evidence
		switch Pipeline[at].Name {
		case "global-lock":
			by = r.refuteInherited(p)
		case "local-lock":
		default:
			by = Pipeline[at].Refute(r, p)
		}
		if by != nil && !byLock(by) {
			return true
		}
	}
	return false
}

// byLock reports whether evidence rests on locks that both accesses hold.
func byLock(e stage.Evidence) bool {
	var parts []stage.Evidence
	switch e := e.(type) {
	case stage.SameLock, stage.SameBase, stage.SameOwner, stage.StablePath:
		return true
	case stage.Framed:
		parts = e.By
	case stage.Apart:
		parts = e.By
	case stage.Inherited:
		parts = e.By
	}
	for _, p := range parts {
		if byLock(p) {
			return true
		}
	}
	return false
}

// access adds an access to a cell to the locations that it is to.
func (g *guarding) access(cell uint32, m stage.Member, shared, open bool) {
	a := &g.r.w.Accesses[m.Access]
	var side *export.Side
	g.each(a, cell, func(t *target, l layer) {
		if !g.under[l.loc] {
			return
		}
		if side == nil {
			side = &export.Side{Op: op(a), Locks: g.r.lock.Describe(a, g.rp.lockName)}
			side.Pos, side.Func = g.rp.shown(m)
		}
		x := guards.Access{Side: *side, Shared: shared, Open: open}
		for _, h := range g.heldAt(a, cell, t) {
			if h.at == l.loc && (h.write || !a.Write) && !slices.Contains(x.Held, h.lock) {
				x.Held = append(x.Held, h.lock)
			}
		}
		g.into.Add(l.loc, x)
	})
}
