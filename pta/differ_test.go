package pta

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// eager says how soon the solver does what large programs alone make it do.
type eager int

const (
	lazy    eager = iota // as always
	early                // cycles are looked for after every few edges
	allTime              // cycles are looked for all the time
)

// solveEagerly is Analyze without a budget; it returns the solver too.
func solveEagerly(p *facts.Program, cfg Config, e eager) (*solver, *Result) {
	s := newSolver(context.Background(), p, cfg)
	switch e {
	case early:
		s.lookEffort, s.lookEdges, s.collapseAt = 16, 8, 8
	case allTime:
		s.lookEffort, s.lookEdges, s.collapseAt = 0, 0, 0
	}
	root := s.instance(p.Root, 0)
	if err := s.solve(); err != nil {
		panic(err)
	}
	return s, s.result(root)
}

// solverNames names the objects and contexts of a solver as the twin does.
type solverNames struct {
	s    *solver
	elem map[element]string
	obj  map[ObjID]string
}

func namesOf(s *solver) *solverNames {
	n := &solverNames{s: s, elem: map[element]string{}, obj: map[ObjID]string{}}
	for i, f := range s.u.Funcs {
		if f != nil {
			for j := range f.Sites {
				n.elem[element(s.siteBase[i]+uint32(j))] = fmt.Sprintf("s%d.%d", i, j)
			}
			for j := range f.Calls {
				n.elem[element(s.callBase[i]+uint32(j))] = fmt.Sprintf("c%d.%d", i, j)
			}
		}
	}
	for o := 1; o < len(s.objs); o++ {
		if ob := &s.objs[o]; ob.Kind != ObjSite {
			n.elem[ob.elem] = n.object(ObjID(o))
		}
	}
	return n
}

// context returns the elements of c, each followed by a blank, and the number of
// inlined ones.
func (n *solverNames) context(c CtxID) naiveCtx {
	var b strings.Builder
	for _, e := range n.s.ctxs.seqs[c] {
		b.WriteString(n.elem[e] + " ")
	}
	return naiveCtx{b.String(), int(n.s.ctxs.inlined[c])}
}

func (n *solverNames) object(o ObjID) string {
	if s, ok := n.obj[o]; ok {
		return s
	}
	ob := &n.s.objs[o]
	s := fmt.Sprint("object of kind ", ob.Kind)
	switch ob.Kind {
	case ObjSite:
		c := n.context(ob.Ctx)
		s = fmt.Sprintf("s%d.%d[%s]%d", ob.Fn, ob.Site, strings.ReplaceAll(c.seq, " ", "/"), c.inlined)
	case ObjGlobal:
		s = fmt.Sprintf("g%d", ob.Global)
	case ObjFunc:
		s = fmt.Sprintf("f%d", ob.Fn)
	case ObjUnboxed:
		s = fmt.Sprintf("copy(%s)", n.object(ObjID(ob.Of)))
	case ObjGhost:
		of := n.s.obj[ob.Of]
		s = fmt.Sprintf("ghost(%s+%d)", n.object(of), ob.Of-n.s.objs[of].Node)
	}
	n.obj[o] = s
	return s
}

// differences compares what the solver found with what the twin found: the
// instances, their edges, the sets of their variables, and those of all cells.
func differences(s *solver, r *Result, n *naive) []string {
	var out []string
	names := namesOf(s)
	objOf := map[string]int{} // of the twin
	for o := 1; o < len(n.objs); o++ {
		objOf[n.name(o)] = o
	}
	cellOf := func(p uint32) int { // the twin's cell, or 0
		o, off := r.Object(p)
		if t := objOf[names.object(o)]; t != 0 && n.objs[t].n == int(r.Objs[o].N) {
			return n.objs[t].first + int(off)
		}
		return 0
	}
	cellName := func(p int) string {
		o := n.nodes[p].obj
		return fmt.Sprintf("%s+%d", n.name(o), p-n.objs[o].first)
	}
	set := func(what func() string, have *Set, want map[int]bool) {
		got := map[int]bool{}
		for _, p := range have.Elems(nil) {
			q := cellOf(p)
			if q == 0 || !want[q] {
				o, off := r.Object(p)
				out = append(out, fmt.Sprintf("%s: the solver alone has %s+%d", what(), names.object(o), off))
			}
			got[q] = true
		}
		for q := range want {
			if !got[q] {
				out = append(out, fmt.Sprintf("%s: LOST by the solver: %s", what(), cellName(q)))
			}
		}
	}
	inst := make([]int, len(r.Insts)) // the twin's
	found := map[int]bool{}
	for i := 1; i < len(r.Insts); i++ {
		k := naiveInst{fn: r.Insts[i].Fn, ctx: names.context(r.Insts[i].Ctx)}
		inst[i] = n.instOf[k]
		if inst[i] == 0 {
			out = append(out, fmt.Sprintf("f%d in [%s]: the solver alone has the instance", k.fn, k.ctx.seq))
		}
		found[inst[i]] = true
	}
	for i := 1; i < len(n.insts); i++ {
		if !found[i] {
			out = append(out, fmt.Sprintf("f%d in [%s]: instance LOST by the solver", n.insts[i].fn, n.insts[i].ctx.seq))
		}
	}
	edges := map[naiveEdge]bool{}
	for i := 1; i < len(r.Insts); i++ {
		t := inst[i]
		if t == 0 {
			continue
		}
		for _, e := range r.Insts[i].Out {
			x := naiveEdge{t, inst[e.Callee], e.Kind, e.Row}
			edges[x] = true
			if !n.edges[x] {
				out = append(out, fmt.Sprintf("f%d call %d: the solver alone calls f%d", r.Insts[i].Fn, e.Row, r.Insts[e.Callee].Fn))
			}
		}
		f := r.Func(InstID(i))
		if f == nil {
			continue
		}
		for v := range f.Regs {
			for leaf := range n.leaves(f, facts.Reg(v)) {
				at := n.insts[t].base + int(f.Regs[v].Node) + leaf
				set(func() string { return fmt.Sprintf("f%d r%d.%d in [%s]", f.ID, v, leaf, n.insts[t].ctx.seq) },
					r.PointsTo(InstID(i), facts.Reg(v), uint32(leaf)), n.nodes[at].pts)
			}
		}
		for row, d := range f.Deeps {
			set(func() string { return fmt.Sprintf("f%d deep access %d in [%s]", f.ID, row, n.insts[t].ctx.seq) },
				r.Deep(InstID(i), uint32(row)), n.reachable(t, f, d.X, d.Write))
		}
	}
	for e := range n.edges {
		if !edges[e] {
			out = append(out, fmt.Sprintf("f%d in [%s] call %d: LOST call of f%d in [%s]", n.insts[e.from].fn, n.insts[e.from].ctx.seq, e.row, n.insts[e.to].fn, n.insts[e.to].ctx.seq))
		}
	}
	found = map[int]bool{}
	for o := 1; o < len(r.Objs); o++ {
		for i := range r.Objs[o].N {
			p := r.Objs[o].Node + i
			q := cellOf(p)
			if q == 0 {
				out = append(out, names.object(ObjID(o))+": the solver alone has the object")
				break
			}
			found[n.nodes[q].obj] = true
			set(func() string { return "in " + cellName(q) }, r.Content(p), n.nodes[q].pts)
		}
	}
	for o := 1; o < len(n.objs); o++ {
		if !found[o] {
			out = append(out, n.name(o)+": object LOST by the solver")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
