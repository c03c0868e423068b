package shadow

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// This file is what a copy of the package elsewhere replaces.

// notInHeap marks types whose values are never in the Go heap.
type notInHeap struct{}

func load64(p *uint64) uint64               { return atomic.LoadUint64(p) }
func store64(p *uint64, v uint64)           { atomic.StoreUint64(p, v) }
func cas64(p *uint64, old, new uint64) bool { return atomic.CompareAndSwapUint64(p, old, new) }
func load32(p *uint32) uint32               { return atomic.LoadUint32(p) }
func store32(p *uint32, v uint32)           { atomic.StoreUint32(p, v) }

// release32 is store32 for the end of a critical section: later loads may come before.
func release32(p *uint32, v uint32)         { atomic.StoreUint32(p, v) }
func cas32(p *uint32, old, new uint32) bool { return atomic.CompareAndSwapUint32(p, old, new) }
func swap32(p *uint32, v uint32) uint32     { return atomic.SwapUint32(p, v) }
func add32(p *uint32, d int32) uint32       { return atomic.AddUint32(p, uint32(d)) }
func loadp(p unsafe.Pointer) unsafe.Pointer { return atomic.LoadPointer((*unsafe.Pointer)(p)) }
func storep(p unsafe.Pointer, v unsafe.Pointer) {
	atomic.StorePointer((*unsafe.Pointer)(p), v)
}
func casp(p unsafe.Pointer, old, new unsafe.Pointer) bool {
	return atomic.CompareAndSwapPointer((*unsafe.Pointer)(p), old, new)
}

// pause waits a little; n counts the attempts so far.
func pause(n int) {
	if n > 16 {
		runtime.Gosched()
	}
}

// zero clears n bytes at p.
func zero(p unsafe.Pointer, n uintptr) { clear(unsafe.Slice((*byte)(p), n)) }

// Fatal is what the package panics with: it has no memory left, was given an address
// that is none, or contradicts itself.
type Fatal struct{ Why string }

func (f Fatal) Error() string { return f.Why }

// fatal stops the program.
//
//go:noinline
func fatal(why string) { panic(Fatal{why}) }

// sysReport hands a race to whoever made the State.
func sysReport(s *State, r *Race) { s.home.report(r) }

// sysAlloc returns n zeroed bytes that stay in place until the State is closed,
// or nil when there are none left.
func sysAlloc(s *State, n uintptr) unsafe.Pointer { return s.home.alloc(n) }

// home is the part of a State that lives in the Go heap.
type home struct {
	report func(*Race)
	left   uint64 // bytes that may still be taken
	blocks [][]byte
}

func (h *home) alloc(n uintptr) unsafe.Pointer {
	if uint64(n) > h.left {
		return nil
	}
	h.left -= uint64(n)
	b := mapBlock(n)
	if b == nil {
		return nil
	}
	h.blocks = append(h.blocks, b)
	return unsafe.Pointer(unsafe.SliceData(b))
}

// local is what the maker of a State keeps with each thread: nothing.
type local struct{}

// New returns an empty state. Races go to report, which must not call into the
// state; it may keep a copy of the Race, not the pointer. Close frees the memory.
func New(o Options, report func(*Race)) *State {
	s := &State{home: &home{report: report, left: o.Memory}}
	if o.Memory == 0 {
		s.home.left = math.MaxUint64
	}
	initState(s, o)
	return s
}

// Close frees all memory of s, which must not be used again.
func (s *State) Close() {
	for _, b := range s.home.blocks {
		unmapBlock(b)
	}
	s.home.blocks = nil
}

// Bytes is how much memory s has taken from the system.
func (s *State) Bytes() (n uint64) {
	for _, b := range s.home.blocks {
		n += uint64(len(b))
	}
	return n
}
