//go:build bfverify

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// Atomic operations of package sync/atomic. Each is one step with its
// synchronisation, under the lock of the object: so whoever sees a value also sees
// what its writer had done.
//
// Pointers go through here as words. So these functions are nosplit and work on the
// system stack: from entry to return nothing is preempted, and the collector does not
// look while a pointer is only a word.

// The operations. Package sync/atomic gets a copy of this list.
const (
	bfLoad = iota
	bfStore
	bfSwap
	bfCas
	bfAdd
	bfAnd
	bfOr
)

//go:linkname bfDo32 sync/atomic.bfDo32
//go:nosplit
func bfDo32(p *uint32, op uint8, a, b uint32) uint32 {
	return uint32(bfDo(unsafe.Pointer(p), 4, op, uint64(a), uint64(b), getfp(), sys.GetCallerPC()))
}

//go:linkname bfDo64 sync/atomic.bfDo64
//go:nosplit
func bfDo64(p *uint64, op uint8, a, b uint64) uint64 {
	return bfDo(unsafe.Pointer(p), 8, op, a, b, getfp(), sys.GetCallerPC())
}

// bfDo performs an operation on the word of size bytes at p. fp is the frame pointer of
// the function that returns to pc.
//
//go:nosplit
func bfDo(p unsafe.Pointer, size uint8, op uint8, a, b uint64, fp, pc uintptr) uint64 {
	t := bfAtomicOn(uintptr(p))
	if t == nil {
		v, _ := bfRaw(p, size, op, a, b)
		return v
	}
	kind := uint8(bfAtomicWrite)
	if op == bfLoad {
		kind = bfAtomicRead
	}
	bfAtomicAccess(t, uintptr(p), kind, fp, pc)
	if o := bfTryBegin(&bfWorld, t, uintptr(p), op != bfStore, op != bfLoad); o != nil {
		v, wrote := bfRaw(p, size, op, a, b)
		bfTryEnd(t, o, wrote)
		return v
	}
	var v uint64
	systemstack(func() {
		o := bfBeginAtomic(&bfWorld, t, uintptr(p))
		wrote := false
		v, wrote = bfRaw(p, size, op, a, b)
		bfEndAtomic(&bfWorld, t, o, op != bfStore, wrote)
	})
	return v
}

// bfAtomicOn returns the state to use for an atomic operation at addr, nil if there is
// nothing to do: also while synchronisation is ignored, because sync's own operations
// are not the program's.
//
//go:nosplit
func bfAtomicOn(addr uintptr) *bfThread {
	gp := getg()
	t := bfOf(gp.racectx)
	if t == nil || gp.raceignore != 0 || gp != gp.m.curg || !bfHas(addr) || addr-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return nil
	}
	return t
}

// bfAtomicAccess checks an atomic access.
//
//go:nosplit
func bfAtomicAccess(t *bfThread, addr uintptr, kind uint8, fp, pc uintptr) {
	gp := getg()
	if c := bfFind(&bfWorld, t, addr); c != nil {
		if bfSameAtomic(t, c, kind) {
			return
		}
		if site := bfSiteKnown(t, fp, pc, gp); site != 0 && bfTry(t, c, addr, kind, site) {
			return
		}
	}
	systemstack(func() {
		site := bfSite(fp, pc, gp)
		t.local.sites[pc>>2%bfSites] = bfSiteMemo{pc, fp, t.local.calls, site}
		bfAccess(&bfWorld, t, addr, 1, kind, site)
	})
}

// The state of a sync.Mutex is package internal/sync's own. What a lock orders is what
// Acquire and Release say, no more: a goroutine that fails to lock learns nothing by that.
// But a mutex that is overwritten while it is used is a race, so its use is an access.

//go:linkname bfTouch internal/sync.bfTouch
//go:nosplit
func bfTouch(p *int32) {
	if t := bfAtomicOn(uintptr(unsafe.Pointer(p))); t != nil {
		bfAtomicAccess(t, uintptr(unsafe.Pointer(p)), bfAtomicRead, getfp(), sys.GetCallerPC())
	}
}

//go:linkname bfCompareAndSwapInt32 internal/sync.bfCompareAndSwapInt32
//go:nosplit
func bfCompareAndSwapInt32(p *int32, old, new int32) bool { return atomic.Casint32(p, old, new) }

//go:linkname bfAddInt32 internal/sync.bfAddInt32
//go:nosplit
func bfAddInt32(p *int32, delta int32) int32 { return atomic.Xaddint32(p, delta) }

// bfRaw performs an operation and reports whether it wrote. For bfCas it returns 1 if it
// swapped, for bfAdd the new value, for the others the old one.
//
//go:nosplit
func bfRaw(p unsafe.Pointer, size uint8, op uint8, a, b uint64) (v uint64, wrote bool) {
	if size == 4 {
		v, wrote := bfRaw32((*uint32)(p), op, uint32(a), uint32(b))
		return uint64(v), wrote
	}
	return bfRaw64((*uint64)(p), op, a, b)
}

// bfRaw32 and bfRaw64 are two because the intrinsics are, by width.
//
//go:nosplit
func bfRaw32(p *uint32, op uint8, a, b uint32) (v uint32, wrote bool) {
	switch op {
	case bfLoad:
		return atomic.Load(p), false
	case bfStore:
		atomic.Store(p, a)
	case bfSwap:
		v = atomic.Xchg(p, a)
	case bfCas:
		if !atomic.Cas(p, a, b) {
			return 0, false
		}
		v = 1
	case bfAdd:
		v = atomic.Xadd(p, int32(a))
	case bfAnd:
		v = atomic.And32(p, a)
	case bfOr:
		v = atomic.Or32(p, a)
	}
	return v, true
}

//go:nosplit
func bfRaw64(p *uint64, op uint8, a, b uint64) (v uint64, wrote bool) {
	switch op {
	case bfLoad:
		return atomic.Load64(p), false
	case bfStore:
		atomic.Store64(p, a)
	case bfSwap:
		v = atomic.Xchg64(p, a)
	case bfCas:
		if !atomic.Cas64(p, a, b) {
			return 0, false
		}
		v = 1
	case bfAdd:
		v = atomic.Xadd64(p, int64(a))
	case bfAnd:
		v = atomic.And64(p, a)
	case bfOr:
		v = atomic.Or64(p, a)
	}
	return v, true
}

// Pointers. atomic_pointer.go, which does the write barrier, calls these in place of
// the functions for words of sync/atomic.

//go:linkname bfLoadPointer sync/atomic.bfLoadPointer
//go:nosplit
func bfLoadPointer(p *unsafe.Pointer) unsafe.Pointer {
	return unsafe.Pointer(uintptr(bfDo(unsafe.Pointer(p), 8, bfLoad, 0, 0, getfp(), sys.GetCallerPC())))
}

//go:nosplit
func bfStoreUintptr(p *uintptr, v uintptr) {
	bfDo(unsafe.Pointer(p), 8, bfStore, uint64(v), 0, getfp(), sys.GetCallerPC())
}

//go:nosplit
func bfSwapUintptr(p *uintptr, v uintptr) uintptr {
	return uintptr(bfDo(unsafe.Pointer(p), 8, bfSwap, uint64(v), 0, getfp(), sys.GetCallerPC()))
}

//go:nosplit
func bfCompareAndSwapUintptr(p *uintptr, old, new uintptr) bool {
	return bfDo(unsafe.Pointer(p), 8, bfCas, uint64(old), uint64(new), getfp(), sys.GetCallerPC()) != 0
}
