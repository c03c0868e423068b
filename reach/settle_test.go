package reach_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/reach"
	"github.com/bfverify/bfverify/stages/stage"
)

// lateFalls is a program whose effects fall after loads, assertions, receivers and
// bindings have asked for them: what a frame holds is lowered in a function that is
// visited after those that look.
const lateFalls = `package main

type leaf struct{ n int }

type node struct {
	f    *leaf
	v    any
	h    hitter
	call func() *leaf
}

type hitter interface{ hit() *leaf }

type pair struct{ a, b *leaf }

func (p pair) hit() *leaf { return p.b }

type one struct{ a *leaf }

func (p one) hit() *leaf { return p.a }

var bits []bool

func more() bool { b := bits[0]; bits = bits[1:]; return b }

func load(n *node) *leaf { return n.f }

func assert(n *node) *leaf { return n.v.(pair).b }

func receive(n *node) *leaf { return n.h.hit() }

func bind(n *node) *leaf { return n.call() }

func fill(n *node, l, m *leaf) {
	n.f = m
	n.v = pair{l, m}
	n.h = pair{l, m}
	if more() {
		n.h = one{m}
	}
	n.call = func() *leaf { return m }
}

func late(n *node, l *leaf, depth int) {
	if depth > 0 {
		late(n, l, depth-1)
	}
	fill(n, l, l)
}

func main() {
	for more() {
		outer := &leaf{}
		for more() {
			n := &node{}
			fill(n, &leaf{}, &leaf{})
			use(load(n), assert(n), receive(n), bind(n))
			late(n, outer, 3)
			use(load(n), assert(n), receive(n), bind(n))
		}
	}
}

func use(ls ...*leaf) {
	for _, l := range ls {
		l.n++
	}
}
`

// TestSettled: the solution is the one that visits in the opposite order find, and
// no rule, applied without what earlier rounds remember, lowers anything.
func TestSettled(t *testing.T) {
	check := func(name string, v *stage.View) {
		e := reach.New(v, reach.Config{})
		if e.Stats.Typed == 0 || e.Stats.Unsettled {
			t.Errorf("%s: nothing was said: %+v", name, e.Stats)
		}
		if at := e.Unsettled(); at != "" {
			t.Errorf("%s: %s", name, at)
		}
	}
	for _, policy := range []pta.Policy{pta.Insens, pta.Hybrid} {
		check("late falls", world(t, lateFalls, policy))
	}
	a, err := txtar.ParseFile(filepath.Join("..", "stages", "testdata", "racy", "owners.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	worlds(t, a.Files, pta.Hybrid, check)
}
