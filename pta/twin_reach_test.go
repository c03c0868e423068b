package pta

import "github.com/bfverify/bfverify/facts"

// The twin's rules for everything that is reachable: (R1), (R2) and (R4).

// reachable returns the cells that register r of instance i reaches, one object
// after the other. With copies, what boxes hold is copied, if it has parts.
func (n *naive) reachable(i int, f *facts.Func, r facts.Reg, copies bool) map[int]bool {
	out, seen := map[int]bool{}, map[int]bool{}
	var todo []int
	holds := func(v int) {
		for _, p := range n.elems(v) {
			if o := n.nodes[p].obj; !seen[o] {
				seen[o] = true
				todo = append(todo, o)
			}
		}
	}
	for leaf := range n.leaves(f, r) {
		holds(n.insts[i].base + int(f.Regs[r].Node) + leaf)
	}
	for len(todo) > 0 {
		o := todo[0]
		todo = todo[1:]
		ob := n.objs[o]
		for c := range ob.n {
			out[ob.first+c] = true
		}
		if c := n.unboxed(o, copies); c != 0 {
			if !seen[c] {
				seen[c] = true
				todo = append(todo, c)
			}
			continue
		}
		if ob.typ != 0 {
			for _, c := range n.u.Layout(ob.typ).Ptrs {
				holds(ob.first + int(c))
			}
		}
		for g := 1; g < len(n.objs); g++ { // hidden cells
			if x := &n.objs[g]; x.kind == ObjGhost && n.nodes[x.a].obj == o && !seen[g] {
				seen[g] = true
				todo = append(todo, g)
			}
		}
	}
	return out
}

// unboxed returns the object that stands for a copy of what box o holds, making it
// if it has parts and create is set, or 0.
func (n *naive) unboxed(o int, create bool) int {
	ob := n.objs[o]
	if !n.isBox(&ob) {
		return 0
	}
	if k := n.u.Types[ob.typ].Kind; k.PointerLike() || k == facts.Scalar {
		return 0
	}
	k := naiveObj{kind: ObjUnboxed, a: uint32(o), typ: ob.typ}
	if !create && n.objOf[k] == 0 {
		return 0
	}
	first := n.object(k, ob.typ)
	for _, c := range n.u.Layout(ob.typ).Ptrs {
		n.flow(first+int(c), ob.first+int(c))
	}
	return n.nodes[first].obj
}

// havoc stores all of cells into all of them, as far as types go. Boxes, copies of
// what they hold, and bindings are not written.
func (n *naive) havoc(cells map[int]bool) {
	for p := range cells {
		o := &n.objs[n.nodes[p].obj]
		if o.typ == 0 || o.kind == ObjUnboxed || n.isBox(o) || n.siteKind(o) == facts.SiteClosure || !n.u.Layout(o.typ).Cells[p-o.first].Ptr {
			continue
		}
		for q := range cells {
			n.add(p, q)
		}
	}
}
