//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package md5

//bf:inline
func bf_block(dig *digest, p []byte) {
	for _, c := range p {
		dig.s[0] += uint32(c)
	}
	dig.s = [len(dig.s)]uint32{dig.s[0]}
}
