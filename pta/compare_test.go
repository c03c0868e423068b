package pta_test

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/pointer"
	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/pta"
)

// A twin is one import-free program with the solutions of two analyses that share
// no code: this package without contexts (called ours), and
// golang.org/x/tools/go/pointer (called theirs). Both read the same SSA form.
type twin struct {
	name   string
	prog   *ssa.Program
	fset   *token.FileSet
	facts  map[*ssa.Function]*facts.Func
	regs   map[*ssa.Function]map[ssa.Value]facts.Reg
	values map[*facts.Func]map[facts.Reg]ssa.Value
	fns    map[facts.FuncID]*ssa.Function
	named  map[string]*ssa.Function // those of facts
	merged bool                     // some functions of one name are one there
	vague  map[*ssa.Function]bool   // functions with calls without a position

	main   *ssa.Package
	linked *facts.Program
	result *pta.Result // without contexts
	ours   solution
	theirs solution
}

// A solution is the projection of a result onto what both analyses can say.
type solution struct {
	pts     map[ssa.Value][]string // labels of pointer-like values, sorted
	callees map[callSite][]string
	reached map[*ssa.Function]bool
}

// newTwin builds the SSA form of a program alone, so that types of others do not
// count as its run-time types, and solves it twice.
func newTwin(res *load.Result, p *packages.Package) (*twin, error) {
	tw := &twin{
		name: p.PkgPath, fset: res.Fset,
		prog:  ssa.NewProgram(res.Fset, ssa.InstantiateGenerics),
		facts: map[*ssa.Function]*facts.Func{}, regs: map[*ssa.Function]map[ssa.Value]facts.Reg{},
		values: map[*facts.Func]map[facts.Reg]ssa.Value{}, fns: map[facts.FuncID]*ssa.Function{},
		vague: map[*ssa.Function]bool{}, named: map[string]*ssa.Function{},
	}
	main := tw.prog.CreatePackage(p.Types, p.Syntax, p.TypesInfo, false)
	tw.prog.Build()
	var mu sync.Mutex
	recs, err := extract.Records(tw.prog, []extract.Package{{ID: p.ID, Path: p.PkgPath, SSA: main, Types: p.Types}}, extract.Config{
		Fset: res.Fset, Sizes: types.SizesFor("gc", res.Build.GOARCH),
		Lowered: func(fn *ssa.Function, f *facts.Func, regs map[ssa.Value]facts.Reg) {
			mu.Lock()
			defer mu.Unlock()
			tw.facts[fn], tw.regs[fn], tw.named[fn.String()] = f, regs, fn
			tw.values[f] = map[facts.Reg]ssa.Value{}
			for v, r := range regs {
				tw.values[f][r] = v
			}
		},
	})
	if err != nil {
		return nil, err
	}
	u := facts.NewUniverse()
	for _, r := range recs {
		if err := u.Add(r); err != nil {
			return nil, err
		}
	}
	for fn, f := range tw.facts {
		tw.fns[f.ID] = fn
	}
	fp, err := facts.Link(u, p.PkgPath, p.ID, []string{p.ID}, false, nil)
	if err != nil {
		return nil, err
	}
	r, err := pta.Analyze(context.Background(), fp, pta.Config{Policy: pta.Insens})
	if err != nil {
		return nil, err
	}
	tw.main, tw.linked, tw.result = main, fp, r
	tw.ours = tw.project(r)
	return tw, tw.solveTheirs(main)
}

// siteName names a function, or what a value allocates.
func siteName(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.Function:
		return "func " + v.String()
	case *ssa.Global:
		return v.Name()
	case *ssa.Alloc:
		if v.Comment != "" {
			return v.Comment + " " + v.Name() + " of " + v.Parent().String()
		}
	}
	return v.Name() + " of " + v.Parent().String()
}

var arrays = regexp.MustCompile(`(\[\])+`)

// project leaves the contexts out of a result.
func (tw *twin) project(r *pta.Result) solution {
	sol := solution{map[ssa.Value][]string{}, map[callSite][]string{}, map[*ssa.Function]bool{}}
	labels := map[uint32]string{}
	describe := func(p uint32) string {
		o, off := r.Object(p)
		ob := &r.Objs[o]
		switch ob.Kind {
		case pta.ObjGlobal:
			n := r.Prog.Globals[ob.Global].Name
			return n[strings.LastIndex(n, ".")+1:] + arrays.ReplaceAllString(r.Cell(o, off).Path, "[]")
		case pta.ObjFunc:
			return siteName(tw.fns[ob.Fn])
		case pta.ObjSite:
			f, s := r.Prog.Funcs[ob.Fn], r.Site(o)
			if s.Kind == facts.SiteClosure {
				return siteName(tw.fns[s.Fn])
			}
			n := "site " + fmt.Sprint(ob.Site) + " of " + f.Name
			for _, a := range f.Allocs {
				if a.Site != ob.Site {
					continue
				}
				dst := a.Dst
				if s.Kind == facts.SiteGrow { // goes through a register of its own
					for _, c := range f.Copies {
						if c.Src == dst {
							dst = c.Dst
							break
						}
					}
				}
				if v := tw.values[f][dst]; v != nil {
					n = siteName(v)
				}
			}
			switch s.Kind {
			case facts.SiteMap, facts.SiteChan, facts.SiteBox:
				return n
			}
			return n + arrays.ReplaceAllString(r.Cell(o, off).Path, "[]")
		}
		return fmt.Sprint("object of kind ", ob.Kind)
	}
	label := func(p uint32) string {
		l, ok := labels[p]
		if !ok {
			l = describe(p)
			labels[p] = l
		}
		return l
	}
	sets := map[*facts.Func][]pta.InstID{}
	for id := range r.Insts {
		i := pta.InstID(id)
		if f := r.Func(i); id != 0 && f != nil {
			sets[f] = append(sets[f], i)
		}
	}
	for fn, f := range tw.facts {
		if len(sets[f]) == 0 {
			continue
		}
		sol.reached[fn] = true
		for v, reg := range tw.regs[fn] {
			if !pointer.CanPoint(v.Type()) || isFreeVar(v) {
				continue
			}
			var pts []string
			for _, i := range sets[f] {
				r.PointsTo(i, reg, 0).Each(func(p uint32) { pts = append(pts, label(p)) })
			}
			sol.pts[v] = set(pts)
		}
		for _, i := range sets[f] {
			for _, e := range r.Insts[i].Out {
				p := f.Calls[e.Row].Pos
				k := tw.callSite(fn, int(p.Line), int(p.Col))
				sol.callees[k] = append(sol.callees[k], siteName(tw.fns[r.Insts[e.Callee].Fn]))
			}
		}
	}
	sol.sort()
	return sol
}

// A callSite is a position in a function, or all calls in it if go/ssa does not
// give a position to each, as in wrappers and in loops over functions.
type callSite struct {
	fn        *ssa.Function
	line, col int
}

func (tw *twin) callSite(fn *ssa.Function, line, col int) callSite {
	vague, ok := tw.vague[fn]
	if !ok {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				vague = vague || ok && !c.Pos().IsValid()
			}
		}
		tw.vague[fn] = vague
	}
	if vague {
		return callSite{fn: fn}
	}
	return callSite{fn, line, col}
}

func (s *solution) sort() {
	for k, c := range s.callees {
		s.callees[k] = set(c)
	}
}

func set(xs []string) []string {
	sort.Strings(xs)
	return slices.Compact(xs)
}

func isFreeVar(v ssa.Value) bool {
	_, ok := v.(*ssa.FreeVar)
	return ok
}
