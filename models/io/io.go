//go:build bfmodel

// Discard reads into a buffer of its own and throws it away; the real one
// takes the buffer from a pool and puts it back when it is done with it, for
// others to overwrite.
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
