package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Claims: branches of which one at most is taken in the whole run, and by one
// goroutine. What lies behind them, and what is called from there alone, that
// goroutine executes, one after the other.
//
//	(G1) all tell that a CompareAndSwap has replaced zero by something else, in one
//	     variable (oneObject) of one word into which nothing stores zero
//	(G2) or that an atomic addition left one number in a variable (oneObject) of 64
//	     bits that nothing writes but additions of one sign
//	(G3) or that an addition led a counter to its end (counts.go), where nobody adds
//	     to what is left once nothing is (Q6)
//
// By (G1) the first who replaces zero is the last: no second one finds it. By (G2) no
// number comes back, in less than 2^57 additions. By (G3) who takes away is paid for,
// and nothing is there to pay with. The result of the operation gets from there to the
// branch in one goroutine (sights.go).
//
// A point lies behind an edge if no path leads there, from where its function is
// entered, but over the edge.
type claim map[pta.InstID]stage.Bits // blocks behind the edges

// maxClaims bounds the claims of a program.
const maxClaims = 64

// has reports whether a point lies behind the claim.
func (c claim) has(v *stage.View, n pta.InstID, p uint32) bool {
	b, ok := c[n]
	return ok && b.Has(v.Flow(n).Block(p))
}

// enters reports whether a call is made behind the claim alone.
func (c claim) enters(v *stage.View, n pta.InstID, e pta.Edge) bool {
	_, ok := c[n]
	return ok && !slices.ContainsFunc(v.PointsOf(n, e.Kind, e.Row), func(p uint32) bool { return !c.has(v, n, p) })
}

// behind returns the blocks that no path leads to but over an edge.
func behind(fl *stage.Flow, e edgeKey) stage.Bits {
	f := fl.F
	seen := stage.NewBits(len(f.Blocks))
	todo := []int{0}
	seen.Add(0)
	push := func(b int) {
		if seen.Add(b) {
			todo = append(todo, b)
		}
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for k, s := range f.Blocks[b].Succs {
			if b != e.b || k != e.k {
				push(int(s))
			}
		}
		if p := f.Blocks[b].Panic; p >= 0 {
			push(int(p))
		}
	}
	out := stage.NewBits(len(f.Blocks))
	for b := range f.Blocks {
		if !seen.Has(b) {
			out.Add(b)
		}
	}
	return out
}

// findClaims adds the signals of claims.
func (a *awaited) findClaims() {
	v := a.v
	type event struct {
		cell uint32
		add  bool // (G2): of the number
		k    int64
		join int // (G3)
	}
	a.claims = map[pta.InstID][]int{}
	found := map[event]int{}
	add := func(x event, e edgeKey) {
		b := behind(v.Flow(e.n), e)
		i, ok := found[x]
		if b.Empty() || !ok && len(found) == maxClaims {
			return
		}
		if !ok {
			i = a.add(signal{kind: signalClaim, Cell: x.cell, Need: 1, claim: claim{}})
			found[x] = i
		}
		c := a.signals[i].claim
		if old, ok := c[e.n]; ok {
			b.Or(old)
		} else {
			a.claims[e.n] = append(a.claims[e.n], i)
		}
		c[e.n] = b
	}
	a.r.sights(v).branches(func(e edgeKey, s sight) {
		name := atomicName(v.Res.Func(s.n))
		if s.op != facts.ArithEq || name != "Add" && name != "CompareAndSwap" {
			return
		}
		cell, _, ok := a.flagCell(s)
		switch {
		case !ok:
		case name == "Add" && a.oneWay(cell):
			d := v.ValuesOf(s.n, v.Res.Func(s.n).Params[1])
			add(event{cell: cell, add: true, k: s.k + d.Ks[0]}, e)
		case name == "CompareAndSwap" && !s.sum && s.k == 0 && a.neverZero(cell):
			add(event{cell: cell}, e)
		}
	})
	for i := range a.joins {
		if j := &a.joins[i]; j.tally != nil && j.tally.ahead {
			for _, e := range j.tally.edges {
				if j.tally.takes[e] {
					add(event{cell: j.Cell, join: i + 1}, e)
				}
			}
		}
	}
}

// neverZero reports whether nothing stores zero into a cell. (G1)
func (a *awaited) neverZero(cell uint32) bool {
	v := a.v
	if v.FlowTouched(cell) {
		return false
	}
	for _, id := range v.At(cell) {
		x := &v.Accesses[id]
		if !x.Write || !v.Live.Has(int(x.Inst)) {
			continue
		}
		f := v.Res.Func(x.Inst)
		if x.Deep || !x.Atomic || x.Sync != stage.NoUse || !oneWord(v, f.Mems[x.Row].Type) || is(0, true).may(v.ValuesOf(x.Inst, f.Mems[x.Row].Val)) {
			return false
		}
	}
	return true
}

// oneWay reports whether nothing writes a cell but atomic additions of one sign. (G2)
func (a *awaited) oneWay(cell uint32) bool {
	v := a.v
	o, off := v.Res.Object(cell)
	if v.Prog.Types[v.Res.Cell(o, off).Type].Size != 8 || v.FlowTouched(cell) {
		return false
	}
	sign := int64(0)
	for _, id := range v.At(cell) {
		x := &v.Accesses[id]
		if !x.Write || !v.Live.Has(int(x.Inst)) {
			continue
		}
		f := v.Res.Func(x.Inst)
		if x.Deep || !x.Atomic || x.Sync != stage.NoUse || atomicName(f) != "Add" || len(f.Params) != 2 {
			return false
		}
		d := v.ValuesOf(x.Inst, f.Params[1])
		if d.Top || len(d.Ks) != 1 || !small(d.Ks[0]) || d.Ks[0]*sign < 0 {
			return false
		}
		sign = d.Ks[0]
	}
	return sign != 0
}
