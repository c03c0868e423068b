package mustnot

import (
	"encoding/binary"
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// RefuteGlobalLock is the stage global-lock (POPL'07 section 3.3): both
// accesses hold the same lock, one object for the whole run, and at least one
// of them for writing.
//
// Soundness: the name is an object made at most once, so equal cells are one
// lock; every release in the program is by a holder (Locks.usable), so two
// goroutines that surely hold it are not there at the same time, and what the
// first did under it happens before its release, hence before the second's
// acquire.
func RefuteGlobalLock(p *stage.Pair) stage.Evidence {
	for _, g := range p.A.Locks {
		for _, h := range p.B.Locks {
			if g.Object && h.Object && g.Cell == h.Cell && g.Once == h.Once && (g.Write || h.Write) {
				return stage.SameLock{Cell: g.Cell, Once: g.Once, Again: g.Again || h.Again}
			}
		}
	}
	return nil
}

// RefuteLocalLock is the stage local-lock: whenever the two locks are distinct, so
// are the two locations.
//
// Form (a), same base: both accesses hold a lock that lies in the object they
// access, at the same distance from the accessed location and with no pointer in
// between. Soundness: if the two locations are one, the two locks are one, being
// Delta bytes from it; if they are two, there is no race. The distance is taken
// between two addresses computed from one register in one activation, through
// fields only, so that both lie in one innermost element.
//
// Form (c), stable path: both hold the lock to which the accessed object leads by
// one path of fields that are written once (reach.StablePath). Soundness: if the two
// locations are one, the two locks are one.
//
// Form (b), disjoint reachability: both reach what they access through pointers
// from an object whose lock they hold. Soundness: see owners.
func RefuteLocalLock(p *stage.Pair) stage.Evidence {
	for _, g := range p.A.Locks {
		for _, h := range p.B.Locks {
			switch {
			case g.Object || h.Object || g.Way != h.Way || g.Once != h.Once || !g.Write && !h.Write:
			case g.Way != 0 && g.Stable:
				return stage.StablePath{Cell: g.Cell}
			case g.Way != 0 && g.Cell == h.Cell:
				return stage.SameOwner{Cell: g.Cell}
			case g.Way == 0 && g.Delta == h.Delta:
				return stage.SameBase{Delta: g.Delta, Element: g.Element || h.Element, Once: g.Once, Again: g.Again || h.Again}
			}
		}
	}
	return nil
}

// Guards returns the guards of an access to a cell.
func (l *Locks) GuardsAt(a *stage.Access, cell uint32) []stage.Guard {
	held := l.At(a.Inst, a.Point)
	out := slices.Clone(l.ownerGuards(a, cell))
	if len(held) == 0 {
		return out
	}
	f := l.v.Res.Func(a.Inst)
	delta, ok := int64(0), false
	var rt root
	plain := !a.Deep && a.Sync == stage.NoUse && !f.Is(facts.FnUnknown)
	if !a.Deep && a.Sync == stage.NoUse {
		m := &f.Mems[a.Row]
		rt = l.rootOf(f, m.Base)
		delta, ok = l.offset(a, f, m, cell)
	}
	for _, name := range held {
		if !l.Guards(a.Inst, name) {
			continue
		}
		if name.Object {
			out = append(out, stage.Guard{Object: true, Cell: name.Cell, Write: name.Write, Once: name.Once, Again: l.mayBe(a.Inst, name, l.again)})
		} else if ok && name.Reg == rt.reg {
			out = append(out, stage.Guard{Delta: name.Off - rt.off - delta, Write: name.Write, Once: name.Once, Element: l.shapeOf(f).again.Has(int(rt.reg)), Again: l.mayBe(a.Inst, name, l.again)})
		} else if plain {
			if way, ok := l.Effects().StablePath(a.Inst, a.Point, name.Reg, f.Mems[a.Row].Base, cell); ok {
				way = string(binary.LittleEndian.AppendUint64([]byte(way), uint64(name.Off)))
				first := binary.LittleEndian.Uint32([]byte(way)[1:])
				out = append(out, stage.Guard{Cell: first, Way: l.owners.number(way), Stable: true, Write: name.Write, Once: name.Once})
			}
		}
	}
	return out
}

// offset returns how many bytes the cell lies from where the base points; not
// ok if the access may reach it at several distances or inside an array.
func (l *Locks) offset(a *stage.Access, f *facts.Func, m *facts.Mem, cell uint32) (int64, bool) {
	o, _ := l.v.Res.Object(cell)
	if l.v.Res.Objs[o].Untyped {
		return 0, false
	}
	cells := l.v.Prog.Layout(m.Type).Cells
	pts := l.v.Res.PointsTo(a.Inst, m.Base, 0)
	found := -1
	for i := range cells {
		p := cell - m.Off - uint32(i)
		if q, _ := l.v.Res.Object(p); q == o && pts.Has(p) {
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

// Describe names the locks held at an access for a report.
func (l *Locks) Describe(a *stage.Access, name func(n pta.InstID, m Name) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range l.At(a.Inst, a.Point) {
		if m.Once {
			continue
		}
		s := name(a.Inst, m)
		if s != "" && !m.Write {
			s += " (read)"
		}
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
