//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package gcm

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
func bf_gcmAesInit(productTable *[256]byte, ks []uint32) {
	bfx_fill(productTable[:], byte(bfx_words(ks)))
}

//bf:inline
func bf_gcmAesData(productTable *[256]byte, data []byte, T *[16]byte) {
	bfx_fill(T[:], bfx_read(T[:])+bfx_read(productTable[:])+bfx_read(data))
}

//bf:inline
func bf_gcmAesEnc(productTable *[256]byte, dst, src []byte, ctr, T *[16]byte, ks []uint32) {
	n := bfx_read(productTable[:]) + bfx_read(ctr[:]) + byte(bfx_words(ks))
	bfx_fill(dst, n+bfx_read(src))
	bfx_fill(ctr[:], n)
	bfx_fill(T[:], n+bfx_read(T[:]))
}

//bf:inline
func bf_gcmAesDec(productTable *[256]byte, dst, src []byte, ctr, T *[16]byte, ks []uint32) {
	n := bfx_read(productTable[:]) + bfx_read(ctr[:]) + byte(bfx_words(ks))
	bfx_fill(dst, n+bfx_read(src))
	bfx_fill(ctr[:], n)
	bfx_fill(T[:], n+bfx_read(T[:]))
}

//bf:inline
func bf_gcmAesFinish(productTable *[256]byte, tagMask, T *[16]byte, pLen, dLen uint64) {
	bfx_fill(T[:], bfx_read(T[:])+bfx_read(productTable[:])+bfx_read(tagMask[:]))
}
