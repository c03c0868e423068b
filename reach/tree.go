package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Node is an abstract frame. Root is that of the program, none the type of a
// variable without objects that have types.
type Node uint32

// Root and none bound the types: Root says nothing, none is of no object.
const (
	Root Node = 0
	none Node = ^Node(0)
)

// tree is the relation nest(w, w'): a frame of w' may begin in a frame of w. Its
// dominators are the nodes that surely lie above a node.
type tree struct {
	v     *stage.View
	plans []*plan // by function
	act   []Node  // by instance: the node of its activations
	own   []bool  // by instance: act is its own, (T3)
	loops []Node  // by instance: the node of its first loop
	count int

	idom      []Node
	depth     []int32
	comp      []int32
	recursive []bool
	succ      func(Node) []Node
	reached   map[Node]stage.Bits // see below
}

func newTree(v *stage.View) *tree {
	t := &tree{v: v, plans: make([]*plan, len(v.Prog.Funcs)), reached: map[Node]stage.Bits{}}
	n := len(v.Res.Insts)
	t.act, t.own, t.loops = make([]Node, n), make([]bool, n), make([]Node, n)
	// Whose activations are those of a point?
	at := make([]int32, n) // the loop of that point
	by := make([]pta.InstID, n)
	t.count = 1
	for i := 1; i < n; i++ {
		id := pta.InstID(i)
		if !v.Live.Has(i) {
			continue
		}
		if id != v.Res.Root {
			by[i], at[i] = t.onlyPoint(id)
			t.own[i] = by[i] == 0
			if t.own[i] {
				t.act[i] = Node(t.count)
				t.count++
			}
		}
		if f := v.Res.Func(id); f != nil {
			t.loops[i] = Node(t.count)
			t.count += len(t.plan(f).loops)
		}
	}
	// The others get theirs from the callers, which lead to the root.
	done := make([]bool, n)
	done[v.Res.Root] = true
	var chain []int
	for i := 1; i < n; i++ {
		if !v.Live.Has(i) {
			continue
		}
		j := i
		for !done[j] && !t.own[j] {
			chain = append(chain, j)
			if at[j] >= 0 || len(chain) > n {
				break
			}
			j = int(by[j])
		}
		for k := len(chain) - 1; k >= 0; k-- {
			j := chain[k]
			t.act[j], done[j] = t.node(by[j], at[j]), true
		}
		chain = chain[:0]
	}
	t.dominators()
	return t
}

// onlyPoint returns the instance and the loop of the one point that enters n, at
// most once a frame; or 0. (T3)
func (t *tree) onlyPoint(n pta.InstID) (pta.InstID, int32) {
	in := t.v.In(n)
	if len(in) != 1 || in[0].Kind != pta.EdgeCall && in[0].Kind != pta.EdgeGo || in[0].Inst == n {
		return 0, 0
	}
	c := in[0]
	points := t.v.PointsOf(c.Inst, c.Kind, c.Row)
	fl := t.v.Flow(c.Inst)
	if len(points) == 0 || len(points) > 1 && !fl.RowOnce(points) {
		return 0, 0
	}
	p := t.plan(fl.F)
	loop := p.loopOf[fl.Block(points[0])]
	for _, q := range points[1:] {
		if p.loopOf[fl.Block(q)] != loop {
			return 0, 0
		}
	}
	return c.Inst, loop
}

func (t *tree) plan(f *facts.Func) *plan {
	if t.plans[f.ID] == nil {
		t.plans[f.ID] = newPlan(t.v, f)
	}
	return t.plans[f.ID]
}

// node returns the node of a loop of an instance; loop -1 is its activation.
func (t *tree) node(n pta.InstID, loop int32) Node {
	if loop < 0 {
		return t.act[n]
	}
	return t.loops[n] + Node(loop)
}

// dominators computes the tree of immediate dominators and the components of nest.
func (t *tree) dominators() {
	var from, to []Node
	edge := func(a, b Node) { from, to = append(from, a), append(to, b) }
	for i := 1; i < len(t.act); i++ {
		n := pta.InstID(i)
		if !t.v.Live.Has(i) {
			continue
		}
		if t.own[i] {
			for _, c := range t.v.In(n) {
				f := t.v.Res.Func(c.Inst)
				p := t.plan(f)
				points := t.v.PointsOf(c.Inst, c.Kind, c.Row)
				for _, q := range points {
					edge(t.node(c.Inst, p.loopOf[t.v.Flow(c.Inst).Block(q)]), t.act[i])
				}
				if len(points) == 0 {
					edge(t.act[c.Inst], t.act[i])
				}
			}
		}
		if f := t.v.Res.Func(n); f != nil {
			for k, l := range t.plan(f).loops {
				edge(t.node(n, l.parent), t.node(n, int32(k)))
			}
		}
	}
	succ := adjacency(t.count, from, to)
	t.succ = succ
	comp, _ := stage.Components(t.count, func(n int, visit func(int)) {
		for _, s := range succ(Node(n)) {
			visit(int(s))
		}
	})
	t.comp = comp
	size := make([]int32, t.count)
	for _, c := range comp {
		size[c]++
	}
	t.recursive = make([]bool, t.count)
	for n := range t.recursive {
		t.recursive[n] = size[comp[n]] > 1
	}
	for i := range from {
		if from[i] == to[i] {
			t.recursive[from[i]] = true
		}
	}
	idom, order := stage.Dominators(t.count, int(Root), func(n int, visit func(int)) {
		for _, s := range succ(Node(n)) {
			visit(int(s))
		}
	})
	t.idom, t.depth = make([]Node, t.count), make([]int32, t.count)
	for n := range t.idom { // not reached: nothing is said
		t.idom[n], t.depth[n] = Root, 1
	}
	t.depth[Root] = 0
	for _, n := range order[1:] {
		t.idom[n] = Node(idom[n])
		t.depth[n] = t.depth[idom[n]] + 1
	}
}

// adjacency returns the lists of the pairs (from, to), by from.
func adjacency(n int, from, to []Node) func(Node) []Node {
	end := make([]uint32, n+1)
	for _, a := range from {
		end[a+1]++
	}
	for i := range n {
		end[i+1] += end[i]
	}
	list := make([]Node, len(to))
	at := append([]uint32(nil), end[:n]...)
	for i, a := range from {
		list[at[a]] = to[i]
		at[a]++
	}
	return func(a Node) []Node { return list[end[a]:end[a+1]] }
}

// common returns the innermost node above or at both.
func (t *tree) common(a, b Node) Node {
	for a != b {
		if t.depth[a] < t.depth[b] {
			a, b = b, a
		}
		a = t.idom[a]
	}
	return a
}

// above reports whether a is b or surely lies above it.
func (t *tree) above(a, b Node) bool {
	for t.depth[b] > t.depth[a] {
		b = t.idom[b]
	}
	return a == b
}

// keeps reports whether, of frames of a that lie below the nearest frame of c,
// above or at a, there is none of c below them.
func (t *tree) keeps(c, a Node) bool {
	return c == a || t.comp[c] != t.comp[a] || !t.recursive[c]
}

// meet composes two facts over what they share, and also joins two of which one
// holds: the innermost node for which both say that a frame is shared.
func (t *tree) meet(a, b Node) Node {
	switch {
	case a == b || b == none:
		return a
	case a == none:
		return b
	case a == Root || b == Root:
		return Root
	}
	c := t.common(a, b)
	for !t.keeps(c, a) || !t.keeps(c, b) {
		c = t.idom[c]
	}
	return c
}

// move gives the type at a point that shares the frame of node l, of the same
// activation, with the point where it was w. (R2)
func (t *tree) move(w, l Node) Node {
	if w == none || w == Root || t.above(w, l) {
		return w
	}
	for !t.keeps(l, w) {
		l = t.idom[l]
	}
	return l
}

// enter gives the type in the callee of what had type w at the call.
func (t *tree) enter(w Node, n pta.InstID) Node {
	if w == none || w == Root || !t.own[n] {
		return w
	}
	c := t.common(w, t.idom[t.act[n]])
	for !t.keeps(c, w) {
		c = t.idom[c]
	}
	return c
}

// leave gives the type after a call, at a point of node at, of what had type w
// everywhere in the activation of n.
func (t *tree) leave(w Node, n pta.InstID, at Node) Node {
	a := t.act[n]
	if w == none || !t.own[n] || w != a {
		return w
	}
	if t.comp[at] != t.comp[a] || !t.recursive[a] {
		return at
	}
	c := t.idom[a]
	for !t.keeps(c, a) {
		c = t.idom[c]
	}
	return c
}
