//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package chacha20poly1305

func bfMaybe() bool

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
func bf_chacha20Poly1305Open(dst []byte, key []uint32, src, ad []byte) bool {
	bfx_fill(dst, bfx_read(src)+bfx_read(ad)+byte(bfx_words(key)))
	return bfMaybe()
}

//bf:inline
func bf_chacha20Poly1305Seal(dst []byte, key []uint32, src, ad []byte) {
	bfx_fill(dst, bfx_read(src)+bfx_read(ad)+byte(bfx_words(key)))
}
