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

func bf_Xadd(ptr *uint32, delta int32) uint32 {
	*ptr += uint32(delta)
	return *ptr
}

func bf_Xadd64(ptr *uint64, delta int64) uint64 {
	*ptr += uint64(delta)
	return *ptr
}

func bf_Xadduintptr(ptr *uintptr, delta uintptr) uintptr {
	*ptr += uintptr(delta)
	return *ptr
}

func bf_Xchg8(ptr *uint8, new uint8) uint8 {
	old := *ptr
	*ptr = new
	return old
}

func bf_Xchg(ptr *uint32, new uint32) uint32 {
	old := *ptr
	*ptr = new
	return old
}

func bf_Xchg64(ptr *uint64, new uint64) uint64 {
	old := *ptr
	*ptr = new
	return old
}

func bf_Xchguintptr(ptr *uintptr, new uintptr) uintptr {
	old := *ptr
	*ptr = new
	return old
}

func bf_Load(ptr *uint32) uint32 {
	return *ptr
}

func bf_Load8(ptr *uint8) uint8 {
	return *ptr
}

func bf_Load64(ptr *uint64) uint64 {
	return *ptr
}

func bf_Loadp(ptr unsafe.Pointer) unsafe.Pointer {
	return *(*unsafe.Pointer)(ptr)
}

func bf_LoadAcq(addr *uint32) uint32 {
	return *addr
}

func bf_LoadAcq64(ptr *uint64) uint64 {
	return *ptr
}

func bf_LoadAcquintptr(ptr *uintptr) uintptr {
	return *ptr
}

func bf_Or8(ptr *uint8, val uint8) {
	*ptr = *ptr | val
}

func bf_And8(ptr *uint8, val uint8) {
	*ptr = *ptr & val
}

func bf_And(ptr *uint32, val uint32) {
	*ptr = *ptr & val
}

func bf_Or(ptr *uint32, val uint32) {
	*ptr = *ptr | val
}

func bf_And32(ptr *uint32, val uint32) uint32 {
	old := *ptr
	*ptr = old & val
	return old
}

func bf_Or32(ptr *uint32, val uint32) uint32 {
	old := *ptr
	*ptr = old | val
	return old
}

func bf_And64(ptr *uint64, val uint64) uint64 {
	old := *ptr
	*ptr = old & val
	return old
}

func bf_Or64(ptr *uint64, val uint64) uint64 {
	old := *ptr
	*ptr = old | val
	return old
}

func bf_Anduintptr(ptr *uintptr, val uintptr) uintptr {
	old := *ptr
	*ptr = old & val
	return old
}

func bf_Oruintptr(ptr *uintptr, val uintptr) uintptr {
	old := *ptr
	*ptr = old | val
	return old
}

func bf_Cas64(ptr *uint64, old, new uint64) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_CasRel(ptr *uint32, old, new uint32) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_Store(ptr *uint32, val uint32) {
	*ptr = val
}

func bf_Store8(ptr *uint8, val uint8) {
	*ptr = val
}

func bf_Store64(ptr *uint64, val uint64) {
	*ptr = val
}

func bf_StorepNoWB(ptr unsafe.Pointer, val unsafe.Pointer) {
	*(*unsafe.Pointer)(ptr) = val
}

func bf_StoreRel(ptr *uint32, val uint32) {
	*ptr = val
}

func bf_StoreRel64(ptr *uint64, val uint64) {
	*ptr = val
}

func bf_StoreReluintptr(ptr *uintptr, val uintptr) {
	*ptr = val
}
