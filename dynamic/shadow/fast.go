package shadow

// The common accesses of compiled programs, without a lock and without calls that
// take one: so they may run where the rest of the package may not. They are for states
// with Firsts and without Arrays, and for one byte. They are marked nosplit as those of
// fastsync.go are, which go together with some of them.

// What TryRead and TryWrite did.
const (
	Done  = iota
	Hard  // nothing: call Access
	Check // the access was recorded, but there may be races: call Recheck
)

// Find returns the cell of exactly the byte at addr, nil if there is none, or t has no
// slot.
//
//go:nosplit
func Find(s *State, t *Thread, addr uintptr) *cell {
	no := addr >> pageShift
	e := &t.seen[no%nSeen]
	if t.epoch == 0 {
		return nil
	}
	if e.no != no || e.p == nil {
		p := pageKnown(s, addr)
		if p == nil {
			return nil
		}
		e.no, e.p = no, p
	}
	if !byWords(e.p, addr) {
		return nil
	}
	i := addr >> 3 & (words - 1)
	if addr&7 == 0 {
		return cellAt(e.p.cells, i)
	}
	w := load64(&cellAt(e.p.rest, i).w)
	if w&special == 0 {
		return nil
	}
	x := splitOf(w)
	if x.unit != 1 {
		return nil
	}
	return x.cell(addr&7 - 1)
}

// Same reports whether t has made an access in this epoch that covers a plain one to
// what c, which Find returned, stands for.
//
//go:nosplit
func Same(t *Thread, c *cell, kind uint8) bool {
	return load64(&c.w) == t.epoch || kind == Read && load64(&c.r) == t.epoch
}

// SameAtomic is Same for an atomic access: one of this kind was made in this epoch.
//
//go:nosplit
func SameAtomic(t *Thread, c *cell, kind uint8) bool {
	r := load64(&c.r)
	if r&special == 0 || r == busy || load64(&c.w)&special != 0 {
		return false
	}
	at := loadAtoms(readersOf(r))
	if at == nil {
		return false
	}
	v := &at.r
	if kind == AtomicWrite {
		v = &at.w
	}
	e := entryKnown(v, t.slot)
	return e != nil && load64(&e.epoch) == t.epoch
}

// plain reports whether e is no access, or an epoch that happens before t: of a plain
// access of that kind. What is before t stays so. (The mask spares the check of an index,
// which needs room on the stack.)
//
//go:nosplit
func plain(t *Thread, e uint64, kind uint8) bool {
	return e == 0 || e == t.past[kind&1] || earlier(t, e, kind)
}

// earlier is plain for an epoch that is not known to be before t.
//
//go:nosplit
func earlier(t *Thread, e uint64, kind uint8) bool {
	if e&special != 0 || !before(t, e) {
		return false
	}
	t.past[kind&1] = e
	return true
}

// swift is touch for a plain access to a cell of any size where no access is a vector and
// none races; else it says what is left to do. It publishes, then checks, as touch does.
//
//go:nosplit
func swift(t *Thread, c *cell, kind uint8, site uint32) int {
	w, r := load64(&c.w), load64(&c.r)
	if w == t.epoch || kind == Read && r == t.epoch {
		return done
	}
	if !plain(t, w, Write) || !plain(t, r, Read) {
		return down
	}
	if kind == Read {
		if !cas64(&c.r, r, t.epoch) {
			return down
		}
		c.rs = site
	} else {
		if !cas64(&c.w, w, t.epoch) {
			return down
		}
		c.ws = site
	}
	t.stat.Checks++
	if w|r == 0 {
		t.stat.Locations++
	}
	if !alone(c, kind, w, r) {
		return again
	}
	return done
}

// alone reports whether nobody has accessed or split c between the moment when w and r were
// there and now, after an access of kind was published: then who comes later sees it. A
// split that began meanwhile took the access along, and is seen by the word that it makes
// busy, or by what it leaves in w. The r that it leaves says nothing: it is 0, as that of a
// cell that nobody had read, though a read between may be below.
//
//go:nosplit
func alone(c *cell, kind uint8, w, r uint64) bool {
	if kind == Read {
		return load64(&c.w) == w // which is never twice the same
	}
	return load64(&c.r) == r && load64(&c.w)&special == 0
}

// TryWrite is touchWrite for a cell that Find returned, where no access is a vector and
// none races.
//
//go:nosplit
func TryWrite(t *Thread, c *cell, site uint32) int {
	w, r := load64(&c.w), load64(&c.r)
	if !plain(t, w, Write) || !plain(t, r, Read) || !cas64(&c.w, w, t.epoch) {
		return Hard
	}
	c.ws = site
	t.stat.Checks++
	if w|r == 0 {
		t.stat.Locations++
	}
	// Who came meanwhile sees what was recorded, or is seen here. The cell cannot have been
	// split: it stands for one byte.
	if now := load64(&c.r); now != r && !plain(t, now, Read) {
		return Check
	}
	return Done
}

// TryRead is touchRead in the same cases.
//
//go:nosplit
func TryRead(t *Thread, c *cell, site uint32) int {
	w, r := load64(&c.w), load64(&c.r)
	if !plain(t, w, Write) || !plain(t, r, Read) || !cas64(&c.r, r, t.epoch) {
		return Hard
	}
	c.rs = site
	t.stat.Checks++
	if w|r == 0 {
		t.stat.Locations++
	}
	// The same; who has made a vector of the reads since put this one into it.
	if now := load64(&c.w); now != w && !plain(t, now, Write) {
		return Check
	}
	return Done
}

// MaxTry is the most bytes that TryRange takes: a few words, so that it is soon over.
const MaxTry = 64

// TryRange is Access for whole words on one page of which all cells are there, where no
// access is a vector and none races. It returns how many bytes it has dealt with, and what
// is left to do: Done if nothing, Hard if Access is to deal with the rest, Check if Recheck
// is, too, with the word that follows.
//
//go:nosplit
func TryRange(t *Thread, addr, size uintptr, kind uint8, site uint32) (uintptr, int) {
	no := addr >> pageShift
	e := &t.seen[no%nSeen]
	if e.no != no || e.p == nil || t.epoch == 0 || (addr|size)&7 != 0 || size > MaxTry || addr&(PageSize-1)+size > PageSize {
		return 0, Hard
	}
	if !byWords(e.p, addr) || !byWords(e.p, addr+size-1) {
		return 0, Hard
	}
	firsts, rest := e.p.cells, e.p.rest
	for at := uintptr(0); at < size; at += 8 {
		i := (addr + at) >> 3 & (words - 1)
		switch swift(t, cellAt(firsts, i), kind, site) {
		case down:
			return at, Hard
		case again:
			return at, Check
		}
		switch swift(t, cellAt(rest, i), kind, site) {
		case down:
			return at, Hard
		case again:
			return at, Check
		}
	}
	return size, Done
}

// Recheck is Access after a Try that says Check: of size bytes in one word.
func Recheck(s *State, t *Thread, addr, size uintptr, kind uint8, site uint32) {
	for end := addr + size; addr < end; {
		p := pageFor(s, t, addr)
		c, g, off := wordCell(s, p, addr)
		n := g - off
		if addr+n > end {
			n = end - addr
		}
		if c != nil {
			touchPart(s, t, c, g, addr-off, off, off+n, kind, site, true)
			noteDeep(p, c)
		}
		addr += n
	}
}
