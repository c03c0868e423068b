package main

// cutOff is how many cities at the end are left to depth-first search.
const cutOff = 8

// A worker belongs to one goroutine.
type worker struct {
	cities             *cities
	expanded, searched int
}

// run works until all is done.
func (w *worker) run() {
	for {
		p, ok := queue.take()
		if !ok {
			return
		}
		switch {
		case !promising(p.bound):
		case w.cities.n-p.steps <= cutOff:
			w.search(&p)
		default:
			w.expand(&p)
		}
	}
}

// expand puts the partial tour extended by each city into the queue.
func (w *worker) expand(p *partial) {
	w.expanded++
	for city := range w.cities.n {
		if q := *p; w.visit(&q, city) && promising(q.bound) {
			queue.put(q)
		}
	}
}

// search completes a partial tour in all ways that may be the best.
func (w *worker) search(p *partial) {
	w.searched++
	c := w.cities
	if p.steps == c.n {
		offer(p.length+c.dist[p.last()][0], p.path)
		return
	}
	for city := range c.n {
		before := *p
		if w.visit(p, city) && promising(p.bound) {
			w.search(p)
		}
		*p = before
	}
}

// visit extends a partial tour by a city, unless it has it already.
func (w *worker) visit(p *partial, city int) bool {
	c := w.cities
	if p.visited&(1<<city) != 0 {
		return false
	}
	p.length += c.dist[p.last()][city]
	p.path[p.steps] = uint8(city)
	p.steps++
	p.visited |= 1 << city
	p.bound = p.length + c.near[city]
	for other := 1; other < c.n; other++ {
		if p.visited&(1<<other) == 0 {
			p.bound += c.near[other]
		}
	}
	return true
}
