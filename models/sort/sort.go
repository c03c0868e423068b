//go:build bfmodel

// Sorting compares and exchanges elements any number of times, in the calling
// goroutine; which ones, the algorithm decides. Slices of unknown type have
// their elements overwritten, one level and no deeper.
package sort

func bfMaybe() bool
func bfStore(p, x any)

func bfx_int() int {
	if bfMaybe() {
		return 0
	}
	return 1
}

//bf:inline
func bf_Slice(x any, less func(i, j int) bool) {
	for bfMaybe() {
		less(bfx_int(), bfx_int())
		bfStore(x, nil)
	}
}

//bf:inline
func bf_SliceStable(x any, less func(i, j int) bool) {
	for bfMaybe() {
		less(bfx_int(), bfx_int())
		bfStore(x, nil)
	}
}

//bf:inline
func bf_SliceIsSorted(x any, less func(i, j int) bool) bool {
	for bfMaybe() {
		less(bfx_int(), bfx_int())
	}
	return bfMaybe()
}

//bf:inline
func bf_Sort(data Interface) {
	data.Len()
	for bfMaybe() {
		data.Less(bfx_int(), bfx_int())
		data.Swap(bfx_int(), bfx_int())
	}
}

//bf:inline
func bf_Stable(data Interface) {
	data.Len()
	for bfMaybe() {
		data.Less(bfx_int(), bfx_int())
		data.Swap(bfx_int(), bfx_int())
	}
}
