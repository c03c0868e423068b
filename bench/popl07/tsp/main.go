// Command tsp finds the shortest round trip through cities by branch and bound.
// Workers take the most promising partial tour from a queue; long ones they finish
// by depth-first search, short ones they extend by each city and put back.
//
//	go run ./bench/popl07/tsp [-workers N] [-size N] [-seed N] [-v]
//
// It prints the length of the shortest tour, and fails if that is not the length
// known for the cities, or not that of the tour found.
//
// The length of the best tour is written under a lock, but read without one to
// prune: an old value only prunes less. That is a race all the same, as it was in
// the program of ETH Zurich by that name.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
)

// best is the shortest tour found so far.
var best struct {
	sync.Mutex
	length int
	path   path
	found  int // how often a shorter one was found
}

// promising reports whether a tour that is no shorter than a bound may be the best.
func promising(bound int) bool {
	return bound < best.length // want: race best.length
}

// offer makes a tour the best one if it is.
func offer(length int, p path) {
	if length >= best.length { // want: race best.length, rare
		return
	}
	best.Lock()
	defer best.Unlock()
	if length < best.length {
		best.length = length // want: race best.length
		best.path = p
		best.found++
	}
}

// search finds the shortest tour with so many workers.
func search(c *cities, workers int) {
	best.length = c.greedy()
	queue.open(partial{visited: 1, length: 0, steps: 1}, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := worker{cities: c}
			w.run()
			total.Lock()
			total.expanded += w.expanded
			total.searched += w.searched
			total.Unlock()
		}()
	}
	wg.Wait()
}

// total is what all workers have done.
var total struct {
	sync.Mutex
	expanded, searched int
}

// known are the lengths of the shortest tours, by size, for seed 1.
var known = map[int]int{8: 2355, 10: 2483, 12: 2487, 13: 2895, 14: 3003, 16: 3409}

func main() {
	workers := flag.Int("workers", 4, "workers")
	size := flag.Int("size", 12, fmt.Sprintf("cities, from 3 to %d", maxCities))
	seed := flag.Uint("seed", 1, "choose other cities")
	verbose := flag.Bool("v", false, "tell on stderr how much was searched")
	flag.Parse()
	if *workers < 1 || *size < 3 || *size > maxCities {
		fmt.Fprintf(os.Stderr, "tsp: there is a worker at least, and -size is from 3 to %d\n", maxCities)
		os.Exit(2)
	}
	c := newCities(*size, uint32(*seed))
	search(c, *workers)
	fmt.Println("shortest tour", best.length)
	if *verbose {
		fmt.Fprintf(os.Stderr, "%d partial tours extended, %d searched, %d times a shorter one\n", total.expanded, total.searched, best.found)
	}
	if best.found > 0 && c.round(best.path) != best.length {
		fmt.Fprintf(os.Stderr, "tsp: the tour found is %d long\n", c.round(best.path))
		os.Exit(1)
	}
	if want, ok := known[*size]; ok && *seed == 1 && best.length != want {
		fmt.Fprintf(os.Stderr, "tsp: the shortest tour is %d long\n", want)
		os.Exit(1)
	}
}
