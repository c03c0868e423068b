package mustnot

import (
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
//	     pointers (reach.OwnerOf, O1)
//	(B2) the accessed object determines x's object, by the effects of the cells on
//	     the way (O2)
//	(B3) the lock lies at one cell of x's object, in no array
//
// Soundness: let two accesses be to one object o, with guards of one cell and one
// way. By (B1) each reaches o from an object that it holds the lock of, o1 and o2.
// By (B2) both are the one that o determines in that way, o1 = o2. By (B3) the locks
// are one, and modes exclude; see RefuteGlobalLock.
type owners struct {
	eff  *reach.Effects
	ways map[string]uint32
	memo map[ownerKey]stage.Guard
}

type ownerKey struct {
	inst   pta.InstID
	point  uint32
	target pta.ObjID
	name   Name
}

// Effects returns the types and effects of the program, computed when they are
// first asked for.
func (l *Locks) Effects() *reach.Effects {
	if l.owners.eff == nil {
		l.owners.eff = reach.New(l.v, reach.Config{})
	}
	return l.owners.eff
}

// ownerGuard returns the guard that a held lock gives to an access to a cell as the
// lock of the owner.
func (l *Locks) ownerGuard(a *stage.Access, cell uint32, base facts.Reg, name Name) (stage.Guard, bool) {
	o, _ := l.v.Res.Object(cell)
	w := &l.owners
	k := ownerKey{a.Inst, a.Point, o, name}
	if g, ok := w.memo[k]; ok {
		return g, g.Way != 0
	}
	if w.memo == nil {
		w.memo, w.ways = map[ownerKey]stage.Guard{}, map[string]uint32{}
	}
	var g stage.Guard
	if own, ok := l.Effects().OwnerOf(a.Inst, a.Point, base, o, name.Reg); ok {
		if c, ok := l.lockCell(a.Inst, name, own.Site); ok {
			way, ok := w.ways[own.Way]
			if !ok {
				way = uint32(len(w.ways) + 1)
				w.ways[own.Way] = way
			}
			g = stage.Guard{Cell: c, Way: way, Write: name.Write}
		}
	}
	w.memo[k] = g
	return g, g.Way != 0
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
