package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// param is a parameter of an instance; kept says what it does with it.
type param struct {
	inst InstID
	n    int
}

type kept struct{ leaks, returns bool }

// leaksOf lists the points of an instance where what a register points to may become
// known to others, or be kept where a later call finds it, and reports whether the
// instance may return it:
//
//	(X1) copies, phis, assertions, addresses of its parts, what printing gives of it,
//	     and results of calls that return it, are it
//	(X2) it is stored, sent, boxed, bound to a closure, written through by a model,
//	     or handed to what a value holds, or to a goroutine
//	(X3) it is handed to a call of which some callee leaks it, or of which none is
//	     known
func (k *checker) leaksOf(i InstID, r facts.Reg) (at []uint32, returns bool) {
	f := k.fn(i)
	is := NewBits(len(f.Regs))
	is.Add(int(r))
	has := func(rs ...facts.Reg) bool {
		return slices.ContainsFunc(rs, func(x facts.Reg) bool { return x != facts.NoReg && is.Has(int(x)) })
	}
	for changed := true; changed; { // (X1)
		changed = false
		for _, pt := range f.Points {
			from := false
			switch pt.Op {
			case facts.OpCopy:
				from = has(f.Copies[pt.Row].Src)
			case facts.OpPhi:
				from = has(f.Phis[pt.Row].Edges...)
			case facts.OpAddr:
				from = has(f.Addrs[pt.Row].Base)
			case facts.OpAssert:
				from = has(f.Asserts[pt.Row].X)
			case facts.OpReach:
				from = has(f.Reaches[pt.Row].X, f.Reaches[pt.Row].Type)
			case facts.OpCall:
				from = k.passes(i, f, pt.Row, has).returns
			}
			if d := f.Defines(pt); from && d != facts.NoReg {
				changed = is.Add(int(d)) || changed
			}
		}
	}
	for p, pt := range f.Points {
		leak := false
		switch pt.Op {
		case facts.OpMem: // (X2)
			leak = f.Mems[pt.Row].Write && has(f.Mems[pt.Row].Val)
		case facts.OpDeep:
			leak = f.Deeps[pt.Row].Write && has(f.Deeps[pt.Row].X, f.Deeps[pt.Row].From)
		case facts.OpAny:
			leak = has(f.Anys[pt.Row].Fn, f.Anys[pt.Row].X)
		case facts.OpNew:
			leak = has(f.News[pt.Row].X)
		case facts.OpSync:
			leak = has(f.Syncs[pt.Row].Val)
		case facts.OpCall: // (X3)
			leak = k.passes(i, f, pt.Row, has).leaks
		}
		if leak {
			at = append(at, uint32(p))
		}
	}
	for _, c := range f.Copies {
		returns = returns || f.Ret != facts.NoReg && c.Dst == f.Ret && has(c.Src)
	}
	return at, returns
}

// passes says what a call does with what registers that has names point to.
func (k *checker) passes(i InstID, f *facts.Func, row uint32, has func(...facts.Reg) bool) (out kept) {
	c := &f.Calls[row]
	if !has(c.Args...) && !has(c.Fn, c.Recv) {
		return kept{}
	}
	edges, skip := k.edgesAt(i, row), 0
	if c.Method != 0 {
		skip = 1
	}
	out.leaks = has(c.Fn, c.Recv)
	for _, e := range edges {
		g := k.fn(e.Callee)
		if e.Go || len(g.Params) != len(c.Args)+skip {
			return kept{true, true}
		}
		for n, a := range c.Args {
			if has(a) {
				x := k.keeps(e.Callee, n+skip)
				out.leaks, out.returns = out.leaks || x.leaks, out.returns || x.returns
			}
		}
	}
	if len(edges) == 0 {
		return kept{true, true}
	}
	return out
}

// keeps says what an instance does with a parameter; while it is asked about, all.
func (k *checker) keeps(i InstID, n int) kept {
	key := param{i, n}
	x, ok := k.kept[key]
	if !ok {
		k.kept[key] = kept{true, true}
		if f := k.fn(i); len(f.Blocks) > 0 && !f.Is(facts.FnUnknown) {
			at, returns := k.leaksOf(i, f.Params[n])
			k.kept[key] = kept{len(at) > 0, returns}
		}
		x = k.kept[key]
	}
	return x
}
