package shadow

import (
	"math/rand/v2"
	"testing"
)

// TestClock compares clocks, which share their blocks, with vectors, which share
// nothing.
func TestClock(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := New(Options{}, nil)
		slots := []uint32{1, 16, 17, 300, 5000, MaxSlots}[r.IntN(6)]
		const n = 6
		var clocks [n]clock
		var plain [n]map[uint32]uint64
		for i := range plain {
			plain[i] = map[uint32]uint64{}
		}
		top := uint64(50)
		merge := func(a, b map[uint32]uint64) {
			for k, v := range b {
				a[k] = max(a[k], v)
			}
		}
		for step := range 300 {
			i, j := r.IntN(n), r.IntN(n)
			c, o := &clocks[i], &clocks[j]
			switch r.IntN(7) {
			case 0, 1:
				k, v := r.Uint32N(slots), r.Uint64N(50)
				c.advance(s, k, v)
				plain[i][k] = max(plain[i][k], v)
			case 2:
				if i != j && (c.own == 0 || plain[j][c.own-1] <= c.v) {
					c.join(s, o)
					merge(plain[i], plain[j])
				}
			case 3:
				if i != j {
					c.copyFrom(s, o)
					plain[i] = map[uint32]uint64{}
					merge(plain[i], plain[j])
				}
			case 4:
				c.fold(s)
			case 5: // another owner
				c.fold(s)
				k := r.Uint32N(slots)
				top++
				c.own, c.v = k+1, top
				plain[i][k] = top
			case 6:
				if r.IntN(5) == 0 {
					c.release(s)
					plain[i] = map[uint32]uint64{}
				}
			}
			for i := range clocks {
				for range 20 {
					k := r.Uint32N(slots)
					if got := clocks[i].get(k); got != plain[i][k] {
						t.Fatalf("seed %d, step %d: clock %d has %d for slot %d, not %d", seed, step, i, got, k, plain[i][k])
					}
				}
				for k, v := range plain[i] {
					if got := clocks[i].get(k); got != v {
						t.Fatalf("seed %d, step %d: clock %d has %d for slot %d, not %d", seed, step, i, got, k, v)
					}
				}
			}
		}
		// All blocks come back.
		for i := range clocks {
			clocks[i].release(s)
		}
		before := s.Bytes()
		for range 1000 {
			clocks[0].put(s, slots-1, 1)
			clocks[1].join(s, &clocks[0])
			clocks[1].put(s, 0, 1)
			clocks[0].copyFrom(s, &clocks[1])
			clocks[0].release(s)
			clocks[1].release(s)
		}
		if s.Bytes() > before+64<<10 {
			t.Fatalf("seed %d: %d bytes before, %d after", seed, before, s.Bytes())
		}
		s.Close()
	}
}

// TestJoinShares joins clocks of which one has all of the other, or of which each has some
// entry more in one place: what is the same in the rest becomes one.
func TestJoinShares(t *testing.T) {
	s := New(Options{}, nil)
	defer s.Close()
	const n = 5000
	fill := func(less ...uint32) *clock {
		c := new(clock)
		for i := range uint32(n) {
			c.put(s, i, 10)
		}
		for _, i := range less {
			blockOf(blockOf(blockOf(blockOf(c.root).w[i>>12]).w[i>>8%16]).w[i>>4%16]).w[i%16] = 9
		}
		return c
	}
	a, b := fill(1, 700, 4999), fill()
	other := new(clock)
	other.copyFrom(s, b)
	b.join(s, a)
	if b.root != other.root {
		t.Error("a clock with more has changed")
	}
	a.join(s, b)
	if a.root != b.root {
		t.Error("a clock with less is not shared")
	}
	a, b = fill(1), fill(4500)
	a.join(s, b)
	leaf := func(c *clock, i uint32) uint64 {
		return blockOf(blockOf(blockOf(c.root).w[i>>12]).w[i>>8%16]).w[i>>4%16]
	}
	for i := uint32(0); i < n; i++ {
		if a.get(i) != 10 {
			t.Fatalf("entry %d is %d", i, a.get(i))
		}
	}
	if leaf(a, 1) != leaf(b, 1) {
		t.Error("a leaf with less is not shared")
	}
	if leaf(a, 4500) == leaf(b, 4500) {
		t.Error("a leaf with more is taken from the other")
	}
	other.copyFrom(s, a)
	a.join(s, b)
	if a.root != other.root {
		t.Error("a clock that was joined before has changed")
	}
}
