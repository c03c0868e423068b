//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package sha512

//bf:inline
func bf_blockSHA512(dig *Digest, p []byte) {
	for _, c := range p {
		dig.h[0] += uint64(c)
	}
	dig.h = [len(dig.h)]uint64{dig.h[0]}
}
