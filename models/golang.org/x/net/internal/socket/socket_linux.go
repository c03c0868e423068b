//go:build bfmodel

// Linknames of package syscall's: the kernel writes an option of at most *vallen
// bytes at val, and its length to *vallen; or it reads vallen bytes at val.
package socket

import (
	"syscall"
	"unsafe"
)

func bfMaybe() bool

func bfx_err() error {
	if bfMaybe() {
		return nil
	}
	return syscall.Errno(1)
}

//bf:inline
func bf_syscall_getsockopt(s, level, name int, val unsafe.Pointer, vallen *uint32) error {
	b := unsafe.Slice((*byte)(val), *vallen)
	for i := range b {
		b[i] = 1
	}
	*vallen = 1
	return bfx_err()
}

//bf:inline
func bf_syscall_setsockopt(s, level, name int, val unsafe.Pointer, vallen uintptr) error {
	n := byte(0)
	for _, c := range unsafe.Slice((*byte)(val), vallen) {
		n += c
	}
	if n == 0 {
		return nil
	}
	return bfx_err()
}
