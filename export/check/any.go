package check

import "github.com/bfverify/bfverify/facts"

// any checks a row that calls functions which a value holds with arguments out of
// what exported fields lead to from another value, in any order, any number of
// times; so do finalizers. Its edges stand after those of Calls, by row.
//
//	(C5) it enters the functions that boxes of function type hold
//	(C6) a parameter gets what values of its type hold, and the addresses of
//	     variables that it may point to, out of what is led to
//	(C7) an interface that is returned comes back
//
// Boxes of other types, parameters of interface type, functions that may be variadic,
// and results that would have to be boxed, are refused.
func (k *checker) any(i InstID, f *facts.Func, row int) {
	a := &f.Anys[row]
	pos := at(f, facts.OpAny, row)
	refuse := func() { k.refuse("calls of whatever a value holds", pos) }
	if a.Spawn || k.leaves(f, a.Fn) > 1 || k.leaves(f, a.X) > 1 {
		refuse()
		return
	}
	var vs []variable
	for _, cell := range k.set(k.pts(i, a.Fn, 0)) {
		t, ok := k.box(cell)
		if !ok || k.p.Types[t].Kind != facts.FuncKind {
			refuse()
			continue
		}
		if vs == nil {
			vs = k.exported(k.set(k.pts(i, a.X, 0)))
		}
		for _, fc := range k.set(k.c.Content[cell]) { // (C5)
			fn, closure := k.function("C5", f, pos, fc)
			ms := k.enter(i, f, uint32(len(f.Calls)+row), fn, 0)
			if len(ms) == 0 {
				continue
			}
			if closure && !k.bound(k.objOf[fc], ms) {
				k.fail("C5", pos, "%s: what closure %s binds flows to no instance that is entered", f.Name, k.p.FuncName(fn))
			}
			for _, m := range ms {
				if !k.passed(m, vs) || !k.returned(i, a.Dst, m) {
					refuse()
				}
			}
		}
	}
}

// passed checks (C6); it reports whether all parameters are of types that it covers.
func (k *checker) passed(m InstID, vs []variable) bool {
	g := k.fn(m)
	for n, r := range g.Params {
		p := g.Regs[r].Type
		if kind := k.p.Types[p].Kind; kind == facts.Interface || kind == facts.Slice && n == len(g.Params)-1 {
			return false
		}
		for _, v := range vs {
			ok := true
			if k.p.Assignable(v.t, p) {
				for leaf, c := range k.p.Layout(v.t).Ptrs {
					ok = ok && k.within(k.c.Content[v.cell+c], k.pts(m, r, uint32(leaf)))
				}
			}
			if k.p.Types[p].Kind == facts.Pointer && k.p.Types[p].Elem == v.t {
				ok = ok && (v.boxed || k.has(k.pts(m, r, 0), v.cell))
			}
			if !ok {
				k.fail("C6", g.Pos, "%s: a parameter lacks what it may be called with", g.Name)
			}
		}
	}
	return true
}

// returned checks (C7); it reports whether the results are of types that it covers.
func (k *checker) returned(i InstID, dst facts.Reg, m InstID) bool {
	g := k.fn(m)
	if dst == facts.NoReg || g.Ret == facts.NoReg {
		return true
	}
	for leaf, t := range k.p.PartTypes(g.Regs[g.Ret].Type) { // of a tuple
		if k.p.Types[t].Kind != facts.Interface {
			return false
		}
		if !k.within(k.pts(m, g.Ret, uint32(leaf)), k.pts(i, dst, 0)) {
			k.fail("C7", g.Pos, "%s: what it returns does not come back", g.Name)
		}
	}
	return true
}

// variable is a variable of type t that starts at a cell, or, boxed, a value that
// is part of what a box holds.
type variable struct {
	t     facts.TypeID
	cell  uint32
	boxed bool
}

// exported returns what exported and embedded fields lead to from the cells of an
// interface.
func (k *checker) exported(from []uint32) (out []variable) {
	seen := map[variable]bool{}
	add := func(v variable) {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	inside := func(cells []uint32) {
		for _, c := range cells {
			if t, ok := k.box(c); ok {
				add(variable{t, c, true})
			} else if t := k.objType[k.objOf[c]]; t != 0 {
				for _, x := range k.p.Layout(t).Cells[c-k.c.Objects[k.objOf[c]].First].Types {
					add(variable{x, c, false})
				}
			}
		}
	}
	inside(from)
	for n := 0; n < len(out); n++ {
		v := out[n]
		k.parts(v.t, v.cell, func(t facts.TypeID, c uint32) { add(variable{t, c, v.boxed}) })
		switch ty := &k.p.Types[v.t]; ty.Kind {
		case facts.Interface, facts.FuncKind:
			inside(k.set(k.c.Content[v.cell]))
		case facts.Pointer, facts.Slice, facts.Chan, facts.Map:
			for _, c := range k.set(k.c.Content[v.cell]) {
				if ty.Kind == facts.Map {
					add(variable{k.p.Types[ty.Obj].Fields[1].Type, c + 1, false})
					c += 1 + uint32(len(k.p.Layout(k.p.Types[ty.Obj].Fields[1].Type).Cells))
				}
				add(variable{ty.Elem, c, false})
			}
		}
	}
	return out
}
