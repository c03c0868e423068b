package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Tickets: positions that a counter gives out, each once.
//
//	(K1) the counter is one variable (oneObject), of 64 bits, that nothing writes
//	     but additions of one constant d, which is not zero: atomic ones; or all by
//	     a load and a store under one lock (sections.go)
//	(K2) both accesses are of elements of one array (I1), at positions c*t + k, where
//	     t is what an addition returned, or loaded; c and k are such that two values
//	     of t never get to one element
//	(K3) the way of t from the addition to the access stays in one goroutine: copies
//	     in one activation (V1), (V4), conversions between integers of 64 bits, sums
//	     with constants, the result of a call, and the argument of a call if all
//	     that enter the function give the same sum. Two tickets never meet in a
//	     sum, in the start of a part and an index of it, or in the ends of a part:
//	     all that do are of one register of the activation
//
// By (K1) no two additions return the same value: |c*d| is at most 64, so that 2^57
// additions, which take years, must be made before one does or before products
// wrap around. So two accesses to one element have t of one addition, (K3) puts
// them into its goroutine.
//
// The counter and the array may both belong to a frame (frames.go): then both are
// what one execution of it made, (K1) holds of that execution, and
//
//	(K4) no ticket comes into an execution from outside: none is a parameter of the
//	     root, or computed outside of the loop
//
// A checker must check the writes to the counter, and the chain of registers of
// (K3) from each index to an addition.
type tickets struct {
	v     *stage.View // the program, or that of
	f     *frame      // a frame
	cell  uint32      // the counter, 0 before the first ticket
	delta int64
	// Of a counter under a lock, which may be of the frame.
	locked bool
	under  *sections
}

// maxTicket bounds |c*d|.
const maxTicket = 64

// refuteTickets refutes pairs at positions that a counter gives out.
func (r *run) refuteTickets(p *stage.Pair) stage.Evidence {
	o, _ := r.v.Res.Object(p.Cell)
	if cell, ok := r.drawn(nil, p); ok {
		return stage.Drawn{Object: uint32(o), Cell: cell, Head: -1}
	}
	for _, f := range r.frames.Of(o) {
		if !r.frames.open(f) {
			break
		}
		if cell, ok := r.drawn(f, p); ok {
			return stage.Drawn{Object: uint32(o), Cell: cell, Root: f.Root, Head: f.head()}
		}
	}
	return nil
}

// drawn reports (K1) to (K4) in a frame, or with nil in the program, and the
// counter.
func (r *run) drawn(f *frame, p *stage.Pair) (counter uint32, ok bool) {
	it := r.newIteration(nil)
	it.draw = &tickets{v: r.v, f: f}
	if f != nil {
		it.draw.v = f.view
	}
	ok = it.all(p, func(g, h span) bool {
		apart := abs(g.lo.coef * it.draw.delta)
		return apart != 0 && apart <= maxTicket && apart-abs(g.lo.k-h.lo.k) >= max(g.width, h.width)
	})
	return it.draw.cell, ok
}

// small reports whether additions of delta may be tickets. (K1)
func small(delta int64) bool { return delta != 0 && -maxTicket <= delta && delta <= maxTicket }

func abs(x int64) int64 { return max(x, -x) }

// ticket returns a register as a sum with one ticket. (K3)
func (it *iteration) ticket(s origin, depth int) (form, bool) {
	f := it.r.v.Res.Func(s.n)
	if s.load || !it.long(f.Regs[s.r].Type) || it.severalDefs(f).Has(int(s.r)) {
		return form{}, false
	}
	def := f.Regs[s.r].Def
	if fr := it.draw.f; fr != nil && s.n == fr.Root && (def == 0 || !fr.inside(it.r.v, def-1)) {
		return form{}, false // (K4)
	}
	if def != 0 && f.Points[def-1].Op == facts.OpArith {
		a := &f.Ariths[f.Points[def-1].Row]
		if a.Op == facts.ArithConv {
			return it.formOf(s.n, a.X, depth+1)
		}
		return it.sum(s.n, a, depth)
	}
	x, ok := it.received(s, f, depth)
	if x.ticket = (origin{}); x.coef != 0 {
		x.ticket = s
	}
	return x, ok
}

// received returns the form of a register that this activation does not compute.
func (it *iteration) received(s origin, f *facts.Func, depth int) (form, bool) {
	def := f.Regs[s.r].Def
	if def == 0 {
		return it.given(s.n, f, s.r, depth)
	}
	switch pt := f.Points[def-1]; pt.Op {
	case facts.OpMem:
		if x, ok := it.kept(s.n, f, def-1, depth); ok {
			return x, true
		}
		return it.draw.loads(it.r, s.n, f, def-1)
	case facts.OpCall:
		return it.returned(s.n, f, pt, 0, depth)
	case facts.OpCopy:
		c := &f.Copies[pt.Row]
		if c.Index >= 0 && f.Regs[c.Src].Def != 0 && f.Points[f.Regs[c.Src].Def-1].Op == facts.OpCall && !it.severalDefs(f).Has(int(c.Src)) {
			return it.returned(s.n, f, f.Points[f.Regs[c.Src].Def-1], int(c.Index), depth)
		}
	}
	return form{}, false
}

// kept returns the form of what a variable of the activation holds at a load.
func (it *iteration) kept(n pta.InstID, f *facts.Func, p uint32, depth int) (form, bool) {
	if r, _, ok := it.storedBefore(n, f, p); ok {
		return it.formOf(n, r, depth+1)
	}
	return form{}, false
}

// given returns the form of a parameter: what all calls give.
func (it *iteration) given(n pta.InstID, f *facts.Func, r facts.Reg, depth int) (out form, ok bool) {
	i := slices.Index(f.Params, r)
	if i < 0 {
		return form{}, false
	}
	for _, c := range it.r.v.In(n) {
		if c.Kind != pta.EdgeCall {
			return form{}, false
		}
		arg, given := argumentOf(&it.r.v.Res.Func(c.Inst).Calls[c.Row], f, i)
		if !given {
			return form{}, false
		}
		x, found := it.formOf(c.Inst, arg, depth+1)
		if !found || ok && (x.coef != out.coef || x.k != out.k) {
			return form{}, false
		}
		out, ok = x, true
	}
	return out, ok
}

// returned returns the form of a result: a ticket, if the callee is an addition to
// the counter, or what the only callee returns everywhere.
func (it *iteration) returned(n pta.InstID, f *facts.Func, pt facts.Point, index, depth int) (out form, ok bool) {
	edges := it.r.v.EdgesAt(n, pt)
	if len(edges) != 1 || edges[0].Kind != pta.EdgeCall {
		return form{}, false
	}
	to := edges[0].Callee
	g := it.r.v.Res.Func(to)
	if g == nil {
		return form{}, false
	}
	if g.Is(facts.FnAtomic) {
		return form{coef: 1}, it.draw.draws(it.r, to, g)
	}
	if g.Is(facts.FnModel) {
		return form{}, false
	}
	for b := range g.Blocks {
		blk := &g.Blocks[b]
		if !blk.Return {
			continue
		}
		if index >= len(blk.Results) {
			return form{}, false
		}
		x, found := it.formOf(to, blk.Results[index], depth+1)
		if !found || ok && (x.coef != out.coef || x.k != out.k) {
			return form{}, false
		}
		out, ok = x, true
	}
	return out, ok
}

// long reports whether a type is an integer of 64 bits: the values of one are those
// of any other, by a conversion.
func (it *iteration) long(t facts.TypeID) bool {
	return it.integer(t) && it.r.v.Prog.Types[t].Size == 8
}

// draws reports whether an atomic operation adds to the counter, which it becomes
// if there is none yet. (K1)
func (d *tickets) draws(r *run, n pta.InstID, g *facts.Func) bool {
	if atomicName(g) != "Add" {
		return false
	}
	p, ok := firstLoad(g)
	if !ok {
		return false
	}
	m := &g.Mems[g.Points[p].Row]
	cell, one := d.v.Single(n, m.Base)
	if !one {
		return false
	}
	cell += m.Off
	return d.is(r, cell, false)
}

// is reports whether a cell is the counter, which it becomes if there is none yet.
func (d *tickets) is(r *run, cell uint32, locked bool) bool {
	if d.cell == 0 {
		try := tickets{v: d.v, f: d.f, cell: cell, locked: locked} // nothing stays of a cell that is none
		count := try.counter
		if locked {
			count = try.lockedCounter
		}
		var ok bool
		if try.delta, ok = count(r, cell); !ok {
			return false
		}
		*d = try
	}
	return d.cell == cell && d.locked == locked
}

// variable reports whether a cell is one variable whose writes are all accesses.
func (d *tickets) variable(r *run, cell uint32) bool {
	o, _ := r.v.Res.Object(cell)
	return oneObject(d.v, cell) && !r.pub.reflected(r.w, o) && !r.v.FlowTouched(cell)
}

// counter reports whether a cell is a counter by atomic additions, and by how much
// it counts. (K1)
func (d *tickets) counter(r *run, cell uint32) (delta int64, ok bool) {
	if !d.variable(r, cell) {
		return 0, false
	}
	for _, id := range r.w.At(cell) {
		a := &r.w.Accesses[id]
		if !a.Write || !r.v.Live.Has(int(a.Inst)) {
			continue
		}
		g := r.v.Res.Func(a.Inst)
		if a.Deep || a.Sync != stage.NoUse || !a.Atomic || !g.Is(facts.FnAtomic) || atomicName(g) != "Add" || len(g.Params) != 2 || r.v.Prog.Types[g.Mems[a.Row].Type].Size != 8 {
			return 0, false
		}
		v := r.v.ValuesOf(a.Inst, g.Params[1])
		if v.Top || len(v.Ks) != 1 || ok && v.Ks[0] != delta {
			return 0, false
		}
		delta, ok = v.Ks[0], true
	}
	return delta, ok && small(delta)
}
