// Package load turns patterns into type-checked packages and the list of the
// programs among them.
//
// What may be believed: a Result without error is the code that `go build` and
// `go test` would compile for the same patterns, flags and environment, whole
// program, std included, every package from source, but for those that an earlier
// run knew (known.go). Nothing of it is ill-typed.
// A package that a test binary compiles anew is a package of its own here
// (`p [p.test]`), because go list says so; packages are never merged by path.
//
// Not covered: what only the compiler or the linker rejects (a function without
// body and without assembly, a symbol defined twice).
//
// Terms:
//
//	program   what one process runs: a main package or a test binary
//	root      a package that a pattern matched, or a test variant of one
//	testmain  the main package that the go command writes for a test binary
//
// Entries of a test binary are read from its testmain, so that they are exactly
// those that `go test` picks: its rules for names and signatures, and examples
// only with an output comment.
//
// cgo: the go command runs cgo, and the package is made of cgo's output, in
// which a call of C is a call of a function without body. Positions are those
// of the file that the author wrote.
//
// Models are files added to packages after the go command listed them (model.go,
// check.go). The type checker sees them as if they were there.
package load

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/models"
)

// mode asks for all that the go command knows of every package. Source is read
// by a checker.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
	packages.NeedImports | packages.NeedDeps | packages.NeedTypesSizes | packages.NeedModule |
	packages.NeedForTest

// A Config says what to load. The zero value loads the package in the current
// directory without its tests.
type Config struct {
	Dir      string        // where the go command runs, as -C; "" is the current directory
	Patterns []string      // as `go build` reads them; none is "."
	Tags     string        // as `go build -tags`; "" leaves those of GOFLAGS
	Tests    bool          // make a program of every test binary too
	Models   []models.File // files added to packages; users' take the place of built-in ones
	Env      []string      // environment of the go command; nil is that of the process
	Progress func(string)  // told what is going on, never by two goroutines at once; may be nil
}

// A Result is what the patterns named, ready for extraction. All packages in it
// share one type universe and Fset.
type Result struct {
	Programs  []*Program          // sorted by path, then kind
	Packages  []*packages.Package // the roots in the order of go/packages, with syntax and types
	Build     Build               // what selects the verdict
	Fset      *token.FileSet      // of every file
	Libraries []string            // paths of matched packages with neither main nor a test binary, sorted
	Uncovered []string            // those of Libraries that are part of no program, sorted
	Named     map[string]bool     // package paths that the patterns named, external test packages included
	Models    []*Model            // those of the packages, by file name
	LeftOut   []LeftOut           // packages whose models do not fit, by path
	Idle      []string            // built-in stand-ins for what the packages do not have, as "path F"
	Unused    []string            // import paths of users' models that no package has, sorted
	Changed   bool                // a file is not as List.Recipe found it
	Known     map[string]*Known   // by package id: what a Reuse found, with nil Syntax but for its Source
	Fresh     []*Fresh            // the other packages, by id, where there was a Reuse

	dir string // Config.Dir, absolute
}

// Kind says how a program is started.
type Kind uint8

const (
	Main Kind = iota // by func main of a main package
	Test             // by go test
)

// String returns "main" or "test".
func (k Kind) String() string {
	if k == Test {
		return "test"
	}
	return "main"
}

// A Program is what one process runs.
type Program struct {
	Path     string            // import path of the main package, or of the package under test
	Kind     Kind              // Main or Test
	Root     *packages.Package // the main package, or the testmain
	Tests    []TestFunc        // entries of a Test, in the order of the testmain
	TestMain *types.Func       // TestMain of a Test, or nil
	Scope    map[string]bool   // paths of its packages that are in scope; Scope.Apply changes it
}

// String returns the import path, with ".test" for a test binary.
func (p *Program) String() string {
	if p.Kind == Test {
		return p.Path + ".test"
	}
	return p.Path
}

// Packages returns the packages of the program, each once, dependencies first.
// The order depends on the import graph alone.
func (p *Program) Packages() []*packages.Package {
	var all []*packages.Package
	closure(p.Root, make(map[*packages.Package]bool), func(q *packages.Package) { all = append(all, q) })
	return all
}

// TestKind says what package testing does with an entry.
type TestKind uint8

const (
	TestEntry TestKind = iota // func TestX(*testing.T)
	Benchmark                 // func BenchmarkX(*testing.B)
	Fuzz                      // func FuzzX(*testing.F)
	Example                   // func ExampleX() with an output comment
)

// String returns the prefix that the names of this kind have.
func (k TestKind) String() string {
	return [...]string{"Test", "Benchmark", "Fuzz", "Example"}[k]
}

// A TestFunc is one entry of a test binary.
type TestFunc struct {
	Name string            // name of the function
	Kind TestKind          // what it takes and who runs it
	Pkg  *packages.Package // `p [p.test]` or `p_test [p.test]`
	Func *types.Func       // the function, declared in Pkg
}

// Load loads what cfg names. On error there is no result; the error has one of
// the types of errors.go, or is ctx.Err().
func Load(ctx context.Context, cfg Config) (*Result, error) {
	l, err := NewList(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return l.Check(ctx, Reuse{})
}

// progressFunc returns f made cheap: a message that is not important is dropped
// when the last one is younger than 200 ms.
func progressFunc(f func(string)) func(msg string, important bool) {
	if f == nil {
		return func(string, bool) {}
	}
	var mu sync.Mutex
	var last time.Time
	return func(msg string, important bool) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); important || now.Sub(last) >= 200*time.Millisecond {
			last = now
			f(msg)
		}
	}
}

// absDir returns dir as an absolute path. A dir that is no directory is a
// *DirError.
func absDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &DirError{Dir: dir, Err: err}
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", &DirError{Dir: dir, Err: err}
	}
	if !info.IsDir() {
		return "", &DirError{Dir: dir, Err: fmt.Errorf("not a directory")}
	}
	return abs, nil
}

// queries returns the patterns as go/packages wants them: one that holds "="
// must be marked, or it is taken for a query of another kind.
func queries(patterns []string) []string {
	qs := make([]string, len(patterns))
	for i, p := range patterns {
		qs[i] = p
		if strings.Contains(p, "=") {
			qs[i] = "pattern=" + p
		}
	}
	return qs
}

// language returns the newest language version among the modules of the roots,
// such as "go1.26", or "" when no root has a module.
func language(roots []*packages.Package) string {
	var newest string
	for _, p := range roots {
		if p.Module != nil && p.Module.GoVersion != "" {
			if v := "go" + p.Module.GoVersion; newest == "" || newer(v, newest) {
				newest = v
			}
		}
	}
	return newest
}

// findPrograms fills Programs, Libraries, Uncovered, Named and every Scope.
func (r *Result) findPrograms() error {
	r.Named = make(map[string]bool)
	tested := make(map[string]bool) // paths of packages with a test binary
	for _, p := range r.Packages {
		if isTestMain(p) {
			path := strings.TrimSuffix(p.PkgPath, ".test")
			tested[path] = true
			prog := &Program{Path: path, Kind: Test, Root: p}
			if err := prog.readTestMain(); err != nil {
				return err
			}
			r.Programs = append(r.Programs, prog)
			continue
		}
		r.Named[p.PkgPath] = true
		if p.Name == "main" && p.ForTest == "" && len(p.CompiledGoFiles) > 0 {
			r.Programs = append(r.Programs, &Program{Path: p.PkgPath, Kind: Main, Root: p})
		}
	}
	sort.Slice(r.Programs, func(i, j int) bool {
		a, b := r.Programs[i], r.Programs[j]
		if a.Path != b.Path {
			return a.Path < b.Path
		}
		return a.Kind < b.Kind
	})
	covered := make(map[string]bool) // paths of the packages of all programs
	for _, prog := range r.Programs {
		prog.Scope = make(map[string]bool)
		for _, p := range prog.Packages() {
			covered[p.PkgPath] = true
			if r.Named[p.PkgPath] && !isTestMain(p) {
				prog.Scope[p.PkgPath] = true
			}
		}
	}
	for _, p := range r.Packages {
		if isTestMain(p) || p.ForTest != "" || p.Name == "main" || tested[p.PkgPath] {
			continue
		}
		r.Libraries = append(r.Libraries, p.PkgPath)
		if !covered[p.PkgPath] {
			r.Uncovered = append(r.Uncovered, p.PkgPath)
		}
	}
	sort.Strings(r.Libraries)
	sort.Strings(r.Uncovered)
	return nil
}

// isTestMain reports whether p is a testmain. Only the go command may write an
// import of an internal package of std into a package outside it, so a
// directory that happens to be named x.test is not mistaken for one.
func isTestMain(p *packages.Package) bool {
	return p.Name == "main" && strings.HasSuffix(p.PkgPath, ".test") &&
		p.Imports["testing/internal/testdeps"] != nil
}

// tables names the variables of a testmain that list entries, with their kind.
var tables = map[string]TestKind{
	"tests":       TestEntry,
	"benchmarks":  Benchmark,
	"fuzzTargets": Fuzz,
	"examples":    Example,
}

// readTestMain fills Tests and TestMain from the testmain's syntax:
//
//	var tests = []testing.InternalTest{ {"TestX", _test.TestX}, ... }
//	func main() { ...; _test.TestMain(m); ... }
//
// Any other form is a go command that this version does not know: an error.
func (p *Program) readTestMain() error {
	byTypes := make(map[*types.Package]*packages.Package)
	for _, imp := range p.Root.Imports {
		byTypes[imp.Types] = imp
	}
	seen := 0
	for _, f := range p.Root.Syntax {
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					spec, ok := spec.(*ast.ValueSpec)
					if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
						continue
					}
					kind, ok := tables[spec.Names[0].Name]
					if !ok {
						continue
					}
					seen++
					if err := p.readTable(kind, spec.Values[0], byTypes); err != nil {
						return err
					}
				}
			case *ast.FuncDecl:
				if decl.Name.Name != "main" {
					continue
				}
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "TestMain" {
						if fn, ok := p.Root.TypesInfo.Uses[sel.Sel].(*types.Func); ok && byTypes[fn.Pkg()] != nil {
							p.TestMain = fn
						}
					}
					return true
				})
			}
		}
	}
	if seen != len(tables) {
		return p.unknownTestMain(fmt.Sprintf("%d tables of entries, not %d", seen, len(tables)))
	}
	return nil
}

// readTable appends the entries of one table of a testmain.
func (p *Program) readTable(kind TestKind, table ast.Expr, byTypes map[*types.Package]*packages.Package) error {
	lit, ok := table.(*ast.CompositeLit)
	if !ok {
		return p.unknownTestMain("a table that is no composite literal")
	}
	for _, elt := range lit.Elts {
		row, ok := elt.(*ast.CompositeLit)
		if !ok || len(row.Elts) < 2 {
			return p.unknownTestMain("an entry without name and function")
		}
		sel, ok := row.Elts[1].(*ast.SelectorExpr)
		if !ok {
			return p.unknownTestMain("an entry that is no function of a package")
		}
		fn, ok := p.Root.TypesInfo.Uses[sel.Sel].(*types.Func)
		if !ok || byTypes[fn.Pkg()] == nil {
			return p.unknownTestMain("entry " + sel.Sel.Name + " is not declared in a package under test")
		}
		p.Tests = append(p.Tests, TestFunc{Name: fn.Name(), Kind: kind, Pkg: byTypes[fn.Pkg()], Func: fn})
	}
	return nil
}

// unknownTestMain returns the error for a testmain of unknown form.
func (p *Program) unknownTestMain(what string) error {
	return &ListError{Dir: p.Root.Dir, Text: "the main package that the go command wrote for " + p.String() + " has " + what}
}

// closure calls f for p and everything p imports, each once, dependencies
// first and imports in the order of their paths.
func closure(p *packages.Package, seen map[*packages.Package]bool, f func(*packages.Package)) {
	if seen[p] {
		return
	}
	seen[p] = true
	paths := make([]string, 0, len(p.Imports))
	for path := range p.Imports {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		closure(p.Imports[path], seen, f)
	}
	f(p)
}
