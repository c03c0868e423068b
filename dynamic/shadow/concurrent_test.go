package shadow

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// op is one access of a goroutine of a stress test.
type op struct {
	kind      uint8
	off, size uintptr
}

// TestSimultaneous lets goroutines access the same bytes at the same time, without any
// order between them: each byte on which two of them conflict must be reported, whoever
// comes first and however the structure of cells changes meanwhile, and no other.
func TestSimultaneous(t *testing.T) {
	if raceDetector {
		t.Skip("cells are accessed without locks")
	}
	for _, test := range []struct {
		name  string
		setup func(*State, uintptr)
		ops   []op
		racy  []uintptr
	}{
		{"write, write", nil, []op{{Write, 0, 8}, {Write, 0, 8}}, all(0, 8)},
		{"read, write", nil, []op{{Read, 0, 8}, {Write, 0, 8}}, all(0, 8)},
		{"reads, write", nil, []op{{Read, 0, 8}, {Read, 0, 8}, {Write, 0, 8}}, all(0, 8)},
		{"reads", nil, []op{{Read, 0, 8}, {Read, 0, 8}, {Read, 0, 4}}, nil},
		{"atomic, write", nil, []op{{AtomicRead, 0, 8}, {AtomicWrite, 0, 8}, {Write, 0, 8}}, all(0, 8)},
		{"atomic, read", nil, []op{{AtomicWrite, 0, 8}, {Read, 0, 8}, {Read, 0, 8}}, all(0, 8)},
		{"atomics", nil, []op{{AtomicWrite, 0, 8}, {AtomicRead, 0, 8}, {AtomicWrite, 0, 4}}, nil},
		{"part, whole", nil, []op{{Write, 0, 8}, {Write, 3, 1}}, all(3, 4)},
		{"part, reads of the whole", nil, []op{{Read, 0, 8}, {Read, 0, 8}, {Write, 3, 1}}, all(3, 4)},
		{"parts", nil, []op{{Write, 0, 4}, {Write, 4, 2}, {Write, 6, 2}}, nil},
		{"parts that overlap", nil, []op{{Write, 0, 5}, {Read, 3, 5}, {Read, 0, 8}}, all(0, 5)},
		{"read whole, write parts", nil, []op{{Read, 0, 8}, {Write, 0, 1}, {Write, 4, 4}}, append(all(4, 8), 0)},
		{"array", array(8, 32, false), []op{{Write, 0, 128}, {Write, 120, 136}}, all(120, 128)},
		{"array, three", array(8, 32, false), []op{{Write, 0, 256}, {Read, 64, 8}, {Write, 200, 4}}, append(all(64, 72), all(200, 204)...)},
		{"fine array", array(8, 32, true), []op{{Write, 0, 256}, {Read, 64, 8}, {Write, 201, 3}}, append(all(64, 72), all(201, 204)...)},
		{"array comes", arrayLater(8, 32), []op{{Write, 16, 16}, {Read, 20, 8}, {Write, 200, 8}}, all(20, 28)},
		{"array comes, bytes", arrayLater(1, 256), []op{{Write, 16, 16}, {Read, 20, 8}, {Write, 200, 8}}, all(20, 28)},
	} {
		t.Run(test.name, func(t *testing.T) {
			simultaneous(t, Options{Arrays: true}, accessAll, test.setup, test.ops, test.racy)
		})
	}
}

// TestSimultaneousFast is TestSimultaneous for the accesses that take no lock, against
// each other and against those that do.
func TestSimultaneousFast(t *testing.T) {
	if raceDetector {
		t.Skip("cells are accessed without locks")
	}
	for _, test := range []struct {
		name string
		ops  []op
		racy []uintptr
	}{
		{"write, write", []op{{Write, 0, 1}, {Write, 0, 1}}, all(0, 1)},
		{"writes", []op{{Write, 0, 1}, {Write, 0, 1}, {Write, 0, 1}, {Write, 0, 1}}, all(0, 1)},
		{"read, write", []op{{Read, 0, 1}, {Write, 0, 1}}, all(0, 1)},
		{"reads, write", []op{{Read, 0, 1}, {Write, 0, 1}, {Read, 0, 1}}, all(0, 1)},
		{"reads", []op{{Read, 0, 1}, {Read, 0, 1}, {Read, 0, 1}}, nil},
		{"apart", []op{{Write, 0, 1}, {Write, 8, 1}, {Write, 3, 1}, {Write, 4, 1}}, nil},
		{"atomic, write", []op{{AtomicWrite, 0, 1}, {Write, 0, 1}}, all(0, 1)},
		{"atomic read, write", []op{{AtomicRead, 0, 1}, {Write, 0, 1}}, all(0, 1)},
		{"atomic, read", []op{{AtomicWrite, 0, 1}, {Read, 0, 1}}, all(0, 1)},
		{"range, write", []op{{Read, 0, 16}, {Write, 8, 1}}, all(8, 9)},
		{"range, read", []op{{Write, 0, 16}, {Read, 8, 1}}, all(8, 9)},
		{"ranges", []op{{Write, 0, 16}, {Write, 8, 16}}, all(8, 16)},
		{"read range, write range", []op{{Read, 0, 16}, {Write, 8, 16}}, all(8, 16)},
		{"range, inner byte", []op{{Write, 0, 16}, {Write, 3, 1}}, all(3, 4)},
		{"read range, inner byte", []op{{Read, 0, 16}, {Write, 3, 1}}, all(3, 4)},
		{"range, read of an inner byte", []op{{Write, 0, 16}, {Read, 3, 1}}, all(3, 4)},
		{"inner byte", []op{{Write, 3, 1}, {Write, 3, 1}}, all(3, 4)},
		{"rows", []op{{Write, 0, 256}, {Write, 0, 256}}, all(0, 256)},
		{"rows that are read, row", []op{{Read, 0, 256}, {Read, 0, 256}, {Write, 0, 256}}, all(0, 256)},
		{"rows apart", []op{{Write, 0, 256}, {Write, 256, 128}, {Write, 384, 1}}, nil},
		{"row, word", []op{{Write, 0, 256}, {Write, 64, 1}}, all(64, 65)},
		{"row, read of a word", []op{{Write, 0, 256}, {Read, 64, 1}}, all(64, 65)},
		{"rows that are read, word", []op{{Read, 0, 256}, {Read, 0, 256}, {Write, 72, 1}}, all(72, 73)},
		{"row that is read, reads", []op{{Read, 0, 256}, {Read, 72, 1}, {Read, 3, 5}}, nil},
		{"row, range", []op{{Write, 0, 256}, {Read, 248, 16}}, all(248, 256)},
		{"row, inner byte", []op{{Write, 0, 256}, {Write, 3, 1}}, all(3, 4)},
		{"row, atomic", []op{{Write, 0, 256}, {AtomicRead, 8, 1}}, all(8, 9)},
		{"row that is read, atomic", []op{{Read, 0, 256}, {AtomicWrite, 8, 1}, {AtomicRead, 16, 1}}, all(8, 9)},
		{"inner byte, range", []op{{Read, 0, 8}, {Write, 3, 1}, {Read, 5, 1}}, all(3, 4)},
	} {
		t.Run(test.name, func(t *testing.T) {
			simultaneous(t, Options{Firsts: true}, fastAccess, nil, test.ops, test.racy)
		})
	}
}

// accessAll makes an access, in pieces.
func accessAll(s *State, t *Thread, at uintptr, o op) {
	for n := uintptr(0); n < o.size; {
		n += Access(s, t, at+n, o.size-n, o.kind, 0)
	}
}

// fastAccess makes an access as the run time of programs does.
func fastAccess(s *State, t *Thread, at uintptr, o op) {
	if c := Find(s, t, at); c != nil && o.size == 1 && o.kind <= Write {
		how := Hard
		switch {
		case Same(t, c, o.kind):
			return
		case o.kind == Write:
			how = TryWrite(t, c, 0)
		default:
			how = TryRead(t, c, 0)
		}
		if how == Check {
			Recheck(s, t, at, 1, o.kind, 0)
		}
		if how != Hard {
			return
		}
	}
	if o.kind <= Write {
		n, how := TryRange(t, at, o.size, o.kind, 0)
		if how == Check {
			Recheck(s, t, at+n, 8, o.kind, 0)
			n += 8
		}
		at, o.size = at+n, o.size-n
	}
	accessAll(s, t, at, o)
}

func all(lo, hi uintptr) (s []uintptr) {
	for ; lo < hi; lo++ {
		s = append(s, lo)
	}
	return s
}

func array(es, n uintptr, fine bool) func(*State, uintptr) {
	return func(s *State, at uintptr) {
		AddArray(s, at, es, n)
		if fine {
			a := arrayAt(s, pageOf(s, at, false), at)
			lock(&a.lk)
			addLayer(s, a, Fine, 0, es, n)
			unlock(&a.lk)
		}
	}
}

// late are goroutines that setups start.
var late sync.WaitGroup

// arrayLater makes the array while the goroutines access it.
func arrayLater(es, n uintptr) func(*State, uintptr) {
	return func(s *State, at uintptr) {
		late.Go(func() {
			for range (at >> 9) % 7 * 20 {
				pause(0)
			}
			AddArray(s, at, es, n)
		})
	}
}

func simultaneous(t *testing.T, opts Options, access func(*State, *Thread, uintptr, op), setup func(*State, uintptr), ops []op, racy []uintptr) {
	rounds := 4000
	if testing.Short() {
		rounds = 500
	}
	var mu sync.Mutex
	seen := map[uintptr]bool{}
	s := New(opts, func(r *Race) {
		mu.Lock()
		defer mu.Unlock()
		for i := range r.Count {
			for k := range r.Size {
				seen[r.Lo+i*r.Stride+k] = true
			}
		}
	})
	defer s.Close()
	main := Fork(s, nil, 0)
	th := make([]*Thread, len(ops))
	for i := range th {
		th[i] = Fork(s, main, uint64(i+1))
	}
	place := func(round int) uintptr { return base + uintptr(round)*512 }
	var round, left atomic.Int64
	var done sync.WaitGroup
	for i := range ops {
		done.Add(1)
		go func() {
			defer done.Done()
			o := ops[i]
			for r := 1; r <= rounds; r++ {
				for round.Load() < int64(r) {
					runtime.Gosched()
				}
				at := place(r)
				for range (r * (i + 1)) % 13 * 5 { // not always in step
					pause(0)
				}
				access(s, th[i], at+o.off, o)
				commitAll(s, th[i])
				left.Add(-1)
			}
		}()
	}
	for r := 1; r <= rounds; r++ {
		if setup != nil {
			setup(s, place(r))
		}
		left.Store(int64(len(ops)))
		round.Store(int64(r))
		for left.Load() > 0 {
			runtime.Gosched()
		}
		late.Wait()
		mu.Lock()
		for _, a := range racy {
			if !seen[place(r)+a] {
				t.Errorf("round %d: the race on byte %d is missed", r, a)
			}
			delete(seen, place(r)+a)
		}
		for a := range seen {
			t.Errorf("round %d: a race on byte %d", r, a-place(r))
		}
		mu.Unlock()
		if t.Failed() {
			break
		}
	}
	round.Store(int64(rounds))
	done.Wait()
}

// TestOrderedConcurrently has goroutines with locks in common, of Go and of the state
// alike: nothing may be reported while clocks, synchronisation objects, arrays and
// memory change under each other.
func TestOrderedConcurrently(t *testing.T) {
	if raceDetector {
		t.Skip("cells are accessed without locks")
	}
	var races atomic.Int64
	s := New(Options{Arrays: true}, func(*Race) { races.Add(1) })
	defer s.Close()
	main := Fork(s, nil, 0)
	var locks [4]sync.Mutex
	var done sync.WaitGroup
	var forks sync.Mutex
	rounds := 3000
	for i := range 4 {
		th := Fork(s, main, uint64(i+1))
		done.Add(1)
		go func() {
			defer done.Done()
			for r := range rounds {
				k := (r*7 + i) % len(locks)
				at := base + uintptr(k)*PageSize
				locks[k].Lock()
				Acquire(s, th, mu+uintptr(k))
				switch (r + i) % 5 {
				case 0:
					Clear(s, at, 4096)
					AddArray(s, at, 8, 100)
				case 1:
					for n := uintptr(0); n < 800; n += 8 {
						Access(s, th, at+n, 8, uint8(r&1), 0)
					}
				case 2:
					Range(s, th, at, 8, 50, 16, Write, 0)
				case 3:
					Access(s, th, at+uintptr(r)%790, 3, Write, 0)
				case 4:
					forks.Lock()
					c := Fork(s, th, 99)
					forks.Unlock()
					Access(s, c, at+2048, 8, Write, 0)
					Release(s, c, at+2048)
					End(s, c)
					Acquire(s, th, at+2048)
					Access(s, th, at+2048, 8, Write, 0)
				}
				Release(s, th, mu+uintptr(k))
				locks[k].Unlock()
			}
			commitAll(s, th)
		}()
	}
	done.Wait()
	if n := races.Load(); n != 0 {
		t.Errorf("%d races", n)
	}
}
