package check

import (
	"cmp"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Fact is what surely is so where a goroutine is. Its kind says which numbers count.
type Fact struct {
	Kind FactKind
	// Locks are named: where register Reg points plus Off bytes, or, if Reg is 0, the
	// one variable at Cell. Write tells the exclusive mode.
	Reg    facts.Reg
	Off    int64
	Cell   uint32
	Write  bool
	Signal uint32 // as findSignals numbers them
	N      uint32 // at least so many
}

// FactKind is a kind of Fact.
type FactKind uint8

// The kinds of facts.
const (
	Held   FactKind = iota // the goroutine holds the lock
	Past                   // N waits for Signal have completed
	Joined                 // those that wait group Signal joins and that are started have called Done
	Credit                 // N is added to wait group Signal, and not spent
)

const maxCount = 100 // of a Fact; what is more is this

// compare orders facts, N apart.
func (a Fact) compare(b Fact) int {
	w := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Signal, b.Signal), cmp.Compare(a.Reg, b.Reg), cmp.Compare(a.Off, b.Off),
		cmp.Compare(a.Cell, b.Cell), cmp.Compare(w(a.Write), w(b.Write)))
}

// Sorted sorts facts, each once.
func Sorted(l []Fact) []Fact {
	slices.SortFunc(l, func(a, b Fact) int { return cmp.Or(a.compare(b), cmp.Compare(b.N, a.N)) })
	return slices.CompactFunc(l, func(a, b Fact) bool { return a.compare(b) == 0 })
}

// State is the facts of one point, ascending; with All, nothing is ever there.
type State struct {
	All   bool
	Facts []Fact
}

// count returns the N of a fact, and whether the state has it.
func (s State) count(n Fact) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(s.Facts, n, Fact.compare)
	if !ok {
		return 0, false
	}
	return s.Facts[i].N, true
}

func (s State) has(n Fact) bool {
	k, ok := s.count(n)
	return s.All || ok && k >= n.N
}

// Within reports whether a state claims no more than another.
func (s State) Within(t State) bool {
	return t.All || !s.All && !slices.ContainsFunc(s.Facts, func(n Fact) bool { return !t.has(n) })
}

func (s State) drop(gone func(Fact) bool) State {
	if !slices.ContainsFunc(s.Facts, gone) {
		return s
	}
	return State{s.All, slices.DeleteFunc(slices.Clone(s.Facts), gone)}
}

func (s State) keep(kinds ...FactKind) State {
	return s.drop(func(n Fact) bool { return !slices.Contains(kinds, n.Kind) })
}

// Meet returns what two states both hold.
func (s State) Meet(t State) State {
	if s.All || t.All {
		if s.All {
			return t
		}
		return s
	}
	out := State{}
	for _, n := range s.Facts {
		if k, ok := t.count(n); ok {
			n.N = min(n.N, k)
			out.Facts = append(out.Facts, n)
		}
	}
	return out
}

// and adds facts to a state; the numbers of those that it has are added up.
func (s State) and(more ...Fact) State {
	if s.All || len(more) == 0 {
		return s
	}
	out := slices.Clone(s.Facts)
	for _, n := range more {
		k, _ := s.count(n)
		n.N = min(n.N+k, maxCount)
		out = append(out, n)
	}
	return State{Facts: Sorted(out)}
}

func (s State) union(t State) State {
	if s.All || t.All {
		return State{All: true}
	}
	return s.and(t.Facts...)
}
