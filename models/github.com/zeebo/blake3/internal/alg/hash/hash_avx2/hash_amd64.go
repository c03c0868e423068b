//go:build bfmodel

// Assembly over fixed operands, as the Go code that stands for it elsewhere.
// HashF reads length bytes of the input and the key, writes out, and writes the
// chain of a chunk that is not full. HashP reads two rows of chains and the key
// and writes out. What a vector loads beyond that is read, too.
package hash_avx2

//bf:inline
func bf_HashF(input *[8192]byte, length, counter uint64, flags uint32, key *[8]uint32, out *[64]uint32, chain *[8]uint32) {
	n := flags
	for _, c := range input {
		n += uint32(c)
	}
	for i := range out {
		out[i] = n + key[i%8]
	}
	for i := range chain {
		chain[i] += n
	}
}

//bf:inline
func bf_HashP(left, right *[64]uint32, flags uint32, key *[8]uint32, out *[64]uint32, n int) {
	for i := range out {
		out[i] = left[i] + right[i] + key[i%8]
	}
}
