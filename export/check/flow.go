package check

import "github.com/bfverify/bfverify/facts"

// flow is the control flow of one function: what may execute after what, in one
// activation, panics and deferred calls included.
type flow struct {
	blockOf []uint32
	reach   []Bits // by block: blocks that a path of at least one edge leads to
	calls   [][]uint32
}

func (k *checker) flowOf(f *facts.Func) *flow {
	fl := k.flows[f.ID]
	if fl != nil {
		return fl
	}
	n := len(f.Blocks)
	fl = &flow{blockOf: make([]uint32, len(f.Points)), reach: make([]Bits, n), calls: make([][]uint32, len(f.Calls))}
	for b := range f.Blocks {
		fl.reach[b] = NewBits(n)
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			fl.blockOf[p] = uint32(b)
		}
	}
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			successors(f, b, func(s int) {
				changed = fl.reach[b].Add(s) || changed
				changed = fl.reach[b].Or(fl.reach[s]) || changed
			})
		}
	}
	for p, pt := range f.Points {
		if pt.Op == facts.OpCall {
			fl.calls[pt.Row] = append(fl.calls[pt.Row], uint32(p))
		}
	}
	k.flows[f.ID] = fl
	return fl
}

// successors calls visit with the blocks that follow b, where its panics go included.
func successors(f *facts.Func, b int, visit func(int)) {
	for _, s := range f.Blocks[b].Succs {
		visit(int(s))
	}
	if p := f.Blocks[b].Panic; p >= 0 {
		visit(int(p))
	}
}

// follows reports whether q may execute after p.
func (fl *flow) follows(p, q uint32) bool {
	b, c := fl.blockOf[p], fl.blockOf[q]
	return b == c && p < q || fl.reach[b].Has(int(c))
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
			in[e.Callee]++
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
	maker := InstID(0)
	for _, i := range k.instsOf[o.Fn] {
		for _, a := range k.fn(i).Allocs {
			if a.Site == o.Site && k.has(k.pts(i, a.Dst, 0), o.First) {
				if maker != 0 && maker != i {
					return false
				}
				maker = i
			}
		}
	}
	if maker == 0 || !k.once.Has(int(maker)) {
		return false
	}
	f := k.fn(maker)
	var at []uint32
	for p, pt := range f.Points {
		if pt.Op == facts.OpAlloc && f.Allocs[pt.Row].Site == o.Site {
			at = append(at, uint32(p))
		}
	}
	return k.flowOf(f).once(at)
}
