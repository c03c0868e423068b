//go:build bfmodel

// Assembly that compresses and decompresses blocks: it reads the source, uses
// tmp as scratch memory and writes the destination, and keeps nothing.
package s2

//bf:inline
func bfx_copy(dst, src []byte) int {
	n := byte(0)
	for _, c := range src {
		n += c
	}
	for i := range dst {
		dst[i] = n + dst[0]
	}
	return int(n)
}

//bf:inline
func bf_emitCopy(dst []byte, offset int, length int) int {
	return bfx_copy(dst, nil)
}

//bf:inline
func bf_emitCopyNoRepeat(dst []byte, offset int, length int) int {
	return bfx_copy(dst, nil)
}

//bf:inline
func bf_emitLiteral(dst []byte, lit []byte) int {
	return bfx_copy(dst, lit)
}

//bf:inline
func bf_emitRepeat(dst []byte, offset int, length int) int {
	return bfx_copy(dst, nil)
}

//bf:inline
func bf_encodeBetterBlockAsm(dst []byte, src []byte, tmp *[589824]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBetterBlockAsm10B(dst []byte, src []byte, tmp *[20480]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBetterBlockAsm12B(dst []byte, src []byte, tmp *[81920]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBetterBlockAsm4MB(dst []byte, src []byte, tmp *[589824]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBetterBlockAsm8B(dst []byte, src []byte, tmp *[5120]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBlockAsm(dst []byte, src []byte, tmp *[65536]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBlockAsm10B(dst []byte, src []byte, tmp *[4096]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBlockAsm12B(dst []byte, src []byte, tmp *[16384]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBlockAsm4MB(dst []byte, src []byte, tmp *[65536]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeBlockAsm8B(dst []byte, src []byte, tmp *[1024]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBetterBlockAsm(dst []byte, src []byte, tmp *[589824]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBetterBlockAsm10B(dst []byte, src []byte, tmp *[20480]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBetterBlockAsm12B(dst []byte, src []byte, tmp *[81920]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBetterBlockAsm64K(dst []byte, src []byte, tmp *[294912]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBetterBlockAsm8B(dst []byte, src []byte, tmp *[5120]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBlockAsm(dst []byte, src []byte, tmp *[65536]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBlockAsm10B(dst []byte, src []byte, tmp *[4096]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBlockAsm12B(dst []byte, src []byte, tmp *[16384]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBlockAsm64K(dst []byte, src []byte, tmp *[65536]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_encodeSnappyBlockAsm8B(dst []byte, src []byte, tmp *[1024]byte) int {
	return bfx_copy(dst, src) + bfx_copy(tmp[:], src)
}

//bf:inline
func bf_s2Decode(dst []byte, src []byte) int {
	return bfx_copy(dst, src)
}
