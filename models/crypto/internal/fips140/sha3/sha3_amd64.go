//go:build bfmodel

// Assembly that hashes whole blocks: it reads the block and reads and writes
// the state, as the generic Go code beside it does.
package sha3

//bf:inline
func bf_keccakF1600(a *[200]byte) {
	b := *a
	b[0]++
	*a = b
}
