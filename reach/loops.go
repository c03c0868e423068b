package reach

import "github.com/bfverify/bfverify/stages/stage"

// loop is a loop of a function: the blocks of a strongly connected part of its
// flow that is entered at header alone, without the loops in it; or one block of
// a part that is entered in several places. (T2)
type loop struct {
	parent int32 // the loop around it, or -1
	header int
}

// findLoops returns the loops of a function and the innermost one of each block,
// or -1. The parts are found again without the edges to the header of each, until
// none is left.
func findLoops(fl *stage.Flow) (loops []loop, of []int32) {
	n := len(fl.F.Blocks)
	of = make([]int32, n)
	if n == 0 {
		return nil, of
	}
	preds := make([][]int, n)
	cyclic := false
	for b := range n {
		of[b] = -1
		cyclic = cyclic || fl.Reach(b).Has(b)
		fl.Succs(b, func(s int) { preds[s] = append(preds[s], b) })
	}
	if !cyclic {
		return nil, of
	}
	cut := stage.NewBits(n) // headers found: edges to them are taken away
	type part struct {
		blocks []int
		in     int32
	}
	all := make([]int, n)
	for b := range all {
		all[b] = b
	}
	place := make([]int32, n) // in the part at hand, or -1
	for b := range place {
		place[b] = -1
	}
	todo := []part{{all, -1}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, b := range p.blocks {
			place[b] = int32(i)
		}
		succs := func(i int, visit func(int)) {
			fl.Succs(p.blocks[i], func(s int) {
				if place[s] >= 0 && !cut.Has(s) {
					visit(int(place[s]))
				}
			})
		}
		comp, count := stage.Components(len(p.blocks), succs)
		members := make([][]int, count)
		for i, c := range comp {
			members[c] = append(members[c], p.blocks[i])
		}
		self := func(b int) (yes bool) {
			succs(int(place[b]), func(s int) { yes = yes || p.blocks[s] == b })
			return
		}
		for c := count - 1; c >= 0; c-- {
			m := members[c]
			if len(m) == 1 && !self(m[0]) {
				continue
			}
			in := map[int]bool{}
			for _, b := range m {
				in[b] = true
			}
			var entries []int
			for _, b := range m {
				outside := b == 0
				for _, q := range preds[b] {
					outside = outside || !in[q]
				}
				if outside {
					entries = append(entries, b)
				}
			}
			if len(entries) != 1 {
				for _, b := range m {
					of[b] = int32(len(loops))
					loops = append(loops, loop{p.in, b})
				}
				continue
			}
			k := int32(len(loops))
			loops = append(loops, loop{p.in, entries[0]})
			for _, b := range m {
				of[b] = k
			}
			cut.Add(entries[0])
			todo = append(todo, part{m, k})
		}
		for _, b := range p.blocks {
			place[b] = -1
		}
	}
	return loops, of
}

// blockDoms returns the immediate dominators of the blocks that block 0 leads to;
// -1 for others.
func blockDoms(fl *stage.Flow) []int32 {
	n := len(fl.F.Blocks)
	preds := make([][]int32, n)
	for b := range n {
		fl.Succs(b, func(s int) { preds[s] = append(preds[s], int32(b)) })
	}
	idom, order := make([]int32, n), make([]int, n)
	var post []int32
	type frame struct {
		b     int
		succs []int
	}
	seen := stage.NewBits(n)
	push := func(stack []frame, b int) []frame {
		f := frame{b: b}
		fl.Succs(b, func(s int) { f.succs = append(f.succs, s) })
		return append(stack, f)
	}
	seen.Add(0)
	stack := push(nil, 0)
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if len(f.succs) > 0 {
			s := f.succs[0]
			f.succs = f.succs[1:]
			if seen.Add(s) {
				stack = push(stack, s)
			}
			continue
		}
		order[f.b] = len(post)
		post = append(post, int32(f.b))
		stack = stack[:len(stack)-1]
	}
	for b := range idom {
		idom[b] = -1
	}
	idom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := len(post) - 2; i >= 0; i-- {
			b, d := post[i], int32(-1)
			for _, p := range preds[b] {
				if idom[p] < 0 {
					continue
				}
				if d < 0 {
					d = p
					continue
				}
				for a := p; a != d; {
					for order[a] < order[d] {
						a = idom[a]
					}
					for order[d] < order[a] {
						d = idom[d]
					}
				}
			}
			if d != idom[b] {
				idom[b], changed = d, true
			}
		}
	}
	return idom
}
