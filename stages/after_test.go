package stages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/progen"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// plainAfter is the plain twin of after: rules (P1) to (P3), spot by spot.
type plainAfter struct {
	full    map[pta.InstID]bool
	partial map[spot]bool
}

func newPlainAfter(v *stage.View, t int, signals []spot) *plainAfter {
	a := &plainAfter{map[pta.InstID]bool{}, map[spot]bool{}}
	var todo []spot
	push := func(s spot) {
		if !a.partial[s] {
			a.partial[s] = true
			todo = append(todo, s)
		}
	}
	var fill func(n pta.InstID)
	fill = func(n pta.InstID) {
		if a.full[n] {
			return
		}
		a.full[n] = true
		for _, e := range v.Res.Insts[n].Out {
			if !stage.IsSpawn(e.Kind) && v.Has(n, e) {
				fill(e.Callee)
			}
		}
	}
	for _, s := range signals {
		push(s)
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[s.Inst].Out {
			if stage.IsSpawn(e.Kind) || !v.Has(s.Inst, e) || !v.Runs(t, e.Callee) {
				continue
			}
			for _, p := range v.PointsOf(s.Inst, e.Kind, e.Row) {
				if v.Flow(s.Inst).MayFollow(s.Point, p) { // (P1), (P2)
					fill(e.Callee)
				}
			}
		}
		for _, c := range v.In(s.Inst) { // (P3)
			if stage.IsSpawn(c.Kind) || !v.Runs(t, c.Inst) {
				continue
			}
			for _, p := range v.PointsOf(c.Inst, c.Kind, c.Row) {
				push(spot{c.Inst, p})
			}
			if c.Kind == pta.EdgeAny && v.Runs(t, s.Inst) {
				fill(s.Inst)
			}
		}
	}
	return a
}

func (a *plainAfter) has(v *stage.View, n pta.InstID, p uint32) bool {
	if a.full[n] {
		return true
	}
	for s := range a.partial {
		if s.Inst == n && v.Flow(n).MayFollow(s.Point, p) {
			return true
		}
	}
	return false
}

// TestAfter compares after with its plain twin, for sets of spots of generated
// programs: what a thread runs, and as they come.
func TestAfter(t *testing.T) {
	var names []string
	var progs []*progen.Program
	for s := range uint64(60) {
		names = append(names, fmt.Sprintf("p%05d", s))
		progs = append(progs, progen.Generate(s, progen.Config{}))
	}
	dir := t.TempDir()
	if err := progen.WriteModule(dir, names, progs); err != nil {
		t.Fatal(err)
	}
	// fmt calls methods of what it prints, any number of times.
	printer := "package main\n\nimport \"fmt\"\n\ntype T struct{ n int }\n\nfunc (t *T) String() string {\n\tt.n++\n\treturn fmt.Sprint(t.n)\n}\n\n" +
		"func main() {\n\tt := &T{}\n\tgo func() { fmt.Println(t) }()\n\tfmt.Println(t)\n}\n"
	if err := os.MkdirAll(filepath.Join(dir, "printer"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "printer", "main.go"), []byte(printer), 0o666); err != nil {
		t.Fatal(err)
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}, Models: models.Files()})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	in, out := 0, 0
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			t.Fatal(err)
		}
		sol, err := pta.Analyze(context.Background(), fp, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1})
		if err != nil {
			t.Fatal(err)
		}
		v := stage.NewView(stage.NewWorld(sol), stage.AllEntries)
		var spots []spot // of what the user wrote, and some others
		for n := 1; n < len(sol.Insts); n++ {
			if f := sol.Func(pta.InstID(n)); f != nil && v.Live.Has(n) && (f.Pkg == p.Path || rng.IntN(20) == 0) {
				for q := range f.Points {
					spots = append(spots, spot{pta.InstID(n), uint32(q)})
				}
			}
		}
		rounds := 12
		if path.Base(p.Path) == "printer" {
			rounds = 100
		}
		for range rounds {
			th := rng.IntN(len(v.Threads))
			var signals, at []spot
			for range 1 + rng.IntN(3) {
				signals = append(signals, spots[rng.IntN(len(spots))])
				at = append(at, spots[rng.IntN(len(spots))])
			}
			got, want := newAfter(v, th, signals), newPlainAfter(v, th, signals)
			any := false
			for _, s := range at {
				any = any || want.has(v, s.Inst, s.Point)
			}
			if x := got.HasAny(v, at, leading(v, at)); x != any {
				t.Errorf("%s: thread %d, any of %v after %v: %v, plain %v", p.Path, th, at, signals, x, any)
			}
			for _, s := range spots {
				x, y := got.Has(v, s.Inst, s.Point), want.has(v, s.Inst, s.Point)
				if x != y {
					t.Fatalf("%s: thread %d, %v after %v: %v, plain %v", p.Path, th, s, signals, x, y)
				}
				if x {
					in++
				} else {
					out++
				}
			}
		}
	}
	t.Logf("%d points after, %d not", in, out)
	if in < 1000 || out < 1000 {
		t.Errorf("%d points are after and %d are not: the programs say little", in, out)
	}
}
