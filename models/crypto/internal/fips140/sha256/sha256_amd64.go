//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package sha256

//bf:inline
func bf_blockAVX2(dig *Digest, p []byte) {
	for _, c := range p {
		dig.h[0] += uint32(c)
	}
	dig.h = [len(dig.h)]uint32{dig.h[0]}
}

//bf:inline
func bf_blockSHANI(dig *Digest, p []byte) {
	for _, c := range p {
		dig.h[0] += uint32(c)
	}
	dig.h = [len(dig.h)]uint32{dig.h[0]}
}
