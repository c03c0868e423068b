package stages_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/engine"
	"github.com/bfverify/bfverify/stages"
)

// want matches an expectation on a line of a test program:
//
//	want: race          a real race: the line is in an open pair (soundness)
//	want: proof STAGE   no pair of the line is open, and STAGE or an earlier one
//	                    refutes each (precision)
//	want: alarm "why"   a false alarm that we accept; fails when it goes away
//
// A line without expectation is in no open pair.
var want = regexp.MustCompile(`// want: (race|proof|alarm)(?: (\S+))?`)

var twinFiles = flag.String("twins", "*", "which files of testdata are verified")

// twins loads the programs of all testdata files as one module: file NAME.txtar
// holds main packages in folders of its own.
func twins(t *testing.T) (dir string, files map[string]string) {
	t.Helper()
	return unpack(t, "testdata/"+*twinFiles+".txtar")
}

func unpack(t *testing.T, pattern string) (dir string, files map[string]string) {
	t.Helper()
	dir = t.TempDir()
	files = map[string]string{}
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module twins\n\ngo 1.26\n")
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatal("no test programs", err)
	}
	for _, n := range names {
		a, err := txtar.ParseFile(n)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(n), ".txtar")
		for _, f := range a.Files {
			name := filepath.Join(base, f.Name)
			write(name, string(f.Data))
			files[name] = string(f.Data)
		}
	}
	return dir, files
}

// outcome is what the stages said of one line.
type outcome struct {
	open    bool
	deepest int // the lowest row of the pipeline that refuted a pair of the line
}

// TestTwins checks every expectation, under each policy for soundness and
// under hybrid, the default, for precision too.
func TestTwins(t *testing.T) {
	dir, files := twins(t)
	rank := map[string]int{}
	for i, s := range stages.Pipeline {
		rank[s.Name] = i
	}
	for _, policy := range []string{"hybrid", "obj", "insens"} {
		t.Run(policy, func(t *testing.T) {
			got := map[string]*outcome{}
			at := func(p export.Pos) *outcome {
				k := fmt.Sprint(p.File, ":", p.Line)
				if got[k] == nil {
					got[k] = &outcome{}
				}
				return got[k]
			}
			opt := stages.Options{Ctx: policy, K: 1, HK: -1, RelFile: func(s string) string {
				r, err := filepath.Rel(dir, s)
				if err != nil {
					return s
				}
				return r
			}}
			opt.Trace = func(w export.WhyRow) {
				for _, o := range []*outcome{at(w.A.Pos), at(w.B.Pos)} {
					if s, ok := strings.CutPrefix(w.Outcome, "refuted by "); ok {
						o.deepest = max(o.deepest, rank[s])
					}
				}
			}
			_, err := engine.Run(context.Background(), engine.Config{
				Load: load.Config{Dir: dir, Patterns: []string{"./..."}, Tests: true}, Verify: opt,
			}, func(p *load.Program, rs []export.Result) error {
				for _, r := range rs {
					for _, pr := range r.Pairs {
						at(pr.A.Pos).open, at(pr.B.Pos).open = true, true
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				for i, line := range strings.Split(text, "\n") {
					key := fmt.Sprint(name, ":", i+1)
					o := got[key]
					if o == nil {
						o = &outcome{}
					}
					m := want.FindStringSubmatch(line)
					switch {
					case m != nil && m[1] == "race":
						if !o.open {
							t.Errorf("%s: UNSOUND: a race is in no open pair: %s", key, strings.TrimSpace(line))
						}
					case policy != "hybrid":
					case m == nil && o.open:
						t.Errorf("%s: in an open pair, unexpectedly: %s", key, strings.TrimSpace(line))
					case m == nil:
					case m[1] == "alarm" && !o.open:
						t.Errorf("%s: the false alarm is gone: remove the expectation: %s", key, strings.TrimSpace(line))
					case m[1] == "proof" && o.open:
						t.Errorf("%s: not proved: %s", key, strings.TrimSpace(line))
					case m[1] == "proof" && o.deepest == 0:
						t.Errorf("%s: no pair was refuted here: %s", key, strings.TrimSpace(line))
					case m[1] == "proof" && o.deepest > rank[m[2]]:
						t.Errorf("%s: refuted by %s, not by %s or earlier: %s", key, stages.Pipeline[o.deepest].Name, m[2], strings.TrimSpace(line))
					}
				}
			}
		})
	}
}

// TestRacy holds that no program of testdata/racy, all of which race, is proved
// under any policy. Test binaries, which cost most, are run under the default one.
func TestRacy(t *testing.T) {
	dir, _ := unpack(t, "testdata/racy/*.txtar")
	for _, policy := range []string{"insens", "obj", "hybrid"} {
		_, err := engine.Run(context.Background(), engine.Config{
			Load: load.Config{Dir: dir, Patterns: []string{"./..."}, Tests: policy == "hybrid"}, Verify: stages.Options{Ctx: policy, K: 1, HK: -1},
		}, func(p *load.Program, rs []export.Result) error {
			if rs[0].Verdict != export.Open {
				t.Errorf("UNSOUND: %s, which races, is %s under %s", p.Path, rs[0].Verdict, policy)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStagesOff holds that switching a stage off never loses an open pair.
func TestStagesOff(t *testing.T) {
	dir, _ := twins(t)
	open := func(off string) map[string]bool {
		got := map[string]bool{}
		_, err := engine.Run(context.Background(), engine.Config{
			Load:   load.Config{Dir: dir, Patterns: []string{"./..."}},
			Verify: stages.Options{Ctx: "hybrid", K: 1, HK: -1, Off: map[string]bool{off: true}},
		}, func(p *load.Program, rs []export.Result) error {
			for _, r := range rs {
				for _, pr := range r.Pairs {
					got[fmt.Sprint(p.Path, pr.A.Pos, pr.A.Op, pr.B.Pos, pr.B.Op)] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := open("")
	for _, s := range stages.Pipeline[3:] {
		without := open(s.Name)
		if len(without) <= len(all) {
			t.Errorf("without %s there are %d open pairs, with it %d: the programs do not need it", s.Name, len(without), len(all))
		}
		for k := range all {
			if !without[k] {
				t.Errorf("without %s the open pair %s is gone", s.Name, k)
			}
		}
	}
}

// TestOrder holds Pipeline to the order that it documents.
// runTwins verifies all twin programs and gives each result to f.
func runTwins(t *testing.T, ctx string, f func(p *load.Program, r *export.Result)) {
	t.Helper()
	dir, _ := twins(t)
	runAll(t, dir, ctx, f)
}

func runAll(t *testing.T, dir, ctx string, f func(p *load.Program, r *export.Result)) {
	t.Helper()
	_, err := engine.Run(context.Background(), engine.Config{
		Load:   load.Config{Dir: dir, Patterns: []string{"./..."}},
		Verify: stages.Options{Ctx: ctx, K: 1, HK: -1},
	}, func(p *load.Program, rs []export.Result) error {
		for i := range rs {
			f(p, &rs[i])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFunnel holds every row of the funnel against the one before it.
func TestFunnel(t *testing.T) {
	for _, ctx := range []string{"insens", "hybrid"} {
		runTwins(t, ctx, func(p *load.Program, r *export.Result) {
			if len(r.Funnel) != len(stages.Pipeline) {
				t.Fatalf("%s: %d rows for %d stages", p.Path, len(r.Funnel), len(stages.Pipeline))
			}
			last := r.Funnel[len(r.Funnel)-1]
			for i, row := range r.Funnel {
				if row.Tuples < row.Pairs || row.Pairs < 0 {
					t.Errorf("%s, %s: %d pairs have %d tuples", p.Path, row.Stage, row.Pairs, row.Tuples)
				}
				if i > 0 && (row.Pairs > r.Funnel[i-1].Pairs || row.Tuples > r.Funnel[i-1].Tuples) {
					t.Errorf("%s: %s leaves more than it gets: %v, then %v", p.Path, row.Stage, r.Funnel[i-1], row)
				}
			}
			if in := last.Pairs - int64(r.OutOfScope); in < 0 || (in == 0) != (r.Open == 0) {
				t.Errorf("%s: %d pairs left, of which %d out of scope, but %d open", p.Path, last.Pairs, r.OutOfScope, r.Open)
			}
		})
	}
}

// TestKinds compares verdicts with those of threads and order classes taken one
// by one.
func TestKinds(t *testing.T) {
	run := func() map[string]export.Result {
		out := map[string]export.Result{}
		one := func(p *load.Program, r *export.Result) {
			x := *r
			x.Funnel = nil
			for _, f := range r.Funnel {
				f.Seconds = 0
				x.Funnel = append(x.Funnel, f)
			}
			x.Pairs = nil
			for _, pr := range r.Pairs { // which goroutine is shown may differ
				pr.A.Goroutine, pr.B.Goroutine, pr.Missing = nil, nil, ""
				pr.A.Pos.File, pr.B.Pos.File = filepath.Base(pr.A.Pos.File), filepath.Base(pr.B.Pos.File)
				x.Pairs = append(x.Pairs, pr)
			}
			x.Assumptions = nil
			for _, a := range r.Assumptions { // each run unpacks into a directory of its own
				a.Pos.File = filepath.Base(a.Pos.File)
				x.Assumptions = append(x.Assumptions, a)
			}
			out[p.Path] = x
		}
		runTwins(t, "insens", one)
		racy, _ := unpack(t, "testdata/racy/*.txtar")
		runAll(t, racy, "hybrid", one)
		return out
	}
	together := run()
	stages.AllAlone(true)
	defer stages.AllAlone(false)
	for path, want := range run() {
		if got := together[path]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: together %+v\none by one %+v", path, got, want)
		}
	}
}

func TestOrder(t *testing.T) { stages.CheckOrder(t.Errorf) }

// TestSameBytes holds two runs to equal results, times apart.
func TestSameBytes(t *testing.T) {
	dir, _ := twins(t)
	run := func() string {
		var b strings.Builder
		_, err := engine.Run(context.Background(), engine.Config{
			Load:   load.Config{Dir: dir, Patterns: []string{"./..."}},
			Verify: stages.Options{Ctx: "hybrid", K: 1, HK: -1},
		}, func(p *load.Program, rs []export.Result) error {
			for _, r := range rs {
				for i := range r.Funnel {
					r.Funnel[i].Seconds = 0
				}
				fmt.Fprintf(&b, "%+v\n", r)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	a, b := run(), run()
	if a != b {
		t.Error("two runs differ")
	}
}
