package extract_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/cache"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/image"
	"github.com/bfverify/bfverify/models"
)

var (
	long = flag.Int("long", 0, "make so many edits, with tests too")
	seed = flag.Uint64("seed", 1, "of the edits")
)

// memory is a Keeper without a store.
type memory struct {
	mu     sync.Mutex
	kept   map[cache.Key][]byte // load.Known
	export map[cache.Key][]byte
	needs  map[string][]string
	own    map[string]cache.Key
	source map[string]bool
	std    map[cache.Key]bool // which of kept are not of the module
	hints  bool               // use needs
	half   bool               // know std alone, and learn nothing
}

func newMemory() *memory {
	return &memory{kept: map[cache.Key][]byte{}, export: map[cache.Key][]byte{}, needs: map[string][]string{}, own: map[string]cache.Key{}, std: map[cache.Key]bool{}, hints: true}
}

func (m *memory) Known(key cache.Key) *load.Known {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.kept[key]; b != nil && (!m.half || m.std[key]) {
		k, err := image.Decode[load.Known](b)
		if err != nil {
			panic(err)
		}
		return k
	}
	return nil
}

func (m *memory) Export(key cache.Key) []byte { return m.export[key] }

func (m *memory) Source(all []load.Unit) []string {
	touched := map[string]bool{}
	for _, u := range all {
		touched[u.ID] = m.own[u.ID] != u.Own || slices.ContainsFunc(u.Imports, func(id string) bool { return touched[id] })
		m.own[u.ID] = u.Own
		for _, q := range m.needs[u.ID] {
			if touched[u.ID] && m.hints {
				m.source[q] = true
			}
		}
	}
	return slices.Collect(maps.Keys(m.source))
}

// A state is a module as it is built.
type state struct {
	dir   string
	tags  string
	tests bool
}

func (s state) list(t testing.TB) *load.List {
	t.Helper()
	l, err := load.NewList(context.Background(), load.Config{
		Dir: s.dir, Patterns: []string{"./..."}, Tags: s.tags, Tests: s.tests, Models: models.Files(),
		Env: append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// cold extracts everything.
func (s state) cold(t testing.TB) *facts.Universe {
	t.Helper()
	res, err := s.list(t).Check(context.Background(), load.Reuse{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// warm extracts what m does not know, which it learns, and returns the ids of that.
func (s state) warm(t testing.TB, m *memory) (*facts.Universe, []string) {
	t.Helper()
	l := s.list(t)
	if !l.Recipe(cache.NewRecipe("run")) {
		t.Fatal("the list has no recipe")
	}
	m.source = map[string]bool{}
	for range 10 {
		res, err := l.Check(context.Background(), load.Reuse{Keeper: m, Base: cache.NewRecipe("test")})
		if err != nil {
			t.Fatal(err)
		}
		u, err := extract.UniverseKnown(res, func(f *load.Fresh, b []byte) {
			if m.half {
				return
			}
			export, err := f.Export()
			if err != nil {
				t.Fatal(err)
			}
			m.std[f.Key] = !strings.HasPrefix(f.ID, "example.com/")
			k := f.Known
			k.Facts = b
			m.kept[f.Key], m.export[f.Key], m.needs[f.ID] = image.Encode(&k), export, extract.Needs(b)
		})
		var need *extract.NeedSourceError
		if errors.As(err, &need) {
			for _, id := range need.IDs {
				if m.source[id] {
					t.Fatalf("%s is there from source, and asked for again", id)
				}
				m.source[id] = true
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var fresh []string
		for _, f := range res.Fresh {
			fresh = append(fresh, f.ID)
		}
		return u, fresh
	}
	t.Fatal("packages are asked for from source again and again")
	return nil, nil
}

// same compares all that analyses see of two universes.
func same(t testing.TB, what string, warm, cold *facts.Universe) {
	t.Helper()
	dump := func(u *facts.Universe) []byte {
		x := struct {
			Files, Methods []string
			Types          []facts.Type
			Funcs          []facts.Func
			Globals        []facts.Global
			Records        []*facts.Record
		}{u.Files, u.Methods, u.Types, nil, u.Globals, u.Records}
		for _, f := range u.Funcs {
			if f == nil {
				f = &facts.Func{}
			}
			x.Funcs = append(x.Funcs, *f)
		}
		return image.Encode(&x)
	}
	if bytes.Equal(dump(warm), dump(cold)) {
		return
	}
	t.Errorf("%s: the facts differ", what)
	if !slices.Equal(warm.Files, cold.Files) {
		t.Errorf("files: %d, not %d", len(warm.Files), len(cold.Files))
	}
	shown := 0
	for i := 1; i < min(len(warm.Funcs), len(cold.Funcs)); i++ {
		if a, b := warm.Funcs[i], cold.Funcs[i]; !reflect.DeepEqual(a, b) && shown < 3 {
			t.Errorf("function %d:\n%s\n%+v\n%s\n%+v", i, warm.FuncName(facts.FuncID(i)), a, cold.FuncName(facts.FuncID(i)), b)
			shown++
		}
	}
	for i := 1; i < min(len(warm.Types), len(cold.Types)); i++ {
		if a, b := warm.Types[i], cold.Types[i]; !reflect.DeepEqual(a, b) && shown < 6 {
			t.Errorf("type %d:\n%+v\n%+v", i, a, b)
			shown++
		}
	}
	for i := 1; i < min(len(warm.Globals), len(cold.Globals)); i++ {
		if a, b := warm.Globals[i], cold.Globals[i]; a != b && shown < 9 {
			t.Errorf("variable %d:\n%+v\n%+v", i, a, b)
			shown++
		}
	}
	t.FailNow()
}

// write makes the files below dir those of m.
func write(t testing.TB, dir string, m *module) {
	t.Helper()
	want := m.files()
	filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, name); err == nil && !d.IsDir() && want[filepath.ToSlash(rel)] == "" {
			os.Remove(name)
		}
		return nil
	})
	for name, text := range want {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEdits edits a module at random. After each edit, what is extracted with what is
// known from before equals what is extracted from scratch; mostly but for std, which is
// not edited.
func TestEdits(t *testing.T) {
	steps := 8
	if *long > 0 {
		steps = *long
	}
	rnd := rand.New(rand.NewPCG(*seed, 1))
	s := state{dir: t.TempDir()}
	m, mem := &module{cmain: true, linked: true}, newMemory()
	for step := range steps {
		what := "first"
		if step > 0 {
			names := []string{}
			for range 1 + rnd.IntN(2) {
				e := edits[rnd.IntN(len(edits))]
				e.do(m, rnd)
				names = append(names, e.name)
			}
			switch rnd.IntN(8) {
			case 0:
				s.tags = []string{"", "extra"}[rnd.IntN(2)]
				names = append(names, "tags="+s.tags)
			case 1:
				s.tests = *long > 0 && rnd.IntN(4) == 0
			}
			mem.hints = rnd.IntN(4) > 0
			what = strings.Join(names, ", ")
		}
		write(t, s.dir, m)
		u, fresh := s.warm(t, mem)
		if step > 0 && len(fresh) > 40 && !s.tests {
			t.Errorf("step %d, %s: %d packages were extracted again", step, what, len(fresh))
		}
		t.Logf("step %d: %s: %d fresh", step, what, len(fresh))
		if step%10 == 0 {
			same(t, what, u, s.cold(t))
		}
		mem.half = true
		half, _ := s.warm(t, mem)
		mem.half = false
		same(t, what, u, half)
	}
}

// TestFresh says for each kind of edit which packages it reaches.
func TestFresh(t *testing.T) {
	s := state{dir: t.TempDir()}
	m, mem := &module{cmain: true, linked: true, inst: 1}, newMemory()
	write(t, s.dir, m)
	s.warm(t, mem)
	for _, c := range []struct {
		name string
		edit func()
		want string
	}{
		{"nothing", func() {}, ""},
		{"main", func() { m.bodies[3]++ }, "example.com/m"},
		{"an instance", func() { m.inst = 2 }, "example.com/m"},
		{"an import", func() { m.using = 2 }, "cmp example.com/m iter slices"},
		{"and back", func() { m.using = 0 }, ""},
		{"a body below", func() { m.bodies[0]++ }, "example.com/m/a"},
		{"a body between, and lines", func() { m.bodies[2]++; m.lines[2]++ }, "example.com/m/c"},
		{"lines below, where there is nothing generic", func() { m.lines[0]++ }, "example.com/m/a"},
		{"lines above a generic function", func() { m.lines[1]++ }, "example.com/m example.com/m/b"},
		{"a body beside a generic function", func() { m.bodies[1]++ }, "example.com/m/b"},
		{"a generic function", func() { m.generi++ }, "example.com/m example.com/m/b"},
		{"a constant", func() { m.konst++ }, "example.com/m example.com/m/a example.com/m/b example.com/m/c"},
		{"a field", func() { m.field = !m.field }, "example.com/m example.com/m/a example.com/m/b example.com/m/c"},
		{"a call of recover", func() { m.recovr = !m.recovr }, "example.com/m example.com/m/a example.com/m/b example.com/m/c"},
		{"what the kernel gets", func() { m.kernel = !m.kernel }, "example.com/m example.com/m/a example.com/m/b example.com/m/c"},
	} {
		c.edit()
		write(t, s.dir, m)
		_, fresh := s.warm(t, mem)
		if got := strings.Join(fresh, " "); got != c.want {
			t.Errorf("%s: extracted again: %s; want %s", c.name, got, c.want)
		}
	}
}

// TestNeedSource takes away what tells which packages declare the generic functions
// that a package instantiates: that is an error which names them, and never an
// instance without a body.
func TestNeedSource(t *testing.T) {
	s := state{dir: t.TempDir()}
	m, mem := &module{inst: 1}, newMemory()
	write(t, s.dir, m)
	s.warm(t, mem)
	m.bodies[3]++
	write(t, s.dir, m)
	l := s.list(t)
	if !l.Recipe(cache.NewRecipe("run")) {
		t.Fatal("the list has no recipe")
	}
	mem.hints, mem.source = false, map[string]bool{}
	res, err := l.Check(context.Background(), load.Reuse{Keeper: mem, Base: cache.NewRecipe("test")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = extract.UniverseKnown(res, nil)
	var need *extract.NeedSourceError
	if !errors.As(err, &need) || !slices.Contains(need.IDs, "example.com/m/b") || !slices.Contains(need.IDs, "sync/atomic") {
		t.Errorf("the error is %v", err)
	}
}

// TestVariants edits packages that test binaries compile anew.
func TestVariants(t *testing.T) {
	s := state{dir: t.TempDir(), tests: true}
	m, mem := &module{tests: 2, inst: 2, cmain: true}, newMemory()
	write(t, s.dir, m)
	s.warm(t, mem)
	for _, c := range []struct {
		name string
		edit func()
		want string
	}{
		{"a body beside a generic function", func() { m.bodies[1]++ }, "example.com/m/b example.com/m/b [example.com/m/b.test]"},
		{"a generic function", func() { m.generi++ }, "example.com/m example.com/m/b example.com/m/b [example.com/m/b.test] example.com/m/b_test [example.com/m/b.test]"},
	} {
		c.edit()
		write(t, s.dir, m)
		u, fresh := s.warm(t, mem)
		if got := strings.Join(fresh, " "); got != c.want {
			t.Errorf("%s: extracted again: %s; want %s", c.name, got, c.want)
		}
		mem.half = true
		half, _ := s.warm(t, mem)
		mem.half = false
		same(t, c.name, u, half)
	}
}

// TestLost takes away the export data of a package that is known.
func TestLost(t *testing.T) {
	s := state{dir: t.TempDir()}
	m, mem := &module{}, newMemory()
	write(t, s.dir, m)
	s.warm(t, mem)
	m.bodies[3]++
	write(t, s.dir, m)
	l := s.list(t)
	if !l.Recipe(cache.NewRecipe("run")) {
		t.Fatal("the list has no recipe")
	}
	mem.export = nil
	_, err := l.Check(context.Background(), load.Reuse{Keeper: mem, Base: cache.NewRecipe("test")})
	var lost *load.LostError
	if !errors.As(err, &lost) || !slices.Contains(lost.IDs, "example.com/m/a") {
		t.Errorf("the error is %v", err)
	}
}

// TestStd edits a program that uses much of std. It is slow: make so many edits with
// -long.
func TestStd(t *testing.T) {
	if *long == 0 {
		t.Skip("only with -long")
	}
	s := state{dir: t.TempDir()}
	mem := newMemory()
	for i, line := range []string{"", "\tvar once sync.Once\n\tonce.Do(func() {})\n", "\tx := &struct{ *http.Server; sync.Map }{}\n\t_ = any(x)\n\t_ = x.Close\n"} {
		src := "package main\n\nimport (\n\t\"encoding/json\"\n\t\"net/http\"\n\t\"os\"\n\t\"os/exec\"\n\t\"sync\"\n\t\"text/template\"\n)\n\nvar mu sync.Mutex\n\nfunc main() {\n" + line + `	json.NewEncoder(os.Stdout).Encode(exec.Command("x"))
	template.Must(template.New("x").Parse("")).Execute(os.Stdout, nil)
	http.ListenAndServe("", nil)
}
`
		for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "main.go": src} {
			if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		u, fresh := s.warm(t, mem)
		if i > 0 && len(fresh) != 1 {
			t.Errorf("edit %d: %d packages were extracted again", i, len(fresh))
		}
		if i != 1 {
			same(t, line, u, s.cold(t))
		}
	}
}
