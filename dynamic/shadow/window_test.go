package shadow

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"
)

// These tests stop one goroutine in the middle of a change that TestSimultaneous hits
// only by chance.

// TestWriteMeetsSplit has a writer that publishes its epoch when a split has begun:
// what others have read is below by the time it looks.
func TestWriteMeetsSplit(t *testing.T) {
	for _, size := range []uintptr{8, 24, 4} { // a word, an element of an array, a half
		l := newLab(t, Options{Arrays: true}, 4)
		if size == 24 {
			AddArray(l.s, base, size, 100)
			a := arrayAt(l.s, pageOf(l.s, base, false), base)
			lock(&a.lk)
			addLayer(l.s, a, Fine, 0, size, 100)
			unlock(&a.lk)
		}
		l.access(1, Read, 0, size)
		var c *cell
		if size == 24 {
			a := arrayAt(l.s, pageOf(l.s, base, false), base)
			c = fineCell(l.s, l.th[1], a, topLayer(a), 0)
		} else {
			c = l.cell(0)
		}
		if g := linearGrain(l.s, base); size == 4 && g != 4 {
			t.Fatalf("a half has a cell of %d bytes", g)
		}
		r := c.r
		c.r = busy // the split begins
		done := make(chan bool)
		go func() {
			l.access(2, Write, 0, size)
			close(done)
		}()
		for load64(&c.w) != l.th[2].epoch {
			runtime.Gosched()
		}
		x := newSplit(l.s, 2, size/2)
		for i := range x.n {
			x.cell(i).w, x.cell(i).r = c.w, r
		}
		store64(&c.w, uint64(uintptr(unsafe.Pointer(x)))|special)
		store64(&c.r, 0)
		<-done
		var want []string
		for i := range x.n {
			want = append(want, fmt.Sprintf("0:1-1:2 +%d", i*2))
		}
		l.want(want...)
	}
}

// TestSwiftMeetsSplit has accesses of whole words that publish their epoch between a read or
// write and a split by others that leaves the cell's words as they were found.
func TestSwiftMeetsSplit(t *testing.T) {
	for _, test := range []struct {
		kind, other uint8
		stop        string // when swift looks again
		want        bool   // alone
	}{
		{Write, Read, "after the split", false}, // r is what it was, 0
		{Write, Read, "before the split", false},
		{Write, Read, "before the read", true}, // which finds the write
		{Read, Write, "after the split", false},
		{Read, Write, "before the split", false},
		{Read, Write, "before the read", true},
	} {
		l := newLab(t, Options{Firsts: true}, 3)
		me, c := l.th[2], cellAt(cellsAt(l.s, unsafe.Pointer(&pageOf(l.s, base, true).rest)), 0)
		w, r := load64(&c.w), load64(&c.r)
		if w|r != 0 {
			t.Fatal("the cell is not empty")
		}
		publish := func() {
			at := &c.w
			if test.kind == Read {
				at = &c.r
			}
			if !cas64(at, 0, me.epoch) {
				t.Fatal("the other access is in the way")
			}
		}
		ok := false
		if test.stop == "before the read" {
			publish()
			ok = alone(c, test.kind, w, r)
		}
		l.access(1, test.other, 0, 8)
		if test.stop != "before the read" {
			l.want()
			publish()
		}
		if test.stop == "before the split" {
			ok = alone(c, test.kind, w, r)
		}
		l.access(1, test.other, 3, 1)
		if load64(&c.w)&special == 0 {
			t.Fatal("the cell is not split")
		}
		if test.stop == "after the split" {
			ok = alone(c, test.kind, w, r)
		}
		if ok != test.want {
			t.Errorf("%v %s: alone is %v", test.kind, test.stop, ok)
		}
		// What linearWords goes on with finds the race on each byte.
		if !ok {
			touchPart(l.s, me, c, 7, base+1, 0, 7, test.kind, 2, true)
		}
		if test.want {
			l.want(fmt.Sprintf("%d:2-%d:1 +1", test.kind, test.other))
			continue
		}
		var all []string
		for i := 1; i < 8; i++ {
			all = append(all, fmt.Sprintf("%d:1-%d:2 +%d", test.other, test.kind, i))
		}
		l.want(all...)
	}
}

// TestReadMeetsSplit has a reader that waits for a split to end.
func TestReadMeetsSplit(t *testing.T) {
	for _, kind := range []uint8{Read, AtomicRead} {
		l := newLab(t, Options{}, 4)
		l.access(1, Write, 0, 8)
		c := l.cell(0)
		c.r = busy
		done := make(chan bool)
		go func() {
			l.access(2, kind, 0, 8)
			close(done)
		}()
		for range 100 {
			runtime.Gosched()
		}
		x := newSplit(l.s, 4, 2)
		for i := range x.n {
			x.cell(i).w = c.w
		}
		store64(&c.w, uint64(uintptr(unsafe.Pointer(x)))|special)
		store64(&c.r, 0)
		<-done
		l.want(fmt.Sprintf("1:1-%d:2 +0", kind), fmt.Sprintf("1:1-%d:2 +4", kind))
	}
}

// TestVector has entries for many slots, each in its place.
func TestVector(t *testing.T) {
	l := newLab(t, Options{}, 1)
	x := newReaders(l.s, 0, 0)
	const n = 5000
	for i := range uint32(n) {
		entryOf(l.s, &x.r, i).epoch = uint64(i)<<slotShift | 1
	}
	y := copyReaders(l.s, x)
	for i := range uint32(n) {
		for _, v := range []*vector{&x.r, &y.r} {
			if e := entryKnown(v, i); e == nil || e.epoch != uint64(i)<<slotShift|1 {
				t.Fatalf("slot %d has %v", i, e)
			}
		}
	}
	// A write sees each of them.
	for _, i := range []uint32{1, 3, 4, 15, 16, 63, 64, 4095, 4096, n - 1} {
		th := Fork(l.s, l.th[0], 7)
		th.vc.release(l.s)
		for k := range uint32(n) {
			if k != i {
				th.vc.put(l.s, k, 1)
			}
		}
		scan(l.s, th, &x.r, Write, Read, base, 8, 0)
		l.want(fmt.Sprintf("0:%d-1:7 +0", i))
	}
}

// TestAtomicPart splits a cell that holds atomic accesses.
func TestAtomicPart(t *testing.T) {
	for _, kind := range []uint8{AtomicRead, AtomicWrite} {
		l := newLab(t, Options{}, 3)
		l.access(1, kind, 0, 8)
		l.access(2, Write, 7, 1)
		l.want(fmt.Sprintf("%d:1-1:2 +7", kind))
		l.access(2, Write, 0, 1)
		l.want(fmt.Sprintf("%d:1-1:2 +0", kind))
		l.access(2, Read, 3, 2)
		if kind == AtomicWrite {
			l.want("3:1-0:2 +3", "3:1-0:2 +4")
		} else {
			l.want()
		}
	}
}

// TestSameEpochArrays: FastTrack's rules for the same epoch in arrays of mode Fine.
func TestSameEpochArrays(t *testing.T) {
	l := newLab(t, Options{Arrays: true}, 3)
	AddArray(l.s, base, 8, 64)
	l.access(1, Write, 320, 8)
	l.access(1, Read, 328, 8)
	l.commit(1)
	l.mode(Fine, 0)
	n := l.th[1].stat.Checks
	l.access(1, Write, 320, 8)
	l.access(1, Read, 320, 8)
	l.access(1, Read, 328, 8)
	l.commit(1)
	if k := l.th[1].stat.Checks - n; k != 0 {
		t.Errorf("%d checks in the same epoch", k)
	}
}

// TestHoldDead: a descriptor that is free must not be used.
func TestHoldDead(t *testing.T) {
	l := newArrayLab(t, 64, 2)
	a := arrayAt(l.s, pageOf(l.s, base, false), base)
	Clear(l.s, base, 512)
	if hold(a) {
		t.Error("a free descriptor is held")
	}
}

// TestClockShrinks: a release by a goroutine with a short clock, then one with a long
// clock; what the object held in between does not come back.
func TestClockShrinks(t *testing.T) {
	l := newLab(t, Options{}, 7)
	l.access(4, Write, 0, 8)
	l.release(4)
	l.release(1)
	ReleaseMerge(l.s, l.th[6], mu)
	l.acquire(2)
	l.access(2, Write, 0, 8)
	l.want("1:4-1:2 +0")
}
