package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// fresh judges the evidence that an access belongs to the making of its object: it
// comes before all that others do to it.
//
//	(U1) it is in the function that makes the object, through the register of the
//	     allocation or an address derived from that: to what was made last
//	(U2) no path leads from where the object may become known to others (leaks.go) to
//	     the access, but through the allocation, which makes another one
//	(U3) what may point to the object orders who loads from it after who stored:
//	     channels; closures, boxes and arrays that append fills, if this holds of
//	     what points to them; variables of which all pairs are refuted, by evidence
//	     that is not being asked about
//	(U4) finalizers do not get at it
//
// Who else accesses the object has its pointer by a chain of such steps, or as an
// argument of a go statement, of which the first comes after the access.
func (k *checker) fresh(a *access, c uint32) bool {
	f, id := k.fn(a.at.Inst), k.objOf[c]
	o := &k.c.Objects[id]
	if f.Points[a.at.Point].Op != facts.OpMem || o.Kind != ObjSite || o.Fn != f.ID || k.made(o) > facts.SiteMap {
		return false
	}
	r, def := f.Mems[f.Points[a.at.Point].Row].Base, uint32(0) // (U1)
	for range f.Regs {
		if def = f.Regs[r].Def; def == 0 || f.Points[def-1].Op != facts.OpAddr {
			break
		}
		r = f.Addrs[f.Points[def-1].Row].Base
	}
	if def == 0 || f.Points[def-1].Op != facts.OpAlloc || f.Allocs[f.Points[def-1].Row].Site != o.Site {
		return false
	}
	at, _ := k.leaksOf(a.at.Inst, r)
	return !slices.ContainsFunc(at, func(q uint32) bool { return k.flowOf(f).avoids(q, a.at.Point, def-1) }) && k.handedOver(id)
}

// made returns the kind of the site of an object.
func (k *checker) made(o *Object) facts.SiteKind { return k.p.Funcs[o.Fn].Sites[o.Site].Kind }

// avoids reports whether control may get from after p to q without passing d. (U2)
func (fl *flow) avoids(p, q, d uint32) bool {
	seen := NewBits(len(fl.f.Blocks))
	var visit func(b int, from uint32) bool
	visit = func(b int, from uint32) bool {
		blk := &fl.f.Blocks[b]
		next := slices.Clone(blk.Succs)
		if blk.Panic >= 0 {
			next = append(next, uint32(blk.Panic))
		}
		for x := from; x < blk.End; x++ {
			if x == q {
				return true
			}
			if x == d { // but its panics, and those before it
				next = next[len(blk.Succs):]
				break
			}
		}
		return slices.ContainsFunc(next, func(s uint32) bool { return seen.Add(int(s)) && visit(int(s), fl.f.Blocks[s].Start) })
	}
	return visit(int(fl.blockOf[p]), p+1)
}

// judgement is what is known of a cell or object that has been asked about.
type judgement uint8

const (
	unasked judgement = iota
	asked             // no reason for itself
	good
)

// judge remembers the answer to a question.
func judge[K comparable](m map[K]judgement, x K, ok func() bool) bool {
	if m[x] == unasked {
		if m[x] = asked; ok() {
			m[x] = good
		}
	}
	return m[x] == good
}

// handedOver reports (U3) and (U4) for an object.
func (k *checker) handedOver(id ObjID) bool {
	if k.holders == nil {
		k.findHolders()
	}
	return judge(k.handed, id, func() bool {
		return !k.finalized.Has(int(id)) && !slices.ContainsFunc(k.holders[id], func(c uint32) bool { return !k.ordersLoads(c) })
	})
}

// ordersLoads reports (U3) for a cell.
func (k *checker) ordersLoads(c uint32) bool {
	id := k.objOf[c]
	o := &k.c.Objects[id]
	switch {
	case k.finalized.Has(int(id)):
		return false
	case o.Kind == ObjGlobal:
		return !k.moved.Has(int(c)) && k.raceFree(c)
	case o.Kind != ObjSite:
		return false
	}
	switch k.made(o) {
	case facts.SiteChan:
		return true
	case facts.SiteClosure, facts.SiteBox:
		return k.handedOver(id)
	case facts.SiteMap:
		return k.raceFree(o.First) // the header stands for the map
	case facts.SiteGrow:
		return !k.moved.Has(int(c)) && k.raceFree(c) && k.handedOver(id)
	}
	return k.made(o) != facts.SiteUnknown && !k.moved.Has(int(c)) && k.raceFree(c)
}

// findHolders finds the cells that may point to each object, the cells that rows touch
// which are no accesses, but for what fills an array of append, and what finalizers
// get at.
func (k *checker) findHolders() {
	k.holders, k.moved, k.finalized = map[ObjID][]uint32{}, NewBits(len(k.objOf)), NewBits(len(k.c.Objects))
	for c, s := range k.c.Content {
		for _, o := range k.objects(s) {
			k.holders[ObjID(o)] = append(k.holders[ObjID(o)], uint32(c))
		}
	}
	for i := 1; i < len(k.c.Insts); i++ {
		id := InstID(i)
		f := k.fn(id)
		for j := range f.Mems {
			m := &f.Mems[j]
			def := f.Regs[m.Base].Def
			grown := m.Write && def != 0 && f.Points[def-1].Op == facts.OpAlloc && f.Sites[f.Allocs[f.Points[def-1].Row].Site].Kind == facts.SiteGrow
			if m.Mode != facts.Flow || grown {
				continue
			}
			for _, c := range k.set(k.pts(id, m.Base, 0)) {
				for n := range uint32(len(k.p.Layout(m.Type).Cells)) {
					if k.inside(c, m.Off+n) {
						k.moved.Add(int(c + m.Off + n))
					}
				}
			}
		}
		for _, a := range f.Anys { // (U4)
			for _, v := range k.exported(k.set(k.pts(id, a.X, 0))) {
				k.finalized.Add(int(k.objOf[v.cell]))
				for n := range k.p.Layout(v.t).Cells {
					if k.inside(v.cell, uint32(n)) {
						for _, o := range k.objects(k.c.Content[v.cell+uint32(n)]) {
							k.finalized.Add(int(o))
						}
					}
				}
			}
		}
	}
}
