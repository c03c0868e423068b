package shadow

import "unsafe"

type word struct {
	_ notInHeap
	v uint64
}

// clock is a vector of clocks by slot; entries from n on are 0. It grows to the
// highest slot that was ever put in, so its size follows the number of goroutines
// that lived at once, not MaxSlots.
type clock struct {
	p      *word
	n, cap uint32
}

func (c *clock) at(i uint32) *word {
	return (*word)(unsafe.Add(unsafe.Pointer(c.p), uintptr(i)*8))
}

func (c *clock) get(i uint32) uint64 {
	if i >= c.n {
		return 0
	}
	return c.at(i).v
}

// need makes entries up to n exist.
func (c *clock) need(s *State, n uint32) {
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
func (c *clock) release(s *State) {
	if c.cap != 0 {
		free(s, poolClocks, unsafe.Pointer(c.p), uintptr(c.cap)*8)
	}
	c.p, c.cap = nil, 0
}

// join makes c the least upper bound of c and o.
func (c *clock) join(s *State, o *clock) {
	c.need(s, o.n)
	for i := uint32(0); i < o.n; i++ {
		if v := o.at(i).v; v > c.at(i).v {
			c.at(i).v = v
		}
	}
}

// copyFrom makes c equal to o.
func (c *clock) copyFrom(s *State, o *clock) {
	c.need(s, o.n)
	for i := uint32(0); i < o.n; i++ {
		c.at(i).v = o.at(i).v
	}
	c.n = o.n
}
