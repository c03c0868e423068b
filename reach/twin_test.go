package reach_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/reach"
	"github.com/bfverify/bfverify/reach/internal/while"
	"github.com/bfverify/bfverify/stages/stage"
)

var (
	goPrograms = flag.Int("goprograms", 400, "random programs to compare the Go version with the twin on")
	goSeed     = flag.Uint64("goseed", 1, "seed of the first of them")
)

// world loads one main package and solves it.
func world(t *testing.T, src string, policy pta.Policy) *stage.View {
	t.Helper()
	var v *stage.View
	worlds(t, []txtar.File{{Name: "main.go", Data: []byte(src)}}, policy, func(_ string, w *stage.View) { v = w })
	return v
}

// worlds loads the main packages of a module p, solves each and calls f with it.
func worlds(t *testing.T, files []txtar.File, policy pta.Policy, f func(name string, v *stage.View)) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range append([]txtar.File{{Name: "go.mod", Data: []byte("module p\n\ngo 1.26\n")}}, files...) {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}, Models: models.Files()})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	for _, prog := range res.Programs {
		p, err := extract.Link(u, prog)
		if err != nil {
			t.Fatal(err)
		}
		r, err := pta.Analyze(context.Background(), p, pta.Config{Policy: policy, K: 1, HK: -1})
		if err != nil {
			t.Fatal(err)
		}
		f(prog.Path, stage.NewView(stage.NewWorld(r), stage.AllEntries))
	}
}

var siteComment = regexp.MustCompile(`// site (\S+)`)

// sites returns the objects made on lines with a site comment, by its name.
func sites(v *stage.View, src string) map[string][]pta.ObjID {
	byLine := map[uint32]string{}
	for i, l := range strings.Split(src, "\n") {
		if m := siteComment.FindStringSubmatch(l); m != nil {
			byLine[uint32(i+1)] = m[1]
		}
	}
	out := map[string][]pta.ObjID{}
	for o := 1; o < len(v.Res.Objs); o++ {
		s := v.Res.Site(pta.ObjID(o))
		if s == nil || s.Kind == facts.SiteBox || v.Prog.Funcs[v.Res.Objs[o].Fn].Pkg != "p" {
			continue
		}
		if n := byLine[s.Pos.Line]; n != "" {
			out[n] = append(out[n], pta.ObjID(o))
		}
	}
	return out
}

// TestTwin compares DR of random WHILE programs, as Go programs, with the paper's
// DR_K, of loops that are not left yet, and with what runs show of DR_C: whatever
// the paper claims is claimed, as loads give no less here, and nothing that a run
// refutes.
//
// Effects of one cell are joined here and apart in the paper, which costs a few
// claims.
func TestTwin(t *testing.T) {
	t.Run("once", func(t *testing.T) { againstPaper(t, pta.Hybrid, "\t%s()\n") })
	// With one context, each program's function is entered by two calls, so that
	// its activations are frames of their own.
	t.Run("twice", func(t *testing.T) { againstPaper(t, pta.Insens, "\t%[1]s()\n\tfor more() {\n\t\t%[1]s()\n\t}\n") })
}

// againstPaper runs TestTwin with functions called as the format says.
func againstPaper(t *testing.T, policy pta.Policy, call string) {
	const size = 200 // programs in one main package
	var claims, paper, lost int
	for from := *goSeed; from < *goSeed+uint64(*goPrograms); from += size {
		progs := map[string]*while.Program{}
		var names []string
		var b, calls strings.Builder
		b.WriteString("package main\n\nvar bits []bool\n\nfunc more() bool { b := bits[0]; bits = bits[1:]; return b }\n\ntype obj struct{ f0, f1 *obj }\n\n")
		for s := from; s < min(from+size, *goSeed+uint64(*goPrograms)); s++ {
			n := fmt.Sprintf("p%d", s)
			progs[n] = while.Generate(s, 6+int(s%14))
			names = append(names, n)
			fmt.Fprintf(&b, "func %s() {\n%s}\n\n", n, progs[n].Go(n))
			fmt.Fprintf(&calls, call, n)
		}
		src := b.String() + "func main() {\n" + calls.String() + "}\n"
		v := world(t, src, policy)
		e := reach.New(v, reach.Config{})
		at := sites(v, src)
		for _, n := range names {
			p := progs[n]
			plus := p.InferActive().Closure(while.Rules{})
			rng := rand.New(rand.NewPCG(uint64(p.Sites), 3))
			var runs []map[while.Object]map[while.Object]bool
			for range 6 {
				runs = append(runs, while.Reach(p.Run(rng)))
			}
			for i := range p.Sites {
				for j := i; j < min(p.Sites, i+3); j++ {
					H := append(append([]pta.ObjID(nil), at[fmt.Sprintf("%s.%d", n, i)]...), at[fmt.Sprintf("%s.%d", n, j)]...)
					set := map[int]bool{i: true, j: true}
					for h := range p.Sites {
						objs := at[fmt.Sprintf("%s.%d", n, h)]
						if len(objs) != 1 {
							continue // never stored anywhere, or dead
						}
						mine := e.Disjoint(H, objs[0], nil, 100000)
						theirs := plus.Disjoint(set, h, while.Rules{})
						if theirs {
							paper++
						}
						if mine {
							claims++
						}
						for _, r := range runs {
							if mine && !while.DisjointC(r, set, h) {
								t.Fatalf("%s: h%d in DR(%v), which a run refutes:\n%s", n, h, set, p)
							}
						}
						if theirs && !mine {
							lost++
							t.Logf("%s: h%d in DR(%v) by the paper, not here", n, h, set)
						}
					}
				}
			}
		}
	}
	t.Logf("%d claims here, %d by the paper, %d of these not here", claims, paper, lost)
	if paper == 0 || lost*200 > paper {
		t.Errorf("of %d claims by the paper %d are lost", paper, lost)
	}
}
