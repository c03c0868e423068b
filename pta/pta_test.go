package pta_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
)

// loaded are the programs of testdata/programs.txtar, and their lines by
// "package/file:line".
type loaded struct {
	progs []*facts.Program
	lines map[string]string
}

// programs loads all of them once.
var programs = sync.OnceValues(func() (*loaded, error) {
	a, err := txtar.ParseFile("testdata/programs.txtar")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pta")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	l := &loaded{lines: map[string]string{}}
	for _, f := range a.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			return nil, err
		}
		for i, s := range strings.Split(string(f.Data), "\n") {
			l.lines[fmt.Sprintf("%s:%d", name, i+1)] = s
		}
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}, Models: models.Files()})
	if err != nil {
		return nil, err
	}
	u, err := extract.Universe(res)
	if err != nil {
		return nil, err
	}
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			return nil, err
		}
		l.progs = append(l.progs, fp)
	}
	return l, nil
})

type policy struct {
	pta.Policy
	k int
}

func (p policy) String() string { return fmt.Sprint(string(p.Policy), " k=", p.k) }

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

// checker compares one result with the comments.
type checker struct {
	*testing.T
	l   *loaded
	r   *pta.Result
	pol policy
}

func (c *checker) key(p facts.Pos) string {
	return fmt.Sprintf("%s:%d", c.r.Prog.Files[p.File], p.Line)
}

// note returns the words of a comment "// verb words" on a line.
func (c *checker) note(line, verb string) ([]string, bool) {
	_, s, ok := strings.Cut(c.l.lines[line], "// "+verb+" ")
	return strings.Fields(s), ok
}

// objectName names an object by its comment or declaration.
func (c *checker) objectName(o pta.ObjID) string {
	ob := &c.r.Objs[o]
	switch ob.Kind {
	case pta.ObjGlobal:
		n := c.r.Prog.Globals[ob.Global].Name
		return n[strings.LastIndex(n, ".")+1:]
	case pta.ObjFunc:
		return c.funcName(ob.Fn)
	case pta.ObjSite:
		s := c.r.Site(o)
		if w, ok := c.note(c.key(s.Pos), "obj"); ok {
			return w[0]
		}
		return fmt.Sprintf("%s at %s", c.r.Prog.Types[ob.Type].Name, filepath.Base(c.key(s.Pos)))
	}
	return fmt.Sprint("object of kind ", ob.Kind, " of type ", c.r.Prog.Types[ob.Type].Name)
}

func (c *checker) funcName(f facts.FuncID) string {
	n := c.r.Prog.FuncName(f)
	if i := strings.LastIndex(n, "/"); i >= 0 && !strings.Contains(n, " ") {
		n = n[i+1:]
		_, n, _ = strings.Cut(n, ".")
	}
	return n
}

// targets returns the cells that register v may point to; what is in boxes and
// what references refer to instead of them.
func (c *checker) targets(i pta.InstID, v facts.Reg) *pta.Set {
	out := new(pta.Set)
	c.r.PointsTo(i, v, 0).Each(func(p uint32) {
		o, _ := c.r.Object(p)
		if k, ok := c.r.SiteKind(o); ok && k == facts.SiteBox {
			c.r.Content(p).Each(func(q uint32) { out.Add(q) })
		} else if c.r.Objs[o].Kind == pta.ObjRef {
			out.Add(c.r.Objs[o].Of)
		} else {
			out.Add(p)
		}
	})
	return out
}

func (c *checker) names(s *pta.Set) []string {
	var out []string
	s.Each(func(p uint32) {
		o, off := c.r.Object(p)
		n := c.objectName(o)
		if cell := c.r.Cell(o, off); cell != nil {
			n += cell.PrettyPath()
		}
		out = append(out, n)
	})
	sort.Strings(out)
	return slices.Compact(out)
}

// expect returns what a comment wants under the policy at hand.
func (c *checker) expect(line, verb string) ([]string, bool) {
	w, ok := c.note(line, verb)
	if !ok {
		return nil, false
	}
	if p, ok := strings.CutSuffix(w[0], ":"); ok {
		i := slices.Index(w, ";")
		if p == string(c.pol.Policy) {
			w = w[1:i]
		} else {
			w = w[i+1:]
		}
	}
	if len(w) == 1 && w[0] == "nothing" {
		w = nil
	}
	sort.Strings(w)
	return w, true
}

func (c *checker) check() int {
	n := 0
	looks := map[string][]string{} // by line
	calls := map[string][]string{} // by line
	apart := map[string]bool{}     // by line: may alias
	reached := map[string]bool{}   // lines with a call of look or apart
	for id := range c.r.Insts {
		i := pta.InstID(id)
		if i == 0 || c.r.Func(i) == nil {
			continue
		}
		f := c.r.Func(i)
		callees := map[uint32][]string{}
		for _, e := range c.r.Insts[i].Out {
			if e.Kind == pta.EdgeCall || e.Kind == pta.EdgeGo {
				callees[e.Row] = append(callees[e.Row], c.funcName(c.r.Insts[e.Callee].Fn))
			}
		}
		for row, call := range f.Calls {
			line := c.key(call.Pos)
			if _, ours := c.l.lines[line]; !ours {
				continue
			}
			switch c.funcName(call.Static) {
			case "look":
				looks[line] = append(looks[line], c.names(c.targets(i, call.Args[0]))...)
				reached[line] = true
			case "apart":
				if c.targets(i, call.Args[0]).Meets(c.targets(i, call.Args[1])) {
					apart[line] = true
				}
				reached[line] = true
			default:
				calls[line] = append(calls[line], callees[uint32(row)]...)
			}
		}
	}
	lines := make([]string, 0, len(c.l.lines))
	for line := range c.l.lines {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	set := func(xs []string) []string {
		sort.Strings(xs)
		return slices.Compact(xs)
	}
	for _, line := range lines {
		if !strings.Contains(line, "/"+filepath.Base(c.r.Prog.Path)+"/") {
			continue
		}
		at := filepath.Base(filepath.Dir(line)) + "/" + filepath.Base(line)
		if want, ok := c.expect(line, "want"); ok {
			n++
			if got := set(looks[line]); !reached[line] {
				c.Errorf("%s: %s: look is not called", c.pol, at)
			} else if !slices.Equal(got, want) {
				c.Errorf("%s: %s: points to %q, want %q", c.pol, at, got, want)
			}
		}
		if want, ok := c.expect(line, "calls"); ok {
			n++
			if got := set(calls[line]); !slices.Equal(got, want) {
				c.Errorf("%s: %s: calls %q, want %q", c.pol, at, got, want)
			}
		}
		if want, ok := c.note(line, "alias"); ok {
			n++
			if got, want := apart[line], slices.Contains(want, string(c.pol.Policy)); !reached[line] || got != want {
				c.Errorf("%s: %s: may alias: %v, want %v", c.pol, at, got, want)
			}
		}
	}
	return n
}

func TestPrograms(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.progs {
		t.Run(filepath.Base(p.Path), func(t *testing.T) {
			for _, pol := range policies {
				c := &checker{t, l, solve(t, p, pol), pol}
				if n := c.check(); n < 20 {
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
