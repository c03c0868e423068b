package stage

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Values are the integers (booleans as 0 and 1) that a register or a cell may
// hold; Top is any.
type Values struct {
	Top bool
	Ks  []int64 // ascending
}

// maxValues bounds Values; what holds more is Top.
const maxValues = 4

var anyValue = Values{Top: true}

func (v Values) join(u Values) Values {
	if v.Top || u.Top {
		return anyValue
	}
	out := slices.Clone(v.Ks)
	for _, k := range u.Ks {
		if i, ok := slices.BinarySearch(out, k); !ok {
			out = slices.Insert(out, i, k)
		}
	}
	if len(out) > maxValues {
		return anyValue
	}
	return Values{Ks: out}
}

// values is the relation value(N, V, k): a flow-insensitive may-analysis of
// constants, computed on demand.
//
//	(V1) a constant holds itself; a copy, a phi, a by-value captured variable
//	     what its operands hold; a comparison, or a not, of known values its results
//	(V2) a parameter holds what any caller passes, a call what any callee returns
//	     in blocks that are not dead
//	(V3) a load gives zero, and what any store into a cell it may read stores;
//	     a load from a variable that its own block has just made, and not used
//	     but to load from it, gives zero
//	(V4) what a model returns, stores or passes stands for any value, but for the
//	     operations of sync/atomic, whose models do what they do
//	(V5) the index that a select gives is that of a case that may be ready, or -1
//	     where there is a default
//	(V6) everything else is any value: in particular memory that is written other
//	     than by a store of one scalar, or viewed at a foreign type, or that
//	     package runtime declares, which code of other kinds sets
//	(V7) in particular too, a number that is stored or loaded as one of another
//	     kind than the cell's, through unsafe
//
// A store that races with the load is one of those counted: a value of one word
// is read as some store left it. Cells of more than one word are any value.
type values struct {
	w    *World
	word int64 // bytes
	regs map[instReg]Values
	cell map[uint32]Values
	// Cells of the program's memory that flow rows write, and that they touch.
	flow, touched, later Bits
}

type instReg struct {
	n pta.InstID
	r facts.Reg
}

func newValues(w *World) *values {
	x := &values{w: w, word: 4, regs: map[instReg]Values{}, cell: map[uint32]Values{}}
	for i := range w.Prog.Types {
		if t := &w.Prog.Types[i]; t.Name == "int" {
			x.word = t.Size
		}
	}
	return x
}

// exact reports whether the constants in f are those of the program. (V4)
func exact(f *facts.Func) bool {
	return f != nil && (!f.Is(facts.FnModel) || f.Is(facts.FnAtomic) && f.Pkg == "sync/atomic")
}

// reg returns the values of a register.
func (x *values) reg(n pta.InstID, r facts.Reg) Values {
	if r == facts.NoReg {
		return anyValue
	}
	k := instReg{n, r}
	if v, ok := x.regs[k]; ok {
		return v
	}
	x.regs[k] = anyValue // while it is computed: what depends on itself is any value
	v := x.compute(n, x.w.Res.Func(n), r)
	x.regs[k] = v
	return v
}

func (x *values) compute(n pta.InstID, f *facts.Func, r facts.Reg) Values {
	if !exact(f) {
		return anyValue
	}
	for i := range f.Consts {
		if c := &f.Consts[i]; c.Dst == r {
			if !c.Known {
				return anyValue
			}
			return Values{Ks: []int64{c.Int}}
		}
	}
	if !x.scalar(f.Regs[r].Type) {
		return anyValue
	}
	def := f.Regs[r].Def
	if def == 0 {
		for i, p := range f.Params {
			if p == r {
				return x.param(n, f, i)
			}
		}
		for i, p := range f.Free {
			if p == r {
				return x.free(n, f, i)
			}
		}
		return anyValue
	}
	pt := f.Points[def-1]
	switch pt.Op {
	case facts.OpPhi:
		var v Values
		for _, e := range f.Phis[pt.Row].Edges {
			v = v.join(x.reg(n, e))
		}
		return v
	case facts.OpCopy:
		c := &f.Copies[pt.Row]
		if c.Index == 0 {
			return x.chosen(n, f, c.Src)
		}
		if c.Index < 0 && x.scalar(f.Regs[c.Src].Type) {
			return x.reg(n, c.Src)
		}
	case facts.OpArith:
		return x.arith(n, &f.Ariths[pt.Row])
	case facts.OpMem:
		return x.load(n, f, def-1)
	case facts.OpCall:
		return x.result(n, pt)
	}
	return anyValue
}

// chosen returns the values of the first component of a tuple, if that is the
// index of a select. (V5)
func (x *values) chosen(n pta.InstID, f *facts.Func, tuple facts.Reg) Values {
	def := f.Regs[tuple].Def
	if def == 0 || f.Points[def-1].Op != facts.OpSelect {
		return anyValue
	}
	s := &f.Selects[f.Points[def-1].Row]
	var v Values
	if !s.Blocking {
		v = v.join(Values{Ks: []int64{-1}})
	}
	for k := range s.Cases {
		if x.w.MayCommunicate(n, &s.Cases[k]) {
			v = v.join(Values{Ks: []int64{int64(k)}})
		}
	}
	return v
}

// ValuesOf returns the values that a register may hold; see values.
func (w *World) ValuesOf(n pta.InstID, r facts.Reg) Values { return w.values.reg(n, r) }

// Word returns the size of a word in bytes.
func (w *World) Word() int64 { return w.values.word }

// scalar reports whether a type is one scalar of at most one word.
func (x *values) scalar(t facts.TypeID) bool {
	ty := &x.w.Prog.Types[t]
	return t != 0 && ty.Kind == facts.Scalar && ty.Size <= x.word
}

func (x *values) arith(n pta.InstID, a *facts.Arith) Values {
	if a.Op < facts.ArithEq {
		return anyValue
	}
	l := x.reg(n, a.X)
	if a.Op == facts.ArithNot {
		out := Values{}
		for _, k := range l.Ks {
			out = out.join(Values{Ks: []int64{1 - k}})
		}
		return Values{Top: l.Top, Ks: out.Ks}
	}
	r := x.reg(n, a.Y)
	if l.Top || r.Top {
		return anyValue
	}
	var out Values
	for _, p := range l.Ks {
		for _, q := range r.Ks {
			k := int64(0)
			if compare(a.Op, p, q) {
				k = 1
			}
			out = out.join(Values{Ks: []int64{k}})
		}
	}
	return out
}

func compare(op facts.ArithOp, p, q int64) bool {
	switch op {
	case facts.ArithEq:
		return p == q
	case facts.ArithNe:
		return p != q
	case facts.ArithLt:
		return p < q
	case facts.ArithLe:
		return p <= q
	case facts.ArithGt:
		return p > q
	}
	return p >= q
}

// param returns the values of the i-th parameter. (V2)
func (x *values) param(n pta.InstID, f *facts.Func, i int) Values {
	callers := x.w.Callers[n]
	if len(callers) == 0 || len(callers) > 16 {
		return anyValue
	}
	var v Values
	for _, c := range callers {
		g := x.w.Res.Func(c.Inst)
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo || !exact(g) {
			return anyValue
		}
		call := &g.Calls[c.Row]
		k, args := i, len(f.Params)
		if call.Method != 0 {
			k, args = k-1, args-1
		}
		if k < 0 || len(call.Args) != args {
			return anyValue
		}
		v = v.join(x.reg(c.Inst, call.Args[k]))
	}
	return v
}

// free returns the values of the i-th free variable: what any closure that may
// be called here was bound to. (V1)
func (x *values) free(n pta.InstID, f *facts.Func, i int) Values {
	callers := x.w.Callers[n]
	if len(callers) == 0 || len(callers) > 16 {
		return anyValue
	}
	off := uint32(0)
	for _, r := range f.Free[:i] {
		off += uint32(len(x.w.Prog.Layout(f.Regs[r].Type).Cells))
	}
	var v Values
	for _, c := range callers {
		g := x.w.Res.Func(c.Inst)
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo || g.Calls[c.Row].Fn == facts.NoReg {
			return anyValue
		}
		found := false
		x.w.Res.PointsTo(c.Inst, g.Calls[c.Row].Fn, 0).Each(func(cell uint32) {
			o, _ := x.w.Res.Object(cell)
			s := x.w.Res.Site(o)
			if s == nil || s.Kind != facts.SiteClosure || s.Fn != f.ID {
				return
			}
			found = true
			ob := &x.w.Res.Objs[o]
			for _, m := range x.w.InstsOf[ob.Fn] {
				v = v.join(x.bound(m, ob.Site, off))
			}
		})
		if !found {
			return anyValue
		}
	}
	return v
}

// bound returns the values that instance m binds at a closure's cell.
func (x *values) bound(m pta.InstID, site facts.SiteID, off uint32) Values {
	f := x.w.Res.Func(m)
	var v Values
	some := false
	for _, a := range f.Allocs {
		if a.Site != site {
			continue
		}
		for j := range f.Mems {
			if s := &f.Mems[j]; s.Base == a.Dst && s.Write && s.Mode == facts.Flow && s.Off == off {
				v, some = v.join(x.reg(m, s.Val)), true
			}
		}
	}
	if !some {
		return anyValue
	}
	return v
}

// load returns the values of a load. (V3)
func (x *values) load(n pta.InstID, f *facts.Func, p uint32) Values {
	m := &f.Mems[f.Points[p].Row]
	if m.Write || !x.scalar(m.Type) || m.ValLeaf != 0 {
		return anyValue
	}
	if x.untouched(n, f, p) {
		return Values{Ks: []int64{0}}
	}
	pts := x.w.Res.PointsTo(n, m.Base, 0)
	if pts.Empty() || pts.Len() > 16 {
		return anyValue
	}
	var v Values
	pts.Each(func(c uint32) {
		o, off := x.w.Res.Object(c)
		ob := &x.w.Res.Objs[o]
		if off+m.Off >= ob.N {
			v = anyValue
			return
		}
		if !x.sameScalar(m.Type, c+m.Off) { // (V7)
			v = anyValue
			return
		}
		v = v.join(x.cellValues(c + m.Off))
	})
	return v
}

// sameScalar reports whether values of scalar type t are those of a cell: unsafe
// views one kind of number as another, which has other values. (V7)
func (x *values) sameScalar(t facts.TypeID, c uint32) bool {
	o, off := x.w.Res.Object(c)
	cell := x.w.Res.Cell(o, off)
	return cell != nil && x.w.Prog.Types[t].Shape == x.w.Prog.Types[cell.Type].Shape
}

// untouched reports whether the load at p reads a variable that its block has
// made and used for nothing but loads since.
func (x *values) untouched(n pta.InstID, f *facts.Func, p uint32) bool {
	base := f.Mems[f.Points[p].Row].Base
	def := f.Regs[base].Def
	fl := x.w.Flow(n)
	if def == 0 || f.Points[def-1].Op != facts.OpAlloc || fl.Block(def-1) != fl.Block(p) || def-1 > p {
		return false
	}
	if f.Sites[f.Allocs[f.Points[def-1].Row].Site].Kind != facts.SiteNew {
		return false
	}
	for q := def; q < p; q++ {
		pt := f.Points[q]
		if pt.Op == facts.OpMem {
			if m := &f.Mems[pt.Row]; !m.Write && m.Val != base {
				continue
			}
		}
		if pt.Op == facts.OpNop || pt.Op == facts.OpArith || pt.Op == facts.OpPhi {
			continue
		}
		return false
	}
	return true
}

// cellValues returns the values of a cell. (V3), (V6)
func (x *values) cellValues(c uint32) Values {
	if v, ok := x.cell[c]; ok {
		return v
	}
	x.cell[c] = anyValue
	v := x.computeCell(c)
	x.cell[c] = v
	return v
}

func (x *values) computeCell(c uint32) Values {
	res := x.w.Res
	o, off := res.Object(c)
	ob := &res.Objs[o]
	if ob.Untyped || ob.Type == 0 || x.w.private(o) {
		return anyValue
	}
	switch ob.Kind {
	case pta.ObjGlobal:
		if g := &x.w.Prog.Globals[ob.Global]; g.Pkg == "runtime" {
			return anyValue
		}
	case pta.ObjSite:
		if k, _ := res.SiteKind(o); k != facts.SiteNew || !exact(x.w.Prog.Funcs[ob.Fn]) {
			return anyValue
		}
	default:
		return anyValue
	}
	if cell := res.Cell(o, off); !x.scalar(cell.Type) || cell.Array != 0 || x.flows().Has(int(c)) {
		return anyValue
	}
	v := Values{Ks: []int64{0}}
	for _, id := range x.w.At(c) {
		a := &x.w.Accesses[id]
		if !a.Write || a.Sync != NoUse {
			continue
		}
		f := res.Func(a.Inst)
		if a.Deep || !exact(f) || len(v.Ks) == 0 {
			return anyValue
		}
		m := &f.Mems[a.Row]
		if !x.scalar(m.Type) || !x.sameScalar(m.Type, c) { // (V7)
			return anyValue
		}
		if v = v.join(x.reg(a.Inst, m.Val)); v.Top {
			return v
		}
	}
	return v
}

// flows finds the cells of the program's memory that flow rows write and touch,
// and returns the former.
func (x *values) flows() Bits {
	if x.flow != nil {
		return x.flow
	}
	x.flow, x.touched, x.later = NewBits(x.w.Res.Cells()), NewBits(x.w.Res.Cells()), NewBits(x.w.Res.Cells())
	for i := 1; i < len(x.w.Res.Insts); i++ {
		f := x.w.Res.Func(pta.InstID(i))
		if f == nil {
			continue
		}
		for j := range f.Mems {
			m := &f.Mems[j]
			if m.Mode != facts.Flow {
				continue
			}
			k := uint32(len(x.w.Prog.Layout(m.Type).Cells))
			grows := m.Write && fillsGrown(f, m.Base)
			x.w.Res.PointsTo(pta.InstID(i), m.Base, 0).Each(func(c uint32) {
				o, off := x.w.Res.Object(c)
				if x.w.private(o) {
					return
				}
				for d := range k {
					if off+m.Off+d < x.w.Res.Objs[o].N {
						x.touched.Add(int(c + m.Off + d))
						if !grows {
							x.later.Add(int(c + m.Off + d))
						}
						if m.Write {
							x.flow.Add(int(c + m.Off + d))
						}
					}
				}
			})
		}
	}
	return x.flow
}

// fillsGrown reports whether a register is what append defines as the array that it
// makes; all flow rows through it are append's own.
func fillsGrown(f *facts.Func, r facts.Reg) bool {
	d := f.Regs[r].Def
	if d == 0 || f.Points[d-1].Op != facts.OpAlloc {
		return false
	}
	return f.Sites[f.Allocs[f.Points[d-1].Row].Site].Kind == facts.SiteGrow
}

// result returns the values of a call. (V2), (V4)
func (x *values) result(n pta.InstID, pt facts.Point) Values {
	edges := x.w.Res.EdgesAt(n, pt)
	if len(edges) == 0 || len(edges) > 8 {
		return anyValue
	}
	var v Values
	for _, e := range edges {
		f := x.w.Res.Func(e.Callee)
		if e.Kind != pta.EdgeCall || !exact(f) {
			return anyValue
		}
		some := false
		live := x.liveBlocks(e.Callee, f)
		for b := range f.Blocks {
			blk := &f.Blocks[b]
			if !blk.Return || live != nil && !live.Has(b) {
				continue
			}
			if len(blk.Results) != 1 {
				return anyValue
			}
			v, some = v.join(x.reg(e.Callee, blk.Results[0])), true
		}
		if !some {
			return anyValue
		}
	}
	return v
}
