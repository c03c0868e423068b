//go:build bfmodel

// The assembly reads n bytes of each operand and writes n bytes, which is the
// real package's condition for calling it. It exists where asm exists, and so
// does this file.
package subtle

//bf:inline
func bf_XORBytes(dst, x, y []byte) int {
	n := min(len(x), len(y))
	if n == 0 {
		return 0
	}
	if n > len(dst) {
		panic("subtle.XORBytes: dst too short")
	}
	for i := range n {
		dst[i] = x[i] ^ y[i]
	}
	return n
}
