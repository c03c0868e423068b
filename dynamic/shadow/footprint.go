package shadow

import "unsafe"

// footprint is a strided range <b:e:k> of elements of one array that one goroutine
// has accessed, or been told to check, and that is not in the shadow yet
// (SlimState, section V-A).
type footprint struct {
	arr     *Array  // nil: unused; else held
	next    uintptr // address where the range goes on if it is walked upwards
	step    uintptr // k elements in bytes
	b, e, k uintptr // k is 1 if b == e
	es      uintptr // bytes of an element, when it was made
	at      uintptr // byte of the array where commit goes on ...
	site    uint32
	kind    uint8
	begun   bool // ... once it has begun
}

// fpTable holds the pending footprints of a goroutine, reads and writes apart. The
// hot ones were used last; they are found by their next address, without a look at
// the array. The cold ones are found by the id of the array. What finds no place is
// committed: so there are never more than 2*(nHot+nCold), the commit buffer of the
// paper, which has 2048.
type fpTable struct {
	_      notInHeap
	hot    [2][nHot]footprint
	cold   [2][nCold]footprint
	turn   [2]uint32 // which hot one goes next
	cools  uint32    // number of cold ones in use
	inUse  uint32    // number of all in use
	direct footprint // being committed without delay
}

const (
	nHot  = 4
	nCold = 16
)

func tableOf(s *State, t *Thread) *fpTable {
	if t.fps == nil {
		t.fps = (*fpTable)(alloc(s, poolMisc, unsafe.Sizeof(fpTable{})))
	}
	return t.fps
}

// Pending returns the number of footprints that t has not committed.
func Pending(t *Thread) int {
	if t.fps == nil {
		return 0
	}
	return int(t.fps.inUse)
}

// extend is the fast path: it reports whether the element of size bytes at addr is
// in a hot footprint, or continues one.
func extend(t *Thread, addr, size uintptr, kind uint8) bool {
	if t.fps == nil {
		return false
	}
	hot := &t.fps.hot[kind]
	for i := range hot {
		f := &hot[i]
		if f.es != size || f.next-addr != 0 && f.next-addr != f.step {
			continue
		}
		if f.next == 0 || load32(&f.arr.dead) != 0 || addr >= f.arr.end {
			return false
		}
		if f.next == addr {
			f.e += f.k
			f.next += f.step
		}
		return true
	}
	return false
}

// merge makes <fb:fe:fk> the union of itself and <b:e:k>, if that is a strided
// range, and reports whether it is. A single element has every k.
func (f *footprint) merge(b, e, k uintptr) bool {
	if b == e && f.b == f.e {
		switch {
		case b == f.b:
			return true
		case b > f.b:
			f.k, f.e = b-f.b, b
		default:
			f.k, f.b = f.b-b, b
		}
		return true
	}
	if b == e {
		k = f.k
	} else if f.b == f.e {
		f.k = k
	}
	if k != f.k {
		// A range of every k-th element may lie within one of every f.k-th.
		return k%f.k == 0 && b >= f.b && e <= f.e && (b-f.b)%f.k == 0
	}
	lo := b
	if f.b < lo {
		lo = f.b
	}
	if (b-lo)%k != (f.b-lo)%k || b > f.e+k || f.b > e+k {
		return false
	}
	f.b = lo
	if e > f.e {
		f.e = e
	}
	return true
}

// aim sets where f goes on.
func (f *footprint) aim() {
	f.step = f.k * f.es
	f.next = f.arr.base + (f.e+f.k)*f.es
}

// enqueue adds <b:e:k> of a, in elements of es bytes, to the footprints of t. It
// may have to commit another one for that.
func enqueue(s *State, t *Thread, a *Array, es, b, e, k uintptr, kind uint8, site uint32) {
	fps := tableOf(s, t)
	var f *footprint
	for i := range fps.hot[kind] {
		if h := &fps.hot[kind][i]; h.arr == a {
			f = h
			break
		}
	}
	if f == nil {
		i := fps.turn[kind] % nHot
		fps.turn[kind]++
		f = &fps.hot[kind][i]
		cold := &fps.cold[kind][a.id%nCold]
		was := *f
		if cold.arr == a {
			*f = *cold
			cold.arr = nil
			fps.cools--
		} else {
			f.arr = nil
		}
		if was.arr != nil {
			place := &fps.cold[kind][was.arr.id%nCold]
			if place.arr != nil {
				finish(s, t, place)
				fps.cools--
			}
			*place = was
			fps.cools++
		}
	}
	if f.arr != nil {
		if f.es == es && f.merge(b, e, k) {
			f.begun = false // commit begins anew
			f.site = site
			f.aim()
			return
		}
		finish(s, t, f)
	}
	if !hold(a) {
		return // the array's life ended under this access: a misuse of unsafe
	}
	fps.inUse++
	f.arr, f.es, f.b, f.e, f.k, f.kind, f.site = a, es, b, e, k, kind, site
	f.begun = false
	f.aim()
}

// finish commits all of f, which becomes unused.
func finish(s *State, t *Thread, f *footprint) {
	for !commit(s, t, f, sliceLen) {
	}
	retire(s, t, f)
}

func retire(s *State, t *Thread, f *footprint) {
	letGo(s, f.arr)
	f.arr, f.next = nil, 0
	t.fps.inUse--
}

// sliceLen is how many cells are committed while an array is locked.
const sliceLen = 1024

// commitAll commits all footprints of t. Commit does the same in small steps, so
// that little is left for the synchronising operation that calls this.
func commitAll(s *State, t *Thread) {
	if t.fps == nil || t.fps.inUse == 0 {
		return
	}
	for !Commit(s, t, sliceLen) {
	}
}

// Commit commits footprints of t, with at most about budget operations on cells,
// and reports whether that was all. A footprint may be committed at any time
// before the goroutine synchronises next, in parts too.
func Commit(s *State, t *Thread, budget uintptr) bool {
	if t.fps == nil || t.fps.inUse == 0 {
		return true
	}
	fps := t.fps
	for kind := range fps.hot {
		for i := range fps.hot[kind] {
			if f := &fps.hot[kind][i]; f.arr != nil {
				if !commit(s, t, f, budget) {
					return false
				}
				retire(s, t, f)
			}
		}
		if fps.cools == 0 {
			continue
		}
		for i := range fps.cold[kind] {
			if f := &fps.cold[kind][i]; f.arr != nil {
				if !commit(s, t, f, budget) {
					return false
				}
				fps.cools--
				retire(s, t, f)
			}
		}
	}
	return true
}
