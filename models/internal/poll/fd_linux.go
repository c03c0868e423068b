//go:build bfmodel

// A descriptor's own state is guarded by fdMutex, a lock for reading and one
// for writing built from atomics and runtime semaphores, and by the poller. It
// orders calls on one descriptor in no way that is promised, so none is shown.
// What remains is what a call does to the caller's memory: buffers are read or
// filled, up to all of their bytes, addresses likewise, and functions handed
// over are called in the calling goroutine, any number of times.
//
//bf:default inert a descriptor's state is synchronised inside
package poll

import (
	"io"
	"syscall"
	"time"
)

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

// bfx_err is any of the errors that a descriptor gives.
func bfx_err() error {
	switch {
	case bfMaybe():
		return nil
	case bfMaybe():
		return syscall.Errno(1)
	case bfMaybe():
		return ErrNetClosing
	case bfMaybe():
		return ErrFileClosing
	case bfMaybe():
		return ErrNoDeadline
	case bfMaybe():
		return ErrNotPollable
	case bfMaybe():
		return io.ErrUnexpectedEOF
	case bfMaybe():
		return ErrDeadlineExceeded
	}
	return io.EOF
}

func bfx_addr() syscall.Sockaddr {
	switch {
	case bfMaybe():
		return &syscall.SockaddrInet4{Port: 1}
	case bfMaybe():
		return &syscall.SockaddrInet6{Port: 1}
	case bfMaybe():
		return &syscall.SockaddrUnix{Name: "name"}
	}
	return nil
}

//bf:inline
func bfx_readAddr(sa syscall.Sockaddr) (n int) {
	switch sa := sa.(type) {
	case *syscall.SockaddrInet4:
		n = sa.Port + int(sa.Addr[0])
	case *syscall.SockaddrInet6:
		n = sa.Port + int(sa.Addr[0]) + int(sa.ZoneId)
	case *syscall.SockaddrUnix:
		n = len(sa.Name)
	}
	return n
}

//bf:inline
func (fd *FD) bf_Init(net string, pollable bool) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Read(p []byte) (int, error) {
	return bfx_fill(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_Pread(p []byte, off int64) (int, error) {
	return bfx_fill(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadFrom(p []byte) (int, syscall.Sockaddr, error) {
	return bfx_fill(p), bfx_addr(), bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadFromInet4(p []byte, from *syscall.SockaddrInet4) (int, error) {
	*from = syscall.SockaddrInet4{Port: 1}
	return bfx_fill(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadFromInet6(p []byte, from *syscall.SockaddrInet6) (int, error) {
	*from = syscall.SockaddrInet6{Port: 1}
	return bfx_fill(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadMsg(p []byte, oob []byte, flags int) (int, int, int, syscall.Sockaddr, error) {
	return bfx_fill(p), bfx_fill(oob), flags, bfx_addr(), bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadMsgInet4(p []byte, oob []byte, flags int, sa4 *syscall.SockaddrInet4) (int, int, int, error) {
	*sa4 = syscall.SockaddrInet4{Port: 1}
	return bfx_fill(p), bfx_fill(oob), flags, bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadMsgInet6(p []byte, oob []byte, flags int, sa6 *syscall.SockaddrInet6) (int, int, int, error) {
	*sa6 = syscall.SockaddrInet6{Port: 1}
	return bfx_fill(p), bfx_fill(oob), flags, bfx_err()
}

//bf:inline
func (fd *FD) bf_ReadDirent(buf []byte) (int, error) {
	return bfx_fill(buf), bfx_err()
}

//bf:inline
func (fd *FD) bf_Write(p []byte) (int, error) {
	return bfx_read(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteOnce(p []byte) (int, error) {
	return bfx_read(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_Pwrite(p []byte, off int64) (int, error) {
	return bfx_read(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteTo(p []byte, sa syscall.Sockaddr) (int, error) {
	bfx_readAddr(sa)
	return bfx_read(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteToInet4(p []byte, sa *syscall.SockaddrInet4) (int, error) {
	bfx_readAddr(sa)
	return bfx_read(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteToInet6(p []byte, sa *syscall.SockaddrInet6) (int, error) {
	bfx_readAddr(sa)
	return bfx_read(p), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteMsg(p []byte, oob []byte, sa syscall.Sockaddr) (int, int, error) {
	bfx_readAddr(sa)
	return bfx_read(p), bfx_read(oob), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteMsgInet4(p []byte, oob []byte, sa *syscall.SockaddrInet4) (int, int, error) {
	bfx_readAddr(sa)
	return bfx_read(p), bfx_read(oob), bfx_err()
}

//bf:inline
func (fd *FD) bf_WriteMsgInet6(p []byte, oob []byte, sa *syscall.SockaddrInet6) (int, int, error) {
	bfx_readAddr(sa)
	return bfx_read(p), bfx_read(oob), bfx_err()
}

// Writev takes what it wrote out of the buffers: slices of the outer slice are
// dropped or shortened.

//bf:inline
func (fd *FD) bf_Writev(v *[][]byte) (int64, error) {
	n := 0
	for len(*v) > 0 {
		n += bfx_read((*v)[0])
		if bfMaybe() {
			(*v)[0] = (*v)[0][1:]
			break
		}
		(*v)[0] = nil
		*v = (*v)[1:]
	}
	return int64(n), bfx_err()
}

//bf:inline
func (fd *FD) bf_Accept() (int, syscall.Sockaddr, string, error) {
	return 1, bfx_addr(), "", bfx_err()
}

//bf:inline
func (fd *FD) bf_Dup() (int, string, error) {
	return 1, "", bfx_err()
}

//bf:inline
func (fd *FD) bf_Seek(offset int64, whence int) (int64, error) {
	return offset, bfx_err()
}

//bf:inline
func (fd *FD) bf_Fstat(s *syscall.Stat_t) error {
	*s = syscall.Stat_t{}
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Fstatat(name string, s *syscall.Stat_t, flags int) error {
	*s = syscall.Stat_t{}
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_GetsockoptInt(level, name int) (int, error) {
	return level, bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptIPMreq(level, name int, mreq *syscall.IPMreq) error {
	c := *mreq
	bfx_read(c.Multiaddr[:])
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptIPMreqn(level, name int, mreq *syscall.IPMreqn) error {
	c := *mreq
	bfx_read(c.Multiaddr[:])
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptIPv6Mreq(level, name int, mreq *syscall.IPv6Mreq) error {
	c := *mreq
	bfx_read(c.Multiaddr[:])
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptLinger(level, name int, l *syscall.Linger) error {
	c := *l
	bfx_read(make([]byte, c.Linger))
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Close() error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Fchdir() error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Fchmod(mode uint32) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Fchown(uid, gid int) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Fsync() error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Ftruncate(size int64) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetBlocking() error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetDeadline(t time.Time) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetReadDeadline(t time.Time) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetWriteDeadline(t time.Time) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptByte(level, name int, arg byte) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptInet4Addr(level, name int, arg [4]byte) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_SetsockoptInt(level, name, arg int) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_Shutdown(how int) error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_WaitWrite() error {
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_RawControl(f func(uintptr)) error {
	if bfMaybe() {
		f(1)
	}
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_RawRead(f func(uintptr) bool) error {
	for bfMaybe() {
		if f(1) {
			break
		}
	}
	return bfx_err()
}

//bf:inline
func (fd *FD) bf_RawWrite(f func(uintptr) bool) error {
	for bfMaybe() {
		if f(1) {
			break
		}
	}
	return bfx_err()
}

//bf:inline
func bf_DupCloseOnExec(fd int) (int, string, error) {
	return fd, "", bfx_err()
}

//bf:inline
func (e *DeadlineExceededError) bf_Error() string {
	return "i/o timeout"
}

//bf:inline
func (e errNetClosing) bf_Error() string {
	return "use of closed network connection"
}

//bf:inline
func bf_errClosing(isFile bool) error {
	return bfx_err()
}
