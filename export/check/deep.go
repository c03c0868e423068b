package check

import "github.com/bfverify/bfverify/facts"

// deepRead checks (P8).
func (k *checker) deepRead(i InstID, f *facts.Func, row int) {
	d, touched := &f.Deeps[row], k.c.Insts[i].Deeps[row]
	if !k.anything(i, d.X) {
		return
	}
	pos := at(f, facts.OpDeep, row)
	if d.How == facts.ReachPrint && !d.Write {
		return // (T3)
	}
	if d.How == facts.ReachCells && !k.anything(i, d.From) {
		k.flat(i, f, d.X, touched, pos)
		return
	}
	if d.Write || d.How != facts.ReachAll {
		k.refuse("reads and writes of a part of what is reachable", pos)
		return
	}
	object := func(o ObjID) {
		for n := range k.cells(o) {
			if !k.has(touched, k.c.Objects[o].First+n) {
				k.fail("P8", pos, "%s: a cell that is reachable is not read", f.Name)
			}
		}
	}
	whole := func(s SetID) {
		for _, c := range k.set(s) {
			object(k.objOf[c])
		}
	}
	for n := range k.leaves(f, d.X) {
		whole(k.pts(i, d.X, n))
	}
	for _, c := range k.set(touched) {
		whole(k.c.Content[c])
		for _, g := range k.ghosts[c] {
			object(g)
		}
	}
}

// flat checks (P8) for a row that touches the variables behind a register.
func (k *checker) flat(i InstID, f *facts.Func, x facts.Reg, touched SetID, pos facts.Pos) {
	behind := func(t facts.TypeID, s SetID) {
		elem := k.p.Pointee(t)
		if elem == 0 && s != 0 {
			k.refuse("reads and writes of a part of what is reachable", pos)
			return
		}
		for _, c := range k.set(s) {
			for n := range uint32(len(k.p.Layout(elem).Cells)) {
				if k.inside(c, n) && !k.has(touched, c+n) {
					k.fail("P8", pos, "%s: a cell that is pointed to is not touched", f.Name)
				}
			}
		}
	}
	if t := f.Regs[x].Type; k.p.Types[t].Kind != facts.Interface {
		behind(t, k.pts(i, x, 0))
		return
	}
	for _, c := range k.set(k.pts(i, x, 0)) {
		t, ok := k.box(c)
		if !ok {
			k.refuse("reads and writes of a part of what is reachable", pos)
			continue
		}
		for _, leaf := range k.p.Layout(t).Ptrs {
			behind(k.p.Layout(t).Cells[leaf].Type, k.c.Content[c+leaf])
		}
	}
}

// objects returns the objects of the cells in a set, ascending.
func (k *checker) objects(s SetID) []uint32 {
	var out []uint32
	for _, c := range k.set(s) {
		if o := uint32(k.objOf[c]); len(out) == 0 || out[len(out)-1] != o {
			out = append(out, o)
		}
	}
	return out
}

// each calls visit with the cells of an object that has a type.
func (k *checker) each(o ObjID, visit func(cell *facts.Cell, c uint32)) {
	if t := k.objType[o]; t != 0 {
		for n := range k.p.Layout(t).Cells {
			visit(&k.p.Layout(t).Cells[n], k.c.Objects[o].First+uint32(n))
		}
	}
}
