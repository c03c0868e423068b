package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Print is what a row that prints, a deep read or a reach of kind ReachPrint,
// visits: objects, ascending (may).
type Print struct{ Operands, Visited []uint32 }

// Rules for what rows that print visit:
//
//	(T1) what the arrays hold that the row's slice points to are operands
//	(T2) where slices, maps and interfaces lead from what is visited or an operand,
//	     and pointers from an operand, is visited. An operand is a box; what else
//	     comes there is visited
//	(T3) all of that is read
//	(T4) a reach gives it for its methods: the boxes, and of boxes and of all else
//	     the variables whose type has some (see dynamic). What a box holds are
//	     variables of a copy
//
// Other pointers are printed as numbers; their methods are called as of the
// variables that hold them. A reflect.Value is refused.

// printRow is a row that prints: what it prints, and touches or, given, reaches.
type printRow struct {
	x       facts.Reg
	touched SetID
	given   bool
}

// printRows lists the rows of an instance that print.
func (k *checker) printRows(i InstID) (out []printRow) {
	f := k.fn(i)
	for row, d := range f.Deeps {
		if d.How == facts.ReachPrint {
			out = append(out, printRow{d.X, k.c.Insts[i].Deeps[row], false})
		}
	}
	for _, r := range f.Reaches {
		if r.How == facts.ReachPrint {
			out = append(out, printRow{r.X, k.pts(i, r.Dst, 0), true})
		}
	}
	return out
}

// visited checks (T1) and (T2) for all rows.
func (k *checker) visited(ask *Asked) {
	for i := 1; i < len(k.c.Insts); i++ {
		for n, row := range k.printRows(InstID(i)) {
			k.visits(InstID(i), row.x, &k.c.Insts[i].Prints[n], ask)
		}
	}
}

// printing checks (T3) and (T4).
func (k *checker) printing() {
	for i := 1; i < len(k.c.Insts); i++ {
		for n, row := range k.printRows(InstID(i)) {
			p := &k.c.Insts[i].Prints[n]
			for _, list := range [...][]uint32{p.Operands, p.Visited, k.objects(k.pts(InstID(i), row.x, 0))} {
				for _, o := range list {
					k.printed(k.fn(InstID(i)), ObjID(o), row.touched, row.given)
				}
			}
		}
	}
}

// visits checks (T1) and (T2).
func (k *checker) visits(i InstID, x facts.Reg, p *Print, ask *Asked) {
	for _, o := range k.objects(k.pts(i, x, 0)) { // (T1)
		k.each(ObjID(o), func(_ *facts.Cell, c uint32) { ask.Has("T1", i, &p.Operands, k.objects(k.c.Content[c])) })
	}
	for n, list := range [...][]uint32{p.Operands, p.Visited} { // (T2)
		for _, o := range slices.Clone(list) {
			_, box := k.box(k.c.Objects[o].First)
			if operand := n == 0; operand && !box {
				ask.Has("T2", i, &p.Visited, []uint32{o})
				continue
			}
			k.each(ObjID(o), func(cell *facts.Cell, c uint32) {
				switch t := k.p.Types[cell.Type].Kind; {
				case t == facts.Slice || t == facts.Map || t == facts.Interface || t == facts.Pointer && n == 0:
					ask.Has("T2", i, &p.Visited, k.objects(k.c.Content[c]))
				case t == facts.UnsafePointer && k.c.Content[c] != 0:
					k.refuse("printing what holds an unsafe.Pointer", k.fn(i).Pos)
				}
			})
		}
	}
}

// printed checks (T3), or (T4), for an object.
func (k *checker) printed(f *facts.Func, o ObjID, touched SetID, given bool) {
	first := k.c.Objects[o].First
	_, box := k.box(first)
	k.each(o, func(cell *facts.Cell, c uint32) {
		if given && (box && c != first || !box && !slices.ContainsFunc(cell.Types, k.hasMethods)) {
			return
		}
		if !k.has(touched, c) {
			k.fail("T3", f.Pos, "%s: printing does not read all of what is printed", f.Name)
		}
	})
	if !given || !box {
		return
	}
	k.parts(k.objType[o], 0, func(t facts.TypeID, off uint32) { // (T4)
		if cp := k.copies[o]; k.hasMethods(t) && (cp == 0 || !k.has(touched, k.c.Objects[cp].First+off)) {
			k.fail("T4", f.Pos, "%s: printing does not call the methods of a part", f.Name)
		}
	})
}

// parts calls visit with the parts of a value of type t, at cell off, that printing
// may call methods of: exported and embedded fields, elements, and theirs.
func (k *checker) parts(t facts.TypeID, off uint32, visit func(t facts.TypeID, off uint32)) {
	ty := &k.p.Types[t]
	if ty.Kind == facts.Array {
		visit(ty.Elem, off)
		k.parts(ty.Elem, off, visit)
	}
	for i := range ty.Fields {
		if x := &ty.Fields[i]; ty.Kind == facts.Struct {
			if ty.Usable(x) {
				visit(x.Type, off)
				k.parts(x.Type, off, visit)
			}
			off += uint32(len(k.p.Layout(x.Type).Cells))
		}
	}
}

// hasMethods reports whether a type, or the type of pointers to it, has methods.
func (k *checker) hasMethods(t facts.TypeID) bool {
	return len(k.p.Types[t].Methods) > 0 && k.p.Types[t].Kind != facts.Interface || len(k.p.Types[k.pointerTo(t)].Methods) > 0
}
