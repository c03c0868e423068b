//go:build bfmodel

// More assembly of the package: matchLen reads two buffers; the sizes of a block
// are found by compressing it with tmp as scratch memory, without output; a
// conversion reads one block and writes another. Nothing is kept. These are in a
// file of their own as versions before 1.17 lack some of them.
package s2

//bf:inline
func bf_matchLen(a []byte, b []byte) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

//bf:inline
func bf_calcBlockSize(src []byte, tmp *[32768]byte) int { return bfx_copy(tmp[:], src) }

//bf:inline
func bf_calcBlockSizeSmall(src []byte, tmp *[2048]byte) int { return bfx_copy(tmp[:], src) }

//bf:inline
func bf_cvtLZ4BlockAsm(dst []byte, src []byte) (uncompressed int, dstUsed int) {
	return bfx_copy(dst, src), len(dst)
}

//bf:inline
func bf_cvtLZ4sBlockAsm(dst []byte, src []byte) (uncompressed int, dstUsed int) {
	return bfx_copy(dst, src), len(dst)
}

//bf:inline
func bf_cvtLZ4BlockSnappyAsm(dst []byte, src []byte) (uncompressed int, dstUsed int) {
	return bfx_copy(dst, src), len(dst)
}

//bf:inline
func bf_cvtLZ4sBlockSnappyAsm(dst []byte, src []byte) (uncompressed int, dstUsed int) {
	return bfx_copy(dst, src), len(dst)
}
