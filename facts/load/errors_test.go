package load

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/models"
)

// TestErrors holds every error to its type and to what its message must say:
// where, what and the next command.
func TestErrors(t *testing.T) {
	const mod = "-- go.mod --\nmodule example.com/m\ngo 1.26\n"
	model := func(name, src string) []models.File {
		return []models.File{{Path: path.Dir(name), Name: path.Base(name), Source: []byte("//go:build bfmodel\n" + src)}}
	}
	tests := []struct {
		name    string
		archive string
		cfg     Config
		env     []string
		want    any      // a value of the error's type
		says    []string // parts of the message
		not     []string // what must not be in it
	}{
		{
			name:    "types",
			archive: mod + "-- main.go --\npackage main\nfunc main() {\n" + strings.Repeat("\t_ = undef\n", 13) + "}\n",
			want:    &CodeError{},
			says:    []string{"main.go:3:6: undefined: undef\n", "main.go:12:6: ", "\n3 more errors\n", "go vet example.com/m"},
			not:     []string{"main.go:13"},
		},
		{
			name:    "syntax",
			archive: mod + "-- main.go --\npackage main\nfunc main() {\n\tx := \n}\nfunc g( {\n",
			want:    &CodeError{},
			says:    []string{"main.go:4:1: ", "go vet"},
			not:     []string{"declared and not used"},
		},
		{
			name:    "package clause",
			archive: mod + "-- main.go --\npakage main\n",
			want:    &CodeError{},
			says:    []string{"main.go:1:1: expected 'package'"},
		},
		{
			name:    "two packages in one directory",
			archive: mod + "-- a.go --\npackage a\n-- b.go --\npackage b\n",
			want:    &CodeError{},
			says:    []string{"found packages a (a.go) and b (b.go)"},
		},
		{
			name:    "redeclared",
			archive: mod + "-- main.go --\npackage main\nfunc main() {}\nfunc main() {}\n",
			want:    &CodeError{},
			says:    []string{"main.go:3:6: main redeclared in this block\n\t", "main.go:2:6: other declaration of main"},
		},
		{
			name:    "no main",
			archive: mod + "-- main.go --\npackage main\nfunc f() {}\n",
			want:    &CodeError{},
			says:    []string{"main.go:1:9: function main is undeclared", "go vet example.com/m"},
		},
		{
			name:    "in a dependency",
			archive: mod + "-- main.go --\npackage main\nimport \"example.com/m/d\"\nfunc main() { d.F() }\n-- d/d.go --\npackage d\nfunc F() int { return \"\" }\n",
			want:    &CodeError{},
			says:    []string{"d.go:2:23: cannot use", "go vet example.com/m/d"},
		},
		{
			name:    "in a test",
			archive: mod + "-- p.go --\npackage p\n-- p_test.go --\npackage p\nimport \"testing\"\nfunc TestX(t *testing.T) int { return 0 }\n",
			cfg:     Config{Tests: true},
			want:    &CodeError{},
			says:    []string{"p_test.go:3:1: wrong signature for TestX, must be: func TestX(t *testing.T)", "go vet example.com/m)"},
		},
		{
			name:    "internal",
			archive: mod + "-- main.go --\npackage main\nimport _ \"internal/abi\"\nfunc main() {}\n",
			want:    &CodeError{},
			says:    []string{"main.go:2:8: use of internal package internal/abi not allowed"},
		},
		{
			name:    "empty directory",
			archive: mod,
			cfg:     Config{Patterns: []string{"./..."}},
			want:    &NoMatchError{},
			says:    []string{"no packages match ./...", "go list ./..."},
		},
		{
			name:    "no Go files",
			archive: mod,
			want:    &NoMatchError{},
			says:    []string{"no packages match .", "no Go files in"},
		},
		{
			name:    "misspelt directory",
			archive: mod + "-- m.go --\npackage m\n",
			cfg:     Config{Patterns: []string{".", "./nosuch"}},
			want:    &NoMatchError{},
			says:    []string{"no packages match ./nosuch:", "go list ./..."},
		},
		{
			name:    "misspelt wildcard",
			archive: mod + "-- m.go --\npackage m\n",
			cfg:     Config{Patterns: []string{"./...", "./nosuch/..."}},
			want:    &NoMatchError{},
			says:    []string{"no packages match ./nosuch/...", "go list ./..."},
		},
		{
			name:    "misspelt import path",
			archive: mod + "-- m.go --\npackage m\n",
			cfg:     Config{Patterns: []string{"example.com/m/nosuch"}},
			want:    &NoMatchError{},
			says:    []string{"no packages match example.com/m/nosuch"},
		},
		{
			name:    "misspelt std",
			archive: mod + "-- m.go --\npackage m\n",
			cfg:     Config{Patterns: []string{"sotr"}},
			want:    &NoMatchError{},
			says:    []string{"no packages match sotr: package sotr is not in std", "./sotr"},
		},
		{
			name:    "missing file",
			archive: mod,
			cfg:     Config{Patterns: []string{"nosuch.go"}},
			want:    &NoMatchError{},
			says:    []string{"nosuch.go"},
		},
		{
			name:    "excluded by tags",
			archive: mod + "-- m.go --\n//go:build special\npackage m\n",
			want:    &NoMatchError{},
			says:    []string{"build constraints exclude all Go files", "-tags="},
		},
		{name: "no go.mod, .", archive: "-- main.go --\npackage main\nfunc main() {}\n", want: &NoModuleError{}, says: []string{"no go.mod", "go mod init"}},
		{name: "no go.mod, ./...", archive: "-- main.go --\npackage main\nfunc main() {}\n", cfg: Config{Patterns: []string{"./..."}}, want: &NoModuleError{}, says: []string{"go mod init"}},
		{name: "no go.mod, path", archive: "-- x --\n", cfg: Config{Patterns: []string{"example.com/x"}}, want: &NoModuleError{}, says: []string{"go mod init"}},
		{
			name:    "no go.mod, import",
			archive: "-- main.go --\npackage main\nimport _ \"example.com/x\"\nfunc main() {}\n",
			cfg:     Config{Patterns: []string{"main.go"}},
			want:    &NoModuleError{},
			says:    []string{"go mod init"},
		},
		{
			name:    "missing module",
			archive: mod + "-- main.go --\npackage main\nimport \"github.com/none/such\"\nfunc main() { such.F() }\n",
			want:    &DependencyError{},
			says:    []string{"main.go:2:8: no required module provides package github.com/none/such\n", "go get github.com/none/such", "go mod tidy"},
			not:     []string{"undefined", "could not import"},
		},
		{
			name:    "missing sum",
			archive: "-- go.mod --\nmodule example.com/m\ngo 1.26\nrequire example.com/dep v1.0.0\n-- main.go --\npackage main\nimport _ \"example.com/dep\"\nfunc main() {}\n",
			want:    &DependencyError{},
			says:    []string{"example.com/dep", "go mod download", "go mod tidy"},
		},
		{
			name:    "misspelt import",
			archive: mod + "-- main.go --\npackage main\nimport _ \"fmtt\"\nfunc main() {}\n",
			want:    &DependencyError{},
			says:    []string{"main.go:2:8: package fmtt is not in std", "go list std"},
		},
		{
			name:    "stale vendor directory",
			archive: "-- go.mod --\nmodule example.com/m\ngo 1.26\nrequire example.com/dep v1.0.0\n-- main.go --\npackage main\nfunc main() {}\n-- vendor/modules.txt --\n",
			want:    &DependencyError{},
			says:    []string{"inconsistent vendoring", "go mod vendor"},
		},
		{
			name:    "cycle",
			archive: mod + "-- a/a.go --\npackage a\nimport _ \"example.com/m/b\"\n-- b/b.go --\npackage b\nimport _ \"example.com/m/a\"\n",
			cfg:     Config{Patterns: []string{"./..."}},
			want:    &CycleError{},
			says:    []string{"a.go:2:8: import cycle: example.com/m/a imports example.com/m/b imports example.com/m/a", "go list -deps"},
		},
		{
			name:    "cycle by a test",
			archive: mod + "-- a/a.go --\npackage a\n-- a/a_test.go --\npackage a\nimport _ \"example.com/m/b\"\n-- b/b.go --\npackage b\nimport _ \"example.com/m/a\"\n",
			cfg:     Config{Patterns: []string{"./a"}, Tests: true},
			want:    &CycleError{},
			says:    []string{"a_test.go:2:8: import cycle by test files: example.com/m/a imports", "example.com/m/a_test"},
		},
		{
			name:    "go.mod",
			archive: "-- go.mod --\nmodule example.com/m\nfoo bar\n-- main.go --\npackage main\nfunc main() {}\n",
			want:    &ListError{},
			says:    []string{"go.mod:2: unknown directive: foo"},
		},
		{
			name:    "newer Go",
			archive: "-- go.mod --\nmodule example.com/m\ngo 1.99\n-- main.go --\npackage main\nfunc main() {}\n",
			want:    &VersionError{},
			says:    []string{"go.mod: needs go1.99.0, but the go command is go1.", "GOTOOLCHAIN=go1.99.0 go install ", "go mod edit -go="},
		},
		{
			name:    "newer Go that cannot be fetched",
			archive: "-- go.mod --\nmodule example.com/m\ngo 1.99\n-- main.go --\npackage main\nfunc main() {}\n",
			env:     []string{"GOTOOLCHAIN=auto"},
			want:    &VersionError{},
			says:    []string{"needs go1.99", "go mod edit"},
		},
		{
			name:    "newer Go in a dependency",
			archive: "-- go.mod --\nmodule example.com/m\ngo 1.26\nrequire example.com/d v0.0.0\nreplace example.com/d => ./d\n-- main.go --\npackage main\nimport _ \"example.com/d\"\nfunc main() {}\n-- d/go.mod --\nmodule example.com/d\ngo 1.99\n-- d/d.go --\npackage d\n",
			want:    &VersionError{},
			says:    []string{"needs go1.99", "go1."},
		},
		{
			name:    "cgo off",
			archive: cgoProgram,
			env:     []string{"CGO_ENABLED=0"},
			want:    &CgoError{},
			says:    []string{"example.com/c: needs cgo, but CGO_ENABLED is 0", "CGO_ENABLED=1 bfverify"},
		},
		{
			name:    "cgo off, wildcard",
			archive: cgoProgram,
			cfg:     Config{Patterns: []string{"./..."}},
			env:     []string{"CGO_ENABLED=0", "CC=nosuchcc"},
			want:    &CgoError{},
			says:    []string{"example.com/c: needs cgo, but CGO_ENABLED is 0", "apt-get install gcc; then: CGO_ENABLED=1 bfverify ./..."},
		},
		{
			name:    "cgo off, some files excluded",
			archive: cgoProgram + "-- other.go --\npackage main\nvar x = y\n-- y.go --\npackage main\nimport \"C\"\nvar y = C.int(0)\n",
			env:     []string{"CGO_ENABLED=0"},
			want:    &CgoError{},
			says:    []string{"example.com/c: needs cgo, but CGO_ENABLED is 0"},
		},
		{
			name:    "no C compiler",
			archive: cgoProgram,
			env:     []string{"CGO_ENABLED=1", "CC=nosuchcc"},
			want:    &CgoError{},
			says:    []string{`example.com/c: needs cgo, but the C compiler "nosuchcc" is not there`, "CC=", "CGO_ENABLED=0 bfverify ."},
		},
		{
			name:    "cgo with an error in C",
			archive: mod + "-- main.go --\npackage main\n// #include <nosuch.h>\nimport \"C\"\nfunc main() { C.f() }\n",
			env:     []string{"CGO_ENABLED=1"},
			want:    &CodeError{},
			says:    []string{"main.go:2:", "nosuch.h"},
		},
		{name: "no directory", cfg: Config{Dir: "/no/such/dir"}, want: &DirError{}, says: []string{"/no/such/dir: cannot work in this directory: no such file or directory", "ls /no/such"}},
		{name: "file as directory", cfg: Config{Dir: "errors_test.go"}, want: &DirError{}, says: []string{"errors_test.go: cannot work in this directory: not a directory"}},
		{
			name:    "model with a type error",
			archive: mod + "-- main.go --\npackage main\nimport _ \"sync/atomic\"\nfunc main() {}\n",
			cfg:     Config{Models: model("sync/atomic/x.go", "package atomic\nfunc bf_F() int { return noSuchThing }\n")},
			want:    &ModelError{},
			says:    []string{"src/sync/atomic/bf_x.go: this model does not fit the std of go1.", "bf_x.go:3:26: undefined: noSuchThing", "bfverify models"},
		},
		{
			name:    "model that redeclares",
			archive: mod + "-- main.go --\npackage main\nimport _ \"sync/atomic\"\nfunc main() {}\n",
			cfg:     Config{Models: model("sync/atomic/aa.go", "package atomic\ntype Int32 struct{}\n")},
			want:    &ModelError{},
			says:    []string{"src/sync/atomic/bf_aa.go: this model does not fit", "Int32 redeclared"},
		},
		{
			name:    "model that makes a cycle",
			archive: mod + "-- main.go --\npackage main\nimport _ \"sync/atomic\"\nfunc main() {}\n",
			cfg:     Config{Models: model("sync/atomic/x.go", "package atomic\nimport _ \"sync\"\n")},
			want:    &ModelError{},
			says:    []string{"src/sync/atomic/bf_x.go: this model does not fit", "import cycle"},
		},
		{
			name:    "model that does not parse",
			archive: mod + "-- main.go --\npackage main\nimport _ \"sync/atomic\"\nfunc main() {}\n",
			cfg:     Config{Models: model("sync/atomic/x.go", "package atomic\nfunc {\n")},
			want:    &ModelError{},
			says:    []string{"sync/atomic/bf_x.go: this model does not fit the std of go1.", "bf_x.go:3:6"},
		},
		{
			name:    "model that imports nothing there is",
			archive: mod + "-- main.go --\npackage main\nimport _ \"sync/atomic\"\nfunc main() {}\n",
			cfg:     Config{Models: model("sync/atomic/x.go", "package atomic\nimport _ \"nosuch\"\n")},
			want:    &ModelError{},
			says:    []string{"src/sync/atomic/bf_x.go: this model does not fit", "nosuch"},
		},
		{
			name:    "error beside a sound model",
			archive: mod + "-- main.go --\npackage main\nimport _ \"sync/atomic\"\nfunc main() { x }\n",
			cfg:     Config{Models: model("sync/atomic/x.go", "package atomic\nfunc bf_F()\n")},
			want:    &CodeError{},
			says:    []string{"main.go:3:15: undefined: x"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := test.cfg
			if cfg.Dir == "" {
				cfg.Dir = write(t, test.archive)
			}
			cfg.Env = env(test.env...)
			r, err := Load(context.Background(), cfg)
			if err == nil {
				t.Fatalf("no error; programs %v, libraries %v", names(r), r.Libraries)
			}
			if reflect.TypeOf(err) != reflect.TypeOf(test.want) {
				t.Errorf("error of type %T, want %T", err, test.want)
			}
			for _, s := range test.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("does not say %q", s)
				}
			}
			for _, s := range test.not {
				if strings.Contains(err.Error(), s) {
					t.Errorf("says %q", s)
				}
			}
			if t.Failed() || testing.Verbose() {
				t.Logf("%T\n%v", err, err)
			}
		})
	}
}

func TestNoGoCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Load(context.Background(), Config{Patterns: []string{"fmt"}})
	var ge *GoCommandError
	if !errors.As(err, &ge) || !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "go version") {
		t.Errorf("%T %v", err, err)
	}
}

// TestNewerStd covers what needs a go command newer than this binary.
func TestNewerStd(t *testing.T) {
	x := &explainer{dir: t.TempDir(), build: &Build{GOROOT: "/goroot", GoVersion: "go1.99.1"}}
	std := &packages.Package{ID: "fmt", PkgPath: "fmt", Dir: "/goroot/src/fmt"}
	user := &packages.Package{ID: "example.com/m", PkgPath: "example.com/m", Dir: x.dir}
	for _, c := range []struct {
		pkg   *packages.Package
		err   packages.Error
		needs string // "" where the code is to blame
	}{
		{user, packages.Error{Pos: "m.go:1:1", Msg: "package requires newer Go version go1.98 (application built with go1.26)", Kind: packages.TypeError}, "go1.98"},
		{user, packages.Error{Pos: "m.go:1:1", Msg: "file requires newer Go version go1.99 (application built with go1.26)", Kind: packages.TypeError}, "go1.99"},
		{std, packages.Error{Pos: "/goroot/src/fmt/x.go:1:1", Msg: "expected operand, found 'newword'", Kind: packages.ParseError}, "go1.99.1"},
		{user, packages.Error{Pos: "m.go:1:1", Msg: "undefined: x", Kind: packages.TypeError}, ""},
	} {
		err := x.explain(nil, []finding{x.finding(c.pkg, c.err)})
		var ve *VersionError
		var ce *CodeError
		if c.needs == "" {
			if !errors.As(err, &ce) || !strings.Contains(ce.Hint, "go1.99.1") {
				t.Errorf("%v: %v", c.err, err)
			}
		} else if !errors.As(err, &ve) || ve.Needs != c.needs || ve.Have != runtime.Version() || !strings.Contains(err.Error(), "GOTOOLCHAIN="+release(c.needs)) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

func TestGoMinor(t *testing.T) {
	for v, want := range map[string]int{"go1.26.8": 26, "go1.27rc1": 27, "go1.26": 26, "go1.26-custom": 26, "devel +abc": 1 << 20} {
		if got := goMinor(v); got != want {
			t.Errorf("goMinor(%q) = %d, want %d", v, got, want)
		}
	}
}

// TestMessagesNameFiles shows paths relative to the current directory.
func TestMessagesNameFiles(t *testing.T) {
	dir := write(t, "-- go.mod --\nmodule m\n-- d/m.go --\npackage m\nvar x = y\n")
	t.Chdir(dir)
	_, err := Load(context.Background(), Config{Dir: "d", Env: env()})
	if err == nil || !strings.HasPrefix(err.Error(), filepath.FromSlash("d/m.go:2:9: undefined: y\n")) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("d/m.go"); err != nil {
		t.Error(err)
	}
}
