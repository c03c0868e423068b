package stages

import (
	"fmt"
	"slices"

	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// drawCalls draws the call graph of the functions in scope that run, contexts
// aside, with those that they call directly: a frame for each package. Where code
// out of scope calls back into it, an edge leads there from the function by
// which scope was left.
func drawCalls(d *drawer) *graph.Graph {
	v := d.r.v
	g := &graph.Graph{}
	var edges edgeSet
	seen := map[facts.FuncID]string{}
	node := func(n pta.InstID) string {
		fn := v.Res.Insts[n].Fn
		id, ok := seen[fn]
		if !ok {
			id = fmt.Sprint("f", len(seen))
			seen[fn] = id
			node := graph.Node{ID: id, Label: display(v.Prog.FuncName(fn)), Role: graph.Function}
			if f := v.Res.Func(n); f != nil {
				node.Cluster = f.Pkg
			}
			g.Nodes = append(g.Nodes, node)
		}
		return id
	}
	left := map[pta.InstID]bool{} // by which scope is left
	var exits []pta.InstID
	// Callers first, so that what a limit keeps is the top.
	for _, n := range v.CallOrder() {
		if !d.r.placed(n) {
			continue
		}
		from := node(n)
		for _, e := range v.Res.Insts[n].Out {
			if !v.Has(n, e) {
				continue
			}
			role := graph.Call
			if stage.IsSpawn(e.Kind) {
				role = graph.Go
			}
			edges.add(graph.Edge{From: from, To: node(e.Callee), Role: role})
			if !d.r.placed(e.Callee) && !left[e.Callee] {
				left[e.Callee] = true
				exits = append(exits, e.Callee)
			}
		}
	}
	for _, n := range exits {
		for _, back := range d.callsBack(n) {
			edges.add(graph.Edge{From: node(n), To: node(back), Role: graph.Back})
		}
	}
	g.Edges = edges.edges()
	g.Title = fmt.Sprintf("%d functions", len(seen))
	return g
}

// callsBack lists the instances in scope that are called, by way of others out of
// scope, once n outside is: what n is handed and calls.
func (d *drawer) callsBack(n pta.InstID) []pta.InstID {
	v := d.r.v
	seen := map[pta.InstID]bool{n: true}
	todo := []pta.InstID{n}
	var back []pta.InstID
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[n].Out {
			switch {
			case seen[e.Callee] || !v.Has(n, e):
				continue
			case d.r.placed(e.Callee):
				back = append(back, e.Callee)
			default:
				todo = append(todo, e.Callee)
			}
			seen[e.Callee] = true
		}
	}
	slices.Sort(back)
	return back
}
