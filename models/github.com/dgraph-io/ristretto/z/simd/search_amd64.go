//go:build bfmodel

// Assembly that reads a slice until it finds what it looks for.
package simd

//bf:inline
func bf_Search(xs []uint64, k uint64) int16 {
	for i, x := range xs {
		if x >= k {
			return int16(i)
		}
	}
	return int16(len(xs))
}
