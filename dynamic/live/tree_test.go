package live

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestNew makes the overlay for the Go tree in use, and for others in the module cache.
func TestNew(t *testing.T) {
	cache, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	others, _ := filepath.Glob(filepath.Join(cache, "go/pkg/mod/golang.org/toolchain@*-go1.2[456].*"))
	for _, root := range append(others, runtime.GOROOT()) {
		a, err := New(root)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(root)
		if err != nil {
			t.Fatal(err)
		}
		if a.Sum() != b.Sum() || !maps.EqualFunc(a.Replace, b.Replace, slices.Equal) {
			t.Errorf("%s: two overlays differ", root)
		}
	}
}

// anchored are the files that New looks at.
var anchored = []string{
	"internal/sync/mutex.go", "reflect/makefunc.go", "runtime/race.go", "runtime/race0.go", "runtime/race_amd64.s", "runtime/race_arm64.s", "runtime/atomic_pointer.go",
	"sync/atomic/asm.s", "sync/atomic/doc.go", "sync/atomic/doc_64.go", "sync/atomic/race.s", "sync/atomic/type.go", "sync/atomic/value.go",
}

// TestMutants changes a Go tree in one place, where it then must be refused, or must
// not.
func TestMutants(t *testing.T) {
	root := runtime.GOROOT()
	read := func(rel string) string {
		data, err := os.ReadFile(filepath.Join(root, rel))
		if err != nil {
			t.Skip(err)
		}
		return string(data)
	}
	files := map[string]string{"VERSION": read("VERSION")}
	for _, rel := range anchored {
		files["src/"+rel] = read("src/" + rel)
	}
	plant := func(t *testing.T, files map[string]string) string {
		dir := t.TempDir()
		for rel, data := range files {
			name := filepath.Join(dir, rel)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if _, err := New(plant(t, files)); err != nil {
		t.Fatalf("the tree as it is: %v", err)
	}
	for _, m := range []struct{ file, old, new, anchor string }{
		{"VERSION", "go1.", "go2.", "VERSION"},
		{"VERSION", "go1.2", "go1.9", "VERSION"},
		{"src/runtime/race0.go", "func racefini()", "func racefini(code int)", "runtime/race0.go: func racefini"},
		{"src/runtime/race0.go", "func racefini()", "func raceend() {}\n\nfunc racefini()", "runtime/race0.go: func raceend"},
		{"src/runtime/race0.go", "const raceenabled = false", "const raceEnabled = false", "runtime/race0.go: const raceenabled"},
		{"src/runtime/race.go", "func race_Errors()", "func race_Foo() {}\n\nfunc race_Errors()", "runtime/race.go: func race_Foo"},
		{"src/runtime/race.go", "func race_Errors() int", "func race_Errors() uint", "runtime/race.go: func race_Errors"},
		{"src/runtime/race.go", "func RaceErrors()", "func RaceCount()", "runtime/race.go: func RaceCount"},
		{"src/runtime/race.go", "func", "type", "runtime/race.go"},
		{"src/runtime/atomic_pointer.go", "func sync_atomic_SwapUintptr(", "func sync_atomic_ExchangeUintptr(", "runtime/atomic_pointer.go"},
		{"src/runtime/atomic_pointer.go", "sync_atomic_StoreUintptr((*uintptr)", "StoreUintptr((*uintptr)", "runtime/atomic_pointer.go"},
		{"src/sync/atomic/doc.go", "func AddInt32(addr *int32, delta int32)", "func AddInt32(addr *int32, delta int64)", "sync/atomic/doc.go: func AddInt32"},
		{"src/sync/atomic/doc.go", "func AddInt32(", "func XorInt32(", "sync/atomic/doc.go: func XorInt32"},
		{"src/sync/atomic/doc_64.go", "func LoadInt64(addr *int64) (val int64)", "", "sync/atomic/doc.go: func LoadInt64"},
		{"src/sync/atomic/asm.s", "TEXT ·SwapInt32(", "TEXT ·XorInt32(", "sync/atomic/asm.s: XorInt32"},
		{"src/internal/sync/mutex.go", "func (m *Mutex) TryLock() bool {", "func (m *Mutex) Try() bool {", "internal/sync/mutex.go: func (m *Mutex) TryLock"},
		{"src/internal/sync/mutex.go", "atomic.AddInt32(&m.state, delta)", "atomic.AddInt32(&m.other, delta)", "internal/sync/mutex.go: atomic.AddInt32"},
		{"src/internal/sync/mutex.go", "atomic.AddInt32(&m.state, delta)", "atomic.OrInt32(&m.state, delta)", "internal/sync/mutex.go: atomic.OrInt32"},
		{"src/reflect/makefunc.go", "//go:nosplit\nfunc moveMakeFuncArgPtrs(", "func moveMakeFuncArgPtrs(", "reflect/makefunc.go: //go:nosplit"},
		{"src/sync/atomic/type.go", "", "package atomic\n", "sync/atomic/type.go"},
		{"src/sync/atomic/value.go", "", "package atomic\n", "sync/atomic/value.go"},
	} {
		mutant := maps.Clone(files)
		if m.old == "" {
			mutant[m.file] = m.new
		} else {
			mutant[m.file] = strings.ReplaceAll(files[m.file], m.old, m.new)
		}
		if mutant[m.file] == files[m.file] {
			t.Errorf("%s has no %q", m.file, m.old)
			continue
		}
		refused(t, plant(t, mutant), m.file+": "+m.new, m.anchor)
	}
	for file := range files {
		if file == "src/sync/atomic/doc_64.go" {
			continue // there is none before Go 1.26; its functions are missed above
		}
		mutant := maps.Clone(files)
		delete(mutant, file)
		refused(t, plant(t, mutant), "no "+file, strings.TrimPrefix(file, "src/"))
	}
}

// refused asks that the tree is refused for an anchor.
func refused(t *testing.T, dir, what, anchor string) {
	t.Helper()
	var r *Refusal
	if _, err := New(dir); !errors.As(err, &r) {
		t.Errorf("%s: %v", what, err)
	} else if !strings.HasPrefix(r.Anchor, anchor) || r.Go == "" || r.Why == "" {
		t.Errorf("%s: %v, want the anchor %s", what, err, anchor)
	}
}

func TestParseArgs(t *testing.T) {
	for _, test := range []struct{ verb, args, want string }{
		{"test", "-run X ./a -v -update ./b -args -race", "-run X ./a -v -update ./b -args -race"},
		{"test", "-bf.detector ft -assume-open=all -count=1 .", "-count=1 ."},
		{"run", "-x -C dir a.go b.go -race", "-x | a.go b.go -race"},
		{"run", "-tags a,b ./cmd -h", "| ./cmd -h"},
		{"build", "-o x -race=false .", "-o x -race=false ."},
	} {
		c, err := ParseArgs(test.verb, strings.Fields(test.args))
		if err != nil {
			t.Errorf("%s %s: %v", test.verb, test.args, err)
			continue
		}
		got := strings.Join(c.Args, " ")
		if c.Program != nil {
			got = strings.TrimSpace(got + " | " + strings.Join(c.Program, " "))
		}
		if got != test.want {
			t.Errorf("%s %s: %s, want %s", test.verb, test.args, got, test.want)
		}
	}
	c, err := ParseArgs("test", []string{"-cover", "-gcflags=-N -l", "-gcflags=p=-m", "-tags", "a", "."})
	if got := strings.Join(c.compilerFlags(), "|"); err != nil || got != "-tags=a,race|-gcflags=all=-race|-race=false|-gcflags=-N -l -race|-gcflags=p=-m -race|-covermode=atomic" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestWrongArgs: each says what to do.
func TestWrongArgs(t *testing.T) {
	for _, test := range []struct{ verb, args, goflags, want string }{
		{"run", "", "", "there is no program to run"},
		{"run", "-n", "", "there is no program to run"},
		{"run", "-race .", "", "-runtime=race"},
		{"build", "-asan .", "", "cannot be used together"},
		{"build", "-buildmode=c-shared .", "", "use exe or pie"},
		{"build", "-o", "", "needs a value"},
		{"test", "-detector=", "", "must be ft"},
		{"test", "-assume-open=none .", "", "must be all"},
		{"test", "-runtime=x .", "", "must be slim or race"},
		{"test", "-bf.x=1 .", "", "there are -bf.runtime"},
		{"test", "-covermode=set .", "", "use atomic"},
		{"test", ".", "-covermode=count", "GOFLAGS=-covermode=count: "},
		{"test", ".", "-v -msan", "GOFLAGS=-v -msan: "},
		{"test", ".", "'-gcflags=all=-N -l'", "give -gcflags on the command line"},
		{"test", ".", "-overlay=x.json", "give -overlay on the command line"},
		{"test", ".", "'-ldflags=-s", "has no end"},
		{"test", ".", "-race -tags=b \"-ldflags=-s -w\" -cover", ""},
	} {
		c, err := ParseArgs(test.verb, strings.Fields(test.args))
		if err == nil {
			err = c.goflags(test.goflags)
		}
		var usage *UsageError
		switch {
		case test.want == "":
			if err != nil || c.Tags != "b" || !c.Cover {
				t.Errorf("%+v: %v, %+v", test, err, c)
			}
		case !errors.As(err, &usage) || !strings.Contains(usage.Error(), test.want):
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func TestFields(t *testing.T) {
	for list, want := range map[string]string{
		"":                      "",
		" a  b\t":               "a|b",
		`sh -c 'exec "$0"'`:     `sh|-c|exec "$0"`,
		`"a b" c"d '' -x='y z'`: `a b|c"d||-x='y|z'`,
	} {
		if got, err := fields(list); err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
}

func TestJudge(t *testing.T) {
	const race = "WARNING: DATA RACE\n"
	for out, want := range map[string]string{
		"begin a\nend\nbegin race b\n" + race + "end\nall 2 done\n": "",
		"begin a\n" + race + "end\nall 1 done\n":                    "wrong in a",
		"begin race b\nend\nall 1 done\n":                           "wrong in race b",
		"begin a\nend\nbegin b\n":                                   "it did not come to its end",
	} {
		got := ""
		if err := judge(out); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", out, got, want)
		}
	}
}
