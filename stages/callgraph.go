package stages

import (
	"fmt"

	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// drawCalls draws the call graph of the functions in scope that run, contexts
// aside, with those that they call directly: a frame for each package.
func drawCalls(d *drawer) *graph.Graph {
	v := d.r.v
	g := &graph.Graph{}
	edges := edgeSet{g: g}
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
		}
	}
	g.Title = fmt.Sprintf("%d functions", len(seen))
	return g
}
