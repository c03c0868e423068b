package stage_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bfverify/bfverify/stages/stage"
)

// TestPool compares the operations of a pool with those of maps.
func TestPool(t *testing.T) {
	const n = 130
	rng := rand.New(rand.NewPCG(1, 2))
	p := stage.NewPool(n)
	type pair struct {
		id  stage.Set
		has map[int]bool
	}
	sets := []pair{{stage.None, map[int]bool{}}}
	for range 12 {
		s := pair{stage.None, map[int]bool{}}
		for range rng.IntN(6) {
			i := rng.IntN(n)
			s.id, s.has[i] = p.Or(s.id, p.One(i)), true
		}
		sets = append(sets, s)
	}
	for range 2000 {
		a, b := sets[rng.IntN(len(sets))], sets[rng.IntN(len(sets))]
		op := rng.IntN(3)
		got := [...]func(a, b stage.Set) stage.Set{p.Or, p.AndNot, p.And}[op](a.id, b.id)
		want := pair{got, map[int]bool{}}
		for i := range n {
			x, y := a.has[i], b.has[i]
			if [...]bool{x || y, x && !y, x && y}[op] {
				want.has[i] = true
			}
			if p.Has(got, i) != want.has[i] {
				t.Fatalf("operation %d of %v and %v: element %d is wrong", op, a.has, b.has, i)
			}
		}
		for _, s := range sets {
			same := len(s.has) == len(want.has)
			for i := range s.has {
				same = same && want.has[i]
			}
			if same != (s.id == got) {
				t.Fatalf("%v and %v have numbers %d and %d", s.has, want.has, s.id, got)
			}
		}
		if len(sets) < 200 {
			sets = append(sets, want)
		}
	}
}

// TestComponents compares components with reachability on random graphs.
func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 1 + rng.IntN(12)
		succ := make([][]int, n)
		reach := make([][]bool, n)
		for i := range n {
			reach[i] = make([]bool, n)
			reach[i][i] = true
		}
		for range rng.IntN(2 * n) {
			i, j := rng.IntN(n), rng.IntN(n)
			succ[i] = append(succ[i], j)
			reach[i][j] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		comp, count := stage.Components(n, func(i int, visit func(int)) {
			for _, j := range succ[i] {
				visit(j)
			}
		})
		for i := range n {
			if comp[i] < 0 || int(comp[i]) >= count {
				t.Fatalf("%v: component %d of %d", succ, comp[i], count)
			}
			for j := range n {
				if (comp[i] == comp[j]) != (reach[i][j] && reach[j][i]) {
					t.Fatalf("%v: %d and %d have components %d and %d", succ, i, j, comp[i], comp[j])
				}
				if reach[i][j] && comp[j] > comp[i] {
					t.Fatalf("%v: %d leads to %d, but its component comes first", succ, i, j)
				}
			}
		}
	}
}
