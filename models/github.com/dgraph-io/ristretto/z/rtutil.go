//go:build bfmodel

// Linknames of the runtime's: memhash reads s bytes at p, and
// memclrNoHeapPointers writes n bytes at p.
package z

import "unsafe"

//bf:inline
func bf_memhash(p unsafe.Pointer, h, s uintptr) uintptr {
	for _, c := range unsafe.Slice((*byte)(p), s) {
		h += uintptr(c)
	}
	return h
}

//bf:inline
func bf_memclrNoHeapPointers(p unsafe.Pointer, n uintptr) {
	b := unsafe.Slice((*byte)(p), n)
	for i := range b {
		b[i] = 0
	}
}
