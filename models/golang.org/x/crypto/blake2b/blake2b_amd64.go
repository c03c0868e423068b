//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package blake2b

//bf:inline
func bf_hashBlocksAVX2(h *[8]uint64, c *[2]uint64, flag uint64, blocks []byte) {
	for _, b := range blocks {
		h[0] += uint64(b) + c[0]
	}
	*h = [8]uint64{h[0]}
	*c = [2]uint64{c[0], c[1]}
}

//bf:inline
func bf_hashBlocksAVX(h *[8]uint64, c *[2]uint64, flag uint64, blocks []byte) {
	for _, b := range blocks {
		h[0] += uint64(b) + c[0]
	}
	*h = [8]uint64{h[0]}
	*c = [2]uint64{c[0], c[1]}
}

//bf:inline
func bf_hashBlocksSSE4(h *[8]uint64, c *[2]uint64, flag uint64, blocks []byte) {
	for _, b := range blocks {
		h[0] += uint64(b) + c[0]
	}
	*h = [8]uint64{h[0]}
	*c = [2]uint64{c[0], c[1]}
}
