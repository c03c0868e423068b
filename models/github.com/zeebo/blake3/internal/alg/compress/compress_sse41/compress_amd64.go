//go:build bfmodel

// Assembly over fixed operands, as the Go code that stands for it elsewhere: it
// reads the chain and the block and writes out.
package compress_sse41

//bf:inline
func bf_Compress(chain *[8]uint32, block *[16]uint32, counter uint64, blen uint32, flags uint32, out *[16]uint32) {
	for i := range out {
		out[i] = chain[i%8] + block[i]
	}
}
