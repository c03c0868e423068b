//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package sha1

//bf:inline
func bf_sha1block(h []uint32, p []byte, k []uint32) {
	n := k[0]
	for _, c := range p {
		n += uint32(c)
	}
	for i := range h {
		h[i] += n
	}
}
