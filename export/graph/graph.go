// Package graph turns what the analyses know into pictures, in Graphviz's DOT
// (by gographviz). A Graph is plain data; its roles, not its makers, decide how
// it looks.
//
// A picture of everything is none: Select leaves of a graph what lies around a
// focus, and so many nodes, and says how much it left out.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Role says what a node or an edge stands for, and so how it is drawn.
type Role string

// The roles.
const (
	Goroutine Role = "goroutine" // node: goroutines started at one place
	Many      Role = "many"      // node: goroutines of which several may run at a time
	Start     Role = "start"     // node: where a goroutine begins
	Event     Role = "event"     // node: an operation that synchronises
	Function  Role = "function"  // node
	Note      Role = "note"      // node: says something about the picture
	Program   Role = "program"   // edge: the order of one goroutine
	Go        Role = "go"        // edge: starts
	Join      Role = "join"      // edge: what happened before its tail is awaited at its head
	Call      Role = "call"      // edge
	Back      Role = "back"      // edge: calls, by way of functions that are not shown
)

// Graph is a directed graph to draw.
type Graph struct {
	Kind  string // "goroutines", "order", "callgraph"
	Title string
	Nodes []Node // by importance: Select keeps the first ones
	Edges []Edge
}

// Node is a node; ID is unique in its graph. Nodes of one Cluster are drawn in
// one frame with that text; "" is no frame.
type Node struct {
	ID, Label, Cluster string
	Role               Role
}

// Edge is an edge between the nodes From and To.
type Edge struct {
	From, To, Label string
	Role            Role
}

// Options choose what of a graph is drawn.
type Options struct {
	Max   int    // nodes; 0 is no limit
	Focus string // draw what is connected to nodes whose label has this text; "" is all
	Depth int    // with Focus, so many edges away from it; 0 is no limit
}

// Select returns the part of g that o chooses, with a note of what it leaves
// out. A focus that no node has is an error that names some nodes. Cost: nodes
// plus edges, and sorting them.
func (g *Graph) Select(o Options) (*Graph, error) {
	out := &Graph{Kind: g.Kind, Title: g.Title}
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.ID] = i
	}
	adj := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		a, b := index[e.From], index[e.To]
		adj[a], adj[b] = append(adj[a], b), append(adj[b], a)
	}
	dist := make([]int, len(g.Nodes)) // 1 is the focus, 0 not reached
	var order []int
	if o.Focus == "" {
		for i := range g.Nodes {
			order = append(order, i)
		}
	} else {
		for i, n := range g.Nodes {
			if strings.Contains(n.Label, o.Focus) || strings.Contains(n.Cluster, o.Focus) {
				dist[i] = 1
				order = append(order, i)
			}
		}
		if len(order) == 0 {
			return nil, g.noFocus(o.Focus)
		}
		for i := 0; i < len(order); i++ {
			if d := dist[order[i]]; o.Depth == 0 || d <= o.Depth {
				for _, k := range adj[order[i]] {
					if dist[k] == 0 {
						dist[k] = d + 1
						order = append(order, k)
					}
				}
			}
		}
	}
	if o.Max > 0 && len(order) > o.Max {
		order = order[:o.Max]
	}
	slices.Sort(order)
	kept := map[string]bool{}
	for _, i := range order {
		kept[g.Nodes[i].ID] = true
		out.Nodes = append(out.Nodes, g.Nodes[i])
	}
	for _, e := range g.Edges {
		if kept[e.From] && kept[e.To] {
			out.Edges = append(out.Edges, e)
		}
	}
	if left := len(g.Nodes) - len(out.Nodes); left > 0 {
		how := "see more with -max, or choose with -focus and -depth"
		if o.Focus != "" {
			how = "see more with -max and -depth"
		}
		out.Nodes = append(out.Nodes, Node{ID: "left_out", Role: Note, Label: fmt.Sprintf("%d of %d nodes left out\n%s", left, len(g.Nodes), how)})
	}
	return out, nil
}

// noFocus is the error for a focus that no node has.
func (g *Graph) noFocus(focus string) error {
	var some []string
	for _, n := range g.Nodes {
		line, _, _ := strings.Cut(n.Label, "\n")
		some = append(some, line)
	}
	slices.SortFunc(some, cmp.Compare)
	some = slices.Compact(some)
	if len(some) == 0 {
		return fmt.Errorf("-focus %s: the graph has no nodes", focus)
	}
	return fmt.Errorf("-focus %s: no node has this text; there are %d, such as %s", focus, len(some), strings.Join(some[:min(5, len(some))], ", "))
}
