package stage

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
)

// Spawn is a call edge that starts goroutines.
type Spawn struct {
	By   pta.InstID
	Kind pta.EdgeKind
	Row  uint32
}

// Thread is an abstract goroutine. Thread 0 is the main goroutine:
// initialisers, main, sequential tests. A spawn edge that is taken at most once
// in the whole run is a thread of its own; the others that start one instance
// are one thread together.
type Thread struct {
	Spawns []Spawn // none for the main goroutine
	Entry  pta.InstID
	// Parents are the threads that run an instance of Spawns, ascending.
	Parents []int
	// Desc are the threads that it may start, directly or not; itself only if
	// it may start its own kind.
	Desc Bits
	// Single: at most one goroutine of it ever runs.
	Single bool
}

// threads is what a View knows about which instance runs in which thread.
type threads struct {
	pool    *Pool // of sets of threads
	runs    []Set // by instance: the threads that run it
	entries []Set // by instance: the threads that start with it
	lists   map[Set][]int
	of      map[spawnEdge]int
	once    map[int]Bits
	order   []pta.InstID // live instances, callers before callees but for cycles
	comp    []int32
}

type spawnEdge struct {
	Spawn
	to pta.InstID
}

// findThreads finds the threads, what they run, and who starts whom.
func (v *View) findThreads() {
	v.Threads = []Thread{{Entry: v.root, Single: true}}
	v.threads = threads{lists: map[Set][]int{}, of: map[spawnEdge]int{}, once: map[int]Bits{}}
	many := map[pta.InstID]int{}
	for i := 1; i < len(v.Res.Insts); i++ {
		if !v.Live.Has(i) {
			continue
		}
		for _, e := range v.Res.Insts[i].Out {
			n := pta.InstID(i)
			if !IsSpawn(e.Kind) || !v.Has(n, e) {
				continue
			}
			s := Spawn{n, e.Kind, e.Row}
			single := e.Kind == pta.EdgeGo && v.Once.Has(i) && v.Flow(n).RowOnce(v.PointsOf(n, e.Kind, e.Row))
			t, ok := many[e.Callee]
			if single || !ok {
				t = len(v.Threads)
				v.Threads = append(v.Threads, Thread{Entry: e.Callee, Single: single})
				if !single {
					many[e.Callee] = t
				}
			}
			v.Threads[t].Spawns = append(v.Threads[t].Spawns, s)
			v.threads.of[spawnEdge{s, e.Callee}] = t
		}
	}
	v.callOrder()
	v.threads.pool = NewPool(len(v.Threads))
	entries := make([]Set, len(v.Res.Insts))
	for t := range v.Threads {
		n := v.Threads[t].Entry
		entries[n] = v.threads.pool.Or(entries[n], v.threads.pool.One(t))
	}
	v.threads.entries = entries
	v.threads.runs = v.FlowThreads(v.ThreadEntry, nil)
	v.descend()
}

// callOrder sorts the live instances.
func (v *View) callOrder() {
	n := len(v.Res.Insts)
	comp, count := Components(n, func(i int, visit func(int)) {
		if !v.Live.Has(i) {
			return
		}
		for _, e := range v.Res.Insts[i].Out {
			if !IsSpawn(e.Kind) && v.Has(pta.InstID(i), e) {
				visit(int(e.Callee))
			}
		}
	})
	first := make([]int, count+1)
	for i := 1; i < n; i++ {
		if v.Live.Has(i) {
			first[count-1-int(comp[i])]++
		}
	}
	at := 0
	for c, k := range first {
		first[c] = at
		at += k
	}
	v.threads.order = make([]pta.InstID, at)
	for i := 1; i < n; i++ {
		if v.Live.Has(i) {
			c := count - 1 - int(comp[i])
			v.threads.order[first[c]] = pta.InstID(i)
			first[c]++
		}
	}
	v.threads.comp = comp
}

// CallOrder lists the live instances, callers before callees but for cycles. The
// members of a component of the call graph stand together. The caller must not
// change the list.
func (v *View) CallOrder() []pta.InstID { return v.threads.order }

// Component numbers the component of the call graph, spawns aside, that a live
// instance lies in.
func (v *View) Component(n pta.InstID) int32 { return v.threads.comp[n] }

// FlowThreads returns the smallest sets of threads, by instance, that hold
// start and what a caller has, along all calls but those that skip tells.
func (v *View) FlowThreads(start func(pta.InstID) Set, skip func(pta.InstID, pta.Edge) bool) []Set {
	p, comp := v.threads.pool, v.threads.comp
	out := make([]Set, len(v.Res.Insts))
	order := v.threads.order
	for len(order) > 0 {
		k := 1
		for k < len(order) && comp[order[k]] == comp[order[0]] {
			k++
		}
		members := order[:k]
		order = order[k:]
		for _, n := range members {
			out[n] = p.Or(out[n], start(n))
		}
		for changed := true; changed; {
			changed = false
			for _, n := range members {
				for _, e := range v.Res.Insts[n].Out {
					if IsSpawn(e.Kind) || out[n] == None || !v.Has(n, e) || skip != nil && skip(n, e) {
						continue
					}
					if s := p.Or(out[e.Callee], out[n]); s != out[e.Callee] {
						out[e.Callee] = s
						changed = changed || comp[e.Callee] == comp[n]
					}
				}
			}
		}
	}
	return out
}

// descend fills in parents and descendants.
func (v *View) descend() {
	n := len(v.Threads)
	children := make([][]int32, n)
	for i := range v.Threads {
		t := &v.Threads[i]
		t.Desc = NewBits(n)
		for _, s := range t.Spawns {
			t.Parents = append(t.Parents, v.ThreadsOf(s.By)...)
		}
		slices.Sort(t.Parents)
		t.Parents = slices.Compact(t.Parents)
		for _, p := range t.Parents {
			children[p] = append(children[p], int32(i))
		}
	}
	comp, count := Components(n, func(i int, visit func(int)) {
		for _, c := range children[i] {
			visit(int(c))
		}
	})
	of := make([][]int, count)
	for i, c := range comp {
		of[c] = append(of[c], i)
	}
	for _, members := range of { // descendants' components come first
		d := NewBits(n)
		for _, i := range members {
			for _, c := range children[i] {
				d.Add(int(c))
				d.Or(v.Threads[c].Desc)
			}
		}
		for _, i := range members {
			v.Threads[i].Desc = d
		}
	}
}

// ThreadPool holds the sets of threads.
func (v *View) ThreadPool() *Pool { return v.threads.pool }

// ThreadEntry returns the threads that start with an instance.
func (v *View) ThreadEntry(n pta.InstID) Set { return v.threads.entries[n] }

// ThreadSet returns the threads in which an instance runs.
func (v *View) ThreadSet(n pta.InstID) Set { return v.threads.runs[n] }

// Runs reports whether thread t runs instance n.
func (v *View) Runs(t int, n pta.InstID) bool { return v.threads.pool.Has(v.threads.runs[n], t) }

// ThreadsOf lists the threads in which an instance runs, ascending. The caller
// must not change the list.
func (v *View) ThreadsOf(n pta.InstID) []int { return v.List(v.threads.runs[n]) }

// List lists a set of threads, ascending. The caller must not change the list.
func (v *View) List(s Set) []int {
	if l, ok := v.threads.lists[s]; ok || s == None {
		return l
	}
	var l []int
	b := v.threads.pool.Bits(s)
	for t := range v.Threads {
		if b.Has(t) {
			l = append(l, t)
		}
	}
	v.threads.lists[s] = l
	return l
}

// ThreadAt returns the thread that a spawn edge of instance n starts.
func (v *View) ThreadAt(n pta.InstID, e pta.Edge) int {
	t, ok := v.threads.of[spawnEdge{Spawn{n, e.Kind, e.Row}, e.Callee}]
	if !ok {
		panic("stage: spawn edge without thread")
	}
	return t
}

// OnceIn reports whether each goroutine of thread t enters instance n at most
// once.
func (v *View) OnceIn(t int, n pta.InstID) bool {
	b, ok := v.threads.once[t]
	if !ok {
		b = v.once(v.Threads[t].Entry, func(n int) bool { return v.Runs(t, pta.InstID(n)) }, false)
		v.threads.once[t] = b
	}
	return b.Has(int(n))
}
