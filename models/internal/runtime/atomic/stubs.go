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

func bf_Cas(ptr *uint32, old, new uint32) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_Casp1(ptr *unsafe.Pointer, old, new unsafe.Pointer) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_Casint32(ptr *int32, old, new int32) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_Casint64(ptr *int64, old, new int64) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_Casuintptr(ptr *uintptr, old, new uintptr) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}

func bf_Storeint32(ptr *int32, new int32) {
	*ptr = new
}

func bf_Storeint64(ptr *int64, new int64) {
	*ptr = new
}

func bf_Storeuintptr(ptr *uintptr, new uintptr) {
	*ptr = new
}

func bf_Loaduintptr(ptr *uintptr) uintptr {
	return *ptr
}

func bf_Loaduint(ptr *uint) uint {
	return *ptr
}

func bf_Loadint32(ptr *int32) int32 {
	return *ptr
}

func bf_Loadint64(ptr *int64) int64 {
	return *ptr
}

func bf_Xaddint32(ptr *int32, delta int32) int32 {
	*ptr += int32(delta)
	return *ptr
}

func bf_Xaddint64(ptr *int64, delta int64) int64 {
	*ptr += int64(delta)
	return *ptr
}

func bf_Xchgint32(ptr *int32, new int32) int32 {
	old := *ptr
	*ptr = new
	return old
}

func bf_Xchgint64(ptr *int64, new int64) int64 {
	old := *ptr
	*ptr = new
	return old
}

func bf_storePointer(ptr *unsafe.Pointer, new unsafe.Pointer) {
	*ptr = new
}

func bf_casPointer(ptr *unsafe.Pointer, old, new unsafe.Pointer) bool {
	if *ptr == old {
		*ptr = new
		return true
	}
	return false
}
