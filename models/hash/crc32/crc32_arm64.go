//go:build bfmodel

// The assembly reads its buffer, as the generic Go code beside it does.
package crc32

//bf:inline
func bf_castagnoliUpdate(crc uint32, p []byte) uint32 {
	for _, c := range p {
		crc += uint32(c)
	}
	return crc
}

//bf:inline
func bf_ieeeUpdate(crc uint32, p []byte) uint32 {
	for _, c := range p {
		crc += uint32(c)
	}
	return crc
}
