package mustnot

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

var (
	programs  = flag.Int("programs", 40, "generated programs to compare")
	firstSeed = flag.Uint64("firstseed", 1, "seed of the first generated program")
)

// lockProgram generates a main package of functions that lock, call each other
// in all ways that Go has, and seldom unlock in the right order. It compiles; it
// is not meant to be run.
type lockProgram struct {
	*strings.Builder
	r     *rand.Rand
	funcs int
}

func generateLocks(seed uint64) string {
	g := &lockProgram{&strings.Builder{}, rand.New(rand.NewPCG(seed, 7)), 0}
	g.funcs = 4 + g.r.IntN(9)
	g.WriteString(`package main

import "sync"

type S struct {
	x  int
	mu sync.Mutex
}

type T struct {
	x  int
	mu sync.Mutex
	rw sync.RWMutex
	in *T
	es [3]S
	ss []S
}

type I interface{ M(a, b *T) }
type A struct{ t *T }
type B struct{ t *T }

var g, h T
var sem = make(chan bool, 1)
var hook func(a, b *T)
var iface I

func lock(a *T) { a.mu.Lock() }
func unlock(a *T) { a.mu.Unlock() }
func both(a, b *T) { lock(a); lock(b) }
func lockS(s *S) { s.mu.Lock() }
func unlockS(s *S) { s.mu.Unlock() }
func three(a, b *T) { both(a, b); g.mu.Lock() }
`)
	g.fn("(r *A) M", "r.t")
	g.fn("(r B) M", "r.t")
	for i := range g.funcs {
		g.fn(fmt.Sprintf("f%d", i), "")
	}
	g.WriteString("func main() {\n\ta, b := &T{in: &T{}}, &T{in: &g}\n\tiface = &A{a}\n\tif a.x > 0 { iface = B{b} }\n")
	for range 2 {
		fmt.Fprintf(g, "\thook = f%d\n", g.r.IntN(g.funcs))
	}
	for i := range g.funcs {
		if i < 2 || g.r.IntN(3) == 0 {
			fmt.Fprintf(g, "\tf%d(%s, %s)\n", i, g.arg(""), g.arg(""))
		}
	}
	g.WriteString("}\n")
	return g.String()
}

func (g *lockProgram) fn(name, field string) {
	fmt.Fprintf(g, "func %s(a, b *T) {\n", name)
	if g.r.IntN(4) == 0 {
		g.WriteString("\tdefer func() { recover() }()\n")
	}
	g.WriteString("\ti, j, s := a.x, b.x, b.ss\n\t_, _, _ = i, j, s\n")
	g.block(3, field, 2+g.r.IntN(5))
	g.WriteString("}\n")
}

func (g *lockProgram) arg(field string) string {
	s := []string{"a", "b", "a", "b", "&g", "&h", "a.in", "b.in", "&T{in: a}", field}
	if x := s[g.r.IntN(len(s))]; x != "" {
		return x
	}
	return "a"
}

func (g *lockProgram) block(depth int, field string, n int) {
	for range n {
		g.stmt(depth, field)
	}
}

func (g *lockProgram) stmt(depth int, field string) {
	arg := func() string { return g.arg(field) }
	one := func(s ...string) string { return s[g.r.IntN(len(s))] }
	call := func() string {
		return fmt.Sprintf("%s(%s, %s)", one("both", "three", "hook", "iface.M", "f0", "f1", fmt.Sprint("f", g.r.IntN(g.funcs))), arg(), arg())
	}
	elem := func() string {
		return fmt.Sprintf("%s[%s]", one("a.es", "a.es", "b.es", "s", "s", "a.ss"), one("i", "i", "j", "i+1", "i+j", "1"))
	}
	switch k := g.r.IntN(18); {
	case k < 3 && depth > 0: // held over some statements
		x, lock := one("a", "b", "g", "h", "a.in"), one("mu.Lock", "rw.Lock", "rw.RLock")
		fmt.Fprintf(g, "%s.%s()\n", x, lock)
		g.block(depth-1, field, 1+g.r.IntN(3))
		fmt.Fprintf(g, "%s%s.%s()\n", one("", "", "", "defer "), x, strings.NewReplacer(".Lock", ".Unlock", ".RLock", ".RUnlock").Replace(lock))
	case k < 4 && depth > 0 && g.r.IntN(3) == 0: // a channel as a lock
		g.WriteString("sem <- true\n")
		g.block(depth-1, field, 1+g.r.IntN(3))
		fmt.Fprintf(g, "%s\n", one("<-sem", "<-sem", "select { case <-sem: }"))
	case k < 4:
		fmt.Fprintf(g, "%s(%s)\n", one("lock", "lock", "unlock"), arg())
	case k < 5:
		fmt.Fprintf(g, "%s.%s()\n", one("a", "b", "g"), one("mu.Lock", "mu.Unlock", "rw.RUnlock", "rw.Lock"))
	case k < 8:
		fmt.Fprintf(g, "%s%s\n", one("", "", "", "", "defer ", "go "), call())
	case k < 9 && depth > 0:
		g.WriteString("if a.x > b.x {\n")
		g.block(depth-1, field, 1+g.r.IntN(2))
		g.WriteString("} else {\n")
		g.block(depth-1, field, g.r.IntN(3))
		g.WriteString("}\n")
	case k < 10 && depth > 0:
		g.WriteString("for a.x > 0 {\n")
		g.block(depth-1, field, 1+g.r.IntN(2))
		g.WriteString("}\n")
	case k < 11:
		fmt.Fprintf(g, "%s = %s\n", one("a", "b", "a.in"), arg())
	case k < 12:
		fmt.Fprintf(g, "if b.x == %d { %s }\n", g.r.IntN(9), one("return", "panic(1)"))
	case k < 15 && depth > 0: // an element's lock, held over uses of elements
		e := elem()
		fmt.Fprintf(g, "%s\n", one("lockS(&"+e+")", e+".mu.Lock()"))
		for range 1 + g.r.IntN(2) {
			fmt.Fprintf(g, "%s.x++\n", one(e, e, elem()))
			g.block(depth-1, field, g.r.IntN(2))
		}
		fmt.Fprintf(g, "%s\n", one("unlockS(&"+e+")", e+".mu.Unlock()", "defer "+e+".mu.Unlock()"))
	case k < 16:
		fmt.Fprintf(g, "%s\n", one("i = j", "i++", "s = s[i:]", "s = a.ss", "a.ss = s", "a.es = b.es"))
	case k < 17:
		fmt.Fprintf(g, "%s.mu.%s()\n", elem(), one("Lock", "Unlock"))
	default:
		g.WriteString("a.x++\n")
	}
}

// TestSharing compares the locksets with those of the plain twin, at all points
// of all instances, on generated programs and on packages of std, under policies
// that give a function one context and many.
func TestSharing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module sharing\n\ngo 1.26\n")
	for s := *firstSeed; s < *firstSeed+uint64(*programs); s++ {
		write(fmt.Sprintf("p%05d/main.go", s), generateLocks(s))
	}
	write("std/main.go", "package main\n\nimport (\"log\"; \"os\")\n\nfunc main() { log.New(os.Stdout, \"\", 0).Println(len(os.Args)) }\n")
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}, Models: models.Files()})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, cfg := range []pta.Config{{Policy: pta.Insens, HK: -1}, {Policy: pta.Hybrid, K: 1, HK: -1}, {Policy: pta.Hybrid, K: 2, HK: 2}} {
			held += comparePlain(t, fp, cfg)
		}
	}
	t.Logf("%d points with locks held", held)
	if held < 100**programs {
		t.Errorf("locks are held at %d points only: the programs say little", held)
	}
}

// comparePlain returns the number of points at which something is held.
func comparePlain(t *testing.T, p *facts.Program, cfg pta.Config) (held int) {
	t.Helper()
	res, err := pta.Analyze(context.Background(), p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	v := stage.NewView(stage.NewWorld(res), stage.AllEntries)
	got := NewLocks(v, func(uint32) bool { return false })
	want := newPlain(v, got.opAt, got.Effects().SameLoads, got.Effects().WrittenOnce)
	bad := func(n pta.InstID, what string, x, y any) {
		t.Errorf("%s, %s k=%d: %s of instance %d, %s: shared %v, plain %v", p.Path, cfg.Policy, cfg.K, what, n, res.Func(n).Name, x, y)
	}
	for i := 1; i < len(res.Insts) && !t.Failed(); i++ {
		n := pta.InstID(i)
		f := res.Func(n)
		if f == nil {
			continue
		}
		for r := range f.Regs {
			if x, y := got.rootOf(f, facts.Reg(r)), want.rootOf(f, facts.Reg(r)); x != y {
				bad(n, fmt.Sprint("root of register ", r), x, y)
			}
		}
		for q := range f.Points {
			x, y := got.At(n, uint32(q)), want.At(n, uint32(q))
			if !slices.Equal(x, y) {
				bad(n, fmt.Sprint("locks at point ", q), x, y)
			}
			if len(x) > 0 {
				held++
			}
		}
		if x, y := got.sets.sets[got.acquires[n]], want.acquires[n]; !slices.Equal(x, y) {
			bad(n, "acquires", x, y)
		}
		var x, y []uint32
		for c, k := range got.index {
			if got.cells.Has(got.releases[n], k) {
				x = append(x, c)
			}
		}
		for c := range want.releases[n] {
			y = append(y, c)
		}
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			bad(n, "releases", x, y)
		}
	}
	return held
}
