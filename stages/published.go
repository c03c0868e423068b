package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// published refutes pairs of which one access belongs to the making of the
// object: it comes before the object can be known to another goroutine, and every
// way in which one may get to know it orders.
//
//	(U1) the access is in the function that makes the object, through the very
//	     register that the allocation defines, or an address derived from it: it is
//	     to the object that this activation made last
//	(U2) no path leads from a point where the object may become known to others
//	     to the access, but through the allocation, which makes another object
//	     (leaks.go)
//	(U3) pointers to the object lie in: channels, whose receives are after the send
//	     of what they give; closures and interface values, for which (U3) holds
//	     in turn; the hidden cell of a sync.Pool, of which Get is after the Put
//	     that it takes from; variables without an open pair, where each load is
//	     after the store that it observes; elements without an open pair of arrays
//	     that append makes, for which (U3) holds in turn, since it has filled them
//	     before they are known. Arguments of a go statement are ordered by it
//	(U4) reflection, unsafe and unknown code have no pointer to it
//
// Another goroutine that accesses the object has its pointer by a chain of such
// steps, of which the first follows the access in program order (U2). The
// variables of (U3) are judged by the whole pipeline, this stage included, but
// never by what is being asked (an object that only its like lead to is not
// refuted).
//
// A checker must check (U2) on the control flow of the function, (U4), and the
// list of the cells that hold the object against the points-to relation, with
// evidence for all pairs of each variable among them.
type published struct {
	r     *run
	fresh map[uint32]bool // by access
	objs  map[pta.ObjID]int8
	free  map[uint32]int8
	leaks leaks
	*holders
}

// holders is the points-to relation read backwards. It is the same for all views.
type holders struct {
	of       map[pta.ObjID][]uint32 // the cells that may hold a pointer into an object
	reflects stage.Bits             // objects that (U4) excludes
}

// judgements: not yet made, being made, and made.
const (
	unasked int8 = iota
	asked
	good
	bad
)

func newPublished(r *run, h *holders) *published {
	return &published{r: r, holders: h, fresh: map[uint32]bool{}, objs: map[pta.ObjID]int8{}, free: map[uint32]int8{}, leaks: newLeaks(r.v)}
}

// Fresh reports whether an access to a cell comes before everything that others
// do to its object: (U1) to (U4).
func (p *published) Fresh(id uint32, cell uint32) bool {
	o, _ := p.r.v.Res.Object(cell)
	return p.making(id, o) && p.orders(o)
}

// making reports (U1) and (U2).
func (p *published) making(id uint32, o pta.ObjID) bool {
	v := p.r.v
	a := &v.Accesses[id]
	ob := &v.Res.Objs[o]
	f := v.Res.Func(a.Inst)
	if a.Deep || a.Sync != stage.NoUse || ob.Kind != pta.ObjSite || ob.Fn != f.ID {
		return false
	}
	if k := v.Res.Site(o).Kind; k != facts.SiteNew && k != facts.SiteSlice && k != facts.SiteMap {
		return false
	}
	def, ok := allocOf(f, f.Mems[a.Row].Base)
	if !ok || f.Allocs[f.Points[def].Row].Site != ob.Site {
		return false
	}
	if is, ok := p.fresh[id]; ok {
		return is
	}
	is, fl := true, v.Flow(a.Inst)
	for _, e := range p.leaks.of(a.Inst, def) {
		is = is && !reaches(fl, e, a.Point, def)
	}
	p.fresh[id] = is
	return is
}

// allocOf returns the allocation that a register is the address of, or of a part
// of.
func allocOf(f *facts.Func, r facts.Reg) (uint32, bool) {
	for range 16 {
		def := f.Regs[r].Def
		if def == 0 {
			return 0, false
		}
		switch pt := f.Points[def-1]; pt.Op {
		case facts.OpAlloc:
			return def - 1, true
		case facts.OpAddr:
			r = f.Addrs[pt.Row].Base
		default:
			return 0, false
		}
	}
	return 0, false
}

// reaches reports whether control may get from just after point e to point p
// without passing def.
func reaches(fl *stage.Flow, e, p, def uint32) bool {
	f := fl.F
	seen := stage.NewBits(len(f.Blocks))
	var todo []int
	scan := func(b int, from uint32) bool {
		blk := &f.Blocks[b]
		if blk.Panic >= 0 && seen.Add(int(blk.Panic)) {
			todo = append(todo, int(blk.Panic))
		}
		for q := from; q < blk.End; q++ {
			if q == p {
				return true
			}
			if q == def {
				return false
			}
		}
		for _, s := range blk.Succs {
			if seen.Add(int(s)) {
				todo = append(todo, int(s))
			}
		}
		return false
	}
	if scan(fl.Block(e), e+1) {
		return true
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if scan(b, f.Blocks[b].Start) {
			return true
		}
	}
	return false
}

// orders reports (U3) and (U4).
func (p *published) orders(o pta.ObjID) bool {
	switch p.objs[o] {
	case good:
		return true
	case asked, bad:
		return false
	}
	p.index(p.r.w)
	p.objs[o] = asked
	ok := !p.r.v.Res.Objs[o].Untyped && !p.reflects.Has(int(o))
	for _, c := range p.of[o] {
		ok = ok && p.holderOrders(c)
	}
	if ok {
		p.objs[o] = good
	} else {
		p.objs[o] = bad
	}
	return ok
}

// holderOrders reports (U3) for one cell.
func (p *published) holderOrders(c uint32) bool {
	v := p.r.v
	q, _ := v.Res.Object(c)
	ob := &v.Res.Objs[q]
	if ob.Untyped || p.reflects.Has(int(q)) {
		return false
	}
	switch ob.Kind {
	case pta.ObjBox:
		return p.orders(q)
	case pta.ObjGhost:
		return v.IsType(ob.Of, "sync.Pool")
	case pta.ObjGlobal:
		return !v.FlowTouched(c) && p.raceFree(c)
	case pta.ObjSite:
		switch v.Res.Site(q).Kind {
		case facts.SiteChan:
			return !v.Wild(ob.Node)
		case facts.SiteClosure, facts.SiteBox:
			return p.orders(q)
		case facts.SiteMap:
			return p.raceFree(ob.Node) // the header stands for the map
		case facts.SiteGrow:
			return !v.FlowTouchedLater(c) && p.raceFree(c) && p.orders(q)
		case facts.SiteUnknown:
			return false
		}
		return !v.FlowTouched(c) && p.raceFree(c)
	}
	return false
}

// raceFree reports whether no pair of a cell is open.
func (p *published) raceFree(c uint32) bool {
	switch p.free[c] {
	case good:
		return true
	case asked, bad:
		return false
	}
	p.free[c] = asked
	ok := true
	r := p.r
	cs := r.classes(c, false)
	for i, a := range cs {
		for _, b := range cs[i:] {
			if !ok || !mayConflict(r, a, b) {
				continue
			}
			ok = false
			for at := rowEscaping; at < len(Pipeline) && !ok; at++ {
				ok = !r.opt.Off[Pipeline[at].Name] && Pipeline[at].Refute(r, &stage.Pair{Cell: c, A: a, B: b}) != nil
			}
		}
	}
	if ok {
		p.free[c] = good
	} else {
		p.free[c] = bad
	}
	return ok
}

// mayConflict reports whether accesses of two classes conflict.
func mayConflict(r *run, a, b *stage.Class) bool {
	return (a.Write || b.Write) && !(a.Atomic && b.Atomic) && !(r.waits(a) && r.waits(b))
}

// index finds who holds what, when it is first asked for.
func (p *holders) index(v *stage.World) {
	if p.of != nil {
		return
	}
	p.of = map[pta.ObjID][]uint32{}
	p.reflects = stage.NewBits(len(v.Res.Objs))
	sets := map[*pta.Set][]pta.ObjID{}
	objs := func(s *pta.Set) []pta.ObjID {
		if l, ok := sets[s]; ok {
			return l
		}
		var l []pta.ObjID
		s.Each(func(c uint32) {
			if o, _ := v.Res.Object(c); len(l) == 0 || l[len(l)-1] != o {
				l = append(l, o)
			}
		})
		sets[s] = l
		return l
	}
	for q := 1; q < len(v.Res.Objs); q++ {
		ob := &v.Res.Objs[q]
		for i := range ob.N {
			s := v.Res.Content(ob.Node + i)
			if s.Empty() {
				continue
			}
			for _, o := range objs(s) {
				p.of[o] = append(p.of[o], ob.Node+i)
			}
		}
		v.Res.Behind(pta.ObjID(q), func(c uint32) { // (U4)
			o, _ := v.Res.Object(c)
			p.reflects.Add(int(o))
		})
		if ob.Kind == pta.ObjUnboxed {
			p.reflects.Add(int(ob.Of))
		}
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !f.Is(facts.FnUnknown) {
			continue
		}
		for r := range f.Regs {
			for k := range v.Prog.Layout(f.Regs[r].Type).Ptrs {
				for _, o := range objs(v.Res.PointsTo(n, facts.Reg(r), uint32(k))) {
					p.reflects.Add(int(o))
				}
			}
		}
	}
}

// refutePublished is the stage.
func refutePublished(r *run, p *stage.Pair) stage.Evidence {
	o, _ := r.v.Res.Object(p.Cell)
	if p.A.Fresh {
		return stage.Published{Object: uint32(o), Access: p.A.Rep}
	}
	if p.B.Fresh {
		return stage.Published{Object: uint32(o), Access: p.B.Rep}
	}
	return nil
}
