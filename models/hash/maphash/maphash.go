//go:build bfmodel

// The runtime hashes the bytes it is pointed to. Comparable hashes a copy of
// its operand; strings in it do not change, and pointers are numbers.
package maphash

import "unsafe"

//bf:inline
func bf_rthash(buf []byte, seed uint64) uint64 {
	for _, c := range buf {
		seed += uint64(c)
	}
	return seed
}

//bf:inline
func bf_comparableHash[T comparable](v T, seed Seed) uint64 { return seed.s }

//bf:inline
func bf_runtime_memhash(p unsafe.Pointer, seed, s uintptr) uintptr {
	return seed + uintptr(*(*byte)(p))
}
