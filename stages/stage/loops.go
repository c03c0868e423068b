package stage

import "slices"

// Loop is a loop of a function that has one entry, its header: every way into
// Blocks goes to Head, so that an execution of the loop is a sequence of
// iterations, each from Head until control is back at Head or leaves. Loops within
// an iteration are loops of their own, with the outer one as Parent.
type Loop struct {
	Head   int
	Blocks Bits
	Parent *Loop
}

// Tangle is a cycle with several entries (by goto), and what lies in it: it is no
// loop.
type Tangle struct {
	Blocks Bits
	Parent *Loop // the loop around it
}

// Loops returns the loops of the function, outer ones before inner ones. Where
// calls enter a function counts as an entry.
func (fl *Flow) Loops() []*Loop {
	fl.findLoops()
	return fl.loops
}

// Tangles returns the cycles of the function that are no loops.
func (fl *Flow) Tangles() []Tangle {
	fl.findLoops()
	return fl.tangles
}

func (fl *Flow) findLoops() {
	if fl.loopsFound {
		return
	}
	fl.loopsFound = true
	all := NewBits(len(fl.F.Blocks))
	for b := range fl.F.Blocks {
		all.Add(b)
	}
	fl.loopsIn(nil, all)
}

// loopsIn adds the loops among some blocks, and those within them.
func (fl *Flow) loopsIn(parent *Loop, within Bits) {
	n := len(fl.F.Blocks)
	comp, count := Components(n, func(b int, visit func(int)) {
		if !within.Has(b) {
			return
		}
		fl.Succs(b, func(s int) {
			if within.Has(s) {
				visit(s)
			}
		})
	})
	members := make([][]int, count)
	for b := range n {
		if within.Has(b) {
			members[comp[b]] = append(members[comp[b]], b)
		}
	}
	slices.Reverse(members)
	for _, list := range members {
		blocks := NewBits(n)
		for _, b := range list {
			blocks.Add(b)
		}
		head, cyclic := -1, false
		if blocks.Has(0) {
			head = 0
		}
		for b := range n {
			fl.Succs(b, func(s int) {
				switch {
				case !blocks.Has(s):
				case blocks.Has(b):
					cyclic = true
				case head >= 0 && head != s:
					head = n // two entries
				default:
					head = s
				}
			})
		}
		switch {
		case !cyclic || head < 0: // nothing leads there
		case head == n:
			fl.tangles = append(fl.tangles, Tangle{blocks, parent})
		default:
			l := &Loop{Head: head, Blocks: blocks, Parent: parent}
			fl.loops = append(fl.loops, l)
			inner := blocks.Clone()
			inner.Remove(head)
			fl.loopsIn(l, inner)
		}
	}
}
