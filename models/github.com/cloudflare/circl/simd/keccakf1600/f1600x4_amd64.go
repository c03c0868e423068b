//go:build bfmodel

// Assembly that permutes four interleaved states of 25 words each in place, with
// round constants that it reads. state points to the first of the 100 words,
// which the caller aligned within its array.
package keccakf1600

import "unsafe"

//bf:inline
func bf_f1600x4AVX2(state *uint64, rc *[24]uint64, turbo bool) {
	w := unsafe.Slice(state, 100)
	for i := range w {
		w[i] ^= rc[i%24]
	}
}
