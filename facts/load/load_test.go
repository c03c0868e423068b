package load

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/models"
)

// write makes a directory from a txtar archive and returns its path.
func write(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// env is the environment of all tests: no network, and nothing of the user's.
func env(more ...string) []string {
	return append(os.Environ(), append([]string{"GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=", "GO111MODULE="}, more...)...)
}

// mustLoad loads or fails the test.
func mustLoad(t *testing.T, cfg Config) *Result {
	t.Helper()
	if cfg.Env == nil {
		cfg.Env = env()
	}
	r, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatalf("Load: %T: %v", err, err)
	}
	return r
}

// names lists programs by name.
func names(r *Result) []string {
	list := []string{}
	for _, p := range r.Programs {
		list = append(list, p.Kind.String()+" "+p.Path)
	}
	return list
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// service is a module with everything that variants are about: a main package
// with tests, a package with both kinds of tests, a helper between it and its
// external test, a library, and a package of tests alone.
const service = `
-- go.mod --
module example.com/svc
go 1.25
-- cmd/svc/main.go --
package main
import "example.com/svc/p"
func main() { p.F() }
-- cmd/svc/main_test.go --
package main
import "testing"
func TestSvc(t *testing.T) { main() }
-- cmd/x.test/main.go --
package main
func main() {}
-- p/p.go --
package p
type T struct{ N int }
func F() *T { return &T{} }
-- p/p_test.go --
package p
import "testing"
func TestB(t *testing.T) {}
func TestA(t *testing.T) {}
func Test(t *testing.T) {}
func Test1(t *testing.T) {}
func TestÉ(t *testing.T) {}
func Testlower(t *testing.T) {}
func TestMain(m *testing.M) { m.Run() }
func helper(t *testing.T) {}
type S struct{}
func (S) TestMethod(t *testing.T) {}
func BenchmarkB(b *testing.B) {}
func FuzzF(f *testing.F) {}
-- p/x_test.go --
package p_test
import (
	"fmt"
	"testing"
	"example.com/svc/p"
	"example.com/svc/q"
)
func TestX(t *testing.T) { q.G(p.F()) }
func ExampleF() {
	fmt.Println(1)
	// Output: 1
}
func ExampleT() {
	fmt.Println(1)
	// Unordered output: 1
}
func Example_empty() {
	// Output:
}
func ExampleF_none() { fmt.Println("compiled, not run") }
-- q/q.go --
package q
import "example.com/svc/p"
func G(t *p.T) { t.N++ }
-- lib/lib.go --
package lib
var V int
-- only/only_test.go --
package only
import "testing"
func TestOnly(t *testing.T) {}
-- testdata/bad/bad.go --
package bad
var x int = "not matched by ..."
`

func TestPrograms(t *testing.T) {
	dir := write(t, service)
	var said []string
	r := mustLoad(t, Config{Dir: dir, Patterns: []string{"./..."}, Tests: true, Progress: func(s string) { said = append(said, s) }})
	equal(t, "programs", names(r), []string{
		"main example.com/svc/cmd/svc", "test example.com/svc/cmd/svc",
		"main example.com/svc/cmd/x.test",
		"test example.com/svc/only", "test example.com/svc/p",
	})
	equal(t, "libraries", r.Libraries, []string{"example.com/svc/lib", "example.com/svc/q"})
	equal(t, "uncovered", r.Uncovered, []string{"example.com/svc/lib"})
	equal(t, "language", r.Build.Lang, "go1.25")
	equal(t, "go.mod", r.Build.GoMod, filepath.Join(dir, "go.mod"))
	if len(said) < 3 {
		t.Errorf("progress: %q", said)
	}

	p := r.Programs[4]
	var got []string
	for _, f := range p.Tests {
		got = append(got, f.Kind.String()+" "+f.Name+" in "+f.Pkg.ID)
		if f.Func.Pkg() != f.Pkg.Types || f.Pkg.TypesInfo == nil {
			t.Errorf("%s: package %v, function of %v", f.Name, f.Pkg, f.Func.Pkg())
		}
	}
	in, ext := " in example.com/svc/p [example.com/svc/p.test]", " in example.com/svc/p_test [example.com/svc/p.test]"
	equal(t, "entries", got, []string{
		"Test TestB" + in, "Test TestA" + in, "Test Test" + in, "Test Test1" + in, "Test TestÉ" + in,
		"Test TestX" + ext,
		"Benchmark BenchmarkB" + in,
		"Fuzz FuzzF" + in,
		"Example ExampleF" + ext, "Example ExampleT" + ext, "Example Example_empty" + ext,
	})
	if p.TestMain == nil || p.TestMain.Name() != "TestMain" || p.TestMain.Pkg().Path() != "example.com/svc/p" {
		t.Errorf("TestMain = %v", p.TestMain)
	}
	if p := r.Programs[3]; p.TestMain != nil || len(p.Tests) != 1 {
		t.Errorf("%v: TestMain %v, entries %v", p, p.TestMain, p.Tests)
	}
	equal(t, "scope", p.ScopePaths(), []string{"example.com/svc/p", "example.com/svc/p_test", "example.com/svc/q"})
	equal(t, "scope of main", r.Programs[0].ScopePaths(), []string{"example.com/svc/cmd/svc", "example.com/svc/p"})

	// Variants are kept apart, and inside a program a path names one package.
	// Equal packages are shared.
	find := func(p *Program, path string) *packages.Package {
		var found *packages.Package
		for _, q := range p.Packages() {
			if q.PkgPath == path {
				if found != nil {
					t.Errorf("%v: %s and %s", p, found.ID, q.ID)
				}
				found = q
			}
		}
		return found
	}
	equal(t, "q in p.test", find(p, "example.com/svc/q").ID, "example.com/svc/q [example.com/svc/p.test]")
	equal(t, "p in svc", find(r.Programs[0], "example.com/svc/p").ID, "example.com/svc/p")
	if a, b := find(r.Programs[1], "testing"), find(p, "testing"); a == nil || a != b {
		t.Errorf("testing is loaded twice: %p %p", a, b)
	}

	// Whole program, from source, well-typed.
	for _, prog := range r.Programs {
		seen := make(map[*packages.Package]bool)
		for _, q := range prog.Packages() {
			if q.PkgPath != "unsafe" && (len(q.Syntax) == 0 || q.TypesInfo == nil || q.IllTyped) {
				if q.ID != "example.com/svc/only" {
					t.Errorf("%v: %s: %d files, ill-typed %v", prog, q.ID, len(q.Syntax), q.IllTyped)
				}
			}
			for _, imp := range q.Imports {
				if !seen[imp] {
					t.Errorf("%v: %s comes before its import %s", prog, q.ID, imp.ID)
				}
			}
			seen[q] = true
		}
	}

	// One load serves several scopes.
	for _, c := range []struct{ flag, program, want string }{
		{"example.com/svc/p", "example.com/svc/p.test", "example.com/svc/p example.com/svc/p_test"},
		{"./q,example.com/svc/cmd/...", "example.com/svc/p.test", "example.com/svc/q"},
		{"./q,example.com/svc/cmd/...", "example.com/svc/cmd/svc", "example.com/svc/cmd/svc"},
		{"./...", "example.com/svc/cmd/svc", "example.com/svc/cmd/svc example.com/svc/p"},
		{"", "example.com/svc/cmd/svc", "example.com/svc/cmd/svc example.com/svc/p"},
		{"fm...,./p", "example.com/svc/p.test", "example.com/svc/p example.com/svc/p_test fmt"},
	} {
		s, err := ParseScope(c.flag, dir)
		if err != nil {
			t.Fatalf("%s: %v", c.flag, err)
		}
		if err := s.Apply(r); err != nil {
			t.Errorf("%s: %v", c.flag, err)
		}
		for _, prog := range r.Programs {
			if prog.String() == c.program {
				equal(t, "scope "+c.flag+" of "+c.program, strings.Join(prog.ScopePaths(), " "), c.want)
			}
		}
	}
	apply := func(flag string) error {
		s, err := ParseScope(flag, dir)
		if err != nil {
			return err
		}
		return s.Apply(r)
	}
	if err := apply("all"); err != nil || !p.Scope["sync"] || !p.Scope["example.com/svc/q"] || p.Scope["example.com/svc/p.test"] {
		t.Errorf("scope all: %v, %v", err, p.ScopePaths())
	}
	if err := apply("std"); err != nil || !p.Scope["sync"] || p.Scope["example.com/svc/q"] {
		t.Errorf("scope std: %v, %v", err, p.ScopePaths())
	}
	var se *ScopeError
	for _, flag := range []string{"example.com/nosuch/...", "./p,,./q", "./nosuch"} {
		if err := apply(flag); !errors.As(err, &se) {
			t.Errorf("scope %s: %v", flag, err)
		}
	}
}

// TestWithoutTests leaves test binaries away, and packages with tests are
// libraries then.
func TestWithoutTests(t *testing.T) {
	r := mustLoad(t, Config{Dir: write(t, service), Patterns: []string{"./..."}})
	equal(t, "programs", names(r), []string{"main example.com/svc/cmd/svc", "main example.com/svc/cmd/x.test"})
	equal(t, "libraries", r.Libraries, []string{"example.com/svc/lib", "example.com/svc/only", "example.com/svc/p", "example.com/svc/q"})
}

// TestStd names packages of std, with a model.
func TestStd(t *testing.T) {
	goroot := mustLoad(t, Config{Dir: write(t, "-- go.mod --\nmodule m\n-- m.go --\npackage main\nfunc main() {}\n")}).Build.GOROOT
	model := filepath.Join(goroot, "src", "sync", "bf_mutex.go")
	src := "//go:build bfmodel\npackage sync\nfunc (m *Mutex) bf_Lock() { bfAcquire(m, true) }\nfunc bfAcquire(m any, write bool)\n"
	r := mustLoad(t, Config{
		Dir:      t.TempDir(), // no go.mod needed
		Patterns: []string{"sort", "sync"},
		Tests:    true,
		Models:   []models.File{{Path: "sync", Name: "mutex.go", Source: []byte(src)}},
	})
	equal(t, "programs", names(r), []string{"test sort", "test sync"})
	prog := r.Programs[0]
	if len(prog.Tests) == 0 || !prog.Scope["sort"] || !prog.Scope["sort_test"] || prog.Scope["sync"] != r.Named["sync"] || prog.Scope["fmt"] {
		t.Errorf("sort: %d entries, scope %v", len(prog.Tests), prog.ScopePaths())
	}
	for _, prog := range r.Programs {
		for _, p := range prog.Packages() {
			if p.PkgPath == "sync" {
				obj, _, _ := types.LookupFieldOrMethod(p.Types.Scope().Lookup("Mutex").Type(), true, p.Types, "Lock")
				if obj == nil || r.Fset.Position(obj.Pos()).Filename != model {
					t.Errorf("%s: Lock is %v", p.ID, obj)
				}
			}
		}
	}
}

// TestLeftOut gives a module built-in models of which some do not fit its version.
func TestLeftOut(t *testing.T) {
	dir := write(t, "-- go.mod --\nmodule example.com/m\ngo 1.26\n-- main.go --\npackage main\nfunc main() { f(); g(1) }\nfunc f()\nfunc g(x int)\n")
	file := func(name, src string) models.File {
		return models.File{Path: "example.com/m", Name: name, Source: []byte("//go:build bfmodel\npackage main\n" + src)}
	}
	good, idle := file("f.go", "func bf_f() {}\n"), file("h.go", "func bf_h() {}\n")
	bad, needs := file("g.go", "func bf_g(x any) {}\nfunc bfx_help() {}\n"), file("f.go", "func bf_f() { bfx_help() }\n")
	for _, c := range []struct {
		name  string
		files []models.File
		used  []string
		why   string
	}{
		{"all", []models.File{good, idle}, []string{"f.go", "h.go"}, ""},
		{"one", []models.File{good, bad}, []string{"f.go"}, "bf_g.go:3:6: this stands for func g, which is func(x int), but is func(x any)"},
		{"with what needs it", []models.File{needs, bad}, nil, "bf_g.go:3:6: this stands for func g"},
	} {
		r := mustLoad(t, Config{Dir: dir, Models: c.files})
		var used []string
		for _, m := range r.Models {
			used = append(used, m.Name)
		}
		equal(t, c.name+": models", used, c.used)
		if (c.why == "") != (len(r.LeftOut) == 0) || c.why != "" && !strings.Contains(r.LeftOut[0].Why, c.why) {
			t.Errorf("%s: left out %v, want %q", c.name, r.LeftOut, c.why)
		}
		scope := r.Programs[0].Root.Types.Scope()
		for _, name := range []string{"f", "g"} {
			at := filepath.Base(r.Fset.Position(scope.Lookup(name).Pos()).Filename)
			want := "main.go"
			if slices.Contains(c.used, name+".go") {
				want = "bf_" + name + ".go"
			}
			equal(t, c.name+": "+name, at, want)
		}
	}
	r := mustLoad(t, Config{Dir: dir, Models: []models.File{good, idle}})
	equal(t, "idle", r.Idle, []string{"example.com/m h"})
}

// TestVariants: a model joins each package of its path, also those that test
// binaries compile anew, and what it imports joins the program.
func TestVariants(t *testing.T) {
	dir := write(t, service)
	user := []models.File{{Path: "example.com/svc/p", Name: "p.go", File: filepath.Join(dir, "models", "p.go"),
		Source: []byte("//go:build bfmodel\npackage p\nimport \"container/ring\"\nfunc bf_F() *T { return &T{N: ring.New(1).Len()} }\n")}}
	r := mustLoad(t, Config{Dir: dir, Patterns: []string{"./..."}, Tests: true, Models: user})
	n := 0
	for _, prog := range r.Programs {
		uses, ring := false, false
		for _, p := range prog.Packages() {
			ring = ring || p.PkgPath == "container/ring" && p.Types.Complete()
			if p.PkgPath != "example.com/svc/p" {
				continue
			}
			uses = true
			n++
			if at := r.Fset.Position(p.Types.Scope().Lookup("F").Pos()).Filename; at != user[0].File {
				t.Errorf("%s: F is at %s", p.ID, at)
			}
		}
		if uses != ring {
			t.Errorf("%s: has the package: %v; has what its model imports: %v", prog, uses, ring)
		}
	}
	if n < 3 {
		t.Errorf("the package is in %d programs", n)
	}
}

// TestConfigurations loads without std where it can, so that each costs one
// call of the go command.
func TestConfigurations(t *testing.T) {
	src := `
-- go.mod --
module example.com/m
go 1.26
-- main.go --
package main
func main() { tagged() }
-- on.go --
//go:build special
package main
func tagged() { on() }
func on() {}
-- off.go --
//go:build !special
package main
func tagged() { off() }
func off() {}
-- sub/sub.go --
package main
func main() {}
`
	main := func(r *Result) *types.Scope { return r.Programs[0].Root.Types.Scope() }
	t.Run("tags", func(t *testing.T) {
		dir := write(t, src)
		if s := main(mustLoad(t, Config{Dir: dir})); s.Lookup("off") == nil || s.Lookup("on") != nil {
			t.Errorf("without tags: %v", s)
		}
		for _, cfg := range []Config{
			{Dir: dir, Tags: "special,other"},
			{Dir: dir, Env: env("GOFLAGS=-tags=special '-tags=other special'")},
		} {
			r := mustLoad(t, cfg)
			if s := main(r); s.Lookup("on") == nil || s.Lookup("off") != nil {
				t.Errorf("with tags: %v", s)
			}
			if !slices.Contains(r.Build.Tags, "special") || !strings.Contains(r.Build.String(), "special") {
				t.Errorf("tags of %v: %q", &r.Build, r.Build.Tags)
			}
		}
		var le *ListError
		_, err := Load(context.Background(), Config{Dir: dir, Env: env("GOFLAGS=-overlay=x.json")})
		if !errors.As(err, &le) {
			t.Errorf("overlay in GOFLAGS: %v", err)
		}
	})
	t.Run("target", func(t *testing.T) {
		r := mustLoad(t, Config{Dir: write(t, src), Env: env("GOOS=windows", "GOARCH=arm64")})
		equal(t, "target", r.Build.GOOS+"/"+r.Build.GOARCH+" "+r.Build.Subarch, "windows/arm64 GOARM64=v8.0")
	})
	t.Run("dir", func(t *testing.T) {
		t.Chdir(filepath.Join(write(t, src), "sub"))
		equal(t, ".", names(mustLoad(t, Config{})), []string{"main example.com/m/sub"})
		equal(t, "-C ..", names(mustLoad(t, Config{Dir: "..", Patterns: []string{"./..."}})), []string{"main example.com/m", "main example.com/m/sub"})
		equal(t, "file", names(mustLoad(t, Config{Patterns: []string{"sub.go"}})), []string{"main command-line-arguments"})
	})
	t.Run("work", func(t *testing.T) {
		dir := write(t, `
-- go.work --
go 1.26
use ./a
use ./b
-- a/go.mod --
module example.com/a
go 1.25
-- a/a.go --
package main
import "example.com/b"
func main() { b.F() }
-- b/go.mod --
module example.com/b
go 1.26
-- b/b.go --
package b
func F() {}
`)
		r := mustLoad(t, Config{Dir: dir, Patterns: []string{"./a", "./b/..."}})
		equal(t, "programs", names(r), []string{"main example.com/a"})
		equal(t, "scope", r.Programs[0].ScopePaths(), []string{"example.com/a", "example.com/b"})
		equal(t, "go.work", r.Build.GoWork, filepath.Join(dir, "go.work"))
		equal(t, "language", r.Build.Lang, "go1.26")
		equal(t, "work", names(mustLoad(t, Config{Dir: dir, Patterns: []string{"work"}})), []string{"main example.com/a"})

		_, err := Load(context.Background(), Config{Dir: dir, Patterns: []string{"./..."}, Env: env()})
		var nm *NoMatchError
		if err != nil && (!errors.As(err, &nm) || !strings.Contains(nm.Next, "bfverify work")) {
			t.Errorf("./... beside go.work: %T %v", err, err)
		}
	})
	t.Run("vendor", func(t *testing.T) {
		dir := write(t, `
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
-- main.go --
package main
import "example.com/dep"
func main() { dep.F() }
-- vendor/modules.txt --
# example.com/dep v1.0.0
## explicit; go 1.24
example.com/dep
-- vendor/example.com/dep/dep.go --
package dep
func F() {}
`)
		for _, e := range [][]string{env(), env("GOFLAGS=-mod=vendor")} {
			r := mustLoad(t, Config{Dir: dir, Patterns: []string{"./..."}, Env: e})
			equal(t, "programs", names(r), []string{"main example.com/m"})
			equal(t, "scope", r.Programs[0].ScopePaths(), []string{"example.com/m"})
			dep := r.Programs[0].Root.Imports["example.com/dep"]
			if dep == nil || !strings.HasPrefix(dep.GoFiles[0], filepath.Join(dir, "vendor")) {
				t.Errorf("dep = %v", dep)
			}
			s, err := ParseScope("example.com/dep/...", dir)
			if err != nil || s.Apply(r) != nil || !r.Programs[0].Has("example.com/dep") {
				t.Errorf("scope of a dependency: %v, %v", err, r.Programs[0].ScopePaths())
			}
		}
	})
}

func TestCgo(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler")
	}
	dir := write(t, cgoProgram)
	r := mustLoad(t, Config{Dir: dir, Env: env("CGO_ENABLED=1")})
	equal(t, "programs", names(r), []string{"main example.com/c"})
	if !r.Build.Cgo {
		t.Errorf("build %v has no cgo", &r.Build)
	}
	p := r.Programs[0].Root
	obj := p.Types.Scope().Lookup("main")
	if pos := r.Fset.Position(obj.Pos()); filepath.Base(pos.Filename) != "main.go" || pos.Line != 4 {
		t.Errorf("main is at %v", pos)
	}
	if p.Types.Scope().Lookup("_Cfunc_f") == nil {
		t.Errorf("no output of cgo among %v", p.CompiledGoFiles)
	}
}

const cgoProgram = `
-- go.mod --
module example.com/c
go 1.26
-- main.go --
package main
// int f(void) { return 3; }
import "C"
func main() { println(C.f()) }
`

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, Config{Patterns: []string{"net/http"}}); err != context.Canceled {
		t.Errorf("cancelled before: %v", err)
	}
	for _, after := range []time.Duration{time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		start := time.Now()
		_, err := Load(ctx, Config{Patterns: []string{"net/http"}, Env: env()})
		if err == nil {
			t.Logf("%v: done before", after)
		} else if err != context.DeadlineExceeded {
			t.Errorf("%v: %v", after, err)
		}
		if d := time.Since(start) - after; d > time.Second {
			t.Errorf("%v: returned %v late", after, d)
		}
		cancel()
	}
}

// BenchmarkLoad measures one program, forty like it, and a web server.
//
//	hello  0.55 s, forty  0.6 s, web  1.1 s   on 2 cores, go1.26.8, warm build cache
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	put := func(name, src string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(src), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	hello := "package main\nimport (\"fmt\"; \"sync\")\nvar mu sync.Mutex\nfunc main() { mu.Lock(); fmt.Println() }\n"
	put("go.mod", "module example.com/m\ngo 1.26\n")
	put("hello/m.go", hello)
	put("web/m.go", "package main\nimport \"net/http\"\nfunc main() { http.ListenAndServe(\":0\", nil) }\n")
	for i := range 40 {
		put(fmt.Sprintf("forty/p%d/m.go", i), hello)
	}
	for _, name := range []string{"hello", "forty", "web"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(context.Background(), Config{Dir: dir, Patterns: []string{"./" + name + "/..."}, Env: env()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
