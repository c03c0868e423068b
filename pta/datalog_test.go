package pta

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bfverify/bfverify/export/datalog"
	"github.com/bfverify/bfverify/facts"
)

var (
	datalogSystems = flag.Int("datalog-systems", 40, "random systems of TestDatalog")
	datalogFrom    = flag.Uint64("datalog-from", 0, "the first of their seeds")
	datalogSize    = flag.Int("datalog-size", 20, "how many times larger every third of them is")
	datalogFacts   = flag.Int("datalog-facts", 100_000, "how many facts a program may have that Z3 is asked about")
)

// NeedsZ3 skips a test that asks Z3 where it is not installed.
func NeedsZ3(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("z3"); err != nil {
		t.Skip("z3 is not installed: scripts/z3.sh installs it where apt-get can, and make test calls that")
	}
}

// answer is what Z3 prints of one Datalog program.
type answer struct {
	pts     map[uint32]map[uint32]bool
	calls   map[uint32]map[uint32]bool
	outside []uint32 // functions
}

var tuple = regexp.MustCompile(`^\t\(\w+=(\d+)\(\d+\)(?:,\w+=(\d+)\(\d+\))?\)$`)

// ask writes p as Datalog and runs Z3 on it.
func ask(t *testing.T, p *facts.Program) (*datalog.Program, *answer) {
	t.Helper()
	var b bytes.Buffer
	d, err := datalog.Write(&b, p)
	if err != nil {
		t.Fatal(err)
	}
	if d.Facts > *datalogFacts {
		t.Skipf("%d facts", d.Facts)
	}
	file := filepath.Join(t.TempDir(), "p.datalog")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	start := time.Now()
	out, err := exec.CommandContext(ctx, "z3", append(slices.Clone(datalog.Options), file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("z3: %v\n%s", err, out[:min(len(out), 2000)])
	}
	took := time.Since(start)
	a := &answer{pts: map[uint32]map[uint32]bool{}, calls: map[uint32]map[uint32]bool{}}
	var rel map[uint32]map[uint32]bool
	for _, line := range strings.Split(string(out), "\n") {
		m := tuple.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "Tuples in pts:"):
			rel = a.pts
		case strings.HasPrefix(line, "Tuples in calls:"):
			rel = a.calls
		case strings.HasPrefix(line, "Tuples in outside:"):
			rel = nil
		case m != nil && rel == nil:
			x, _ := strconv.ParseUint(m[1], 10, 32)
			a.outside = append(a.outside, uint32(x))
		case m != nil && m[2] != "":
			x, _ := strconv.ParseUint(m[1], 10, 32)
			y, _ := strconv.ParseUint(m[2], 10, 32)
			if rel[uint32(x)] == nil {
				rel[uint32(x)] = map[uint32]bool{}
			}
			rel[uint32(x)][uint32(y)] = true
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "Time:"), strings.HasPrefix(line, "Parsing:"):
		default:
			t.Fatalf("z3 says %q", line)
		}
	}
	pairs := 0
	for _, s := range a.pts {
		pairs += len(s)
	}
	t.Logf("%d facts, %d pairs, %.2f s", d.Facts, pairs, took.Seconds())
	asked.programs++
	asked.most = max(asked.most, d.Facts)
	asked.slowest = max(asked.slowest, took)
	return d, a
}

// asked is what Z3 was asked.
var asked struct {
	programs, most int
	slowest        time.Duration
}

// datalogDifferences compares a result without contexts with what Z3 found:
// points-to sets of variables and cells, and calls.
func datalogDifferences(r *Result, d *datalog.Program, a *answer) []string {
	var out []string
	// Cells by what the object is.
	type key struct {
		kind ObjKind
		a, b uint32
	}
	keyOf := func(o ObjID) key {
		switch ob := &r.Objs[o]; ob.Kind {
		case ObjGlobal:
			return key{ObjGlobal, uint32(ob.Global), 0}
		case ObjFunc:
			return key{ObjFunc, uint32(ob.Fn), 0}
		default:
			return key{ObjSite, uint32(ob.Fn), uint32(ob.Site)}
		}
	}
	first := map[key]uint32{}
	names := map[uint32]string{}
	hidden := map[uint32]uint32{} // by the cell they hang on
	for _, o := range d.Objects {
		k := key{ObjSite, uint32(o.Fn), uint32(o.Site)}
		switch {
		case o.Of != 0:
			hidden[o.Of] = o.First
		case o.Global != 0:
			k = key{ObjGlobal, uint32(o.Global), 0}
		case o.Value != 0:
			k = key{ObjFunc, uint32(o.Value), 0}
		}
		if o.Of == 0 {
			first[k] = o.First
		}
		for i := range o.N {
			names[o.First+i] = fmt.Sprintf("%v+%d", o, i)
		}
	}
	cell := func(p uint32) uint32 {
		o, off := r.Object(p)
		if ob := &r.Objs[o]; ob.Kind == ObjGhost {
			of, i := r.Object(ob.Of)
			return hidden[first[keyOf(of)]+i]
		}
		return first[keyOf(o)] + off
	}
	seen := map[uint32]bool{}
	compare := func(what func() string, node uint32, s *Set) {
		seen[node] = true
		got := map[uint32]bool{}
		for _, p := range s.Elems(nil) {
			c := cell(p)
			got[c] = true
			if !a.pts[node][c] {
				out = append(out, fmt.Sprintf("%s: the solver alone has %s", what(), names[c]))
			}
		}
		for c := range a.pts[node] {
			if !got[c] {
				out = append(out, fmt.Sprintf("%s: LOST by the solver: %s", what(), names[c]))
			}
		}
	}
	calls := map[datalog.Call]map[uint32]bool{}
	for i := 1; i < len(r.Insts); i++ {
		f := r.Func(InstID(i))
		if f == nil {
			continue
		}
		for v, reg := range f.Regs {
			if reg.Type != 0 {
				for leaf := range r.Prog.Layout(reg.Type).Ptrs {
					compare(func() string { return fmt.Sprintf("f%d r%d.%d", f.ID, v, leaf) }, d.Var(f.ID, facts.Reg(v), uint32(leaf)), r.PointsTo(InstID(i), facts.Reg(v), uint32(leaf)))
				}
			}
		}
		for _, e := range r.Insts[i].Out {
			k := datalog.Call{Fn: f.ID, Row: e.Row}
			if calls[k] == nil {
				calls[k] = map[uint32]bool{}
			}
			calls[k][uint32(r.Insts[e.Callee].Fn)] = true
		}
	}
	for o := 1; o < len(r.Objs); o++ {
		for i := range r.Objs[o].N {
			p := r.Objs[o].Node + i
			c := cell(p)
			compare(func() string { return "in " + names[c] }, c, r.Content(p))
		}
	}
	for n, s := range a.pts {
		if !seen[n] && len(s) > 0 {
			out = append(out, fmt.Sprintf("node %d: LOST by the solver: all", n))
		}
	}
	for s, c := range d.Calls {
		for g := range calls[c] {
			if !a.calls[uint32(s)][g] {
				out = append(out, fmt.Sprintf("f%d call %d: the solver alone calls f%d", c.Fn, c.Row, g))
			}
		}
		for g := range a.calls[uint32(s)] {
			if !calls[c][g] {
				out = append(out, fmt.Sprintf("f%d call %d: LOST call of f%d", c.Fn, c.Row, g))
			}
		}
	}
	slices.Sort(out)
	return out
}

// CheckDatalog compares the solver without contexts with Z3's Datalog engine on
// the same facts and rules.
func CheckDatalog(t *testing.T, p *facts.Program) {
	t.Helper()
	_, r := solveEagerly(p, Config{Policy: Insens, HK: -1}, early)
	d, a := ask(t, p)
	for _, f := range a.outside {
		t.Errorf("%s: %s", p.FuncName(facts.FuncID(f)), d.Outside[facts.FuncID(f)])
	}
	if diffs := datalogDifferences(r, d, a); len(diffs) > 0 {
		t.Errorf("%d differences\n%s", len(diffs), strings.Join(diffs[:min(len(diffs), 10)], "\n"))
	}
}

// TestDatalog does so on random systems.
func TestDatalog(t *testing.T) {
	NeedsZ3(t)
	for i := range uint64(*datalogSystems) {
		t.Run(fmt.Sprint("seed ", i), func(t *testing.T) {
			size := 1
			if i%3 == 2 {
				size = *datalogSize
			}
			rec := newSystemOf(*datalogFrom+i, size)
			for _, f := range rec.Funcs {
				f.Flags &^= facts.FnInline // has contexts under every policy
			}
			p := program(rec)
			CheckDatalog(t, p)
			if t.Failed() {
				t.Log("\n" + text(p))
			}
		})
	}
	t.Logf("Z3 was asked about %d programs of at most %d facts, and took at most %.2f s", asked.programs, asked.most, asked.slowest.Seconds())
	if *datalogSystems >= 40 && asked.most < 20_000 {
		t.Error("no system is as large as it should be")
	}
}
