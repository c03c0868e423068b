package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// leaks finds where an object that a function makes, or gets as an argument, may
// become known to other goroutines, or be kept where a later call finds it: the
// relation leak(N, V, I).
//
//	(X1) addresses of its parts, copies, phis, assertions, what a model reaches
//	     from it, and results of calls that return it, are it
//	(X2) storing it anywhere, sending it, boxing it, binding it to a closure,
//	     handing it to code that calls anything, starting a goroutine with it: a leak
//	(X3) a call with it as an argument is a leak where some callee leaks it, or is
//	     not known
//	(X4) loads from it, stores to it, synchronisation on it and comparisons are
//	     none; neither is returning it, after which the activation makes no access
type leaks struct {
	v    *stage.View
	at   map[spot][]uint32
	args map[argKey]argLeak
}

type argKey struct {
	n pta.InstID
	i int
}

// argLeak says what an instance does with a parameter.
type argLeak struct{ leaks, returns bool }

func newLeaks(v *stage.View) leaks {
	return leaks{v, map[spot][]uint32{}, map[argKey]argLeak{}}
}

// of lists the points of n that leak what the allocation at def makes.
func (l *leaks) of(n pta.InstID, def uint32) []uint32 {
	k := spot{n, def}
	at, ok := l.at[k]
	if !ok {
		f := l.v.Res.Func(n)
		at, _ = l.find(n, f, f.Allocs[f.Points[def].Row].Dst)
		l.at[k] = at
	}
	return at
}

// arg returns what instance n does with its i-th parameter.
func (l *leaks) arg(n pta.InstID, i int) argLeak {
	k := argKey{n, i}
	if a, ok := l.args[k]; ok {
		return a
	}
	a := argLeak{true, true} // while it is computed, and where nothing is known
	l.args[k] = a
	f := l.v.Res.Func(n)
	if f == nil || f.Is(facts.FnUnknown) || len(f.Blocks) == 0 || i >= len(f.Params) || len(l.args) > 100_000 {
		return a
	}
	at, returns := l.find(n, f, f.Params[i])
	a = argLeak{len(at) > 0, returns}
	l.args[k] = a
	return a
}

// find lists the points of n that leak what register r points to, and reports
// whether n may return it.
func (l *leaks) find(n pta.InstID, f *facts.Func, r facts.Reg) (at []uint32, returns bool) {
	is := stage.NewBits(len(f.Regs))
	is.Add(int(r))
	has := func(x facts.Reg) bool { return x != facts.NoReg && is.Has(int(x)) }
	for changed := true; changed; { // (X1)
		changed = false
		add := func(x facts.Reg) {
			if x != facts.NoReg && is.Add(int(x)) {
				changed = true
			}
		}
		for _, pt := range f.Points {
			switch pt.Op {
			case facts.OpCopy:
				if has(f.Copies[pt.Row].Src) {
					add(f.Copies[pt.Row].Dst)
				}
			case facts.OpPhi:
				for _, e := range f.Phis[pt.Row].Edges {
					if has(e) {
						add(f.Phis[pt.Row].Dst)
					}
				}
			case facts.OpAddr:
				if has(f.Addrs[pt.Row].Base) {
					add(f.Addrs[pt.Row].Dst)
				}
			case facts.OpAssert:
				if has(f.Asserts[pt.Row].X) {
					add(f.Asserts[pt.Row].Dst)
				}
			case facts.OpReach:
				if has(f.Reaches[pt.Row].X) || has(f.Reaches[pt.Row].Type) {
					add(f.Reaches[pt.Row].Dst)
				}
			case facts.OpCall:
				if c := &f.Calls[pt.Row]; c.Dst != facts.NoReg {
					if _, ret := l.call(n, f, pt, has); ret {
						add(c.Dst)
					}
				}
			}
		}
	}
	for p, pt := range f.Points {
		leak := false
		switch pt.Op {
		case facts.OpMem: // (X2)
			m := &f.Mems[pt.Row]
			leak = m.Write && has(m.Val)
		case facts.OpDeep:
			d := &f.Deeps[pt.Row]
			leak = d.Write && (has(d.X) || has(d.From))
		case facts.OpAny:
			leak = has(f.Anys[pt.Row].Fn) || has(f.Anys[pt.Row].X)
		case facts.OpNew:
			leak = has(f.News[pt.Row].X)
		case facts.OpSync:
			leak = has(f.Syncs[pt.Row].Val)
		case facts.OpCall: // (X3)
			leak, _ = l.call(n, f, pt, has)
		}
		if leak {
			at = append(at, uint32(p))
		}
	}
	for _, c := range f.Copies {
		returns = returns || c.Dst == f.Ret && f.Ret != facts.NoReg && has(c.Src)
	}
	return at, returns
}

// call reports what a call does with the registers in has.
func (l *leaks) call(n pta.InstID, f *facts.Func, pt facts.Point, has func(facts.Reg) bool) (leak, returns bool) {
	c := &f.Calls[pt.Row]
	some := has(c.Fn) || has(c.Recv) || has(c.Once)
	leak = has(c.Fn) || has(c.Recv)
	for _, a := range c.Args {
		some = some || has(a)
	}
	if !some {
		return false, false
	}
	edges := l.v.Res.EdgesAt(n, pt)
	if len(edges) == 0 || len(edges) > 16 {
		return true, true
	}
	for _, e := range edges {
		g := l.v.Res.Func(e.Callee)
		if e.Kind != pta.EdgeCall || g == nil {
			return true, true
		}
		off := 0
		if c.Method != 0 {
			off = 1
		}
		if len(c.Args)+off != len(g.Params) {
			return true, true
		}
		for i, a := range c.Args {
			if has(a) {
				x := l.arg(e.Callee, i+off)
				leak, returns = leak || x.leaks, returns || x.returns
			}
		}
	}
	return leak, returns
}
