package shadow

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// mode checks the partition of the array at offset 0.
func (l *lab) mode(mode uint32, d uintptr) {
	l.t.Helper()
	m, got, _, _, _, ok := Describe(l.s, base)
	if !ok || m != mode || got != d && mode != Fine {
		l.t.Errorf("mode %d(%d), %v, want %d(%d)", m, got, ok, mode, d)
	}
}

// walk accesses elements of 8 bytes one by one.
func (l *lab) walk(g int, kind uint8, b, e, k uintptr) {
	for i := b; i <= e; i += k {
		l.access(g, kind, i*8, 8)
	}
}

func (l *lab) commit(g int) { commitAll(l.s, l.th[g]) }

func newArrayLab(t *testing.T, n, goroutines int) *lab {
	l := newLab(t, Options{Arrays: true}, goroutines)
	if !AddArray(l.s, base, 8, uintptr(n)) {
		t.Fatal("no array")
	}
	return l
}

// TestModes takes an array through the modes by what is accessed, and finds the race of
// each pattern with one element that another goroutine has.
func TestModes(t *testing.T) {
	l := newArrayLab(t, 64, 3)
	l.walk(1, Write, 0, 63, 1)
	if Pending(l.th[1]) != 1 {
		t.Errorf("%d footprints for one walk", Pending(l.th[1]))
	}
	if n := l.th[1].stat.Checks; n != 0 {
		t.Errorf("%d checks before the commit", n)
	}
	l.commit(1)
	if n := l.th[1].stat.Checks; n != 1 {
		t.Errorf("%d checks for the whole array", n)
	}
	l.mode(Coarse, 0)
	l.release(1)
	l.acquire(2)
	l.walk(2, Write, 0, 31, 1)
	l.commit(2)
	l.mode(Split, 32)
	l.want()
	l.walk(1, Read, 32, 63, 1)
	l.commit(1)
	l.want()
	l.walk(1, Read, 24, 31, 1)
	l.commit(1)
	l.mode(Block, 8)
	l.want("1:2-0:1 +192")
	l.walk(1, Read, 5, 5, 1)
	l.commit(1)
	l.mode(Fine, 0)
	l.want("1:2-0:1 +40")

	l = newArrayLab(t, 64, 3)
	l.walk(1, Write, 0, 62, 2)
	l.walk(2, Write, 1, 63, 2)
	l.commit(1)
	l.commit(2)
	l.mode(Stride, 2)
	l.want()
	l.walk(2, Read, 0, 60, 4)
	l.commit(2)
	l.mode(Stride, 4)
	l.want("1:1-0:2 +0*16/32")

	l = newArrayLab(t, 64, 3)
	l.walk(1, Write, 1, 3, 1)
	l.commit(1)
	l.mode(Prefix, 4)
	l.walk(1, Write, 4, 6, 1) // at once: the first one makes 8 of it
	l.mode(Prefix, 8)
	Range(l.s, l.th[1], base, 8, 3, 16, Write, 0)
	if Pending(l.th[1]) != 0 {
		t.Error("a footprint waits although the mode is Prefix")
	}
	l.walk(2, Write, 40, 40, 1)
	l.mode(Fine, 0)
	l.want()
	l.walk(2, Write, 6, 7, 1)
	l.want("1:1-1:2 +48")
}

// TestRefineKeeps refines again and again; no element may lose or gain anything.
func TestRefineKeeps(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := []uintptr{16, 24, 36, 64, 600}[r.IntN(5)]
		l := newLab(t, Options{Arrays: true}, 4)
		AddArray(l.s, base, 8, n)
		a := arrayAt(l.s, pageOf(l.s, base, false), base)
		for range 8 {
			// Some accesses, in order, so that they do not race.
			g := r.IntN(4)
			l.acquire(g)
			b := r.Uint64N(uint64(n)) / 8 * 8
			e := b + r.Uint64N(uint64(n)-b)
			if r.IntN(3) > 0 {
				b, e = 0, uint64(n/2-1)
			}
			kind := uint8(r.IntN(2))
			if r.IntN(2) == 0 {
				b, e = 0, uint64(n-1)
			}
			Range(l.s, l.th[g], base+uintptr(b)*8, 8, uintptr(e-b+1), 8, kind, 0)
			if r.IntN(2) == 0 { // reads that make a vector
				Range(l.s, l.th[(g+1)%4], base, 8, n, 8, Read, 0)
			}
			for i := range 4 {
				l.commit(i)
			}
			was := states(l, a, n)
			x := r.Uint64N(uint64(n))
			y := x + r.Uint64N(uint64(n)-x)
			k := 1 + r.Uint64N(3)
			switch r.IntN(3) { // what does not lead to Fine at once
			case 0:
				x, y, k = []uint64{0, uint64(n / 2)}[r.IntN(2)], uint64(n/2-1), 1
				y += x
			case 1:
				k = 2 << r.IntN(2)
				x, y = r.Uint64N(k), uint64(n-1)
			}
			lock(&a.lk)
			sufficient(l.s, l.th[0], a, uintptr(x), uintptr(x+(y-x)/k*k), uintptr(k))
			if r.IntN(4) == 0 {
				regrid(l.s, a, a.cur.es/2)
			}
			for j := range a.cur.parts {
				cellOf(l.s, l.th[0], a, a.cur, j)
			}
			unlock(&a.lk)
			if is := states(l, a, n); is != was {
				t.Fatalf("seed %d: refining to %d(%d) makes\n%.2000s of\n%.2000s", seed, a.cur.mode, a.cur.d, is, was)
			}
			for i := range 4 {
				l.release(i)
			}
		}
	}
}

// states writes down what is known about each element; two cells never share a
// vector.
func states(l *lab, a *Array, n uintptr) string {
	var s strings.Builder
	owners := map[uint64]*cell{}
	for i := range n {
		for off := uintptr(0); off < 8; off += a.cur.es {
			c := below(a.cur, i*8+off)
			if c == nil {
				if off == 0 {
					s.WriteString("0,0 ")
				}
				continue
			}
			if off == 0 {
				fmt.Fprintf(&s, "%x,", c.w)
			}
			if c.r&special == 0 {
				if off == 0 {
					fmt.Fprintf(&s, "%x ", c.r)
				}
				continue
			}
			if o := owners[c.r]; o != nil && o != c {
				l.t.Fatal("two cells share a vector")
			}
			owners[c.r] = c
			if off == 0 {
				for j := range readersOf(c.r).r.first {
					fmt.Fprintf(&s, "%x.", readersOf(c.r).r.first[j].epoch)
				}
				s.WriteString(" ")
			}
		}
	}
	return s.String()
}

// TestInterior reaches the shadow of an array by a pointer to an element, a byte range
// and a field of an element, before and after it is Fine.
func TestInterior(t *testing.T) {
	for _, fine := range []bool{false, true} {
		setup := func() *lab {
			l := newArrayLab(t, 64, 3)
			if fine {
				l.walk(0, Read, 5, 5, 1)
				l.walk(0, Read, 60, 60, 1)
				l.commit(0)
				l.mode(Fine, 0)
				Release(l.s, l.th[0], mu+8)
				Acquire(l.s, l.th[1], mu+8)
				Acquire(l.s, l.th[2], mu+8)
			}
			l.walk(1, Write, 0, 63, 1)
			l.commit(1)
			return l
		}
		l := setup()
		l.access(2, Read, 40, 8)
		l.commit(2)
		l.want("1:1-0:2 +40")
		l = setup()
		l.access(2, Read, 44, 4)
		l.commit(2)
		l.want("1:1-0:2 +44")
		l = setup()
		l.access(2, Read, 43, 1)
		l.commit(2)
		l.want("1:1-0:2 +43")
		l = setup()
		l.access(2, Write, 38, 12) // 2 bytes, an element, 2 bytes
		l.commit(2)
		if len(l.races) == 0 {
			t.Error("a range of bytes is not seen")
		}
		l = setup()
		l.access(2, AtomicRead, 40, 8)
		l.want("1:1-2:2 +40")
	}
	// Fields of elements in columns keep a partition.
	l := newLab(t, Options{Arrays: true}, 3)
	AddArray(l.s, base, 24, 100)
	for f := range uintptr(3) {
		Range(l.s, l.th[f], base+f*8, 8, 100, 24, Write, 0)
		l.commit(int(f))
	}
	l.mode(Stride, 3)
	l.want()
	Range(l.s, l.th[1], base, 8, 100, 24, Read, 0)
	l.commit(1)
	l.want("1:0-0:1 +0*100/24")
}

// TestImport makes an array of memory that was accessed before.
func TestImport(t *testing.T) {
	for _, es := range []uintptr{1, 2, 3, 4, 8, 12, 16, 24} {
		l := newLab(t, Options{Arrays: true}, 4)
		l.access(1, Write, 0, 8)
		l.access(1, Read, 16, 4)
		l.access(2, Read, 16, 4)
		l.access(1, Write, 33, 1)
		if !AddArray(l.s, base, es, 100) {
			t.Fatal("no array")
		}
		l.mode(Fine, 0)
		for i := uintptr(0); i < 48; i++ {
			l.access(3, Write, i, 1)
		}
		want := []string{}
		for i := range uintptr(8) {
			want = append(want, fmt.Sprintf("1:1-1:3 +%d", i))
		}
		for i := range uintptr(4) {
			want = append(want, fmt.Sprintf("0:1-1:3 +%d", 16+i))
		}
		l.want(append(want, "1:1-1:3 +33")...)
	}
}

// TestOutlives has footprints that are pending when the life of their array ends. They
// belong to the old life, also when an array like it begins another one there.
func TestOutlives(t *testing.T) {
	l := newArrayLab(t, 64, 4)
	l.walk(1, Write, 0, 63, 1)
	l.commit(1)
	l.walk(2, Write, 0, 9, 1) // races, but is pending
	Clear(l.s, base, 512)
	AddArray(l.s, base, 8, 64)
	l.walk(3, Write, 0, 63, 1)
	l.commit(3)
	l.want()
	l.walk(2, Write, 10, 10, 1) // would continue the footprint, but for the new life
	l.commit(2)
	l.want("1:1-1:2 +0", "1:3-1:2 +80")
	if n := l.s.arrCount; n != 2 {
		t.Errorf("%d descriptors for two lives at once", n)
	}
	// The descriptor is reused when the last footprint is gone.
	for range 10 {
		Clear(l.s, base, 512)
		AddArray(l.s, base, 8, 64)
	}
	if n := l.s.arrCount; n != 2 {
		t.Errorf("%d descriptors", n)
	}
}

// TestCommitBeforeTick has a release right after a deferred access: who acquires is
// ordered after it.
func TestCommitBeforeTick(t *testing.T) {
	for name, op := range map[string]func(*State, *Thread, uintptr){"Release": Release, "ReleaseMerge": ReleaseMerge, "ReleaseAcquire": ReleaseAcquire} {
		l := newArrayLab(t, 64, 3)
		l.walk(1, Write, 0, 63, 1)
		op(l.s, l.th[1], mu)
		l.acquire(2)
		l.walk(2, Write, 0, 63, 1)
		l.commit(2)
		if len(l.races) > 0 {
			t.Errorf("%s: %v", name, l.races)
		}
	}
	// An acquire would order what was accessed before it.
	l := newArrayLab(t, 64, 3)
	l.walk(1, Write, 0, 63, 1)
	l.release(1)
	l.walk(2, Write, 0, 63, 1)
	l.acquire(2)
	l.want("1:1-1:2 +0")
	// A fork, too.
	l = newArrayLab(t, 64, 2)
	l.walk(1, Write, 0, 63, 1)
	th := Fork(l.s, l.th[1], 7)
	Range(l.s, th, base, 8, 64, 8, Write, 0)
	End(l.s, th)
	l.want()
}

// TestBounded limits what one call does, and what may be pending.
func TestBounded(t *testing.T) {
	l := newLab(t, Options{Arrays: true}, 2)
	const n = 100000
	AddArray(l.s, base, 8, n)
	// A range that fits no partition: Fine.
	Range(l.s, l.th[1], base+8, 8, n-2, 8, Write, 0)
	steps := 0
	for was := uint64(0); ; steps++ {
		done := Commit(l.s, l.th[1], 100)
		if now := l.th[1].stat.Checks; now-was > 200 {
			t.Fatalf("%d checks in a step of 100", now-was)
		} else {
			was = now
		}
		if done {
			break
		}
	}
	l.mode(Fine, 0)
	if steps < n/200 || l.th[1].stat.Checks != n-2 {
		t.Errorf("%d steps, %d checks", steps, l.th[1].stat.Checks)
	}
	l.release(1)
	was := l.th[1].stat.Checks
	done := Access(l.s, l.th[1], base, 8*n, Write, 0)
	if k := l.th[1].stat.Checks - was; k > 2*MaxPiece || done == 0 || done%8 != 0 {
		t.Errorf("%d checks and %d bytes in one call", k, done)
	}
	// Pending footprints have bounded memory.
	l = newLab(t, Options{Arrays: true}, 2)
	for i := range uintptr(200) {
		AddArray(l.s, base+i*1024, 8, 32)
		l.access(1, Write, i*1024, 8)
		l.access(1, Read, i*1024+16, 8)
	}
	if p := Pending(l.th[1]); p > 2*(nHot+nCold) || p < nHot {
		t.Errorf("%d pending", p)
	}
	l.release(1)
	if Pending(l.th[1]) != 0 {
		t.Error("a release leaves footprints")
	}
	for i := range uintptr(200) {
		l.access(0, Write, i*1024, 8)
		l.access(0, Write, i*1024+16, 8)
		l.commit(0)
		if len(l.races) != 2 {
			t.Fatalf("array %d: %v", i, l.races)
		}
		l.races = nil
	}
}

// TestCommitThenMerge extends a footprint of which a part is committed.
func TestCommitThenMerge(t *testing.T) {
	for _, first := range []uintptr{8, 48} { // downwards, upwards
		l := newArrayLab(t, 64, 3)
		l.walk(1, Write, 8, 15, 1)
		l.commit(1)
		l.mode(Block, 8)
		l.release(1)
		l.acquire(2)
		Range(l.s, l.th[1], base+16*8, 8, 32, 8, Write, 0)
		if Commit(l.s, l.th[1], 1) {
			t.Error("one step commits four blocks")
		}
		Range(l.s, l.th[1], base+first*8, 8, 8, 8, Write, 0)
		if Pending(l.th[1]) != 1 {
			t.Errorf("%d footprints", Pending(l.th[1]))
		}
		l.commit(1)
		l.mode(Block, 8)
		Range(l.s, l.th[2], base+first*8, 8, 8, 8, Read, 0)
		l.commit(2)
		l.want(fmt.Sprintf("1:1-0:2 +%d", first*8))
	}
}

// TestNeighbours walks from one array into the next.
func TestNeighbours(t *testing.T) {
	l := newArrayLab(t, 64, 3)
	AddArray(l.s, base+512, 8, 64)
	l.walk(1, Write, 0, 127, 1)
	l.walk(1, Write, 127, 127, 1)
	if Pending(l.th[1]) != 2 {
		t.Errorf("%d footprints", Pending(l.th[1]))
	}
	l.commit(1)
	l.mode(Coarse, 0)
	l.access(2, Read, 512, 8)
	l.commit(2)
	l.want("1:1-0:2 +512")
	// From other memory into an array, and out of it.
	l = newLab(t, Options{Arrays: true}, 3)
	AddArray(l.s, base+1024, 8, 64)
	l.access(1, Write, 1008, 32)
	l.commit(1)
	l.access(2, Read, 1024, 8)
	l.access(2, Read, 1016, 8)
	l.commit(2)
	l.want("1:1-0:2 +1016", "1:1-0:2 +1024")
	l = newArrayLab(t, 64, 3)
	Range(l.s, l.th[1], base+60*8, 8, 8, 16, Write, 0)
	l.commit(1)
	l.access(2, Read, 62*8, 8)
	l.access(2, Read, 66*8, 8)
	l.commit(2)
	l.want("1:1-0:2 +496", "1:1-0:2 +528")
	// The end of the array and what follows share a word.
	l = newLab(t, Options{Arrays: true}, 3)
	AddArray(l.s, base, 1, 100)
	l.access(1, Write, 100, 4)
	l.access(2, Read, 102, 1)
	l.want("1:1-0:2 +102")
}

// TestUnevenRange has pieces that are elements but not equally many apart.
func TestUnevenRange(t *testing.T) {
	for _, fine := range []bool{false, true} {
		l := newArrayLab(t, 64, 3)
		if fine {
			l.walk(0, Read, 40, 40, 1)
			l.commit(0)
			l.mode(Fine, 0)
		}
		Range(l.s, l.th[1], base, 8, 3, 12, Write, 0) // bytes 0 to 7, 12 to 19, 24 to 31
		l.commit(1)
		for _, off := range []uintptr{0, 8, 11, 12, 16, 19, 20, 23, 24, 31, 32} {
			l.access(2, Read, off, 1)
		}
		l.commit(2)
		l.want("1:1-0:2 +0", "1:1-0:2 +12", "1:1-0:2 +16", "1:1-0:2 +19", "1:1-0:2 +24", "1:1-0:2 +31")
	}
}

// TestSmallArrays have no descriptor.
func TestSmallArrays(t *testing.T) {
	l := newLab(t, Options{Arrays: true}, 2)
	if AddArray(l.s, base, 8, MinArray-1) || AddArray(l.s, base+4, 8, 64) {
		t.Error("a small or unaligned array has a descriptor")
	}
	if !AddArray(l.s, base, 8, MinArray) || AddArray(l.s, base+64, 8, 100) || AddArray(l.s, base-512, 8, 65) {
		t.Error("arrays overlap")
	}
	l.access(1, Write, 0, 256) // the array and what follows
	l.commit(1)
	l.access(0, Read, 120, 16)
	l.commit(0)
	l.want("1:1-0:0 +128", "1:1-0:0 +120")
}

// TestMemory does everything again and again; memory must not grow without end.
func TestMemory(t *testing.T) {
	l := newLab(t, Options{Arrays: true}, 3)
	round := func() {
		AddArray(l.s, base, 24, 500)
		for g := range 3 {
			Range(l.s, l.th[g], base+uintptr(g)*8, 8, 500, 24, Read, 0)
			Range(l.s, l.th[g], base, 24, 250, 24, Read, 0)
			l.access(g, Read, 24*7+3, 1)
			l.access(g, Read, 1<<20, 5)
			l.access(g, AtomicRead, 1<<20+64, 8)
			Release(l.s, l.th[g], base+1<<20+uintptr(g))
			th := Fork(l.s, l.th[g], 99)
			Access(l.s, th, base, 8, Read, 0)
			Release(l.s, th, mu)
			End(l.s, th)
			l.acquire(g)
		}
		Clear(l.s, base, 24*500)
		Clear(l.s, base+1<<20, 200)
		for g := range 3 { // the whole page at once
			l.access(g, Read, 1<<21, 8)
			l.access(g, Read, 1<<21+8, 3)
		}
		Clear(l.s, base+1<<21, PageSize)
	}
	for range 10 {
		round()
	}
	was := l.s.Bytes()
	for range 2000 {
		round()
	}
	if now := l.s.Bytes(); now > was {
		t.Errorf("%d bytes grow to %d", was, now)
	}
	l.want()
}
