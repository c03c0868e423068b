package reach

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
)

// unique reports whether an object stands for one object of the whole run, or is
// made by one point, and at which node.
func (e *Effects) unique(o pta.ObjID) (Node, bool) {
	if e.v.Res.Objs[o].Kind == pta.ObjGlobal {
		return Root, true
	}
	m := &e.made[o]
	return m.node, m.n == 1 && !e.ofModel(e.v.Res.Func(m.inst), e.v.Res.Objs[o].Site) // (R6)
}

// determines reports whether w, which holds of o1 of site h and of some o, tells o1
// from o: it is the object that the one point of h made in the nearest frame of w
// above o.
func (e *Effects) determines(h pta.ObjID, w Node) bool {
	node, ok := e.unique(h)
	return ok && (node == Root || node == w)
}

// Reached returns, for each object that some object of a site reaches by one or
// more effects along cells that follow admits (nil: all), what their composition
// says: K⁺ from h (Definition 4.2). ok is false if that takes more than budget
// steps. Cost: the heap's edges behind h, times the depth of nodes.
func (e *Effects) Reached(h pta.ObjID, follow func(cell uint32) bool, budget int) (out map[pta.ObjID]Node, ok bool) {
	v := e.v
	out = map[pta.ObjID]Node{}
	var todo []pta.ObjID
	step := func(o pta.ObjID, w Node) {
		old, seen := out[o]
		if seen {
			if w = e.t.meet(old, w); w == old {
				return
			}
		}
		out[o] = w
		todo = append(todo, o)
	}
	from := func(o pta.ObjID, w Node) {
		ob := &v.Res.Objs[o]
		for i := range ob.N {
			c := ob.Node + i
			if follow != nil && !follow(c) {
				continue
			}
			here := e.t.meet(w, e.cells[c])
			last := pta.ObjID(0)
			v.Res.Content(c).Each(func(t uint32) {
				q, _ := v.Res.Object(t)
				if budget--; q == last {
					return
				}
				last = q
				if e.exempt.Has(int(q)) {
					step(q, Root) // effects say nothing of it
				} else {
					step(q, here)
				}
			})
		}
		v.Res.Behind(o, func(c uint32) {
			q, _ := v.Res.Object(c)
			step(q, Root)
		})
		for _, g := range e.ghostsOf(o) {
			step(g, Root)
		}
	}
	from(h, none)
	for len(todo) > 0 {
		if budget < 0 {
			return nil, false
		}
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from(o, out[o])
	}
	return out, true
}

// ghostsOf returns the hidden cells' objects of an object.
func (e *Effects) ghostsOf(o pta.ObjID) []pta.ObjID {
	if e.ghosts == nil {
		e.ghosts = map[pta.ObjID][]pta.ObjID{}
		for i := range e.v.Res.Objs {
			if ob := &e.v.Res.Objs[i]; ob.Kind == pta.ObjGhost {
				of, _ := e.v.Res.Object(ob.Of)
				e.ghosts[of] = append(e.ghosts[of], pta.ObjID(i))
			}
		}
	}
	return e.ghosts[o]
}

// Disjoint reports h ∈ DR(H), Figure 9: no object of site h is reachable, by one
// or more effects along cells that follow admits (nil: all), from two objects of
// sites in H. False is the safe answer, and that of a spent budget.
func (e *Effects) Disjoint(H []pta.ObjID, h pta.ObjID, follow func(cell uint32) bool, budget int) bool {
	n := 0
	for i, o := range H {
		if slices.Contains(H[:i], o) {
			continue
		}
		r, ok := e.Reached(o, follow, budget)
		if !ok {
			return false
		}
		w, some := r[h]
		if !some {
			continue
		}
		// Of an exempt object nothing is known but who cannot reach it.
		if n++; n > 1 || !e.determines(o, w) || e.exempt.Has(int(h)) && !e.exempt.Has(int(o)) {
			return false
		}
	}
	return true
}
