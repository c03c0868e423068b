package shadow

import "unsafe"

// cell is one shadow location: the last plain write, and the plain reads since
// as one epoch or, once two were concurrent, as a vector (FastTrack). It stands
// for a number of bytes that were always accessed together.
//
//	w  epoch | special and *split: the bytes have cells of their own
//	r  epoch | special and *readers | busy: another goroutine changes the structure
//
// The sites are for reports only; they are stored without synchronisation, so one
// may belong to another access that was made at the same time.
type cell struct {
	_      notInHeap
	w, r   uint64
	ws, rs uint32
}

const (
	cellSize = unsafe.Sizeof(cell{})
	busy     = uint64(special)
)

//go:nosplit
func cellAt(p *cell, i uintptr) *cell {
	return (*cell)(unsafe.Add(unsafe.Pointer(p), i*cellSize))
}

// What an operation on a cell did.
const (
	done  = iota
	down  // nothing: the cell is split, go on with the cells below it
	again // the same, but its epoch may be there already: check nevertheless
)

// touch performs an access of kind by t to all that c stands for: size bytes at lo.
// With excl nobody else uses c, and it is not split. With redo the access is not
// skipped because its epoch is found; see again.
func touch(s *State, t *Thread, c *cell, kind uint8, lo, size uintptr, site uint32, excl, redo bool) int {
	switch kind {
	case Write:
		return touchWrite(s, t, c, lo, size, site, excl, redo)
	case Read:
		return touchRead(s, t, c, lo, size, site, excl, redo)
	}
	return touchAtomic(s, t, c, kind, lo, size, site, redo)
}

// touchWrite is FastTrack's write: [WRITE SAME EPOCH], [WRITE EXCLUSIVE] and
// [WRITE SHARED]. The epoch is published in w before r is looked at.
func touchWrite(s *State, t *Thread, c *cell, lo, size uintptr, site uint32, excl, redo bool) int {
	me := t.epoch
	var w uint64
	for {
		w = load64(&c.w)
		if w == me && !redo {
			return done // what came since was checked against w
		}
		if w&special != 0 {
			return down
		}
		if w == me {
			break
		}
		if excl {
			c.w = me
			break
		}
		if cas64(&c.w, w, me) {
			break
		}
	}
	t.stat.Checks++
	ws := c.ws
	c.ws = site
	if w == 0 {
		if load64(&c.r) == 0 {
			t.stat.Locations++
		}
	} else if !before(t, w) {
		report(s, t, Write, lo, size, site, w, Write, ws)
	}
	var r uint64
	for n := 0; ; n++ {
		if r = load64(&c.r); r != busy {
			break
		}
		pause(n)
	}
	if load64(&c.w)&special != 0 {
		return again // split meanwhile: what r held is below
	}
	if r&special == 0 {
		if r != 0 && !before(t, r) {
			report(s, t, Write, lo, size, site, r, Read, c.rs)
		}
		return done
	}
	x := readersOf(r)
	if swap32(&x.r.dirty, 0) != 0 {
		scan(s, t, &x.r, Write, Read, lo, size, site)
	}
	if at := loadAtoms(x); at != nil {
		if swap32(&at.r.dirty, 0) != 0 {
			scan(s, t, &at.r, Write, AtomicRead, lo, size, site)
		}
		if swap32(&at.w.dirty, 0) != 0 {
			scan(s, t, &at.w, Write, AtomicWrite, lo, size, site)
		}
	}
	return done
}

// touchRead is FastTrack's read: [READ SAME EPOCH], [READ EXCLUSIVE], [READ SHARE]
// and [READ SHARED]. A read after a write in the same epoch needs nothing either.
func touchRead(s *State, t *Thread, c *cell, lo, size uintptr, site uint32, excl, redo bool) int {
	me := t.epoch
	for n := 0; ; n++ {
		r, w := load64(&c.r), load64(&c.w)
		if w&special != 0 {
			return down
		}
		if !redo && (r == me || w == me) {
			return done
		}
		if r == busy {
			pause(n)
			continue
		}
		if r&special != 0 {
			e := entryOf(s, &readersOf(r).r, t.slot)
			if e.epoch == me && !redo {
				return done
			}
			store64(&e.epoch, me)
			e.site = site
			if load32(&readersOf(r).r.dirty) == 0 {
				store32(&readersOf(r).r.dirty, 1)
			}
			break
		}
		if r == 0 || before(t, r) {
			if r == me {
				break
			}
			if excl {
				c.r = me
			} else if !cas64(&c.r, r, me) {
				continue
			}
			if r == 0 && w == 0 {
				t.stat.Locations++
			}
			c.rs = site
			break
		}
		x := newReaders(s, r, c.rs)
		e := entryOf(s, &x.r, t.slot)
		e.epoch, e.site = me, site
		if !cas64(&c.r, r, uint64(uintptr(unsafe.Pointer(x)))|special) {
			freeReaders(s, x)
			continue
		}
		t.stat.Shared++
		break
	}
	t.stat.Checks++
	w := load64(&c.w)
	if w&special != 0 {
		return again
	}
	if w != 0 && !before(t, w) {
		report(s, t, Read, lo, size, site, w, Write, c.ws)
	}
	if r := load64(&c.r); r&special != 0 && r != busy {
		if at := loadAtoms(readersOf(r)); at != nil && load32(&at.w.dirty) != 0 { // see vector
			scan(s, t, &at.w, Read, AtomicWrite, lo, size, site)
		}
	}
	return done
}

// touchAtomic records an atomic access in vectors: atomic accesses need not be
// ordered among themselves, so no epoch can stand for them.
func touchAtomic(s *State, t *Thread, c *cell, kind uint8, lo, size uintptr, site uint32, redo bool) int {
	me := t.epoch
	var x *readers
	for n := 0; ; n++ {
		r, w := load64(&c.r), load64(&c.w)
		if w&special != 0 {
			return down
		}
		if w == me && !redo {
			return done // a plain write conflicts with all that this one does
		}
		if r == busy {
			pause(n)
			continue
		}
		if r&special != 0 {
			x = readersOf(r)
			break
		}
		x = newReaders(s, r, c.rs)
		if cas64(&c.r, r, uint64(uintptr(unsafe.Pointer(x)))|special) {
			if r == 0 && w == 0 {
				t.stat.Locations++
			}
			t.stat.Shared++
			break
		}
		freeReaders(s, x)
	}
	at := loadAtoms(x)
	if at == nil {
		at = (*atoms)(alloc(s, poolVecs, unsafe.Sizeof(atoms{})))
		if !casp(unsafe.Pointer(&x.at), nil, unsafe.Pointer(at)) {
			free(s, poolVecs, unsafe.Pointer(at), unsafe.Sizeof(atoms{}))
			at = loadAtoms(x)
		}
	}
	v := &at.r
	if kind == AtomicWrite {
		v = &at.w
	}
	e := entryOf(s, v, t.slot)
	if e.epoch == me && !redo {
		return done
	}
	store64(&e.epoch, me)
	e.site = site
	store32(&v.dirty, 1)
	t.stat.Checks++
	w := load64(&c.w)
	if w&special != 0 {
		return again
	}
	if w != 0 && !before(t, w) {
		report(s, t, kind, lo, size, site, w, Write, c.ws)
	}
	if kind == AtomicWrite && load32(&x.r.dirty) != 0 { // see vector
		scan(s, t, &x.r, AtomicWrite, Read, lo, size, site)
	}
	return done
}
