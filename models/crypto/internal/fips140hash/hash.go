//go:build bfmodel

// sha3Unwrap is crypto/sha3's, reached by a linkname: it gives the address of
// the only field.
package fips140hash

import (
	fsha3 "crypto/internal/fips140/sha3"
	"crypto/sha3"
	"unsafe"
)

//bf:inline
func bf_sha3Unwrap(s *sha3.SHA3) *fsha3.Digest {
	return (*fsha3.Digest)(unsafe.Pointer(s))
}
