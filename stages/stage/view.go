package stage

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Thread is an abstract goroutine: all goroutines started by one spawn edge.
// Thread 0 is the main goroutine: initialisers, main, sequential tests.
type Thread struct {
	Spawner pta.InstID // 0 for the main goroutine
	Kind    pta.EdgeKind
	Row     uint32
	Entry   pta.InstID
	Reach   Bits // instances that run in it
	// Parents are the threads whose Reach holds Spawner.
	Parents []int
	// Desc are the threads that it may start, directly or not; itself only if
	// it may start its own kind.
	Desc Bits
	// Single: at most one instance ever runs.
	Single bool
	// OnceIn are the instances entered at most once in each goroutine.
	OnceIn Bits
}

// View is a World seen from one entry: what that entry alone can run.
type View struct {
	*World
	Threads []Thread
	Live    Bits // instances that run in some thread
	// Once are the instances entered at most once in the whole run.
	Once     Bits
	inLive   [][]Caller // call edges of the view into each instance
	byInst   map[pta.InstID][]int
	skipTest map[uint32]bool
}

// AllEntries and NoEntry choose a View without a single entry: the program as
// it is, and what runs before any entry does.
const (
	AllEntries = -1
	NoEntry    = -2
)

// NewView restricts w to one entry of a test binary, or to AllEntries or NoEntry.
func NewView(w *World, entry int) *View {
	v := &View{World: w}
	n := len(w.Res.Insts)
	if entry != AllEntries {
		v.skipTest = map[uint32]bool{}
		for i, e := range w.Prog.Entries {
			if i != entry {
				v.skipTest[e.Row] = true
			}
		}
	}
	v.Live = NewBits(n)
	type key struct {
		k   pta.EdgeKind
		n   pta.InstID
		row uint32
		to  pta.InstID
	}
	seen := map[key]bool{}
	main := Thread{Entry: w.Res.Root}
	v.fill(&main)
	v.Threads = append(v.Threads, main)
	for i := 0; i < len(v.Threads); i++ {
		for n := range w.Res.Insts {
			if !v.Threads[i].Reach.Has(n) {
				continue
			}
			for _, e := range w.Res.Insts[n].Out {
				if !IsSpawn(e.Kind) || !v.Has(pta.InstID(n), e) {
					continue
				}
				k := key{e.Kind, pta.InstID(n), e.Row, e.Callee}
				if seen[k] {
					continue
				}
				seen[k] = true
				t := Thread{Spawner: pta.InstID(n), Kind: e.Kind, Row: e.Row, Entry: e.Callee}
				v.fill(&t)
				v.Threads = append(v.Threads, t)
			}
		}
	}
	v.inLive = make([][]Caller, n)
	for i := range v.Threads {
		v.Live.Or(v.Threads[i].Reach)
	}
	for i := 1; i < n; i++ {
		if !v.Live.Has(i) {
			continue
		}
		for _, e := range w.Res.Insts[i].Out {
			if v.Has(pta.InstID(i), e) {
				v.inLive[e.Callee] = append(v.inLive[e.Callee], Caller{pta.InstID(i), e.Kind, e.Row})
			}
		}
	}
	v.Once = v.once(w.Res.Root, v.Live, true)
	v.tree()
	for i := range v.Threads {
		t := &v.Threads[i]
		t.OnceIn = v.once(t.Entry, t.Reach, false)
		if i == 0 {
			t.Single = true
			continue
		}
		at := v.PointsOf(t.Spawner, t.Kind, t.Row)
		t.Single = v.Once.Has(int(t.Spawner)) && t.Kind == pta.EdgeGo && v.Flow(t.Spawner).RowOnce(at)
	}
	return v
}

// Has reports whether an edge exists in the view.
func (v *View) Has(from pta.InstID, e pta.Edge) bool {
	if v.skipTest == nil || v.Res.Insts[from].Fn != v.Prog.Tests {
		return true
	}
	return !v.skipTest[e.Row]
}

// In lists the call edges of the view into an instance.
func (v *View) In(i pta.InstID) []Caller { return v.inLive[i] }

// Under returns the instances that one entry leads to, by calls and starts.
func (v *View) Under(entry int) Bits {
	b := NewBits(len(v.Res.Insts))
	var todo []pta.InstID
	for _, i := range v.InstsOf[v.Prog.Tests] {
		for _, e := range v.Res.Insts[i].Out {
			if e.Row == v.Prog.Entries[entry].Row && b.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[n].Out {
			if b.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
	return b
}

func (v *View) fill(t *Thread) {
	t.Reach = NewBits(len(v.Res.Insts))
	todo := []pta.InstID{t.Entry}
	t.Reach.Add(int(t.Entry))
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[n].Out {
			if !IsSpawn(e.Kind) && v.Has(n, e) && t.Reach.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
}

// once returns the instances of within that are entered at most once: root,
// and those with exactly one call edge, from such an instance, at a row that
// runs at most once. With spawns, go statements count as call edges.
func (v *View) once(root pta.InstID, within Bits, spawns bool) Bits {
	once := NewBits(len(v.Res.Insts))
	edges := func(n pta.InstID) (Caller, int) {
		var c Caller
		k := 0
		for _, e := range v.inLive[n] {
			if within.Has(int(e.Inst)) && (spawns || !IsSpawn(e.Kind)) {
				c = e
				k++
			}
		}
		return c, k
	}
	if _, k := edges(root); k > 0 {
		return once // it calls itself
	}
	once.Add(int(root))
	todo := []pta.InstID{root}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[n].Out {
			if !v.Has(n, e) || !spawns && IsSpawn(e.Kind) || e.Kind == pta.EdgeAny || e.Kind == pta.EdgeAnyGo {
				continue
			}
			if _, k := edges(e.Callee); k != 1 || once.Has(int(e.Callee)) {
				continue
			}
			if v.Flow(n).RowOnce(v.PointsOf(n, e.Kind, e.Row)) {
				once.Add(int(e.Callee))
				todo = append(todo, e.Callee)
			}
		}
	}
	return once
}

// tree fills in parents and descendants.
func (v *View) tree() {
	n := len(v.Threads)
	for i := range v.Threads {
		t := &v.Threads[i]
		t.Desc = NewBits(n)
		if t.Spawner == 0 {
			continue
		}
		for j := range v.Threads {
			if v.Threads[j].Reach.Has(int(t.Spawner)) {
				t.Parents = append(t.Parents, j)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range v.Threads {
			for _, p := range v.Threads[i].Parents {
				d := v.Threads[p].Desc
				if d.Add(i) {
					changed = true
				}
				if d.Or(v.Threads[i].Desc) {
					changed = true
				}
			}
		}
	}
}

// ThreadsOf lists the threads in which an instance runs.
func (v *View) ThreadsOf(n pta.InstID) []int {
	if v.byInst == nil {
		v.byInst = map[pta.InstID][]int{}
	}
	if ts, ok := v.byInst[n]; ok {
		return ts
	}
	var ts []int
	for i := range v.Threads {
		if v.Threads[i].Reach.Has(int(n)) {
			ts = append(ts, i)
		}
	}
	v.byInst[n] = ts
	return ts
}

// OnceObject reports whether an abstract object stands for at most one object:
// a global, or a site that executes at most once.
func (v *View) OnceObject(o pta.ObjID) bool {
	ob := &v.Res.Objs[o]
	switch ob.Kind {
	case pta.ObjGlobal:
		return true
	case pta.ObjSite:
		// One abstract object may be made by several instances that share a
		// heap context: all but one of them would have to be dead.
		var makers []pta.InstID
		for _, i := range v.InstsOf[ob.Fn] {
			if v.Live.Has(int(i)) {
				makers = append(makers, i)
			}
		}
		if len(makers) != 1 || !v.Once.Has(int(makers[0])) {
			return false
		}
		fl := v.Flow(makers[0])
		f := fl.F
		var at []uint32
		for p, pt := range f.Points {
			if pt.Op == facts.OpAlloc && f.Allocs[pt.Row].Site == ob.Site {
				at = append(at, uint32(p))
			}
		}
		return len(at) > 0 && fl.RowOnce(at)
	}
	return false
}
