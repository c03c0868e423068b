package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Flags: a branch on a value that was loaded tells who stored it. Let P be what
// the branch says of the value: it equals, or differs from, a constant.
//
//	(F1) the cell is one variable (oneObject), of one word, that nothing writes
//	     but stores of one scalar or pointer
//	(F2) P is false of zero, so that the value was stored by one of the stores
//	     that may leave a value with P; these are the spots. The store of the very
//	     operation that loaded (CompareAndSwap, Add) is none of them where it
//	     executes at most once in the whole run: it comes after its load
//	(F3) the load and all spots are atomic; or the load and all spots are done
//	     under one lock (must-locksets), the spots holding it for writing. Then
//	     the store that left the value happens before the load
//	(F4) the value that the branch tests is that load's: through copies,
//	     comparisons with constants, negations and results of calls. CompareAndSwap
//	     (old) is true where it saw old and false where it did not; Add(d) gives r
//	     where it saw r-d
//
// The wait is the edge of the branch, in the instance that tests. Stores in dead
// code are none. A store of a value that is not known may leave any.
//
// A checker must check the path of (F4) from the register to the load, and that
// the spots are all accesses of the cell that write and may leave P.

// pred is what is known of a value: it equals K, or it does not.
type pred struct {
	ne bool
	k  int64
}

// holds reports whether P may be true of one of the values.
func (p pred) may(v stage.Values) bool {
	if v.Top {
		return true
	}
	for _, k := range v.Ks {
		if (k == p.k) != p.ne {
			return true
		}
	}
	return false
}

// sight is a load that gave a value with P.
type sight struct {
	n pta.InstID
	p uint32
	pred
}

// maxFlags bounds the flags of a program, which cost a count at each point.
const maxFlags = 128

// findFlags adds the signals of flags, and the edges that wait for them.
func (a *awaited) findFlags(locks *mustnot.Locks) {
	v := a.v
	type key struct {
		cell  uint32
		pred  pred
		self  spot
		lock  uint32
		plain bool
	}
	known := map[key]int{}
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) || f.Is(facts.FnModel) {
			continue
		}
		for b := range f.Blocks {
			c := f.Blocks[b].Cond
			if len(f.Blocks[b].Succs) != 2 || f.Blocks[b].Succs[0] == f.Blocks[b].Succs[1] {
				continue
			}
			for k := range 2 {
				holds := (k == 0) != c.Neg
				var want pred
				switch c.Kind {
				case facts.CondTrue:
					want = pred{!holds, 1}
				case facts.CondEq:
					want = pred{!holds, c.K}
				case facts.CondNil:
					want = pred{!holds, 0}
				default:
					continue
				}
				s, ok := a.seen(n, c.X, want, 0)
				if !ok || s.may(stage.Values{Ks: []int64{0}}) { // (F2)
					continue
				}
				cell, id, ok := a.flagCell(s)
				if !ok {
					continue
				}
				acc := &v.Accesses[id]
				ky := key{cell: cell, pred: s.pred, self: a.selfStore(s, cell), plain: !acc.Atomic}
				var guards []stage.Guard
				if !acc.Atomic {
					guards = locks.GuardsAt(acc, cell)
				}
				if acc.Atomic {
					guards = []stage.Guard{{}}
				}
				for _, g := range guards {
					if !acc.Atomic && !g.Object {
						continue
					}
					ky.lock = g.Cell
					sig, done := known[ky]
					if !done {
						sig = -1
						if spots, ok := a.flagStores(cell, s.pred, ky.self, acc.Atomic, g, locks); ok && len(spots) > 0 && len(known) < maxFlags {
							sig = a.add(signal{kind: signalFlag, Cell: cell, Need: 1, spots: spots})
						}
						known[ky] = sig
					}
					if sig >= 0 {
						e := edgeKey{n, b, k}
						a.edgeWaits[e] = append(a.edgeWaits[e], sig)
						break
					}
				}
			}
		}
	}
}

// seen returns the load whose value decides that a register has a value with P.
// (F4)
func (a *awaited) seen(n pta.InstID, r facts.Reg, want pred, depth int) (sight, bool) {
	v := a.v
	f := v.Res.Func(n)
	if r == facts.NoReg || depth > 8 || f.Regs[r].Def == 0 {
		return sight{}, false
	}
	p := f.Regs[r].Def - 1
	pt := f.Points[p]
	boolean := func() (bool, bool) { // what P says of a boolean
		if want.k == 1 {
			return !want.ne, true
		}
		return want.ne, want.k == 0
	}
	switch pt.Op {
	case facts.OpMem:
		m := &f.Mems[pt.Row]
		if m.Write || m.Val != r || m.ValLeaf != 0 || m.Mode == facts.Flow {
			return sight{}, false
		}
		return sight{n, p, want}, true
	case facts.OpCopy:
		c := &f.Copies[pt.Row]
		if c.Index >= 0 {
			return a.seenCall(n, f, c.Src, int(c.Index), want, depth)
		}
		if a.oneWord(f.Regs[c.Src].Type) && a.oneWord(f.Regs[c.Dst].Type) {
			return a.seen(n, c.Src, want, depth+1)
		}
	case facts.OpArith:
		ar := &f.Ariths[pt.Row]
		b, ok := boolean()
		if !ok {
			return sight{}, false
		}
		switch ar.Op {
		case facts.ArithNot:
			return a.seen(n, ar.X, pred{b, 1}, depth+1)
		case facts.ArithEq, facts.ArithNe:
			x, y := ar.X, ar.Y
			k, ok := constOf(f, y)
			if !ok {
				x, y = y, x
				if k, ok = constOf(f, y); !ok {
					return sight{}, false
				}
			}
			return a.seen(n, x, pred{(ar.Op == facts.ArithEq) != b, k}, depth+1)
		}
	case facts.OpCall:
		return a.seenCall(n, f, r, 0, want, depth)
	}
	return sight{}, false
}

func constOf(f *facts.Func, r facts.Reg) (int64, bool) {
	for i := range f.Consts {
		if c := &f.Consts[i]; c.Dst == r && r != facts.NoReg {
			return c.Int, c.Known
		}
	}
	return 0, false
}

// oneWord reports whether values of a type are one scalar or one pointer.
func (a *awaited) oneWord(t facts.TypeID) bool {
	if t == 0 {
		return false
	}
	k := a.v.Prog.Types[t].Kind
	return k == facts.Scalar || k == facts.Pointer || k == facts.UnsafePointer
}

// seenCall is seen for a result of a call: where the callee can only have
// returned it after a load that it saw it in.
func (a *awaited) seenCall(n pta.InstID, f *facts.Func, r facts.Reg, index int, want pred, depth int) (sight, bool) {
	def := f.Regs[r].Def
	if def == 0 || f.Points[def-1].Op != facts.OpCall {
		return sight{}, false
	}
	edges := a.v.EdgesAt(n, f.Points[def-1])
	if len(edges) != 1 || edges[0].Kind != pta.EdgeCall {
		return sight{}, false
	}
	g, to := a.v.Res.Func(edges[0].Callee), edges[0].Callee
	if g == nil || g.Is(facts.FnModel) && !g.Is(facts.FnAtomic) {
		return sight{}, false
	}
	if g.Is(facts.FnAtomic) {
		switch atomicName(g) {
		case "CompareAndSwap":
			return a.seenSwap(to, g, want)
		case "Add":
			return a.seenAdd(to, g, want)
		}
	}
	var out sight
	some := false
	for b := range g.Blocks {
		blk := &g.Blocks[b]
		if !blk.Return {
			continue
		}
		if index >= len(blk.Results) {
			return sight{}, false
		}
		x := blk.Results[index]
		if !want.may(a.v.ValuesOf(to, x)) {
			continue
		}
		s, ok := a.seen(to, x, want, depth+1)
		if !ok || some && s != out {
			return sight{}, false
		}
		out, some = s, true
	}
	return out, some
}

// atomicName returns what a function of sync/atomic does, or "".
func atomicName(g *facts.Func) string {
	if g.Pkg != "sync/atomic" {
		return ""
	}
	name := g.Name
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			name = name[i+1:]
			break
		}
	}
	if len(name) > 3 && name[:3] == "bf_" {
		name = name[3:]
	}
	for _, k := range [...]string{"CompareAndSwap", "Add"} {
		if len(name) >= len(k) && name[:len(k)] == k {
			return k
		}
	}
	return ""
}

// firstLoad returns the only load of the operation, or its first.
func firstLoad(g *facts.Func) (uint32, bool) {
	for p, pt := range g.Points {
		if pt.Op == facts.OpMem && g.Mems[pt.Row].Mode == facts.Atomic {
			return uint32(p), !g.Mems[pt.Row].Write
		}
	}
	return 0, false
}

// seenSwap reads what CompareAndSwap saw from its result.
func (a *awaited) seenSwap(n pta.InstID, g *facts.Func, want pred) (sight, bool) {
	p, ok := firstLoad(g)
	if !ok || len(g.Params) != 3 || want.k != 0 && want.k != 1 {
		return sight{}, false
	}
	old := a.v.ValuesOf(n, g.Params[1])
	if old.Top || len(old.Ks) != 1 {
		return sight{}, false
	}
	return sight{n, p, pred{(want.k == 1) == want.ne, old.Ks[0]}}, true
}

// seenAdd reads what Add saw from its result.
func (a *awaited) seenAdd(n pta.InstID, g *facts.Func, want pred) (sight, bool) {
	p, ok := firstLoad(g)
	if !ok || len(g.Params) != 2 {
		return sight{}, false
	}
	d := a.v.ValuesOf(n, g.Params[1])
	const small = 1 << 24 // no operand wraps around
	if d.Top || len(d.Ks) != 1 || d.Ks[0] > small || d.Ks[0] < -small || want.k > small || want.k < 0 || want.k < d.Ks[0] {
		return sight{}, false
	}
	return sight{n, p, pred{want.ne, want.k - d.Ks[0]}}, true
}

// flagCell returns the cell that a load reads and the access that it is. (F1)
func (a *awaited) flagCell(s sight) (cell uint32, access uint32, ok bool) {
	v := a.v
	f := v.Res.Func(s.n)
	m := &f.Mems[f.Points[s.p].Row]
	c, one := v.Single(s.n, m.Base)
	if !one || !a.oneWord(m.Type) || v.Prog.Types[m.Type].Size > v.Word() && m.Mode != facts.Atomic {
		return 0, 0, false
	}
	c += m.Off
	if !oneObject(v, c) {
		return 0, 0, false
	}
	for _, id := range v.ByInst[s.n] {
		if x := &v.Accesses[id]; x.Point == s.p && x.Sync == stage.NoUse {
			return c, id, true
		}
	}
	return 0, 0, false
}

// selfStore returns the store of the operation that loads, where it executes at
// most once. (F2)
func (a *awaited) selfStore(s sight, cell uint32) spot {
	v := a.v
	f := v.Res.Func(s.n)
	if !f.Is(facts.FnAtomic) || !v.Once.Has(int(s.n)) {
		return spot{}
	}
	at := spot{}
	for p, pt := range f.Points {
		if pt.Op == facts.OpMem && f.Mems[pt.Row].Write && f.Mems[pt.Row].Mode == facts.Atomic {
			if at != (spot{}) || uint32(p) < s.p || v.Flow(s.n).OnCycle(uint32(p)) {
				return spot{}
			}
			at = spot{s.n, uint32(p)}
		}
	}
	return at
}

// flagStores returns the stores that may leave a value with P in a cell; not ok
// if one of them is not as (F1) and (F3) ask.
func (a *awaited) flagStores(cell uint32, want pred, self spot, atomic bool, guard stage.Guard, locks *mustnot.Locks) ([]spot, bool) {
	v := a.v
	var spots []spot
	for _, id := range v.At(cell) {
		x := &v.Accesses[id]
		if !x.Write || x.Sync != stage.NoUse || !v.Live.Has(int(x.Inst)) {
			continue
		}
		f := v.Res.Func(x.Inst)
		if x.Deep || !a.oneWord(f.Mems[x.Row].Type) {
			return nil, false
		}
		sp := spot{x.Inst, x.Point}
		if sp == self || !want.may(v.ValuesOf(x.Inst, f.Mems[x.Row].Val)) {
			continue
		}
		if x.Atomic != atomic {
			return nil, false
		}
		if !atomic {
			held := false
			for _, g := range locks.GuardsAt(x, cell) {
				held = held || g.Object && g.Cell == guard.Cell && g.Write
			}
			if !held {
				return nil, false
			}
		}
		spots = append(spots, sp)
	}
	return spots, true
}
