//go:build bfobserve

package bfobserve

import (
	"sync"
	"sync/atomic"
)

// An interval is the memory of one tracked object. An address in it counts
// modulo unit, the size of an element, if that is not 0.
type interval struct {
	lo, hi, unit uintptr
	site         uint32
}

// Memory is cut into pages; each knows the intervals that meet it, in order.
// Readers take no lock.
const (
	pageBits = 13
	lowBits  = 18
	highBits = 48 - pageBits - lowBits
)

type page = atomic.Pointer[[]interval]

var (
	pages   [1 << highBits]atomic.Pointer[[1 << lowBits]page]
	writing sync.Mutex
	overlap atomic.Uint64 // objects that were found where another one is: none, or facts are wrong
)

func find(a uintptr) *interval {
	n := a >> pageBits
	if n>>lowBits >= 1<<highBits {
		return nil
	}
	t := pages[n>>lowBits].Load()
	if t == nil {
		return nil
	}
	p := t[n&(1<<lowBits-1)].Load()
	if p == nil {
		return nil
	}
	ivs := *p
	lo, hi := 0, len(ivs)
	for lo < hi {
		if m := (lo + hi) / 2; ivs[m].hi <= a {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(ivs) && ivs[lo].lo <= a {
		return &ivs[lo]
	}
	return nil
}

func insert(iv interval) {
	writing.Lock()
	defer writing.Unlock()
	for n := iv.lo >> pageBits; n <= (iv.hi-1)>>pageBits; n++ {
		t := pages[n>>lowBits].Load()
		if t == nil {
			t = new([1 << lowBits]page)
			pages[n>>lowBits].Store(t)
		}
		p := &t[n&(1<<lowBits-1)]
		var old []interval
		if q := p.Load(); q != nil {
			old = *q
		}
		i := len(old)
		for i > 0 && old[i-1].lo >= iv.lo {
			i--
		}
		if i < len(old) && old[i] == iv {
			continue // a variable that two goroutines met at once
		}
		if i > 0 && old[i-1].hi > iv.lo || i < len(old) && old[i].lo < iv.hi {
			overlap.Add(1)
			continue
		}
		ivs := make([]interval, 0, len(old)+1)
		ivs = append(append(append(ivs, old[:i]...), iv), old[i:]...)
		p.Store(&ivs)
	}
}
