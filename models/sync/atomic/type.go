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

// The types hold the value in their field v.

func (x *Int32) bf_Load() int32 {
	return x.v
}

func (x *Int32) bf_Store(val int32) {
	x.v = val
}

func (x *Int32) bf_Swap(new int32) (old int32) {
	old = x.v
	x.v = new
	return old
}

func (x *Int32) bf_CompareAndSwap(old, new int32) (swapped bool) {
	if x.v == old {
		x.v = new
		return true
	}
	return false
}

func (x *Int32) bf_Add(delta int32) (new int32) {
	x.v += delta
	return x.v
}

func (x *Int32) bf_And(mask int32) (old int32) {
	old = x.v
	x.v = old & mask
	return old
}

func (x *Int32) bf_Or(mask int32) (old int32) {
	old = x.v
	x.v = old | mask
	return old
}

func (x *Int64) bf_Load() int64 {
	return x.v
}

func (x *Int64) bf_Store(val int64) {
	x.v = val
}

func (x *Int64) bf_Swap(new int64) (old int64) {
	old = x.v
	x.v = new
	return old
}

func (x *Int64) bf_CompareAndSwap(old, new int64) (swapped bool) {
	if x.v == old {
		x.v = new
		return true
	}
	return false
}

func (x *Int64) bf_Add(delta int64) (new int64) {
	x.v += delta
	return x.v
}

func (x *Int64) bf_And(mask int64) (old int64) {
	old = x.v
	x.v = old & mask
	return old
}

func (x *Int64) bf_Or(mask int64) (old int64) {
	old = x.v
	x.v = old | mask
	return old
}

func (x *Uint32) bf_Load() uint32 {
	return x.v
}

func (x *Uint32) bf_Store(val uint32) {
	x.v = val
}

func (x *Uint32) bf_Swap(new uint32) (old uint32) {
	old = x.v
	x.v = new
	return old
}

func (x *Uint32) bf_CompareAndSwap(old, new uint32) (swapped bool) {
	if x.v == old {
		x.v = new
		return true
	}
	return false
}

func (x *Uint32) bf_Add(delta uint32) (new uint32) {
	x.v += delta
	return x.v
}

func (x *Uint32) bf_And(mask uint32) (old uint32) {
	old = x.v
	x.v = old & mask
	return old
}

func (x *Uint32) bf_Or(mask uint32) (old uint32) {
	old = x.v
	x.v = old | mask
	return old
}

func (x *Uint64) bf_Load() uint64 {
	return x.v
}

func (x *Uint64) bf_Store(val uint64) {
	x.v = val
}

func (x *Uint64) bf_Swap(new uint64) (old uint64) {
	old = x.v
	x.v = new
	return old
}

func (x *Uint64) bf_CompareAndSwap(old, new uint64) (swapped bool) {
	if x.v == old {
		x.v = new
		return true
	}
	return false
}

func (x *Uint64) bf_Add(delta uint64) (new uint64) {
	x.v += delta
	return x.v
}

func (x *Uint64) bf_And(mask uint64) (old uint64) {
	old = x.v
	x.v = old & mask
	return old
}

func (x *Uint64) bf_Or(mask uint64) (old uint64) {
	old = x.v
	x.v = old | mask
	return old
}

func (x *Uintptr) bf_Load() uintptr {
	return x.v
}

func (x *Uintptr) bf_Store(val uintptr) {
	x.v = val
}

func (x *Uintptr) bf_Swap(new uintptr) (old uintptr) {
	old = x.v
	x.v = new
	return old
}

func (x *Uintptr) bf_CompareAndSwap(old, new uintptr) (swapped bool) {
	if x.v == old {
		x.v = new
		return true
	}
	return false
}

func (x *Uintptr) bf_Add(delta uintptr) (new uintptr) {
	x.v += delta
	return x.v
}

func (x *Uintptr) bf_And(mask uintptr) (old uintptr) {
	old = x.v
	x.v = old & mask
	return old
}

func (x *Uintptr) bf_Or(mask uintptr) (old uintptr) {
	old = x.v
	x.v = old | mask
	return old
}

func bf_b32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (x *Bool) bf_Load() bool {
	return x.v != 0
}

func (x *Bool) bf_Store(val bool) {
	x.v = b32(val)
}

func (x *Bool) bf_Swap(new bool) (old bool) {
	old = x.v != 0
	x.v = b32(new)
	return old
}

func (x *Bool) bf_CompareAndSwap(old, new bool) (swapped bool) {
	if x.v == b32(old) {
		x.v = b32(new)
		return true
	}
	return false
}

func (x *Pointer[T]) bf_Load() *T {
	return (*T)(x.v)
}

func (x *Pointer[T]) bf_Store(val *T) {
	x.v = unsafe.Pointer(val)
}

func (x *Pointer[T]) bf_Swap(new *T) (old *T) {
	old = (*T)(x.v)
	x.v = unsafe.Pointer(new)
	return old
}

func (x *Pointer[T]) bf_CompareAndSwap(old, new *T) (swapped bool) {
	if x.v == unsafe.Pointer(old) {
		x.v = unsafe.Pointer(new)
		return true
	}
	return false
}

// Value is an interface in its field v, which the real code loads and stores
// word by word with atomics. The value in the interface is never changed.

func (v *Value) bf_Load() (val any) {
	return v.v
}

func (v *Value) bf_Store(val any) {
	if val == nil {
		panic("sync/atomic: store of nil value into Value")
	}
	v.v = val
}

func (v *Value) bf_Swap(new any) (old any) {
	if new == nil {
		panic("sync/atomic: swap of nil value into Value")
	}
	old = v.v
	v.v = new
	return old
}

func (v *Value) bf_CompareAndSwap(old, new any) (swapped bool) {
	if v.v == old {
		v.v = new
		return true
	}
	return false
}
