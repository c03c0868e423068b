package pta

import (
	"math/bits"
	"sort"
)

// smallMax is the size up to which a Set is a sorted array of elements.
const smallMax = 16

// Set is a set of node ids. Up to smallMax elements stand in a sorted array;
// larger sets are sorted blocks of 64. The zero Set is empty. Iteration is in
// ascending order, so that everything computed from sets is deterministic.
type Set struct {
	small []uint32
	keys  []uint32 // id / 64, ascending
	words []uint64
	n     int32
}

// Len returns the number of elements.
func (s *Set) Len() int { return int(s.n) }

// Empty reports whether the set has no elements.
func (s *Set) Empty() bool { return s.n == 0 }

// Has reports whether x is an element. Cost: logarithmic in the blocks.
func (s *Set) Has(x uint32) bool {
	if s.keys == nil {
		for _, e := range s.small {
			if e >= x {
				return e == x
			}
		}
		return false
	}
	i, ok := s.find(x >> 6)
	return ok && s.words[i]&(1<<(x&63)) != 0
}

func (s *Set) find(key uint32) (int, bool) {
	lo, hi := 0, len(s.keys)
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
	i, ok := s.find(x >> 6)
	if !ok {
		s.keys = append(s.keys, 0)
		s.words = append(s.words, 0)
		copy(s.keys[i+1:], s.keys[i:])
		copy(s.words[i+1:], s.words[i:])
		s.keys[i], s.words[i] = x>>6, 0
	}
	bit := uint64(1) << (x & 63)
	if s.words[i]&bit != 0 {
		return false
	}
	s.words[i] |= bit
	s.n++
	return true
}

// grow turns the array into blocks.
func (s *Set) grow() {
	s.keys = make([]uint32, 0, len(s.small))
	s.words = make([]uint64, 0, len(s.small))
	for _, e := range s.small {
		if k := len(s.keys); k > 0 && s.keys[k-1] == e>>6 {
			s.words[k-1] |= 1 << (e & 63)
		} else {
			s.keys = append(s.keys, e>>6)
			s.words = append(s.words, 1<<(e&63))
		}
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
		for w := s.words[i]; w != 0; w &= w - 1 {
			f(k<<6 | uint32(bits.TrailingZeros64(w)))
		}
	}
}

// Elems appends the elements to buf in ascending order.
func (s *Set) Elems(buf []uint32) []uint32 {
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

// UnionDiff adds the elements of t to s, and those that were new to diff.
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
	// Count the blocks that are missing, then merge from the back.
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
			if fresh := t.words[j] &^ s.words[i]; fresh != 0 {
				s.words[i] |= fresh
				s.n += int32(bits.OnesCount64(fresh))
				diff.addBlock(k, fresh)
				any = true
			}
		}
		return any
	}
	keys := make([]uint32, 0, len(s.keys)+missing)
	words := make([]uint64, 0, len(s.keys)+missing)
	i = 0
	for j, k := range t.keys {
		for i < len(s.keys) && s.keys[i] < k {
			keys, words = append(keys, s.keys[i]), append(words, s.words[i])
			i++
		}
		var have uint64
		if i < len(s.keys) && s.keys[i] == k {
			have = s.words[i]
			i++
		}
		if fresh := t.words[j] &^ have; fresh != 0 {
			s.n += int32(bits.OnesCount64(fresh))
			diff.addBlock(k, fresh)
			any = true
			have |= fresh
		}
		keys, words = append(keys, k), append(words, have)
	}
	keys, words = append(keys, s.keys[i:]...), append(words, s.words[i:]...)
	s.keys, s.words = keys, words
	return any
}

// addBlock adds the elements of one block.
func (s *Set) addBlock(key uint32, word uint64) {
	if s.keys == nil {
		if len(s.small)+bits.OnesCount64(word) <= smallMax {
			for w := word; w != 0; w &= w - 1 {
				s.Add(key<<6 | uint32(bits.TrailingZeros64(w)))
			}
			return
		}
		s.grow()
	}
	i, ok := s.find(key)
	if !ok {
		s.keys = append(s.keys, 0)
		s.words = append(s.words, 0)
		copy(s.keys[i+1:], s.keys[i:])
		copy(s.words[i+1:], s.words[i:])
		s.keys[i], s.words[i] = key, 0
	}
	s.n += int32(bits.OnesCount64(word &^ s.words[i]))
	s.words[i] |= word
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
	j := 0
	for i, k := range a.keys {
		for j < len(b.keys) && b.keys[j] < k {
			j++
		}
		if j == len(b.keys) {
			return
		}
		if b.keys[j] == k {
			if w := a.words[i] & b.words[j]; w != 0 {
				s.addBlock(k, w)
			}
		}
	}
}

// addMinus adds the elements of a that are not in b to s.
func (s *Set) addMinus(a, b *Set) {
	if a.keys == nil || b.keys == nil {
		a.Each(func(x uint32) {
			if !b.Has(x) {
				s.Add(x)
			}
		})
		return
	}
	j := 0
	for i, k := range a.keys {
		for j < len(b.keys) && b.keys[j] < k {
			j++
		}
		w := a.words[i]
		if j < len(b.keys) && b.keys[j] == k {
			w &^= b.words[j]
		}
		if w != 0 {
			s.addBlock(k, w)
		}
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
		case s.words[i]&t.words[j] != 0:
			return true
		default:
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
	same := true
	s.Each(func(x uint32) { same = same && t.Has(x) })
	return same
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
