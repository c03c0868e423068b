package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// points checks that the points-to claims and the call graph are closed under the
// rows of every instance. Each rule says what some row makes the program do, and
// asks that the claims have it:
//
//	(P1) the address of a global or function is its object
//	(P2) an allocation makes some object of its site
//	(P3) copies, phis, and addresses of elements, parts and first fields: inclusion
//	(P4) the address of a field is the cell Off further
//	(P5) a load takes what the cells hold, a store puts it there, leaf by leaf
//	(P6) x.(T) takes from boxes: of a concrete type what a box of that type holds,
//	     of an interface type the boxes that implement it; and what printing gives
//	     besides boxes. An interface holds nothing else
//	(P7) the hidden cell of a cell is one object
//	(P3') a conversion from unsafe.Pointer to *T, of pointers to variables of type
//	     T alone, is a copy
//	(P8) a deep read touches all that is reachable; a flat read or write, the
//	     variables that a pointer, or the boxes of an interface, point to. A write
//	     that stores pointers is refused. Printing: see print.go
//	(P9) a copy of what a box holds has what the box has
//	calls: see calls.go
//
// A cell beyond the end of an object, and a call of a function with another number
// of parameters, cannot come about in code that keeps to its types; all code that
// might not (package unsafe) is refused.
func (k *checker) points() {
	for i := 1; i < len(k.c.Insts); i++ {
		k.rows(InstID(i))
	}
	for b, cp := range k.copies { // (P9)
		for n := range k.cells(b) {
			if from, to := k.c.Objects[b].First+n, k.c.Objects[cp].First+n; !k.within(k.c.Content[from], k.c.Content[to]) {
				k.fail("P9", k.c.Objects[b].pos(k.p), "a copy lacks what the box holds")
			}
		}
	}
}

func (k *checker) rows(i InstID) {
	f := k.fn(i)
	node := func(r facts.Reg, leaf uint32) SetID { return k.c.Insts[i].Vars[f.Regs[r].Node+leaf] }
	flows := func(rule string, op facts.Op, row int, from, to SetID) {
		if !k.within(from, to) {
			k.fail(rule, at(f, op, row), "%s: what flows here is not all in the set of where it goes", f.Name)
		}
	}
	for _, g := range f.Globals { // (P1)
		o := k.globals[g.Global]
		if o == 0 || !k.has(node(g.Dst, 0), k.c.Objects[o].First) {
			k.fail("P1", f.Pos, "%s: the address of global %s is not there", f.Name, k.p.Globals[g.Global].Name)
		}
	}
	for _, fr := range f.FuncRef {
		if !k.some(node(fr.Dst, 0), func(o *Object) bool { return o.Kind == ObjFunc && o.Fn == fr.Fn }) {
			k.fail("P1", f.Pos, "%s: function %s is not there", f.Name, k.p.FuncName(fr.Fn))
		}
	}
	for row, a := range f.Allocs { // (P2)
		if !k.some(node(a.Dst, 0), func(o *Object) bool { return o.Kind == ObjSite && o.Fn == f.ID && o.Site == a.Site }) {
			k.fail("P2", at(f, facts.OpAlloc, row), "%s: an allocation makes no object of its site", f.Name)
		}
	}
	for row, c := range f.Copies { // (P3)
		if c.Unsafe && c.N > 0 && k.p.Types[f.Regs[c.Src].Type].Kind != facts.Map {
			if k.leaves(f, c.Src) > 0 && !k.typed(node(c.Src, uint32(c.SrcLeaf)), f.Regs[c.Dst].Type) {
				k.refuse("unsafe", at(f, facts.OpCopy, row))
				continue
			}
		}
		for n := range uint32(c.N) {
			flows("P3", facts.OpCopy, row, node(c.Src, uint32(c.SrcLeaf)+n), node(c.Dst, uint32(c.DstLeaf)+n))
		}
	}
	for row, p := range f.Phis {
		for _, e := range p.Edges {
			for n := range min(k.leaves(f, e), k.leaves(f, p.Dst)) {
				flows("P3", facts.OpPhi, row, node(e, n), node(p.Dst, n))
			}
		}
	}
	for row, a := range f.Addrs {
		if k.leaves(f, a.Base) == 0 {
			continue
		}
		off := a.Off
		if a.Kind != facts.AddrField {
			off = 0
		}
		if off == 0 {
			flows("P3", facts.OpAddr, row, node(a.Base, 0), node(a.Dst, 0))
			continue
		}
		for _, c := range k.set(node(a.Base, 0)) { // (P4)
			if k.inside(c, off) && !k.has(node(a.Dst, 0), c+off) {
				k.fail("P4", at(f, facts.OpAddr, row), "%s: the address of field %s is not there", f.Name, a.Name)
			}
		}
	}
	for row, m := range f.Mems { // (P5)
		if m.Val == facts.NoReg || m.Type == 0 || k.leaves(f, m.Base) == 0 {
			continue
		}
		for n, leaf := range k.p.Layout(m.Type).Ptrs {
			v := node(m.Val, uint32(m.ValLeaf)+uint32(n))
			for _, c := range k.set(node(m.Base, 0)) {
				if !k.inside(c, m.Off+leaf) {
					continue
				}
				if x := k.c.Content[c+m.Off+leaf]; m.Write {
					flows("P5", facts.OpMem, row, v, x)
				} else {
					flows("P5", facts.OpMem, row, x, v)
				}
			}
		}
	}
	for row, a := range f.Asserts {
		if a.X != facts.NoReg {
			k.assert(i, f, row)
		}
	}
	for row, g := range f.Ghosts { // (P7)
		for _, c := range k.set(k.pts(i, g.Base, 0)) {
			gs := k.ghosts[c]
			if len(gs) == 0 || k.objType[gs[0]] != k.p.Types[f.Regs[g.Dst].Type].Elem || !k.has(node(g.Dst, 0), k.c.Objects[gs[0]].First) {
				k.fail("P7", at(f, facts.OpGhost, row), "%s: a hidden cell is not there", f.Name)
			}
		}
	}
	k.uncovered(i, f)
	for row := range f.Deeps {
		k.deepRead(i, f, row)
	}
	for row := range f.Calls {
		k.call(i, f, uint32(row))
	}
}

// typed reports whether variables of the type that a pointer of type t points to
// start at all cells of a set.
func (k *checker) typed(s SetID, t facts.TypeID) bool {
	return k.p.Types[t].Kind == facts.Pointer && !slices.ContainsFunc(k.set(s), func(c uint32) bool {
		o := k.objOf[c]
		return k.objType[o] == 0 || !slices.Contains(k.p.Layout(k.objType[o]).Cells[c-k.c.Objects[o].First].Types, k.p.Types[t].Elem)
	})
}

// uncovered refuses rows that no rule covers, unless nothing comes to them.
func (k *checker) uncovered(i InstID, f *facts.Func) {
	for row, r := range f.Reaches {
		if r.How != facts.ReachPrint && k.anything(i, r.X) {
			k.refuse("reflect", at(f, facts.OpReach, row))
		}
	}
	for row, n := range f.News {
		if k.anything(i, n.X) {
			k.refuse("reflect", at(f, facts.OpNew, row))
		}
	}
	for row := range f.Anys {
		k.any(i, f, row)
	}
	if f.Is(facts.FnUnknown) {
		k.refuse("functions without body", f.Pos)
	}
	if !k.assumed[f.ID] {
		k.assumed[f.ID] = true
		k.rep.Assumed = append(k.rep.Assumed, f.Unknown...)
	}
}

func (k *checker) anything(i InstID, r facts.Reg) bool {
	for n := range k.leaves(k.fn(i), r) {
		if k.pts(i, r, n) != 0 {
			return true
		}
	}
	return false
}

// some reports whether one of the objects of which a set has the first cell is as
// asked.
func (k *checker) some(s SetID, ok func(*Object) bool) bool {
	for _, c := range k.set(s) {
		if o := &k.c.Objects[k.objOf[c]]; o.First == c && ok(o) {
			return true
		}
	}
	return false
}

// inside reports whether the cell off further lies in the same object.
func (k *checker) inside(c, off uint32) bool {
	return uint64(c)+uint64(off) < uint64(len(k.objOf)) && k.objOf[c+off] == k.objOf[c]
}

// box returns the dynamic type of the box that a cell is, if it is one.
func (k *checker) box(c uint32) (facts.TypeID, bool) {
	o := &k.c.Objects[k.objOf[c]]
	if o.Kind != ObjSite || k.p.Funcs[o.Fn].Sites[o.Site].Kind != facts.SiteBox {
		return 0, false
	}
	t := k.objType[k.objOf[c]]
	if !k.p.Types[t].Concrete && k.p.Types[t].Kind != facts.Interface {
		k.refuse("boxes of types without method table", o.pos(k.p))
	}
	return t, o.First == c
}

// pos returns where the objects of a site are made.
func (o *Object) pos(p *facts.Program) facts.Pos { return p.Funcs[o.Fn].Sites[o.Site].Pos }

// assert checks (P6).
func (k *checker) assert(i InstID, f *facts.Func, row int) {
	a := &f.Asserts[row]
	iface := k.p.Types[a.Type].Kind == facts.Interface
	fail := func() {
		k.fail("P6", at(f, facts.OpAssert, row), "%s: what an interface holds is not all in the set of where it goes", f.Name)
	}
	for _, c := range k.set(k.pts(i, a.X, 0)) {
		k.dynamic("P6", f, at(f, facts.OpAssert, row), c, func(t facts.TypeID, address bool) {
			switch {
			case iface || address && t == a.Type:
				if (!iface || k.p.Implements(t, a.Type)) && !k.has(k.pts(i, a.Dst, 0), c) {
					fail()
				}
			case t == a.Type:
				for n, leaf := range k.p.Layout(t).Ptrs {
					if !k.within(k.c.Content[c+leaf], k.pts(i, a.Dst, uint32(n))) {
						fail()
					}
				}
			}
		})
	}
}

// dynamic calls visit with the types that a cell in an interface may stand for: of
// a box that of what it holds, which is a value at the cell. Printing gives other
// cells: one stands for all variables that start there, and for their addresses.
func (k *checker) dynamic(rule string, f *facts.Func, pos facts.Pos, c uint32, visit func(t facts.TypeID, address bool)) {
	if t, ok := k.box(c); ok {
		visit(t, false)
	}
	o := k.objOf[c]
	if k.objType[o] == 0 {
		k.fail(rule, pos, "%s: an interface holds what is no box", f.Name)
	}
	if t, _ := k.box(k.c.Objects[o].First); t != 0 {
		return // what it holds are variables of its copy
	}
	for _, t := range k.p.Layout(k.objType[o]).Cells[c-k.c.Objects[o].First].Types {
		p := k.pointerTo(t)
		if p != 0 {
			visit(p, true)
		}
		if p == 0 || k.p.Types[t].Kind == facts.Pointer {
			visit(t, false)
		}
	}
}

// pointerTo returns the type of pointers to t, or 0 if the program has none.
func (k *checker) pointerTo(t facts.TypeID) facts.TypeID {
	p, ok := k.ptrTo[t]
	if !ok {
		p = k.p.TypeByName("*" + k.p.Types[t].Name)
		k.ptrTo[t] = p
	}
	return p
}
