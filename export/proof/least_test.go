package proof_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/proof"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// least is the plain twin of the checker's rules: it applies them until nothing
// changes, beginning from nothing but the root. What it has, every closed claim
// has. It takes from given claims which object and which instance a row means; where
// that leaves a choice, it takes none.
type least struct {
	p       *facts.Program
	c       *check.Claims
	objOf   []int
	vars    []map[uint32]map[uint32]bool // by instance and variable
	content []map[uint32]bool
	runs    map[check.InstID]bool
	edges   map[check.InstID]map[check.Edge]bool
	changed bool
}

func leastOf(p *facts.Program, c *check.Claims) *least {
	l := &least{p: p, c: c, vars: make([]map[uint32]map[uint32]bool, len(c.Insts)), content: make([]map[uint32]bool, len(c.Content)),
		runs: map[check.InstID]bool{c.Root: true}, edges: map[check.InstID]map[check.Edge]bool{}, objOf: make([]int, len(c.Content))}
	for o := 1; o < len(c.Objects); o++ {
		end := uint32(len(c.Content))
		if o+1 < len(c.Objects) {
			end = c.Objects[o+1].First
		}
		for x := c.Objects[o].First; x < end; x++ {
			l.objOf[x] = o
		}
	}
	for i := range l.vars {
		l.vars[i] = map[uint32]map[uint32]bool{}
	}
	for i := range l.content {
		l.content[i] = map[uint32]bool{}
	}
	for l.changed = true; l.changed; {
		l.changed = false
		for i := 1; i < len(c.Insts); i++ {
			if l.runs[check.InstID(i)] {
				l.rows(check.InstID(i))
			}
		}
	}
	return l
}

func (l *least) fn(i check.InstID) *facts.Func { return l.p.Funcs[l.c.Insts[i].Fn] }

// v is a leaf of a register's set.
func (l *least) v(i check.InstID, r facts.Reg, leaf int) map[uint32]bool {
	f := l.fn(i)
	if r == facts.NoReg || f.Regs[r].Type == 0 || leaf >= len(l.p.Layout(f.Regs[r].Type).Ptrs) {
		return nil
	}
	n := f.Regs[r].Node + uint32(leaf)
	if l.vars[i][n] == nil {
		l.vars[i][n] = map[uint32]bool{}
	}
	return l.vars[i][n]
}

func (l *least) add(to map[uint32]bool, c uint32) {
	if to != nil && !to[c] {
		to[c], l.changed = true, true
	}
}

func (l *least) flow(from, to map[uint32]bool) {
	for c := range from {
		l.add(to, c)
	}
}

// off returns the cell n further, if it lies in the same object.
func (l *least) off(c, n uint32) (uint32, bool) {
	return c + n, int(c+n) < len(l.objOf) && l.objOf[c+n] == l.objOf[c]
}

// dynamic is the type of a box that begins at a cell, and of a closure; 0 for what
// printing gives besides boxes, with which the twin does nothing.
func (l *least) dynamic(c uint32) facts.TypeID {
	o := &l.c.Objects[l.objOf[c]]
	if s := &l.p.Funcs[o.Fn].Sites; o.Kind == check.ObjSite && o.First == c && ((*s)[o.Site].Kind == facts.SiteBox || (*s)[o.Site].Kind == facts.SiteClosure) {
		return (*s)[o.Site].Type
	}
	return 0
}

func (l *least) rows(i check.InstID) {
	f := l.fn(i)
	object := func(r facts.Reg, ok func(o *check.Object) bool) {
		var some []uint32
		for o := 1; o < len(l.c.Objects); o++ {
			_, has := slices.BinarySearch(l.c.Sets[l.c.Insts[i].Vars[f.Regs[r].Node]], l.c.Objects[o].First)
			if has && ok(&l.c.Objects[o]) {
				some = append(some, l.c.Objects[o].First)
			}
		}
		if len(some) == 1 {
			l.add(l.v(i, r, 0), some[0])
		}
	}
	for _, g := range f.Globals {
		object(g.Dst, func(o *check.Object) bool { return o.Kind == check.ObjGlobal && o.Global == g.Global })
	}
	for _, g := range f.FuncRef {
		object(g.Dst, func(o *check.Object) bool { return o.Kind == check.ObjFunc && o.Fn == g.Fn })
	}
	for _, a := range f.Allocs {
		object(a.Dst, func(o *check.Object) bool { return o.Kind == check.ObjSite && o.Fn == f.ID && o.Site == a.Site })
	}
	for _, c := range f.Copies {
		for n := range int(c.N) {
			l.flow(l.v(i, c.Src, int(c.SrcLeaf)+n), l.v(i, c.Dst, int(c.DstLeaf)+n))
		}
	}
	for _, p := range f.Phis {
		for _, e := range p.Edges {
			for n := range len(l.p.Layout(f.Regs[p.Dst].Type).Ptrs) {
				l.flow(l.v(i, e, n), l.v(i, p.Dst, n))
			}
		}
	}
	for _, a := range f.Addrs {
		n := a.Off
		if a.Kind != facts.AddrField {
			n = 0
		}
		for c := range l.v(i, a.Base, 0) {
			if q, ok := l.off(c, n); ok {
				l.add(l.v(i, a.Dst, 0), q)
			}
		}
	}
	for _, m := range f.Mems {
		if m.Val == facts.NoReg || m.Type == 0 {
			continue
		}
		for n, leaf := range l.p.Layout(m.Type).Ptrs {
			for c := range l.v(i, m.Base, 0) {
				if q, ok := l.off(c, m.Off+leaf); ok && m.Write {
					l.flow(l.v(i, m.Val, int(m.ValLeaf)+n), l.content[q])
				} else if ok {
					l.flow(l.content[q], l.v(i, m.Val, int(m.ValLeaf)+n))
				}
			}
		}
	}
	for _, a := range f.Asserts {
		for c := range l.v(i, a.X, 0) {
			if l.p.Types[a.Type].Kind == facts.Interface {
				if l.p.Implements(l.dynamic(c), a.Type) {
					l.add(l.v(i, a.Dst, 0), c)
				}
			} else if l.dynamic(c) == a.Type {
				for n, leaf := range l.p.Layout(a.Type).Ptrs {
					l.flow(l.content[c+leaf], l.v(i, a.Dst, n))
				}
			}
		}
	}
	for _, g := range f.Ghosts {
		for c := range l.v(i, g.Base, 0) {
			object(g.Dst, func(o *check.Object) bool { return o.Kind == check.ObjGhost && o.Of == c })
		}
	}
	for row := range f.Calls {
		l.call(i, f, uint32(row))
	}
}

func (l *least) call(i check.InstID, f *facts.Func, row uint32) {
	c := &f.Calls[row]
	switch {
	case c.Static != 0:
		l.enter(i, row, c.Static, 0, func(check.InstID) {})
	case c.Fn != facts.NoReg:
		for x := range l.v(i, c.Fn, 0) {
			o := &l.c.Objects[l.objOf[x]]
			if o.Kind == check.ObjFunc {
				l.enter(i, row, o.Fn, 0, func(check.InstID) {})
				continue
			}
			l.enter(i, row, l.p.Funcs[o.Fn].Sites[o.Site].Fn, 0, func(m check.InstID) {
				leaf := 0
				for _, r := range l.fn(m).Free {
					for n := range l.p.Layout(l.fn(m).Regs[r].Type).Ptrs {
						l.flow(l.content[x+l.p.Layout(l.dynamic(x)).Ptrs[leaf]], l.v(m, r, n))
						leaf++
					}
				}
			})
		}
	case c.Method != 0:
		for x := range l.v(i, c.Recv, 0) {
			l.enter(i, row, l.p.MethodOf(l.dynamic(x), c.Method), 1, func(m check.InstID) {
				for n, leaf := range l.p.Layout(l.dynamic(x)).Ptrs {
					l.flow(l.content[x+leaf], l.v(m, l.fn(m).Params[0], n))
				}
			})
		}
	}
}

func (l *least) enter(i check.InstID, row uint32, fn facts.FuncID, skip int, bind func(check.InstID)) {
	c := &l.fn(i).Calls[row]
	several := -1 // instances that may share the receivers
	for _, e := range l.c.Insts[i].Edges {
		if e.Row == row && l.c.Insts[e.Callee].Fn == fn {
			several++
		}
	}
	for _, e := range l.c.Insts[i].Edges {
		if e.Row != row || l.c.Insts[e.Callee].Fn != fn || c.Fn != facts.NoReg && len(l.p.Funcs[fn].Params) != len(c.Args) {
			continue
		}
		if l.edges[i] == nil {
			l.edges[i] = map[check.Edge]bool{}
		}
		if !l.edges[i][e] {
			l.edges[i][e], l.runs[e.Callee], l.changed = true, true, true
		}
		g := l.fn(e.Callee)
		for j, a := range c.Args {
			if several > 0 && j+skip == 0 {
				continue
			}
			for n := 0; j+skip < len(g.Params) && l.v(i, a, n) != nil; n++ {
				l.flow(l.v(i, a, n), l.v(e.Callee, g.Params[j+skip], n))
			}
		}
		for n := 0; l.v(i, c.Dst, n) != nil; n++ {
			l.flow(l.v(e.Callee, g.Ret, n), l.v(i, c.Dst, n))
		}
		if several == 0 || skip == 0 {
			bind(e.Callee)
		}
	}
}

// TestRemovals takes single elements out of claimed sets, and single edges and
// instances out of the call graph. That must be a Failure, unless the rules'
// least solution, found by the plain twin, does without: then the claim was
// redundant, and the smaller one holds as well.
func TestRemovals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tried, accepted := map[string]int{}, map[string]int{}
	done := 0
	for _, p := range programs(t).twins {
		r := analyze(t, p, pta.Insens)
		c := proof.Claims(r)
		if done == 25 {
			break
		}
		if !check.Check(p, nil, c).Closed {
			continue
		}
		done++
		l := leastOf(p, c)
		for i := 1; i < len(c.Insts); i++ { // the twin is below every closed claim
			for n, s := range l.vars[i] {
				for x := range s {
					if _, ok := slices.BinarySearch(c.Sets[c.Insts[i].Vars[n]], x); !ok {
						t.Fatalf("%s: the plain twin has more", p.Path)
					}
				}
			}
		}
		try := func(kind string, needed bool) {
			tried[kind]++
			switch rep := check.Check(p, nil, c); {
			case rep.Failed != nil:
			case needed:
				t.Errorf("%s: closed without %s that the rules demand", p.Path, kind)
			default:
				accepted[kind]++
			}
		}
		// without calls f with a set in place of *s that lacks one of its elements.
		without := func(s *check.SetID, f func(x uint32)) {
			old, set := *s, c.Sets[*s]
			if len(set) == 0 {
				return
			}
			k := rng.IntN(len(set))
			c.Sets = append(c.Sets, slices.Delete(slices.Clone(set), k, k+1))
			*s = check.SetID(len(c.Sets) - 1)
			f(set[k])
			*s = old
			c.Sets = c.Sets[:len(c.Sets)-1]
		}
		for range 100 {
			i := check.InstID(1 + rng.IntN(len(c.Insts)-1))
			in := &c.Insts[i]
			switch rng.IntN(4) {
			case 0:
				if len(in.Vars) > 0 {
					n := uint32(rng.IntN(len(in.Vars)))
					without(&in.Vars[n], func(x uint32) { try("an element of a variable", l.vars[i][n][x]) })
				}
			case 1:
				n := rng.IntN(len(c.Content))
				without(&c.Content[n], func(x uint32) { try("an element of a cell", l.content[n][x]) })
			case 2:
				if len(in.Edges) > 0 {
					k, old := rng.IntN(len(in.Edges)), in.Edges
					in.Edges = slices.Delete(slices.Clone(old), k, k+1)
					try("an edge", l.edges[i][old[k]])
					in.Edges = old
				}
			case 3:
				old := make([][]check.Edge, len(c.Insts))
				for k := range c.Insts {
					old[k] = c.Insts[k].Edges
					c.Insts[k].Edges = slices.DeleteFunc(slices.Clone(old[k]), func(e check.Edge) bool { return e.Callee == i })
				}
				if i != c.Root {
					try("an instance", l.runs[i])
				}
				for k := range c.Insts {
					c.Insts[k].Edges = old[k]
				}
			}
		}
	}
	t.Logf("tried: %v; redundant, and accepted: %v", tried, accepted)
	for _, kind := range []string{"an element of a variable", "an element of a cell", "an edge", "an instance"} {
		if tried[kind]-accepted[kind] < 20 {
			t.Errorf("%s was refused %d times only", kind, tried[kind]-accepted[kind])
		}
	}
}
