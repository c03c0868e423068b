package shadow

import "unsafe"

// Array describes an array whose shadow is partitioned. Its memory is reached
// through it alone, whoever accesses it and however: an interior pointer, a field
// of an element, a range of bytes.
type Array struct {
	_         notInHeap
	base, end uintptr
	cur       *layer
	lk        uint32 // guards cur and all layers; not the cells of mode Fine
	refs      uint32 // 1 for the page table, and 1 for each pending footprint
	dead      uint32 // the memory has another life
	id        uint32
	link      *Array // free list
}

// MinArray is the number of elements below which an array has cells like any other
// memory (SlimState, section V-B, small arrays).
const MinArray = 16

const (
	arrBlockLen = 1 << 10
	arrDirLen   = 1 << 12
	maxArrays   = arrDirLen*arrBlockLen - 1
)

type arrBlock struct {
	_ notInHeap
	a [arrBlockLen]*Array
}

func arrayByID(s *State, id uint32) *Array {
	b := (*arrBlock)(loadp(unsafe.Pointer(&s.arrDir[id/arrBlockLen])))
	return (*Array)(loadp(unsafe.Pointer(&b.a[id%arrBlockLen])))
}

// AddArray says that n elements of es bytes at base are one array. What is already
// known about its bytes is kept. It reports whether the array has a descriptor
// now: not if it is small, does not begin at a multiple of 8, or lies across
// another array. Time is proportional to the pages of the array, and to its size where
// it was accessed already.
//
// Others may access the memory meanwhile. An access to the cells of memory outside
// arrays that did not notice the array afterwards (see Access) was there before the
// array is entered into the page table, so it is found by known; one that did
// notice is told to the array too.
func AddArray(s *State, base, es, n uintptr) bool {
	if !s.arrays || n < MinArray || es == 0 || base&7 != 0 {
		return false
	}
	end := base + n*es
	lock(&s.addLock)
	for lo := base; lo < end; lo = nextPage(lo, end) {
		if p := pageOf(s, lo, false); p != nil && !freeOfArrays(s, p, lo, nextPage(lo, end)) {
			unlock(&s.addLock)
			return false
		}
	}
	a := newArray(s)
	if a == nil {
		unlock(&s.addLock)
		return false
	}
	lock(&a.lk) // until it has a layer: see topLayer
	a.base, a.end, a.refs = base, end, 1
	for lo := base; lo < end; lo = nextPage(lo, end) {
		p := pageOf(s, lo, true)
		hi := nextPage(lo, end)
		lock(&p.lk)
		if hi-lo == PageSize {
			storep(unsafe.Pointer(&p.whole), unsafe.Pointer(a))
		} else {
			if p.part == nil {
				storep(unsafe.Pointer(&p.part), alloc(s, poolMisc, unsafe.Sizeof(granules{})))
			}
			for w := lo; w < hi; w += 8 {
				store32(&p.part.id[w>>3&(words-1)], a.id)
			}
		}
		add32(&p.arrs, 1)
		unlock(&p.lk)
	}
	mode := uint32(Coarse)
	if known(s, base, end) {
		mode = Fine
	}
	l := newLayer(s, mode, 0, es, n)
	if mode == Fine {
		l.linear = 1
	}
	storep(unsafe.Pointer(&a.cur), unsafe.Pointer(l))
	unlock(&a.lk)
	unlock(&s.addLock)
	return true
}

// nextPage returns the end of the page of lo, or end if that is nearer.
func nextPage(lo, end uintptr) uintptr {
	hi := (lo | (PageSize - 1)) + 1
	if hi > end {
		return end
	}
	return hi
}

// known reports whether the cells of memory outside arrays know of an access to
// [lo, end).
func known(s *State, lo, end uintptr) bool {
	for ; lo < end; lo = nextPage(lo, end) {
		p := pageOf(s, lo, false)
		if p == nil {
			continue
		}
		if anyKnown((*cell)(loadp(unsafe.Pointer(&p.cells))), lo, nextPage(lo, end)) ||
			anyKnown((*cell)(loadp(unsafe.Pointer(&p.rest))), lo, nextPage(lo, end)) {
			return true
		}
	}
	return false
}

// anyKnown reports whether the cells of a page, if there are any, know of an access to
// a word of [lo, end).
func anyKnown(c *cell, lo, end uintptr) bool {
	if c == nil {
		return false
	}
	for w := lo &^ 7; w < end; w += 8 {
		if d := cellAt(c, w>>3&(words-1)); load64(&d.w)|load64(&d.r) != 0 {
			return true
		}
	}
	return false
}

// freeOfArrays reports whether no array covers any of [lo, hi), on page p.
func freeOfArrays(s *State, p *page, lo, hi uintptr) bool {
	if p.whole != nil {
		return false
	}
	if p.part == nil {
		return true
	}
	for w := lo &^ 7; w < hi; w += 8 {
		if id := p.part.id[w>>3&(words-1)]; id != 0 {
			if a := arrayByID(s, id); a.base < hi && a.end > lo {
				return false
			}
		}
	}
	return true
}

// newArray returns a descriptor with an id, or nil if there are too many.
func newArray(s *State) *Array {
	lock(&s.arrLock)
	a := s.arrFree
	if a != nil {
		s.arrFree = a.link
		unlock(&s.arrLock)
		return a
	}
	if s.arrCount == maxArrays {
		unlock(&s.arrLock)
		return nil
	}
	s.arrCount++
	id := s.arrCount
	b := s.arrDir[id/arrBlockLen]
	if b == nil {
		b = (*arrBlock)(alloc(s, poolMisc, unsafe.Sizeof(arrBlock{})))
		storep(unsafe.Pointer(&s.arrDir[id/arrBlockLen]), unsafe.Pointer(b))
	}
	a = (*Array)(alloc(s, poolMisc, unsafe.Sizeof(Array{})))
	a.id = id
	storep(unsafe.Pointer(&b.a[id%arrBlockLen]), unsafe.Pointer(a))
	unlock(&s.arrLock)
	return a
}

// dropArrays ends the life of the arrays in [lo, hi) on page p.
func dropArrays(s *State, p *page, lo, hi uintptr) {
	if a := p.whole; a != nil {
		dropArray(s, a)
		return
	}
	if p.part == nil {
		return
	}
	for w := lo &^ 7; w < hi; w += 8 {
		if id := p.part.id[w>>3&(words-1)]; id != 0 {
			if a := arrayByID(s, id); a.base < hi && a.end > lo {
				dropArray(s, a)
			}
		}
	}
}

// dropArray takes a out of the page table, all of it: where a part of an array begins
// another life, the array is dead.
func dropArray(s *State, a *Array) {
	store32(&a.dead, 1)
	for lo := a.base; lo < a.end; lo = nextPage(lo, a.end) {
		p := pageOf(s, lo, false)
		hi := nextPage(lo, a.end)
		lock(&p.lk)
		if p.whole == a {
			storep(unsafe.Pointer(&p.whole), nil)
		} else {
			for w := lo; w < hi; w += 8 {
				store32(&p.part.id[w>>3&(words-1)], 0)
			}
		}
		add32(&p.arrs, 1)
		unlock(&p.lk)
	}
	letGo(s, a)
}

// hold keeps the descriptor of a from being reused; false if it is too late.
func hold(a *Array) bool {
	for n := 0; ; n++ {
		r := load32(&a.refs)
		if r == 0 {
			return false
		}
		if cas32(&a.refs, r, r+1) {
			return true
		}
		pause(n)
	}
}

// letGo undoes hold. The last one frees the shadow of a.
func letGo(s *State, a *Array) {
	if add32(&a.refs, -1) != 0 {
		return
	}
	for l := a.cur; l != nil; {
		base := l.base
		freeLayer(s, l)
		l = base
	}
	a.cur = nil
	store32(&a.dead, 0)
	lock(&s.arrLock)
	a.link = s.arrFree
	s.arrFree = a
	unlock(&s.arrLock)
}

// regrid makes elements of the locked array a so small that g bytes are a whole
// number of them, unless its mode is Fine. Each old element becomes f new ones; the
// mode stays, with f times the parameter: BLOCK, SPLIT and STRIDE so keep their
// parts or, as PREFIX, divide them.
func regrid(s *State, a *Array, g uintptr) {
	l := a.cur
	if l.mode == Fine || g%l.es == 0 {
		return
	}
	es := gcd(l.es, g)
	f := l.es / es
	addLayer(s, a, l.mode, l.d*f, es, l.n*f)
}
