package stage

import "slices"

func sortCells(xs []uint32) { slices.Sort(xs) }

func dedup(xs []uint32) []uint32 { return slices.Compact(xs) }

// Bits is a set of small integers.
type Bits []uint64

// NewBits returns an empty set with room for n elements.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports membership.
func (b Bits) Has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// Add inserts i and reports whether it was new.
func (b Bits) Add(i int) bool {
	m := uint64(1) << (i % 64)
	if b[i/64]&m != 0 {
		return false
	}
	b[i/64] |= m
	return true
}

// Remove deletes i.
func (b Bits) Remove(i int) { b[i/64] &^= 1 << (i % 64) }

// Or adds the elements of c and reports whether any was new.
func (b Bits) Or(c Bits) bool {
	any := false
	for i, w := range c {
		if w&^b[i] != 0 {
			b[i] |= w
			any = true
		}
	}
	return any
}

// Meets reports whether b and c have an element in common.
func (b Bits) Meets(c Bits) bool {
	for i := range b {
		if b[i]&c[i] != 0 {
			return true
		}
	}
	return false
}

// Clone returns a copy.
func (b Bits) Clone() Bits { return append(Bits(nil), b...) }

// Empty reports whether there are no elements.
func (b Bits) Empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}
