package check

// What a goroutine may have done: started threads, and signalled. A thread stands for
// all goroutines that one edge starts; thread 0 is the first goroutine. Signals count
// for each thread that executes their spots.
//
//	(D1) what an instance may do: its go statements, the spots in it, and what the
//	     instances may do that it calls or starts
//	(D2) what the goroutine that enters an instance by a call may have done by then,
//	     directly or through others: what its caller's had when it entered that, and
//	     what points do from which control may come to the call
func (k *checker) does(ask *Asked) {
	for i := 1; i < len(k.c.Insts); i++ {
		id := InstID(i)
		in := &k.c.Insts[i]
		for _, h := range k.happening[id] {
			ask.Does("D1", &in.Does, k.deed(h.number))
		}
		for _, e := range in.Edges {
			callee := &k.c.Insts[e.Callee]
			ask.Does("D1", &in.Does, callee.Does)
			if e.Go {
				ask.Does("D1", &in.Does, k.deed(k.threadAt(id, e)))
				continue
			}
			for _, q := range k.flowOf(k.fn(id)).calls[e.Row] {
				before := k.done(At{id, q})
				if int(e.Row) >= len(k.fn(id).Calls) { // any number of times
					for _, x := range k.edgesAt(id, e.Row) {
						before.Or(k.c.Insts[x.Callee].Does)
					}
				}
				ask.Does("D2", &callee.Before, before)
			}
		}
	}
}

// deed returns the set of one thread or event.
func (k *checker) deed(n int) Bits {
	b := NewBits(k.deeds())
	b.Add(n)
	return b
}

// deeds is how many threads and events there are.
func (k *checker) deeds() int { return len(k.threads) + len(k.events) }

// event is a signal by a thread, or a Wait by anyone on a wait group.
type event struct{ signal, thread int }

const anyone = -1

// happening is a point of an instance that is an event.
type happening struct {
	point  uint32
	number int
}

// happens notes that a point may be an event.
func (k *checker) happens(at At, e event) {
	if _, ok := k.events[e]; !ok {
		k.events[e] = k.deeds()
	}
	k.happening[at.Inst] = append(k.happening[at.Inst], happening{at.Point, k.events[e]})
}

// event returns the number of an event, or one that nobody does.
func (k *checker) event(e event) int {
	if n, ok := k.events[e]; ok {
		return n
	}
	return k.deeds()
}

// threadAt returns the thread that an edge starts.
func (k *checker) threadAt(i InstID, e Edge) int { return k.threadOf[i][e] }

// done returns what a goroutine at a point of an instance may have done, directly or
// through others. The caller must not keep it.
func (k *checker) done(at At) Bits {
	in, fl := &k.c.Insts[at.Inst], k.flowOf(k.fn(at.Inst))
	out := NewBits(k.deeds())
	out.Or(in.Before)
	for _, e := range in.Edges {
		for _, q := range fl.calls[e.Row] {
			if fl.follows(q, at.Point) {
				out.Or(k.c.Insts[e.Callee].Does)
				if e.Go {
					out.Add(k.threadAt(at.Inst, e))
				}
				break
			}
		}
	}
	for _, h := range k.happening[at.Inst] {
		if fl.follows(h.point, at.Point) {
			out.Add(h.number)
		}
	}
	return out
}
