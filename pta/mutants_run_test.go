//go:build mutants

package pta_test

import (
	"context"
	"flag"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

var firstFlag = flag.Uint("first", 0, "which mutants run, if not all")

// some is how many mutants run without -mutants.
const some = 30

// TestMutantsRun runs mutants; TestMutants builds it.
func TestMutantsRun(t *testing.T) {
	ms := readMutants(t)
	switch n := len(ms); *mutantsFlag {
	case "all":
	case "survey": // those that nothing kills yet
		for i, m := range ms {
			if len(m.kills) > 0 {
				ms[i] = nil
			}
		}
	case "":
		for i := range n {
			if (i+n-int(*firstFlag%uint(n)))%(n/some) != 0 {
				ms[i] = nil
			}
		}
	default:
		for i, m := range ms {
			if !strings.Contains(m.rule, *mutantsFlag) {
				ms[i] = nil
			}
		}
	}
	// What extraction does is extracted anew.
	all, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		if m == nil {
			continue
		}
		t.Run(m.rule, func(t *testing.T) {
			facts.Mutant = m.id
			defer func() { facts.Mutant = 0 }()
			l := all
			if !strings.HasPrefix(m.file, "pta/") {
				*only = strings.Join(m.programs(), ",")
				if *mutantsFlag == "survey" {
					*only = "flow,basic,calls"
				}
				if l, err = loadPrograms(); err != nil {
					t.Fatal(err)
				}
			}
			m.run(t, l)
		})
	}
}

// programs returns the programs that kill m.
func (m *mutant) programs() []string {
	var ps []string
	for _, k := range m.kills {
		p, _, _ := strings.Cut(k.fn, ".")
		ps = append(ps, p)
	}
	slices.Sort(ps)
	return slices.Compact(ps)
}

// run looks for the expectations that kill m: with -mutants survey, for all that
// do.
func (m *mutant) run(t *testing.T, l *loaded) {
	start := time.Now()
	seen := map[kill]bool{}
	survey := *mutantsFlag == "survey"
	killed := func() bool {
		return !survey && !slices.ContainsFunc(m.kills, func(k kill) bool { return !seen[k] })
	}
	cheap := []string{"flow", "contexts", "classes", "basic", "calls", "views", "words", "values", "std", "pieces", "errorsAs"}
	for _, pol := range []policy{{pta.Hybrid, 1}, {pta.Insens, 0}, {pta.Obj, 1}, {pta.Hybrid, 2}} {
		if survey && pol.k != 1 && !strings.HasSuffix(m.file, "context.go") {
			break
		}
		for _, name := range cheap {
			i := slices.IndexFunc(l.progs, func(p *facts.Program) bool { return path.Base(p.Path) == name })
			switch {
			case i < 0 || killed():
			case survey && len(seen) > 0:
			case survey || slices.Contains(m.programs(), name):
				m.solve(t, l, l.progs[i], pol, seen)
			}
		}
	}
	for _, k := range m.kills {
		if !seen[k] {
			t.Errorf("%s does not fail", k)
		}
	}
	var by []string
	for k := range seen {
		by = append(by, k.String())
	}
	slices.Sort(by)
	t.Logf("%.1f s, killed by %d:\n\t%s", time.Since(start).Seconds(), len(by), strings.Join(by, "\n\t"))
}

// solve adds to seen the expectations of p that fail without the rule.
func (m *mutant) solve(t *testing.T, l *loaded, p *facts.Program, pol policy, seen map[kill]bool) {
	defer func() {
		if x := recover(); x != nil {
			t.Logf("%s: %s: panic: %v", p.Path, pol, x)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := pta.Analyze(ctx, p, pta.Config{Policy: pol.Policy, K: pol.k, HK: -1})
	if err != nil {
		t.Logf("%s: %s: %v", p.Path, pol, err)
		return
	}
	c := &checker{t, l, r, pol, func(line string, diff, _ []string) {
		for _, d := range diff {
			seen[kill{l.funcs[line], d}] = true
		}
	}}
	c.check()
}
