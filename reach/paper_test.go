package reach_test

import (
	"testing"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/reach"
)

// TestPaper holds the Go version to the paper's examples, written in Go, and to
// twins that differ in what they share.
func TestPaper(t *testing.T) {
	const head = "package main\n\ntype obj struct{ f, g *obj }\n\nvar bits []bool\n\nfunc more() bool { return bits[0] }\n\nfunc mk() *obj { return &obj{} } // site made\n\n"
	for _, x := range []struct {
		name, body string
		H          []string
		h          string
		want       bool
	}{
		{"example 2.1", `for more() {
			x := &obj{} // site x
			y := &obj{} // site y
			x.f = y
		}`, []string{"x"}, "y", true},
		{"example 3.5 A", `for more() {
			x := &obj{} // site x
			for more() {
				y := &obj{} // site y
				x.f = y
			}
		}`, []string{"x"}, "y", true},
		{"example 3.5 B", `for more() {
			x := &obj{} // site x
			for more() {
				y := &obj{} // site y
				y.f = x
			}
		}`, []string{"y"}, "x", false},
		{"figure 1", `a := make([]*obj, 9) // site a
		for i := range a {
			x := &obj{} // site x
			x.f = &obj{} // site y
			a[i] = x
		}`, []string{"x"}, "y", true},
		{"figure 1, whole array", `a := make([]*obj, 9) // site a
		for i := range a {
			x := &obj{} // site x
			x.f = &obj{} // site y
			a[i] = x
		}`, []string{"a"}, "y", true},
		{"figure 1, both", `a := make([]*obj, 9) // site a
		for i := range a {
			x := &obj{} // site x
			x.f = &obj{} // site y
			a[i] = x
		}`, []string{"a", "x"}, "y", false},
		{"composition", `for more() {
			x := &obj{} // site x
			y := &obj{} // site y
			for more() {
				z := &obj{} // site z
				z.f = y
				x.f = z
			}
		}`, []string{"x"}, "y", true},
		{"composition through an older object", `var z *obj
		for more() {
			x := &obj{} // site x
			y := &obj{} // site y
			if z == nil {
				z = &obj{} // site z
			}
			z.f = y
			x.f = z
		}`, []string{"x"}, "y", false},
		{"through a call", `for more() {
			x := mk()
			x.f = &obj{} // site y
		}`, []string{"made"}, "y", true},
		{"through recursion", `var rec func(k int) *obj
		rec = func(k int) *obj {
			x := &obj{} // site x
			if k > 0 {
				x.f = rec(k - 1)
			} else {
				x.f = &obj{} // site y
			}
			return x.f
		}
		rec(3)`, []string{"x"}, "y", false},
		{"goto into a loop", `var x *obj
		if more() {
			goto in
		}
	again:
		x = &obj{} // site x
	in:
		if x != nil {
			x.f = &obj{} // site y
		}
		if more() {
			goto again
		}
		if more() {
			goto in
		}`, []string{"x"}, "y", false},
	} {
		src := head + "func main() {\n\t\t" + x.body + "\n}\n"
		v := world(t, src, pta.Hybrid)
		e := reach.New(v, reach.Config{})
		at := sites(v, src)
		var H []pta.ObjID
		for _, n := range x.H {
			H = append(H, at[n]...)
		}
		if len(H) == 0 || len(at[x.h]) != 1 {
			t.Errorf("%s: sites %v", x.name, at)
			continue
		}
		if got := e.Disjoint(H, at[x.h][0], nil, 10000); got != x.want {
			t.Errorf("%s: %s in DR(%v) is %v, want %v", x.name, x.h, x.H, got, x.want)
		}
		if e.Disjoint(H, at[x.h][0], nil, 0) {
			t.Errorf("%s: a spent budget is no proof", x.name)
		}
	}
}
