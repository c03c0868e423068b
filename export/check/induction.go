package check

import "github.com/bfverify/bfverify/facts"

// copied returns what a register is a copy of.
func copied(f *facts.Func, r facts.Reg) facts.Reg {
	for range f.Regs {
		d := f.Regs[r].Def
		if d == 0 || f.Points[d-1].Op != facts.OpCopy {
			break
		}
		c := &f.Copies[f.Points[d-1].Row]
		if c.Index >= 0 || c.Unsafe || f.Regs[c.Src].Type != f.Regs[r].Type {
			break
		}
		r = c.Src
	}
	return r
}

// differs reports whether a register has another value each time that a point is
// executed, in a function that is entered once:
//
//	(V1) a variable that is made in the point's block, and used for nothing but one
//	     store, before, and loads, has what was stored
//	(V2) the value is a phi at a head, or that plus a constant, computed there. Edges
//	     from where the head leads to add 1, or all subtract 1; so it takes another
//	     value each time, as others are taken once. It has 64 bits
//	(V3) control gets from the point to it again by way of the phi alone
func (k *checker) differs(f *facts.Func, v facts.Reg, q uint32) bool {
	fl := k.flowOf(f)
	v = copied(f, v)
	d := f.Regs[v].Def
	if d == 0 {
		return false
	}
	if pt := f.Points[d-1]; pt.Op == facts.OpMem && !f.Mems[pt.Row].Write { // (V1)
		m := &f.Mems[pt.Row]
		made := f.Regs[m.Base].Def
		if made == 0 || f.Points[made-1].Op != facts.OpAlloc || fl.blockOf[d-1] != fl.blockOf[q] || d-1 > q || !onlyCell(f, m.Base) {
			return false
		}
		s, ok := k.stored(f, m.Base, m.Off, made-1, d-1)
		if v = copied(f, s); !ok || f.Regs[v].Def == 0 {
			return false
		}
		d = f.Regs[v].Def
	}
	head := fl.blockOf[d-1]
	if pt := f.Points[d-1]; pt.Op == facts.OpArith { // (V2)
		a := &f.Ariths[pt.Row]
		if _, ok := constant(f, a.Y); !ok || a.Op != facts.ArithAdd && a.Op != facts.ArithSub || f.Regs[a.X].Def == 0 {
			return false
		}
		d = f.Regs[a.X].Def
	}
	if f.Points[d-1].Op != facts.OpPhi || fl.blockOf[d-1] != head {
		return false
	}
	phi := &f.Phis[f.Points[d-1].Row]
	t := &k.p.Types[f.Regs[phi.Dst].Type]
	if t.Kind != facts.Scalar || t.Size != 8 || len(phi.Edges) != len(f.Blocks[head].Preds) || fl.avoids(q, q, d-1) { // (V3)
		return false
	}
	all := int64(0)
	for n, e := range phi.Edges {
		if pred := int(f.Blocks[head].Preds[n]); pred != int(head) && !fl.reach[head].Has(pred) {
			continue
		}
		def := f.Regs[e].Def
		if def == 0 || f.Points[def-1].Op != facts.OpArith {
			return false
		}
		a := &f.Ariths[f.Points[def-1].Row]
		step, ok := constant(f, a.Y)
		if a.Op == facts.ArithSub {
			step = -step
		}
		if !ok || a.X != phi.Dst || a.Op != facts.ArithAdd && a.Op != facts.ArithSub || step != 1 && step != -1 || all != 0 && all != step {
			return false
		}
		all = step
	}
	return true
}

// onlyCell reports whether a register serves as the base of loads and stores alone.
func onlyCell(f *facts.Func, r facts.Reg) bool {
	for _, pt := range f.Points {
		uses := 0
		f.Uses(pt, func(x facts.Reg) {
			if x == r {
				uses++
			}
		})
		if uses > 0 && (pt.Op != facts.OpMem || f.Mems[pt.Row].Base != r || uses > 1) {
			return false
		}
	}
	return true
}

// constant returns the integer that an operand is.
func constant(f *facts.Func, r facts.Reg) (int64, bool) {
	for _, c := range f.Consts {
		if c.Dst == r && c.Known {
			return c.Int, true
		}
	}
	return 0, false
}
