package main

// maxCities bounds the size, so that a set of cities is a word and a path an array.
const maxCities = 20

// A path is the cities of a tour in order, from city 0.
type path [maxCities]uint8

// cities are places in a square, and what is between them.
type cities struct {
	n    int
	dist [maxCities][maxCities]int
	near [maxCities]int // by city, the least distance to another
}

// newCities returns the same cities for the same numbers.
func newCities(n int, seed uint32) *cities {
	const side = 1000
	c := &cities{n: n}
	draw := func() int {
		seed = seed*1664525 + 1013904223
		return int(seed>>12) % side
	}
	var xs, ys [maxCities]int
	for i := range n {
		xs[i], ys[i] = draw(), draw()
	}
	for i := range n {
		c.near[i] = 2 * side
		for j := range n {
			c.dist[i][j] = root((xs[i]-xs[j])*(xs[i]-xs[j]) + (ys[i]-ys[j])*(ys[i]-ys[j]))
			if i != j {
				c.near[i] = min(c.near[i], c.dist[i][j])
			}
		}
	}
	return c
}

// root returns the square root of n, rounded down.
func root(n int) int {
	x := n
	for y := 1; y < x; y = n / x {
		x = (x + y) / 2
	}
	return x
}

// round returns the length of a whole tour.
func (c *cities) round(p path) int {
	sum := 0
	for i := range c.n {
		sum += c.dist[p[i]][p[(i+1)%c.n]]
	}
	return sum
}

// greedy returns one more than the length of the tour that goes to the nearest city
// each time: the best one is shorter than that.
func (c *cities) greedy() int {
	var p path
	visited := uint32(1)
	for i := 1; i < c.n; i++ {
		next, here := -1, int(p[i-1])
		for city := range c.n {
			if visited&(1<<city) == 0 && (next < 0 || c.dist[here][city] < c.dist[here][next]) {
				next = city
			}
		}
		p[i] = uint8(next)
		visited |= 1 << next
	}
	return c.round(p) + 1
}
