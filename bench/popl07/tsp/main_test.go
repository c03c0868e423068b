package main

import (
	"math"
	"testing"
)

// TestKnown holds the known lengths to dynamic programming over sets of cities (Held
// and Karp 1962), and the search by one worker, which races with nobody, to them.
func TestKnown(t *testing.T) {
	for n, want := range known {
		c := newCities(n, 1)
		if n <= 13 {
			if got := heldKarp(c); got != want {
				t.Errorf("%d cities: the shortest tour is %d long, not %d", n, got, want)
			}
		}
	}
	best.found = 0
	if search(newCities(10, 1), 1); best.length != known[10] || newCities(10, 1).round(best.path) != best.length {
		t.Errorf("the search finds %d", best.length)
	}
}

// heldKarp returns the length of the shortest tour.
func heldKarp(c *cities) int {
	// way[s][k]: the shortest way from city 0 through the set s of others to city k in it
	way := make([][]int, 1<<c.n)
	for s := 1; s < len(way); s++ {
		way[s] = make([]int, c.n)
		for k := range way[s] {
			way[s][k] = math.MaxInt / 2
			if s&(1<<k) == 0 || k == 0 {
				continue
			}
			rest := s &^ (1 << k)
			if rest == 0 {
				way[s][k] = c.dist[0][k]
				continue
			}
			for j := 1; j < c.n; j++ {
				if rest&(1<<j) != 0 {
					way[s][k] = min(way[s][k], way[rest][j]+c.dist[j][k])
				}
			}
		}
	}
	all, shortest := 1<<c.n-2, math.MaxInt
	for k := 1; k < c.n; k++ {
		shortest = min(shortest, way[all][k]+c.dist[k][0])
	}
	return shortest
}
