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

// hop is one load on the way from an owner to an accessed object: in an instance,
// of the cells off further than those that base points to, or of boxes of one type;
// it fills a leaf of dst. A hop that put says is no load but the store, an op of the
// plan plus one, that puts what dst has just been made as where it would be loaded
// from.
type hop struct {
	inst pta.InstID
	base facts.Reg
	off  uint32
	box  facts.TypeID
	dst  facts.Reg
	leaf uint32
	put  uint32
}

// Lead is a way by loads from a register, outermost first.
type Lead struct{ hops []hop }

// Bounds on the definitions between an access and its owner, and on the ways.
const (
	maxPath  = 32
	maxLeads = 16
)

// OwnerOf returns the owner, in the register from, of the object target that an
// access at a point reaches through base; not ok if none is known, or if the
// access does not load its way from the value that from has there, by one pointer
// at least.
//
//	(O1) whatever base holds is loaded, field by field, from the value that from has
//	     at the point: through derived addresses, copies, phis, loads, assertions.
//	     Or it was just made, and a store puts it where it would be loaded from; then
//	     the object must determine its owner by this store (putBy)
//	(O2) along these cells, one site alone of those that from may point to leads
//	     to target, and each object of target determines the one of that site which
//	     leads to it (determine), in one way for all
//
// After leads to base, if given, from a register of a callee that has the value of
// base.
//
// Soundness, as Theorem 4.4: o1 leads to o by effects of C along the cells, since
// loads give what was stored. By (O2) o determines o1 by Way alone. What was just
// made and is put nowhere yet is determined by the store to come: if it never
// comes, no other access loads its way to it.
func (e *Effects) OwnerOf(n pta.InstID, point uint32, base facts.Reg, target pta.ObjID, from facts.Reg, after []Lead) (Owner, bool) {
	if e.types[n] == nil || e.exempt.Has(int(target)) {
		return Owner{}, false
	}
	leads, ok := e.Leads(n, point, base, from)
	if !ok {
		return Owner{}, false
	}
	if after != nil {
		leads = Join(leads, after)
	}
	var found Owner
	some, bad := false, false
	seen := map[pta.ObjID]bool{}
	e.v.Res.PointsTo(n, from, 0).Each(func(c uint32) {
		h, _ := e.v.Res.Object(c)
		if bad || seen[h] {
			return
		}
		seen[h] = true
		for _, x := range leads {
			if len(x.hops) == 0 {
				bad = true
				return
			}
			t := trail{e: e, hops: x.hops}
			if !t.lay(h, target) {
				continue
			}
			way, ok := t.determine()
			if !ok || some && (found != Owner{h, way}) {
				bad = true
				return
			}
			found, some = Owner{h, way}, true
		}
	})
	return found, some && !bad
}

// Join returns the ways that go on with a second after a first.
func Join(first, second []Lead) []Lead {
	var all []Lead
	for _, x := range first {
		for _, y := range second {
			all = append(all, Lead{slices.Concat(x.hops, y.hops)})
		}
	}
	return all
}

// lead is a Lead in the making, from its end: what reg's leaf holds at a point is
// the end of hops, which are innermost first.
type lead struct {
	reg    facts.Reg
	leaf   uint32
	at     uint32
	shared int32 // the loop whose iteration is one, all along
	over   bool  // shared knows of reg's definition
	hops   []hop
}

// Leads returns the ways by which base gets what it holds at a point from the value
// that a register, from, has there. (O1)
func (e *Effects) Leads(n pta.InstID, point uint32, base, from facts.Reg) ([]Lead, bool) {
	f := e.v.Res.Func(n)
	p := e.t.plan(f)
	if e.types[n] == nil || p.fl == nil || len(p.defs[from]) > 1 || !p.oneValue(from, p.use(from, point)) {
		return nil, false
	}
	todo := []lead{{reg: base, at: point, shared: p.loopOf[p.fl.Block(point)]}}
	var out []Lead
	for steps := 0; len(todo) > 0; steps++ {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if steps > maxPath || len(out)+len(todo) > maxLeads {
			return nil, false
		}
		if !x.over {
			x.shared = p.around(x.shared, p.use(x.reg, x.at))
		}
		x.over = false
		if x.reg == from && x.leaf == 0 {
			if !p.oneValue(from, x.shared) {
				return nil, false
			}
			hops := slices.Clone(x.hops)
			slices.Reverse(hops)
			out = append(out, Lead{hops})
			continue
		}
		some := false
		for _, d := range p.defs[x.reg] {
			if !p.fills(d.point, x.leaf) {
				continue
			}
			some = true
			y, ok := e.back(n, p, x, d.point)
			if !ok {
				return nil, false
			}
			todo = append(todo, y...)
		}
		if !some {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// back returns where the leaf that a point defines comes from.
func (e *Effects) back(n pta.InstID, p *plan, x lead, point uint32) ([]lead, bool) {
	f := p.f
	to := func(r facts.Reg, leaf uint32, h ...hop) ([]lead, bool) {
		x.hops = append(x.hops[:len(x.hops):len(x.hops)], h...)
		x.reg, x.leaf, x.at = r, leaf, point
		return []lead{x}, r != facts.NoReg
	}
	switch pt := f.Points[point]; pt.Op {
	case facts.OpCopy:
		if c := &f.Copies[pt.Row]; !c.Unsafe {
			return to(c.Src, uint32(c.SrcLeaf)+x.leaf-uint32(c.DstLeaf))
		}
	case facts.OpAddr:
		return to(f.Addrs[pt.Row].Base, 0)
	case facts.OpPhi:
		var out []lead
		for i, r := range f.Phis[pt.Row].Edges {
			if r == facts.NoReg {
				continue // nil
			}
			y := x
			y.reg, y.over = r, true
			y.shared = p.around(x.shared, p.overEdge(r, p.fl.Block(point), i))
			out = append(out, y)
		}
		return out, true
	case facts.OpMem:
		m := &f.Mems[pt.Row]
		ptrs := p.u.Layout(m.Type).Ptrs
		return to(m.Base, 0, hop{inst: n, base: m.Base, off: m.Off + ptrs[x.leaf-uint32(m.ValLeaf)], dst: x.reg, leaf: x.leaf})
	case facts.OpAssert:
		a := &f.Asserts[pt.Row]
		if p.u.Types[a.Type].Kind == facts.Interface {
			return to(a.X, 0)
		}
		if ptrs := p.u.Layout(a.Type).Ptrs; int(x.leaf) < len(ptrs) {
			return to(a.X, 0, hop{inst: n, base: a.X, off: ptrs[x.leaf], box: a.Type, dst: x.reg, leaf: x.leaf})
		}
	case facts.OpAlloc:
		k, ok := e.putAt(n, p, x.reg, point)
		if !ok {
			return nil, false
		}
		op := &p.ops[k]
		m := &f.Mems[op.row]
		x.shared = p.around(x.shared, op.at)
		point = op.point
		return to(m.Base, 0, hop{inst: n, base: m.Base, off: m.Off + p.u.Layout(m.Type).Ptrs[0], dst: x.reg, put: k + 1})
	}
	return nil, false
}

// putAt returns the one store of a function that stores, as one pointer and in the
// same iteration, what an allocation has just made.
func (e *Effects) putAt(n pta.InstID, p *plan, r facts.Reg, point uint32) (uint32, bool) {
	at := p.loopOf[p.fl.Block(point)]
	found, some := uint32(0), false
	for k := range p.ops {
		x := &p.ops[k]
		if x.kind != opStore || x.n != 1 || x.point == entry || x.at != at {
			continue
		}
		srcs, ok := e.valueSources(storeAt{inst: n, op: uint32(k)})
		if !ok {
			continue // putBy will see it
		}
		for _, s := range srcs {
			if s.reg == r && s.loop == at {
				if some {
					return 0, false
				}
				found, some = uint32(k), true
			}
		}
	}
	return found, some
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

// trail is a lead in the heap: the objects after each hop, and the cells that lead
// from each to the next. objs[0] is one site, the last is the target.
type trail struct {
	e     *Effects
	hops  []hop
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
		res.PointsTo(hop.inst, hop.base, 0).Each(func(c uint32) {
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
		in := map[pta.ObjID]bool{}
		res.PointsTo(hop.inst, hop.dst, hop.leaf).Each(func(c uint32) {
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
// there (putBy), which is the one way over a hop that is a store. It returns the jumps as text; equal texts are one function of the
// target.
func (t *trail) determine() (string, bool) {
	e := t.e
	var way []byte
	for j := len(t.objs) - 1; j > 0; {
		best, w := -1, none
		for i := j - 1; i >= 0 && t.hops[i].put == 0; i-- {
			for _, c := range t.cells[i] {
				w = e.t.meet(w, e.cells[c])
			}
			if slices.ContainsFunc(t.objs[i+1], func(o pta.ObjID) bool { return e.exempt.Has(int(o)) }) {
				w = Root // effects say nothing of them
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
		if hop := &t.hops[j-1]; !ok || hop.put != 0 && (s.inst != hop.inst || s.op != hop.put-1) {
			return "", false
		}
		way = append(way, 'u')
		way = binary.LittleEndian.AppendUint32(way, uint32(s.inst))
		way = binary.LittleEndian.AppendUint32(way, s.op)
		j--
	}
	return string(way), len(t.objs) > 1
}
