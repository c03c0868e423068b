package detect

import (
	"testing"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// sweeps is the trace of two goroutines that compute dst[i] from src[i], each on its
// elements, with a barrier after each sweep; share says whose element i is. Checks are
// placed after each sweep, coalesced.
func sweeps(n, rounds uint64, share func(i uint64) uint32, checks func(g uint32) trace.Part) []trace.Event {
	const src, dst = 0xc000000000, 0xc010000000
	events := []trace.Event{
		{Kind: trace.Malloc, Addr: src, Size: n * 8}, {Kind: trace.Array, Addr: src, Size: 8, Count: n},
		{Kind: trace.Malloc, Addr: dst, Size: n * 8}, {Kind: trace.Array, Addr: dst, Size: 8, Count: n},
		{Kind: trace.Fork, Other: 1}, {Kind: trace.Fork, Other: 2},
	}
	from, to := uint64(src), uint64(dst)
	for range rounds {
		for i := range n {
			g := share(i)
			events = append(events, trace.Event{Kind: trace.Read, G: g, Addr: from + i*8, Size: 8, Site: 1},
				trace.Event{Kind: trace.Write, G: g, Addr: to + i*8, Size: 8, Site: 2})
		}
		for g := uint32(1); g <= 2; g++ {
			r, w := checks(g), checks(g)
			r.Addr += from
			w.Addr += to
			events = append(events, trace.Event{Kind: trace.CheckRead, G: g, Parts: []trace.Part{r}}, trace.Event{Kind: trace.CheckWrite, G: g, Parts: []trace.Part{w}},
				trace.Event{Kind: trace.ReleaseMerge, G: g, Addr: 64})
		}
		for g := uint32(1); g <= 2; g++ {
			events = append(events, trace.Event{Kind: trace.Acquire, G: g, Addr: 64})
		}
		from, to = to, from
	}
	return events
}

// BenchmarkDetectors replays sweeps over arrays of 65536 elements that are shared in
// halves or alternately.
func BenchmarkDetectors(b *testing.B) {
	const n = 1 << 16
	half := sweeps(n, 4, func(i uint64) uint32 { return 1 + uint32(i/(n/2)) },
		func(g uint32) trace.Part {
			return trace.Part{Addr: uint64(g-1) * n / 2 * 8, Size: 8, Count: n / 2, Stride: 8}
		})
	alternate := sweeps(n, 4, func(i uint64) uint32 { return 1 + uint32(i%2) },
		func(g uint32) trace.Part { return trace.Part{Addr: uint64(g-1) * 8, Size: 8, Count: n / 2, Stride: 16} })
	for _, tr := range []struct {
		name   string
		events []trace.Event
	}{{"halves", half}, {"alternate", alternate}} {
		for _, alg := range Algorithms {
			b.Run(tr.name+"/"+alg.Name, func(b *testing.B) {
				var stats Stats
				for b.Loop() {
					d := New(alg, Options{}, func(r Race) { b.Fatalf("%+v", r) })
					for i := range tr.events {
						d.Event(&tr.events[i])
					}
					d.Finish()
					stats = d.Stats()
					d.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(stats.Accesses), "ns/access")
				b.ReportMetric(float64(stats.Checks)/float64(stats.Accesses), "ops/access")
				b.ReportMetric(float64(stats.Locations)/(2*n), "locations/elem")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
