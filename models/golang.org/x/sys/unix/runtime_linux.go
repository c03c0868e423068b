//go:build bfmodel

// The vector that the kernel hands to a process is never written, so that a copy
// is as good. Random bytes are written to the buffer. Prlimit, a linkname of
// package syscall's, has the kernel read the new limit and write the old one;
// what package syscall notes of it, it notes atomically.
package unix

import "syscall"

func bf_runtime_getAuxv() []uintptr { return make([]uintptr, 2) }

//bf:inline
func bf_vgetrandom(p []byte, flags uint32) (ret int, supported bool) {
	for i := range p {
		p[i] = byte(flags)
	}
	return len(p), bfMaybe()
}

//bf:inline
func bf_syscall_prlimit(pid, resource int, newlimit, old *syscall.Rlimit) error {
	n := uint64(1)
	if newlimit != nil {
		n = newlimit.Cur + newlimit.Max
	}
	if old != nil {
		*old = syscall.Rlimit{Cur: n, Max: n}
	}
	if bfMaybe() {
		return EINVAL
	}
	return nil
}
