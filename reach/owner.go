package reach

import (
	"encoding/binary"
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Owner tells which object an access owes its object to. Access 1 reaches o from a
// register whose value is o1, access 2 o from one whose value is o2; if both have
// an owner, of one Site and Way, then o1 = o2.
type Owner struct {
	Site pta.ObjID
	Way  string // how o determines it: the jumps of determine
}

// hop is one load on the way from an owner to an accessed object: of the cells off
// further than those that base points to, or of boxes of one type.
type hop struct {
	base facts.Reg
	off  uint32
	box  facts.TypeID
}

// maxPath bounds the definitions between an access and its owner.
const maxPath = 32

// OwnerOf returns the owner, in the register from, of the object target that an
// access at a point reaches through base; not ok if none is known, or if the
// access does not load its way from that value of from, by one pointer at least.
//
//	(O1) base is loaded, field by field, from the value that from has at the point:
//	     through derived addresses, copies, loads, assertions; no phi
//	(O2) along these cells, one site alone of those that from may point to leads
//	     to target, and each object of target determines the one of that site which
//	     leads to it (determine)
//
// Soundness, as Theorem 4.4: o1 leads to o by effects of C along the cells, since
// loads give what was stored. By (O2) o determines o1 by Way alone.
func (e *Effects) OwnerOf(n pta.InstID, point uint32, base facts.Reg, target pta.ObjID, from facts.Reg) (Owner, bool) {
	if e.types[n] == nil || e.exempt.Has(int(target)) {
		return Owner{}, false
	}
	hops, ok := e.path(n, point, base, from)
	if !ok || len(hops) == 0 {
		return Owner{}, false
	}
	var found Owner
	some := false
	seen := map[pta.ObjID]bool{}
	bad := false
	e.v.Res.PointsTo(n, from, 0).Each(func(c uint32) {
		h, _ := e.v.Res.Object(c)
		if bad || seen[h] {
			return
		}
		seen[h] = true
		t := trail{e: e, n: n, hops: hops, base: base}
		if !t.lay(h, target) {
			return
		}
		way, ok := t.determine()
		if bad = !ok || some; !bad {
			found, some = Owner{h, way}, true
		}
	})
	return found, some && !bad
}

// path returns the loads that lead from a register to another, outermost first.
// (O1)
func (e *Effects) path(n pta.InstID, point uint32, base, from facts.Reg) ([]hop, bool) {
	f := e.v.Res.Func(n)
	p := e.t.plan(f)
	if p.fl == nil || len(p.defs[from]) > 1 {
		return nil, false
	}
	var hops []hop
	reg, leaf, at := base, uint32(0), point
	shared := int32(-2) // the loop whose iteration is one, all along; -2: nothing left yet
	narrow := func(l int32) {
		if shared == -2 {
			shared = l
		} else {
			shared = p.around(shared, l)
		}
	}
	narrow(p.loopOf[p.fl.Block(point)])
	for range maxPath {
		narrow(p.use(reg, at))
		if reg == from && leaf == 0 {
			if !p.oneValue(from, shared) || !p.oneValue(from, p.use(from, point)) {
				return nil, false
			}
			slices.Reverse(hops)
			return hops, true
		}
		d := def{entry}
		for _, x := range p.defs[reg] {
			if p.fills(x.point, leaf) {
				if d.point != entry {
					return nil, false
				}
				d = x
			}
		}
		if d.point == entry {
			return nil, false
		}
		at = d.point
		switch pt := f.Points[at]; pt.Op {
		case facts.OpCopy:
			c := &f.Copies[pt.Row]
			if c.Unsafe {
				return nil, false
			}
			reg, leaf = c.Src, uint32(c.SrcLeaf)+leaf-uint32(c.DstLeaf)
		case facts.OpAddr:
			reg = f.Addrs[pt.Row].Base
		case facts.OpMem:
			m := &f.Mems[pt.Row]
			ptrs := p.u.Layout(m.Type).Ptrs
			hops = append(hops, hop{base: m.Base, off: m.Off + ptrs[leaf-uint32(m.ValLeaf)]})
			reg, leaf = m.Base, 0
		case facts.OpAssert:
			a := &f.Asserts[pt.Row]
			if p.u.Types[a.Type].Kind != facts.Interface {
				ptrs := p.u.Layout(a.Type).Ptrs
				if int(leaf) >= len(ptrs) {
					return nil, false
				}
				hops = append(hops, hop{base: a.X, off: ptrs[leaf], box: a.Type})
			}
			reg, leaf = a.X, 0
		default:
			return nil, false
		}
		if reg == facts.NoReg {
			return nil, false
		}
	}
	return nil, false
}

// oneValue reports whether a register has one value during an iteration of a loop
// (-1: an activation).
func (p *plan) oneValue(r facts.Reg, l int32) bool {
	switch d := p.defBlock(r); {
	case d == -1:
		return true
	case d < 0:
		return false
	case p.loopOf[d] == -1:
		return true
	default:
		return p.inside(l, p.loopOf[d])
	}
}

// fills reports whether a point defines a leaf of the register that it defines.
func (p *plan) fills(point, leaf uint32) bool {
	switch pt := p.f.Points[point]; pt.Op {
	case facts.OpCopy:
		c := &p.f.Copies[pt.Row]
		return leaf >= uint32(c.DstLeaf) && leaf < uint32(c.DstLeaf)+uint32(c.N)
	case facts.OpMem:
		m := &p.f.Mems[pt.Row]
		return leaf >= uint32(m.ValLeaf) && leaf < uint32(m.ValLeaf)+uint32(len(p.u.Layout(m.Type).Ptrs))
	case facts.OpSync, facts.OpSelect:
		return false // Mems move the values
	}
	return true
}

// trail is a path in the heap: the objects after each hop, and the cells that lead
// from each to the next. objs[0] is one site, the last is the target.
type trail struct {
	e     *Effects
	n     pta.InstID
	hops  []hop
	base  facts.Reg
	objs  [][]pta.ObjID
	cells [][]uint32
}

// maxTrail bounds the objects and cells of one hop.
const maxTrail = 256

// lay finds the objects and cells on paths from h to target; false if there are
// none. Where it cannot tell, determine will refuse.
func (t *trail) lay(h, target pta.ObjID) bool {
	res := t.e.v.Res
	t.objs, t.cells = [][]pta.ObjID{{h}}, nil
	for i, hop := range t.hops {
		var cells []uint32
		vague := false
		res.PointsTo(t.n, hop.base, 0).Each(func(c uint32) {
			o, at := res.Object(c)
			ob := &res.Objs[o]
			if !slices.Contains(t.objs[i], o) {
				return
			}
			kind, site := res.SiteKind(o)
			switch {
			case ob.Untyped || !site && ob.Kind != pta.ObjGlobal, hop.box != 0 && kind != facts.SiteBox:
				vague = true
			case hop.box != 0 && ob.Type == hop.box:
				cells = append(cells, ob.Node+hop.off)
			case hop.box == 0 && at+hop.off < ob.N:
				cells = append(cells, c+hop.off)
			}
		})
		slices.Sort(cells)
		cells = slices.Compact(cells)
		next := t.base
		if i+1 < len(t.hops) {
			next = t.hops[i+1].base
		}
		in := map[pta.ObjID]bool{}
		res.PointsTo(t.n, next, 0).Each(func(c uint32) {
			o, _ := res.Object(c)
			in[o] = true
		})
		var objs []pta.ObjID
		for _, c := range cells {
			res.Content(c).Each(func(x uint32) {
				if o, _ := res.Object(x); in[o] {
					objs = append(objs, o)
				}
			})
		}
		slices.Sort(objs)
		objs = slices.Compact(objs)
		if vague || len(objs) > maxTrail || len(cells) > maxTrail {
			t.objs = nil
			return true // determine will refuse
		}
		t.objs, t.cells = append(t.objs, objs), append(t.cells, cells)
	}
	// What does not lead to the target is no part of it.
	last := len(t.objs) - 1
	if !slices.Contains(t.objs[last], target) {
		return false
	}
	t.objs[last] = []pta.ObjID{target}
	for i := len(t.hops) - 1; i >= 0; i-- {
		to := t.objs[i+1]
		var from []pta.ObjID
		t.cells[i] = slices.DeleteFunc(t.cells[i], func(c uint32) bool {
			leads := false
			res.Content(c).Each(func(x uint32) {
				o, _ := res.Object(x)
				leads = leads || slices.Contains(to, o)
			})
			if leads {
				o, _ := res.Object(c)
				from = append(from, o)
			}
			return !leads
		})
		slices.Sort(from)
		t.objs[i] = slices.Compact(from)
	}
	return len(t.objs[0]) > 0
}

// determine goes back from the target by jumps, each of which finds one object from
// another: over hops whose effects compose to the node of the one site where they
// began, the most at a time; or over one hop, by the store that put the object
// there (putBy). It returns the jumps as text; equal texts are one function of the
// target.
func (t *trail) determine() (string, bool) {
	e := t.e
	var way []byte
	for j := len(t.objs) - 1; j > 0; {
		best, w := -1, none
		for i := j - 1; i >= 0; i-- {
			for _, c := range t.cells[i] {
				w = e.t.meet(w, e.cells[c])
			}
			if len(t.objs[i]) == 1 && e.determines(t.objs[i][0], w) {
				best = i
			}
		}
		if best >= 0 {
			way = append(way, 'e')
			way = binary.LittleEndian.AppendUint32(way, uint32(t.objs[best][0]))
			j = best
			continue
		}
		if len(t.objs[j]) != 1 {
			return "", false
		}
		s, ok := e.putBy(t.cells[j-1], t.objs[j][0])
		if !ok {
			return "", false
		}
		way = append(way, 'u')
		way = binary.LittleEndian.AppendUint32(way, uint32(s.inst))
		way = binary.LittleEndian.AppendUint32(way, s.op)
		j--
	}
	return string(way), len(t.objs) > 1
}
