package pta

import (
	"fmt"

	"github.com/bfverify/bfverify/facts"
)

// InstID identifies a function in a calling context. 0 is none.
type InstID uint32

// Inst is one function in one context. Register r's leaf i is the node
// Base + Regs[r].Node + i.
type Inst struct {
	Fn   facts.FuncID
	Ctx  CtxID
	Base uint32
	// Deep is the first of the nodes that hold what Deeps and Anys reach: one for
	// each Deeps row (what is touched), then two for each Anys row (functions,
	// arguments).
	Deep uint32
	// Out are the call edges out of the instance, sorted.
	Out []Edge
}

// EdgeKind says through which row of the caller an edge goes.
type EdgeKind uint8

// The kinds of call edge.
const (
	EdgeCall  EdgeKind = iota // Calls[Row], in the caller's goroutine
	EdgeGo                    // Calls[Row], in a new goroutine
	EdgeAny                   // Anys[Row]
	EdgeAnyGo                 // Anys[Row] with Spawn
)

// Edge is a call edge.
type Edge struct {
	Kind   EdgeKind
	Row    uint32
	Callee InstID
}

type instKey struct {
	fn  facts.FuncID
	ctx CtxID
}

type edgeKey struct {
	from InstID
	kind EdgeKind
	row  uint32
	to   InstID
}

// instance returns the instance of fn in ctx, adding its constraints when new.
func (s *solver) instance(fn facts.FuncID, ctx CtxID) InstID {
	f := s.u.Funcs[fn]
	if f != nil && f.Is(facts.FnTests) && s.prog.Tests != 0 && fn != s.prog.Tests {
		fn = s.prog.Tests
		f = s.u.Funcs[fn]
	}
	k := instKey{fn, ctx}
	if i, ok := s.instOf[k]; ok {
		return i
	}
	id := InstID(len(s.insts))
	s.instOf[k] = id
	if f == nil { // a name without facts: nothing is known to happen in it
		s.insts = append(s.insts, Inst{Fn: fn, Ctx: ctx})
		s.stats.Missing = append(s.stats.Missing, fn)
		return id
	}
	deeps := len(f.Deeps) + 2*len(f.Anys)
	base := s.nodes(variables, int(f.NumNode)+deeps)
	n := base
	for _, r := range f.Regs[1:] {
		if r.Type == 0 {
			continue
		}
		l := s.u.Layout(r.Type)
		for _, c := range l.Ptrs {
			if n-base < f.NumNode {
				s.typ[n], s.decl[n] = l.Cells[c].Type, l.Cells[c].Type
			}
			n++
		}
	}
	if n-base != f.NumNode {
		panic(fmt.Sprintf("pta: %s has %d variables, its registers make %d", f.Name, f.NumNode, n-base))
	}
	s.insts = append(s.insts, Inst{Fn: fn, Ctx: ctx, Base: base, Deep: base + f.NumNode})
	s.fresh = append(s.fresh, id)
	return id
}

// leaves returns the number of pointer-like leaves of a register.
func (s *solver) leaves(f *facts.Func, r facts.Reg) int {
	if r == facts.NoReg || f.Regs[r].Type == 0 {
		return 0
	}
	return len(s.u.Layout(f.Regs[r].Type).Ptrs)
}
