package stage

// Components returns the strongly connected component of each of n nodes, and
// their number. Components are numbered against the edges: an edge leads to the
// same component or to one with a lower number. (Tarjan, 1972, without
// recursion; linear in nodes and edges.)
func Components(n int, succs func(node int, visit func(int))) (comp []int32, count int) {
	const unseen = -1
	comp = make([]int32, n)
	low := make([]int32, n)
	num := make([]int32, n)
	for i := range num {
		num[i], comp[i] = unseen, unseen
	}
	type frame struct {
		node int
		next []int32 // successors not yet visited
	}
	var stack []int32
	var frames []frame
	var pool []int32 // of all successor lists on the stack
	clock := int32(0)
	push := func(v int) {
		num[v], low[v] = clock, clock
		clock++
		stack = append(stack, int32(v))
		start := len(pool)
		succs(v, func(w int) { pool = append(pool, int32(w)) })
		frames = append(frames, frame{v, pool[start:]})
	}
	for root := range n {
		if num[root] != unseen {
			continue
		}
		pool = pool[:0]
		push(root)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if len(f.next) > 0 {
				w := int(f.next[0])
				f.next = f.next[1:]
				if num[w] == unseen {
					push(w)
				} else if comp[w] == unseen {
					low[f.node] = min(low[f.node], num[w])
				}
				continue
			}
			v := f.node
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				u := frames[len(frames)-1].node
				low[u] = min(low[u], low[v])
			}
			if low[v] != num[v] {
				continue
			}
			for {
				w := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				comp[w] = int32(count)
				if int(w) == v {
					break
				}
			}
			count++
		}
	}
	return comp, count
}
