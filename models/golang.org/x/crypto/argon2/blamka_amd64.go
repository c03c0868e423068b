//go:build bfmodel

// Assembly over blocks of words: mix writes the exclusive or of three blocks to
// out, xor adds it to what out holds, and blamka permutes a block in place.
package argon2

//bf:inline
func bf_mixBlocksSSE2(out, a, b, c *block) {
	for i := range out {
		out[i] = a[i] ^ b[i] ^ c[i]
	}
}

//bf:inline
func bf_xorBlocksSSE2(out, a, b, c *block) {
	for i := range out {
		out[i] ^= a[i] ^ b[i] ^ c[i]
	}
}

//bf:inline
func bf_blamkaSSE4(b *block) {
	for i := range b {
		b[i] += b[0]
	}
}
