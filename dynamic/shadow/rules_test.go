package shadow

import (
	"fmt"
	"strings"
	"testing"
)

// lab runs events against a state and writes down the races.
type lab struct {
	t     *testing.T
	s     *State
	races []string
	th    []*Thread
}

const (
	base = uintptr(0xc000100000)
	mu   = uintptr(0x1000)
)

// newLab has n goroutines, started by goroutine 0 one after the other.
func newLab(t *testing.T, o Options, n int) *lab {
	l := &lab{t: t}
	l.s = New(o, func(r *Race) {
		s := fmt.Sprintf("%d:%d-%d:%d +%d", r.PrevKind, Slot(r.PrevEpoch), r.Kind, r.Thread, r.Lo-base)
		if r.Count > 1 {
			s += fmt.Sprintf("*%d/%d", r.Count, r.Stride)
		}
		l.races = append(l.races, s)
	})
	t.Cleanup(l.s.Close)
	l.th = append(l.th, Fork(l.s, nil, 0))
	for i := 1; i < n; i++ {
		l.th = append(l.th, Fork(l.s, l.th[0], uint64(i)))
	}
	return l
}

func (l *lab) access(g int, kind uint8, off, size uintptr) {
	for n := uintptr(0); n < size; {
		n += Access(l.s, l.th[g], base+off+n, size-n, kind, uint32(g))
	}
}

func (l *lab) release(g int) { Release(l.s, l.th[g], mu) }
func (l *lab) acquire(g int) { Acquire(l.s, l.th[g], mu) }

// want checks which races were reported since the last time, as
// "kind:slot-kind:goroutine +offset", and "*count/stride" of several pieces.
func (l *lab) want(races ...string) {
	l.t.Helper()
	if got, want := strings.Join(l.races, "\n"), strings.Join(races, "\n"); got != want {
		l.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	l.races = nil
}

// cell returns the cell of memory outside arrays at off.
func (l *lab) cell(off uintptr) *cell {
	return linearCell(l.s, base+off, 1)
}

// TestFastTrack has a case for each of FastTrack's rules.
func TestFastTrack(t *testing.T) {
	t.Run("same epoch", func(t *testing.T) {
		l := newLab(t, Options{}, 2)
		l.access(1, Write, 0, 8)
		l.access(1, Read, 8, 8)
		n := l.th[1].stat.Checks
		l.access(1, Write, 0, 8)
		l.access(1, Read, 0, 8) // the write covers it
		l.access(1, Read, 8, 8)
		if l.th[1].stat.Checks != n {
			t.Error("the same epoch is checked again")
		}
		l.release(1)
		l.access(1, Write, 0, 8)
		l.access(1, Read, 8, 8)
		if l.th[1].stat.Checks != n+2 {
			t.Error("a new epoch is not checked")
		}
		l.want()
	})
	t.Run("write exclusive", func(t *testing.T) {
		l := newLab(t, Options{}, 3)
		l.access(1, Write, 0, 8)
		l.release(1)
		l.acquire(2)
		l.access(2, Write, 0, 8)
		l.want()
		l.access(1, Write, 0, 8)
		l.want("1:2-1:1 +0")
	})
	t.Run("read exclusive", func(t *testing.T) {
		l := newLab(t, Options{}, 3)
		l.access(1, Read, 0, 8)
		l.release(1)
		l.acquire(2)
		l.access(2, Read, 0, 8)
		if r := l.cell(0).r; r != l.th[2].epoch {
			t.Errorf("ordered reads give %#x", r)
		}
		l.release(2)
		l.acquire(1)
		l.access(1, Write, 0, 8)
		l.want()
		l.access(2, Read, 0, 8)
		l.want("1:1-0:2 +0")
	})
	t.Run("read share and shared", func(t *testing.T) {
		l := newLab(t, Options{}, 9)
		for g := 1; g < 9; g++ {
			l.access(g, Read, 0, 8)
		}
		if l.cell(0).r&special == 0 || l.s.Stats().Shared != 1 {
			t.Error("concurrent reads give no vector")
		}
		for g := 1; g < 8; g++ {
			ReleaseMerge(l.s, l.th[g], mu)
		}
		l.acquire(0)
		l.want()
		l.access(0, Write, 0, 8)
		l.want("0:8-1:0 +0") // the one that was not acquired
	})
	t.Run("write shared", func(t *testing.T) {
		l := newLab(t, Options{}, 4)
		l.access(1, Read, 0, 8)
		l.access(2, Read, 0, 8)
		ReleaseMerge(l.s, l.th[1], mu)
		ReleaseMerge(l.s, l.th[2], mu)
		l.acquire(3)
		l.access(3, Write, 0, 8)
		l.want()
		x := readersOf(l.cell(0).r)
		if x.r.dirty != 0 {
			t.Error("the write has not seen the reads")
		}
		l.access(1, Read, 0, 8)
		l.want("1:3-0:1 +0")
		if x.r.dirty == 0 {
			t.Error("no later write will see the read")
		}
		l.release(3)
		l.acquire(2)
		l.access(2, Write, 0, 8)
		l.want("0:1-1:2 +0")
	})
	t.Run("read after write", func(t *testing.T) {
		l := newLab(t, Options{}, 3)
		l.access(1, Write, 0, 8)
		l.access(2, Read, 0, 8)
		l.want("1:1-0:2 +0")
	})
	t.Run("write after read", func(t *testing.T) {
		l := newLab(t, Options{}, 3)
		l.access(1, Read, 0, 8)
		l.access(2, Write, 0, 8)
		l.want("0:1-1:2 +0")
	})
}

// TestAtomic has all pairs of kinds, concurrent and ordered.
func TestAtomic(t *testing.T) {
	for a := uint8(Read); a <= AtomicWrite; a++ {
		for b := uint8(Read); b <= AtomicWrite; b++ {
			atomic := a >= AtomicRead && b >= AtomicRead
			writes := a&1 + b&1
			for _, before := range []string{"", "shared"} {
				l := newLab(t, Options{}, 5)
				if before != "" { // readers that make a vector, ordered before all
					l.access(3, Read, 0, 8)
					l.access(4, Read, 0, 8)
					ReleaseMerge(l.s, l.th[3], mu)
					ReleaseMerge(l.s, l.th[4], mu)
					l.acquire(1)
					l.acquire(2)
				}
				l.access(1, a, 0, 8)
				l.access(2, b, 0, 8)
				if writes > 0 && !atomic {
					l.want(fmt.Sprintf("%d:1-%d:2 +0", a, b))
				} else {
					l.want()
				}
				l = newLab(t, Options{}, 3)
				l.access(1, a, 0, 8)
				l.release(1)
				l.acquire(2)
				l.access(2, b, 0, 8)
				l.want()
			}
		}
	}
}

// TestVectorSeen has entries of vectors that a plain write has seen, and one that came later:
// what comes after the write need not look at the former.
func TestVectorSeen(t *testing.T) {
	for _, k := range []struct{ in, out uint8 }{{AtomicWrite, Read}, {Read, AtomicWrite}} {
		for _, later := range []bool{false, true} {
			l := newLab(t, Options{}, 6)
			l.access(1, k.in, 0, 8)
			l.access(5, k.in, 0, 8)
			ReleaseMerge(l.s, l.th[1], mu)
			ReleaseMerge(l.s, l.th[5], mu)
			l.acquire(2)
			l.access(2, Write, 0, 8)
			l.release(2)
			l.acquire(3)
			l.acquire(4)
			if later {
				l.access(3, k.in, 0, 8)
			}
			l.access(4, k.out, 0, 8)
			if later {
				l.want(fmt.Sprintf("%d:3-%d:4 +0", k.in, k.out))
				continue
			}
			l.want()

			// Without the order that acquire gives, the write is reported in their place.
			l.access(0, k.out, 0, 8)
			l.want(fmt.Sprintf("1:2-%d:0 +0", k.out))
		}
	}
}

// TestBytes has accesses that overlap in part.
func TestBytes(t *testing.T) {
	l := newLab(t, Options{}, 3)
	l.access(1, Write, 0, 8)
	l.access(2, Write, 8, 8)
	l.want()
	l.access(2, Write, 6, 3) // bytes 6 and 7 are the other's
	l.want("1:1-1:2 +6")
	l = newLab(t, Options{}, 3)
	for i := range uintptr(8) { // neighbours do not race
		l.access(1+int(i%2), Write, i, 1)
	}
	l.want()
	l.access(1, Read, 0, 8)
	l.want("1:2-0:1 +1", "1:2-0:1 +3", "1:2-0:1 +5", "1:2-0:1 +7")
	l = newLab(t, Options{}, 3)
	l.access(1, Write, 0, 4)
	l.access(2, Write, 4, 4)
	l.want()
	if g := linearGrain(l.s, base); g != 4 {
		t.Errorf("halves have cells of %d bytes", g)
	}
	// Readers of the whole are in both halves afterwards.
	l = newLab(t, Options{}, 4)
	l.access(1, Read, 0, 8)
	l.access(2, Read, 0, 8)
	l.access(3, Write, 5, 1)
	l.want("0:1-1:3 +5")
	l.access(3, Write, 0, 1)
	l.want("0:1-1:3 +0")
}

// TestLife has memory that ends and begins.
func TestLife(t *testing.T) {
	for _, whole := range []bool{true, false} {
		l := newLab(t, Options{}, 3)
		l.access(1, Write, 0, 32)
		l.access(1, Read, 32, 4)
		l.access(2, Read, 32, 4) // a vector below a split
		Release(l.s, l.th[1], base+64)
		if whole {
			Clear(l.s, base&^(PageSize-1), 4*PageSize)
		} else {
			Clear(l.s, base+8, 100)
		}
		Acquire(l.s, l.th[2], base+64) // nothing there any more
		l.access(2, Write, 8, 24)
		l.access(2, Write, 32, 4)
		l.want()
		l.access(2, Write, 0, 8)
		if whole {
			l.want()
		} else {
			l.want("1:1-1:2 +0")
		}
	}
	// A part of a word.
	l := newLab(t, Options{}, 3)
	l.access(1, Write, 0, 8)
	Clear(l.s, base+2, 4)
	l.access(2, Write, 2, 4)
	l.want()
	l.access(2, Write, 0, 8)
	l.want("1:1-1:2 +0", "1:1-1:2 +6")
}

// TestSyncAddresses tells objects apart by the exact address.
func TestSyncAddresses(t *testing.T) {
	l := newLab(t, Options{}, 3)
	l.access(1, Write, 0, 8)
	Release(l.s, l.th[1], mu)
	Acquire(l.s, l.th[2], mu+1)
	l.access(2, Write, 0, 8)
	l.want("1:1-1:2 +0")
	Forget(l.s, mu)
	Acquire(l.s, l.th[0], mu)
	l.access(0, Write, 0, 8)
	l.want("1:2-1:0 +0")
}

// TestReleases tells the three kinds apart: who is covered by whom.
func TestReleases(t *testing.T) {
	for _, test := range []struct {
		name    string
		release func(*State, *Thread, uintptr)
		want    []string // of a write by 3 to what 1 and 2 wrote, after 1 and 2 released in this order
		second  bool     // what 2 wrote after it released is ordered after 1
	}{
		{"Release", Release, []string{"1:1-1:3 +0"}, false},
		{"ReleaseMerge", ReleaseMerge, nil, false},
		{"ReleaseAcquire", ReleaseAcquire, []string{"1:1-1:3 +0"}, true},
	} {
		l := newLab(t, Options{}, 4)
		l.access(1, Write, 0, 8)
		l.access(2, Write, 8, 8)
		test.release(l.s, l.th[1], mu)
		test.release(l.s, l.th[2], mu)
		l.acquire(3)
		l.access(3, Write, 0, 16)
		l.want(test.want...)
		l.access(1, Write, 16, 8) // after its release: nobody has that
		l.access(3, Write, 16, 8)
		l.want("1:1-1:3 +16")
		l = newLab(t, Options{}, 4)
		l.access(1, Write, 0, 8)
		test.release(l.s, l.th[1], mu)
		test.release(l.s, l.th[2], mu)
		l.access(2, Write, 0, 8)
		if test.second {
			l.want()
		} else {
			l.want("1:1-1:2 +0")
		}
	}
}

// TestSlots reuses the slot of a goroutine exactly when the parent covers all that it
// did.
func TestSlots(t *testing.T) {
	for _, test := range []struct {
		name          string
		after, waited bool
		reused        bool
	}{
		{"released and waited for", false, true, true},
		{"nobody waits", false, false, false},
		{"goes on after the release", true, true, false},
	} {
		l := newLab(t, Options{}, 2)
		one, e := l.th[1].slot, l.th[1].epoch
		l.access(1, Write, 0, 8)
		l.release(1)
		if test.after {
			l.access(1, Write, 8, 8)
		}
		if test.waited {
			l.acquire(0)
		}
		End(l.s, l.th[1])
		th := Fork(l.s, l.th[0], 3)
		if (th.slot == one) != test.reused {
			t.Errorf("%s: slot %d after slot %d", test.name, th.slot, one)
		}
		if th.slot == one && th.epoch <= e {
			t.Errorf("%s: epoch %#x after %#x", test.name, th.epoch, e)
		}
		Access(l.s, th, base, 8, Write, 0)
		if test.waited {
			l.want()
		} else {
			l.want("1:1-1:3 +0")
		}
		if n := l.s.Stats(); n.Uncovered != 0 || n.Slotless != 0 {
			t.Errorf("%+v", n)
		}
	}
	// Waiting for goroutines again and again needs few slots; see clock.
	l := newLab(t, Options{}, 1)
	for i := range uint64(1000) {
		th := Fork(l.s, l.th[0], i)
		Access(l.s, th, base, 8, Write, 0)
		Release(l.s, th, mu)
		End(l.s, th)
		l.acquire(0)
	}
	l.want()
	if l.s.final.n > 3 || l.th[0].vc.height > 0 {
		t.Errorf("%d slots", l.s.final.n)
	}
	// More than there are slots: the accesses of the rest are counted, their
	// synchronisation counts.
	l = newLab(t, Options{Slots: 2}, 4)
	l.access(2, Write, 0, 8)
	l.access(1, Write, 0, 8)
	l.want()
	l.release(1)
	l.acquire(2)
	Release(l.s, l.th[2], mu+8)
	Acquire(l.s, l.th[0], mu+8)
	l.access(0, Write, 0, 8)
	l.want()
	if n := l.s.Stats(); n.Slotless != 2 || n.Ignored != 1 {
		t.Errorf("%+v", n)
	}
	End(l.s, l.th[1])
	th := Fork(l.s, l.th[3], 9)
	if n := l.s.Stats(); th.slot != 1 || n.Uncovered != 1 {
		t.Errorf("%+v", n)
	}
}

// TestAcquireAll: epochs that are covered while they last. What their goroutines acquire
// afterwards comes with the objects that they release.
func TestAcquireAll(t *testing.T) {
	const mu2, mu3 = mu + 8, mu + 16
	l := newLab(t, Options{}, 4)
	l.access(2, Write, 0, 8)
	AcquireAll(l.s, l.th[1])
	l.access(1, Read, 0, 8) // ordered
	l.want()
	Release(l.s, l.th[2], mu2) // ends the epoch that 1 has acquired
	l.access(2, Write, 8, 8)
	l.access(2, Write, 16, 8)
	l.release(2)
	l.acquire(3) // in an epoch that 1 has acquired, too
	Release(l.s, l.th[3], mu3)
	Acquire(l.s, l.th[1], mu3)
	l.access(1, Read, 8, 8) // after 2, by way of 3
	l.want()
	l.access(2, Write, 24, 8)
	l.access(1, Read, 24, 8) // after nothing
	l.want("1:2-0:1 +24")
}

// TestClearedVectors: vectors of reads of first bytes are freed with their page.
func TestClearedVectors(t *testing.T) {
	l := newLab(t, Options{Firsts: true}, 3)
	var before uint64
	for i := range 20000 {
		for g := range 2 {
			l.access(g+1, Read, 0, 1)
			l.release(g + 1)
		}
		Clear(l.s, base, PageSize)
		if i == 100 {
			before = l.s.Bytes()
		}
	}
	if after := l.s.Bytes(); after > before {
		t.Errorf("%d bytes, then %d", before, after)
	}
}
