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

// The operations; package sync/atomic has the same list.
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
	t := bfAtomicOn(uintptr(unsafe.Pointer(p)))
	if t == nil {
		v, _ := bfRaw32(p, op, a, b)
		return v
	}
	var v uint32
	fp, pc := getfp(), sys.GetCallerPC()
	systemstack(func() {
		o := bfAtomicBegin(t, uintptr(unsafe.Pointer(p)), fp, pc, op)
		wrote := false
		v, wrote = bfRaw32(p, op, a, b)
		bfAtomicEnd(t, o, op, wrote)
	})
	return v
}

//go:linkname bfDo64 sync/atomic.bfDo64
//go:nosplit
func bfDo64(p *uint64, op uint8, a, b uint64) uint64 {
	return bfWord64(p, op, a, b, getfp(), sys.GetCallerPC())
}

//go:nosplit
func bfWord64(p *uint64, op uint8, a, b uint64, fp, pc uintptr) uint64 {
	t := bfAtomicOn(uintptr(unsafe.Pointer(p)))
	if t == nil {
		v, _ := bfRaw64(p, op, a, b)
		return v
	}
	var v uint64
	systemstack(func() {
		o := bfAtomicBegin(t, uintptr(unsafe.Pointer(p)), fp, pc, op)
		wrote := false
		v, wrote = bfRaw64(p, op, a, b)
		bfAtomicEnd(t, o, op, wrote)
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

// bfAtomicBegin checks the access and locks the object.
func bfAtomicBegin(t *bfThread, addr, fp, pc uintptr, op uint8) *bf_syncObj {
	kind := uint8(bfAtomicWrite)
	if op == bfLoad {
		kind = bfAtomicRead
	}
	if c := bfFind(t, addr); c == nil || !bfSameAtomic(t, c, kind) {
		bfAccess(&bfWorld, t, addr, 1, kind, bfSite(fp, pc, getg().m.curg))
	}
	return bfBeginAtomic(&bfWorld, t, addr)
}

func bfAtomicEnd(t *bfThread, o *bf_syncObj, op uint8, wrote bool) {
	bfEndAtomic(&bfWorld, t, o, op != bfStore, wrote)
}

// bfRaw32 performs an operation. For bfCas it returns 1 if it swapped, for bfAdd the
// new value, for the others the old one.
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

// bfRaw64 is bfRaw32 for longer words.
//
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
	return unsafe.Pointer(uintptr(bfWord64((*uint64)(unsafe.Pointer(p)), bfLoad, 0, 0, getfp(), sys.GetCallerPC())))
}

//go:nosplit
func bfStoreUintptr(p *uintptr, v uintptr) {
	bfWord64((*uint64)(unsafe.Pointer(p)), bfStore, uint64(v), 0, getfp(), sys.GetCallerPC())
}

//go:nosplit
func bfSwapUintptr(p *uintptr, v uintptr) uintptr {
	return uintptr(bfWord64((*uint64)(unsafe.Pointer(p)), bfSwap, uint64(v), 0, getfp(), sys.GetCallerPC()))
}

//go:nosplit
func bfCompareAndSwapUintptr(p *uintptr, old, new uintptr) bool {
	return bfWord64((*uint64)(unsafe.Pointer(p)), bfCas, uint64(old), uint64(new), getfp(), sys.GetCallerPC()) != 0
}
