package shadow

import "unsafe"

// Thread is the state of one goroutine.
type Thread struct {
	_      notInHeap
	epoch  uint64 // 0 without a slot
	vc     clock
	was    clock // for ReleaseAcquire
	slot   uint32
	seen   [nSeen]seenPage // pages that were looked up last, by number
	syncs  [nSyncs]seenSync
	past   [2]uint64 // the last read and the last write by others found to be before t
	fps    *fpTable  // nil until the goroutine touches an array
	stride uintptr   // of the part that is being checked; see report
	count  uintptr
	id     uint64
	ticked uint64 // stat.Checks when the epoch began
	bare   uint64 // epochs up to this one may be covered without their clocks; see AcquireAll
	race   Race   // the report being made
	stat   Stats
	next   *Thread
	prev   *Thread
	local  local
}

// seenPage is a page that a thread has looked up; p is nil before the first.
type seenPage struct {
	no uintptr
	p  *page
}

const nSeen = 8

// before reports whether the access of epoch e happens before what t does now.
//
//go:nosplit
func before(t *Thread, e uint64) bool {
	return t.vc.get(uint32(e>>slotShift)) >= e&clockMask
}

// recent is how many of the slots freed last Fork looks at.
const recent = 64

// Fork returns the state of a new goroutine that parent starts; parent is nil for
// the first one. id is what reports call the new one. What parent has done happens
// before what the new one does. Takes constant time.
//
// The slot of a goroutine that ended is reused if all that it did happens before
// the fork. Then its clock goes on, and a clock that covers a new epoch covers
// the old ones as it must: reuse is exact. When slots run out, any free one is
// taken: then a clock that covers the new goroutine seems to cover the old one
// too, which hides races and makes none. When none is free, the new goroutine
// passes on the clocks of others but its own accesses are not recorded.
func Fork(s *State, parent *Thread, id uint64) *Thread {
	if parent != nil {
		commitAll(s, parent)
	}
	t := (*Thread)(alloc(s, poolMisc, unsafe.Sizeof(Thread{})))
	t.id, t.count = id, 1
	if parent != nil {
		parent.vc.fold(s)
		t.vc.copyFrom(s, &parent.vc)
		t.vc.own = 0
	}
	lock(&s.slotLock)
	t.slot = takeSlot(s, t)
	var c uint64
	if t.slot != noSlot {
		c = s.final.at(t.slot).v + 1
	}
	t.next = s.threads
	if t.next != nil {
		t.next.prev = t
	}
	s.threads = t
	unlock(&s.slotLock)
	if t.slot != noSlot {
		t.vc.own, t.vc.v = t.slot+1, c
		t.epoch = uint64(t.slot)<<slotShift | c
	}
	if parent != nil {
		tick(parent)
	}
	return t
}

// takeSlot finds a slot for t, whose clock is that of its parent.
func takeSlot(s *State, t *Thread) uint32 {
	n := s.freeSlots.n
	for i := uint32(0); i < n && i < recent; i++ {
		w := s.freeSlots.at(n - 1 - i)
		slot := uint32(w.v)
		if t.vc.get(slot) >= s.final.at(slot).v {
			w.v = s.freeSlots.at(n - 1).v
			s.freeSlots.n--
			return slot
		}
	}
	if s.final.n < s.slots {
		s.final.need(s, s.final.n+1)
		return s.final.n - 1
	}
	if n > 0 {
		t.stat.Uncovered++
		store32(&s.uncovered, 1)
		s.freeSlots.n--
		return uint32(s.freeSlots.at(n - 1).v)
	}
	t.stat.Slotless++
	return noSlot
}

// tick begins a new epoch of t.
//
//go:nosplit
func tick(t *Thread) {
	if t.slot != noSlot {
		t.vc.v++
		t.epoch++
		t.ticked = t.stat.Checks
	}
}

// End ends t, which must not be used again. Nothing is ordered by it: who waits
// for a goroutine does so through a synchronisation object.
func End(s *State, t *Thread) {
	commitAll(s, t)
	lock(&s.slotLock)
	if t.slot != noSlot {
		last := t.vc.v
		if t.stat.Checks == t.ticked {
			last-- // no cell has the current epoch: so whoever waited for t covers it
		}
		s.final.at(t.slot).v = last
		n := s.freeSlots.n
		s.freeSlots.need(s, n+1)
		s.freeSlots.at(n).v = uint64(t.slot)
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		s.threads = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	s.total.add(&t.stat)
	unlock(&s.slotLock)
	t.vc.release(s)
	if t.fps != nil {
		free(s, poolMisc, unsafe.Pointer(t.fps), unsafe.Sizeof(fpTable{}))
	}
	free(s, poolMisc, unsafe.Pointer(t), unsafe.Sizeof(Thread{}))
}

// AcquireAll orders what t does from now on after all that other goroutines have
// done up to now. Others may run meanwhile. Takes time proportional to the number of
// slots and goroutines.
//
// So t, and whoever comes after it, covers epochs that are not over, and not what their
// goroutines will acquire in them: acquire must not conclude the one from the other. Each
// goroutine u is marked before any epoch is read. A release of u that does not see the
// mark was made before that, so what u knew then is below what is read here of all
// goroutines.
func AcquireAll(s *State, t *Thread) {
	commitAll(s, t)
	lock(&s.slotLock)
	for i := uint32(0); i < s.final.n; i++ {
		t.vc.advance(s, i, s.final.at(i).v)
	}
	for u := s.threads; u != nil; u = u.next {
		store64(&u.bare, allEpochs)
	}
	for u := s.threads; u != nil; u = u.next {
		e := load64(&u.epoch)
		store64(&u.bare, e)
		if e == 0 || u == t {
			continue
		}
		t.vc.advance(s, Slot(e), Clock(e))
	}
	unlock(&s.slotLock)
}

// allEpochs is at least any epoch.
const allEpochs = ^uint64(0)

// Epoch returns the epoch of what t does now.
func Epoch(t *Thread) uint64 { return t.epoch }
