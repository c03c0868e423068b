package shadow

import "testing"

// TestAlike has two goroutines whose clocks share their tree, so that only their own entries
// tell them apart: what one has released must not be taken for known to the other, nor be
// replaced where it is to be kept.
func TestAlike(t *testing.T) {
	l := newLab(t, Options{}, 4)
	ReleaseMerge(l.s, l.th[3], mu)
	ReleaseMerge(l.s, l.th[0], mu)
	l.acquire(1)
	l.acquire(2)
	if l.th[1].vc.root != l.th[2].vc.root {
		t.Fatal("the clocks do not share their trees")
	}
	const object = mu + 8
	Acquire(l.s, l.th[2], object) // so it is remembered
	if !TryAcquire(l.s, l.th[2], object) {
		t.Error("an object to which nothing was released is not known")
	}
	Release(l.s, l.th[1], object)
	if TryAcquire(l.s, l.th[2], object) {
		t.Error("acquired without learning")
	}
	if TryRelease(l.s, l.th[2], object, true) {
		t.Error("merged by replacing")
	}
	if TryBegin(l.s, l.th[2], object, true, true) != nil {
		t.Error("an operation that reads begins without learning")
	}
	if o := TryBegin(l.s, l.th[2], object, false, true); o == nil {
		t.Error("an operation that does not read needs to know nothing")
	} else {
		TryEnd(l.th[2], o, false)
	}
	if !TryRelease(l.s, l.th[1], object, true) {
		t.Error("a goroutine does not know its own release")
	}
	if before := Epoch(l.th[2]); !TryRelease(l.s, l.th[2], object, false) || Epoch(l.th[2]) == before {
		t.Error("a release in place of others does not do, or begins no epoch")
	}
	if TryAcquire(l.s, l.th[1], object) {
		t.Error("acquired without learning")
	}
}
