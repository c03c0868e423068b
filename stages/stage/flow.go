package stage

import (
	"github.com/bfverify/bfverify/facts"
)

// Flow answers questions about the control flow of one function, panics and
// deferred calls included.
type Flow struct {
	F       *facts.Func
	blockOf []uint32   // of each point
	reach   [][]uint64 // reach[b]: blocks that an edge path of length >= 1 leads to
	// At lists, for each row of Calls and of Anys, the points that run it.
	CallAt [][]uint32
	AnyAt  [][]uint32

	loops      []*Loop
	tangles    []Tangle
	loopsFound bool
}

// NewFlow computes the Flow of f. Cost: blocks times edges, by words of 64.
func NewFlow(f *facts.Func) *Flow {
	n := len(f.Blocks)
	w := (n + 63) / 64
	fl := &Flow{F: f, blockOf: make([]uint32, len(f.Points)), reach: make([][]uint64, n)}
	bits := make([]uint64, n*w)
	for b := range f.Blocks {
		fl.reach[b] = bits[b*w : (b+1)*w]
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			fl.blockOf[p] = uint32(b)
		}
	}
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			r := fl.reach[b]
			fl.Succs(b, func(s int) {
				for i := range w {
					x := r[i] | fl.reach[s][i]
					if i == s/64 {
						x |= 1 << (s % 64)
					}
					if x != r[i] {
						r[i] = x
						changed = true
					}
				}
			})
		}
	}
	if f.Is(facts.FnAnyOrder) {
		for b := range f.Blocks {
			if f.Blocks[b].Start < f.Blocks[b].End {
				Bits(fl.reach[b]).Remove(b)
			}
		}
	}
	fl.CallAt = make([][]uint32, len(f.Calls))
	fl.AnyAt = make([][]uint32, len(f.Anys))
	for i, p := range f.Points {
		switch p.Op {
		case facts.OpCall:
			fl.CallAt[p.Row] = append(fl.CallAt[p.Row], uint32(i))
		case facts.OpAny:
			fl.AnyAt[p.Row] = append(fl.AnyAt[p.Row], uint32(i))
		}
	}
	return fl
}

// Succs calls f with the successors of block b, where its panics go included.
func (fl *Flow) Succs(b int, f func(int)) {
	blk := &fl.F.Blocks[b]
	for _, s := range blk.Succs {
		f(int(s))
	}
	if blk.Panic >= 0 {
		f(int(blk.Panic))
	}
}

// Block returns the block of a point.
func (fl *Flow) Block(p uint32) int { return int(fl.blockOf[p]) }

// Reach returns the blocks that a path of at least one edge from block b leads
// to; b not where its points execute at most once (facts.FnAnyOrder). The caller
// must not change the result.
func (fl *Flow) Reach(b int) Bits { return fl.reach[b] }

// MayFollow reports whether q may execute after p in one activation.
func (fl *Flow) MayFollow(p, q uint32) bool {
	b, c := fl.blockOf[p], fl.blockOf[q]
	if b == c && p < q {
		return true
	}
	return fl.reach[b][c/64]&(1<<(c%64)) != 0
}

// OnCycle reports whether p may execute twice in one activation.
func (fl *Flow) OnCycle(p uint32) bool { return fl.MayFollow(p, p) }

// RowOnce reports whether the points at which one row runs execute at most
// once together in one activation.
func (fl *Flow) RowOnce(at []uint32) bool {
	for _, p := range at {
		for _, q := range at {
			if fl.MayFollow(p, q) {
				return false
			}
		}
	}
	return true
}
