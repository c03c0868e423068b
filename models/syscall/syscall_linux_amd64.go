//go:build bfmodel

// System calls of this architecture, as in syscall_linux.go.
package syscall

//bf:inline
func bf_readlen(fd int, p *byte, np int) (n int, err error) {
	bfStore(p, nil)
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Select(nfd int, r *FdSet, w *FdSet, e *FdSet, timeout *Timeval) (n int, err error) {
	bfDeepRead(timeout)
	if r != nil {
		bfStore(r, nil)
	}
	if w != nil {
		bfStore(w, nil)
	}
	if e != nil {
		bfStore(e, nil)
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Ustat(dev int, ubuf *Ustat_t) (err error) {
	if ubuf != nil {
		bfStore(ubuf, nil)
	}
	return bfx_err()
}

//bf:inline
func bf_getgroups(n int, list *_Gid_t) (nn int, err error) {
	bfStore(list, nil)
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_EpollWait(epfd int, events []EpollEvent, msec int) (n int, err error) {
	for i := range events {
		events[i] = EpollEvent{}
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_futimesat(dirfd int, path string, times *[2]Timeval) (err error) {
	bfDeepRead(times)
	return bfx_err()
}

//bf:inline
func bf_Utime(path string, buf *Utimbuf) (err error) {
	bfDeepRead(buf)
	return bfx_err()
}

//bf:inline
func bf_utimes(path string, times *[2]Timeval) (err error) {
	bfDeepRead(times)
	return bfx_err()
}

// gettimeofday is assembly that writes the record that it is handed.
//
//bf:inline
func bf_gettimeofday(timeval *Timeval) (err Errno) {
	*timeval = Timeval{Sec: 1, Usec: 1}
	return 0
}
