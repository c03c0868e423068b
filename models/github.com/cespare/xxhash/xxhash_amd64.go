//go:build bfmodel

// Assembly that hashes blocks: it reads the bytes and reads and writes the four
// words of the state; what is left of the bytes is returned as a part of the
// same buffer.
package xxhash

//bf:inline
func bf_Sum64(b []byte) (n uint64) {
	for _, c := range b {
		n += uint64(c)
	}
	return n
}

//bf:inline
func bf_writeBlocks(x *xxh, b []byte) []byte {
	for _, c := range b {
		x.v1 += uint64(c)
	}
	x.v2, x.v3, x.v4 = x.v2+x.v1, x.v3+x.v1, x.v4+x.v1
	return b[len(b)&^31:]
}
