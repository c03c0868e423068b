//go:build bfmodel

// The assembly reads its buffers, as the generic Go code beside it does.
package crc32

//bf:inline
func bfx_read(crc uint32, p []byte) uint32 {
	for _, c := range p {
		crc += uint32(c)
	}
	return crc
}

//bf:inline
func bf_castagnoliSSE42(crc uint32, p []byte) uint32 { return bfx_read(crc, p) }

//bf:inline
func bf_castagnoliSSE42Triple(crcA, crcB, crcC uint32, a, b, c []byte, rounds uint32) (retA uint32, retB uint32, retC uint32) {
	return bfx_read(crcA, a), bfx_read(crcB, b), bfx_read(crcC, c)
}

//bf:inline
func bf_ieeeCLMUL(crc uint32, p []byte) uint32 { return bfx_read(crc, p) }
