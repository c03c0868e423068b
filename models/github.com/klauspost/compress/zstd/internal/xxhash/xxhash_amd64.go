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
func bf_writeBlocks(s *Digest, b []byte) int {
	for _, c := range b {
		s.v1 += uint64(c)
	}
	s.v2, s.v3, s.v4 = s.v2+s.v1, s.v3+s.v1, s.v4+s.v1
	return len(b)
}
