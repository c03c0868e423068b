package shadow

import "unsafe"

// The page table maps addresses of 48 bits to pages of 8 KB. A copy of this
// package in a process whose heap lies in one range may use one multiplication
// instead.
const (
	pageShift = 13
	PageSize  = 1 << pageShift
	leafLen   = 1 << 11
	midLen    = 1 << 12
	topLen    = 1 << 12
	addrBits  = 48
	words     = PageSize / 8
)

type leafNode struct {
	_ notInHeap
	p [leafLen]*page
}

type midNode struct {
	_ notInHeap
	p [midLen]*leafNode
}

// page is what is known about 8 KB of memory.
//
// With Options.Firsts, the first byte of each word has its cell in cells and the
// other seven have one in rest. Who accesses a scalar may then name its first byte
// only, as Go's compiler does, which does not say how long scalars are: any two
// accesses to the same scalar name the same byte. Aligned scalars cost one cell, as
// they do without, and the rest of a page is made when a range covers some of it, or a
// scalar begins there.
type page struct {
	_     notInHeap
	cells *cell      // one for each 8 bytes; nil before the first access
	rest  *cell      // with Firsts: one for the last 7 bytes of each 8
	whole *Array     // the array that covers the page
	part  *granules  // or where arrays cover parts of it
	syncs *syncTable // nil before the first
	arrs  uint32     // how often an array came or went: see plain
	deep  uint32     // there may be cells with splits or vectors
	rows  [nRows]cell
	lk    uint32 // guards syncs, whole, part
}

// granules holds for each 8 bytes the id of the array that covers their first
// byte, or 0. Arrays begin at multiples of 8, so two never share 8 bytes.
type granules struct {
	_  notInHeap
	id [words]uint32
}

// pageOf returns the page of addr, or nil if create is false and there is none.
// Addresses have addrBits bits.
func pageOf(s *State, addr uintptr, create bool) *page {
	if addr>>addrBits != 0 {
		fatal("address of more than 48 bits")
	}
	mp := unsafe.Pointer(&s.top[addr>>36])
	m := (*midNode)(loadp(mp))
	if m == nil {
		if !create {
			return nil
		}
		m = (*midNode)(grow(s, mp, unsafe.Sizeof(midNode{})))
	}
	lp := unsafe.Pointer(&m.p[addr>>24&(midLen-1)])
	l := (*leafNode)(loadp(lp))
	if l == nil {
		if !create {
			return nil
		}
		l = (*leafNode)(grow(s, lp, unsafe.Sizeof(leafNode{})))
	}
	pp := unsafe.Pointer(&l.p[addr>>pageShift&(leafLen-1)])
	p := (*page)(loadp(pp))
	if p == nil && create {
		p = (*page)(grow(s, pp, unsafe.Sizeof(page{})))
	}
	return p
}

// pageKnown is pageOf for a page that may not be there, without calls.
//
//go:nosplit
func pageKnown(s *State, addr uintptr) *page {
	if addr>>addrBits != 0 {
		return nil
	}
	m := (*midNode)(loadp(unsafe.Pointer(&s.top[addr>>36%topLen])))
	if m == nil {
		return nil
	}
	l := (*leafNode)(loadp(unsafe.Pointer(&m.p[addr>>24&(midLen-1)])))
	if l == nil {
		return nil
	}
	return (*page)(loadp(unsafe.Pointer(&l.p[addr>>pageShift&(leafLen-1)])))
}

// grow makes *at point to n new bytes, unless another goroutine is faster, and
// returns what it points to.
func grow(s *State, at unsafe.Pointer, n uintptr) unsafe.Pointer {
	p := alloc(s, poolMisc, n)
	if !casp(at, nil, p) {
		free(s, poolMisc, p, n)
	}
	return loadp(at)
}

// pageFor is pageOf through the cache of t. The page is made if there is none.
func pageFor(s *State, t *Thread, addr uintptr) *page {
	no := addr >> pageShift
	e := &t.seen[no%nSeen]
	if e.p == nil || e.no != no {
		e.no, e.p = no, pageOf(s, addr, true)
	}
	return e.p
}

// cellsAt returns the cells of a page that *at points to; it makes them if there are
// none.
func cellsAt(s *State, at unsafe.Pointer) *cell {
	c := (*cell)(loadp(at))
	if c == nil {
		n := words * cellSize
		c = (*cell)(alloc(s, poolCells, n))
		if !casp(at, nil, unsafe.Pointer(c)) {
			free(s, poolCells, unsafe.Pointer(c), n)
			c = (*cell)(loadp(at))
		}
	}
	return c
}

// arrayAt returns the array that holds addr on page p, or nil.
func arrayAt(s *State, p *page, addr uintptr) *Array {
	a := (*Array)(loadp(unsafe.Pointer(&p.whole)))
	if a == nil {
		g := (*granules)(loadp(unsafe.Pointer(&p.part)))
		if g == nil {
			return nil
		}
		id := load32(&g.id[addr>>3&(words-1)])
		if id == 0 {
			return nil
		}
		a = arrayByID(s, id)
	}
	if addr-a.base >= a.end-a.base {
		return nil
	}
	return a
}

// linearWords is linear where cells are those of words. With redo it makes sure that an
// access is checked whose epoch is there already.
func linearWords(s *State, t *Thread, p *page, lo, hi uintptr, kind uint8, site uint32, redo bool) {
	if s.firsts && kind <= Write && hi-lo >= 16 && lo&7 == 0 && !redo {
		lo = wholeWords(s, t, p, lo, hi&^7, kind, site)
	}
	for lo < hi {
		w := lo &^ 7
		end := w + 8
		if hi < end {
			end = hi
		}
		c, g := cellAt(cellsAt(s, unsafe.Pointer(&p.cells)), lo>>3&(words-1)), uintptr(8)
		if s.firsts {
			if lo == w {
				touch(s, t, c, kind, lo, 1, site, false, redo)
				noteDeep(p, c)
				if lo++; lo == end {
					continue
				}
			}
			c, g = cellAt(cellsAt(s, unsafe.Pointer(&p.rest)), lo>>3&(words-1)), 7
			w++
		}
		how := down
		if end-lo == g {
			how = touch(s, t, c, kind, lo, g, site, false, redo)
		}
		if how != done {
			touchPart(s, t, c, g, w, lo-w, end-w, kind, site, redo || how == again)
		}
		noteDeep(p, c)
		lo = end
	}
}

// wholeWords is linearWords for whole words, with Firsts and a plain access. It returns hi.
func wholeWords(s *State, t *Thread, p *page, lo, hi uintptr, kind uint8, site uint32) uintptr {
	firsts := cellsAt(s, unsafe.Pointer(&p.cells))
	rest := cellsAt(s, unsafe.Pointer(&p.rest))
	for ; lo < hi; lo += 8 {
		i := lo >> 3 & (words - 1)
		c := cellAt(firsts, i)
		if how := swift(t, c, kind, site); how != done {
			touch(s, t, c, kind, lo, 1, site, false, how == again)
			noteDeep(p, c)
		}
		c = cellAt(rest, i)
		if how := swift(t, c, kind, site); how != done {
			touchPart(s, t, c, 7, lo+1, 0, 7, kind, site, how == again)
			noteDeep(p, c)
		}
	}
	return hi
}

// noteDeep says on p that something hangs on its cell c, if so: clearCells must then
// look at each cell.
func noteDeep(p *page, c *cell) {
	if (load64(&c.w)|load64(&c.r))&special != 0 && load32(&p.deep) == 0 {
		store32(&p.deep, 1)
	}
}

// Clear forgets all that is known about the n bytes at addr, because they begin or
// end their life: accesses, synchronisation objects, arrays. A footprint that a
// goroutine has not committed stays valid: it belongs to the array that was there,
// whose descriptor lives until the last one is committed. Time is proportional to
// the pages of the range that are known.
func Clear(s *State, addr, n uintptr) {
	for lo, end := addr, addr+n; lo < end; {
		hi := (lo | (PageSize - 1)) + 1
		p := pageOf(s, lo, false)
		if p == nil { // skip what the page table does not have
			hi = missing(s, lo)
		}
		if hi > end || hi == 0 {
			hi = end
		}
		if p != nil {
			clearPage(s, p, lo, hi)
		}
		lo = hi
	}
}

// Blank reports whether nothing is known about the n bytes at addr. It says no if it
// would take long to see.
func Blank(s *State, addr, n uintptr) bool {
	if n == 0 {
		return true
	}
	p := pageOf(s, addr, false)
	if addr&(PageSize-1)+n > PageSize || n > 512 {
		return false
	}
	if p == nil {
		return true
	}
	if loadp(unsafe.Pointer(&p.whole)) != nil || loadp(unsafe.Pointer(&p.part)) != nil {
		return false
	}
	if t := (*syncTable)(loadp(unsafe.Pointer(&p.syncs))); t != nil {
		for k := addr / 4; k <= (addr+n-1)/4; k++ {
			if loadp(unsafe.Pointer(&t.b[k%syncBuckets])) != nil {
				return false
			}
		}
	}
	return !rowsKnown(p, addr, addr+n) && !anyKnown((*cell)(loadp(unsafe.Pointer(&p.cells))), addr, addr+n) &&
		!anyKnown((*cell)(loadp(unsafe.Pointer(&p.rest))), addr, addr+n)
}

// missing returns the end of the part of the page table that lacks addr.
func missing(s *State, addr uintptr) uintptr {
	m := (*midNode)(loadp(unsafe.Pointer(&s.top[addr>>36])))
	if m == nil {
		return (addr>>35>>1 + 1) << 35 << 1
	}
	if loadp(unsafe.Pointer(&m.p[addr>>24&(midLen-1)])) == nil {
		return (addr>>24 + 1) << 24
	}
	return (addr | (PageSize - 1)) + 1
}

// clearPage clears [lo, hi), which lies on page p.
func clearPage(s *State, p *page, lo, hi uintptr) {
	if loadp(unsafe.Pointer(&p.whole)) != nil || loadp(unsafe.Pointer(&p.part)) != nil {
		dropArrays(s, p, lo, hi)
	}
	if loadp(unsafe.Pointer(&p.syncs)) != nil {
		lock(&p.lk)
		dropSyncs(s, p, lo, hi)
		unlock(&p.lk)
	}
	if s.rows {
		clearRows(s, p, lo, hi)
	}
	first := uintptr(0) // offset in a word of the bytes that the cells stand for
	g := uintptr(8)
	if s.firsts {
		g = 1
	}
	clearCells(s, p, unsafe.Pointer(&p.cells), lo, hi, first, g)
	if s.firsts {
		clearCells(s, p, unsafe.Pointer(&p.rest), lo, hi, 1, 7)
	}
}

// clearCells clears what the cells that *at points to know about [lo, hi). They stand
// for the g bytes from offset first on of each word.
func clearCells(s *State, p *page, at unsafe.Pointer, lo, hi, first, g uintptr) {
	cells := (*cell)(loadp(at))
	if cells == nil {
		return
	}
	if hi-lo == PageSize && load32(&p.deep) == 0 {
		storep(at, nil)
		free(s, poolCells, unsafe.Pointer(cells), words*cellSize)
		return
	}
	for w := lo &^ 7; w < hi; w += 8 {
		c := cellAt(cells, w>>3&(words-1))
		if c.w|c.r == 0 {
			continue
		}
		from, to := w+first, w+first+g
		if from < lo {
			from = lo
		}
		if hi < to {
			to = hi
		}
		switch {
		case from >= to:
		case to-from == g:
			cleanCell(s, c)
		default:
			store32(&p.deep, 1)
			cleanPart(s, c, g, from-w-first, to-w-first)
		}
	}
}

// cleanPart forgets what is known about the bytes [off, end) of a cell of g.
func cleanPart(s *State, c *cell, g, off, end uintptr) {
	for at := off; at < end; {
		l := descend(c, g, at)
		if l.from < off || l.from+l.g > end {
			if l.c.w|l.c.r == 0 {
				return // nothing is known about any byte of it
			}
			u := l.g
			if off > l.from {
				u = gcd(u, off-l.from)
			}
			if end < l.from+l.g {
				u = gcd(u, end-l.from)
			}
			x := newSplit(s, u, l.g/u)
			for i := uintptr(0); i < x.n; i++ {
				copyCell(s, x.cell(i), l.c)
			}
			dropReaders(s, l.c)
			l.c.w = uint64(uintptr(unsafe.Pointer(x))) | special
			continue
		}
		dropReaders(s, l.c)
		l.c.w = 0
		at = l.from + l.g
	}
}
