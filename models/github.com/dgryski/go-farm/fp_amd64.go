//go:build bfmodel

// Assembly that hashes the bytes that it reads. It writes nothing, as its results
// are numbers.
package farm

//bf:inline
func bf_Fingerprint64(s []byte) (n uint64) {
	for _, c := range s {
		n += uint64(c)
	}
	return n
}

//bf:inline
func bf_Fingerprint32(s []byte) (n uint32) {
	for _, c := range s {
		n += uint32(c)
	}
	return n
}
