//go:build bfmodel

// Read looks at the names and fills the values; a histogram that a value
// already holds is filled again if it has room.
package metrics

import "unsafe"

func bfMaybe() bool

func bf_Read(m []Sample) {
	for i := range m {
		if m[i].Name == "" {
			m[i].Value = Value{}
			continue
		}
		h := new(Float64Histogram)
		if bfMaybe() && m[i].Value.pointer != nil {
			h = (*Float64Histogram)(m[i].Value.pointer)
			for j := range h.Counts {
				h.Counts[j] = 1
			}
		}
		if bfMaybe() {
			h.Counts, h.Buckets = make([]uint64, 1), make([]float64, 2)
		}
		m[i].Value = Value{kind: KindFloat64Histogram, scalar: 1, pointer: unsafe.Pointer(h)}
	}
}

// What the replaced body called is never reached.
func bf_runtime_readMetrics(p unsafe.Pointer, len, cap int) {}
