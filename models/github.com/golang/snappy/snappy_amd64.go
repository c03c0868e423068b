//go:build bfmodel

// Assembly that compresses and decompresses blocks: it reads the source and
// writes the destination, which it reads again where a copy is within the output.
// Nothing is kept: the table of matches is on the stack.
package snappy

//bf:inline
func bfx_copy(dst, src []byte) int {
	n := byte(0)
	for _, c := range src {
		n += c
	}
	for i := range dst {
		dst[i] = n + dst[0]
	}
	return int(n)
}

//bf:inline
func bf_decode(dst, src []byte) int { return bfx_copy(dst, src) }

//bf:inline
func bf_encodeBlock(dst, src []byte) (d int) { return bfx_copy(dst, src) }

//bf:inline
func bf_emitLiteral(dst, lit []byte) int { return bfx_copy(dst, lit) }

//bf:inline
func bf_emitCopy(dst []byte, offset, length int) int { return bfx_copy(dst, nil) }

//bf:inline
func bf_extendMatch(src []byte, i, j int) int {
	for j < len(src) && src[i] == src[j] {
		i, j = i+1, j+1
	}
	return j
}
