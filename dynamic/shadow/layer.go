package shadow

import "unsafe"

// layer is the shadow of an array under one partition. Refinement puts a new layer
// on top and leaves its cells to be made when they are used, in chunks, from the
// layers below, which do not change any more: so it costs little at once, however
// large the array. Each row of Table I at least doubles the number of parts, or
// the prefix, or leads to Fine, so that the layers below hold fewer cells than the
// top could; a finer grid (see regrid) may repeat a number, once for each divisor
// of the element's size. Layers go when the array does.
type layer struct {
	_      notInHeap
	mode   uint32
	linear uint32  // chunks come from the cells that the memory had before
	es     uintptr // bytes of an element
	n      uintptr // elements
	d      uintptr // parameter of the mode
	parts  uintptr
	dir    *cellRef // one for each chunk
	base   *layer
}

type cellRef struct {
	_ notInHeap
	c *cell
}

// chunk is how many cells are made at once.
const chunk = 256

func (l *layer) ref(i uintptr) *cellRef {
	return (*cellRef)(unsafe.Add(unsafe.Pointer(l.dir), i*unsafe.Sizeof(cellRef{})))
}

func (l *layer) chunks() uintptr { return (l.parts + chunk - 1) / chunk }

// chunkLen is the number of cells of chunk i.
func (l *layer) chunkLen(i uintptr) uintptr {
	if n := l.parts - i*chunk; n < chunk {
		return n
	}
	return chunk
}

func newLayer(s *State, mode uint32, d, es, n uintptr) *layer {
	l := (*layer)(alloc(s, poolMisc, unsafe.Sizeof(layer{})))
	l.mode, l.d, l.es, l.n = mode, d, es, n
	l.parts = Parts(mode, d, n)
	l.dir = (*cellRef)(alloc(s, poolMisc, l.chunks()*unsafe.Sizeof(cellRef{})))
	return l
}

// addLayer puts a new layer on the locked array a.
func addLayer(s *State, a *Array, mode uint32, d, es, n uintptr) {
	l := newLayer(s, mode, d, es, n)
	l.base = a.cur
	storep(unsafe.Pointer(&a.cur), unsafe.Pointer(l))
}

func freeLayer(s *State, l *layer) {
	for i := uintptr(0); i < l.chunks(); i++ {
		c := l.ref(i).c
		if c == nil {
			continue
		}
		for j := uintptr(0); j < l.chunkLen(i); j++ {
			if d := cellAt(c, j); (d.w|d.r)&special != 0 {
				cleanCell(s, d)
			}
		}
		free(s, poolCells, unsafe.Pointer(c), l.chunkLen(i)*cellSize)
	}
	free(s, poolMisc, unsafe.Pointer(l.dir), l.chunks()*unsafe.Sizeof(cellRef{}))
	free(s, poolMisc, unsafe.Pointer(l), unsafe.Sizeof(layer{}))
}

// cellOf returns the cell of part j of the top layer l of the locked array a.
func cellOf(s *State, t *Thread, a *Array, l *layer, j uintptr) *cell {
	r := l.ref(j / chunk)
	if r.c == nil {
		fill(s, t, a, l, j/chunk)
	}
	return cellAt(r.c, j%chunk)
}

// fineCell is cellOf for mode Fine, without the lock.
func fineCell(s *State, t *Thread, a *Array, l *layer, j uintptr) *cell {
	r := l.ref(j / chunk)
	c := (*cell)(loadp(unsafe.Pointer(&r.c)))
	if c == nil {
		lock(&a.lk)
		c = cellOf(s, t, a, l, j&^(chunk-1))
		unlock(&a.lk)
	}
	return cellAt(c, j%chunk)
}

// fill makes the cells of chunk i of l, each with what the layers below know about
// its part: each part is a piece of one part there (SlimState, figure 3, [SS
// REFINE]).
func fill(s *State, t *Thread, a *Array, l *layer, i uintptr) {
	n := l.chunkLen(i)
	c := (*cell)(alloc(s, poolCells, n*cellSize))
	if l.linear != 0 || l.base != nil {
		for j := uintptr(0); j < n; j++ {
			off := First(l.mode, l.d, i*chunk+j) * l.es
			if l.linear != 0 {
				importCell(s, cellAt(c, j), a.base+off, l.es)
			} else if from := below(l.base, off); from != nil {
				copyCell(s, cellAt(c, j), from)
			}
			if d := cellAt(c, j); d.w|d.r != 0 {
				t.stat.Locations++
			}
		}
	}
	storep(unsafe.Pointer(&l.ref(i).c), unsafe.Pointer(c))
}

// below returns the cell for the byte at offset off of the array in the topmost of
// the layers from l down that has one, or nil if nothing is known about it.
func below(l *layer, off uintptr) *cell {
	for ; l != nil; l = l.base {
		j := Part(l.mode, l.d, off/l.es)
		if c := l.ref(j / chunk).c; c != nil {
			return cellAt(c, j%chunk)
		}
	}
	return nil
}

// importCell makes the empty cell c know what the cells of memory outside arrays
// know about the es bytes at lo.
func importCell(s *State, c *cell, lo, es uintptr) {
	u := gcd(gcd(es, 8), lo&7|8)
	if s.firsts {
		u = 1
	}
	known := false
	for i := uintptr(0); i < es; i += u {
		known = known || linearCell(s, lo+i, u) != nil
	}
	if !known {
		return
	}
	// The finest cells below the bytes say how fine c must be.
	for i := uintptr(0); i < es; i++ {
		u = gcd(u, linearGrain(s, lo+i))
	}
	if u == es {
		copyCell(s, c, linearCell(s, lo, u))
		return
	}
	x := newSplit(s, u, es/u)
	for i := uintptr(0); i < x.n; i++ {
		if from := linearCell(s, lo+i*u, u); from != nil {
			copyCell(s, x.cell(i), from)
		}
	}
	c.w = uint64(uintptr(unsafe.Pointer(x))) | special
}

// linearCell returns the cell of memory outside arrays that stands for the byte at
// lo, or nil if nothing is known about any of the u bytes there.
func linearCell(s *State, lo, u uintptr) *cell {
	p := pageOf(s, lo, false)
	if p == nil {
		return nil
	}
	c, g, off := wordCell(s, p, lo)
	if c == nil || c.w|c.r == 0 {
		return nil
	}
	return descend(c, g, off).c
}

// wordCell returns the cell, before splits, that stands for the byte at lo of p, how
// many bytes it stands for and which of them lo is.
func wordCell(s *State, p *page, lo uintptr) (c *cell, g, off uintptr) {
	cells, g, off := p.cells, uintptr(8), lo&7
	if s.firsts {
		g = 1
		if off != 0 {
			cells, g, off = p.rest, 7, off-1
		}
	}
	if cells == nil {
		return nil, g, off
	}
	return cellAt(cells, lo>>3&(words-1)), g, off
}

// linearGrain returns how many bytes the cell that stands for the byte at lo has.
func linearGrain(s *State, lo uintptr) uintptr {
	p := pageOf(s, lo, false)
	if p == nil {
		return 8
	}
	c, g, off := wordCell(s, p, lo)
	if c == nil {
		return g
	}
	return descend(c, g, off).g
}
