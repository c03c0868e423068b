package pta

import (
	"math/bits"
	"slices"
	"sort"
)

// smallMax is the size up to which a Set is a sorted array of elements.
const smallMax = 16

// chunkWords is the size of a chunk: 512 elements.
const (
	chunkWords = 8
	chunkShift = 9
	chunkMask  = 1<<chunkShift - 1
)

// chunk holds the elements with one value of id >> chunkShift. A chunk that
// more than one Set refers to is shared and never changes again: who wants to
// add to it copies it first. Sets that grow towards the same contents end up
// with the same chunks, so that many equal large sets cost a pointer a chunk
// each, and their union a comparison of pointers.
type chunk struct {
	w      [chunkWords]uint64
	shared bool
}

// Set is a set of node ids. Up to smallMax elements stand in a sorted array;
// larger sets are sorted chunks. The zero Set is empty. Iteration is in
// ascending order, so that everything computed from sets is deterministic.
// A Set must not be copied.
type Set struct {
	small  []uint32
	keys   []uint32 // id >> chunkShift, ascending
	chunks []*chunk
	n      int32
	hint   int32 // index of the chunk last added to
}

// Len returns the number of elements.
func (s *Set) Len() int { return int(s.n) }

// Empty reports whether the set has no elements.
func (s *Set) Empty() bool { return s.n == 0 }

// Has reports whether x is an element. Cost: logarithmic in the chunks.
func (s *Set) Has(x uint32) bool {
	if s.keys == nil {
		for _, e := range s.small {
			if e >= x {
				return e == x
			}
		}
		return false
	}
	i, ok := s.find(x >> chunkShift)
	return ok && s.chunks[i].w[x&chunkMask>>6]&(1<<(x&63)) != 0
}

func (s *Set) find(key uint32) (int, bool) {
	lo, hi := 0, len(s.keys)
	if hi > 0 && s.keys[hi-1] < key {
		return hi, false
	}
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if s.keys[m] < key {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, lo < len(s.keys) && s.keys[lo] == key
}

// Add inserts x and reports whether it was new.
func (s *Set) Add(x uint32) bool {
	if s.keys == nil {
		i := len(s.small)
		for i > 0 && s.small[i-1] >= x {
			i--
		}
		if i < len(s.small) && s.small[i] == x {
			return false
		}
		if len(s.small) < smallMax {
			s.small = append(s.small, 0)
			copy(s.small[i+1:], s.small[i:])
			s.small[i] = x
			s.n++
			return true
		}
		s.grow()
	}
	i := s.slot(x >> chunkShift)
	c := s.chunks[i]
	word, bit := x&chunkMask>>6, uint64(1)<<(x&63)
	if c.w[word]&bit != 0 {
		return false
	}
	s.own(i).w[word] |= bit
	s.n++
	return true
}

// slot returns the index of the chunk with the given key, adding an empty one.
func (s *Set) slot(key uint32) int {
	if h := int(s.hint); h < len(s.keys) && s.keys[h] == key {
		return h
	}
	i, ok := s.find(key)
	if !ok {
		s.keys = append(s.keys, 0)
		s.chunks = append(s.chunks, nil)
		copy(s.keys[i+1:], s.keys[i:])
		copy(s.chunks[i+1:], s.chunks[i:])
		s.keys[i], s.chunks[i] = key, new(chunk)
	}
	s.hint = int32(i)
	return i
}

// own makes chunk i private to s.
func (s *Set) own(i int) *chunk {
	c := s.chunks[i]
	if c.shared {
		c = &chunk{w: c.w}
		s.chunks[i] = c
	}
	return c
}

// grow turns the array into chunks.
func (s *Set) grow() {
	s.keys = make([]uint32, 0, 4)
	s.chunks = make([]*chunk, 0, 4)
	for _, e := range s.small {
		k := len(s.keys)
		if k == 0 || s.keys[k-1] != e>>chunkShift {
			s.keys = append(s.keys, e>>chunkShift)
			s.chunks = append(s.chunks, new(chunk))
			k++
		}
		s.chunks[k-1].w[e&chunkMask>>6] |= 1 << (e & 63)
	}
	s.small = nil
}

// Each calls f with every element in ascending order.
func (s *Set) Each(f func(uint32)) {
	if s.keys == nil {
		for _, e := range s.small {
			f(e)
		}
		return
	}
	for i, k := range s.keys {
		c := s.chunks[i]
		for j := range c.w {
			for w := c.w[j]; w != 0; w &= w - 1 {
				f(k<<chunkShift | uint32(j)<<6 | uint32(bits.TrailingZeros64(w)))
			}
		}
	}
}

// Elems appends the elements to buf in ascending order.
func (s *Set) Elems(buf []uint32) []uint32 {
	buf = slices.Grow(buf, int(s.n))
	s.Each(func(x uint32) { buf = append(buf, x) })
	return buf
}

// One returns the only element of a set of one.
func (s *Set) One() (uint32, bool) {
	if s.n != 1 {
		return 0, false
	}
	var r uint32
	s.Each(func(x uint32) { r = x })
	return r, true
}

// UnionDiff adds the elements of t to s, and those that were new to diff, and
// reports whether there were any. Cost: linear in the chunks of s and t.
func (s *Set) UnionDiff(t, diff *Set) bool {
	if t.n == 0 {
		return false
	}
	if t.keys == nil {
		any := false
		for _, e := range t.small {
			if s.Add(e) {
				diff.Add(e)
				any = true
			}
		}
		return any
	}
	if s.keys == nil {
		s.grow()
	}
	missing := 0
	i := 0
	for _, k := range t.keys {
		for i < len(s.keys) && s.keys[i] < k {
			i++
		}
		if i == len(s.keys) || s.keys[i] != k {
			missing++
		}
	}
	any := false
	if missing == 0 {
		i = 0
		for j, k := range t.keys {
			for s.keys[i] < k {
				i++
			}
			any = s.meld(i, k, t.chunks[j], diff) || any
		}
		return any
	}
	// Merge from the back, in place where there is room.
	n, m := len(s.keys), len(s.keys)+missing
	if cap(s.keys) < m || cap(s.chunks) < m {
		s.keys = append(make([]uint32, 0, m+m/8), s.keys...)
		s.chunks = append(make([]*chunk, 0, m+m/8), s.chunks...)
	}
	s.keys, s.chunks = s.keys[:m], s.chunks[:m]
	i, j := n-1, len(t.keys)-1
	for o := m - 1; o > i; o-- {
		if i >= 0 && (j < 0 || s.keys[i] >= t.keys[j]) {
			if j >= 0 && s.keys[i] == t.keys[j] {
				j--
			}
			s.keys[o], s.chunks[o] = s.keys[i], s.chunks[i]
			i--
			continue
		}
		s.keys[o], s.chunks[o] = t.keys[j], nil
		j--
	}
	i = 0
	for j, k := range t.keys {
		for s.keys[i] < k {
			i++
		}
		if s.chunks[i] == nil {
			c := t.chunks[j]
			c.shared = true
			s.chunks[i] = c
			cnt := c.count()
			s.n += int32(cnt)
			if cnt > 0 {
				diff.addChunk(k, c)
				any = true
			}
			continue
		}
		any = s.meld(i, k, t.chunks[j], diff) || any
	}
	return any
}

func (c *chunk) count() int {
	n := 0
	for _, w := range c.w {
		n += bits.OnesCount64(w)
	}
	return n
}

// meld adds the elements of chunk c to the chunk at index i, and the new ones
// to diff.
func (s *Set) meld(i int, key uint32, c *chunk, diff *Set) bool {
	have := s.chunks[i]
	if have == c {
		return false
	}
	var fresh chunk
	n := 0
	subset := true
	for j, w := range c.w {
		f := w &^ have.w[j]
		fresh.w[j] = f
		n += bits.OnesCount64(f)
		if have.w[j]&^w != 0 {
			subset = false
		}
	}
	if subset && n > 0 || subset && !have.shared {
		c.shared = true
		s.chunks[i] = c
	} else if n > 0 {
		have = s.own(i)
		for j := range fresh.w {
			have.w[j] |= fresh.w[j]
		}
	}
	if n == 0 {
		return false
	}
	s.n += int32(n)
	diff.addWords(key, &fresh.w)
	return true
}

// addChunk adds a chunk, sharing it if nothing is there.
func (s *Set) addChunk(key uint32, c *chunk) {
	if s.keys == nil {
		n := c.count()
		if len(s.small)+n <= smallMax {
			s.addWords(key, &c.w)
			return
		}
		s.grow()
	}
	i, ok := s.find(key)
	if ok {
		s.addWords(key, &c.w)
		return
	}
	s.keys = append(s.keys, 0)
	s.chunks = append(s.chunks, nil)
	copy(s.keys[i+1:], s.keys[i:])
	copy(s.chunks[i+1:], s.chunks[i:])
	c.shared = true
	s.keys[i], s.chunks[i] = key, c
	s.n += int32(c.count())
}

// addWords adds the elements of one chunk.
func (s *Set) addWords(key uint32, ws *[chunkWords]uint64) {
	if s.keys == nil {
		n := 0
		for _, w := range ws {
			n += bits.OnesCount64(w)
		}
		if n == 0 {
			return
		}
		if len(s.small)+n <= smallMax {
			for j, w := range ws {
				for ; w != 0; w &= w - 1 {
					s.Add(key<<chunkShift | uint32(j)<<6 | uint32(bits.TrailingZeros64(w)))
				}
			}
			return
		}
		s.grow()
	}
	i := s.slot(key)
	have := s.chunks[i]
	n := 0
	for j, w := range ws {
		n += bits.OnesCount64(w &^ have.w[j])
	}
	if n > 0 {
		have = s.own(i)
		for j, w := range ws {
			have.w[j] |= w
		}
		s.n += int32(n)
	}
}

// addMeet adds the common elements of a and b to s.
func (s *Set) addMeet(a, b *Set) {
	if a.n == 0 || b.n == 0 {
		return
	}
	if a.keys == nil || b.keys == nil {
		if a.keys != nil {
			a, b = b, a
		}
		for _, e := range a.small {
			if b.Has(e) {
				s.Add(e)
			}
		}
		return
	}
	i, j := 0, 0
	for i < len(a.keys) && j < len(b.keys) {
		switch {
		case a.keys[i] < b.keys[j]:
			i++
		case a.keys[i] > b.keys[j]:
			j++
		default:
			x, y := a.chunks[i], b.chunks[j]
			if x == y {
				s.addChunk(a.keys[i], x)
			} else {
				var m [chunkWords]uint64
				same, any := true, uint64(0)
				for k := range m {
					m[k] = x.w[k] & y.w[k]
					same = same && m[k] == x.w[k]
					any |= m[k]
				}
				if same {
					s.addChunk(a.keys[i], x)
				} else if any != 0 {
					s.addWords(a.keys[i], &m)
				}
			}
			i++
			j++
		}
	}
}

// addMinus adds the elements of a that are not in b to s.
func (s *Set) addMinus(a, b *Set) {
	switch {
	case a.keys == nil:
		for _, x := range a.small {
			if !b.Has(x) {
				s.Add(x)
			}
		}
		return
	case b.keys == nil:
		rest := b.small
		for i, k := range a.keys {
			for len(rest) > 0 && rest[0]>>chunkShift < k {
				rest = rest[1:]
			}
			if len(rest) == 0 || rest[0]>>chunkShift > k {
				s.addChunk(k, a.chunks[i])
				continue
			}
			m := a.chunks[i].w
			for len(rest) > 0 && rest[0]>>chunkShift == k {
				m[rest[0]&chunkMask>>6] &^= 1 << (rest[0] & 63)
				rest = rest[1:]
			}
			s.addWords(k, &m)
		}
		return
	}
	j := 0
	for i, k := range a.keys {
		for j < len(b.keys) && b.keys[j] < k {
			j++
		}
		x := a.chunks[i]
		if j == len(b.keys) || b.keys[j] != k {
			s.addChunk(k, x)
			continue
		}
		y := b.chunks[j]
		if x == y {
			continue
		}
		var m [chunkWords]uint64
		any := uint64(0)
		for w := range m {
			m[w] = x.w[w] &^ y.w[w]
			any |= m[w]
		}
		if any != 0 {
			s.addWords(k, &m)
		}
	}
}

// addAll adds the elements of t to s.
func (s *Set) addAll(t *Set) {
	if t.keys == nil {
		for _, e := range t.small {
			s.Add(e)
		}
		return
	}
	for i, k := range t.keys {
		s.addChunk(k, t.chunks[i])
	}
}

// Meets reports whether s and t have an element in common.
func (s *Set) Meets(t *Set) bool {
	if s.n == 0 || t.n == 0 {
		return false
	}
	if s.keys == nil {
		for _, e := range s.small {
			if t.Has(e) {
				return true
			}
		}
		return false
	}
	if t.keys == nil {
		return t.Meets(s)
	}
	i, j := 0, 0
	for i < len(s.keys) && j < len(t.keys) {
		switch {
		case s.keys[i] < t.keys[j]:
			i++
		case s.keys[i] > t.keys[j]:
			j++
		default:
			x, y := s.chunks[i], t.chunks[j]
			for k := range x.w {
				if x.w[k]&y.w[k] != 0 {
					return true
				}
			}
			i++
			j++
		}
	}
	return false
}

// Equal reports whether the sets have the same elements.
func (s *Set) Equal(t *Set) bool {
	if s.n != t.n {
		return false
	}
	if s.keys == nil || t.keys == nil {
		same := true
		s.Each(func(x uint32) { same = same && t.Has(x) })
		return same
	}
	if len(s.keys) != len(t.keys) {
		return false // no chunk is empty
	}
	for i, k := range s.keys {
		if k != t.keys[i] || s.chunks[i] != t.chunks[i] && s.chunks[i].w != t.chunks[i].w {
			return false
		}
	}
	return true
}

// Clear empties the set and lets go of its memory.
func (s *Set) Clear() { *s = Set{} }

// setOf returns the set of the given elements.
func setOf(xs ...uint32) Set {
	sort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] })
	var s Set
	for _, x := range xs {
		s.Add(x)
	}
	return s
}
