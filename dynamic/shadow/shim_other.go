//go:build !unix

package shadow

import "unsafe"

// mapBlock returns zeroed memory that the collector does not scan; home.blocks
// keeps it.
func mapBlock(n uintptr) []byte {
	w := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}

func unmapBlock([]byte) {}
