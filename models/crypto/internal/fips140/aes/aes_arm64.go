//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package aes

import "unsafe"

//bf:inline
func bfx_read(b []byte) (n byte) {
	for _, c := range b {
		n += c
	}
	return n
}

//bf:inline
func bfx_fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

//bf:inline
func bfx_words(w []uint32) (n uint32) {
	for _, c := range w {
		n += c
	}
	return n
}

//bf:inline
func bf_encryptBlockAsm(nr int, xk *uint32, dst, src *byte) {
	bfx_fill(unsafe.Slice(dst, 16), bfx_read(unsafe.Slice(src, 16))+byte(bfx_words(unsafe.Slice(xk, 4*(nr+1)))))
}

//bf:inline
func bf_decryptBlockAsm(nr int, xk *uint32, dst, src *byte) {
	bfx_fill(unsafe.Slice(dst, 16), bfx_read(unsafe.Slice(src, 16))+byte(bfx_words(unsafe.Slice(xk, 4*(nr+1)))))
}

//bf:inline
func bf_expandKeyAsm(nr int, key *byte, enc *uint32, dec *uint32) {
	k := uint32(bfx_read(unsafe.Slice(key, 16)))
	e, d := unsafe.Slice(enc, 4*(nr+1)), unsafe.Slice(dec, 4*(nr+1))
	for i := range e {
		e[i], d[i] = k, k
	}
}

//bf:inline
func bf_ctrBlocks1Asm(nr int, xk *[60]uint32, dst, src *[16]byte, ivlo, ivhi uint64) {
	bfx_fill(dst[:], bfx_read(src[:])+byte(bfx_words(xk[:])))
}

//bf:inline
func bf_ctrBlocks2Asm(nr int, xk *[60]uint32, dst, src *[32]byte, ivlo, ivhi uint64) {
	bfx_fill(dst[:], bfx_read(src[:])+byte(bfx_words(xk[:])))
}

//bf:inline
func bf_ctrBlocks4Asm(nr int, xk *[60]uint32, dst, src *[64]byte, ivlo, ivhi uint64) {
	bfx_fill(dst[:], bfx_read(src[:])+byte(bfx_words(xk[:])))
}

//bf:inline
func bf_ctrBlocks8Asm(nr int, xk *[60]uint32, dst, src *[128]byte, ivlo, ivhi uint64) {
	bfx_fill(dst[:], bfx_read(src[:])+byte(bfx_words(xk[:])))
}
