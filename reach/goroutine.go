package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// goroutine returns the node in whose frames goroutines of a thread begin, one in
// each; ok is false where there may be several, or where frames nest.
func (e *Effects) goroutine(t int) (Node, bool) {
	n := e.v.Threads[t].Entry
	r := e.t.act[n]
	return r, t != 0 && r != Root && !e.t.recursive[r] && e.types[n] != nil
}

// OwnFrame returns the frame below which all objects lie that a register points to
// at a point of an instance that a thread runs: the goroutine that is there began
// in it. The zero Frame says nothing. Each object lies below one frame of that node at most, since they do not
// nest.
func (e *Effects) OwnFrame(t int, n pta.InstID, point uint32, r facts.Reg, target pta.ObjID) stage.Frame {
	if e.exempt.Has(int(target)) {
		return stage.Frame{}
	}
	g, ok := e.goroutine(t)
	if !ok {
		return stage.Frame{}
	}
	if w, ok := e.Typed(n, r, 0, point); ok && e.t.above(g, w) {
		return stage.Frame{Thread: t, Node: uint32(g)}
	}
	return stage.Frame{}
}

// Apart reports whether no object lies below frames f and g if these are of two
// goroutines.
func (e *Effects) Apart(f, g stage.Frame) bool {
	switch {
	case f.Node == 0 || g.Node == 0:
		return false
	case f.Node == g.Node: // each goroutine has its own frame, or two share it
		return f.Thread == g.Thread || e.t.own[e.v.Threads[f.Thread].Entry] && e.t.own[e.v.Threads[g.Thread].Entry]
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
