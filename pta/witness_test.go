package pta_test

import (
	"context"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/pta"
)

// witness runs the program and reports what the run saw and a solution has not:
// ours under every policy, or theirs, but for conversions of structs, which lose
// fields there. It returns how many facts the run saw, and why main did not
// return, if it did not.
func (tw *twin) witness(t *testing.T) (facts int, end string) {
	t.Helper()
	m := run(tw.main)
	tw.within(t, m, "go/pointer", tw.theirs, tw.structs())
	for _, pol := range policies {
		sol := tw.ours
		if pol.Policy != pta.Insens {
			r, err := pta.Analyze(context.Background(), tw.linked, pta.Config{Policy: pol.Policy, K: pol.k, HK: -1})
			if err != nil {
				t.Fatal(err)
			}
			sol = tw.project(r)
		}
		tw.within(t, m, pol.String(), sol, false)
	}
	for _, ls := range m.seen {
		facts += len(ls)
	}
	for _, fns := range m.calls {
		facts += len(fns)
	}
	return facts, m.end
}

// within reports what the machine saw and sol has not, unless it may miss some.
func (tw *twin) within(t *testing.T, m *machine, name string, sol solution, mayMiss bool) {
	t.Helper()
	var missed []string
	for v, labels := range m.seen {
		want, asked := sol.pts[tw.same(v)]
		if !asked || isFreeVar(v) {
			continue
		}
		for l := range labels {
			if _, ok := slices.BinarySearch(want, l); !ok {
				missed = append(missed, tw.fset.Position(v.Pos()).String()+" "+v.Parent().String()+" "+v.Name()+" = "+v.String()+" pointed to "+l)
			}
		}
	}
	for c, fns := range m.calls {
		if c.Parent() == nil {
			continue
		}
		p := tw.fset.Position(c.Pos())
		want := sol.callees[tw.callSite(tw.canon(c.Parent()), p.Line, p.Column)]
		for fn := range fns {
			if _, ok := slices.BinarySearch(want, siteName(fn)); !ok {
				missed = append(missed, p.String()+" "+c.Parent().String()+" called "+fn.String())
			}
		}
	}
	for fn := range m.entered {
		if tw.facts[fn] != nil && !sol.reached[fn] {
			missed = append(missed, fn.String()+" was entered")
		}
	}
	sort.Strings(missed)
	if len(missed) > 0 && !mayMiss {
		t.Errorf("%s: %s misses %d facts of a run:\n%s", tw.name, name, len(missed), strings.Join(missed[:min(len(missed), 10)], "\n"))
	}
}
