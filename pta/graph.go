package pta

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Nodes are numbered in blocks of blockSize, variables and cells apart.
const (
	blockSize = 1 << 12
	variables = 0
	cells     = 1
)

// nodes makes n nodes with adjacent numbers and returns the first.
func (s *solver) nodes(space, n int) uint32 {
	if uint32(n) > s.end[space]-s.next[space] {
		size := max(blockSize, n)
		first := uint32(len(s.rep))
		for i := range size {
			s.rep = append(s.rep, first+uint32(i))
		}
		s.pts = append(s.pts, make([]*Set, size)...)
		s.delta = append(s.delta, make([]*Set, size)...)
		s.late = append(s.late, make([]*Set, size)...)
		s.succ = append(s.succ, make([]*Set, size)...)
		s.typ = append(s.typ, make([]facts.TypeID, size)...)
		s.decl = append(s.decl, make([]facts.TypeID, size)...)
		s.obj = append(s.obj, make([]ObjID, size)...)
		s.cons = append(s.cons, make([][]constraint, size)...)
		s.fsucc = append(s.fsucc, make([]*Set, size)...)
		for i := range s.reach {
			s.reach[i] = append(s.reach[i], make([]uint32, size)...)
		}
		s.cellReach = append(s.cellReach, make([]uint32, size)...)
		s.queued = append(s.queued, make([]bool, size)...)
		for range size {
			s.ord = append(s.ord, 1<<31) // not known yet
		}
		if n >= blockSize {
			s.stats.Nodes += n
			return first // a block of its own
		}
		s.next[space], s.end[space] = first, first+uint32(size)
	}
	s.stats.Nodes += n
	first := s.next[space]
	s.next[space] += uint32(n)
	return first
}

// node makes a variable of the given type.
func (s *solver) node(t facts.TypeID) uint32 {
	n := s.nodes(variables, 1)
	s.typ[n], s.decl[n] = t, t
	return n
}

// leavesOf makes a variable for each pointer-like leaf of a layout and returns the
// first.
func (s *solver) leavesOf(l *facts.Layout) uint32 {
	first := s.nodes(variables, len(l.Ptrs))
	for i, cell := range l.Ptrs {
		n := first + uint32(i)
		s.typ[n], s.decl[n] = l.Cells[cell].Type, l.Cells[cell].Type
	}
	return first
}

func (s *solver) find(n uint32) uint32 {
	for s.rep[n] != n {
		s.rep[n] = s.rep[s.rep[n]]
		n = s.rep[n]
	}
	return n
}

// pointsTo adds an element to a node, subject to the filter.
func (s *solver) pointsTo(n, p uint32) {
	n = s.find(n)
	if s.accepts(n, p) {
		s.insert(n, p)
	}
}

func (s *solver) insert(n, p uint32) {
	if s.pts[n] == nil {
		s.pts[n] = new(Set)
	}
	if s.pts[n].Add(p) {
		if s.delta[n] == nil {
			s.delta[n] = new(Set)
		}
		s.delta[n].Add(p)
		s.enqueue(n)
	}
}

// insertAll adds all cells of an object to a node that refuses none.
func (s *solver) insertAll(n uint32, o *Object) {
	for i := range o.N {
		s.insert(n, o.Node+i)
	}
}

func (s *solver) enqueue(n uint32) {
	if !s.queued[n] {
		s.queued[n] = true
		s.push(uint64(s.ord[n])<<32 | uint64(n))
	}
}

// copyEdge adds dst ⊇ src.
func (s *solver) copyEdge(src, dst uint32, mode edgeMode) {
	s.typedEdge(src, dst, mode, s.decl[dst])
}

// typedEdge is copyEdge for a dst that was declared with type typ.
func (s *solver) typedEdge(src, dst uint32, mode edgeMode, typ facts.TypeID) {
	src, dst = s.find(src), s.find(dst)
	if src == dst && mode == flows {
		return
	}
	switch {
	case mode != flows:
		s.typedEdge(s.unsafely(src, mode, typ), dst, flows, typ)
	case s.needsFilter(src, dst):
		if s.fsucc[src] == nil {
			s.fsucc[src] = new(Set)
		}
		if s.fsucc[src].Add(dst) {
			s.newEdges++
			if s.pts[src] != nil {
				s.flowFiltered(s.pts[src], dst)
			}
		}
	default:
		if s.succ[src] == nil {
			s.succ[src] = new(Set)
		}
		if s.succ[src].Add(dst) {
			s.newEdges++
			if s.pts[src] != nil {
				s.flow(s.pts[src], dst)
			}
		}
	}
}

func (s *solver) flow(from *Set, dst uint32) {
	s.stats.Effort += 1 + len(from.keys)
	if s.pts[dst] == nil {
		s.pts[dst] = new(Set)
	}
	if s.delta[dst] == nil {
		s.delta[dst] = new(Set)
	}
	if s.pts[dst].UnionDiff(from, s.delta[dst]) {
		s.enqueue(dst)
	}
}

// flowFiltered lets what dst accepts flow, a chunk at a time.
func (s *solver) flowFiltered(from *Set, dst uint32) {
	if from.Empty() {
		return // nothing was asked of an interface type yet
	}
	t := s.typ[dst]
	if t == 0 {
		s.flow(from, dst)
		return
	}
	var fit Set
	ty := &s.u.Types[t]
	switch ty.Kind {
	case facts.UnsafePointer, facts.Opaque:
		s.flow(from, dst)
		return
	case facts.Interface: // (F2)
		if len(ty.Methods) == 0 {
			s.flow(from, dst)
			return
		}
		var fresh Set
		if v := s.ifaces[t]; v == nil {
			fresh.addAll(from)
		} else {
			fresh.addMinus(from, &v.known)
		}
		fresh.Each(func(p uint32) { s.implements(p, t) })
		fit.addMeet(from, &s.ifaces[t].yes)
	case facts.FuncKind: // (F3)
		fit.addMeet(from, &s.funcCells)
	default: // (F1)
		k, ok := s.targetClass(t)
		if !ok {
			s.flow(from, dst)
			return
		}
		fit.addMeet(from, s.cellsOf(k))
	}
	if !fit.Empty() {
		s.flow(&fit, dst)
	}
}

// push and pop keep the worklist as a heap: nodes go in the topological order
// of the copy edges, as far as it is known, so that what arrives on several
// paths goes on together.
func (s *solver) push(x uint64) {
	h := append(s.work, x)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h[p] <= x {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = x
	s.work = h
}

func (s *solver) pop() uint64 {
	h := s.work
	top := h[0]
	x := h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if x <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = x
	}
	s.work = h
	return top
}

// collapse merges the nodes of each cycle of unfiltered copy edges, and orders
// the rest.
func (s *solver) collapse() error {
	n := len(s.rep)
	index := make([]uint32, n)
	low := make([]uint32, n)
	onStack := make([]bool, n)
	var stack []uint32
	next := uint32(1)
	done := uint32(0)
	type frame struct {
		v     uint32
		start int // of its successors in buf
		i     int
	}
	var frames []frame
	var buf []uint32 // the successors of the frames
	enter := func(v uint32) {
		index[v], low[v] = next, next
		next++
		stack = append(stack, v)
		onStack[v] = true
		frames = append(frames, frame{v: v, start: len(buf), i: len(buf)})
		if s.succ[v] != nil {
			s.succ[v] = s.renamed(s.succ[v])
			buf = s.succ[v].Elems(buf)
		}
	}
	for root := range n {
		r := uint32(root)
		if s.rep[r] != r || index[r] != 0 || s.succ[r] == nil {
			continue
		}
		enter(r)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.i < len(buf) {
				w := s.find(buf[f.i])
				f.i++
				if index[w] == 0 {
					enter(w)
				} else if onStack[w] && index[w] < low[f.v] {
					low[f.v] = index[w]
				}
				continue
			}
			v := f.v
			buf = buf[:f.start]
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				if p := frames[len(frames)-1].v; low[v] < low[p] {
					low[p] = low[v]
				}
			}
			if low[v] == index[v] {
				done++
				for {
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[w] = false
					s.ord[w] = ^done // who is finished last comes first
					if w == v {
						break
					}
					s.unites = append(s.unites, [2]uint32{v, w})
				}
			}
		}
	}
	if err := s.pending(); err != nil {
		return err
	}
	s.effort, s.collapsed = 0, s.newEdges
	s.collapseAt = s.newEdges + max(s.newEdges/8, s.lookEdges)
	for v := range n {
		if s.rep[v] == uint32(v) {
			s.fsucc[v] = s.renamed(s.fsucc[v])
			s.dedupe(uint32(v))
		}
	}
	return nil
}

// renamed replaces merged nodes by what they were merged into.
func (s *solver) renamed(set *Set) *Set {
	if set == nil {
		return nil
	}
	stale := false
	set.Each(func(x uint32) { stale = stale || s.rep[x] != x })
	if !stale {
		return set
	}
	out := new(Set)
	set.Each(func(x uint32) { out.Add(s.find(x)) })
	return out
}

// merge makes one node of two that hold the same at the fixed point: the nodes
// of a cycle of unfiltered edges, or cells of one type into which the same may
// be stored. A merged node refuses nothing that one of its members accepted:
// members of types that refuse each other's values get no filter.
func (s *solver) merge(v, w uint32) {
	v, w = s.find(v), s.find(w)
	if v == w {
		return
	}
	if s.pts[v] == nil {
		s.pts[v] = new(Set)
	}
	if s.pts[w] == nil {
		s.pts[w] = new(Set)
	}
	if s.pts[w].Len() > s.pts[v].Len() {
		v, w = w, v
	}
	s.stats.Collapsed++
	sawV, sawW := s.saw(v), s.saw(w)
	d := new(Set) // what the edges of one of them have not seen
	for _, x := range [2][2]uint32{{v, w}, {w, v}} {
		d.addMinus(s.pts[x[1]], s.pts[x[0]])
		if s.delta[x[0]] != nil {
			d.addAll(s.delta[x[0]])
		}
		s.delta[x[0]] = nil
	}
	s.pts[v].addAll(s.pts[w])
	s.pts[w] = nil
	s.rep[w] = v
	if s.filters(s.typ[w], s.typ[v]) || s.filters(s.typ[v], s.typ[w]) {
		s.typ[v] = 0
	}
	s.succ[v] = merged(s.succ[v], s.succ[w])
	s.succ[w] = nil
	s.fsucc[v] = merged(s.fsucc[v], s.fsucc[w])
	s.fsucc[w] = nil
	for _, e := range s.usucc[w] {
		i := slices.IndexFunc(s.usucc[v], func(x unsafeEdge) bool { return x.mode == e.mode && x.typ == e.typ })
		if i < 0 {
			s.usucc[v] = append(s.usucc[v], e)
		} else {
			s.unites = append(s.unites, [2]uint32{s.usucc[v][i].via, e.via})
		}
	}
	delete(s.usucc, w)
	for i := range s.reach {
		if a, b := s.reach[i][v], s.reach[i][w]; a == 0 {
			s.reach[i][v] = b
		} else if b != 0 {
			s.unites = append(s.unites, [2]uint32{a, b})
		}
	}
	s.mergeStores(v, w)
	s.mergeCons(v, w, sawV, sawW)
	for _, n := range [2]uint32{v, w} {
		if x := s.owed[n]; x != nil {
			d.addAll(x)
			delete(s.owed, n)
		}
	}
	if !d.Empty() {
		s.owed[v] = d
	}
}

// merged returns the union of two sets, either of which may be nil.
func merged(a, b *Set) *Set {
	if a == nil {
		return b
	}
	if b != nil {
		a.addAll(b)
	}
	return a
}
