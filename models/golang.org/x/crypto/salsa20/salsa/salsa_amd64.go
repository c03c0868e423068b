//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package salsa

import "unsafe"

//bf:inline
func bf_salsa2020XORKeyStream(out, in *byte, n uint64, nonce, key *byte) {
	o, i := unsafe.Slice(out, n), unsafe.Slice(in, n)
	k := unsafe.Slice(nonce, 16)[0] + unsafe.Slice(key, 32)[0]
	for j := range o {
		o[j] = i[j] ^ k
	}
}
