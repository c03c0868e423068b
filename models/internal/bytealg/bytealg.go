//go:build bfmodel

// Assembly that searches and compares reads its operands, up to all of them.
// Operands that are strings do not change. The rest of the package is Go.
package bytealg

func bfMaybe() bool

//bf:inline
func bfx_read(b []byte) (n int) {
	for _, c := range b {
		n += int(c)
	}
	return n
}

//bf:inline
func bf_Compare(a, b []byte) int { return bfx_read(a) - bfx_read(b) }

//bf:inline
func bf_Count(b []byte, c byte) int { return bfx_read(b) }

//bf:inline
func bf_Index(a, b []byte) int { return bfx_read(a) - bfx_read(b) }

//bf:inline
func bf_IndexByte(b []byte, c byte) int { return bfx_read(b) }

//bf:inline
func bf_MakeNoZero(n int) []byte { return make([]byte, n) }
