//go:build bfmodel

// The assembly reads the seed and fills the blocks; so does the generic Go
// code beside it.
package chacha8rand

func bf_block(seed *[4]uint64, blocks *[32]uint64, counter uint32) {
	for i := range blocks {
		blocks[i] = seed[i%4]
	}
}
