package mustnot

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/reach"
	"github.com/bfverify/bfverify/stages/stage"
)

// owners finds the guards of form (b): locks of objects that own what is accessed
// (POPL'07 section 5.1.2, local-lock).
//
//	(B1) the access loads its way from the value of a register, x, by which the
//	     lock is held: x's object is a prefix of the accessed object, by one or more
//	     pointers (reach.OwnerOf, O1). Or it loads its way from a parameter, all
//	     calls pass what they have loaded so, of objects of one site, and the callee
//	     does not release the lock
//	(B2) the accessed object determines x's object, by the effects of the cells on
//	     the way (O2)
//	(B3) the lock lies at one cell of x's object, in no array
//
// Soundness: let two accesses be to one object o, with guards of one cell and one
// way. By (B1) each reaches o from an object that it holds the lock of, o1 and o2.
// By (B2) both are the one that o determines in that way, o1 = o2. By (B3) the locks
// are one, and modes exclude; see RefuteGlobalLock.
type owners struct {
	eff   *reach.Effects
	ways  map[string]uint32
	memo  map[ownerKey][]stage.Guard
	under stage.Bits // see lockedCallers
}

type ownerKey struct {
	inst   pta.InstID
	point  uint32
	target pta.ObjID
}

// number numbers the texts of ways, from 1.
func (w *owners) number(way string) uint32 {
	n, ok := w.ways[way]
	if !ok {
		if w.ways == nil {
			w.ways = map[string]uint32{}
		}
		n = uint32(len(w.ways) + 1)
		w.ways[way] = n
	}
	return n
}

// Effects returns the types and effects of the program, computed when they are
// first asked for.
func (l *Locks) Effects() *reach.Effects {
	if l.owners.eff == nil {
		l.owners.eff = reach.New(l.v, reach.Config{})
	}
	return l.owners.eff
}

// ownerGuards returns the guards that the locks held at an access to a cell give it
// as locks of the owner.
func (l *Locks) ownerGuards(a *stage.Access, cell uint32) []stage.Guard {
	if a.Deep || a.Sync != stage.NoUse || l.v.Res.Func(a.Inst).Is(facts.FnUnknown) {
		return nil
	}
	o, _ := l.v.Res.Object(cell)
	w := &l.owners
	k := ownerKey{a.Inst, a.Point, o}
	g, ok := w.memo[k]
	if !ok {
		if w.memo == nil {
			w.memo = map[ownerKey][]stage.Guard{}
		}
		g = l.ownersAt(a.Inst, a.Point, l.v.Res.Func(a.Inst).Mems[a.Row].Base, o, nil, 0)
		w.memo[k] = g
	}
	return g
}

// maxUp is how many calls up locks are looked for; maxCallers how many callers.
const (
	maxUp      = 3
	maxCallers = 16
)

// ownersAt returns the guards of what a register leads to, by after, at a point: of
// the locks held there, or of those held at all calls of the instance, if the
// register gets what it holds from a parameter. (B1)
func (l *Locks) ownersAt(n pta.InstID, p uint32, r facts.Reg, target pta.ObjID, after []reach.Lead, up int) []stage.Guard {
	var out []stage.Guard
	for _, name := range l.At(n, p) {
		if name.Object || !l.Guards(n, name) {
			continue
		}
		own, ok := l.Effects().OwnerOf(n, p, r, target, name.Reg, after)
		if !ok {
			continue
		}
		c, ok := l.lockCell(n, name, own.Site)
		if !ok {
			continue
		}
		if g := (stage.Guard{Cell: c, Way: l.owners.number(own.Way), Write: name.Write, Once: name.Once}); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	f := l.v.Res.Func(n)
	callers := l.v.In(n)
	if len(out) > 0 || up == maxUp || len(callers) == 0 || len(callers) > maxCallers || !l.lockedCallers().Has(int(n)) {
		return out
	}
	for i, x := range f.Params {
		leads, ok := l.Effects().Leads(n, p, r, x)
		if !ok {
			continue
		}
		if after != nil {
			leads = reach.Join(leads, after)
		}
		first := true
		for _, c := range callers {
			if c.Kind != pta.EdgeCall {
				return nil
			}
			g := l.v.Res.Func(c.Inst)
			call := &g.Calls[c.Row]
			arg := argument(call, i)
			points := l.v.PointsOf(c.Inst, c.Kind, c.Row)
			if arg == facts.NoReg || len(points) == 0 || len(f.Params) != len(call.Args) && call.Method == 0 {
				return nil
			}
			for _, q := range points {
				gs := l.ownersAt(c.Inst, q, arg, target, leads, up+1)
				// What the callee may release is not surely held at p.
				gs = slices.DeleteFunc(slices.Clone(gs), func(g stage.Guard) bool {
					k, ok := l.index[g.Cell]
					return ok && l.cells.Has(l.releases[n], k)
				})
				if first {
					out, first = gs, false
					continue
				}
				out = slices.DeleteFunc(out, func(g stage.Guard) bool { return !slices.Contains(gs, g) })
			}
			if len(out) == 0 {
				return nil
			}
		}
		return out
	}
	return nil
}

// lockedCallers returns the instances to which calls lead from those that may hold
// locks. Others have no use to look for locks in their callers.
func (l *Locks) lockedCallers() stage.Bits {
	if l.owners.under != nil {
		return l.owners.under
	}
	u := stage.NewBits(len(l.v.Res.Insts))
	var todo []pta.InstID
	from := func(n pta.InstID) {
		for _, e := range l.v.Res.Insts[n].Out {
			if e.Kind == pta.EdgeCall && l.v.Has(n, e) && u.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
	for _, n := range l.v.CallOrder() {
		if l.holding.Has(int(n)) {
			from(n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from(n)
	}
	l.owners.under = u
	return u
}

// lockCell returns the cell of the lock that a name stands for in objects of one
// site. (B3)
func (l *Locks) lockCell(n pta.InstID, name Name, site pta.ObjID) (cell uint32, ok bool) {
	ob := &l.v.Res.Objs[site]
	if ob.Type == 0 || ob.Untyped {
		return 0, false
	}
	cells := l.v.Prog.Layout(ob.Type).Cells
	bad := false
	l.v.Res.PointsTo(n, name.Reg, 0).Each(func(c uint32) {
		o, off := l.v.Res.Object(c)
		if o != site {
			return
		}
		for i := range cells {
			if cells[i].Array == 0 && cells[off].Array == 0 && cells[i].Off == cells[off].Off+name.Off {
				bad = bad || ok && cell != ob.Node+uint32(i)
				cell, ok = ob.Node+uint32(i), true
				return
			}
		}
		bad = true
	})
	return cell, ok && !bad
}
