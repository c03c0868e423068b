package shadow

import "unsafe"

// MaxPiece bounds the work of one call of Access or Range: about so many cells.
const MaxPiece = 1024

// quick reports whether the access lies in one word that t has accessed whole, in this
// epoch and in a way that covers it. What the cells of memory outside arrays say of
// that stays true when the memory becomes an array: it is in the array's shadow, too.
// limit is 8, or 1 if only the first byte has that cell.
func quick(t *Thread, addr, size, limit uintptr, kind uint8) bool {
	e := &t.seen[addr>>pageShift%nSeen]
	if e.p == nil || e.no != addr>>pageShift || addr&7+size > limit {
		return false
	}
	c := e.p.cells // what is nil here may just have been made: no harm
	if c == nil {
		return false
	}
	c = cellAt(c, addr>>3&(words-1))
	return load64(&c.w) == t.epoch || kind == Read && load64(&c.r) == t.epoch
}

// Access says that t accesses the size bytes at addr. It returns how many of them
// it has dealt with, at least one; call again for the rest. An element of an array
// is added to a footprint, and a whole range of elements costs no more than one.
func Access(s *State, t *Thread, addr, size uintptr, kind uint8, site uint32) uintptr {
	if t.slot == noSlot {
		t.stat.Ignored++
		return size
	}
	limit := uintptr(8)
	if s.firsts {
		limit = 1
	}
	if quick(t, addr, size, limit, kind) || s.arrays && kind <= Write && extend(t, addr, size, kind) {
		return size
	}
	at, end := addr, addr+size
	for budget := uintptr(MaxPiece); at < end && budget > 0; {
		p := pageFor(s, t, at)
		hi := (at | (PageSize - 1)) + 1
		if hi-at > budget*8 {
			hi = at + budget*8
		}
		if hi > end {
			hi = end
		}
		arrs := load32(&p.arrs)
		if s.arrays && (loadp(unsafe.Pointer(&p.whole)) != nil || loadp(unsafe.Pointer(&p.part)) != nil) {
			if a := arrayAt(s, p, at); a != nil {
				to := end
				if a.end < to {
					to = a.end
				}
				n := accessArray(s, t, a, at-a.base, to-at, kind, site, budget)
				at += n
				cost := uintptr(1)
				if topLayer(a).mode == Fine {
					cost += n / 8
				}
				if at < to || cost >= budget {
					break
				}
				budget -= cost
				continue
			}
			if next := (at | 7) + 1; next < hi { // an array may begin there
				hi = next
			}
		}
		linear(s, t, p, at, hi, kind, site)
		if load32(&p.arrs) != arrs {
			continue // the memory became an array meanwhile: tell the array too
		}
		budget -= (hi - at + 7) / 8
		at = hi
	}
	return at - addr
}

// accessArray performs an access to the size bytes at offset off of a and returns
// how many are done. The partition's elements are made as small as the access asks,
// while that is possible; later, their cells are split.
func accessArray(s *State, t *Thread, a *Array, off, size uintptr, kind uint8, site uint32, budget uintptr) uintptr {
	l := topLayer(a)
	if l.mode != Fine && (off%l.es != 0 || size%l.es != 0) {
		l = refit(s, a, gcd(off, size))
	}
	es := l.es
	switch {
	case l.mode == Fine:
		return accessFine(s, t, a, l, off, size, kind, site, budget)
	case l.mode == Prefix || kind > Write:
		return atOnce(s, t, a, l, off/es, (off+size)/es-1, 1, kind, site, budget, size)
	}
	enqueue(s, t, a, es, off/es, (off+size)/es-1, 1, kind, site)
	return size
}

// refit makes g bytes a whole number of elements of a, unless its mode is Fine, and
// returns its layer.
func refit(s *State, a *Array, g uintptr) *layer {
	lock(&a.lk)
	regrid(s, a, g)
	l := a.cur
	unlock(&a.lk)
	return l
}

// atOnce commits <b:e:k> of a without delay: what is atomic, and all that is done
// to arrays of mode Prefix (SlimState, section V-B). It returns size.
func atOnce(s *State, t *Thread, a *Array, l *layer, b, e, k uintptr, kind uint8, site uint32, budget, size uintptr) uintptr {
	if b == e && l.mode == Prefix {
		// The same epoch needs no lock: old layers stay readable, and what they
		// say of a goroutine's own epoch stays true.
		j := Part(Prefix, l.d, b)
		if c := (*cell)(loadp(unsafe.Pointer(&l.ref(j / chunk).c))); c != nil && load64(&cellAt(c, j%chunk).w) == t.epoch {
			return size
		}
	}
	f := &tableOf(s, t).direct
	f.arr, f.es, f.b, f.e, f.k = a, l.es, b, e, k
	f.kind, f.site, f.begun = kind, site, false
	if hold(a) {
		for !commit(s, t, f, budget) {
		}
		letGo(s, a)
	}
	f.arr = nil
	return size
}

// accessFine performs an access to the size bytes at offset off of a, whose layer l
// has mode Fine, and returns how many are done.
func accessFine(s *State, t *Thread, a *Array, l *layer, off, size uintptr, kind uint8, site uint32, budget uintptr) uintptr {
	es := l.es
	at, end := off, off+size
	for ; at < end && budget > 0; budget-- {
		i := at / es
		lo := i * es
		hi := lo + es
		if end < hi {
			hi = end
		}
		c := fineCell(s, t, a, l, i)
		how := down
		if hi-at == es {
			how = touch(s, t, c, kind, a.base+lo, es, site, false, false)
		}
		if how != done {
			touchPart(s, t, c, es, a.base+lo, at-lo, hi-lo, kind, site, how == again)
		}
		at = hi
	}
	return at - off
}

// Range says that t accesses count pieces of size bytes each, stride bytes apart
// (at least size), the first at addr. It returns how many pieces it has dealt with,
// at least one; call again for the rest.
func Range(s *State, t *Thread, addr, size, count, stride uintptr, kind uint8, site uint32) uintptr {
	if t.slot == noSlot {
		t.stat.Ignored++
		return count
	}
	if count == 1 || stride == size {
		n := Access(s, t, addr, size*count, kind, site)
		if n < size {
			for n < size {
				n += Access(s, t, addr+n, size-n, kind, site)
			}
		}
		return n / size
	}
	if s.arrays {
		p := pageFor(s, t, addr)
		if a := arrayAt(s, p, addr); a != nil && addr+(count-1)*stride+size <= a.end {
			if n := rangeArray(s, t, a, addr-a.base, size, count, stride, kind, site); n != 0 {
				return n
			}
		}
	}
	i := uintptr(0)
	for budget := uintptr(MaxPiece); i < count && budget > 0; i++ {
		for n := uintptr(0); n < size; {
			n += Access(s, t, addr+i*stride+n, size-n, kind, site)
		}
		if budget <= size/8 {
			budget = 1
		} else {
			budget -= size / 8
		}
		budget--
	}
	return i
}

// rangeArray is Range for pieces that lie in a; 0 means that they are no strided
// range of elements.
func rangeArray(s *State, t *Thread, a *Array, off, size, count, stride uintptr, kind uint8, site uint32) uintptr {
	l := topLayer(a)
	if l.mode != Fine && (off%l.es != 0 || size%l.es != 0 || stride%l.es != 0) {
		l = refit(s, a, gcd(gcd(off, size), stride))
	}
	es := l.es
	if size != es || off%es != 0 || stride%es != 0 {
		return 0
	}
	b, k := off/es, stride/es
	if l.mode == Fine {
		n := count
		if n > MaxPiece {
			n = MaxPiece
		}
		fineRange(s, t, a, l, b, b+(n-1)*k, k, n, kind, site)
		return n
	}
	e := b + (count-1)*k
	if l.mode == Prefix || kind > Write {
		return atOnce(s, t, a, l, b, e, k, kind, site, sliceLen, count)
	}
	enqueue(s, t, a, es, b, e, k, kind, site)
	return count
}

// Describe returns the partition of the array at addr, in elements of es bytes, and
// the number of cells that its top layer has made; ok is false if no array has a
// descriptor there.
func Describe(s *State, addr uintptr) (mode uint32, d, es, n, cells uintptr, ok bool) {
	p := pageOf(s, addr, false)
	if p == nil {
		return 0, 0, 0, 0, 0, false
	}
	a := arrayAt(s, p, addr)
	if a == nil {
		return 0, 0, 0, 0, 0, false
	}
	lock(&a.lk)
	l := a.cur
	for i := uintptr(0); i < l.chunks(); i++ {
		if l.ref(i).c != nil {
			cells += l.chunkLen(i)
		}
	}
	unlock(&a.lk)
	return l.mode, l.d, l.es, l.n, cells, true
}
