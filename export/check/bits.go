package check

// Bits is a set of small numbers, with room for as many as NewBits was told.
type Bits []uint64

// NewBits returns the empty set with room for n numbers.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether i is in the set; what there is no room for is not.
func (b Bits) Has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// Add adds i and reports whether the set grew.
func (b Bits) Add(i int) bool {
	old := b[i>>6]
	b[i>>6] |= 1 << (i & 63)
	return b[i>>6] != old
}

// Or adds all of c and reports whether the set grew.
func (b Bits) Or(c Bits) bool {
	grew := false
	for i, w := range c {
		grew = grew || w&^b[i] != 0
		b[i] |= w
	}
	return grew
}

// Within reports whether all of b is in c.
func (b Bits) Within(c Bits) bool {
	for i, w := range b {
		if w&^c[i] != 0 {
			return false
		}
	}
	return true
}
