package stage

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// View is a World seen from one entry: what that entry alone can run.
type View struct {
	*World
	Threads []Thread
	Live    Bits // instances that run in some thread
	// Once are the instances entered at most once in the whole run.
	Once     Bits
	root     pta.InstID
	called   []pta.InstID // see bodies
	known    *known       // nil: all objects
	inLive   [][]Caller   // call edges of the view into each instance
	skipTest map[uint32]bool
	threads  threads
	idom     []int32 // see dominate.go
	rank     []int32
}

// AllEntries and NoEntry choose a View without a single entry: the program as
// it is, and what runs before any entry does.
const (
	AllEntries = -1
	NoEntry    = -2
)

// NewView restricts w to one entry of a test binary, or to AllEntries or NoEntry.
func NewView(w *World, entry int) *View {
	v := &View{World: w, root: w.Res.Root}
	if entry != AllEntries {
		v.skipTest = map[uint32]bool{}
		for i, e := range w.Prog.Entries {
			if i != entry {
				v.skipTest[e.Row] = true
			}
		}
	}
	v.live()
	v.findOnce()
	v.findThreads()
	return v
}

// findOnce computes Once. In each round more objects are known to be made at most
// once, and so more bodies of Do.
func (v *View) findOnce() {
	v.Once = NewBits(len(v.Res.Insts))
	for range 4 {
		once := v.once(v.root, v.Live.Has, true)
		if slices.Equal(once, v.Once) {
			break
		}
		v.Once = once
	}
}

// body reports whether nothing enters an instance but calls as the body of Do, all
// of one Once, one object that nothing overwrites. So it is entered at most once.
func (v *View) body(n pta.InstID) bool {
	cell := uint32(0)
	for _, c := range v.inLive[n] {
		if c.Kind != pta.EdgeCall {
			return false
		}
		once := v.Res.Func(c.Inst).Calls[c.Row].Once
		if once == facts.NoReg {
			return false
		}
		x, ok := v.Single(c.Inst, once)
		if !ok || cell != 0 && x != cell {
			return false
		}
		cell = x
	}
	if cell == 0 || v.Overwritten == nil || v.Overwritten(cell) {
		return false
	}
	o, off := v.Res.Object(cell)
	ob := &v.Res.Objs[o]
	return ob.Type != 0 && !ob.Untyped && v.Res.Cell(o, off).Array == 0 && v.OnceObject(o)
}

// live computes what runs at all, and the edges of the view.
func (v *View) live() {
	n := len(v.Res.Insts)
	v.Live = NewBits(n)
	v.inLive = make([][]Caller, n)
	v.Live.Add(int(v.root))
	todo := []pta.InstID{v.root}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[m].Out {
			if v.Has(m, e) && v.Live.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
	for i := 1; i < n; i++ {
		if !v.Live.Has(i) {
			continue
		}
		for _, e := range v.Res.Insts[i].Out {
			if v.Has(pta.InstID(i), e) {
				v.inLive[e.Callee] = append(v.inLive[e.Callee], Caller{pta.InstID(i), e.Kind, e.Row})
			}
		}
	}
}

// Has reports whether an edge exists in the view.
func (v *View) Has(from pta.InstID, e pta.Edge) bool {
	if v.deadEdge(from, e) {
		return false
	}
	if v.skipTest == nil || v.Res.Insts[from].Fn != v.Prog.Tests {
		return true
	}
	return !v.skipTest[e.Row]
}

// EdgesAt returns the call edges of the view that leave an instance at a point.
// The caller must not change the result.
func (v *View) EdgesAt(i pta.InstID, pt facts.Point) []pta.Edge {
	out := v.Res.EdgesAt(i, pt)
	if len(out) > 0 && v.deadEdge(i, out[0]) {
		return nil // they are of one row
	}
	if v.skipTest == nil || v.Res.Insts[i].Fn != v.Prog.Tests {
		return out
	}
	return slices.DeleteFunc(slices.Clone(out), func(e pta.Edge) bool { return !v.Has(i, e) })
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

// bodies lists the live instances that some Do calls, ascending.
func (v *View) bodies() []pta.InstID {
	if v.called == nil {
		v.called = []pta.InstID{}
		for n := range v.inLive {
			for _, c := range v.inLive[n] {
				if c.Kind == pta.EdgeCall && v.Res.Func(c.Inst).Calls[c.Row].Once != facts.NoReg {
					v.called = append(v.called, pta.InstID(n))
					break
				}
			}
		}
	}
	return v.called
}

// once returns the instances of within that are entered at most once: root, bodies
// of one Once, and those with exactly one call edge, from such an instance, at a row
// that runs at most once. With spawns, go statements count as call edges.
func (v *View) once(root pta.InstID, within func(int) bool, spawns bool) Bits {
	once := NewBits(len(v.Res.Insts))
	edges := func(n pta.InstID) int { // 2: two or more
		k := 0
		for _, e := range v.inLive[n] {
			if k < 2 && within(int(e.Inst)) && (spawns || !IsSpawn(e.Kind)) {
				k++
			}
		}
		return k
	}
	if edges(root) > 0 {
		return once // it calls itself
	}
	once.Add(int(root))
	todo := []pta.InstID{root}
	for _, n := range v.bodies() {
		if within(int(n)) && v.body(n) && once.Add(int(n)) {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[n].Out {
			if !v.Has(n, e) || !spawns && IsSpawn(e.Kind) || e.Kind == pta.EdgeAny || e.Kind == pta.EdgeAnyGo {
				continue
			}
			if edges(e.Callee) != 1 || once.Has(int(e.Callee)) {
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

// OnceObject reports whether an abstract object stands for at most one object:
// a global, or a site that executes at most once.
func (v *View) OnceObject(o pta.ObjID) bool {
	if v.known != nil && !v.known.own.Has(int(o)) {
		return false
	}
	switch v.Res.Objs[o].Kind {
	case pta.ObjGlobal:
		return true
	case pta.ObjSite:
		// One abstract object may be made by several instances that share a
		// heap context: all but one of them would have to be dead.
		var makers []pta.InstID
		for _, i := range v.MakersOf(o) {
			if v.Live.Has(int(i)) {
				makers = append(makers, i)
			}
		}
		if len(makers) != 1 || !v.Once.Has(int(makers[0])) {
			return false
		}
		at := v.AllocsOf(makers[0], o)
		return len(at) > 0 && v.Flow(makers[0]).RowOnce(at)
	}
	return false
}

// Single returns the one cell that a register points to, if there is just one.
// In a frame, objects that are the frame's and that nothing in it makes are none
// that it gets to see.
func (v *View) Single(i pta.InstID, r facts.Reg) (cell uint32, ok bool) {
	if v.known == nil {
		return v.World.Single(i, r)
	}
	n := 0
	v.Res.PointsTo(i, r, 0).Each(func(c uint32) {
		if o, _ := v.Res.Object(c); n < 2 && v.maySee(o) {
			cell = c
			n++
		}
	})
	return cell, n == 1
}

// maySee reports whether a frame may have a pointer to an object.
func (v *View) maySee(o pta.ObjID) bool {
	if !v.known.own.Has(int(o)) || v.Res.Objs[o].Kind != pta.ObjSite {
		return true
	}
	see, ok := v.known.see[o]
	if !ok {
		see = slices.ContainsFunc(v.MakersOf(o), func(m pta.InstID) bool { return v.Live.Has(int(m)) })
		v.known.see[o] = see
	}
	return see
}

// Root is the instance that the view's first goroutine starts with.
func (v *View) Root() pta.InstID { return v.root }

// MakersOf lists the instances that may make an object of a site, ascending.
func (w *World) MakersOf(o pta.ObjID) []pta.InstID {
	ob := &w.Res.Objs[o]
	var out []pta.InstID
	for _, i := range w.InstsOf[ob.Fn] {
		for _, a := range w.Res.Func(i).Allocs {
			if a.Site == ob.Site && w.Res.PointsTo(i, a.Dst, 0).Has(ob.Node) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// AllocsOf lists the points of an instance that allocate at the site of an object.
func (w *World) AllocsOf(i pta.InstID, o pta.ObjID) []uint32 {
	f := w.Res.Func(i)
	var at []uint32
	for p, pt := range f.Points {
		if pt.Op == facts.OpAlloc && f.Allocs[pt.Row].Site == w.Res.Objs[o].Site {
			at = append(at, uint32(p))
		}
	}
	return at
}
