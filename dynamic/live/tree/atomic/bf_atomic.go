//go:build bfverify

package atomic

import "unsafe"

// Implemented in package runtime, whose list of operations is copied to the end of this
// file, as are the functions that use it.

//go:linkname bfDo32
//go:noescape
func bfDo32(p *uint32, op uint8, a, b uint32) uint32

//go:linkname bfDo64
//go:noescape
func bfDo64(p *uint64, op uint8, a, b uint64) uint64

//go:linkname bfLoadPointer
func bfLoadPointer(p *unsafe.Pointer) unsafe.Pointer

// LoadPointer atomically loads *addr.
//
//go:linkname LoadPointer
//go:nosplit
func LoadPointer(addr *unsafe.Pointer) (val unsafe.Pointer) { return bfLoadPointer(addr) }
