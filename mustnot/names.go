package mustnot

import (
	"encoding/binary"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Name is one name of a held lock.
type Name struct {
	Object bool
	Cell   uint32    // Object: the cell, one variable
	Reg    facts.Reg // else: a register of the instance's function,
	Off    int64     // and the bytes from where it points to the lock
	Write  bool
	Once   bool // a sync.Once, see onces.go
}

func (a Name) less(b Name) int {
	switch {
	case a.Object != b.Object:
		if a.Object {
			return -1
		}
		return 1
	case a.Cell != b.Cell:
		return cmp(a.Cell, b.Cell)
	case a.Reg != b.Reg:
		return cmp(a.Reg, b.Reg)
	case a.Off != b.Off:
		return cmp(a.Off, b.Off)
	case a.Write != b.Write:
		if a.Write {
			return -1
		}
		return 1
	case a.Once != b.Once:
		if a.Once {
			return -1
		}
		return 1
	}
	return 0
}

func cmp[T ~uint32 | ~int64](a, b T) int {
	if a < b {
		return -1
	}
	return 1
}

// Set is a sorted set of names.
type Set []Name

func (s Set) has(n Name) bool {
	_, ok := slices.BinarySearchFunc(s, n, Name.less)
	return ok
}

// meet returns the names in both sets, and those for reading of locks that one set has
// for writing, the other for reading only. (L6)
func (s Set) meet(t Set) Set {
	var out Set
	for _, n := range s {
		other := n
		other.Write = !n.Write
		switch {
		case t.has(n):
			out = append(out, n)
		case t.has(other) && !s.has(other):
			n.Write = false
			out = append(out, n)
		}
	}
	return out
}

// held is a Set in a table. Equal sets of one table are equal numbers.
type held uint32

// nothing is the empty set of every table, unreached the state of a block that
// nothing leads to.
const (
	nothing   held = 0
	unreached held = ^held(0)
)

// table keeps sets of names, each once: the states of most points are a few.
type table struct {
	sets []Set
	ids  map[string]held
	memo map[[2]held]held // intersections
	buf  []byte
	tmp  Set
}

func newTable() *table {
	return &table{sets: []Set{nil}, ids: map[string]held{"": nothing}, memo: map[[2]held]held{}}
}

// of returns the set with the names of s, ascending, which it copies.
func (t *table) of(s Set) held {
	b := t.buf[:0]
	for _, n := range s {
		kind := byte(0)
		if n.Object {
			kind |= 1
		}
		if n.Write {
			kind |= 2
		}
		if n.Once {
			kind |= 4
		}
		b = append(b, kind)
		b = binary.LittleEndian.AppendUint32(b, n.Cell)
		b = binary.LittleEndian.AppendUint32(b, uint32(n.Reg))
		b = binary.LittleEndian.AppendUint64(b, uint64(n.Off))
	}
	t.buf = b
	h, ok := t.ids[string(b)]
	if !ok {
		h = held(len(t.sets))
		t.sets = append(t.sets, slices.Clone(s))
		t.ids[string(b)] = h
	}
	return h
}

// with adds a name.
func (t *table) with(h held, n Name) held {
	s := t.sets[h]
	i, ok := slices.BinarySearchFunc(s, n, Name.less)
	if ok {
		return h
	}
	t.tmp = append(append(append(t.tmp[:0], s[:i]...), n), s[i:]...)
	return t.of(t.tmp)
}

// union returns the names in g or h.
func (t *table) union(g, h held) held {
	if g == nothing {
		return h
	}
	for _, n := range t.sets[h] {
		g = t.with(g, n)
	}
	return g
}

// meet returns the names in both; what is held for writing in one and for reading in
// the other is held for reading. (L6)
func (t *table) meet(g, h held) held {
	switch {
	case g == h:
		return g
	case g == nothing || h == nothing:
		return nothing
	case g > h:
		g, h = h, g
	}
	k := [2]held{g, h}
	m, ok := t.memo[k]
	if !ok {
		m = t.of(t.sets[g].meet(t.sets[h]))
		t.memo[k] = m
	}
	return m
}

// drop removes the names that gone tells.
func (t *table) drop(h held, gone func(Name) bool) held {
	s := t.sets[h]
	i := slices.IndexFunc(s, gone)
	if i < 0 {
		return h
	}
	out := append(make(Set, 0, 8), s[:i]...)
	for _, n := range s[i+1:] {
		if !gone(n) {
			out = append(out, n)
		}
	}
	return t.of(out)
}
