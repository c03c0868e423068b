package mustnot

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// relocks reports whether an instance gives up a lock and takes it again, as
// sync.Cond.Wait does, and so panics before it has given it up or not at all (L8):
//
//	(R1) it makes two calls, one after the other in one block, writes nothing, and
//	     between the calls does nothing that may panic but find what the second is made
//	     on; no call is deferred
//	(R2) the first calls what does nothing but release what it is called on, the
//	     second what does nothing but acquire that
//	(R3) both are called on one value: at one distance from a register that one point
//	     defines; or loaded from there, where in each object there is a field that is
//	     written once (writtenOnce)
//
// Soundness: a lock operation of package sync panics where its lock is nil, and for no
// other reason that a program survives; loads and addresses of fields panic where what
// they are of is nil. The second call, and what finds its receiver, does by (R3) with the
// same values what the first did and did not panic with: a field that held no nil
// holds what it held.
func (l *Locks) relocks(n pta.InstID) bool {
	is, ok := l.relock[n]
	if !ok {
		is = findRelock(l.v, n, func(f *facts.Func, r facts.Reg) root { return l.rootOf(f, r) }, func(c uint32) bool { return l.Effects().WrittenOnce(c) })
		l.relock[n] = is
	}
	return is
}

// findAgain finds the locks for which (L8) made a difference, or may have.
func (l *Locks) findAgain() {
	for _, n := range l.order {
		if r := l.releases[n]; r != stage.None && l.relocks(n) {
			l.again = l.cells.Or(l.again, r)
		}
	}
}

// findRelock is relocks, with what it needs to know of addresses and of fields.
func findRelock(v *stage.View, n pta.InstID, rootOf func(*facts.Func, facts.Reg) root, once func(uint32) bool) bool {
	f := v.Res.Func(n)
	if f == nil || len(f.Calls) != 2 || len(f.Syncs)+len(f.Selects)+len(f.Anys)+len(f.Deeps) > 0 {
		return false
	}
	var at []uint32
	defs := map[facts.Reg]int{}
	for p, pt := range f.Points {
		if d := f.Defines(pt); d != facts.NoReg {
			defs[d]++
		}
		switch pt.Op {
		case facts.OpCall:
			at = append(at, uint32(p))
		case facts.OpMem:
			if f.Mems[pt.Row].Write { // (R1)
				return false
			}
		}
	}
	fl := v.Flow(n)
	if len(at) != 2 || fl.Block(at[0]) != fl.Block(at[1]) || f.Blocks[fl.Block(at[0])].Panic >= 0 {
		return false
	}
	first, second := &f.Calls[f.Points[at[0]].Row], &f.Calls[f.Points[at[1]].Row]
	if first == second || !callsOnly(v, n, at[0], facts.SyncRelease) || !callsOnly(v, n, at[1], facts.SyncAcquire) { // (R2)
		return false
	}
	a, b := receiver(first), receiver(second)
	if a == facts.NoReg || b == facts.NoReg || (first.Method == 0) != (second.Method == 0) {
		return false
	}
	place, load := rootOf(f, a), facts.NoReg
	if place != rootOf(f, b) { // (R3)
		x, y := loadOf(f, a), loadOf(f, b)
		if x == nil || y == nil || x.Off != y.Off || x.ValLeaf != y.ValLeaf || rootOf(f, x.Base) != rootOf(f, y.Base) {
			return false
		}
		place, load = rootOf(f, x.Base), b
		ok := true
		v.Res.PointsTo(n, x.Base, 0).Each(func(c uint32) {
			o, off := v.Res.Object(c)
			ok = ok && off+x.Off < v.Res.Objs[o].N && once(c+x.Off)
		})
		if !ok {
			return false
		}
	}
	for p := at[0] + 1; p < at[1]; p++ { // (R1)
		pt := f.Points[p]
		switch d := f.Defines(pt); {
		case pt.Flags&facts.MayPanic == 0:
		case pt.Op == facts.OpMem && d == load:
		case pt.Op == facts.OpAddr && f.Addrs[pt.Row].Kind == facts.AddrField && rootOf(f, d).reg == place.reg:
		default:
			return false
		}
	}
	return defs[place.reg] <= 1
}

// receiver returns what a call is made on: the receiver, or the first argument.
func receiver(c *facts.Call) facts.Reg {
	if c.Method != 0 {
		return c.Recv
	}
	if len(c.Args) != 1 {
		return facts.NoReg
	}
	return c.Args[0]
}

// loadOf returns the load that defines a register, or nil.
func loadOf(f *facts.Func, r facts.Reg) *facts.Mem {
	if d := f.Regs[r].Def; d != 0 && f.Points[d-1].Op == facts.OpMem && f.Mems[f.Points[d-1].Row].Mode == facts.Plain {
		return &f.Mems[f.Points[d-1].Row]
	}
	return nil
}

// callsOnly reports whether all that a point calls does nothing but one operation on
// its first parameter.
func callsOnly(v *stage.View, n pta.InstID, p uint32, op facts.SyncOp) bool {
	edges := v.EdgesAt(n, v.Res.Func(n).Points[p])
	for _, e := range edges {
		g := v.Res.Func(e.Callee)
		if e.Kind != pta.EdgeCall || g == nil || g.Is(facts.FnUnknown) || len(g.Syncs) != 1 || len(g.Selects)+len(g.Calls)+len(g.Anys)+len(g.Deeps) > 0 {
			return false
		}
		for _, pt := range g.Points {
			if pt.Flags&facts.MayPanic != 0 && pt.Op != facts.OpSync || pt.Op == facts.OpMem && g.Mems[pt.Row].Mode != facts.Flow {
				return false
			}
		}
		if y := &g.Syncs[0]; y.Op != op || len(g.Params) != 1 || y.Obj != g.Params[0] && !copyOf(g, y.Obj, g.Params[0]) {
			return false
		}
	}
	return len(edges) > 0
}

// copyOf reports whether a register is a copy of a parameter, at another type.
func copyOf(f *facts.Func, r, param facts.Reg) bool {
	for _, c := range f.Copies {
		if c.Dst == r {
			return c.Src == param && c.Index < 0
		}
	}
	return false
}
