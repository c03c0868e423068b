package shadow

import "unsafe"

// split is what stands below a cell whose bytes were not always accessed
// together: n cells of unit bytes each. They may be split again.
type split struct {
	_       notInHeap
	unit, n uintptr
}

const splitSize = unsafe.Sizeof(split{})

//go:nosplit
func splitOf(w uint64) *split { return (*split)(pointer(uintptr(w &^ special))) }

//go:nosplit
func (x *split) cell(i uintptr) *cell {
	return cellAt((*cell)(unsafe.Add(unsafe.Pointer(x), splitSize)), i)
}

func newSplit(s *State, unit, n uintptr) *split {
	x := (*split)(alloc(s, poolCells, splitSize+n*cellSize))
	x.unit, x.n = unit, n
	return x
}

func freeSplit(s *State, x *split) { free(s, poolCells, unsafe.Pointer(x), splitSize+x.n*cellSize) }

// splitCell gives each unit bytes of c, which stands for g bytes, a cell of its
// own that knows what c knew. Others may use c meanwhile: readers wait while r is
// busy, writers that got into w before it was replaced are carried below, and
// whoever comes later finds the way down. See touchRead and touchWrite.
func splitCell(s *State, t *Thread, c *cell, g, unit uintptr) {
	x := newSplit(s, unit, g/unit)
	for i := uintptr(0); i < x.n; i++ {
		x.cell(i).r = busy
	}
	var r uint64
	for n := 0; ; n++ {
		if load64(&c.w)&special != 0 {
			freeSplit(s, x)
			return // another goroutine was faster
		}
		r = load64(&c.r)
		if r != busy && cas64(&c.r, r, busy) {
			break
		}
		pause(n)
	}
	for {
		w := load64(&c.w)
		if w&special != 0 { // split between the two looks above
			store64(&c.r, r)
			freeSplit(s, x)
			return
		}
		for i := uintptr(0); i < x.n; i++ {
			x.cell(i).w, x.cell(i).ws = w, c.ws
		}
		if cas64(&c.w, w, uint64(uintptr(unsafe.Pointer(x)))|special) {
			break
		}
	}
	for i := uintptr(0); i < x.n; i++ {
		d := x.cell(i)
		d.rs = c.rs
		v := r
		if r&special != 0 && i > 0 {
			v = uint64(uintptr(unsafe.Pointer(copyReaders(s, readersOf(r))))) | special
		}
		store64(&d.r, v)
	}
	store64(&c.r, 0)
	t.stat.Splits++
	t.stat.Locations += uint64(x.n - 1)
}

// leaf is where an access that begins at byte at of a cell of g bytes goes.
type leaf struct {
	c    *cell
	g    uintptr // bytes that c stands for
	from uintptr // offset of the first of them
}

// descend follows splits from the cell c of g bytes to the cell that stands for
// the byte at offset at.
func descend(c *cell, g, at uintptr) (l leaf) {
	l.c, l.g = c, g
	for {
		w := load64(&l.c.w)
		if w&special == 0 {
			return l
		}
		x := splitOf(w)
		i := (at - l.from) / x.unit
		l.c, l.g, l.from = x.cell(i), x.unit, l.from+i*x.unit
	}
}

// touchPart performs an access to the bytes [off, end) of the cell c, which stands
// for g bytes at lo, splitting c as needed. Nobody else holds c exclusively.
// It takes at most end-off operations on cells. For redo see touch.
func touchPart(s *State, t *Thread, c *cell, g, lo, off, end uintptr, kind uint8, site uint32, redo bool) {
	for at := off; at < end; {
		l := descend(c, g, at)
		if l.from < off || l.from+l.g > end {
			splitLeaf(s, t, l, off, end)
			continue
		}
		switch touch(s, t, l.c, kind, lo+l.from, l.g, site, false, redo) {
		case done:
			at = l.from + l.g
		case again:
			redo = true
		}
	}
}

// splitLeaf splits l so that the bytes [off, end), which cover a part of it, are
// made of whole cells.
func splitLeaf(s *State, t *Thread, l leaf, off, end uintptr) {
	u := l.g
	if off > l.from {
		u = gcd(u, off-l.from)
	}
	if end < l.from+l.g {
		u = gcd(u, end-l.from)
	}
	splitCell(s, t, l.c, l.g, u)
}

// copyCell makes the empty cell d know what c knows. c is not split.
func copyCell(s *State, d, c *cell) {
	r := load64(&c.r)
	for n := 0; r == busy; n++ {
		pause(n)
		r = load64(&c.r)
	}
	d.w, d.r, d.ws, d.rs = load64(&c.w), r, c.ws, c.rs
	if r&special != 0 {
		d.r = uint64(uintptr(unsafe.Pointer(copyReaders(s, readersOf(r))))) | special
	}
}

// cleanCell frees what hangs on c and empties it.
func cleanCell(s *State, c *cell) {
	// Splits nest, but a split of one cell has fewer than that cell's bytes below
	// it, so walking to the first unsplit cell each time is short.
	for c.w&special != 0 {
		x := splitOf(c.w)
		inner := c
		for inner.w&special != 0 {
			x = splitOf(inner.w)
			next := inner
			for i := uintptr(0); i < x.n; i++ {
				if x.cell(i).w&special != 0 {
					next = x.cell(i)
					break
				}
			}
			if next == inner {
				break
			}
			inner = next
		}
		for i := uintptr(0); i < x.n; i++ {
			dropReaders(s, x.cell(i))
		}
		freeSplit(s, x)
		inner.w = 0
	}
	dropReaders(s, c)
	c.w, c.r = 0, 0
}

func dropReaders(s *State, c *cell) {
	if c.r&special != 0 && c.r != busy {
		freeReaders(s, readersOf(c.r))
	}
	c.r = 0
}
