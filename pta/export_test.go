package pta

import "github.com/bfverify/bfverify/facts"

// PlainReach returns the cells that the leaves of register v reach in instance
// i, one object after the other.
func (r *Result) PlainReach(i InstID, v facts.Reg) *Set {
	unboxed := map[ObjID]ObjID{}
	for o := range r.Objs {
		if r.Objs[o].Kind == ObjUnboxed {
			unboxed[ObjID(r.Objs[o].Of)] = ObjID(o)
		}
	}
	ghosts := map[ObjID][]ObjID{}
	for o := range r.Objs {
		if r.Objs[o].Kind == ObjGhost {
			of := r.obj[r.Objs[o].Of]
			ghosts[of] = append(ghosts[of], ObjID(o))
		}
	}
	out := new(Set)
	var todo []ObjID
	seen := map[ObjID]bool{}
	meet := func(o ObjID) {
		if !seen[o] {
			seen[o] = true
			todo = append(todo, o)
		}
	}
	content := func(n uint32) { r.set(n).Each(func(p uint32) { meet(r.obj[p]) }) }
	f := r.Func(i)
	for leaf := range r.u.Layout(f.Regs[v].Type).Ptrs {
		content(r.Insts[i].Base + f.Regs[v].Node + uint32(leaf))
	}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		o := &r.Objs[id]
		for c := range o.N {
			out.Add(o.Node + c)
		}
		if u, ok := unboxed[id]; ok {
			meet(u)
			continue
		}
		switch o.Kind {
		case ObjArith:
			meet(ObjID(o.Of))
		case ObjRef:
			meet(r.obj[o.Of])
		}
		if o.Type != 0 {
			for _, c := range r.u.Layout(o.Type).Ptrs {
				content(o.Node + c)
			}
		}
		for _, g := range ghosts[id] {
			meet(g)
		}
		if o.Untyped {
			content(o.foreign)
		}
	}
	return out
}
