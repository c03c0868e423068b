//go:build bfmodel

// Assembly that compares two buffers, of which b is as long as a or longer, and
// returns how many bytes are equal. It reads them, and writes nothing.
package zstd

//bf:inline
func bf_matchLen(a []byte, b []byte) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
