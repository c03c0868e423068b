package shadow

import "unsafe"

type word struct {
	_ notInHeap
	v uint64
}

// list is a vector of numbers that grows; entries from n on are 0.
type list struct {
	p      *word
	n, cap uint32
}

func (c *list) at(i uint32) *word {
	return (*word)(unsafe.Add(unsafe.Pointer(c.p), uintptr(i)*8))
}

// need makes entries up to n exist.
func (c *list) need(s *State, n uint32) {
	if n > c.cap {
		size := c.cap
		if size == 0 {
			size = 8
		}
		for size < n {
			size *= 2
		}
		p := (*word)(alloc(s, poolClocks, uintptr(size)*8))
		for i := uint32(0); i < c.n; i++ {
			(*word)(unsafe.Add(unsafe.Pointer(p), uintptr(i)*8)).v = c.at(i).v
		}
		c.release(s)
		c.p, c.cap = p, size
	}
	for ; c.n < n; c.n++ {
		c.at(c.n).v = 0
	}
}

// release frees the memory of c. n is kept.
func (c *list) release(s *State) {
	if c.cap != 0 {
		free(s, poolClocks, unsafe.Pointer(c.p), uintptr(c.cap)*8)
	}
	c.p, c.cap = nil, 0
}
