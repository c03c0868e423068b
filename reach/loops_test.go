package reach

import (
	"slices"
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// TestLoops gives flow graphs and the loops that rule (T2) finds in them: for each
// block the headers around it, innermost first.
func TestLoops(t *testing.T) {
	for name, x := range map[string]struct {
		succs [][]uint32
		want  [][]int
	}{
		"none":   {[][]uint32{{1, 2}, {3}, {3}, {}}, [][]int{{}, {}, {}, {}}},
		"nested": {[][]uint32{{1}, {2, 4}, {3, 1}, {2}, {}}, [][]int{{}, {1}, {2, 1}, {2, 1}, {}}},
		"self":   {[][]uint32{{1}, {1, 2}, {}}, [][]int{{}, {1}, {}}},
		"goto":   {[][]uint32{{1, 2}, {2}, {1, 3}, {}}, [][]int{{}, {1}, {2}, {}}},
		"goto in a loop": {[][]uint32{{1}, {2, 3, 4}, {3}, {2, 1}, {}},
			[][]int{{}, {1}, {2, 1}, {3, 1}, {}}},
		"entry in a loop": {[][]uint32{{1}, {0, 2}, {}}, [][]int{{0}, {0}, {}}},
	} {
		f := &facts.Func{}
		for _, s := range x.succs {
			f.Blocks = append(f.Blocks, facts.Block{Succs: s, Panic: -1})
		}
		loops, of := findLoops(stage.NewFlow(f))
		for b := range x.succs {
			got := []int{}
			for l := of[b]; l >= 0; l = loops[l].parent {
				got = append(got, loops[l].header)
			}
			if !slices.Equal(got, x.want[b]) {
				t.Errorf("%s: block %d lies in loops %v, want %v", name, b, got, x.want[b])
			}
		}
	}
}
