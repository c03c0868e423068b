package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awalterschulze/gographviz"
)

// chain is a path of n nodes "n0" to "n<n-1>", in clusters of two.
func chain(n int) *Graph {
	g := &Graph{Kind: "chain", Title: "a chain"}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("id", i), Label: fmt.Sprint("n", i), Cluster: fmt.Sprint("c", i/2), Role: Event})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: fmt.Sprint("id", i-1), To: fmt.Sprint("id", i), Role: Call})
		}
	}
	return g
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		opt         Options
		want        string // nodes
		edges, left int
	}{
		{Options{}, "n0 n1 n2 n3 n4 n5", 5, 0},
		{Options{Max: 6}, "n0 n1 n2 n3 n4 n5", 5, 0},
		{Options{Max: 2}, "n0 n1", 1, 4},
		{Options{Focus: "n3", Depth: 1}, "n2 n3 n4", 2, 3},
		{Options{Focus: "n3", Depth: 2}, "n1 n2 n3 n4 n5", 4, 1},
		{Options{Focus: "n0"}, "n0 n1 n2 n3 n4 n5", 5, 0}, // edges count both ways, without end
		{Options{Focus: "n5"}, "n0 n1 n2 n3 n4 n5", 5, 0},
		{Options{Focus: "c1", Depth: 1}, "n1 n2 n3 n4", 3, 2},      // the text of a cluster
		{Options{Focus: "n3", Depth: 3, Max: 3}, "n2 n3 n4", 2, 3}, // the nearest are kept
	} {
		g, err := chain(6).Select(c.opt)
		if err != nil {
			t.Errorf("%+v: %v", c.opt, err)
			continue
		}
		var got []string
		left := 0
		for _, n := range g.Nodes {
			if n.Role == Note {
				fmt.Sscan(n.Label, &left)
			} else {
				got = append(got, n.Label)
			}
		}
		if s := strings.Join(got, " "); s != c.want || len(g.Edges) != c.edges || left != c.left {
			t.Errorf("%+v: %s with %d edges and %d left out, want %s, %d, %d", c.opt, s, len(g.Edges), left, c.want, c.edges, c.left)
		}
	}
}

func TestFocusThatIsNot(t *testing.T) {
	_, err := chain(7).Select(Options{Focus: "x"})
	if err == nil || err.Error() != "-focus x: no node has this text; there are 7, such as n0, n1, n2, n3, n4" {
		t.Error(err)
	}
	if _, err = chain(0).Select(Options{Focus: "x"}); err == nil || !strings.Contains(err.Error(), "no nodes") {
		t.Error(err)
	}
}

// TestDOT reads back what is written: all nodes in their frames, all edges, and
// texts with whatever characters as they were.
func TestDOT(t *testing.T) {
	g := chain(5)
	texts := []string{`a "b" \n c`, "two\nlines", "<b>&amp;", "", "ünï{}[]|;->"}
	for i, s := range texts {
		g.Nodes[i].Label = s
	}
	g.Edges[0].Label = `say "go"`
	g.Nodes[3].Cluster = ""
	text, err := g.DOT()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := g.DOT(); again != text {
		t.Error("the same graph has other bytes")
	}
	back, err := gographviz.Read([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var got []string
	for _, n := range back.Nodes.Sorted() {
		got = append(got, n.Attrs["label"])
	}
	want := []string{`"a \"b\" \\n c"`, `"two\llines\l"`, `"<b>&amp;"`, "", `"ünï{}[]|;->"`}
	if !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
	if n := len(back.Edges.Edges); n != 4 || back.Edges.Sorted()[0].Attrs["label"] != `"say \"go\""` {
		t.Errorf("%d edges, the first %v", n, back.Edges.Sorted()[0].Attrs)
	}
	in := func(n, frame string) bool { return back.Relations.ChildToParents[n][frame] }
	if !in("n00000", "cluster_0000") || !in("n00001", "cluster_0000") || !in("n00002", "cluster_0001") || in("n00003", "cluster_0001") {
		t.Errorf("frames: %v", back.Relations.ChildToParents)
	}
	g.Edges[1].To = "nobody"
	if _, err := g.DOT(); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Error("an edge to no node is drawn:", err)
	}
}

// TestLooks checks that every role has a look.
func TestLooks(t *testing.T) {
	for _, r := range []Role{Goroutine, Many, Start, Event, Function, Note, Program, Go, Join, Call, Back} {
		if looks[r] == nil {
			t.Errorf("%s has no look", r)
		}
	}
}
