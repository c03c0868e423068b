package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// induction is the control variable of a loop: what it holds in the iterations of
// one execution of the loop is an arithmetic sequence, so that two iterations
// never see the same value.
//
//	(D1) value: a phi of the header; every edge back to the header gives it the same
//	     register, which is the phi plus Step, a constant
//	(D2) or pointer: a phi of the header over addresses of variables, a new one for
//	     each iteration. A variable is written where it is made and nowhere else:
//	     before the loop by one store; in an iteration, last, by the copy of the
//	     old one's value and by the addition of Step. (What Go does with the
//	     variables of a for statement that are captured.)
//	(D3) additions do not wrap around: control goes on in the loop from the header
//	     only if the value is on the near side of some other of its type, strictly
//	     with a Step of 1 or -1, or of a constant with Step to spare. If each
//	     iteration but the first tests its value, it is the same: what comes next
//	     to the first may only be the least number, and is not tested against that
type induction struct {
	value, pointer facts.Reg
	step           int64
	bounded        bool // the values are known to be far from the ends of their type
	// With a Step of 1 from a constant: the first value, and what all are below of
	// where the loop goes on; or else NoReg. With atEnd, the value of the next
	// iteration is compared, and control gets to the head for as many iterations;
	// else it leaves the head for as many.
	start int64
	limit facts.Reg
	atEnd bool
}

// some reports whether the loop has a control variable.
func (d *induction) some() bool { return d.value != facts.NoReg || d.pointer != facts.NoReg }

// far bounds the constants that additions are safe with.
const far = 1 << 30

// findInduction finds the control variable of it's loop.
func (it *iteration) findInduction() {
	f := it.r.v.Res.Func(it.f.Root)
	head := &f.Blocks[it.f.Loop.Head]
	for p := head.Start; p < head.End; p++ {
		if f.Points[p].Op != facts.OpPhi {
			continue
		}
		phi := &f.Phis[f.Points[p].Row]
		var first, next facts.Reg
		ok := len(phi.Edges) == len(head.Preds)
		for i, e := range phi.Edges {
			if !ok {
				break
			}
			into := &first
			if it.f.Loop.Blocks.Has(int(head.Preds[i])) {
				into = &next
			}
			ok = *into == facts.NoReg || *into == e
			*into = e
		}
		if !ok || next == facts.NoReg {
			continue
		}
		d := induction{}
		var seen []facts.Reg // registers that hold the value, or the next
		if step, ok := it.plus(f, next, phi.Dst); ok && it.integer(f.Regs[phi.Dst].Type) {
			d.value, d.step = phi.Dst, step
			seen = []facts.Reg{phi.Dst, next}
		} else if step, ok := it.copied(f, phi.Dst, first, next); ok {
			d.pointer, d.step = phi.Dst, step
		} else {
			continue
		}
		if d.step != 0 && it.guarded(f, &d, seen, first) {
			it.loop = d
			return
		}
	}
}

// plus returns the constant that a register is more than another.
func (it *iteration) plus(f *facts.Func, sum, x facts.Reg) (int64, bool) {
	def := f.Regs[sum].Def
	if def == 0 || f.Points[def-1].Op != facts.OpArith || f.Regs[sum].Type != f.Regs[x].Type || it.severalDefs(f).Has(int(sum)) {
		return 0, false
	}
	a := &f.Ariths[f.Points[def-1].Row]
	k, ok := constOf(f, a.Y)
	if !ok || a.X != x || k > far || k < -far {
		return 0, false
	}
	switch a.Op {
	case facts.ArithAdd:
		return k, true
	case facts.ArithSub:
		return -k, true
	}
	return 0, false
}

// integer reports whether a type is one of the integers.
func (it *iteration) integer(t facts.TypeID) bool {
	switch it.r.v.Prog.Types[t].Name {
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr":
		return true
	}
	return false
}

// copied reports (D2), and the step.
func (it *iteration) copied(f *facts.Func, phi, first, next facts.Reg) (int64, bool) {
	root := it.f.Root
	if first == facts.NoReg || len(it.stores(origin{n: root, r: first})) != 1 {
		return 0, false
	}
	if _, ok := it.storedOnce(origin{n: root, r: first}); !ok {
		return 0, false
	}
	st := it.stores(origin{n: root, r: next})
	fl := it.r.v.Flow(root)
	def := f.Regs[next].Def - 1
	if len(st) != 2 || fl.Block(st[0]) != fl.Block(def) || fl.Block(st[1]) != fl.Block(def) || st[0] < def {
		return 0, false
	}
	load := func(r facts.Reg) facts.Reg { // the address that a register was loaded from
		if d := f.Regs[r].Def; d != 0 && f.Points[d-1].Op == facts.OpMem && !it.severalDefs(f).Has(int(r)) {
			if m := &f.Mems[f.Points[d-1].Row]; !m.Write && m.Off == 0 && m.ValLeaf == 0 && m.Mode == facts.Plain {
				return m.Base
			}
		}
		return facts.NoReg
	}
	old := f.Mems[f.Points[st[0]].Row].Val
	sum := f.Mems[f.Points[st[1]].Row].Val
	if load(old) != phi || !it.integer(f.Regs[old].Type) || f.Regs[sum].Def == 0 || f.Points[f.Regs[sum].Def-1].Op != facts.OpArith {
		return 0, false
	}
	x := f.Ariths[f.Points[f.Regs[sum].Def-1].Row].X
	if load(x) != next || f.Regs[x].Def-1 < st[0] || f.Regs[x].Def-1 > st[1] || fl.Block(f.Regs[x].Def-1) != fl.Block(def) {
		return 0, false
	}
	step, ok := it.plus(f, sum, x)
	// Nothing else gets to know the new variable before the next iteration.
	for p, pt := range f.Points {
		f.Uses(pt, func(r facts.Reg) {
			if r == next && uint32(p) != st[0] && uint32(p) != st[1] && uint32(p) != f.Regs[x].Def-1 && pt.Op != facts.OpPhi {
				ok = false
			}
		})
	}
	return step, ok
}

// guarded reports (D3), and fills in the bounds: the test is made at the head of
// the loop; or, in a loop that makes it at its end, of the value for the next
// iteration, and each entry is an iteration (what Go does with a range over an
// integer).
func (it *iteration) guarded(f *facts.Func, d *induction, seen []facts.Reg, first facts.Reg) bool {
	head := it.f.Loop.Head
	is := func(r facts.Reg) bool {
		if slices.Contains(seen, r) {
			return true
		}
		if e := f.Regs[r].Def; d.pointer != facts.NoReg && e != 0 && f.Points[e-1].Op == facts.OpMem {
			m := &f.Mems[f.Points[e-1].Row]
			return !m.Write && m.Base == d.pointer && m.Off == 0 && m.ValLeaf == 0
		}
		return false
	}
	stay := func(to uint32) bool { return it.f.Loop.Blocks.Has(int(to)) }
	if op, x, y, ok := it.tested(f, head, stay, is); ok {
		return it.bounds(f, d, op, x, y, len(seen) > 1 && x == seen[1], first)
	}
	if d.value == facts.NoReg {
		return false
	}
	var op facts.ArithOp
	var y facts.Reg
	for _, b := range f.Blocks[head].Preds {
		if !it.f.Loop.Blocks.Has(int(b)) {
			continue
		}
		o, _, z, ok := it.tested(f, int(b), func(to uint32) bool { return int(to) == head }, func(r facts.Reg) bool { return r == seen[1] })
		if !ok || y != facts.NoReg && (o != op || z != y) {
			return false
		}
		op, y = o, z
	}
	d.atEnd = true
	return y != facts.NoReg && it.bounds(f, d, op, d.value, y, true, first)
}

// tested returns the comparison of a register with another that a block makes where
// it goes on, to one of its successors.
func (it *iteration) tested(f *facts.Func, b int, goesOn func(uint32) bool, is func(facts.Reg) bool) (op facts.ArithOp, x, y facts.Reg, ok bool) {
	blk := &f.Blocks[b]
	c := blk.Cond
	if len(blk.Succs) != 2 || c.Kind != facts.CondTrue || c.X == facts.NoReg || goesOn(blk.Succs[0]) == goesOn(blk.Succs[1]) {
		return 0, 0, 0, false
	}
	def := f.Regs[c.X].Def
	if def == 0 || f.Points[def-1].Op != facts.OpArith || it.r.v.Flow(it.f.Root).Block(def-1) != b {
		return 0, 0, 0, false
	}
	a := &f.Ariths[f.Points[def-1].Row]
	op, x, y = a.Op, a.X, a.Y
	if goesOn(blk.Succs[0]) == c.Neg { // it goes on where the comparison fails
		op = map[facts.ArithOp]facts.ArithOp{facts.ArithLt: facts.ArithGe, facts.ArithLe: facts.ArithGt, facts.ArithGt: facts.ArithLe, facts.ArithGe: facts.ArithLt}[op]
	}
	if !is(x) {
		x, y = y, x
		op = map[facts.ArithOp]facts.ArithOp{facts.ArithLt: facts.ArithGt, facts.ArithLe: facts.ArithGe, facts.ArithGt: facts.ArithLt, facts.ArithGe: facts.ArithLe}[op]
	}
	return op, x, y, is(x)
}

// bounds reports whether a comparison of x, the control variable or (next) what it
// is in the next iteration, keeps it from wrapping around.
func (it *iteration) bounds(f *facts.Func, d *induction, op facts.ArithOp, x, y facts.Reg, next bool, first facts.Reg) bool {
	k, known := constOf(f, y)
	known = known && -far < k && k < far && it.wide(f.Regs[x].Type)
	near := d.step == 1 && op == facts.ArithLt || d.step == -1 && op == facts.ArithGt
	spare := known && (d.step > 0 && (op == facts.ArithLt || op == facts.ArithLe) || d.step < 0 && (op == facts.ArithGt || op == facts.ArithGe))
	if !near && !spare {
		return false
	}
	start, from := constOf(f, first)
	if d.pointer != facts.NoReg {
		from = false
		if s, ok := it.storedOnce(origin{n: it.f.Root, r: first}); ok {
			start, from = constOf(f, s.r)
		}
	}
	from = from && -far < start && start < far
	d.bounded = d.bounded || spare && from
	if d.step == 1 && op == facts.ArithLt && from {
		d.start, d.limit = start, y
		d.atEnd = d.atEnd || next && start >= 0
		if next && !d.atEnd {
			d.start++
		}
	}
	return true
}

// wide reports whether sums of two constants below far do not wrap around in a
// type.
func (it *iteration) wide(t facts.TypeID) bool {
	switch it.r.v.Prog.Types[t].Name {
	case "int", "int32", "int64":
		return true
	}
	return false
}

// form is a sum of registers of the loop's root: Coef times the control variable,
// a constant, and values that are the same in all iterations of an execution of
// the loop. Of tickets, it is Coef times one ticket, and a constant.
type form struct {
	coef, k int64
	terms   []facts.Term // ascending, without zeros
	ticket  origin       // the register that has the ticket, or a sum with it
	mixed   bool         // it is a sum of two tickets
}

func (x form) plus(y form, times int64) form {
	out := form{x.coef + times*y.coef, x.k + times*y.k, slices.Clone(x.terms), x.ticket, x.mixed || y.mixed}
	if out.ticket == (origin{}) {
		out.ticket = y.ticket
	} else if y.ticket != (origin{}) && y.ticket != x.ticket {
		out.mixed = true
	}
	for _, t := range y.terms {
		i, ok := slices.BinarySearchFunc(out.terms, t, func(a, b facts.Term) int { return int(a.Reg) - int(b.Reg) })
		if !ok {
			out.terms = slices.Insert(out.terms, i, facts.Term{Reg: t.Reg})
		}
		if out.terms[i].Coef += times * t.Coef; out.terms[i].Coef == 0 {
			out.terms = slices.Delete(out.terms, i, i+1)
		}
	}
	return out
}

// small reports whether no number in a form is far from zero, and it is no sum of
// two tickets.
func (x form) small() bool {
	ok := !x.mixed && -far < x.coef && x.coef < far && -far < x.k && x.k < far
	for _, t := range x.terms {
		ok = ok && -far < t.Coef && t.Coef < far
	}
	return ok
}

// above returns the constant that a form is more than another.
func (x form) above(y form) (int64, bool) {
	d := x.plus(y, -1)
	return d.k, d.coef == 0 && len(d.terms) == 0 && !d.mixed
}

// formOf returns the form of an integer register of an activation in the frame.
func (it *iteration) formOf(n pta.InstID, r facts.Reg, depth int) (form, bool) {
	s, ok := it.source(n, r, 0)
	if !ok || depth > 8 {
		return form{}, false
	}
	f := it.r.v.Res.Func(s.n)
	if k, ok := constOf(f, s.r); ok && !s.load {
		return form{k: k}, -far < k && k < far
	}
	if it.draw != nil {
		return it.ticket(s, depth)
	}
	if it.f == nil {
		return form{}, false
	}
	if s.n == it.f.Root {
		if s.load || s.r == it.loop.value {
			return form{coef: 1}, it.loop.some() && (s.load == (s.r == it.loop.pointer))
		}
		def := f.Regs[s.r].Def
		fixed := def != 0 && !it.f.inside(it.r.v, def-1) || slices.Contains(f.Params, s.r) || slices.Contains(f.Free, s.r)
		if fixed && it.integer(f.Regs[s.r].Type) {
			return form{terms: []facts.Term{{Reg: s.r, Coef: 1}}}, true
		}
	}
	def := f.Regs[s.r].Def
	if def == 0 || f.Points[def-1].Op != facts.OpArith || it.r.v.Prog.Types[f.Regs[s.r].Type].Name != "int" || it.severalDefs(f).Has(int(s.r)) {
		return form{}, false
	}
	return it.sum(s.n, &f.Ariths[f.Points[def-1].Row], depth)
}

// sum returns the form of a sum, a difference or a multiple.
func (it *iteration) sum(n pta.InstID, a *facts.Arith, depth int) (form, bool) {
	switch a.Op {
	case facts.ArithAdd, facts.ArithSub, facts.ArithMul:
	default:
		return form{}, false
	}
	x, ok1 := it.formOf(n, a.X, depth+1)
	y, ok2 := it.formOf(n, a.Y, depth+1)
	if !ok1 || !ok2 {
		return form{}, false
	}
	switch a.Op {
	case facts.ArithAdd:
		x = x.plus(y, 1)
	case facts.ArithSub:
		x = x.plus(y, -1)
	case facts.ArithMul:
		if x.coef == 0 && len(x.terms) == 0 {
			x, y = y, x
		}
		if y.coef != 0 || len(y.terms) != 0 {
			return form{}, false
		}
		x = form{}.plus(x, y.k)
	}
	return x, x.small()
}

// linear returns the form of a linear form of a function's registers; an absent
// one is zero.
func (it *iteration) linear(n pta.InstID, i uint32) (form, bool) {
	if i == 0 {
		return form{}, true
	}
	l := &it.r.v.Res.Func(n).Lins[i]
	out := form{k: l.Const}
	if !l.Known {
		return form{}, false
	}
	for _, t := range l.Terms {
		x, ok := it.formOf(n, t.Reg, 0)
		if !ok || !x.small() || t.Coef >= far || t.Coef <= -far {
			return form{}, false
		}
		out = out.plus(x, t.Coef)
	}
	return out, out.small()
}
