package pta_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/ptrgen"
	"github.com/bfverify/bfverify/pta"
)

var (
	ptrPrograms = flag.Int("programs", 100, "generated programs to compare with go/pointer, and to run")
	ptrSeed     = flag.Uint64("firstseed", 1, "seed of the first generated program")
)

// kinds are the ways in which the two analyses may differ, and why each is right
// for ours. A program in which the kind is present may have differences to that
// side, and no others.
var kinds = []struct {
	name   string
	larger string // who may say more
	reason string
	in     func(tw *twin) bool
}{
	{"uncalled", "theirs", "a function whose address is taken, and a method of a type that is put into an interface, is analysed there whether it is called or not",
		(*twin).uncalled},
	{"full", "theirs", "append to a slice that is surely full, and of one element at least, keeps the old array out of its result (rule A1 of extraction)",
		(*twin).full},
	{"nothing", "theirs", "hash-value numbering there takes a load from a pointer that points to nothing for the value last stored through it",
		(*twin).nothing},
	{"struct", "ours", "a conversion between struct types copies the first node there, which is that of the struct itself, and no field",
		(*twin).structs},
	{"thunk", "ours", "each method expression is a function of its own there; here those of one method are one, which matters if the method is that of an interface",
		func(tw *twin) bool { return tw.merged }},
}

// A difference is a value, call site or function of which the analyses say
// different things.
type difference struct {
	where        string
	ours, theirs []string // what only one says
}

func (d difference) String() string {
	return fmt.Sprintf("%s: only pta: %q, only go/pointer: %q", d.where, d.ours, d.theirs)
}

// compare returns all differences: of the values and call sites of functions that
// both reach, and functions that one reaches. Wrappers that nobody calls are there
// for the types' method sets and do not count.
func (tw *twin) compare() []difference {
	var ds []difference
	differ := func(where string, ours, theirs []string) {
		d := difference{where, minus(ours, theirs), minus(theirs, ours)}
		if len(d.ours)+len(d.theirs) > 0 {
			ds = append(ds, d)
		}
	}
	for _, fn := range tw.functions() {
		o, th := tw.ours.reached[fn], tw.theirs.reached[fn]
		at := fmt.Sprint(tw.fset.Position(fn.Pos()), " ", fn)
		switch {
		case o && th:
			for _, v := range tw.queried(fn) {
				differ(fmt.Sprint(tw.fset.Position(v.Pos()), " ", fn, " ", v.Name(), " = ", v), tw.ours.pts[v], tw.theirs.pts[v])
			}
		case o:
			ds = append(ds, difference{where: at, ours: []string{"reached"}})
		case th && fn.Synthetic == "":
			ds = append(ds, difference{where: at, theirs: []string{"reached"}})
		}
	}
	var sites []callSite
	for k := range tw.ours.callees {
		sites = append(sites, k)
	}
	for k := range tw.theirs.callees {
		if tw.ours.callees[k] == nil && tw.ours.reached[k.fn] {
			sites = append(sites, k)
		}
	}
	sort.Slice(sites, func(i, j int) bool { return sites[i].less(sites[j]) })
	for _, k := range sites {
		differ(fmt.Sprint("callees at ", k.fn, " ", k.line, ":", k.col), tw.ours.callees[k], tw.theirs.callees[k])
	}
	return ds
}

func (k callSite) less(l callSite) bool {
	return cmp.Or(strings.Compare(k.fn.String(), l.fn.String()), cmp.Compare(k.line, l.line), cmp.Compare(k.col, l.col)) < 0
}

func minus(x, y []string) []string {
	var out []string
	for _, s := range x {
		if _, ok := slices.BinarySearch(y, s); !ok {
			out = append(out, s)
		}
	}
	return out
}

// functions returns the functions of the program in source order.
func (tw *twin) functions() []*ssa.Function {
	var fns []*ssa.Function
	for fn := range tw.facts {
		fns = append(fns, fn)
	}
	sort.Slice(fns, func(i, j int) bool {
		return cmp.Or(cmp.Compare(fns[i].Pos(), fns[j].Pos()), strings.Compare(fns[i].String(), fns[j].String())) < 0
	})
	return fns
}

// queried returns the values of fn that go/pointer was asked about, in order.
func (tw *twin) queried(fn *ssa.Function) []ssa.Value {
	var vs []ssa.Value
	for v := range tw.regs[fn] {
		if _, ok := tw.theirs.pts[v]; ok {
			vs = append(vs, v)
		}
	}
	sort.Slice(vs, func(i, j int) bool { return tw.regs[fn][vs[i]] < tw.regs[fn][vs[j]] })
	return vs
}

// any reports whether f holds for a value that both were asked about.
func (tw *twin) any(f func(ssa.Value) bool) bool {
	for fn := range tw.facts {
		if tw.ours.reached[fn] && slices.ContainsFunc(tw.queried(fn), f) {
			return true
		}
	}
	return false
}

func (tw *twin) uncalled() bool {
	for fn := range tw.theirs.reached {
		if tw.facts[fn] != nil && !tw.ours.reached[fn] && fn.Synthetic == "" {
			return true
		}
	}
	return false
}

func (tw *twin) full() bool {
	return tw.any(func(v ssa.Value) bool {
		c, ok := v.(*ssa.Call)
		if !ok {
			return false
		}
		b, ok := c.Call.Value.(*ssa.Builtin)
		return ok && b.Name() == "append" && len(minus(tw.ours.pts[c.Call.Args[0]], tw.ours.pts[c])) > 0
	})
}

func (tw *twin) nothing() bool {
	return tw.any(func(v ssa.Value) bool {
		x := loadedFrom(v)
		if x == nil || len(tw.ours.pts[x])+len(tw.theirs.pts[x]) > 0 {
			return false
		}
		_, asked := tw.theirs.pts[x]
		_, null := x.(*ssa.Const)
		return (asked || null) && len(tw.theirs.pts[v]) > 0
	})
}

// loadedFrom returns the pointer, map or channel that v was read from, or nil.
func loadedFrom(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.MUL || v.Op == token.ARROW {
			return v.X
		}
	case *ssa.Lookup:
		return v.X
	case *ssa.Extract:
		switch t := v.Tuple.(type) {
		case *ssa.Select:
			n := 2
			for _, s := range t.States {
				if s.Dir == types.RecvOnly {
					if n == v.Index {
						return s.Chan
					}
					n++
				}
			}
		case *ssa.Next:
			return t.Iter.(*ssa.Range).X
		default:
			return loadedFrom(t)
		}
	}
	return nil
}

func (tw *twin) structs() bool {
	for fn := range tw.ours.reached {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if c, ok := in.(*ssa.ChangeType); ok {
					if _, ok := c.Type().Underlying().(*types.Struct); ok {
						return true
					}
				}
			}
		}
	}
	return false
}

// judge reports differences that no kind explains, and returns the kinds that
// are there, sorted by name. Kinds count if there are differences to their side.
func (tw *twin) judge(t *testing.T) []string {
	t.Helper()
	var present []string
	ours, theirs := 0, 0
	ds := tw.compare()
	for _, d := range ds {
		ours += len(d.ours)
		theirs += len(d.theirs)
	}
	explained := map[string]bool{}
	for _, k := range kinds {
		n := map[string]int{"ours": ours, "theirs": theirs}[k.larger]
		if n > 0 && k.in(tw) {
			present = append(present, k.name)
			explained[k.larger] = true
		}
	}
	for _, d := range ds {
		if len(d.ours) > 0 && !explained["ours"] || len(d.theirs) > 0 && !explained["theirs"] {
			t.Errorf("%s: %v", tw.name, d)
		}
	}
	sort.Strings(present)
	return present
}

// size returns how many values the analyses were asked about in functions that
// both reach, and how many labels they gave.
func (tw *twin) size() (values, labels int) {
	for fn := range tw.facts {
		if !tw.ours.reached[fn] || !tw.theirs.reached[fn] {
			continue
		}
		for _, v := range tw.queried(fn) {
			values++
			labels += len(tw.ours.pts[v])
		}
	}
	return
}

// unpack writes the files of an archive, as edit makes them, into a new directory
// and returns it, with the lines of the files.
func unpack(archive string, edit func(name, src string) string) (dir string, l *loaded, err error) {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", "pta"); err != nil {
		return "", nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", nil, err
	}
	l = &loaded{lines: map[string]string{}, funcs: map[string]string{}}
	for _, f := range a.Files {
		f.Data = []byte(edit(f.Name, string(f.Data)))
		if len(f.Data) > 0 {
			if err := l.write(dir, f); err != nil {
				return "", nil, err
			}
		}
	}
	return dir, l, nil
}

var anyWord = regexp.MustCompile(`\bany\b`)

// TestPointerPrograms compares the two analyses on hand-written programs.
func TestPointerPrograms(t *testing.T) {
	seen := map[string]bool{}
	for _, archive := range []string{"programs", "pointer/constructs", "pointer/values"} {
		t.Run(archive, func(t *testing.T) {
			dir, l, err := unpack("testdata/"+archive+".txtar", func(name, src string) string {
				if strings.Contains(src, "\nimport ") {
					return ""
				}
				return anyWord.ReplaceAllString(src, "interface{}") // go/pointer knows no aliases
			})
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			eachTwin(t, dir, func(tw *twin) {
				var declared []string
				file := filepath.Join(dir, filepath.Base(tw.name), "main.go")
				if _, s, ok := strings.Cut(l.lines[file+":1"], "// differs: "); ok {
					declared = strings.Fields(s)
				}
				present := tw.judge(t)
				if !slices.Equal(present, declared) {
					t.Errorf("%s: differs by %q, declared %q", tw.name, present, declared)
				}
				for _, k := range present {
					seen[k] = true
				}
				if _, end := tw.witness(t); end != "" {
					t.Errorf("%s: main does not return: %s", tw.name, end)
				}
				t.Run("datalog", func(t *testing.T) {
					pta.NeedsZ3(t)
					pta.CheckDatalog(t, tw.result.Prog)
				})
				c := &checker{T: t, l: l, r: tw.result, pol: policy{pta.Insens, 0}}
				if n := c.check(); n < 1 {
					t.Errorf("%s: no expectations", tw.name)
				}
			})
		})
	}
	for _, k := range kinds {
		if !seen[k.name] {
			t.Errorf("no program differs by %q", k.name)
		}
	}
}

// eachTwin calls f with every program in dir, solved. It loads all at once, and
// keeps none.
func eachTwin(t *testing.T, dir string, f func(*twin)) {
	t.Helper()
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Programs {
		tw, err := newTwin(res, p.Root)
		if err != nil {
			t.Fatalf("%s: %v", p.Path, err)
		}
		f(tw)
	}
}

// TestPointerGenerated compares the two analyses on generated programs: most have
// nothing in which they are known to differ, some a conversion of structs, some
// an append to a slice that is full.
func TestPointerGenerated(t *testing.T) {
	const batch = 100 // programs of one load
	values, labels, witnessed, runs, differing := 0, 0, 0, 0, map[string]int{}
	for from := *ptrSeed; from < *ptrSeed+uint64(*ptrPrograms); from += batch {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
		allowed := map[string][]string{}
		for seed := from; seed < min(from+batch, *ptrSeed+uint64(*ptrPrograms)); seed++ {
			cfg, name := ptrgen.Config{}, fmt.Sprintf("p%05d", seed)
			allowed["m/"+name] = []string{"nothing", "thunk"}
			switch seed % 8 {
			case 3:
				cfg.Full = true
				allowed["m/"+name] = []string{"full", "nothing", "thunk"}
			case 5:
				cfg.Structs = true
				allowed["m/"+name] = []string{"nothing", "struct", "thunk"}
			}
			write(t, filepath.Join(dir, name, "main.go"), ptrgen.Program(seed, cfg))
		}
		eachTwin(t, dir, func(tw *twin) {
			facts, end := tw.witness(t)
			witnessed += facts
			if end == "" {
				runs++
			}
			present := tw.judge(t)
			for _, k := range present {
				differing[k]++
			}
			if extra := minus(present, allowed[tw.name]); len(extra) > 0 {
				t.Errorf("%s differs by %q", tw.name, extra)
			}
			v, l := tw.size()
			values, labels = values+v, labels+l
		})
	}
	t.Logf("%d programs: %d values with %d labels; programs that differ: %v; %d runs ended, which saw %d facts",
		*ptrPrograms, values, labels, differing, runs, witnessed)
}

func write(t *testing.T, name, src string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
}
