package stage

import "encoding/binary"

// Set is a set in a Pool. Equal sets of one pool are equal numbers; None is the
// empty set.
type Set uint32

// None is the empty set of every pool.
const None Set = 0

// Pool keeps sets of small integers, each once, and remembers what union,
// difference and intersection gave: analyses whose states are the same at most
// points pay for the few that differ.
type Pool struct {
	n    int
	sets []Bits
	ids  map[string]Set
	memo map[poolOp]Set
	buf  []byte
	tmp  Bits
}

type poolOp struct {
	op   byte
	a, b Set
}

// NewPool returns a pool of sets of integers below n.
func NewPool(n int) *Pool {
	p := &Pool{n: n, ids: map[string]Set{}, memo: map[poolOp]Set{}, tmp: NewBits(n)}
	p.Of(p.tmp)
	return p
}

// Len returns the number of sets in the pool; they are 0 to Len()-1.
func (p *Pool) Len() int { return len(p.sets) }

// Bits returns the elements of s. The caller must not change them.
func (p *Pool) Bits(s Set) Bits { return p.sets[s] }

// Has reports whether i is in s.
func (p *Pool) Has(s Set, i int) bool { return p.sets[s].Has(i) }

// Of returns the set with the elements of b, which it copies.
func (p *Pool) Of(b Bits) Set {
	p.buf = p.buf[:0]
	for _, w := range b {
		p.buf = binary.LittleEndian.AppendUint64(p.buf, w)
	}
	if s, ok := p.ids[string(p.buf)]; ok {
		return s
	}
	s := Set(len(p.sets))
	p.sets = append(p.sets, b.Clone())
	p.ids[string(p.buf)] = s
	return s
}

// One returns the set of i alone.
func (p *Pool) One(i int) Set {
	clear(p.tmp)
	p.tmp.Add(i)
	return p.Of(p.tmp)
}

// Or returns the union.
func (p *Pool) Or(a, b Set) Set {
	switch {
	case a == b || b == None:
		return a
	case a == None:
		return b
	case a > b:
		a, b = b, a
	}
	return p.op('|', a, b, func(x, y uint64) uint64 { return x | y })
}

// AndNot returns the elements of a that are not in b.
func (p *Pool) AndNot(a, b Set) Set {
	switch {
	case a == b || a == None:
		return None
	case b == None:
		return a
	}
	return p.op('-', a, b, func(x, y uint64) uint64 { return x &^ y })
}

// And returns the intersection.
func (p *Pool) And(a, b Set) Set {
	switch {
	case a == b:
		return a
	case a == None || b == None:
		return None
	case a > b:
		a, b = b, a
	}
	return p.op('&', a, b, func(x, y uint64) uint64 { return x & y })
}

func (p *Pool) op(name byte, a, b Set, f func(x, y uint64) uint64) Set {
	k := poolOp{name, a, b}
	if s, ok := p.memo[k]; ok {
		return s
	}
	x, y := p.sets[a], p.sets[b]
	for i := range x {
		p.tmp[i] = f(x[i], y[i])
	}
	s := p.Of(p.tmp)
	p.memo[k] = s
	return s
}
