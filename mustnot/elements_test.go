package mustnot

import (
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// TestElements holds elements to its conditions, each broken alone: of two
// addresses &s[i] the later one is the earlier one, or it is not.
func TestElements(t *testing.T) {
	const s, i, q, p, other, top = facts.Reg(1), facts.Reg(2), facts.Reg(3), facts.Reg(4), facts.Reg(5), facts.Reg(6)
	addr := func(row uint32) facts.Point { return facts.Point{Op: facts.OpAddr, Row: row} }
	nop := func(flags uint8) facts.Point { return facts.Point{Flags: flags} }
	index := func(c int64, ts ...facts.Term) facts.Lin { return facts.Lin{Known: true, Const: c, Terms: ts} }
	type block = facts.Block
	out := func(start, end uint32, panic int32, succs ...uint32) block {
		return block{Start: start, End: end, Panic: panic, Succs: succs}
	}
	for _, c := range []struct {
		name   string
		same   bool
		change func(f *facts.Func, defs []uint8)
	}{
		{"one block", true, func(f *facts.Func, defs []uint8) {}},
		{"another base", false, func(f *facts.Func, defs []uint8) { f.Addrs[1].Base = other }}, // (E1)
		{"at another distance from the root", false, func(f *facts.Func, defs []uint8) { f.Addrs[1].Off = 1 }},
		{"another constant", false, func(f *facts.Func, defs []uint8) { f.Lins[2] = index(1, facts.Term{Reg: i, Coef: 2}) }},
		{"another register", false, func(f *facts.Func, defs []uint8) { f.Lins[2] = index(0, facts.Term{Reg: other, Coef: 2}) }},
		{"another factor", false, func(f *facts.Func, defs []uint8) { f.Lins[2] = index(0, facts.Term{Reg: i, Coef: 1}) }},
		{"a term more", false, func(f *facts.Func, defs []uint8) {
			f.Lins[2].Terms = append(f.Lins[2].Terms, facts.Term{Reg: other, Coef: 1})
		}},
		{"another type", false, func(f *facts.Func, defs []uint8) { f.Regs[p].Type++ }},
		{"no linear form", false, func(f *facts.Func, defs []uint8) { f.Lins[1].Known, f.Lins[2].Known = false, false }},
		{"no index", false, func(f *facts.Func, defs []uint8) { f.Addrs[0].Index, f.Addrs[1].Index = 0, 0 }},
		{"the base has two definitions", false, func(f *facts.Func, defs []uint8) { defs[s] = 2 }}, // (E2)
		{"the root has two definitions", false, func(f *facts.Func, defs []uint8) { defs[top] = 2 }},
		{"the index has two definitions", false, func(f *facts.Func, defs []uint8) { defs[i] = 2 }},
		{"the earlier address has two definitions", false, func(f *facts.Func, defs []uint8) { defs[q] = 2 }},
		{"the later address has two definitions", false, func(f *facts.Func, defs []uint8) { defs[p] = 2 }},
		{"dominated", true, func(f *facts.Func, defs []uint8) { // (E3)
			f.Blocks = []block{out(0, 2, -1, 1, 2), out(2, 2, -1, 2), out(2, 3, -1)}
		}},
		{"in one branch", false, func(f *facts.Func, defs []uint8) {
			f.Blocks = []block{out(0, 0, -1, 1, 2), out(0, 2, -1, 2), out(2, 3, -1)}
		}},
		{"after a panic before it", false, func(f *facts.Func, defs []uint8) {
			f.Points = []facts.Point{nop(facts.MayPanic), addr(0), addr(1)}
			f.Blocks = []block{out(0, 2, 1), out(2, 3, -1)}
		}},
		{"some time after a panic before it", false, func(f *facts.Func, defs []uint8) {
			f.Points = []facts.Point{nop(facts.MayPanic), addr(0), addr(1)}
			f.Blocks = []block{out(0, 2, 1), out(2, 2, -1, 2), out(2, 3, -1)}
		}},
		{"after a panic behind it", true, func(f *facts.Func, defs []uint8) {
			f.Points = []facts.Point{addr(0), nop(facts.MayPanic), addr(1)}
			f.Blocks = []block{out(0, 2, 1), out(2, 3, -1)}
		}},
	} {
		two := []facts.Term{{Reg: i, Coef: 2}}
		f := &facts.Func{
			Regs:   make([]facts.RegInfo, 7),
			Blocks: []block{out(0, 3, -1)},
			Points: []facts.Point{addr(0), nop(0), addr(1)},
			Addrs: []facts.Addr{
				{Dst: q, Base: s, Kind: facts.AddrElem, Index: 1},
				{Dst: p, Base: s, Kind: facts.AddrElem, Index: 2},
			},
			Lins: []facts.Lin{{}, index(0, two...), index(0, two...)},
		}
		defs := make([]uint8, 7)
		defs[q], defs[p] = 1, 1
		c.change(f, defs)
		e := newElements(stage.NewFlow(f), defs)
		got := facts.NoReg
		for n, pt := range f.Points {
			if pt.Op == facts.OpAddr {
				a := &f.Addrs[pt.Row]
				base := root{top, int64(a.Off)} // of which s is a field
				if a.Base == other {
					base = root{other, 0}
				}
				got, _ = e.earlier(uint32(n), base)
			}
		}
		if (got == q) != c.same || !c.same && got != facts.NoReg {
			t.Errorf("%s: the later address is register %d, want the earlier one: %v", c.name, got, c.same)
		}
	}
}
