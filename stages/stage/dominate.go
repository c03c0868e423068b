package stage

import "github.com/bfverify/bfverify/pta"

// Dominator returns the instance that is entered before any activation of n
// starts, on every path of calls and starts from the root, and that is nearest to
// n: the immediate dominator. It is 0 for the root. (Cooper, Harvey, Kennedy: A
// Simple, Fast Dominance Algorithm, 2001.)
func (v *View) Dominator(n pta.InstID) pta.InstID {
	if v.idom == nil {
		v.dominate()
	}
	if n == v.root {
		return 0
	}
	return v.idom[n]
}

// CommonDominator returns the nearest instance that is n or dominates it, and
// the same for m.
func (v *View) CommonDominator(n, m pta.InstID) pta.InstID {
	if v.idom == nil {
		v.dominate()
	}
	return v.meet(n, m)
}

func (v *View) meet(n, m pta.InstID) pta.InstID {
	for n != m {
		for v.rank[n] > v.rank[m] {
			n = v.idom[n]
		}
		for v.rank[m] > v.rank[n] {
			m = v.idom[m]
		}
	}
	return n
}

func (v *View) dominate() {
	n := len(v.Res.Insts)
	v.idom, v.rank = make([]pta.InstID, n), make([]uint32, n)
	// Postorder of a depth-first search.
	type frame struct {
		n    pta.InstID
		next int
	}
	seen := NewBits(n)
	seen.Add(int(v.root))
	stack := []frame{{v.root, 0}}
	var post []pta.InstID
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		out := v.Res.Insts[f.n].Out
		if f.next == len(out) {
			post = append(post, f.n)
			stack = stack[:len(stack)-1]
			continue
		}
		e := out[f.next]
		f.next++
		if v.Has(f.n, e) && seen.Add(int(e.Callee)) {
			stack = append(stack, frame{e.Callee, 0})
		}
	}
	for i, m := range post {
		v.rank[m] = uint32(len(post) - i) // reverse postorder, from 1
	}
	v.idom[v.root] = v.root
	for changed := true; changed; {
		changed = false
		for i := len(post) - 2; i >= 0; i-- {
			m := post[i]
			var d pta.InstID
			for _, c := range v.inLive[m] {
				switch {
				case v.idom[c.Inst] == 0:
				case d == 0:
					d = c.Inst
				default:
					d = v.meet(d, c.Inst)
				}
			}
			if d != v.idom[m] {
				v.idom[m] = d
				changed = true
			}
		}
	}
}
