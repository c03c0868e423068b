package check

import "github.com/bfverify/bfverify/facts"

// flow is the control flow of one function: what may execute after what, in one
// activation, panics and deferred calls included.
type flow struct {
	f       *facts.Func
	blockOf []uint32
	reach   []Bits   // by block: blocks that a path of at least one edge leads to
	throws  []uint32 // by block: its last point that may panic, plus one
	calls   [][]uint32
}

func (k *checker) flowOf(f *facts.Func) *flow {
	fl := k.flows[f.ID]
	if fl != nil {
		return fl
	}
	n := len(f.Blocks)
	fl = &flow{f: f, blockOf: make([]uint32, len(f.Points)), reach: make([]Bits, n), throws: make([]uint32, n), calls: make([][]uint32, len(f.Calls)+len(f.Anys))}
	for b := range f.Blocks {
		fl.reach[b] = NewBits(n)
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			fl.blockOf[p] = uint32(b)
			if f.Points[p].Flags&facts.MayPanic != 0 {
				fl.throws[b] = p + 1
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			fl.next(b, f.Blocks[b].Start, func(s int) {
				changed = fl.reach[b].Add(s) || changed
				changed = fl.reach[b].Or(fl.reach[s]) || changed
			})
		}
	}
	for p, pt := range f.Points {
		if row, ok := callRow(f, pt); ok {
			fl.calls[row] = append(fl.calls[row], uint32(p))
		}
	}
	k.flows[f.ID] = fl
	return fl
}

// callRow returns the row of edges that a point calls.
func callRow(f *facts.Func, pt facts.Point) (uint32, bool) {
	switch pt.Op {
	case facts.OpCall:
		return pt.Row, true
	case facts.OpAny:
		return uint32(len(f.Calls)) + pt.Row, true
	}
	return 0, false
}

// next calls visit with the blocks that control may go to from point p of block b
// on: its successors, and where its panics go, if p or a later point may panic.
func (fl *flow) next(b int, p uint32, visit func(int)) {
	blk := &fl.f.Blocks[b]
	for _, s := range blk.Succs {
		visit(int(s))
	}
	if blk.Panic >= 0 && fl.throws[b] > p {
		visit(int(blk.Panic))
	}
}

// follows reports whether q may execute after p, or after p has panicked.
func (fl *flow) follows(p, q uint32) bool {
	b, c := int(fl.blockOf[p]), int(fl.blockOf[q])
	if b == c && p < q {
		return true
	}
	found := false
	fl.next(b, p, func(s int) { found = found || s == c || fl.reach[s].Has(c) })
	return found
}

// once reports whether points execute at most once together.
func (fl *flow) once(at []uint32) bool {
	for _, p := range at {
		for _, q := range at {
			if fl.follows(p, q) {
				return false
			}
		}
	}
	return len(at) > 0
}

// findOnce finds the instances that are entered at most once in a run: the root,
// if nothing calls it, and what one edge alone enters, from such an instance, at a
// row that executes at most once.
func (k *checker) findOnce() {
	in := make([]int, len(k.c.Insts))
	for i := 1; i < len(k.c.Insts); i++ {
		for _, e := range k.c.Insts[i].Edges {
			if in[e.Callee]++; int(e.Row) >= len(k.fn(InstID(i)).Calls) {
				in[e.Callee]++ // any number of times
			}
		}
	}
	k.once = NewBits(len(k.c.Insts))
	if in[k.c.Root] > 0 {
		return
	}
	k.once.Add(int(k.c.Root))
	for todo := []InstID{k.c.Root}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range k.c.Insts[i].Edges {
			if in[e.Callee] == 1 && k.flowOf(k.fn(i)).once(k.flowOf(k.fn(i)).calls[e.Row]) {
				k.once.Add(int(e.Callee))
				todo = append(todo, e.Callee)
			}
		}
	}
}

// oneVariable reports whether a cell is one variable of the whole run: it lies in
// no array, and its object is a global, or made by one instance alone, entered at
// most once, at points that execute at most once.
func (k *checker) oneVariable(c uint32) bool {
	one, ok := k.ones[c]
	if !ok {
		one = k.isOne(c)
		k.ones[c] = one
	}
	return one
}

func (k *checker) isOne(c uint32) bool {
	id := k.objOf[c]
	o := &k.c.Objects[id]
	if t := k.objType[id]; t == 0 || k.p.Layout(t).Cells[c-o.First].Array != 0 {
		return false
	}
	if o.Kind == ObjGlobal {
		return true
	}
	if o.Kind != ObjSite {
		return false
	}
	makers := k.makers(id)
	if len(makers) != 1 || !k.once.Has(int(makers[0])) {
		return false
	}
	f := k.fn(makers[0])
	var at []uint32
	for p, pt := range f.Points {
		if pt.Op == facts.OpAlloc && f.Allocs[pt.Row].Site == o.Site {
			at = append(at, uint32(p))
		}
	}
	return k.flowOf(f).once(at)
}
