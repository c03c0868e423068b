package check

import "slices"

// Order by starts and joins. Two goroutines have a lowest common ancestor in the tree
// of starts. If that is one of them, its access comes before the start that led to the
// other, unless it may have started the other by then. If it is a third, it started
// one of them, or an ancestor of it, when it had started the other. If they are one
// goroutine, the accesses are in program order. Where one may have been started, its
// access still comes before if it has been joined since, and the access before its
// Done: a fact says so (joins.go).

// place is a point of an instance, in some thread, or in all that run it.
type place struct {
	at     At
	thread int
}

// ordered reports whether accesses by threads t and u are ordered by starts and joins.
func (k *checker) ordered(t int, a *access, u int, b *access) bool {
	return !k.overlaps(t, a, u, b) && !k.overlaps(u, b, t, a)
}

// overlaps reports whether thread u may be running, before its access b, where thread
// t makes an access, or where t or an ancestor of it is started.
func (k *checker) overlaps(t int, a *access, u int, b *access) bool {
	if k.c.Insts[k.threads[t].entry].Does.Has(u) && k.doneAt(a.at).Has(u) && !k.waitedFor(place{a.at, t}, u, b) {
		return true
	}
	if !k.beside[t].Has(u) {
		return false
	}
	return slices.ContainsFunc(k.besidePlaces(t, u), func(p place) bool { return !k.waitedFor(p, u, b) })
}

// besidePlaces returns where t, or an ancestor of t, is started when u may have been.
func (k *checker) besidePlaces(t, u int) []place {
	key := [2]int{t, u}
	if l, ok := k.places[key]; ok {
		return l
	}
	out := []place{}
	for s := 1; s < len(k.threads); s++ {
		if s != t && !k.c.Insts[k.threads[s].entry].Does.Has(t) {
			continue
		}
		for _, q := range k.startsOf(s) {
			if k.doneAt(q).Has(u) {
				out = append(out, place{q, anyone})
			}
		}
	}
	k.places[key] = out
	return out
}

// waitedFor reports whether an access of thread u comes before a place, if its
// goroutine is started before it: a fact there says that u, or what started it, has
// called Done, which the access precedes.
func (k *checker) waitedFor(p place, u int, b *access) bool {
	for n := range k.signals {
		s := &k.signals[n]
		if s.Kind != Group || !(s.thread == u && !k.doneAt(b.at).Has(k.event(event{n, u})) || k.below(n, u, b)) {
			continue
		}
		if k.heldAt(p.at).has(Fact{Kind: Past, Signal: uint32(n), N: 1}) {
			return true
		}
		owner := p.thread == s.join.owner || p.thread == anyone && len(k.runBy[p.at.Inst]) == 1 && k.runBy[p.at.Inst][0] == s.join.owner
		if owner && k.heldAt(p.at).has(Fact{Kind: Joined, Signal: uint32(n)}) {
			return true
		}
	}
	return false
}

// below reports whether an access of thread u comes before the Done of the goroutine
// of a joined thread that has started it: that alone does, before its Done, where it
// has waited for what u does.
func (k *checker) below(n, u int, b *access) bool {
	s := &k.signals[n]
	if by := k.startedBy(u); len(by) != 1 || by[0] != s.thread || u == s.thread {
		return false
	}
	if slices.ContainsFunc(k.startsOf(u), func(q At) bool { return k.doneAt(q).Has(k.event(event{n, s.thread})) }) {
		return false
	}
	return !slices.ContainsFunc(s.spots, func(at At) bool { return !k.later(u, b.at, at) })
}

// doneAt is done, remembered.
func (k *checker) doneAt(at At) Bits {
	s, ok := k.memo[at]
	if !ok {
		s = k.done(at)
		k.memo[at] = s
	}
	return s
}

// findBeside finds, for each thread, what may have been started where it or an
// ancestor is started, by the goroutine that does so.
func (k *checker) findBeside() {
	at := make([]Bits, len(k.threads))
	k.beside = make([]Bits, len(k.threads))
	for t := range k.threads {
		at[t], k.beside[t] = NewBits(k.deeds()), NewBits(k.deeds())
		for _, q := range k.startsOf(t) {
			at[t].Or(k.done(q))
		}
	}
	for t := range k.threads {
		k.beside[t].Or(at[t])
		for s := range k.threads {
			if k.c.Insts[k.threads[s].entry].Does.Has(t) {
				k.beside[t].Or(at[s])
			}
		}
	}
}

// oneGoroutine reports whether all accesses are by one goroutine, in program order:
// by a thread that is not started where, or when, one of it may run.
func (k *checker) oneGoroutine(list []int) bool {
	t := -1
	for _, i := range list {
		by := k.runBy[k.accesses[i].at.Inst]
		if len(by) > 1 || len(by) == 1 && t >= 0 && by[0] != t {
			return false
		}
		if len(by) == 1 {
			t = by[0]
		}
	}
	return t < 0 || !k.beside[t].Has(t) && !k.c.Insts[k.threads[t].entry].Does.Has(t)
}

// conflicts counts the pairs of a list of accesses.
func (k *checker) conflicts(list []int) int {
	writes, all, atomicWrites, atomics := 0, len(list), 0, 0
	for _, i := range list {
		a := &k.accesses[i]
		if a.write {
			writes++
		}
		if a.atomic {
			atomics++
		}
		if a.write && a.atomic {
			atomicWrites++
		}
	}
	pairs := func(n int) int { return n * (n + 1) / 2 }
	return pairs(all) - pairs(all-writes) - (pairs(atomics) - pairs(atomics-atomicWrites))
}
