package progen

import (
	"cmp"
	"hash/maphash"
	mathbits "math/bits"
	"slices"
)

func trailing(b uint64) int { return mathbits.TrailingZeros64(b) }

// A Pair is two accesses, by number, the smaller first. A place that races with
// itself, run by two goroutines, is a pair of equal numbers.
type Pair struct{ A, B int }

// A Result is what all executions of a program show.
type Result struct {
	Races    []Pair // data races
	Misuse   []Pair // unordered uses of one synchronisation object that should be ordered: see Kind
	Reached  []bool // by access: some execution performs it
	Complete bool   // every execution was covered; otherwise Races and Misuse may lack pairs
	Stuck    bool   // in some execution main does not return: a deadlock, or a panic somewhere
	States   int    // states visited
}

// Racy reports whether some execution has a data race. It is final if true, even
// if the result is not complete.
func (r Result) Racy() bool { return len(r.Races) > 0 }

// DefaultLimit is the limit of states that most programs stay far below.
const DefaultLimit = 100_000

// explorer searches the states of one program.
type explorer struct {
	m       *machine
	visible []bool // plain accesses that the scheduler sees: those that race
	eager   bool   // (E1) holds so far
	foreign bool   // it does not
	plain   bool   // no short cuts
	looped  bool   // a thread ran on and on, without visible instructions perhaps
	found   map[Pair]bool
	reached []bool
	seeds   [2]maphash.Seed

	left     []set           // by access: partners with which no pair is found yet
	aheadBuf [firstClock]set // scratch of ahead
	future   [firstClock]set // scratch of canon, as are those below
	order    []int
	newID    []int32
	queue    []int32
	buf      []byte
}

// report adds the pair of two conflicting accesses.
func (e *explorer) report(a, b int32) {
	p := Pair{int(a), int(b)}
	if p.A > p.B {
		p.A, p.B = p.B, p.A
	}
	e.found[p] = true
	e.left[a].del(int(b))
	e.left[b].del(int(a))
}

// Explore runs every interleaving of p and reports the pairs of accesses that
// race in some of them. It visits at most limit states (0 means DefaultLimit).
//
// Plain accesses that do not race commute with whatever other goroutines do, so
// they are no scheduling points. Those that race become such points if what
// they read may decide what runs next, and the search starts again, until no
// new ones turn up.
func (p *Program) Explore(limit int) Result { return p.explore(limit, false) }

// explore is Explore. If plain is set, it takes none of the short cuts: all
// accesses are scheduling points, (E1) is off and all records are kept.
func (p *Program) explore(limit int, plain bool) Result {
	if limit <= 0 {
		limit = DefaultLimit
	}
	n := len(p.mach.accs)
	e := &explorer{
		m: p.mach, visible: make([]bool, n), eager: !plain && !p.mach.copies, plain: plain, found: map[Pair]bool{}, reached: make([]bool, n),
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	for i := range e.visible {
		e.visible[i] = plain && p.mach.accs[i].Kind <= Write
	}
	for _, s := range p.mach.partner {
		e.left = append(e.left, slices.Clone(s))
	}
	for t := range e.aheadBuf {
		e.aheadBuf[t] = make(set, (n+63)/64)
	}
	var r Result
	for {
		e.looped = false
		var states int
		var complete bool
		states, complete, r.Stuck = e.search(limit - r.States)
		r.States += states
		if e.eager && e.foreign {
			e.eager = false
			if r.States < limit {
				continue
			}
			complete = false
		}
		more := e.promote(e.looped)
		r.Complete = complete && !more && !e.looped
		if !more || r.States >= limit {
			break
		}
	}
	for pair := range e.found {
		if isRace(p.mach.accs[pair.A].Kind, p.mach.accs[pair.B].Kind) {
			r.Races = append(r.Races, pair)
		} else {
			r.Misuse = append(r.Misuse, pair)
		}
	}
	for _, list := range [][]Pair{r.Races, r.Misuse} {
		slices.SortFunc(list, func(a, b Pair) int {
			return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
		})
	}
	r.Reached = e.reached
	return r
}

// promote makes racing accesses visible, or all plain accesses, and reports
// whether any was not.
func (e *explorer) promote(all bool) bool {
	more := false
	if all { // an endless loop that looks at memory then becomes a cycle of states
		for id, a := range e.m.accs {
			if a.Kind <= Write && !e.visible[id] {
				e.visible[id] = true
				more = true
			}
		}
	}
	for pair := range e.found {
		if !e.m.tracked[pair.A] && !e.m.tracked[pair.B] {
			continue // whatever is stored there reads as zero
		}
		for _, id := range []int{pair.A, pair.B} {
			if !e.visible[id] && e.m.accs[id].Kind <= Write {
				e.visible[id] = true
				more = true
			}
		}
	}
	return more
}

// search visits every state that can be reached, each once.
func (e *explorer) search(limit int) (states int, complete, stuck bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != errTooBig {
				panic(r)
			}
			e.looped = true // perhaps without visible instructions
			complete = false
		}
	}()
	s := e.start()
	seen := map[key]bool{}
	var stack []*state
	visit := func(s *state) {
		for ready := true; ready; {
			ready = false
			for t := 0; t < len(s.threads); t++ {
				if s.threads[t].ready {
					ready = true
					e.run(s, t)
				}
			}
		}
		if k := e.canon(s); !seen[k] {
			seen[k] = true
			stack = append(stack, s)
			states++
		}
	}
	visit(s)
	var moves []move
	for len(stack) > 0 {
		if states >= limit {
			return states, false, stuck
		}
		if e.eager && e.foreign {
			return states, false, stuck // starts again without (E1)
		}
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		moves = e.moves(s, moves[:0])
		if len(moves) == 0 && len(s.threads) > 0 && s.threads[0].path == 1 {
			stuck = true
		}
		for i, m := range moves {
			next := s
			if i < len(moves)-1 {
				next = s.clone()
			}
			e.apply(next, m)
			visit(next)
		}
	}
	return states, true, stuck
}

// start returns the state in which main is about to run, after the package's
// initialisers.
func (e *explorer) start() *state {
	s := &state{}
	for _, n := range e.m.globals {
		s.alloc(n)
	}
	s.threads = []thread{{path: 1, owned: true}}
	e.enter(s, 0, []value{tagged(tagFunc, e.m.main)})
	e.enter(s, 0, []value{tagged(tagFunc, e.m.init)})
	s.threads[0].ready = true
	return s
}
