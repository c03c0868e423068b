package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// OwnFrame returns the frame below which all objects lie that a register points to
// at a point: the goroutine of thread t that is there began in it, with the instance
// entry. Each object lies below one frame of its node at most, since they do not
// nest. The zero Frame says nothing. Threads may be those of another view of the
// program, with fewer starts.
func (e *Effects) OwnFrame(t int, entry, n pta.InstID, point uint32, r facts.Reg, target pta.ObjID) stage.Began {
	g := e.t.act[entry]
	if t == 0 || g == Root || e.t.recursive[g] || e.types[entry] == nil || e.exempt.Has(int(target)) {
		return stage.Began{}
	}
	if w, ok := e.Typed(n, r, 0, point); ok && e.t.above(g, w) {
		return stage.Began{Thread: t, Node: uint32(g), Alone: e.t.own[entry]}
	}
	return stage.Began{}
}

// Apart reports whether no object lies below frames f and g if these are of two
// goroutines.
func (e *Effects) Apart(f, g stage.Began) bool {
	switch {
	case f.Node == 0 || g.Node == 0:
		return false
	case f.Node == g.Node: // goroutines of one start have a frame each
		return f.Thread == g.Thread || f.Alone && g.Alone
	}
	return !e.t.below(Node(f.Node)).Has(int(g.Node)) && !e.t.below(Node(g.Node)).Has(int(f.Node))
}

// below returns the nodes whose frames may lie below those of a node.
func (t *tree) below(n Node) stage.Bits {
	if b, ok := t.reached[n]; ok {
		return b
	}
	b := stage.NewBits(t.count)
	todo := []Node{n}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range t.succ(m) {
			if b.Add(int(s)) {
				todo = append(todo, s)
			}
		}
	}
	t.reached[n] = b
	return b
}
