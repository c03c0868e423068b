package check

// A thread stands for all goroutines that one edge starts; thread 0 is the first
// goroutine. starts checks the claims about who may have started whom:
//
//	(S1) what an instance may start: the threads of its go statements, and what the
//	     instances may start that it calls or starts
//	(S2) what the goroutine that enters an instance by a call may have started by
//	     then, directly or through others: what its caller's had when it entered
//	     that, and what points start from which control may come to the call
func (k *checker) starts(ask *Asked) {
	for i := 1; i < len(k.c.Insts); i++ {
		in := &k.c.Insts[i]
		for j, e := range in.Edges {
			callee := &k.c.Insts[e.Callee]
			ask.Starts("S1", &in.Starts, callee.Starts)
			if e.Go {
				one := NewBits(len(k.threads))
				one.Add(k.threadOf[InstID(i)][j])
				ask.Starts("S1", &in.Starts, one)
				continue
			}
			for _, q := range k.flowOf(k.fn(InstID(i))).calls[e.Row] {
				before := k.started(InstID(i), q)
				if int(e.Row) >= len(k.fn(InstID(i)).Calls) { // any number of times
					for _, x := range k.edgesAt(InstID(i), e.Row) {
						before.Or(k.c.Insts[x.Callee].Starts)
					}
				}
				ask.Starts("S2", &callee.Before, before)
			}
		}
	}
}

// thread is an edge that starts goroutines.
type thread struct {
	by    InstID
	row   uint32
	entry InstID
}

// findThreads numbers the threads, in the order of instances and edges, and finds
// what each runs: all that calls lead to.
func (k *checker) findThreads() {
	k.threads = []thread{{entry: k.c.Root}}
	k.threadOf = map[InstID]map[int]int{}
	for i := 1; i < len(k.c.Insts); i++ {
		for j, e := range k.c.Insts[i].Edges {
			if !e.Go {
				continue
			}
			if k.threadOf[InstID(i)] == nil {
				k.threadOf[InstID(i)] = map[int]int{}
			}
			k.threadOf[InstID(i)][j] = len(k.threads)
			k.threads = append(k.threads, thread{InstID(i), e.Row, e.Callee})
		}
	}
	k.runBy = make([][]int, len(k.c.Insts))
	for t := range k.threads {
		seen := NewBits(len(k.c.Insts))
		seen.Add(int(k.threads[t].entry))
		for todo := []InstID{k.threads[t].entry}; len(todo) > 0; {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			k.runBy[i] = append(k.runBy[i], t)
			for _, e := range k.c.Insts[i].Edges {
				if !e.Go && seen.Add(int(e.Callee)) {
					todo = append(todo, e.Callee)
				}
			}
		}
	}
}

// started returns the threads that a goroutine at a point of an instance may have
// started, directly or through others. The caller must not keep it.
func (k *checker) started(i InstID, p uint32) Bits {
	in, fl := &k.c.Insts[i], k.flowOf(k.fn(i))
	out := NewBits(len(k.threads))
	out.Or(in.Before)
	for j, e := range in.Edges {
		for _, q := range fl.calls[e.Row] {
			if fl.follows(q, p) {
				out.Or(k.c.Insts[e.Callee].Starts)
				if e.Go {
					out.Add(k.threadOf[i][j])
				}
				break
			}
		}
	}
	return out
}

// findBeside finds, for each thread, what may have been started where it or an
// ancestor is started, by the goroutine that does so.
func (k *checker) findBeside() {
	at := make([]Bits, len(k.threads))
	k.beside = make([]Bits, len(k.threads))
	for t := range k.threads {
		at[t], k.beside[t] = NewBits(len(k.threads)), NewBits(len(k.threads))
		if t > 0 {
			for _, q := range k.flowOf(k.fn(k.threads[t].by)).calls[k.threads[t].row] {
				at[t].Or(k.started(k.threads[t].by, q))
			}
		}
	}
	for t := range k.threads {
		k.beside[t].Or(at[t])
		for s := range k.threads {
			if k.c.Insts[k.threads[s].entry].Starts.Has(t) {
				k.beside[t].Or(at[s])
			}
		}
	}
}

// ordered reports whether accesses by threads t and u are ordered by starts alone.
// Two goroutines have a lowest common ancestor in the tree of starts. If that is
// one of them, its access comes before the start that led to the other, unless it
// may have started the other by then. If it is a third, it started one of them, or
// an ancestor of it, when it had started the other. If they are one goroutine, the
// accesses are in program order.
func (k *checker) ordered(t int, a *access, u int, b *access) bool {
	return !k.beside[t].Has(u) && !k.beside[u].Has(t) && !k.mayHaveStarted(t, a, u) && !k.mayHaveStarted(u, b, t)
}

// mayHaveStarted reports whether a goroutine of thread t may have started one of
// thread u where it makes an access.
func (k *checker) mayHaveStarted(t int, a *access, u int) bool {
	if !k.c.Insts[k.threads[t].entry].Starts.Has(u) {
		return false
	}
	s, ok := k.startedAt[a.at]
	if !ok {
		s = k.started(a.at.Inst, a.at.Point)
		k.startedAt[a.at] = s
	}
	return s.Has(u)
}
