package stages

import (
	"testing"

	"github.com/bfverify/bfverify/facts"
)

// TestUnused breaks (C4): between the load, at point 0, and the store the value, in
// register 1, goes into sums and nowhere else.
func TestUnused(t *testing.T) {
	const load, store = 0, 3
	for _, c := range []struct {
		name string
		at   facts.Point // beside the sum, between the two
		want bool
	}{
		{"nothing", facts.Point{Op: facts.OpNop}, true},
		{"a sum of the sum", facts.Point{Op: facts.OpArith, Row: 1}, true},
		{"an argument", facts.Point{Op: facts.OpCall, Row: 0}, false},
		{"the sum as an argument", facts.Point{Op: facts.OpCall, Row: 1}, false},
		{"another argument", facts.Point{Op: facts.OpCall, Row: 2}, true},
		{"stored", facts.Point{Op: facts.OpMem, Row: 0}, false},
	} {
		f := &facts.Func{
			Regs: make([]facts.RegInfo, 8), Lins: make([]facts.Lin, 1),
			Ariths: []facts.Arith{{Dst: 2, Op: facts.ArithAdd, X: 1, Y: 5}, {Dst: 3, Op: facts.ArithAdd, X: 2, Y: 5}},
			Calls:  []facts.Call{{Args: []facts.Reg{1}}, {Args: []facts.Reg{2}}, {Args: []facts.Reg{6}}},
			Mems:   []facts.Mem{{Base: 7, Val: 1, Write: true}},
			Points: []facts.Point{{Op: facts.OpNop}, {Op: facts.OpArith, Row: 0}, c.at, {Op: facts.OpNop}},
		}
		if got := unused(f, 1, load, store); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
