//go:build bfmodel

// Discard reads into a buffer of its own and throws it away; the real one
// takes the buffer from a pool and puts it back when it is done with it, for
// others to overwrite.
//
// What a pipe's Write is handed is read between its call and its return, by
// whoever reads from the pipe; the writer waits for that on a channel. Here the
// writer reads it itself, and hands on as many bytes that nobody writes.
package io

func (discard) bf_ReadFrom(r Reader) (n int64, err error) {
	b := make([]byte, 1)
	defer clear(b)
	for {
		k, err := r.Read(b)
		n += int64(k)
		if err != nil {
			if err == EOF {
				return n, nil
			}
			return n, err
		}
	}
}

func (p *pipe) bf_write(b []byte) (n int, err error) {
	select {
	case <-p.done:
		return 0, p.writeCloseError()
	default:
		p.wrMu.Lock()
		defer p.wrMu.Unlock()
	}
	c := make([]byte, len(b))
	for _, x := range b {
		n += int(x)
	}
	n = 0
	for once := true; once || len(c) > 0; once = false {
		select {
		case p.wrCh <- c:
			nw := <-p.rdCh
			c = c[nw:]
			n += nw
		case <-p.done:
			return n, p.writeCloseError()
		}
	}
	return n, nil
}
