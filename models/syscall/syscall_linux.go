//go:build bfmodel

// The kernel reads and writes memory whose address it gets as a number. Here
// each call does to the memory of its caller what the kernel does: buffers that
// are filled are written, those that are sent are read, records likewise. The
// kernel's own state is no variable of the program.
//
// What only takes names and numbers is analysed from its source, where it does
// nothing.
package syscall

import (
	"sync"
	"unsafe"
)

func bfMaybe() bool
func bfDeepRead(x any)
func bfStore(p, x any)
func bfDeepWrite(x any)
func bfUnknown(reason string)

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

func bfx_int() int {
	if bfMaybe() {
		return 1
	}
	return 2
}

func bfx_err() error {
	if bfMaybe() {
		return nil
	}
	return Errno(bfx_int())
}

//bf:inline
func bf_pipe2(p *[2]_C_int, flags int) (err error) {
	if p != nil {
		bfStore(p, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_readlinkat(dirfd int, path string, buf []byte) (n int, err error) {
	n = bfx_fill(buf)
	return n, bfx_err()
}

//bf:inline
func bf_utimensat(dirfd int, path string, times *[2]Timespec, flag int) (err error) {
	bfDeepRead(times)
	return bfx_err()
}

//bf:inline
func bf_Getcwd(buf []byte) (n int, err error) {
	n = bfx_fill(buf)
	return n, bfx_err()
}

//bf:inline
func bf_wait4(pid int, wstatus *_C_int, options int, rusage *Rusage) (wpid int, err error) {
	if wstatus != nil {
		bfStore(wstatus, nil)
	}
	if rusage != nil {
		bfStore(rusage, nil)
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_ptracePtr(request int, pid int, addr uintptr, data unsafe.Pointer) (err error) {
	bfUnknown("syscall: ptrace reads or writes memory of its caller")
	return bfx_err()
}

//bf:inline
func bf_mount(source string, target string, fstype string, flags uintptr, data *byte) (err error) {
	bfDeepRead(data)
	return bfx_err()
}

//bf:inline
func bf_Adjtimex(buf *Timex) (state int, err error) {
	if buf != nil {
		bfStore(buf, nil)
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_EpollCtl(epfd int, op int, fd int, event *EpollEvent) (err error) {
	bfDeepRead(event)
	return bfx_err()
}

//bf:inline
func bf_Getdents(fd int, buf []byte) (n int, err error) {
	n = bfx_fill(buf)
	return n, bfx_err()
}

//bf:inline
func bf_Getrusage(who int, rusage *Rusage) (err error) {
	if rusage != nil {
		bfStore(rusage, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_Getxattr(path string, attr string, dest []byte) (sz int, err error) {
	bfx_fill(dest)
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Klogctl(typ int, buf []byte) (n int, err error) {
	n = bfx_fill(buf)
	return n, bfx_err()
}

//bf:inline
func bf_Listxattr(path string, dest []byte) (sz int, err error) {
	bfx_fill(dest)
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Nanosleep(time *Timespec, leftover *Timespec) (err error) {
	bfDeepRead(time)
	if leftover != nil {
		bfStore(leftover, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_prlimit1(pid int, resource int, newlimit *Rlimit, old *Rlimit) (err error) {
	bfDeepRead(newlimit)
	if old != nil {
		bfStore(old, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_read(fd int, p []byte) (n int, err error) {
	n = bfx_fill(p)
	return n, bfx_err()
}

//bf:inline
func bf_Setdomainname(p []byte) (err error) {
	bfx_read(p)
	return bfx_err()
}

//bf:inline
func bf_Sethostname(p []byte) (err error) {
	bfx_read(p)
	return bfx_err()
}

//bf:inline
func bf_Settimeofday(tv *Timeval) (err error) {
	bfDeepRead(tv)
	return bfx_err()
}

//bf:inline
func bf_Setxattr(path string, attr string, data []byte, flags int) (err error) {
	bfx_read(data)
	return bfx_err()
}

//bf:inline
func bf_Sysinfo(info *Sysinfo_t) (err error) {
	if info != nil {
		bfStore(info, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_Times(tms *Tms) (ticks uintptr, err error) {
	if tms != nil {
		bfStore(tms, nil)
	}
	return uintptr(bfx_int()), bfx_err()
}

//bf:inline
func bf_Uname(buf *Utsname) (err error) {
	if buf != nil {
		bfStore(buf, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_write(fd int, p []byte) (n int, err error) {
	n = bfx_read(p)
	return n, bfx_err()
}

//bf:inline
func bf_Madvise(b []byte, advice int) (err error) {
	// b is advised of, not touched
	return bfx_err()
}

//bf:inline
func bf_Mprotect(b []byte, prot int) (err error) {
	// b is advised of, not touched
	return bfx_err()
}

//bf:inline
func bf_Mlock(b []byte) (err error) {
	// b is advised of, not touched
	return bfx_err()
}

//bf:inline
func bf_Munlock(b []byte) (err error) {
	// b is advised of, not touched
	return bfx_err()
}

//bf:inline
func bf_Fstat(fd int, stat *Stat_t) (err error) {
	if stat != nil {
		bfStore(stat, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_Fstatfs(fd int, buf *Statfs_t) (err error) {
	if buf != nil {
		bfStore(buf, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_pread(fd int, p []byte, offset int64) (n int, err error) {
	n = bfx_fill(p)
	return n, bfx_err()
}

//bf:inline
func bf_pwrite(fd int, p []byte, offset int64) (n int, err error) {
	n = bfx_read(p)
	return n, bfx_err()
}

//bf:inline
func bf_sendfile(outfd int, infd int, offset *int64, count int) (written int, err error) {
	if offset != nil {
		bfStore(offset, nil)
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Splice(rfd int, roff *int64, wfd int, woff *int64, len int, flags int) (n int64, err error) {
	if roff != nil {
		bfStore(roff, nil)
	}
	if woff != nil {
		bfStore(woff, nil)
	}
	return int64(bfx_int()), bfx_err()
}

//bf:inline
func bf_Statfs(path string, buf *Statfs_t) (err error) {
	if buf != nil {
		bfStore(buf, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_accept4(s int, rsa *RawSockaddrAny, addrlen *_Socklen, flags int) (fd int, err error) {
	if rsa != nil {
		bfStore(rsa, nil)
	}
	if addrlen != nil {
		bfStore(addrlen, nil)
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_bind(s int, addr unsafe.Pointer, addrlen _Socklen) (err error) {
	bfDeepRead(addr)
	return bfx_err()
}

//bf:inline
func bf_connect(s int, addr unsafe.Pointer, addrlen _Socklen) (err error) {
	bfDeepRead(addr)
	return bfx_err()
}

//bf:inline
func bf_fstatat(fd int, path string, stat *Stat_t, flags int) (err error) {
	if stat != nil {
		bfStore(stat, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_getsockopt(s int, level int, name int, val unsafe.Pointer, vallen *_Socklen) (err error) {
	if vallen != nil {
		bfStore(vallen, nil)
	}
	bfStore(val, nil)
	return bfx_err()
}

//bf:inline
func bf_setsockopt(s int, level int, name int, val unsafe.Pointer, vallen uintptr) (err error) {
	bfDeepRead(val)
	return bfx_err()
}

//bf:inline
func bf_socketpair(domain int, typ int, proto int, fd *[2]int32) (err error) {
	if fd != nil {
		bfStore(fd, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_getpeername(fd int, rsa *RawSockaddrAny, addrlen *_Socklen) (err error) {
	if rsa != nil {
		bfStore(rsa, nil)
	}
	if addrlen != nil {
		bfStore(addrlen, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_getsockname(fd int, rsa *RawSockaddrAny, addrlen *_Socklen) (err error) {
	if rsa != nil {
		bfStore(rsa, nil)
	}
	if addrlen != nil {
		bfStore(addrlen, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_recvfrom(fd int, p []byte, flags int, from *RawSockaddrAny, fromlen *_Socklen) (n int, err error) {
	n = bfx_fill(p)
	if from != nil {
		bfStore(from, nil)
	}
	if fromlen != nil {
		bfStore(fromlen, nil)
	}
	return n, bfx_err()
}

//bf:inline
func bf_sendto(s int, buf []byte, flags int, to unsafe.Pointer, addrlen _Socklen) (err error) {
	bfx_read(buf)
	bfDeepRead(to)
	return bfx_err()
}

//bf:inline
func bf_recvmsg(s int, msg *Msghdr, flags int) (n int, err error) {
	bfDeepWrite(msg) // and the buffers that it points to
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_sendmsg(s int, msg *Msghdr, flags int) (n int, err error) {
	bfDeepRead(msg)
	return bfx_int(), bfx_err()
}

// Mapped memory is fresh: two mappings have two addresses.

//bf:inline
func (m *mmapper) bf_Mmap(fd int, offset int64, length int, prot int, flags int) (data []byte, err error) {
	if bfMaybe() {
		return nil, bfx_err()
	}
	return make([]byte, length), nil
}

//bf:inline
func (m *mmapper) bf_Munmap(data []byte) (err error) {
	return bfx_err()
}

// A child process gets copies of the strings, under ForkLock, as in the source.

//bf:inline
func bf_forkExec(argv0 string, argv []string, attr *ProcAttr) (pid int, err error) {
	if attr == nil {
		attr = &zeroProcAttr
	}
	sys := attr.Sys
	if sys == nil {
		sys = &zeroSysProcAttr
	}
	n := 0
	for _, s := range argv {
		n += len(s)
	}
	for _, s := range attr.Env {
		n += len(s)
	}
	for _, f := range attr.Files {
		n += int(f)
	}
	n += len(attr.Dir)
	c := *sys
	if c.Credential != nil {
		for _, g := range c.Credential.Groups {
			n += int(g)
		}
		n += int(c.Credential.Uid)
	}
	for _, x := range c.UidMappings {
		n += x.Size
	}
	for _, x := range c.GidMappings {
		n += x.Size
	}
	for _, x := range c.AmbientCaps {
		n += int(x)
	}
	ForkLock.Lock()
	if c.PidFD != nil {
		*c.PidFD = n
	}
	ForkLock.Unlock()
	return n, bfx_err()
}

//bf:inline
func bf_Exec(argv0 string, argv []string, envv []string) (err error) {
	n := 0
	for _, s := range argv {
		n += len(s)
	}
	for _, s := range envv {
		n += len(s)
	}
	return Errno(n)
}

// The rest comes from the runtime.

//bf:inline
func bf_runtime_envs() []string {
	return make([]string, 1)
}

//bf:inline
func bf_hasWaitingReaders(rw *sync.RWMutex) bool {
	return bfMaybe()
}

//bf:inline
func bf_cgocaller(fn unsafe.Pointer, args ...uintptr) uintptr {
	return uintptr(bfx_int())
}

// runtimeClearenv goes through the map and takes each name out of the
// environment of C, if there is one; the map is not changed.
//
//bf:inline
func bf_runtimeClearenv(env map[string]int) {
	for k := range env {
		runtimeUnsetenv(k)
	}
}
