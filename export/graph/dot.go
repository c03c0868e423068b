package graph

import (
	"fmt"
	"strings"

	"github.com/awalterschulze/gographviz"
)

// looks are the attributes of each role, chosen to be told apart without colour:
// by shape for nodes, by line and arrow for edges.
var looks = map[Role]map[string]string{
	Goroutine: {"shape": "box", "style": `"rounded"`},
	Many:      {"shape": "box", "style": `"rounded"`, "peripheries": "2"},
	Start:     {"shape": "oval"},
	Event:     {"shape": "box"},
	Function:  {"shape": "box"},
	Note:      {"shape": "note", "color": `"#888888"`, "fontcolor": `"#555555"`},
	Program:   {"color": `"#888888"`},
	Go:        {"penwidth": "1.6"},
	Join:      {"style": "dashed", "color": `"#1a5fb4"`, "fontcolor": `"#1a5fb4"`},
	Call:      {},
	Back:      {"style": "dotted"},
}

// DOT returns g in Graphviz's language. Same graph, same bytes: gographviz sorts
// what it writes, by names that are numbered in the order of g.
func (g *Graph) DOT() (string, error) {
	w := gographviz.NewGraph()
	name := quote(g.Kind)
	err := w.SetName(name)
	set := func(e error) {
		if err == nil {
			err = e
		}
	}
	set(w.SetDir(true))
	for _, a := range [][2]string{
		{"label", quote(g.Title)}, {"labelloc", "t"}, {"labeljust", "l"}, {"fontname", "Helvetica"}, {"fontsize", "12"},
		{"rankdir", "TB"}, {"nodesep", "0.3"}, {"ranksep", "0.4"}, {"newrank", "true"},
	} {
		set(w.AddAttr(name, a[0], a[1]))
	}
	frames := map[string]string{}
	nodes := map[string]string{}
	for _, n := range g.Nodes {
		parent := name
		if n.Cluster != "" {
			f, ok := frames[n.Cluster]
			if !ok {
				f = fmt.Sprintf("cluster_%04d", len(frames))
				frames[n.Cluster] = f
				set(w.AddSubGraph(name, f, map[string]string{
					"label": quote(n.Cluster), "labeljust": "l", "fontname": "Helvetica", "fontsize": "11",
					"color": `"#bbbbbb"`, "style": "rounded",
				}))
			}
			parent = f
		}
		id := fmt.Sprintf("n%05d", len(nodes))
		nodes[n.ID] = id
		set(w.AddNode(parent, id, attrs(n.Role, n.Label, "10")))
	}
	for _, e := range g.Edges {
		a, b := nodes[e.From], nodes[e.To]
		if a == "" || b == "" {
			return "", fmt.Errorf("graph %s: an edge from %q to %q, which are not both nodes", g.Kind, e.From, e.To)
		}
		set(w.AddEdge(a, b, true, attrs(e.Role, e.Label, "9")))
	}
	if err != nil {
		return "", fmt.Errorf("graph %s: %w", g.Kind, err)
	}
	return w.String(), nil
}

// attrs are the attributes of a node or an edge.
func attrs(r Role, label, size string) map[string]string {
	m := map[string]string{"fontname": "Helvetica", "fontsize": size}
	if label != "" {
		m["label"] = quote(label)
	}
	for k, v := range looks[r] {
		m[k] = v
	}
	return m
}

// quote returns s as a string of DOT; line breaks become its left-justified ones.
func quote(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "").Replace(s)
	if strings.Contains(s, "\n") {
		s = strings.ReplaceAll(s, "\n", `\l`) + `\l`
	}
	return `"` + s + `"`
}
