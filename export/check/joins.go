package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// join says that a Wait on a wait group waits for goroutines of some threads, which
// thread owner starts:
//
//	(J1) the wait group is one object, which nothing overwrites
//	(J2) what subtracts from one that may be this subtracts one from surely this, and
//	     is executed by the owner, or at most once in each goroutine of a joined thread
//	(J3) the owner is one goroutine, and alone starts joined threads
//	(J4) before each start of a joined goroutine, and each Done of its own, the owner
//	     has added a unit to spend on it (Credit)
//
// So where Wait returns, the counter was zero, and all that the owner had started has
// called Done. Hence a Wait by the owner makes
//
//	(J5) Joined, until the owner may start the thread again
//	(J6) Past, where the owner has started all: at no start may the Wait, by whoever
//	     executes it, be done. He is the owner or what that alone starts
type join struct {
	owner  int
	joined []int
	own    []At // Dones of the owner
	first  int  // of its signals
	bad    bool // a credit is missing (J4)
}

// findJoin returns the signals of a wait group.
func (k *checker) findJoin(s Signal, o *operations) (out []signal) {
	j := &join{owner: -1, first: len(k.signals)}
	done := map[int][]At{}
	for _, at := range o.adds {
		f := k.fn(at.Inst)
		y := &f.Syncs[f.Points[at.Point].Row]
		n, known := k.added(at.Inst, y)
		if known && n >= 0 {
			continue
		}
		if c, one := k.single(at.Inst, y.Obj); !known || n != -1 || !one || c != s.Cell {
			return nil // (J2)
		}
		for _, t := range k.runBy[at.Inst] {
			done[t] = append(done[t], at)
		}
	}
	for t := range k.threads {
		if by := k.startedBy(t); len(done[t]) > 0 && len(by) == 1 && j.owner < 0 {
			j.owner = by[0]
		}
	}
	if j.owner < 0 || !k.one(j.owner) {
		return nil // (J3)
	}
	for t := range k.threads {
		switch by := k.startedBy(t); {
		case len(done[t]) == 0:
		case t == j.owner:
			j.own = done[t]
		case len(by) != 1 || by[0] != j.owner || !k.onceIn(t, done[t]):
			return nil // (J2), (J3)
		default:
			j.joined = append(j.joined, t)
			out = append(out, signal{Signal: s, need: 1, spots: done[t], thread: t, join: j})
		}
	}
	for _, at := range o.waits {
		k.happens(at, event{j.first, anyone})
	}
	return out
}

// joined returns the facts of a Wait. (J5), (J6)
func (k *checker) joined(i InstID, r facts.Reg) (out []Fact) {
	c, ok := k.single(i, r)
	for _, n := range k.ofCell[c] {
		s := &k.signals[n]
		if !ok || s.Kind != Group || s.join.bad {
			continue
		}
		late := !slices.ContainsFunc(k.startsOf(s.thread), func(q At) bool { return k.done(q).Has(k.event(event{s.join.first, anyone})) })
		for _, t := range k.runBy[i] {
			by := k.startedBy(t)
			late = late && (t == s.join.owner || len(by) == 1 && by[0] == s.join.owner)
		}
		if late {
			out = append(out, Fact{Kind: Past, Signal: uint32(n), N: 1})
		}
		if len(k.runBy[i]) == 1 && k.runBy[i][0] == s.join.owner {
			out = append(out, Fact{Kind: Joined, Signal: uint32(n)})
		}
	}
	return out
}
