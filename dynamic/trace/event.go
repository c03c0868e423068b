// Package trace holds what a run did to memory, in the order in which it did it:
// the events that detectors consume, a compact file format for them, and a
// minimiser.
//
// # What may be believed
//
// A Reader returns only events that are well formed by the rules below, of a file
// whose every byte is covered by a checksum that came out right; what it refuses, it
// refuses with the place and the reason. Whether the events are what the run did is
// up to the recorder.
//
// # Order
//
// The trace is one sequence, consistent with each goroutine's order and with the
// order in which synchronising operations took effect. An atomic operation is an
// access, then the synchronisation that it makes: a load is AtomicRead and Acquire,
// a store AtomicWrite and Release, what reads and writes AtomicWrite and
// ReleaseAcquire (or ReleaseMerge and Acquire). The access comes first, so that the
// release covers it. A lock is Acquire, an unlock Release.
//
// # Well-formed traces
//
// (W1) Goroutine 0 runs from the start, each other one from its Fork on, until its
// End. Ids are given in increasing order and never reused.
//
// (W2) A goroutine is joined at most once, after its End, and that End has Count 1.
//
// (W3) Addresses are below 2^47, also of the last byte; sizes are positive; pieces
// of a range do not overlap. See Limits.
//
// # Life of memory
//
// Malloc and Free both say that what was known about a range of memory is void.
// Array says that some elements at an address belong together; an access inside is
// an access to the array however it is written.
//
// (W4) When a part of an array begins or ends a life, the array is dead, as it is
// after garbage collection, which leaves no event: nobody accesses the rest before it
// begins another life. This rule is not checked; where it does not hold, detectors that
// compress arrays may miss races in the rest.
package trace

import "fmt"

// Kind says what an event is.
type Kind uint8

// The kinds. In parentheses, the fields of Event that they use besides G.
const (
	Read           Kind = iota // plain read of bytes (Addr, Size, Site)
	Write                      // plain write (Addr, Size, Site)
	AtomicRead                 // (Addr, Size, Site)
	AtomicWrite                // atomic store, or load and store (Addr, Size, Site)
	ReadRange                  // read of Count pieces, Stride apart (Addr, Size, Count, Stride, Site)
	WriteRange                 // the same, write
	CheckRead                  // a check that was placed, for reads (Parts, Site)
	CheckWrite                 // the same, for writes
	Acquire                    // of a synchronisation object (Addr)
	Release                    // in place of what was released there before (Addr)
	ReleaseMerge               // besides what was released there before (Addr)
	ReleaseAcquire             // both; what was acquired is not passed on (Addr)
	Fork                       // start of goroutine Other (Other, Site)
	End                        // of the goroutine; Count is 1 if it will be joined (Count)
	Join                       // wait for the end of goroutine Other (Other)
	Malloc                     // Size bytes at Addr begin a life (Addr, Size, Site)
	Free                       // Size bytes at Addr end theirs (Addr, Size)
	Array                      // Count elements of Size bytes at Addr are an array (Addr, Size, Count)
	Commit                     // a good point to commit checks that are pending
	Name                       // Text describes Site (Site, Text)
	Proxy                      // field at offset Addr, of Size bytes, of objects allocated at Site: races on it are races on the field at offset Stride (Site, Addr, Size, Stride)
	NumKinds
)

var kindNames = [NumKinds]string{"read", "write", "atomic-read", "atomic-write", "read-range", "write-range",
	"check-read", "check-write", "acquire", "release", "release-merge", "release-acquire", "fork", "end", "join",
	"malloc", "free", "array", "commit", "name", "proxy"}

func (k Kind) String() string {
	if k < NumKinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Event is one thing that goroutine G did.
type Event struct {
	Kind   Kind
	G      uint32
	Other  uint32 // another goroutine
	Site   uint32 // place in the program, 0 if unknown; for Malloc and Proxy, the allocation site
	Addr   uint64
	Size   uint64 // bytes
	Count  uint64
	Stride uint64 // bytes
	Parts  []Part // of a check: what it covers, such as several fields of one object
	Text   string
}

// Part is Count pieces of Size bytes, Stride apart, the first at Addr. With Count 1
// Stride is 0.
type Part struct{ Addr, Size, Count, Stride uint64 }

// Limits of events. They bound the work that one event of a hostile file can make.
const (
	MaxAddr   = 1 << 47 // first address that is too high
	MaxAccess = 1 << 28 // bytes of an access, all pieces together
	MaxAlloc  = 1 << 40 // bytes of Malloc and Free
	MaxArray  = 1 << 32 // bytes of an array
	MaxParts  = 64      // of a check
	MaxText   = 4096    // bytes
)

func (e *Event) String() string {
	s := fmt.Sprintf("g%d %s", e.G, e.Kind)
	switch e.Kind {
	case Read, Write, AtomicRead, AtomicWrite, Malloc, Free:
		s += fmt.Sprintf(" %#x+%d", e.Addr, e.Size)
	case ReadRange, WriteRange:
		s += " " + Part{e.Addr, e.Size, e.Count, e.Stride}.String()
	case CheckRead, CheckWrite:
		for _, p := range e.Parts {
			s += " " + p.String()
		}
	case Acquire, Release, ReleaseMerge, ReleaseAcquire:
		s += fmt.Sprintf(" %#x", e.Addr)
	case Fork, Join:
		s += fmt.Sprintf(" g%d", e.Other)
	case End:
		if e.Count != 0 {
			s += " to be joined"
		}
	case Array:
		s += fmt.Sprintf(" %#x: %d elements of %d", e.Addr, e.Count, e.Size)
	case Name:
		s += fmt.Sprintf(" site %d: %q", e.Site, e.Text)
		return s
	case Proxy:
		s += fmt.Sprintf(" offset %d+%d by %d", e.Addr, e.Size, e.Stride)
	}
	if e.Site != 0 {
		s += fmt.Sprintf(" at site %d", e.Site)
	}
	return s
}

func (p Part) String() string {
	if p.Count == 1 {
		return fmt.Sprintf("%#x+%d", p.Addr, p.Size)
	}
	return fmt.Sprintf("%#x+%d*%d/%d", p.Addr, p.Size, p.Count, p.Stride)
}

// IsAccess reports whether the event is an access, not a check.
func (k Kind) IsAccess() bool { return k <= WriteRange }

// IsCheck reports whether the event is a check.
func (k Kind) IsCheck() bool { return k == CheckRead || k == CheckWrite }

// IsWrite reports whether the event is a write, plain or atomic, or a check for one.
func (k Kind) IsWrite() bool {
	return k == Write || k == AtomicWrite || k == WriteRange || k == CheckWrite
}

// IsAtomic reports whether the event is an atomic access.
func (k Kind) IsAtomic() bool { return k == AtomicRead || k == AtomicWrite }

// Releases reports whether the event ends a release-free span of its goroutine.
func (k Kind) Releases() bool {
	return k == Release || k == ReleaseMerge || k == ReleaseAcquire || k == Fork || k == End
}

// Acquires reports whether the event orders what its goroutine does next after what
// another one did.
func (k Kind) Acquires() bool { return k == Acquire || k == ReleaseAcquire || k == Join }

// Pieces returns what an access or check touches.
func (e *Event) Pieces() []Part {
	switch e.Kind {
	case ReadRange, WriteRange:
		return []Part{{e.Addr, e.Size, e.Count, e.Stride}}
	case CheckRead, CheckWrite:
		return e.Parts
	}
	return []Part{{e.Addr, e.Size, 1, 0}}
}
