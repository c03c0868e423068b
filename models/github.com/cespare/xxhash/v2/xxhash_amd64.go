//go:build bfmodel

// Assembly that hashes blocks: it reads the bytes and reads and writes the
// state, as the generic Go code beside it does.
package xxhash

//bf:inline
func bf_Sum64(b []byte) (n uint64) {
	for _, c := range b {
		n += uint64(c)
	}
	return n
}

//bf:inline
func bf_writeBlocks(d *Digest, b []byte) int {
	for _, c := range b {
		d.v1 += uint64(c)
	}
	d.v2, d.v3, d.v4 = d.v2+d.v1, d.v3+d.v1, d.v4+d.v1
	return len(b)
}
