package pta_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

type policy struct {
	pta.Policy
	k int
}

func (p policy) String() string { return fmt.Sprint(string(p.Policy), " k=", p.k) }

// short is the policy with its k, as in comments: hybrid2.
func (p policy) short() string { return fmt.Sprint(string(p.Policy), p.k) }

var policies = []policy{{pta.Insens, 0}, {pta.Obj, 1}, {pta.Hybrid, 1}, {pta.Hybrid, 2}}

type solved struct {
	prog *facts.Program
	policy
}

var (
	solvedMu sync.Mutex
	results  = map[solved]*pta.Result{}
)

func solve(t *testing.T, p *facts.Program, pol policy) *pta.Result {
	t.Helper()
	solvedMu.Lock()
	defer solvedMu.Unlock()
	if r := results[solved{p, pol}]; r != nil {
		return r
	}
	r, err := pta.Analyze(context.Background(), p, pta.Config{Policy: pol.Policy, K: pol.k, HK: -1})
	if err != nil {
		t.Fatal(err)
	}
	results[solved{p, pol}] = r
	return r
}

func TestPrograms(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.progs {
		t.Run(filepath.Base(p.Path), func(t *testing.T) {
			for _, pol := range policies {
				c := &checker{T: t, l: l, r: solve(t, p, pol), pol: pol}
				c.report = c.fail
				if n := c.check(); n < 5 {
					t.Errorf("%s: only %d expectations", pol, n)
				}
			}
		})
	}
}

// projection is a result without contexts: for each register what it points
// to, as text.
func projection(r *pta.Result) map[string]bool {
	out := map[string]bool{}
	var name func(o pta.ObjID) string
	name = func(o pta.ObjID) string {
		ob := &r.Objs[o]
		switch ob.Kind {
		case pta.ObjGhost:
			of, off := r.Object(ob.Of)
			return fmt.Sprint("ghost ", name(of), off)
		case pta.ObjArith:
			return "in " + name(pta.ObjID(ob.Of))
		case pta.ObjMethod: // of what a register of a model holds
			return "method"
		case pta.ObjRef:
			of, off := r.Object(ob.Of)
			return fmt.Sprint(ob.Kind, " ", ob.As, " at ", name(of), off)
		case pta.ObjUnboxed:
			return "copy of " + name(pta.ObjID(ob.Of))
		case pta.ObjType:
			return fmt.Sprint("type ", ob.Of)
		}
		return fmt.Sprint(ob.Kind, ob.Fn, ob.Site, ob.Global)
	}
	names := make([]string, len(r.Objs))
	for o := range names {
		if o > 0 {
			names[o] = name(pta.ObjID(o))
		}
	}
	for id := range r.Insts {
		i := pta.InstID(id)
		if i == 0 || r.Func(i) == nil {
			continue
		}
		f := r.Func(i)
		for v := range f.Regs {
			n := 0
			if t := f.Regs[v].Type; t != 0 {
				n = len(r.Prog.Layout(t).Ptrs)
			}
			for leaf := range n {
				r.PointsTo(i, facts.Reg(v), uint32(leaf)).Each(func(p uint32) {
					o, off := r.Object(p)
					out[fmt.Sprint(f.ID, " ", v, " ", leaf, " ", names[o], " ", off)] = true
				})
			}
		}
		for _, e := range r.Insts[i].Out {
			out[fmt.Sprint(f.ID, " calls ", e.Kind, e.Row, " ", r.Insts[e.Callee].Fn)] = true
		}
	}
	return out
}

// TestMonotone checks that more context never adds a points-to pair or a call
// once contexts are projected away.
func TestMonotone(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	order := [][2]policy{
		{{pta.Insens, 0}, {pta.Obj, 1}},
		{{pta.Insens, 0}, {pta.Hybrid, 1}},
		{{pta.Hybrid, 1}, {pta.Hybrid, 2}},
	}
	for _, p := range l.progs {
		proj := map[policy]map[string]bool{}
		for _, pol := range policies {
			proj[pol] = projection(solve(t, p, pol))
		}
		for _, o := range order {
			extra := 0
			for x := range proj[o[1]] {
				if !proj[o[0]][x] {
					if extra++; extra < 6 {
						t.Errorf("%s: %s has %s, %s has not (function %s)", p.Path, o[1], x, o[0], funcOf(p, x))
					}
				}
			}
		}
	}
}

func funcOf(p *facts.Program, x string) string {
	var id facts.FuncID
	fmt.Sscan(x, &id)
	return p.FuncName(id)
}

// TestDeterministic checks that two runs give the same numbers and sets.
func TestDeterministic(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.progs {
		pol := policy{pta.Hybrid, 1}
		a := solve(t, p, pol)
		b, err := pta.Analyze(context.Background(), p, pta.Config{Policy: pol.Policy, K: pol.k, HK: -1})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(a.Insts, b.Insts, func(x, y pta.Inst) bool {
			return x.Fn == y.Fn && x.Ctx == y.Ctx && x.Base == y.Base && slices.Equal(x.Out, y.Out)
		}) {
			t.Fatalf("%s: instances differ", p.Path)
		}
		if !slices.Equal(a.Objs, b.Objs) {
			t.Fatalf("%s: objects differ", p.Path)
		}
		for id := range a.Insts {
			i := pta.InstID(id)
			if i == 0 || a.Func(i) == nil {
				continue
			}
			for v, r := range a.Func(i).Regs {
				if r.Type == 0 {
					continue
				}
				for leaf := range a.Prog.Layout(r.Type).Ptrs {
					if !a.PointsTo(i, facts.Reg(v), uint32(leaf)).Equal(b.PointsTo(i, facts.Reg(v), uint32(leaf))) {
						t.Fatalf("%s: %s register %d differs", p.Path, a.Func(i).Name, v)
					}
				}
			}
		}
		for _, o := range a.Objs[1:] {
			for c := range o.N {
				if !a.Content(o.Node + c).Equal(b.Content(o.Node + c)) {
					t.Fatalf("%s: cell %d differs", p.Path, o.Node+c)
				}
			}
		}
	}
}

// TestBudget checks that an analysis ends with its context and its budget.
func TestBudget(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range l.progs {
		if filepath.Base(p.Path) != "std" {
			continue
		}
		if _, err := pta.Analyze(ctx, p, pta.Config{Policy: pta.Insens}); err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
	}
}
