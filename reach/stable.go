package reach

import (
	"encoding/binary"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// StablePath returns how what a register holds at a point is a function of the
// object of a cell that the same point accesses through base: equal texts are one
// function of the object.
//
//	(K1) the register was loaded, field by field, from the register that base was
//	     derived from, of its value at the point
//	(K2) the field of the object, one, in no array, and each further field on the
//	     way, is written once in the life of its object (writtenOnce)
//
// Soundness: a load that gives no nil gives the one value that the field ever gets,
// whatever the order of the accesses; so whoever loads this way from one object has
// got to one address, or panicked.
func (e *Effects) StablePath(n pta.InstID, point uint32, r, base facts.Reg, cell uint32) (string, bool) {
	if e.types[n] == nil {
		return "", false
	}
	p := e.t.plan(e.v.Res.Func(n))
	x := p.placeOf(base, 0).reg
	if x == facts.NoReg || r == x {
		return "", false
	}
	leads, ok := e.Leads(n, point, r, x) // (K1)
	if !ok || len(leads) != 1 || len(leads[0].hops) == 0 {
		return "", false
	}
	of, _ := e.v.Res.Object(cell)
	var way []byte
	for i, h := range leads[0].hops {
		if h.box != 0 || h.put != 0 {
			return "", false
		}
		stable, first, some := true, uint32(0), false
		e.v.Res.PointsTo(h.inst, h.base, 0).Each(func(c uint32) {
			o, at := e.v.Res.Object(c)
			if i == 0 && o != of || !stable {
				return
			}
			if at+h.off >= e.v.Res.Objs[o].N || i == 0 && some {
				stable = false
				return
			}
			first, some = c+h.off, true
			stable = e.writtenOnce(c + h.off)
		})
		if !stable || !some {
			return "", false
		}
		if i == 0 {
			way = append(way, 'c')
			way = binary.LittleEndian.AppendUint32(way, first)
		} else {
			way = binary.LittleEndian.AppendUint32(way, h.off)
		}
	}
	return string(way), true
}

// WrittenOnce reports whether the field at a cell of an abstract object is written at
// most once in each object, so that it holds nil and then one value.
func (e *Effects) WrittenOnce(cell uint32) bool { return e.writtenOnce(cell) }

// writtenOnce reports whether a field of each object is written at most once:
//
//	(W1) recognised stores alone write it, and it lies in no array
//	(W2) each store is to what an allocation of its function has made in the same
//	     frame, directly; and there is one store for each allocation, which runs once
//	     a frame
func (e *Effects) writtenOnce(c uint32) bool {
	if is, ok := e.once[c]; ok {
		return is
	}
	is := e.writtenOnceAt(c)
	e.once[c] = is
	return is
}

func (e *Effects) writtenOnceAt(c uint32) bool {
	o, off := e.v.Res.Object(c)
	idx := e.index()
	if !e.clean.Has(int(o)) || e.v.Res.Cell(o, off).Array != 0 || !idx.explains(e, c, true) { // (W1)
		return false
	}
	type spot struct {
		n  pta.InstID
		at uint32
	}
	seen := map[spot]bool{}
	for _, s := range idx.by[c] { // (W2)
		f := e.v.Res.Func(s.inst)
		p := e.t.plan(f)
		x := &p.ops[s.op]
		if x.point == entry {
			return false
		}
		r := p.placeOf(f.Mems[x.row].Base, 0).reg
		if len(p.defs[r]) != 1 {
			return false
		}
		at := p.defs[r][0].point
		k := spot{s.inst, at}
		if f.Points[at].Op != facts.OpAlloc || p.loopOf[p.fl.Block(at)] != x.at || p.use(r, x.point) != x.at || seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

// SameLoads returns, for registers of a function that are loaded from a field that
// is written once, of an object that is one during an activation, the first register
// that is loaded so: where both hold more than nil they hold the same.
//
//	(S1) the place that is loaded is a distance from one register, which has one
//	     value during an activation
//	(S2) in all instances, each field that may be loaded there is written once
//	     (writtenOnce), and both registers have one points-to set
func (e *Effects) SameLoads(f *facts.Func) map[facts.Reg]facts.Reg {
	p := e.t.plan(f)
	if p.fl == nil {
		return nil
	}
	first := map[place]*op{}
	var out map[facts.Reg]facts.Reg
	for i := range p.ops {
		x := &p.ops[i]
		if x.kind != opLoad || x.n != 1 || x.point == entry {
			continue
		}
		m := &f.Mems[x.row]
		if len(p.defs[m.Val]) != 1 || m.ValLeaf != 0 || p.leaves(m.Val) != 1 || !whole(p.u.Types[f.Regs[m.Val].Type].Kind) {
			continue
		}
		at := p.placeOf(m.Base, m.Off+p.u.Layout(m.Type).Ptrs[0])
		if len(p.defs[at.reg]) > 1 || !p.oneValue(at.reg, -1) { // (S1)
			continue
		}
		y := first[at]
		if y == nil {
			first[at] = x
			continue
		}
		if e.stableAt(f, y) && e.stableAt(f, x) && e.sameSets(f, m.Val, f.Mems[y.row].Val) {
			if out == nil {
				out = map[facts.Reg]facts.Reg{}
			}
			out[m.Val] = f.Mems[y.row].Val
		}
	}
	return out
}

// whole reports whether a value of a kind is stored by one store, all of it.
func whole(k facts.Kind) bool { return k == facts.Pointer || k == facts.Slice }

// stableAt reports (S2) of a load.
func (e *Effects) stableAt(f *facts.Func, x *op) bool {
	m := &f.Mems[x.row]
	off := m.Off + e.v.Prog.Layout(m.Type).Ptrs[0]
	ok := true
	for _, n := range e.v.InstsOf[f.ID] {
		if e.types[n] == nil {
			continue
		}
		e.v.Res.PointsTo(n, m.Base, 0).Each(func(c uint32) {
			o, at := e.v.Res.Object(c)
			ok = ok && at+off < e.v.Res.Objs[o].N && e.writtenOnce(c+off)
		})
	}
	return ok
}

// sameSets reports whether two registers have the same points-to set in all
// instances.
func (e *Effects) sameSets(f *facts.Func, r, s facts.Reg) bool {
	for _, n := range e.v.InstsOf[f.ID] {
		x, y := e.v.Res.PointsTo(n, r, 0), e.v.Res.PointsTo(n, s, 0)
		if x == y {
			continue
		}
		same := x.Len() == y.Len()
		x.Each(func(c uint32) { same = same && y.Has(c) })
		if !same {
			return false
		}
	}
	return true
}
