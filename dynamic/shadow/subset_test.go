package shadow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// TestSubset holds the package to the subset of Go that the package comment names,
// so that it can be copied into package runtime.
func TestSubset(t *testing.T) {
	for _, p := range checkSubset(t, "") {
		t.Error(p)
	}
}

// TestSubsetNotices breaks each rule once.
func TestSubsetNotices(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"func bad(p *State) { defer unlock(&p.memLock) }", "defer"},
		{"func bad() { go bad2() }\nfunc bad2() {}", "go statement"},
		{"var bad uint32", "variable of the package"},
		{"type bad map[int]int", "map"},
		{"type bad struct { c chan int }", "channel"},
		{"type bad interface { m() }", "interface"},
		{"func bad() any { return nil }", "interface"},
		{"func bad() { f := func() {}; f() }", "closure"},
		{"func bad() *State { return new(State) }", "builtin new"},
		{"func bad() []int { return make([]int, 1) }", "builtin make"},
		{"func bad(a []int) []int { return append(a, 1) }", "builtin append"},
		{"func bad() { panic(1) }", "builtin panic"},
		{"func bad() *clock { return &clock{} }", "composite literal"},
		{"func bad() { var c list; c2(&c) }\nfunc c2(*list) {}", "address of a variable"},
		{"func bad(a, b string) string { return a + b }", "string"},
		{"func bad(n int) { if n > 0 { bad(n-1) } }", "recursion: bad"},
		{"func bad(n int) { bad2(n) }\nfunc bad2(n int) { bad(n) }", "recursion"},
		{"func bad() { f := gcd; f(1, 2) }", "function as a value"},
		{"type bad struct { next *bad }", "notInHeap"},
		{"import \"sync\"\nvar _ sync.Mutex", "import"},
		{"func bad(f float64) {}", "floating point"},
		{"//go:nosplit\nfunc bad(p *uint32) { lock(p) }", "bad is nosplit, and calls lock"},
	} {
		got := strings.Join(checkSubset(t, test.src), "\n")
		if !strings.Contains(got, test.want) {
			t.Errorf("%s\ngives %q, want %s", test.src, got, test.want)
		}
	}
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// checkSubset returns what the package's files, and one more, have that they may not.
func checkSubset(t *testing.T, extra string) []string {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var core, all []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == "shim_other.go" {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
		if !strings.HasPrefix(name, "shim") {
			core = append(core, f)
		}
	}
	if extra != "" {
		f, err := parser.ParseFile(fset, "extra.go", "package shadow\n"+extra, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all, core = append(all, f), append(core, f)
	}
	c := &subset{fset: fset, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}, calls: map[string]map[string]bool{}, nosplit: map[string]bool{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}} // the shim's imports are empty
	_, _ = conf.Check("shadow", fset, all, c.info)
	for _, f := range core {
		c.file(f)
	}
	c.recursion()
	c.interruptions()
	return c.problems
}

type subset struct {
	fset     *token.FileSet
	info     *types.Info
	calls    map[string]map[string]bool
	nosplit  map[string]bool
	fn       string
	problems []string
	callees  map[ast.Expr]bool
	sized    map[*ast.CompositeLit]bool // operands of unsafe.Sizeof
}

func (c *subset) bad(n ast.Node, what string) {
	c.problems = append(c.problems, c.fset.Position(n.Pos()).String()+": "+what)
}

func (c *subset) file(f *ast.File) {
	for _, i := range f.Imports {
		if i.Path.Value != `"unsafe"` {
			c.bad(i, "import of "+i.Path.Value)
		}
	}
	for _, d := range f.Decls {
		c.fn = ""
		c.callees, c.sized = map[ast.Expr]bool{}, map[*ast.CompositeLit]bool{}
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.fn = c.info.Defs[d.Name].(*types.Func).FullName()
			c.calls[c.fn] = map[string]bool{}
			c.nosplit[c.fn] = d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(l *ast.Comment) bool { return l.Text == "//go:nosplit" })
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				c.bad(d, "variable of the package")
			}
		}
		ast.Inspect(d, func(n ast.Node) bool { c.node(n); return true })
	}
}

func (c *subset) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.DeferStmt:
		c.bad(n, "defer")
	case *ast.GoStmt:
		c.bad(n, "go statement")
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		c.bad(n, "channel")
	case *ast.MapType:
		c.bad(n, "map")
	case *ast.InterfaceType, *ast.TypeAssertExpr, *ast.TypeSwitchStmt:
		c.bad(n, "interface")
	case *ast.FuncLit:
		c.bad(n, "closure")
	case *ast.CompositeLit:
		if !c.sized[n] {
			c.bad(n, "composite literal")
		}
	case *ast.UnaryExpr:
		if x, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
			c.bad(n, "address of a variable: "+x.Name)
		}
	case *ast.CallExpr:
		c.callees[ast.Unparen(n.Fun)] = true
		if s, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
			c.callees[s.Sel] = true
			if len(n.Args) == 0 {
				break
			}
			if lit, ok := n.Args[0].(*ast.CompositeLit); ok && s.Sel.Name == "Sizeof" {
				c.sized[lit] = true
			}
		}
	case *ast.StructType:
		c.structType(n)
	case *ast.Ident:
		c.ident(n)
	}
	if e, ok := n.(ast.Expr); ok {
		c.expr(e)
	}
}

func (c *subset) ident(n *ast.Ident) {
	switch o := c.info.Uses[n].(type) {
	case *types.Builtin:
		switch o.Name() {
		case "Sizeof", "Add", "Pointer", "len":
		default:
			c.bad(n, "builtin "+o.Name())
		}
	case *types.Func:
		if !c.callees[n] {
			c.bad(n, "function as a value: "+n.Name)
		}
		if c.fn != "" {
			c.calls[c.fn][o.FullName()] = true
		}
	case *types.TypeName:
		if types.IsInterface(o.Type()) {
			c.bad(n, "interface "+n.Name)
		}
	}
}

func (c *subset) expr(e ast.Expr) {
	tv, ok := c.info.Types[e]
	if !ok || tv.Type == nil || tv.Value != nil {
		return
	}
	if b, ok := tv.Type.Underlying().(*types.Basic); ok {
		switch {
		case b.Info()&types.IsString != 0:
			c.bad(e, "string")
		case b.Info()&(types.IsFloat|types.IsComplex) != 0:
			c.bad(e, "floating point")
		}
	}
}

// structType asks that pointers in structs lead out of the Go heap.
func (c *subset) structType(n *ast.StructType) {
	for _, f := range n.Fields.List {
		typ := c.info.Types[f.Type].Type
		for {
			if a, ok := typ.(*types.Array); ok {
				typ = a.Elem()
				continue
			}
			break
		}
		p, ok := typ.(*types.Pointer)
		if !ok {
			continue
		}
		s, ok := p.Elem().Underlying().(*types.Struct)
		if !ok || strings.HasSuffix(p.Elem().String(), ".home") {
			continue
		}
		if s.NumFields() == 0 || !strings.HasSuffix(s.Field(0).Type().String(), ".notInHeap") {
			c.bad(f, "pointer to a type without notInHeap: "+p.Elem().String())
		}
	}
}

// recursion finds functions that can call themselves.
func (c *subset) recursion() {
	var fns []string
	for f := range c.calls {
		fns = append(fns, f)
	}
	sort.Strings(fns)
	for _, f := range fns {
		seen := map[string]bool{}
		work := []string{f}
		for len(work) > 0 {
			g := work[len(work)-1]
			work = work[:len(work)-1]
			for h := range c.calls[g] {
				if h == f {
					c.problems = append(c.problems, "recursion: "+strings.TrimPrefix(f, "shadow."))
					work = nil
					break
				}
				if !seen[h] {
					seen[h] = true
					work = append(work, h)
				}
			}
		}
	}
}

// atomics are the functions of the shim that are nosplit in package runtime too.
var atomics = strings.Fields("load64 store64 cas64 load32 store32 release32 cas32 swap32 add32 loadp storep casp")

// interruptions finds functions marked nosplit that call others than such ones.
func (c *subset) interruptions() {
	for f := range c.calls {
		for g := range c.calls[f] {
			if name := strings.TrimPrefix(g, "shadow."); c.nosplit[f] && !c.nosplit[g] && !slices.Contains(atomics, name) {
				c.problems = append(c.problems, strings.TrimPrefix(f, "shadow.")+" is nosplit, and calls "+name)
			}
		}
	}
	sort.Strings(c.problems)
}

// TestNoEscape asks the compiler whether anything is allocated in the Go heap.
func TestNoEscape(t *testing.T) {
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	cmd := exec.Command(gotool, "build", "-gcflags=-m", "-o", os.DevNull, ".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "shim.go") && strings.Contains(l, "escapes to heap") }) {
		t.Errorf("the compiler does not say what escapes: %.200s", out)
	}
	for _, l := range lines {
		if (strings.Contains(l, "escapes to heap") || strings.Contains(l, "moved to heap")) && !strings.Contains(l, "shim") {
			t.Error(l)
		}
	}
}
