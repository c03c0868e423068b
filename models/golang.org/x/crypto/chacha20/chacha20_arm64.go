//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package chacha20

//bf:inline
func bf_xorKeyStreamVX(dst, src []byte, key *[8]uint32, nonce *[3]uint32, counter *uint32) {
	n := byte(key[0] + nonce[0] + *counter)
	for i := range dst {
		dst[i] = src[i] ^ n
	}
	*counter += uint32(n)
}
