package main

import (
	"container/heap"
	"sync"
)

// A partial tour goes through some of the cities. No way to complete it is shorter
// than its bound.
type partial struct {
	path    path
	visited uint32 // a set of cities
	steps   int    // cities in path
	length  int    // of the way so far
	bound   int
}

// last returns the city where the partial tour ends.
func (p *partial) last() int { return int(p.path[p.steps-1]) }

// partials is a heap, the one with the least bound first; of two the longer one.
type partials []partial

func (h partials) Len() int { return len(h) }
func (h partials) Less(i, j int) bool {
	if h[i].bound != h[j].bound {
		return h[i].bound < h[j].bound
	}
	return h[i].steps > h[j].steps
}
func (h partials) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *partials) Push(x any)   { *h = append(*h, x.(partial)) }
func (h *partials) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	*h = (*h)[:last]
	return p
}

// tours is a queue of partial tours that knows when all is done: when it is empty
// and nobody is at work on what was in it.
type tours struct {
	mu      sync.Mutex
	changed *sync.Cond
	heap    partials
	working int
}

var queue tours

// open makes it ready for so many workers, with one partial tour.
func (q *tours) open(p partial, workers int) {
	q.changed = sync.NewCond(&q.mu)
	q.heap = append(make(partials, 0, 64), p)
	q.working = workers
}

// put adds a partial tour.
func (q *tours) put(p partial) {
	q.mu.Lock()
	heap.Push(&q.heap, p)
	q.mu.Unlock()
	q.changed.Signal()
}

// take waits for a partial tour; ok is false when all is done. Who calls it has
// done with what it took before.
func (q *tours) take() (p partial, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.working--
	for q.heap.Len() == 0 {
		if q.working == 0 {
			q.changed.Broadcast()
			return partial{}, false
		}
		q.changed.Wait()
	}
	q.working++
	return heap.Pop(&q.heap).(partial), true
}
