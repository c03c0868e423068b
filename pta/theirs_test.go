package pta_test

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/pointer"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// solveTheirs runs go/pointer without its contexts: it analyses short functions
// once a call site, so that each block gets more instructions than it calls
// short, of a kind that it skips. The facts are made before that.
func (tw *twin) solveTheirs(main *ssa.Package) error {
	cfg := &pointer.Config{Mains: []*ssa.Package{main}, BuildCallGraph: true}
	for fn := range ssautil.AllFunctions(tw.prog) {
		if fn.Blocks == nil || fn.TypeParams().Len() > 0 && len(fn.TypeArgs()) == 0 {
			continue
		}
		for _, v := range localValues(fn) {
			if pointer.CanPoint(v.Type()) {
				cfg.AddQuery(v)
			}
		}
		for range 11 {
			fn.Blocks[0].Instrs = append(fn.Blocks[0].Instrs, new(ssa.DebugRef))
		}
	}
	// It asks for the methods of every type that a run may have at hand, and does
	// not expect interfaces among these, as today's go/ssa has them.
	for _, t := range tw.prog.RuntimeTypes() {
		if types.IsInterface(t) {
			*tw.prog.MethodSets.MethodSet(t) = types.MethodSet{}
		}
	}
	res, err := pointer.Analyze(cfg)
	if err != nil {
		return err
	}
	tw.theirs = solution{map[ssa.Value][]string{}, map[callSite][]string{}, map[*ssa.Function]bool{}}
	for v, p := range res.Queries {
		v := tw.same(v)
		labels := tw.theirs.pts[v]
		for _, l := range p.PointsTo().Labels() {
			labels = append(labels, theirLabel(l))
		}
		tw.theirs.pts[v] = set(labels)
	}
	for fn, n := range res.CallGraph.Nodes {
		fn := tw.canon(fn)
		tw.theirs.reached[fn] = true
		for _, e := range n.Out {
			if e.Site == nil {
				continue
			}
			p := tw.fset.Position(e.Site.Pos())
			k := tw.callSite(fn, p.Line, p.Column)
			tw.theirs.callees[k] = append(tw.theirs.callees[k], siteName(e.Callee.Func))
		}
	}
	tw.theirs.sort()
	return nil
}

// localValues returns the parameters of fn and the values that its instructions
// define.
func localValues(fn *ssa.Function) []ssa.Value {
	var vs []ssa.Value
	for _, p := range fn.Params {
		vs = append(vs, p)
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if v, ok := in.(ssa.Value); ok {
				vs = append(vs, v)
			}
		}
	}
	return vs
}

// canon returns the function that stands for fn in the facts: go/ssa makes a
// function of its own of each method expression, which have one name there.
func (tw *twin) canon(fn *ssa.Function) *ssa.Function {
	if tw.facts[fn] == nil && fn.Synthetic != "" {
		if c := tw.named[fn.String()]; c != nil {
			return c
		}
	}
	return fn
}

// same returns the value of canon(v.Parent()) that v is.
func (tw *twin) same(v ssa.Value) ssa.Value {
	fn := v.Parent()
	c := tw.canon(fn)
	if c == fn {
		return v
	}
	tw.merged = true
	return localValues(c)[slices.Index(localValues(fn), v)]
}

// theirLabel names a label of go/pointer as ours are named. They tell a struct
// or array from its first field or element, which here share a cell.
func theirLabel(l *pointer.Label) string {
	v := l.Value()
	if v == nil {
		return l.String()
	}
	n := siteName(v)
	var t types.Type
	switch v := v.(type) {
	case *ssa.Function, *ssa.MakeInterface, *ssa.MakeMap, *ssa.MakeChan:
		return n
	case *ssa.Alloc, *ssa.Global:
		t = v.Type().Underlying().(*types.Pointer).Elem()
	default: // a slice
		t = types.NewArray(v.Type().Underlying().(*types.Slice).Elem(), 1)
	}
	path := ""
	rest := strings.ReplaceAll(l.Path(), "[*]", ".[]")
	for _, step := range strings.Split(rest, ".")[1:] {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for i := range u.NumFields() {
				if u.Field(i).Name() == step {
					t = u.Field(i).Type()
					break
				}
			}
			path += "." + step
		case *types.Array:
			t, path = u.Elem(), path+"[]"
		}
	}
	for {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			if u.NumFields() > 0 {
				t, path = u.Field(0).Type(), path+"."+u.Field(0).Name()
				continue
			}
		case *types.Array:
			t, path = u.Elem(), path+"[]"
			continue
		}
		return n + arrays.ReplaceAllString(path, "[]")
	}
}
