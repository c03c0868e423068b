package check

import "slices"

// signalled judges the evidence that one access precedes a claimed signal that the
// other has waited for.
func (k *checker) signalled(t int, a *access, u int, b *access, claimed uint32) bool {
	if int(claimed) >= len(k.numbers) {
		return false
	}
	return slices.ContainsFunc(k.numbers[claimed], func(n int) bool {
		return k.isPast(b.at, n) && k.precedes(t, a.at, n) || k.isPast(a.at, n) && k.precedes(u, b.at, n) ||
			k.signals[n].Kind == OnceDone && k.insideDo(t, a.at.Inst, n) && k.insideDo(u, b.at.Inst, n)
	})
}

// isPast reports whether the waits of a signal are past at a point.
func (k *checker) isPast(at At, n int) bool {
	return k.heldAt(at).has(Fact{Kind: Past, Signal: uint32(n), N: k.signals[n].need})
}

// precedes reports whether all that thread t does at a point comes before the spots of
// a signal: all of them, or one where they are counted. It comes before a spot that
// thread s executes if
//
//	(B1) they are of one goroutine, and the spot cannot have been executed by then
//	(B2) it comes before every start of s: it cannot have started s by then, s does
//	     not start t, and no ancestor starts t when it may have started s
//	(B3) something that precedes it is past at the spot
//
// and for a group before the Done of its own goroutine, for a Once if it is within Do.
// Nothing is a reason for itself.
func (k *checker) precedes(t int, at At, n int) bool {
	return judge(k.before, question{t, at, n}, func() bool {
		s := &k.signals[n]
		switch s.Kind {
		case Group:
			return t == s.thread && !k.doneAt(at).Has(k.event(event{n, t}))
		case OnceDone:
			return k.insideDo(t, at.Inst, n)
		}
		all := s.Kind == Close || s.Kind == Message
		for _, spot := range s.spots {
			before := !slices.ContainsFunc(k.runBy[spot.Inst], func(x int) bool {
				own := t == x && k.one(t) && !k.doneAt(at).Has(k.event(event{n, t})) // (B1)
				return !own && !k.starts(t, at, x) && !k.later(t, at, spot)
			})
			if before != all {
				return before
			}
		}
		return all && len(s.spots) > 0
	})
}

// question asks whether a point of a thread precedes a signal.
type question struct {
	thread int
	at     At
	signal int
}

// starts reports (B2).
func (k *checker) starts(t int, at At, s int) bool {
	return t != s && !k.doneAt(at).Has(s) && !k.c.Insts[k.threads[s].entry].Does.Has(t) && !k.beside[t].Has(s) && !k.beside[s].Has(t)
}

// later reports (B3).
func (k *checker) later(t int, at, spot At) bool {
	return slices.ContainsFunc(k.heldAt(spot).Facts, func(x Fact) bool {
		return x.Kind == Past && x.N >= k.signals[x.Signal].need && k.precedes(t, at, int(x.Signal))
	})
}

// insideDo reports whether thread t runs an instance only within the body of Do of a
// Once. The body runs at most once in the run, in one goroutine.
func (k *checker) insideDo(t int, i InstID, n int) bool {
	key := [2]int{t, n}
	out, ok := k.outsideDo[key]
	if !ok {
		out = NewBits(len(k.c.Insts))
		k.reach(t, func(i InstID, e Edge) bool {
			f := k.fn(i)
			if int(e.Row) >= len(f.Calls) || f.Calls[e.Row].Once == 0 {
				return false
			}
			c, one := k.single(i, f.Calls[e.Row].Once)
			return one && c == k.signals[n].Cell
		}, func(i InstID) { out.Add(int(i)) })
		k.outsideDo[key] = out
	}
	return !out.Has(int(i))
}
