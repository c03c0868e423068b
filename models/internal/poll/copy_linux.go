//go:build bfmodel

// The kernel copies between descriptors; no memory of the program takes part.
package poll

//bf:inline
func bf_CopyFileRange(dst, src *FD, remain int64) (written int64, handled bool, err error) {
	return remain, bfMaybe(), bfx_err()
}

//bf:inline
func bf_Splice(dst, src *FD, remain int64) (written int64, handled bool, err error) {
	return remain, bfMaybe(), bfx_err()
}

//bf:inline
func bf_SendFile(dstFD *FD, src uintptr, size int64) (n int64, err error, handled bool) {
	return size, bfx_err(), bfMaybe()
}
