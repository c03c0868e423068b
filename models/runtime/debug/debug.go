//go:build bfmodel

// Only readGCStats touches memory of the caller: it fills the slice, growing
// it within or beyond its capacity. The rest of the package is Go around
// calls that take and give numbers.
package debug

import "time"

func bf_readGCStats(p *[]time.Duration) {
	s := *p
	for i := range s {
		s[i] = 0
	}
	*p = append(s[:0], make([]time.Duration, 1)...)
}
