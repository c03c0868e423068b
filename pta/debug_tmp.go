package pta

import (
	"fmt"
	"github.com/bfverify/bfverify/facts"
	"os"
	"slices"
	"strings"
	"time"
)

var dbgKinds [64]int
var dbgStart = time.Now()
var dbgLast = time.Now()

func (s *solver) debug() {
	if os.Getenv("PTADEBUG") == "" || time.Since(dbgLast) < 1*time.Second {
		return
	}
	dbgLast = time.Now()
	by := map[ObjKind]int{}
	for i := range s.objs {
		by[s.objs[i].Kind]++
	}
	w := 0
	if s.anyValue != 0 {
		w = s.pts[s.find(s.anyValue)].Len()
	}
	if w > 27000 {
		s.listW()

	}
	big := 0
	tot := 0
	for i := range s.rep {
		if s.rep[i] == uint32(i) && s.pts[i] != nil {
			tot += s.pts[i].Len()
			if s.pts[i].Len() > 5000 {
				big++
			}
		}
	}
	fmt.Fprintln(os.Stderr, "KINDS", dbgKinds)
	fmt.Fprintf(os.Stderr, "%5.0f s nodes %d collapsed %d insts %d objs %d %v W %d big %d pairs %dM work %d waiting %d newEdges %d collapseAt %d effort %dM\n", time.Since(dbgStart).Seconds(), s.stats.Nodes, s.stats.Collapsed, len(s.insts), len(s.objs), by, w, big, tot>>20, len(s.work), len(s.waiting), s.newEdges, s.collapseAt, s.stats.Effort>>20)
}

func (s *solver) dumpW() {
	by := map[string]int{}
	s.pts[s.find(s.anyValue)].Each(func(p uint32) {
		ob := s.objs[s.obj[p]]
		base := ob
		k := fmt.Sprint("kind ", ob.Kind)
		if ob.Kind == ObjRef {
			base = s.objs[s.obj[ob.Of]]
			k += fmt.Sprint(" of ", base.Kind)
		}
		name := ""
		if base.Fn != 0 && s.u.Funcs[base.Fn] != nil {
			name = s.u.Funcs[base.Fn].Pkg
		} else if base.Kind == ObjGlobal {
			name = "global " + s.u.Globals[base.Global].Name
			if i := strings.LastIndex(name, "."); i > 0 {
				name = name[:i]
			}
		}
		by[k+" "+name]++
	})
	type kv struct {
		k string
		n int
	}
	var xs []kv
	for k, n := range by {
		xs = append(xs, kv{k, n})
	}
	slices.SortFunc(xs, func(a, b kv) int { return b.n - a.n })
	for i, x := range xs {
		if i < 70 {
			fmt.Fprintf(os.Stderr, "%7d %s\n", x.n, x.k)
		}
	}
}

var dumped bool

func (s *solver) listW() {
	if dumped {
		return
	}
	dumped = true
	s.pts[s.find(s.anyValue)].Each(func(p uint32) {
		ob := s.objs[s.obj[p]]
		base := ob
		k := fmt.Sprint("kind ", ob.Kind)
		cell := p
		if ob.Kind == ObjRef {
			cell = ob.Of
			base = s.objs[s.obj[ob.Of]]
			k += fmt.Sprint(" of ", base.Kind)
		}
		name := ""
		if base.Fn != 0 && s.u.Funcs[base.Fn] != nil {
			name = s.u.Funcs[base.Fn].Name
		} else if base.Kind == ObjGlobal {
			name = "global " + s.u.Globals[base.Global].Name
		}
		ex := "exact"
		if ob.Kind == ObjRef {
			c := s.cell(ob.Of)
			if !slices.Contains(c.Types, ob.As) {
				ex = "shape"
				if !s.ofClass(c, s.class(ob.As)) {
					ex = fmt.Sprint("foreign", base.Untyped)
				}
			}
		}
		fmt.Fprintln(os.Stderr, "W", ex, p, k, name, "of type", s.u.Types[base.Type].Name, "+", cell-base.Node, "as", s.u.Types[ob.As].Name)
	})
}

func (s *solver) dbgView(p uint32, t facts.TypeID, who string) {
	if os.Getenv("PTADEBUG") == "" {
		return
	}
	ob := &s.objs[s.obj[p]]
	fmt.Fprintln(os.Stderr, "VIEW", who, ob.Kind, s.u.Types[ob.Type].Name, "+", p-ob.Node, "as", s.u.Types[t].Name)
}

func (s *solver) dbgInsts() {
	by := map[facts.FuncID]int{}
	for i := range s.insts {
		by[s.insts[i].Fn]++
	}
	var xs []facts.FuncID
	for f := range by {
		xs = append(xs, f)
	}
	slices.SortFunc(xs, func(a, b facts.FuncID) int { return by[b] - by[a] })
	for _, f := range xs[:25] {
		if s.u.Funcs[f] != nil {
			fmt.Fprintln(os.Stderr, "INST", by[f], s.u.Funcs[f].Name)
		}
	}
	// who calls reflect copies at depth 1
	cs := map[string]int{}
	for i := range s.insts {
		for _, e := range s.insts[i].Out {
			g := s.u.Funcs[s.insts[e.Callee].Fn]
			if g != nil && g.Is(facts.FnInline) && s.ctxs.inlined[s.insts[e.Callee].Ctx] == 1 {
				cs[fmt.Sprint(e.Kind, " ", s.u.Funcs[s.insts[i].Fn].Name, " -> ", g.Name, s.ctxs.inlined[s.insts[i].Ctx])]++
			}
		}
	}
	var ks []string
	for k := range cs {
		ks = append(ks, k)
	}
	slices.SortFunc(ks, func(a, b string) int { return cs[b] - cs[a] })
	for _, k := range ks[:25] {
		fmt.Fprintln(os.Stderr, "CALLS", cs[k], k)
	}
}
