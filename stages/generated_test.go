package stages_test

import (
	"context"
	"flag"
	"fmt"
	"path"
	"testing"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/engine"
	"github.com/bfverify/bfverify/internal/progen"
	"github.com/bfverify/bfverify/stages"
)

var (
	genPrograms = flag.Int("programs", 300, "generated programs to verify")
	genSeed     = flag.Uint64("firstseed", 1, "seed of the first generated program")
	genFamily   = flag.String("family", "", "prefix of the families that are mutated")
	genCtx      = flag.String("policy", "hybrid", "context policy")
)

// TestFamilies verifies the library of hand-written programs, most of them
// twins of which one races.
func TestFamilies(t *testing.T) {
	var names []string
	var progs []*progen.Program
	for _, f := range progen.Families() {
		names = append(names, f.Name)
		progs = append(progs, f.Program())
	}
	for _, policy := range []string{"insens", "hybrid"} {
		t.Run(policy, func(t *testing.T) { againstOracle(t, policy, names, progs) })
	}
}

// TestGenerated verifies generated programs: none that can race is proved.
func TestGenerated(t *testing.T) {
	for from := *genSeed; from < *genSeed+uint64(*genPrograms); from += 500 {
		var names []string
		var progs []*progen.Program
		for s := from; s < min(from+500, *genSeed+uint64(*genPrograms)); s++ {
			names = append(names, fmt.Sprintf("p%05d", s))
			progs = append(progs, progen.Generate(s, progen.Config{Family: *genFamily}))
		}
		againstOracle(t, *genCtx, names, progs)
	}
}

// againstOracle fails if a program is proved that the exhaustive interpreter
// finds a race in, or if a pair of lines that it finds racing is in no open
// pair. It logs how many of the race-free ones are proved.
func againstOracle(t *testing.T, policy string, names []string, progs []*progen.Program) {
	t.Helper()
	dir := t.TempDir()
	if err := progen.WriteModule(dir, names, progs); err != nil {
		t.Fatal(err)
	}
	by := map[string]*progen.Program{}
	for i, n := range names {
		by[n] = progs[i]
	}
	var safe, proved, racy int
	_, err := engine.Run(context.Background(), engine.Config{
		Load:   load.Config{Dir: dir, Patterns: []string{"./..."}},
		Verify: stages.Options{Ctx: policy, K: 1, HK: -1},
	}, func(p *load.Program, rs []export.Result) error {
		prog := by[path.Base(p.Path)]
		res := prog.Explore(20000)
		if res.Racy() {
			racy++
			open := map[int]bool{}
			for _, pr := range rs[0].Pairs {
				open[pr.A.Pos.Line], open[pr.B.Pos.Line] = true, true
			}
			if rs[0].Verdict == export.Proved {
				t.Errorf("UNSOUND: %s is proved and races at lines %v:\n%s", p.Path, prog.Lines(res.Races), prog.Source())
				return nil
			}
			for _, l := range prog.Lines(res.Races) {
				if !open[l[0]] || !open[l[1]] {
					t.Errorf("MISSED: %s races at lines %v, not both in open pairs:\n%s", p.Path, l, prog.Source())
				}
			}
			return nil
		}
		if len(res.Misuse) == 0 && res.Complete {
			safe++
			if rs[0].Verdict == export.Proved {
				proved++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d racy, of %d race-free programs %d proved", policy, racy, safe, proved)
}
