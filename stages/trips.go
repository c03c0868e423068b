package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// amount is a number of units or of iterations: a constant, or what a register of
// an activation holds, or the length of what it holds.
//
//	(T1) copies between registers of one activation hold the same number, where no
//	     path leads from the definition of the one to the use of the other but
//	     through the copy; so do conversions between signed integers of 32 bits or
//	     more, of numbers below 2^31
//	(T2) a parameter holds what the only caller gives
//	(T3) a load from a variable of the activation with one store gives what that
//	     stored, where no path leads from the allocation to the load but through it
//
// Two amounts that are equal are one number if no definition of the register was
// executed between the two uses.
type amount struct {
	n      pta.InstID // 0: the constant k
	r      facts.Reg
	length bool
	k      int64
}

func constant(k int64) amount { return amount{k: k} }

// known reports whether an amount is a constant.
func (a amount) known() bool { return a.n == 0 }

// amountOf returns what register r holds at point p of instance n.
func (run *run) amountOf(v *stage.View, n pta.InstID, r facts.Reg, p uint32) amount {
	measured := false
	for range 16 {
		f := v.Res.Func(n)
		if k, ok := v.ConstOf(n, r); ok && !measured {
			return constant(k)
		}
		def := f.Regs[r].Def
		if def == 0 { // (T2)
			i := slices.Index(f.Params, r)
			if i < 0 || len(v.Callers[n]) != 1 || v.Callers[n][0].Kind != pta.EdgeCall {
				break
			}
			c := v.Callers[n][0]
			arg, ok := argumentOf(&v.Res.Func(c.Inst).Calls[c.Row], f, i)
			at := v.PointsOf(c.Inst, c.Kind, c.Row)
			if !ok || arg == facts.NoReg || len(at) != 1 {
				break
			}
			n, r, p = c.Inst, arg, at[0]
			continue
		}
		src, length := facts.NoReg, false
		fl := v.Flow(n)
		switch pt := f.Points[def-1]; pt.Op { // (T1)
		case facts.OpCopy:
			c := &f.Copies[pt.Row]
			if s, d := &v.Prog.Types[f.Regs[c.Src].Type], &v.Prog.Types[f.Regs[r].Type]; c.Index < 0 && !c.Unsafe && s.Shape == d.Shape && s.Kind == d.Kind && (s.Kind == facts.Scalar || s.Kind == facts.Slice) {
				src = c.Src
			}
		case facts.OpMem: // (T3)
			if x, st, ok := run.newIteration(nil).storedBefore(n, f, def-1); ok && lasts(fl, x, st, def-1) {
				src = x
			}
		case facts.OpArith:
			a := &f.Ariths[pt.Row]
			switch {
			case a.Op == facts.ArithLen:
				src, length = a.X, true
			case measured: // a length was taken of no number
			case a.Op == facts.ArithConv && signed(v, f.Regs[a.X].Type) && signed(v, f.Regs[r].Type):
				src = a.X
			}
		}
		if src == facts.NoReg || definitions(f, r) != 1 || !lasts(fl, src, def-1, p) {
			break
		}
		measured = measured || length
		r = src
	}
	return amount{n: n, r: r, length: measured}
}

// definitions counts the points that define a register.
func definitions(f *facts.Func, r facts.Reg) (n int) {
	for _, pt := range f.Points {
		if f.Defines(pt) == r {
			n++
		}
	}
	return n
}

// lasts reports whether register src holds at p what it held at q, where r got its
// value from it, whenever r holds that value at p.
func lasts(fl *stage.Flow, src facts.Reg, q, p uint32) bool {
	for at, pt := range fl.F.Points {
		if fl.F.Defines(pt) == src && reaches(fl, uint32(at), p, q) {
			return false
		}
	}
	return true
}

// signed reports whether a type is a signed integer of at least 32 bits.
func signed(v *stage.View, t facts.TypeID) bool {
	switch v.Prog.Types[t].Shape {
	case "int", "int32", "int64":
		return true
	}
	return false
}

// unsigned reports whether a type is an unsigned integer of at least 32 bits.
func unsigned(v *stage.View, t facts.TypeID) bool {
	switch v.Prog.Types[t].Shape {
	case "uint", "uint32", "uint64", "uintptr":
		return true
	}
	return false
}

// negative reports whether an amount may be below zero.
func (a amount) negative() bool { return !a.length && (a.n != 0 || a.k < 0) }

// trips is how often control gets from the head of a loop into its body, or to the
// head (atHead), in one execution of the loop: at most.
//
//	(T4) the loop has a control variable (induction.go) that begins with a constant
//	     of at least 0, with a step of 1, and goes on only where that is below a
//	     limit, which is computed before the loop. If the test is made at the end of
//	     an iteration, there is one for each entry: the limit is a constant, or the
//	     loop is entered only where it is above zero
type trips struct {
	amount
	atHead bool
}

// tripsOf returns the trips of a loop of instance n; below zero is none.
func (r *run) tripsOf(v *stage.View, n pta.InstID, l *stage.Loop) (t trips, ok bool) {
	if l.Head == 0 {
		return t, false
	}
	it := r.newIteration(&frame{Frame: stage.Frame{Root: n, Loop: l}})
	it.findInduction()
	d := it.loop
	if !d.some() || d.limit == facts.NoReg || d.start < 0 {
		return t, false
	}
	f := v.Res.Func(n)
	if def := f.Regs[d.limit].Def; def != 0 && l.Blocks.Has(v.Flow(n).Block(def-1)) {
		return t, false
	}
	t = trips{r.amountOf(v, n, d.limit, f.Blocks[l.Head].Start), d.atEnd}
	if t.known() {
		t.k -= d.start
		if t.atHead {
			t.k = max(t.k, 1)
		}
		return t, true
	}
	return t, !t.atHead || it.aboveZero(f, d.limit)
}

// aboveZero reports whether the loop is entered only where a register is above zero.
func (it *iteration) aboveZero(f *facts.Func, r facts.Reg) bool {
	head := it.f.Loop.Head
	for _, b := range f.Blocks[head].Preds {
		if it.f.Loop.Blocks.Has(int(b)) {
			continue
		}
		op, _, y, ok := it.tested(f, int(b), func(to uint32) bool { return int(to) == head }, func(x facts.Reg) bool { return x == r })
		k, known := constOf(f, y)
		if !ok || !known || op != facts.ArithGt || k < 0 {
			return false
		}
	}
	return true
}
