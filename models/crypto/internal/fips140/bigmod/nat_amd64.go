//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package bigmod

import "unsafe"

//bf:inline
func bf_addMulVVW1024(z, x *uint, y uint) (c uint) {
	zs, xs := unsafe.Slice(z, 1024/64), unsafe.Slice(x, 1024/64)
	for i := range zs {
		zs[i] += xs[i] * y
		c += zs[i]
	}
	return c
}

//bf:inline
func bf_addMulVVW1536(z, x *uint, y uint) (c uint) {
	zs, xs := unsafe.Slice(z, 1536/64), unsafe.Slice(x, 1536/64)
	for i := range zs {
		zs[i] += xs[i] * y
		c += zs[i]
	}
	return c
}

//bf:inline
func bf_addMulVVW2048(z, x *uint, y uint) (c uint) {
	zs, xs := unsafe.Slice(z, 2048/64), unsafe.Slice(x, 2048/64)
	for i := range zs {
		zs[i] += xs[i] * y
		c += zs[i]
	}
	return c
}
