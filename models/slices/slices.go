//go:build bfmodel

// Sorting compares and exchanges elements any number of times, in the calling
// goroutine; which ones, the algorithm decides.
package slices

import "cmp"

func bfMaybe() bool

//bf:inline
func bf_Sort[S ~[]E, E cmp.Ordered](x S) {
	for i := range x {
		for j := range x {
			if x[i] < x[j] {
				x[i], x[j] = x[j], x[i]
			}
		}
	}
}

//bf:inline
func bf_SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	for i := range x {
		for j := range x {
			if cmp(x[i], x[j]) < 0 {
				x[i], x[j] = x[j], x[i]
			}
		}
	}
}

//bf:inline
func bf_SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	for i := range x {
		for j := range x {
			if cmp(x[i], x[j]) < 0 {
				x[i], x[j] = x[j], x[i]
			}
		}
	}
}
