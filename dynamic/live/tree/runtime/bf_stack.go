//go:build bfverify

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// Call stacks are kept once each, for ever, and have small numbers: the sites of
// accesses, and where goroutines were started. They are cut off after some frames,
// because a goroutine that makes the first access to a cell in an epoch must find
// its stack then: frames cost a load each, and afterwards nobody could know them.

const (
	bfAccessDepth = 6  // of the stack of an access; frames of inlined functions are not counted
	bfSpawnDepth  = 16 // of a go statement
	bfStackBlock  = 1 << 10
	bfStackBlocks = 1 << 12
	bfStackHash   = 1 << 16
	bfMix         = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
)

// bfStack is a call stack: return addresses, innermost first.
type bfStack struct {
	_    sys.NotInHeap
	next *bfStack
	id   uint32
	n    uint32
	// pcs follow
}

type bfStackDir struct {
	_ sys.NotInHeap
	s [bfStackBlock]*bfStack
}

var (
	bfStackLock  uint32
	bfStackCount uint32
	bfStackIDs   [bfStackBlocks]*bfStackDir
	bfStacks     [bfStackHash]*bfStack
)

//go:nosplit
func (s *bfStack) pc(i uint32) *uintptr {
	return (*uintptr)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(bfStack{})+uintptr(i)*goarch.PtrSize))
}

// bfStackOf returns the stack with a number, nil for 0.
//
//go:nosplit
func bfStackOf(id uint32) *bfStack {
	if id == 0 {
		return nil
	}
	return bfStackIDs[id/bfStackBlock].s[id%bfStackBlock]
}

// bfUp returns the frame pointer of the function that called the one whose frame pointer
// is fp, and the address that the caller returns to; 0 where the stack of gp ends.
//
//go:nosplit
func bfUp(fp uintptr, gp *g) (up, pc uintptr) {
	if fp-gp.stack.lo >= gp.stack.hi-gp.stack.lo-2*goarch.PtrSize {
		return 0, 0
	}
	up = *(*uintptr)(unsafe.Pointer(fp))
	if up <= fp || up-gp.stack.lo >= gp.stack.hi-gp.stack.lo-2*goarch.PtrSize {
		return 0, 0 // frame pointers go upwards
	}
	return up, *(*uintptr)(unsafe.Pointer(up + goarch.PtrSize))
}

// bfWalk fills pcs with pc and the return addresses of the frames above fp, the frame
// pointer of a function that gp called at pc, and returns how many there are.
func bfWalk(pcs []uintptr, fp, pc uintptr, gp *g) int {
	pcs[0] = pc
	for n := 1; n < len(pcs); n++ {
		if fp, pcs[n] = bfUp(fp, gp); pcs[n] == 0 {
			return n
		}
	}
	return len(pcs)
}

// bfSite returns the number of the stack of an access that gp makes. fp is the frame
// pointer of the function that returns to pc.
func bfSite(fp, pc uintptr, gp *g) uint32 {
	var pcs [bfAccessDepth]uintptr
	return bfIntern(pcs[:bfWalk(pcs[:], fp, pc, gp)])
}

// bfSiteKnown is bfSite for a stack that is that of another access of t at pc: of the last
// one, or one of a few. It is 0 if it is not.
//
//go:nosplit
func bfSiteKnown(t *bfThread, fp, pc uintptr, gp *g) uint32 {
	m := &t.local.sites[pc>>2%bfSites]
	if m.pc != pc {
		return 0
	}
	s := bfStackOf(m.site)
	if s == nil {
		return 0
	}
	for i := uint32(1); i < bfAccessDepth; i++ {
		fp, pc = bfUp(fp, gp)
		switch {
		case i == s.n && pc == 0:
			return m.site
		case i == s.n || pc != *s.pc(i):
			return 0
		}
	}
	return m.site
}

// bfIntern returns the number of a stack, 0 if there are too many.
func bfIntern(pcs []uintptr) uint32 {
	h := uintptr(len(pcs))
	for _, pc := range pcs {
		h = (h ^ pc) * bfMix
	}
	head := &bfStacks[h>>(goarch.PtrSize*8-16)]
	first := (*bfStack)(atomic.Loadp(unsafe.Pointer(head)))
	if s := bfSameStack(first, nil, pcs); s != nil {
		return s.id
	}
	bf_lock(&bfStackLock)
	id := uint32(0)
	if s := bfSameStack(*head, first, pcs); s != nil { // made meanwhile
		id = s.id
	} else if bfStackCount+1 < bfStackBlock*bfStackBlocks {
		bfStackCount++
		id = bfStackCount
		s := (*bfStack)(persistentalloc(unsafe.Sizeof(bfStack{})+uintptr(len(pcs))*goarch.PtrSize, 8, &memstats.other_sys))
		s.id, s.n, s.next = id, uint32(len(pcs)), *head
		for i, pc := range pcs {
			*s.pc(uint32(i)) = pc
		}
		d := &bfStackIDs[id/bfStackBlock]
		if *d == nil {
			*d = (*bfStackDir)(persistentalloc(unsafe.Sizeof(bfStackDir{}), 8, &memstats.other_sys))
		}
		(*d).s[id%bfStackBlock] = s
		atomic.StorepNoWB(unsafe.Pointer(head), unsafe.Pointer(s))
	}
	bf_unlock(&bfStackLock)
	return id
}

// bfSameStack finds pcs in the list from s to before end.
func bfSameStack(s, end *bfStack, pcs []uintptr) *bfStack {
next:
	for ; s != end; s = s.next {
		if s.n != uint32(len(pcs)) {
			continue
		}
		for i, pc := range pcs {
			if *s.pc(uint32(i)) != pc {
				continue next
			}
		}
		return s
	}
	return nil
}

// Owners. An epoch names a slot, and slots go from goroutine to goroutine: a few of the
// last owners of each slot are remembered, for reports.

const bfOwners = 16

type bfOwner struct {
	from    uint64 // first clock of this owner
	id      uint64 // of the goroutine; 0 if it is none
	spawned uint32 // stack of the go statement
	ended   bool
}

type bfOwnerRing struct {
	_ sys.NotInHeap
	n uint32 // owners so far
	o [bfOwners]bfOwner
}

var bfOwnersOf [bfMaxSlots]*bfOwnerRing

// bfOwn records the goroutine of t, whose go statement returns to pc.
func bfOwn(t *bfThread, pc uintptr) {
	if t.epoch == 0 {
		return
	}
	spawned := uint32(0)
	if pc != 0 {
		var pcs [bfSpawnDepth]uintptr
		n := 1
		pcs[0] = pc
		if gp := getg().m.curg; gp != nil && gp != getg() {
			// newproc has called systemstack, so its frame is above gp.sched.bp.
			n = bfWalk(pcs[:], gp.sched.bp, pc, gp)
			for i := 1; i < n; i++ { // the frames of package runtime
				if pcs[i] == pc {
					copy(pcs[:], pcs[i:n])
					n -= i
					break
				}
			}
		}
		spawned = bfIntern(pcs[:n])
	}
	r := &bfOwnersOf[bfSlot(t.epoch)]
	if *r == nil {
		*r = (*bfOwnerRing)(persistentalloc(unsafe.Sizeof(bfOwnerRing{}), 8, &memstats.other_sys))
	}
	o := &(*r).o[(*r).n%bfOwners]
	o.from, o.id, o.spawned, o.ended = bfClock(t.epoch), t.id, spawned, false
	(*r).n++
}

// bfDisown records that the goroutine of t ends.
func bfDisown(t *bfThread) {
	if t.epoch != 0 {
		if r := bfOwnersOf[bfSlot(t.epoch)]; r != nil {
			r.o[(r.n-1)%bfOwners].ended = true
		}
	}
}

// bfOwnerOf returns the owner of an epoch, nil if it is forgotten.
func bfOwnerOf(epoch uint64) *bfOwner {
	r := bfOwnersOf[bfSlot(epoch)]
	if r == nil {
		return nil
	}
	for i := r.n; i > 0 && i+bfOwners > r.n; i-- {
		if o := &r.o[(i-1)%bfOwners]; o.from <= bfClock(epoch) {
			return o
		}
	}
	return nil
}
