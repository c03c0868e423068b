// Package popl07 measures the verifier on programs with the shapes of those in section
// 6 of the POPL'07 paper on conditional must not aliasing, written afresh in Go: philo,
// elevator, tsp and ftp. Command tables prints what it finds beside what the paper says.
//
// The programs say on their lines what is known of them:
//
//	// want: race LOCATION         a race on LOCATION that the race detector has seen
//	// want: race LOCATION, rare   one that few runs show, or that another one on the
//	                               same variable hides
//	// want: alarm LOCATION "why"  a false alarm on LOCATION, and the fact that is missing
//	// want: outside "why"         a race inside of a library, on what that has made:
//	                               such pairs are out of scope, and counted
//
// An open pair is real if both of its lines say so of its location, and a false alarm
// if one of them says so; a pair of which neither holds has no account.
package popl07

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages"
)

// Program is one program, with the paper's k and figures.
type Program struct {
	Name  string
	K     int
	Paper Paper
}

// Paper is figures 10 to 12, in pairs: lines of the application; pairs after the stages
// original, may-happen-in-parallel and global-lock; real races and false alarms open in
// the end.
type Paper struct{ Lines, Original, Parallel, GlobalLock, Real, False int }

// Programs are those of the paper, in its order.
var Programs = []Program{
	{"philo", 1, Paper{84, 926, 35, 33, 3, 0}},
	{"elevator", 1, Paper{531, 662, 305, 305, 0, 0}},
	{"tsp", 1, Paper{706, 3379, 494, 140, 12, 18}},
	{"ftp", 2, Paper{21897, 55039, 1628, 1147, 187, 97}},
}

// Result is what the verifier says of one program. Pairs are counted once for two
// places in the source, however many objects, goroutines and contexts they stand for;
// what a library does, from the stage aliasing on, at the call in the program.
type Result struct {
	Program
	Lines   int
	Left    map[string]int // pairs that each stage of the pipeline leaves
	Real    []export.Pair  // open, and marked as races on both lines
	False   []Alarm        // open, and marked as false alarms
	NoMark  []export.Pair  // open without account
	Lost    []Mark         // races in no open pair
	Gone    []Mark         // false alarms in no open pair
	Marks   []Mark
	Seconds float64
}

// Alarm is a false alarm and what is missing.
type Alarm struct {
	export.Pair
	Why string
}

// Mark is what a line of a program says.
type Mark struct {
	File     string // base name
	Line     int
	Kind     string // race, alarm, outside
	Location string // part of the location that a pair is on: "table.served"
	Why      string // of an alarm
	Rare     bool   // of a race
	seen     bool
}

// String returns "main.go:12: race on table.served".
func (m Mark) String() string {
	return fmt.Sprintf("%s:%d: %s on %s", m.File, m.Line, m.Kind, m.Location)
}

// Measure verifies the programs, which are folders of dir. Cost: the standard library,
// with package net, is loaded once.
func Measure(ctx context.Context, dir string, programs []Program) ([]*Result, error) {
	cfg := load.Config{Dir: dir, Models: models.Files()}
	for _, p := range programs {
		cfg.Patterns = append(cfg.Patterns, "./"+p.Name)
	}
	res, err := load.Load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	u, err := extract.Universe(res)
	if err != nil {
		return nil, err
	}
	var out []*Result
	for _, p := range programs {
		i := slices.IndexFunc(res.Programs, func(q *load.Program) bool { return strings.HasSuffix(q.Path, "/popl07/"+p.Name) })
		if i < 0 {
			return nil, fmt.Errorf("%s: there is no program %s", dir, p.Name)
		}
		r := &Result{Program: p}
		if err := r.readMarks(filepath.Join(dir, p.Name)); err != nil {
			return nil, err
		}
		fp, err := extract.Link(u, res.Programs[i])
		if err != nil {
			return nil, err
		}
		var typed [2]int
		scope := res.Programs[i].Has
		depth := map[string]int{} // by pair, the lowest stage that it gets to
		start := time.Now()
		rs, err := stages.Verify(ctx, fp, stages.Options{
			Ctx: "hybrid", K: p.K, HK: -1, Scope: scope,
			Solved: func(res *pta.Result) { typed = countTyped(res, res.Prog, scope) },
			Trace: func(w export.WhyRow) {
				k := pairKey(&w.A, &w.B)
				depth[k] = max(depth[k], refutedAt(w.Outcome))
			},
		})
		if err != nil {
			return nil, err
		}
		if rs[0].Verdict == export.Abandoned {
			return nil, fmt.Errorf("%s: %s", p.Name, rs[0].Reason)
		}
		r.Seconds = time.Since(start).Seconds()
		r.count(typed, depth)
		r.account(rs[0].Pairs)
		out = append(out, r)
	}
	return out, nil
}

// Races returns how many marks of races the program has.
func (r *Result) Races() int {
	n := 0
	for _, m := range r.Marks {
		if m.Kind == "race" {
			n++
		}
	}
	return n
}

// pairKey names two accesses in either order.
func pairKey(a, b *export.Side) string {
	x, y := fmt.Sprint(a.Pos, a.Op), fmt.Sprint(b.Pos, b.Op)
	return min(x, y) + " " + max(x, y)
}

// refutedAt returns the row of the stage that refuted a pair, the number of rows for none.
func refutedAt(outcome string) int {
	name, ok := strings.CutPrefix(outcome, "refuted by ")
	if !ok {
		return len(stages.Pipeline)
	}
	return slices.IndexFunc(stages.Pipeline[:], func(s *stages.Stage) bool { return s.Name == name })
}

// count counts what each stage leaves, the first two by types.
func (r *Result) count(typed [2]int, depth map[string]int) {
	r.Left = map[string]int{}
	for _, d := range depth {
		for k := range d {
			r.Left[stages.Pipeline[k].Name]++
		}
	}
	for k, n := range typed {
		r.Left[stages.Pipeline[k].Name] = n
	}
}

// countTyped returns the pairs of accesses in the packages in scope, one of them a
// write, not both atomic, to cells of one type: of all functions, and of those that run.
func countTyped(res *pta.Result, prog *facts.Program, scope func(string) bool) (n [2]int) {
	type access struct {
		write, atomic, runs bool
		types               map[facts.TypeID]bool
	}
	byPlace := map[string]*access{} // instances of generic functions share their places
	for _, f := range prog.Funcs {
		if f == nil || !scope(f.Pkg) {
			continue
		}
		runs := len(res.Instances(f.ID)) > 0
		for _, pt := range f.Points {
			if pt.Op != facts.OpMem || f.Mems[pt.Row].Mode == facts.Flow {
				continue
			}
			m := &f.Mems[pt.Row]
			k := fmt.Sprint(pt.Pos, m.Write)
			a := byPlace[k]
			if a == nil {
				a = &access{write: m.Write, atomic: m.Mode == facts.Atomic, types: map[facts.TypeID]bool{}}
				byPlace[k] = a
			}
			a.runs = a.runs || runs
			for _, c := range prog.Layout(m.Type).Cells {
				a.types[c.Type] = true
			}
		}
	}
	var list []*access
	for _, a := range byPlace {
		list = append(list, a)
	}
	for i, a := range list {
		for _, b := range list[i:] {
			if !a.write && !b.write || a.atomic && b.atomic || !meet(a.types, b.types) {
				continue
			}
			n[0]++
			if a.runs && b.runs {
				n[1]++
			}
		}
	}
	return n
}

// meet reports whether two sets have a common element.
func meet(a, b map[facts.TypeID]bool) bool {
	for t := range a {
		if b[t] {
			return true
		}
	}
	return false
}

// account tells real races from false alarms by the marks.
func (r *Result) account(pairs []export.Pair) {
	seen := map[string]bool{}
	for _, p := range pairs {
		k := pairKey(&p.A, &p.B)
		if seen[k] {
			continue
		}
		seen[k] = true
		a, b := r.marksAt(p.A.Pos, p.Location), r.marksAt(p.B.Pos, p.Location)
		switch alarm := alarmOf(a, b); {
		case isRace(a) && isRace(b):
			r.Real = append(r.Real, p)
		case alarm != nil:
			alarm.seen = true
			r.False = append(r.False, Alarm{p, alarm.Why})
			continue
		default:
			r.NoMark = append(r.NoMark, p)
			continue
		}
		for _, m := range append(a, b...) {
			m.seen = m.seen || m.Kind == "race"
		}
	}
	for _, m := range r.Marks {
		switch {
		case m.seen || m.Kind == "outside":
		case m.Kind == "race":
			r.Lost = append(r.Lost, m)
		default:
			r.Gone = append(r.Gone, m)
		}
	}
}

// marksAt returns the marks of a line on a location.
func (r *Result) marksAt(p export.Pos, location string) []*Mark {
	var out []*Mark
	for i := range r.Marks {
		m := &r.Marks[i]
		if m.Line == p.Line && m.File == filepath.Base(p.File) && strings.HasSuffix(filepath.Dir(p.File), r.Name) && strings.Contains("."+location+".", "."+m.Location+".") {
			out = append(out, m)
		}
	}
	return out
}

func isRace(ms []*Mark) bool {
	return slices.ContainsFunc(ms, func(m *Mark) bool { return m.Kind == "race" })
}

func alarmOf(as, bs []*Mark) *Mark {
	for _, m := range append(as, bs...) {
		if m.Kind == "alarm" {
			return m
		}
	}
	return nil
}

// markForm matches one mark of a line; a line may have several.
var markForm = regexp.MustCompile(`want: (?:(race|alarm) ([^\s,"]+)|(outside))(, rare)?(?: "([^"]*)")?`)

// readMarks reads the marks of a program, and counts its lines.
func (r *Result) readMarks(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: no Go files: %w", dir, cmp.Or(err, os.ErrNotExist))
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		in := bufio.NewScanner(f)
		for n := 1; in.Scan(); n++ {
			r.Lines++
			_, comment, _ := strings.Cut(in.Text(), "// want: ")
			if comment == "" {
				continue
			}
			ms := markForm.FindAllStringSubmatch("want: "+comment, -1)
			if len(ms) == 0 {
				f.Close()
				return fmt.Errorf("%s:%d: this is no mark: %s", name, n, comment)
			}
			for _, m := range ms {
				r.Marks = append(r.Marks, Mark{File: filepath.Base(name), Line: n, Kind: m[1] + m[3], Location: m[2], Rare: m[4] != "", Why: m[5]})
			}
		}
		f.Close()
		if err := in.Err(); err != nil {
			return err
		}
	}
	return nil
}
