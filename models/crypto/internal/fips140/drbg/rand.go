//go:build bfmodel

// The generator's state comes from a pool and belongs to the call that took
// it; what a caller sees is that its buffer is filled.
package drbg

//bf:inline
func bf_Read(b []byte) {
	for i := range b {
		b[i] = 1
	}
}
