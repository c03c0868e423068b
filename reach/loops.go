package reach

import "github.com/bfverify/bfverify/stages/stage"

// loop is a loop of a function, or one block of a cycle that is entered in several
// places. (T2)
type loop struct {
	parent int32 // the loop around it, or -1
	header int
}

// findLoops returns the loops of a function and the innermost one of each block,
// or -1.
func findLoops(fl *stage.Flow) (loops []loop, of []int32) {
	of = make([]int32, len(fl.F.Blocks))
	for b := range of {
		of[b] = -1
	}
	index := map[*stage.Loop]int32{nil: -1}
	for _, l := range fl.Loops() { // outer ones first
		k := int32(len(loops))
		index[l] = k
		loops = append(loops, loop{index[l.Parent], l.Head})
		for b := range of {
			if l.Blocks.Has(b) {
				of[b] = k
			}
		}
	}
	for _, t := range fl.Tangles() {
		for b := range of {
			if t.Blocks.Has(b) {
				of[b] = int32(len(loops))
				loops = append(loops, loop{index[t.Parent], b})
			}
		}
	}
	return loops, of
}
