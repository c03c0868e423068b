//go:build bfmodel

// System calls of this architecture, as in syscall_linux.go.
package syscall

//bf:inline
func bf_readlen(fd int, p *byte, np int) (n int, err error) {
	bfDeepWrite(p)
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Select(nfd int, r *FdSet, w *FdSet, e *FdSet, timeout *Timeval) (n int, err error) {
	bfDeepRead(timeout)
	if r != nil {
		bfDeepWrite(r)
	}
	if w != nil {
		bfDeepWrite(w)
	}
	if e != nil {
		bfDeepWrite(e)
	}
	return bfx_int(), bfx_err()
}

//bf:inline
func bf_Ustat(dev int, ubuf *Ustat_t) (err error) {
	if ubuf != nil {
		bfDeepWrite(ubuf)
	}
	return bfx_err()
}

//bf:inline
func bf_getgroups(n int, list *_Gid_t) (nn int, err error) {
	bfDeepWrite(list)
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
