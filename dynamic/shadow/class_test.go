package shadow

import "testing"

// TestClasses: sizes that have one class are rounded up to the same size, no more than a
// half larger, and aligned.
func TestClasses(t *testing.T) {
	sizes := map[int]uintptr{}
	for n := uintptr(1); n < 1<<18; n++ {
		c, size := classOf(n)
		if c >= nClasses || size < n || size%16 != 0 || n > smallMax && size*2 > n*3 {
			t.Fatalf("%d: class %d of %d bytes", n, c, size)
		}
		if old := sizes[c]; old != 0 && old != size {
			t.Fatalf("class %d has blocks of %d and %d bytes", c, old, size)
		}
		sizes[c] = size
	}
	if _, size := classOf(words * cellSize); size != words*cellSize {
		t.Errorf("the cells of a page take %d bytes", size)
	}
	if c, _ := classOf(1 << 47); c >= nClasses {
		t.Errorf("class %d of %d", c, nClasses)
	}
}
