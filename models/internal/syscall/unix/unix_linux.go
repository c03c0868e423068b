//go:build bfmodel

// The socket calls are package syscall's, reached by linknames; like all of
// them here they do to the caller's buffers and addresses what the kernel
// does. Waitid and Fstatat fill a record.
package unix

import "syscall"

func bfMaybe() bool

//bf:inline
func bfx_read(b []byte) (n int) {
	for _, c := range b {
		n += int(c)
	}
	return n
}

//bf:inline
func bfx_fill(b []byte) int {
	for i := range b {
		b[i] = 1
	}
	return len(b)
}

func bfx_err() error {
	if bfMaybe() {
		return nil
	}
	return syscall.Errno(1)
}

//bf:inline
func bf_RecvfromInet4(fd int, p []byte, flags int, from *syscall.SockaddrInet4) (int, error) {
	*from = syscall.SockaddrInet4{Port: 1}
	return bfx_fill(p), bfx_err()
}

//bf:inline
func bf_RecvfromInet6(fd int, p []byte, flags int, from *syscall.SockaddrInet6) (n int, err error) {
	*from = syscall.SockaddrInet6{Port: 1}
	return bfx_fill(p), bfx_err()
}

//bf:inline
func bf_RecvmsgInet4(fd int, p, oob []byte, flags int, from *syscall.SockaddrInet4) (n, oobn int, recvflags int, err error) {
	*from = syscall.SockaddrInet4{Port: 1}
	return bfx_fill(p), bfx_fill(oob), flags, bfx_err()
}

//bf:inline
func bf_RecvmsgInet6(fd int, p, oob []byte, flags int, from *syscall.SockaddrInet6) (n, oobn int, recvflags int, err error) {
	*from = syscall.SockaddrInet6{Port: 1}
	return bfx_fill(p), bfx_fill(oob), flags, bfx_err()
}

//bf:inline
func bf_SendtoInet4(fd int, p []byte, flags int, to *syscall.SockaddrInet4) (err error) {
	if bfx_read(p)+to.Port+int(to.Addr[0]) == 0 {
		return nil
	}
	return bfx_err()
}

//bf:inline
func bf_SendtoInet6(fd int, p []byte, flags int, to *syscall.SockaddrInet6) (err error) {
	if bfx_read(p)+to.Port+int(to.Addr[0])+int(to.ZoneId) == 0 {
		return nil
	}
	return bfx_err()
}

//bf:inline
func bf_SendmsgNInet4(fd int, p, oob []byte, to *syscall.SockaddrInet4, flags int) (n int, err error) {
	return bfx_read(p) + bfx_read(oob) + to.Port + int(to.Addr[0]), bfx_err()
}

//bf:inline
func bf_SendmsgNInet6(fd int, p, oob []byte, to *syscall.SockaddrInet6, flags int) (n int, err error) {
	return bfx_read(p) + bfx_read(oob) + to.Port + int(to.Addr[0]) + int(to.ZoneId), bfx_err()
}

//bf:inline
func bf_vgetrandom(p []byte, flags uint32) (ret int, supported bool) { return bfx_fill(p), bfMaybe() }

//bf:inline
func bf_GetRandom(p []byte, flags GetRandomFlag) (n int, err error) { return bfx_fill(p), bfx_err() }

//bf:inline
func bf_Readlinkat(dirfd int, path string, buf []byte) (int, error) { return bfx_fill(buf), bfx_err() }

//bf:inline
func bf_Fstatat(dirfd int, path string, stat *syscall.Stat_t, flags int) error {
	*stat = syscall.Stat_t{}
	return bfx_err()
}

//bf:inline
func bf_Waitid(idType int, id int, info *SiginfoChild, options int, rusage *syscall.Rusage) error {
	if info != nil {
		*info = SiginfoChild{}
	}
	if rusage != nil {
		*rusage = syscall.Rusage{}
	}
	return bfx_err()
}

//bf:inline
func bf_CopyFileRange(rfd int, roff *int64, wfd int, woff *int64, len int, flags int) (n int, err error) {
	if roff != nil {
		*roff += int64(len)
	}
	if woff != nil {
		*woff += int64(len)
	}
	return len, bfx_err()
}

// Utimensat hands two times to the kernel, which reads them; nil is "now".
//
//bf:inline
func bf_Utimensat(dirfd int, path string, times *[2]syscall.Timespec, flag int) error {
	if times != nil && times[0].Sec+times[0].Nsec+times[1].Sec+times[1].Nsec == 0 {
		return nil
	}
	return bfx_err()
}
