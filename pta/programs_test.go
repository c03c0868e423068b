package pta_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
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

var only = flag.String("only", "", "programs of testdata to load, with commas; all if empty")

// loaded are the programs of testdata/*.txtar, with their lines and the
// functions that these stand in ("program.function") by "package/file:line".
type loaded struct {
	progs []*facts.Program
	lines map[string]string
	funcs map[string]string
}

// funcDecl matches the head of a function: receiver type, name.
var funcDecl = regexp.MustCompile(`^func (?:\((?:\w+ )?\*?(\w+)[^)]*\) )?(\w+)`)

// sources returns the files of testdata/*.txtar. One of the archives has go.mod.
func sources() ([]txtar.File, error) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		return nil, err
	}
	var files []txtar.File
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, a.Files...)
	}
	return files, nil
}

// eachLine calls f with the lines of a file of a program and the functions that
// they stand in.
func eachLine(file txtar.File, f func(line int, text, fn string)) {
	prog, fn := path.Dir(file.Name), ""
	for i, s := range strings.Split(string(file.Data), "\n") {
		if m := funcDecl.FindStringSubmatch(s); m != nil {
			fn = strings.TrimPrefix(m[1]+"."+m[2], ".")
		}
		f(i+1, s, prog+"."+fn)
	}
}

// write writes a file of a program below dir and notes its lines.
func (l *loaded) write(dir string, f txtar.File) error {
	name := filepath.Join(dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	eachLine(f, func(line int, text, fn string) {
		at := fmt.Sprintf("%s:%d", name, line)
		l.lines[at], l.funcs[at] = text, fn
	})
	return os.WriteFile(name, f.Data, 0o666)
}

// programs loads all of them once.
var programs = sync.OnceValues(loadPrograms)

func loadPrograms() (*loaded, error) {
	files, err := sources()
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
	l := &loaded{lines: map[string]string{}, funcs: map[string]string{}}
	for _, f := range files {
		if err := l.write(dir, f); err != nil {
			return nil, err
		}
	}
	patterns := []string{"./..."}
	if *only != "" {
		patterns = strings.Split("./"+strings.ReplaceAll(*only, ",", ",./"), ",")
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: patterns, Models: models.Files()})
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
}

// checker compares one result with the comments.
type checker struct {
	*testing.T
	l   *loaded
	r   *pta.Result
	pol policy
	// report is told of a line what it has too much (+name) and too little
	// (-name), and what it has.
	report func(line string, diff, got []string)
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
	name := c.r.Prog.Types[ob.Type].Name
	if ob.Kind == pta.ObjNew {
		return "new:" + strings.TrimPrefix(name, c.r.Prog.Path+".")
	}
	return fmt.Sprint("object of kind ", ob.Kind, " of type ", name)
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
		if k, ok := c.r.SiteKind(o); ok && k == facts.SiteBox || c.r.Objs[o].Kind == pta.ObjBox {
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
		if p == string(c.pol.Policy) || p == c.pol.short() {
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

// differ reports a line that has not what it wants.
func (c *checker) differ(line string, got, want []string) {
	if slices.Equal(got, want) {
		return
	}
	var diff []string
	for _, x := range want {
		if !slices.Contains(got, x) {
			diff = append(diff, "-"+strings.ReplaceAll(x, " ", "_"))
		}
	}
	for _, x := range got {
		if !slices.Contains(want, x) {
			diff = append(diff, "+"+strings.ReplaceAll(x, " ", "_"))
		}
	}
	c.report(line, diff, got)
}

func (c *checker) fail(line string, diff, got []string) {
	at := filepath.Base(filepath.Dir(line)) + "/" + filepath.Base(line)
	c.Errorf("%s: %s: in %s: %s ; got %q", c.pol, at, c.l.funcs[line], strings.Join(diff, " "), got)
}

// check compares all lines and returns how many it compared.
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
		if want, ok := c.expect(line, "want"); ok {
			n++
			if slices.Equal(want, []string{"uncalled"}) {
				if reached[line] {
					c.differ(line, []string{"call"}, nil)
				}
			} else if !reached[line] {
				c.differ(line, nil, append(want, "call"))
			} else {
				c.differ(line, set(looks[line]), want)
			}
		}
		if want, ok := c.expect(line, "calls"); ok {
			n++
			c.differ(line, set(calls[line]), want)
		}
		if want, ok := c.note(line, "alias"); ok {
			n++
			alias := func(b bool) []string {
				if b {
					return []string{"alias"}
				}
				return nil
			}
			if !reached[line] {
				c.differ(line, nil, []string{"call"})
			} else {
				c.differ(line, alias(apart[line]), alias(slices.Contains(want, string(c.pol.Policy)) || slices.Contains(want, c.pol.short())))
			}
		}
	}
	return n
}
