package shadow

import "unsafe"

// A row is rowSize bytes of a page that have one cell as long as all accesses to them
// cover them all: buffers that are copied, read and written as a whole. The first other
// access splits the row, as a cell is split whose bytes are not accessed together; what is
// below are the cells of its words. There are rows where there are no arrays, whose
// partitions do the same and more.
const (
	rowShift = 8
	rowSize  = 1 << rowShift
	nRows    = PageSize / rowSize
	inRow    = rowSize / 8 * 2
	inWords  = special | 1 // w of a row that is split
)

// rowOf returns the cell of the row of addr on p.
//
//go:nosplit
func rowOf(p *page, addr uintptr) *cell { return &p.rows[addr>>rowShift%nRows] }

// byWords reports whether the cells of words are in use for the row of addr on p.
//
//go:nosplit
func byWords(p *page, addr uintptr) bool { return load64(&rowOf(p, addr).w) == inWords }

// linear performs an access to the bytes [lo, hi) of page p through the cells of
// memory outside arrays. It takes at most one operation for each byte.
func linear(s *State, t *Thread, p *page, lo, hi uintptr, kind uint8, site uint32) {
	if !s.rows {
		linearWords(s, t, p, lo, hi, kind, site, false)
		return
	}
	for lo < hi {
		end := lo&^(rowSize-1) + rowSize
		if hi < end {
			end = hi
		}
		c := rowOf(p, lo)
		how := down
		if end-lo == rowSize && kind <= Write {
			if how = swift(t, c, kind, site); how != done {
				how = touch(s, t, c, kind, lo, rowSize, site, false, how == again)
				if load64(&c.r)&special != 0 && load32(&p.deep) == 0 {
					store32(&p.deep, 1)
				}
			}
		} else if load64(&c.w) != inWords {
			splitRow(s, &t.stat, p, lo)
		}
		if how != done {
			linearWords(s, t, p, lo, end, kind, site, how == again)
		}
		lo = end
	}
}

// splitRow gives the words of the row of addr on p cells that know what the row's cell
// knew. It goes as splitCell does.
func splitRow(s *State, n *Stats, p *page, addr uintptr) {
	c := rowOf(p, addr)
	firsts, rest := cellsAt(s, unsafe.Pointer(&p.cells)), cellsAt(s, unsafe.Pointer(&p.rest))
	from := addr >> 3 & (words - 1) &^ (rowSize/8 - 1)
	var r uint64
	for tries := 0; ; tries++ {
		if load64(&c.w) == inWords {
			return
		}
		r = load64(&c.r)
		if r != busy && cas64(&c.r, r, busy) {
			break
		}
		pause(tries)
	}
	for {
		w := load64(&c.w)
		if w == inWords { // split between the two looks above
			store64(&c.r, r)
			return
		}
		if w|r != 0 {
			for i := uintptr(0); i < inRow; i++ {
				d := cellInRow(firsts, rest, from, i)
				d.w, d.ws = w, c.ws
				store64(&d.r, busy)
			}
		}
		if cas64(&c.w, w, inWords) {
			if w|r == 0 {
				store64(&c.r, 0)
				return
			}
			break
		}
	}
	for i := uintptr(0); i < inRow; i++ {
		d := cellInRow(firsts, rest, from, i)
		d.rs = c.rs
		v := r
		if r&special != 0 && i > 0 {
			v = uint64(uintptr(unsafe.Pointer(copyReaders(s, readersOf(r))))) | special
		}
		store64(&d.r, v)
	}
	store64(&c.r, 0)
	n.Splits++
	n.Locations += inRow - 1
}

// cellInRow returns cell i of the inRow of a row whose first word is number from.
func cellInRow(firsts, rest *cell, from, i uintptr) *cell {
	if i&1 == 0 {
		return cellAt(firsts, from+i/2)
	}
	return cellAt(rest, from+i/2)
}

// clearRows clears what the cells of rows know about [lo, hi), which lies on page p. It
// comes before the cells of words are cleared.
func clearRows(s *State, p *page, lo, hi uintptr) {
	for at := lo; at < hi; at = at&^(rowSize-1) + rowSize {
		c := rowOf(p, at)
		row := at &^ (rowSize - 1)
		switch all := row >= lo && row+rowSize <= hi; {
		case c.w == 0 && c.r == 0:
		case all && c.w == inWords:
			c.w = 0 // nothing is known about its words in a moment
		case all:
			dropReaders(s, c)
			c.w = 0
		case c.w != inWords:
			splitRow(s, &s.total, p, at)
			store32(&p.deep, 1)
		}
	}
}

// rowsKnown reports whether the cells of rows know of an access to a part of [lo, hi).
func rowsKnown(p *page, lo, hi uintptr) bool {
	for at := lo; at < hi; at = at&^(rowSize-1) + rowSize {
		if c := rowOf(p, at); load64(&c.w) != inWords && load64(&c.w)|load64(&c.r) != 0 {
			return true
		}
	}
	return false
}
