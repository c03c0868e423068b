package stage

import "github.com/bfverify/bfverify/pta"

// Dominators returns, for the vertices 0 to n-1 of a graph, the immediate
// dominators: idom[v] is the nearest vertex but v on every path from root to v;
// root's is root, and that of what root does not lead to is -1. order lists what it
// leads to in reverse postorder, root first. Cost: quadratic at worst, nearly
// linear on call graphs and flow graphs. (Cooper, Harvey, Kennedy: A Simple, Fast
// Dominance Algorithm, 2001.)
func Dominators(n, root int, succs func(v int, visit func(int))) (idom, order []int32) {
	idom = make([]int32, n)
	for v := range idom {
		idom[v] = -1
	}
	// A depth-first search; the successors of the vertices on its stack are in buf.
	type frame struct {
		v        int
		start, i int
	}
	var stack []frame
	var buf, post []int32
	var edges [][2]int32
	seen := NewBits(n)
	enter := func(v int) {
		start := len(buf)
		succs(v, func(w int) {
			buf = append(buf, int32(w))
			edges = append(edges, [2]int32{int32(v), int32(w)})
		})
		stack = append(stack, frame{v, start, start})
	}
	seen.Add(root)
	enter(root)
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.i < len(buf) {
			w := int(buf[f.i])
			f.i++
			if seen.Add(w) {
				enter(w)
			}
			continue
		}
		buf = buf[:f.start]
		post = append(post, int32(f.v))
		stack = stack[:len(stack)-1]
	}
	rank := make([]int32, n) // in postorder
	order = make([]int32, len(post))
	for i, v := range post {
		rank[v] = int32(i)
		order[len(post)-1-i] = v
	}
	preds := predecessors(n, edges)
	idom[root] = int32(root)
	for changed := true; changed; {
		changed = false
		for _, v := range order[1:] {
			d := int32(-1)
			for _, p := range preds(v) {
				if idom[p] < 0 {
					continue
				}
				if d < 0 {
					d = p
				}
				for p != d {
					for rank[p] < rank[d] {
						p = idom[p]
					}
					for rank[d] < rank[p] {
						d = idom[d]
					}
				}
			}
			if d != idom[v] {
				idom[v], changed = d, true
			}
		}
	}
	return idom, order
}

// predecessors returns the lists of sources of edges, by target.
func predecessors(n int, edges [][2]int32) func(v int32) []int32 {
	end := make([]int32, n+1)
	for _, e := range edges {
		end[e[1]+1]++
	}
	for v := range n {
		end[v+1] += end[v]
	}
	from, at := make([]int32, len(edges)), append([]int32(nil), end[:n]...)
	for _, e := range edges {
		from[at[e[1]]] = e[0]
		at[e[1]]++
	}
	return func(v int32) []int32 { return from[end[v]:end[v+1]] }
}

// Dominator returns the instance that is entered before any activation of n
// starts, on every path of calls and starts from the root, and that is nearest to
// n: the immediate dominator. It is 0 for the root.
func (v *View) Dominator(n pta.InstID) pta.InstID {
	v.dominate()
	if d := v.idom[n]; n != v.root && d >= 0 {
		return pta.InstID(d)
	}
	return 0
}

// CommonDominator returns the nearest instance that is n or dominates it, and
// the same for m. Both are live.
func (v *View) CommonDominator(n, m pta.InstID) pta.InstID {
	v.dominate()
	a, b := int32(n), int32(m)
	for a != b {
		for v.rank[a] > v.rank[b] {
			a = v.idom[a]
		}
		for v.rank[b] > v.rank[a] {
			b = v.idom[b]
		}
	}
	return pta.InstID(a)
}

func (v *View) dominate() {
	if v.idom != nil {
		return
	}
	var order []int32
	v.idom, order = Dominators(len(v.Res.Insts), int(v.root), func(n int, visit func(int)) {
		for _, e := range v.Res.Insts[n].Out {
			if v.Has(pta.InstID(n), e) {
				visit(int(e.Callee))
			}
		}
	})
	v.rank = make([]int32, len(v.idom))
	for i, n := range order {
		v.rank[n] = int32(i)
	}
}
