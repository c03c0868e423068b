package while

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
)

var programs = flag.Int("programs", 4000, "random programs for the theorems; the long run has 100000")

// sets returns the sets of sites that are asked about: each one, and some pairs.
func sets(p *Program) []map[int]bool {
	var out []map[int]bool
	for i := range p.Sites {
		out = append(out, map[int]bool{i: true})
		for j := i + 1; j < min(p.Sites, i+3); j++ {
			out = append(out, map[int]bool{i: true, j: true})
		}
	}
	return out
}

// abstracted reports C ≼ K (Theorem 3.4).
func abstracted(c []Edge, k *Effects) bool {
	for _, e := range c {
		found := false
		for _, a := range k.List {
			found = found || a.F == e.F && a.Abstracts(e)
		}
		if !found {
			return false
		}
	}
	return true
}

// wrong returns how many claims h ∈ DR_K(H) some run of the program refutes,
// and how many claims there are of a site that some run links to.
func wrong(p *Program, plus *Effects, without Rules, runs []map[Object]map[Object]bool) (bad, claims int) {
	for _, H := range sets(p) {
		for h := range p.Sites {
			if !plus.Disjoint(H, h, without) {
				continue
			}
			ok, some := true, false
			for _, r := range runs {
				ok = ok && DisjointC(r, H, h)
				for o, from := range r {
					for o1 := range from {
						some = some || o.H == h && H[o1.H]
					}
				}
			}
			if !ok {
				bad++
			}
			if some {
				claims++
			}
		}
	}
	return bad, claims
}

// TestTheorems checks, on random programs, Theorem 3.4, C ≼ K, and Theorem 4.4,
// h ∈ DR_K(H) implies h ∈ DR_C(H).
func TestTheorems(t *testing.T) {
	claims := 0
	for seed := range uint64(*programs) {
		p := Generate(seed, 6+int(seed%14))
		k := p.Infer()
		plus := k.Closure(Rules{})
		rng := rand.New(rand.NewPCG(seed, 2))
		var runs []map[Object]map[Object]bool
		for range 4 {
			c := p.Run(rng)
			if !abstracted(c, k) {
				t.Fatalf("program %d: C is not within K:\n%s", seed, p)
			}
			runs = append(runs, Reach(c))
		}
		bad, n := wrong(p, plus, Rules{}, runs)
		if bad > 0 {
			t.Fatalf("program %d: DR_K claims what DR_C denies:\n%s", seed, p)
		}
		claims += n
	}
	if claims < *programs/20 {
		t.Errorf("only %d claims in %d programs: the test says little", claims, *programs)
	}
	t.Logf("%d programs, %d claims of sites that are linked to", *programs, claims)
}

// TestMutants leaves out one clause of Definition 4.2 or Figure 9 at a time: each
// must be refuted by some program.
func TestMutants(t *testing.T) {
	for name, without := range map[string]Rules{
		"4.2 (b)": {NoWiden: true}, "same iteration": {NoSame: true}, "below top": {NoBelow: true}, "one type": {NoEqual: true},
	} {
		found := false
		for seed := uint64(0); seed < 30000 && !found; seed++ {
			p := Generate(seed, 6+int(seed%14))
			plus := p.Infer().Closure(without)
			rng := rand.New(rand.NewPCG(seed, 2))
			var runs []map[Object]map[Object]bool
			for range 4 {
				runs = append(runs, Reach(p.Run(rng)))
			}
			bad, _ := wrong(p, plus, without, runs)
			found = bad > 0
		}
		if !found {
			t.Errorf("no program shows that clause %q is needed", name)
		}
	}
}

// example returns the program of Example 3.5 with a statement for the body of
// the inner loop.
func example(s Stmt) *Program {
	return &Program{Vars: 2, Fields: 1, Sites: 2, Loops: 2, Body: While{0, Seq{New{0, 0}, While{1, Seq{New{1, 1}, s}}}}}
}

// TestPaper holds the twin to the paper's examples.
func TestPaper(t *testing.T) {
	t.Run("2.1", func(t *testing.T) {
		p := &Program{Vars: 2, Fields: 1, Sites: 2, Loops: 1, Body: While{0, Seq{New{0, 0}, New{1, 1}, Store{0, 0, 1}}}}
		k := p.Infer()
		if len(k.List) != 1 || k.List[0].T1 != (Type{"\x01", 0}) || k.List[0].T2 != (Type{"\x01", 1}) {
			t.Errorf("K = %v", k.List)
		}
		if !k.Closure(Rules{}).Disjoint(map[int]bool{0: true}, 1, Rules{}) {
			t.Error("h2 is not in DR({h1})")
		}
	})
	t.Run("3.5 A", func(t *testing.T) {
		k := example(Store{0, 0, 1}).Infer()
		if len(k.List) != 1 || k.List[0].T1 != (Type{"\x01\x00", 0}) || k.List[0].T2 != (Type{"\x01\x01", 1}) {
			t.Errorf("K = %v", k.List)
		}
		if !k.Closure(Rules{}).Disjoint(map[int]bool{0: true}, 1, Rules{}) {
			t.Error("h2 is not in DR({h1})")
		}
	})
	t.Run("3.5 B", func(t *testing.T) {
		k := example(Store{1, 0, 0}).Infer()
		if len(k.List) != 1 || k.List[0].T1 != (Type{"\x01\x01", 1}) || k.List[0].T2 != (Type{"\x01\x00", 0}) {
			t.Errorf("K = %v", k.List)
		}
		if k.Closure(Rules{}).Disjoint(map[int]bool{1: true}, 0, Rules{}) {
			t.Error("h1 is in DR({h2})")
		}
	})
	t.Run("figure 1", func(t *testing.T) { // a in x0, x in x1
		p := &Program{Vars: 3, Fields: 2, Sites: 3, Loops: 1, Body: Seq{New{0, 0},
			While{0, Seq{New{1, 1}, Store{0, 0, 1}, New{2, 2}, Store{1, 1, 2}}}}}
		plus := p.Infer().Closure(Rules{})
		for H, want := range map[int]bool{0: true, 1: true} {
			if plus.Disjoint(map[int]bool{H: true}, 2, Rules{}) != want {
				t.Errorf("h3 in DR({h%d}) is not %v", H+1, want)
			}
		}
		if plus.Disjoint(map[int]bool{0: true, 1: true}, 2, Rules{}) {
			t.Error("h3 is in DR({h1, h2}), although both reach it")
		}
	})
	t.Run("section 5.2", func(t *testing.T) { // x.f = y; z = x.f; z.f = w: nothing is known of z
		p := &Program{Vars: 4, Fields: 1, Sites: 3, Loops: 1, Body: While{0, Seq{
			New{0, 0}, New{1, 1}, Store{0, 0, 1}, Load{2, 0, 0}, New{3, 2}, Store{2, 0, 3}}}}
		if p.Infer().Closure(Rules{}).Disjoint(map[int]bool{1: true}, 2, Rules{}) {
			t.Error("rule (14) tells what was loaded")
		}
	})
}

// TestGenerate checks that programs are what their seeds say.
func TestGenerate(t *testing.T) {
	a, b := Generate(7, 12), Generate(7, 12)
	if a.String() != b.String() || a.String() == Generate(8, 12).String() {
		t.Error("programs do not depend on their seeds alone")
	}
	if !strings.Contains(a.Go("p"), "site p.0") {
		t.Errorf("no site in\n%s", a.Go("p"))
	}
}
