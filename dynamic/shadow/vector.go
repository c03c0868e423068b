package shadow

import "unsafe"

// entry is the last access by the owner of one slot.
type entry struct {
	_     notInHeap
	epoch uint64
	site  uint32
}

const (
	entrySize = unsafe.Sizeof(entry{})
	nFirst    = 4
	nSegs     = 8 // 4, 16, 64, ... slots: one more than there can be, so that a mask bounds the index
)

// vector holds one access for each slot. Only a slot's owner writes its entry, and
// entries never move, so nothing is locked: a vector grows by segments, each three
// times as large as all before it. dirty says that there may be entries that no
// plain write has looked at yet; a plain write that has seen all of them stands
// for them from then on: reads and atomic accesses need not look at a vector that is not
// dirty. An entry in it that does not happen before them races with the last plain write, or
// that write does not happen before them; both are reported. The condition is that
//   - who puts an entry into a vector makes it dirty, after the entry and before looking
//     at others: a write that clears dirty sees the entry, and of two that come at the same
//     time one finds the other's vector dirty;
//   - who clears dirty has its epoch in w before that, and looks at all entries after it.
type vector struct {
	first [nFirst]entry
	seg   [nSegs]*entry
	dirty uint32
}

// readers is what a cell's r points to when one epoch does not do.
type readers struct {
	_  notInHeap
	r  vector // plain reads
	at *atoms // nil before the first atomic access
}

type atoms struct {
	_    notInHeap
	r, w vector
}

//go:nosplit
func readersOf(r uint64) *readers { return (*readers)(pointer(uintptr(r &^ special))) }

//go:nosplit
func loadAtoms(x *readers) *atoms { return (*atoms)(loadp(unsafe.Pointer(&x.at))) }

// segment returns which of a vector's segments has slot, which is not one of the first, and
// the first slot in it. It has three times as many.
//
//go:nosplit
func segment(slot uint32) (k, lo uint32) {
	for lo = nFirst; slot >= lo*4; lo *= 4 {
		k++
	}
	return k, lo
}

// entryOf returns the entry of slot. It is made if there is none.
func entryOf(s *State, v *vector, slot uint32) *entry {
	if e := entryKnown(v, slot); e != nil {
		return e
	}
	k, lo := segment(slot)
	n := uintptr(lo*3) * entrySize
	p := alloc(s, poolVecs, n)
	if !casp(unsafe.Pointer(&v.seg[k]), nil, p) {
		free(s, poolVecs, p, n)
	}
	return entryKnown(v, slot)
}

// entryKnown returns the entry of slot, or nil if there is none.
//
//go:nosplit
func entryKnown(v *vector, slot uint32) *entry {
	if slot < nFirst {
		return &v.first[slot]
	}
	k, lo := segment(slot)
	p := (*entry)(loadp(unsafe.Pointer(&v.seg[k%nSegs])))
	if p == nil {
		return nil
	}
	return entryAt(p, slot-lo)
}

//go:nosplit
func entryAt(p *entry, i uint32) *entry {
	return (*entry)(unsafe.Add(unsafe.Pointer(p), uintptr(i)*entrySize))
}

// newReaders returns readers that hold one plain read, or none if r is 0.
func newReaders(s *State, r uint64, site uint32) *readers {
	x := (*readers)(alloc(s, poolVecs, unsafe.Sizeof(readers{})))
	if r != 0 {
		e := entryOf(s, &x.r, Slot(r))
		e.epoch, e.site = r, site
		x.r.dirty = 1
	}
	return x
}

// scan reports the first entry that does not happen before t. It takes time
// proportional to the highest slot that ever was in v.
func scan(s *State, t *Thread, v *vector, kind, prevKind uint8, lo, size uintptr, site uint32) {
	for i := range v.first {
		if e := load64(&v.first[i].epoch); e != 0 && !before(t, e) {
			report(s, t, kind, lo, size, site, e, prevKind, v.first[i].site)
			return
		}
	}
	n := uint32(nFirst * 3)
	for k := range v.seg {
		p := (*entry)(loadp(unsafe.Pointer(&v.seg[k])))
		if p != nil {
			for i := uint32(0); i < n; i++ {
				if e := load64(&entryAt(p, i).epoch); e != 0 && !before(t, e) {
					report(s, t, kind, lo, size, site, e, prevKind, entryAt(p, i).site)
					return
				}
			}
		}
		n *= 4
	}
}

// copyVector copies v to an empty vector.
func copyVector(s *State, to, v *vector) {
	to.dirty = load32(&v.dirty)
	for i := range v.first {
		to.first[i].epoch, to.first[i].site = load64(&v.first[i].epoch), v.first[i].site
	}
	n := uint32(nFirst * 3)
	for k := range v.seg {
		if p := (*entry)(loadp(unsafe.Pointer(&v.seg[k]))); p != nil {
			q := (*entry)(alloc(s, poolVecs, uintptr(n)*entrySize))
			for i := uint32(0); i < n; i++ {
				entryAt(q, i).epoch, entryAt(q, i).site = load64(&entryAt(p, i).epoch), entryAt(p, i).site
			}
			to.seg[k] = q
		}
		n *= 4
	}
}

// copyReaders returns a deep copy: two cells never share a vector.
func copyReaders(s *State, x *readers) *readers {
	y := (*readers)(alloc(s, poolVecs, unsafe.Sizeof(readers{})))
	copyVector(s, &y.r, &x.r)
	if at := loadAtoms(x); at != nil {
		y.at = (*atoms)(alloc(s, poolVecs, unsafe.Sizeof(atoms{})))
		copyVector(s, &y.at.r, &at.r)
		copyVector(s, &y.at.w, &at.w)
	}
	return y
}

func freeVector(s *State, v *vector) {
	n := uintptr(nFirst * 3)
	for k := range v.seg {
		if v.seg[k] != nil {
			free(s, poolVecs, unsafe.Pointer(v.seg[k]), n*entrySize)
		}
		n *= 4
	}
}

func freeReaders(s *State, x *readers) {
	freeVector(s, &x.r)
	if x.at != nil {
		freeVector(s, &x.at.r)
		freeVector(s, &x.at.w)
		free(s, poolVecs, unsafe.Pointer(x.at), unsafe.Sizeof(atoms{}))
	}
	free(s, poolVecs, unsafe.Pointer(x), unsafe.Sizeof(readers{}))
}
