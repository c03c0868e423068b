//go:build bfmodel

// A buffer from the pool belongs to whoever took it until it is freed, and the
// handlers that use this package free it when they are done: it is as good as
// a fresh one. Who takes it next overwrites it.
package buffer

//bf:inline
func bf_New() *Buffer {
	b := make([]byte, 0, 1024)
	return (*Buffer)(&b)
}

//bf:inline
func (b *Buffer) bf_Free() {
	clear(*b)
	*b = (*b)[:0]
}
