package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// pred is what is known of a value: how it compares with K.
type pred struct {
	op facts.ArithOp // ArithEq to ArithGe
	k  int64
}

// is says that a value is K, or not.
func is(k int64, holds bool) pred {
	if holds {
		return pred{facts.ArithEq, k}
	}
	return pred{facts.ArithNe, k}
}

// equality reports whether P says no more than whether the value is K.
func (p pred) equality() bool { return p.op == facts.ArithEq || p.op == facts.ArithNe }

// holds reports whether P is true of a value.
func (p pred) holds(x int64) bool {
	switch p.op {
	case facts.ArithEq:
		return x == p.k
	case facts.ArithNe:
		return x != p.k
	case facts.ArithLt:
		return x < p.k
	case facts.ArithLe:
		return x <= p.k
	case facts.ArithGt:
		return x > p.k
	}
	return x >= p.k
}

// may reports whether P may be true of one of the values.
func (p pred) may(v stage.Values) bool {
	if v.Top {
		return true
	}
	for _, k := range v.Ks {
		if p.holds(k) {
			return true
		}
	}
	return false
}

// opposite and mirrored are the comparisons that hold where another does not, and
// of its operands exchanged.
var (
	opposite = map[facts.ArithOp]facts.ArithOp{
		facts.ArithEq: facts.ArithNe, facts.ArithNe: facts.ArithEq, facts.ArithLt: facts.ArithGe,
		facts.ArithGe: facts.ArithLt, facts.ArithGt: facts.ArithLe, facts.ArithLe: facts.ArithGt,
	}
	mirrored = map[facts.ArithOp]facts.ArithOp{
		facts.ArithEq: facts.ArithEq, facts.ArithNe: facts.ArithNe, facts.ArithLt: facts.ArithGt,
		facts.ArithGt: facts.ArithLt, facts.ArithLe: facts.ArithGe, facts.ArithGe: facts.ArithLe,
	}
)

// sight is a load that gave a value with P: the relation sight(N, I, P).
type sight struct {
	n pta.InstID
	p uint32
	pred
	// sum: P was said of a sum of the value and a constant, and would not be true of
	// the value if the sum had wrapped around. Of equality that does not matter.
	sum bool
	// at is the point of the instance that was asked about: the load, or a call that
	// leads to it.
	at uint32
}

// sights finds what branches say of values that were loaded. (F4)
type sights struct {
	v  *stage.View
	it *iteration
}

func (r *run) sights(v *stage.View) sights { return sights{v, r.newIteration(nil)} }

// branches calls f for each edge of a branch that tells something of a load.
func (l sights) branches(f func(e edgeKey, s sight)) {
	v := l.v
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		fn := v.Res.Func(n)
		if fn == nil || !v.Live.Has(i) || fn.Is(facts.FnModel) {
			continue
		}
		for b := range fn.Blocks {
			c := fn.Blocks[b].Cond
			if len(fn.Blocks[b].Succs) != 2 || fn.Blocks[b].Succs[0] == fn.Blocks[b].Succs[1] {
				continue
			}
			for k := range 2 {
				holds := (k == 0) != c.Neg
				var want pred
				switch c.Kind {
				case facts.CondTrue:
					want = is(1, holds)
				case facts.CondEq:
					want = is(c.K, holds)
				case facts.CondNil:
					want = is(0, holds)
				default:
					continue
				}
				if s, ok := l.seen(n, c.X, want, 0); ok {
					f(edgeKey{n, b, k}, s)
				}
			}
		}
	}
}

// seen returns the load whose value decides that a register has a value with P.
func (l sights) seen(n pta.InstID, r facts.Reg, want pred, depth int) (sight, bool) {
	v := l.v
	f := v.Res.Func(n)
	if r == facts.NoReg || depth > 8 || f.Regs[r].Def == 0 {
		return sight{}, false
	}
	p := f.Regs[r].Def - 1
	pt := f.Points[p]
	switch pt.Op {
	case facts.OpMem:
		m := &f.Mems[pt.Row]
		if m.Write || m.Val != r || m.ValLeaf != 0 || m.Mode == facts.Flow {
			return sight{}, false
		}
		if x, _, ok := l.it.storedBefore(n, f, p); ok {
			return l.seen(n, x, want, depth+1)
		}
		return sight{n: n, p: p, pred: want, at: p}, true
	case facts.OpCopy:
		c := &f.Copies[pt.Row]
		if c.Index >= 0 {
			return l.seenCall(n, f, c.Src, int(c.Index), want, depth)
		}
		if oneWord(v, f.Regs[c.Src].Type) && oneWord(v, f.Regs[c.Dst].Type) {
			return l.seen(n, c.Src, want, depth+1)
		}
	case facts.OpArith:
		return l.seenArith(n, f, &f.Ariths[pt.Row], want, depth)
	case facts.OpCall:
		return l.seenCall(n, f, r, 0, want, depth)
	}
	return sight{}, false
}

// few bounds the constants that are added and compared.
const few = 1 << 24

func (l sights) seenArith(n pta.InstID, f *facts.Func, a *facts.Arith, want pred, depth int) (sight, bool) {
	switch a.Op {
	case facts.ArithAdd, facts.ArithSub:
		k, ok := constOf(f, a.Y)
		if !ok || k > few || k < -few || want.k > few || want.k < -few {
			return sight{}, false
		}
		if a.Op == facts.ArithSub {
			k = -k
		}
		// What wraps around is known by one value, if that is one of the type.
		if t := f.Regs[a.X].Type; t != f.Regs[a.Dst].Type || !signed(l.v, t) && (!unsigned(l.v, t) || want.k < 0 || want.k < k) {
			return sight{}, false
		}
		s, ok := l.seen(n, a.X, pred{want.op, want.k - k}, depth+1)
		s.sum = true
		return s, ok
	case facts.ArithConv:
		if x, y := f.Regs[a.X].Type, f.Regs[a.Dst].Type; signed(l.v, x) && signed(l.v, y) && l.v.Prog.Types[x].Size <= l.v.Prog.Types[y].Size {
			return l.seen(n, a.X, want, depth+1)
		}
		return sight{}, false
	}
	if !want.equality() || want.k != 0 && want.k != 1 {
		return sight{}, false
	}
	holds := want.holds(1) // what P says of a boolean
	switch a.Op {
	case facts.ArithNot:
		return l.seen(n, a.X, is(1, !holds), depth+1)
	case facts.ArithEq, facts.ArithNe, facts.ArithLt, facts.ArithLe, facts.ArithGt, facts.ArithGe:
		op, x, y := a.Op, a.X, a.Y
		k, ok := constOf(f, y)
		if !ok {
			op, x, y = mirrored[op], y, x
			if k, ok = constOf(f, y); !ok {
				return sight{}, false
			}
		}
		if !holds {
			op = opposite[op]
		}
		return l.seen(n, x, pred{op, k}, depth+1)
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
func oneWord(v *stage.View, t facts.TypeID) bool {
	if t == 0 {
		return false
	}
	k := v.Prog.Types[t].Kind
	return k == facts.Scalar || k == facts.Pointer || k == facts.UnsafePointer
}

// seenCall is seen for a result of a call: where the callee can only have
// returned it after a load that it saw it in.
func (l sights) seenCall(n pta.InstID, f *facts.Func, r facts.Reg, index int, want pred, depth int) (sight, bool) {
	def := f.Regs[r].Def
	if def == 0 || f.Points[def-1].Op != facts.OpCall {
		return sight{}, false
	}
	edges := l.v.EdgesAt(n, f.Points[def-1])
	if len(edges) != 1 || edges[0].Kind != pta.EdgeCall {
		return sight{}, false
	}
	g, to := l.v.Res.Func(edges[0].Callee), edges[0].Callee
	if g == nil || g.Is(facts.FnModel) && !g.Is(facts.FnAtomic) {
		return sight{}, false
	}
	if g.Is(facts.FnAtomic) {
		switch atomicName(g) {
		case "CompareAndSwap":
			return l.seenSwap(to, g, want, def-1)
		case "Add":
			return l.seenAdd(to, g, want, def-1)
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
		if !want.may(l.v.ValuesOf(to, x)) {
			continue
		}
		s, ok := l.seen(to, x, want, depth+1)
		if s.at = def - 1; !ok || some && s != out {
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
	for _, k := range [...]string{"CompareAndSwap", "Add", "Store"} {
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
func (l sights) seenSwap(n pta.InstID, g *facts.Func, want pred, at uint32) (sight, bool) {
	p, ok := firstLoad(g)
	if !ok || len(g.Params) != 3 || !want.equality() || want.k != 0 && want.k != 1 {
		return sight{}, false
	}
	old := l.v.ValuesOf(n, g.Params[1])
	if old.Top || len(old.Ks) != 1 {
		return sight{}, false
	}
	return sight{n: n, p: p, pred: is(old.Ks[0], want.holds(1)), at: at}, true
}

// seenAdd reads what Add saw from its result.
func (l sights) seenAdd(n pta.InstID, g *facts.Func, want pred, at uint32) (sight, bool) {
	p, ok := firstLoad(g)
	if !ok || len(g.Params) != 2 {
		return sight{}, false
	}
	d := l.v.ValuesOf(n, g.Params[1])
	if d.Top || len(d.Ks) != 1 || d.Ks[0] > few || d.Ks[0] < -few || want.k > few || want.k < 0 || want.k < d.Ks[0] {
		return sight{}, false
	}
	return sight{n: n, p: p, pred: pred{want.op, want.k - d.Ks[0]}, sum: true, at: at}, true
}
