package trace

import "slices"

// Minimize returns a well-formed trace, made of some of the events, that keep accepts
// too and from which nothing can be taken away: neither an event, nor a goroutine,
// nor a part of a check, nor a half of a range (delta debugging, Zeller and
// Hildebrandt, TSE 2002, after cutting the tail and whole goroutines). keep must
// accept events; it is called at most budget times, and when these are used up the
// best so far is returned. What keep gets is well formed, and must not be changed.
func Minimize(events []Event, budget int, keep func([]Event) bool) []Event {
	m := &minimizer{best: Repair(events), budget: budget, keep: keep}
	m.tail()
	for {
		n := len(m.best)
		m.goroutines()
		m.chunks()
		m.smaller()
		if len(m.best) == n || m.budget <= 0 {
			return m.best
		}
	}
}

type minimizer struct {
	best   []Event
	budget int
	keep   func([]Event) bool
}

// try replaces best by what is well formed of events, if keep accepts that.
func (m *minimizer) try(events []Event) bool {
	events = Repair(events)
	if m.budget <= 0 {
		return false
	}
	m.budget--
	if !m.keep(events) {
		return false
	}
	m.best = events
	return true
}

// tail looks for the shortest prefix that will do, as if longer ones always did.
func (m *minimizer) tail() {
	lo, hi := 0, len(m.best) // a prefix of lo events will not do, one of hi does
	all := m.best
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if m.try(all[:mid]) {
			hi = mid
		} else {
			lo = mid
		}
	}
}

// goroutines takes out goroutines, with what they fork.
func (m *minimizer) goroutines() {
	var ids []uint32
	for i := range m.best {
		if m.best[i].Kind == Fork {
			ids = append(ids, m.best[i].Other)
		}
	}
	for _, id := range ids {
		if rest := without(m.best, func(e *Event) bool { return e.Kind == Fork && e.Other == id }); len(rest) < len(m.best) {
			m.try(rest)
		}
	}
}

// chunks takes out chunks of half, a quarter, ... of the events, down to one.
func (m *minimizer) chunks() {
	for size := (len(m.best) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(m.best) && m.budget > 0; {
			end := min(at+size, len(m.best))
			if !m.try(slices.Concat(m.best[:at], m.best[end:])) {
				at = end
			}
		}
	}
}

// smaller makes single events smaller.
func (m *minimizer) smaller() {
	for i := 0; i < len(m.best); i++ {
		for m.shrink(i) {
		}
	}
}

// shrink tries what is smaller than event i.
func (m *minimizer) shrink(i int) bool {
	old := m.best[i]
	with := func(e Event) bool {
		all := slices.Clone(m.best)
		all[i] = e
		return m.try(all) && len(m.best) > i
	}
	if len(old.Parts) > 1 {
		for k := range old.Parts {
			e := old
			e.Parts = slices.Concat(old.Parts[:k], old.Parts[k+1:])
			if with(e) {
				return true
			}
		}
	}
	if old.Kind != ReadRange && old.Kind != WriteRange || old.Count < 2 {
		return false
	}
	half := old
	half.Count /= 2
	upper := old
	upper.Count -= half.Count
	upper.Addr += half.Count * old.Stride
	for _, e := range []Event{half, upper} {
		if e.Count == 1 {
			e.Kind -= ReadRange - Read
			e.Count, e.Stride = 0, 0
		}
		if with(e) {
			return true
		}
	}
	return false
}

// Repair returns the events without those that are not well formed where they
// stand, such as those of a goroutine whose Fork is missing.
func Repair(events []Event) []Event {
	var v Validator
	return without(events, func(e *Event) bool { return v.Check(e) != nil })
}

func without(events []Event, drop func(*Event) bool) []Event {
	out := make([]Event, 0, len(events))
	for i := range events {
		if !drop(&events[i]) {
			out = append(out, events[i])
		}
	}
	return out
}
