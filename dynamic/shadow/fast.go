package shadow

// The common accesses of compiled programs, without a lock and without calls that
// take one: so they may run where the rest of the package may not. They are for states
// with Firsts and without Arrays, and for one byte.

// What Try did.
const (
	Done  = iota
	Hard  // nothing: call Access
	Check // it recorded the access, but there may be races: call Recheck
)

// find returns the cell of exactly the byte at addr, nil if there is none, or t has no
// slot, or t has not looked at the page lately.
func find(t *Thread, addr uintptr) *cell {
	no := addr >> pageShift
	e := &t.seen[no%nSeen]
	if e.no != no || e.p == nil || t.epoch == 0 {
		return nil
	}
	i := addr >> 3 & (words - 1)
	if addr&7 == 0 {
		if e.p.cells == nil {
			return nil
		}
		return cellAt(e.p.cells, i)
	}
	if e.p.rest == nil {
		return nil
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

// Same reports whether t has made an access in this epoch that covers a plain one to the
// byte at addr.
func Same(t *Thread, addr uintptr, kind uint8) bool {
	c := find(t, addr)
	return c != nil && (load64(&c.w) == t.epoch || kind == Read && load64(&c.r) == t.epoch)
}

// Try is touchWrite or touchRead where no access is a vector and none races.
func Try(t *Thread, addr uintptr, kind uint8, site uint32) int {
	c := find(t, addr)
	if c == nil {
		return Hard
	}
	w, r := load64(&c.w), load64(&c.r)
	if (w|r)&special != 0 || w != 0 && !before(t, w) || r != 0 && !before(t, r) {
		return Hard
	}
	if kind == Write {
		if !cas64(&c.w, w, t.epoch) {
			return Hard
		}
		c.ws = site
		r = load64(&c.r)
	} else {
		if !cas64(&c.r, r, t.epoch) {
			return Hard
		}
		c.rs = site
		w = load64(&c.w)
	}
	t.stat.Checks++
	if w|r == 0 {
		t.stat.Locations++
	}
	// Who came meanwhile sees what was recorded, or is seen here.
	if kind == Write && (r&special != 0 || r != 0 && !before(t, r) || load64(&c.w)&special != 0) ||
		kind == Read && (w&special != 0 || w != 0 && !before(t, w) || load64(&c.r)&special != 0) {
		return Check
	}
	return Done
}

// Recheck is Access after a Try that says Check.
func Recheck(s *State, t *Thread, addr uintptr, kind uint8, site uint32) {
	c, g, off := wordCell(s, pageFor(s, t, addr), addr)
	if c != nil {
		touchPart(s, t, c, g, addr-off, off, off+1, kind, site, true)
	}
}
