//go:build bfmodel

// Assembly that adds y times x to z, with 1024, 1536 or 2048 bits of each: it
// reads both and writes z.
package bigmod

import "unsafe"

//bf:inline
func bfx_addMul(z, x *uint, y uint, n int) (c uint) {
	zs, xs := unsafe.Slice(z, n), unsafe.Slice(x, n)
	for i := range zs {
		zs[i] += xs[i] * y
	}
	return y
}

//bf:inline
func bf_addMulVVW1024(z, x *uint, y uint) (c uint) { return bfx_addMul(z, x, y, 16) }

//bf:inline
func bf_addMulVVW1536(z, x *uint, y uint) (c uint) { return bfx_addMul(z, x, y, 24) }

//bf:inline
func bf_addMulVVW2048(z, x *uint, y uint) (c uint) { return bfx_addMul(z, x, y, 32) }
