package shadow

import "unsafe"

// Freed blocks go back to the pool that they came from and are handed out as the
// same type again. So a check that races with the end of its memory's life (which
// only a program that misuses package unsafe can make happen) may see an epoch
// that is wrong, but never follows a pointer to something else.
const (
	poolCells = iota // arrays of cells, with or without the head of a split
	poolVecs         // readers and their segments
	poolClocks
	poolMisc // never freed, or freed under one size: pages, arrays, threads
	nPools
)

// Blocks up to smallMax are rounded up to 16 bytes, larger ones to a power of
// two or three quarters of one: the cells of a page are 24 KB. There are few of the
// large ones, and the system backs only what is used.
const (
	smallMax = 512
	nSmall   = smallMax/16 + 1
	nClasses = nSmall + 2*48
)

type freeBlock struct {
	_    notInHeap
	next *freeBlock
}

// classOf returns the size class of n bytes and its size.
func classOf(n uintptr) (int, uintptr) {
	if n <= smallMax {
		n = (n + 15) &^ 15
		return int(n / 16), n
	}
	c, size := nSmall+1, uintptr(2*smallMax)
	for size < n {
		c += 2
		size *= 2
	}
	if n <= size/4*3 {
		return c - 1, size / 4 * 3
	}
	return c, size
}

// alloc returns n zeroed bytes, aligned to 16. All memory comes from here. It
// clears what it reuses; otherwise constant time.
func alloc(s *State, pool int, n uintptr) unsafe.Pointer {
	c, size := classOf(n)
	lock(&s.memLock)
	if b := s.pools[pool][c]; b != nil {
		s.pools[pool][c] = b.next
		unlock(&s.memLock)
		zero(unsafe.Pointer(b), n)
		return unsafe.Pointer(b)
	}
	var p unsafe.Pointer
	switch {
	case size > s.block/4:
		p = sysAlloc(s, size)
	case s.end-s.cur < size:
		p = sysAlloc(s, s.block)
		if p != nil {
			s.cur, s.end = uintptr(p)+size, uintptr(p)+s.block
			if s.block < 1<<20 {
				s.block *= 2
			}
		}
	default:
		p = pointer(s.cur)
		s.cur += size
	}
	unlock(&s.memLock)
	if p == nil {
		fatal("there is no memory left for shadow")
	}
	return p
}

// free gives back the n bytes at p that alloc returned.
func free(s *State, pool int, p unsafe.Pointer, n uintptr) {
	c, _ := classOf(n)
	lock(&s.memLock)
	b := (*freeBlock)(p)
	b.next = s.pools[pool][c]
	s.pools[pool][c] = b
	unlock(&s.memLock)
}

// pointer makes a pointer of an address that alloc returned, or of a word that
// holds one and the mark of special words.
//
//go:nosplit
func pointer(a uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), a) }
