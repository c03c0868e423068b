package stage

import (
	"math/rand/v2"
	"testing"
)

// TestDominators compares with the definition on random graphs: a vertex dominates
// what cannot be reached without it.
func TestDominators(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + r.IntN(9)
		succs := make([][]int, n)
		for range r.IntN(3 * n) {
			v := r.IntN(n)
			succs[v] = append(succs[v], r.IntN(n))
		}
		without := func(d int) []bool {
			seen := make([]bool, n)
			todo := []int{0}
			if d == 0 {
				return seen
			}
			seen[0] = true
			for len(todo) > 0 {
				v := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				for _, w := range succs[v] {
					if w != d && !seen[w] {
						seen[w] = true
						todo = append(todo, w)
					}
				}
			}
			return seen
		}
		live := without(-1)
		dominates := func(d, v int) bool { return d == v || !without(d)[v] }
		idom, order := Dominators(n, 0, func(v int, visit func(int)) {
			for _, w := range succs[v] {
				visit(w)
			}
		})
		count := 0
		for v := range n {
			if !live[v] {
				if idom[v] != -1 {
					t.Fatalf("%v: idom of %d, which is not reached, is %d", succs, v, idom[v])
				}
				continue
			}
			count++
			want := v // the dominator but v that all others dominate; the root's is itself
			for d := range n {
				if d == v || !live[d] || !dominates(d, v) {
					continue
				}
				if want == v || dominates(want, d) {
					want = d
				}
			}
			if int(idom[v]) != want {
				t.Fatalf("%v: idom of %d is %d, want %d", succs, v, idom[v], want)
			}
		}
		if len(order) != count || order[0] != 0 {
			t.Fatalf("%v: order %v", succs, order)
		}
	}
}
