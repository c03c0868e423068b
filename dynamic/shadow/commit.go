package shadow

import "unsafe"

// commit puts f into the shadow (SlimState, figure 3, [SS COMMIT] and [SS REFINE]):
// it refines the partition until f is a union of parts, then checks and sets one
// cell for each. It does at most about budget of them, at least one, and reports
// whether f is done. The array is locked for no longer than one call, and not while
// cells of mode Fine are worked on. When others refine the partition between two calls
// f.at stays good, or when f goes on upwards: whatever the mode was, all elements of f
// before it are done. (With mode Stride it goes through the first elements of classes, and the classes done
// hold all elements before the next.)
func commit(s *State, t *Thread, f *footprint, budget uintptr) bool {
	a := f.arr
	start, end := f.b*f.es, (f.e+1)*f.es
	for {
		lock(&a.lk)
		es := a.cur.es
		if !f.begun {
			f.begun, f.at = true, start
			t.stat.Footprints++
		}
		if f.k > 1 && es < f.es {
			// The grid became finer: f is no strided range in it, but each
			// of its elements is one.
			b, e := f.at/es, (f.at+f.es)/es-1
			l := sufficient(s, t, a, b, e, 1)
			access(s, t, a, l, b, e, 1, b, f.es, f.kind, f.site)
			f.at += f.k * f.es
			if f.at >= end {
				return true
			}
			if budget <= f.es/es {
				return false
			}
			budget -= f.es / es
			continue
		}
		b, e, k := start/es, end/es-1, f.k
		l := sufficient(s, t, a, b, e, k)
		next := access(s, t, a, l, b, e, k, f.at/es, budget, f.kind, f.site)
		f.at = next * es
		return next > e
	}
}

// access performs an access to <b:e:k> of the locked array a, which is a union of
// parts of its layer l, from element at on, and unlocks a. It does at most about
// budget operations and returns the element to go on with, more than e at the end.
func access(s *State, t *Thread, a *Array, l *layer, b, e, k, at, budget uintptr, kind uint8, site uint32) uintptr {
	if l.mode == Fine {
		unlock(&a.lk)
		return fineRange(s, t, a, l, at, e, k, budget, kind, site)
	}
	at = lockedRange(s, t, a, l, b, e, k, at, budget, kind, site)
	unlock(&a.lk)
	return at
}

// sufficient refines the partition of the locked array a until <b:e:k> is a union
// of parts, and returns the layer with it.
func sufficient(s *State, t *Thread, a *Array, b, e, k uintptr) *layer {
	l := a.cur
	mode, d := Refine(l.mode, l.d, l.n, b, e, k)
	if mode != l.mode || d != l.d {
		addLayer(s, a, mode, d, l.es, l.n)
		t.stat.Refined++
	}
	return a.cur
}

// lockedRange performs an access to the parts of <b:e:k>, a union of parts of the
// layer l of the locked array a, from element at on. It does at most about budget
// and returns the element to go on with, more than e when all is done. With mode
// Stride it goes through the first elements of the classes.
func lockedRange(s *State, t *Thread, a *Array, l *layer, b, e, k, at, budget uintptr, kind uint8, site uint32) uintptr {
	switch l.mode {
	case Coarse:
		touch(s, t, cellOf(s, t, a, l, 0), kind, a.base, l.n*l.es, site, true, false)
		return e + 1
	case Stride:
		t.stride, t.count = l.d*l.es, l.n/l.d
		end := b + l.d
		if e < end {
			end = e + 1
		}
		for ; at < end && budget > 0; budget-- {
			j := at % l.d
			touch(s, t, cellOf(s, t, a, l, j), kind, a.base+j*l.es, l.es, site, true, false)
			at += k
		}
		t.stride, t.count = 0, 1
		if at >= end {
			return b + l.d + e // past both ends
		}
		return at
	case Prefix:
		for ; at <= e && at < l.d && budget > 0; budget-- {
			touch(s, t, cellOf(s, t, a, l, at), kind, a.base+at*l.es, l.es, site, true, false)
			at += k
		}
		if at <= e && at >= l.d {
			touch(s, t, cellOf(s, t, a, l, l.d), kind, a.base+l.d*l.es, (l.n-l.d)*l.es, site, true, false)
			return e + 1
		}
		return at
	}
	for ; at <= e && budget > 0; budget-- { // Block, Split: k is 1
		j := Part(l.mode, l.d, at)
		end := l.n
		if l.mode == Block {
			end = (j + 1) * l.d
		} else if j == 0 {
			end = l.d
		}
		lo := First(l.mode, l.d, j)
		touch(s, t, cellOf(s, t, a, l, j), kind, a.base+lo*l.es, (end-lo)*l.es, site, true, false)
		at = end
	}
	return at
}

// fineRange performs an access to at most budget elements of <b:e:k> of the layer
// l, of mode Fine, and returns the next one.
func fineRange(s *State, t *Thread, a *Array, l *layer, b, e, k, budget uintptr, kind uint8, site uint32) uintptr {
	for ; b <= e && budget > 0; budget-- {
		c := fineCell(s, t, a, l, b)
		lo := a.base + b*l.es
		how := touch(s, t, c, kind, lo, l.es, site, false, false)
		if how != done {
			touchPart(s, t, c, l.es, lo, 0, l.es, kind, site, how == again)
		}
		b += k
	}
	return b
}

// topLayer returns the layer of a that holds now; without the lock it may be
// refined meanwhile, unless its mode is Fine.
func topLayer(a *Array) *layer {
	for n := 0; ; n++ {
		if l := (*layer)(loadp(unsafe.Pointer(&a.cur))); l != nil {
			return l
		}
		pause(n) // AddArray is about to make it
	}
}
