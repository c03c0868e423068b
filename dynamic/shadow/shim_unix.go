//go:build unix

package shadow

import "syscall"

// mapBlock returns zeroed memory outside the Go heap.
func mapBlock(n uintptr) []byte {
	b, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func unmapBlock(b []byte) {
	if err := syscall.Munmap(b); err != nil {
		fatal(err.Error())
	}
}
