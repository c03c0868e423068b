package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

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
	k.threadOf = map[InstID]map[Edge]int{}
	for i := 1; i < len(k.c.Insts); i++ {
		for _, e := range k.c.Insts[i].Edges {
			if !e.Go {
				continue
			}
			if k.threadOf[InstID(i)] == nil {
				k.threadOf[InstID(i)] = map[Edge]int{}
			}
			k.threadOf[InstID(i)][e] = len(k.threads)
			k.threads = append(k.threads, thread{InstID(i), e.Row, e.Callee})
		}
	}
	k.runBy = make([][]int, len(k.c.Insts))
	for t := range k.threads {
		k.reach(t, nil, func(i InstID) { k.runBy[i] = append(k.runBy[i], t) })
	}
}

// reach calls visit with all that a thread runs, but for calls that skip names.
func (k *checker) reach(t int, skip func(i InstID, e Edge) bool, visit func(InstID)) {
	seen := NewBits(len(k.c.Insts))
	seen.Add(int(k.threads[t].entry))
	for todo := []InstID{k.threads[t].entry}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(i)
		for _, e := range k.c.Insts[i].Edges {
			if !e.Go && (skip == nil || !skip(i, e)) && seen.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
}

// startedBy returns the threads that start a thread.
func (k *checker) startedBy(t int) []int {
	if t == 0 {
		return nil
	}
	return k.runBy[k.threads[t].by]
}

// startsOf returns the points that start a thread.
func (k *checker) startsOf(t int) (out []At) {
	if t > 0 {
		for _, p := range k.flowOf(k.fn(k.threads[t].by)).calls[k.threads[t].row] {
			out = append(out, At{k.threads[t].by, p})
		}
	}
	return out
}

// one reports whether a thread is one goroutine at most.
func (k *checker) one(t int) bool {
	if t == 0 {
		return k.once.Has(int(k.c.Root))
	}
	by := k.threads[t].by
	return k.once.Has(int(by)) && k.flowOf(k.fn(by)).once(k.flowOf(k.fn(by)).calls[k.threads[t].row])
}

// onceIn reports whether points execute at most once together in a goroutine of a
// thread: they are in one instance, and one call each leads there from its entry.
func (k *checker) onceIn(t int, at []At) bool {
	var points []uint32
	for _, x := range at {
		if points = append(points, x.Point); x.Inst != at[0].Inst {
			return false
		}
	}
	i := at[0].Inst
	for range k.c.Insts {
		if !k.flowOf(k.fn(i)).once(points) {
			return false
		}
		var by []caller
		for _, c := range k.callers[i] {
			f := k.fn(c.inst)
			if isGo := int(c.row) < len(f.Calls) && f.Calls[c.row].Mode == facts.ModeGo; !isGo && slices.Contains(k.runBy[c.inst], t) {
				by = append(by, c)
			}
		}
		entry := i == k.threads[t].entry
		if entry || len(by) != 1 || int(by[0].row) >= len(k.fn(by[0].inst).Calls) {
			return entry && len(by) == 0
		}
		i = by[0].inst
		points = k.flowOf(k.fn(i)).calls[by[0].row]
	}
	return false
}
