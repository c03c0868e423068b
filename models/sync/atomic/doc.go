//go:build bfmodel

// Atomic operations are loads and stores of what the address points to, so
// that the values flow, and every one of them is an atomic access. One that
// may fail is a load, and a store on one of its two paths.
//
// The order that Go promises (an operation that observes another is ordered
// after it) is for the stages to derive from two accesses being atomic.
//
//bf:inline
//bf:atomic
package atomic

import "unsafe"

func bf_SwapInt32(addr *int32, new int32) (old int32) {
	old = *addr
	*addr = new
	return old
}

func bf_CompareAndSwapInt32(addr *int32, old, new int32) (swapped bool) {
	if *addr == old {
		*addr = new
		return true
	}
	return false
}

func bf_AddInt32(addr *int32, delta int32) (new int32) {
	*addr += delta
	return *addr
}

func bf_AndInt32(addr *int32, mask int32) (old int32) {
	old = *addr
	*addr = old & mask
	return old
}

func bf_OrInt32(addr *int32, mask int32) (old int32) {
	old = *addr
	*addr = old | mask
	return old
}

func bf_LoadInt32(addr *int32) (val int32) {
	return *addr
}

func bf_StoreInt32(addr *int32, val int32) {
	*addr = val
}

func bf_SwapInt64(addr *int64, new int64) (old int64) {
	old = *addr
	*addr = new
	return old
}

func bf_CompareAndSwapInt64(addr *int64, old, new int64) (swapped bool) {
	if *addr == old {
		*addr = new
		return true
	}
	return false
}

func bf_AddInt64(addr *int64, delta int64) (new int64) {
	*addr += delta
	return *addr
}

func bf_AndInt64(addr *int64, mask int64) (old int64) {
	old = *addr
	*addr = old & mask
	return old
}

func bf_OrInt64(addr *int64, mask int64) (old int64) {
	old = *addr
	*addr = old | mask
	return old
}

func bf_LoadInt64(addr *int64) (val int64) {
	return *addr
}

func bf_StoreInt64(addr *int64, val int64) {
	*addr = val
}

func bf_SwapUint32(addr *uint32, new uint32) (old uint32) {
	old = *addr
	*addr = new
	return old
}

func bf_CompareAndSwapUint32(addr *uint32, old, new uint32) (swapped bool) {
	if *addr == old {
		*addr = new
		return true
	}
	return false
}

func bf_AddUint32(addr *uint32, delta uint32) (new uint32) {
	*addr += delta
	return *addr
}

func bf_AndUint32(addr *uint32, mask uint32) (old uint32) {
	old = *addr
	*addr = old & mask
	return old
}

func bf_OrUint32(addr *uint32, mask uint32) (old uint32) {
	old = *addr
	*addr = old | mask
	return old
}

func bf_LoadUint32(addr *uint32) (val uint32) {
	return *addr
}

func bf_StoreUint32(addr *uint32, val uint32) {
	*addr = val
}

func bf_SwapUint64(addr *uint64, new uint64) (old uint64) {
	old = *addr
	*addr = new
	return old
}

func bf_CompareAndSwapUint64(addr *uint64, old, new uint64) (swapped bool) {
	if *addr == old {
		*addr = new
		return true
	}
	return false
}

func bf_AddUint64(addr *uint64, delta uint64) (new uint64) {
	*addr += delta
	return *addr
}

func bf_AndUint64(addr *uint64, mask uint64) (old uint64) {
	old = *addr
	*addr = old & mask
	return old
}

func bf_OrUint64(addr *uint64, mask uint64) (old uint64) {
	old = *addr
	*addr = old | mask
	return old
}

func bf_LoadUint64(addr *uint64) (val uint64) {
	return *addr
}

func bf_StoreUint64(addr *uint64, val uint64) {
	*addr = val
}

func bf_SwapUintptr(addr *uintptr, new uintptr) (old uintptr) {
	old = *addr
	*addr = new
	return old
}

func bf_CompareAndSwapUintptr(addr *uintptr, old, new uintptr) (swapped bool) {
	if *addr == old {
		*addr = new
		return true
	}
	return false
}

func bf_AddUintptr(addr *uintptr, delta uintptr) (new uintptr) {
	*addr += delta
	return *addr
}

func bf_AndUintptr(addr *uintptr, mask uintptr) (old uintptr) {
	old = *addr
	*addr = old & mask
	return old
}

func bf_OrUintptr(addr *uintptr, mask uintptr) (old uintptr) {
	old = *addr
	*addr = old | mask
	return old
}

func bf_LoadUintptr(addr *uintptr) (val uintptr) {
	return *addr
}

func bf_StoreUintptr(addr *uintptr, val uintptr) {
	*addr = val
}

func bf_SwapPointer(addr *unsafe.Pointer, new unsafe.Pointer) (old unsafe.Pointer) {
	old = *addr
	*addr = new
	return old
}

func bf_CompareAndSwapPointer(addr *unsafe.Pointer, old, new unsafe.Pointer) (swapped bool) {
	if *addr == old {
		*addr = new
		return true
	}
	return false
}

func bf_LoadPointer(addr *unsafe.Pointer) (val unsafe.Pointer) {
	return *addr
}

func bf_StorePointer(addr *unsafe.Pointer, val unsafe.Pointer) {
	*addr = val
}
