package detect

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bfverify/bfverify/dynamic/internal/tracegen"
	"github.com/bfverify/bfverify/dynamic/trace"
)

// comparePlaced returns in what bf differs from the reference on a trace with checks.
// A trace that was cut so that its checks are not precise says nothing.
func comparePlaced(t testing.TB, events []trace.Event) string {
	if trace.CheckPrecise(events) != nil {
		return ""
	}
	want := oracle(events, false)
	if s := differ(oracle(events, true), want); s != "" {
		return "the reference on checks:" + s
	}
	got, _ := racyBytes(t, "bf", Options{}, events)
	if s := differ(got, want); s != "" {
		return "bf" + s
	}
	return ""
}

// owed returns in what a detector with proxies fails: it must report only racy bytes,
// and for each racy byte itself or one of its proxy.
func owed(t testing.TB, name string, proxies, events []trace.Event) (string, Stats) {
	all := slices.Concat(proxies, events)
	want := oracle(events, false)
	got, stats := racyBytes(t, name, Options{}, all)
	for _, a := range got {
		if _, ok := slices.BinarySearch(want, a); !ok {
			return name + differ(got, want), stats
		}
	}
	for _, a := range want {
		if _, ok := slices.BinarySearch(got, a); !ok && !byProxy(a, got, all) {
			return name + differ(got, want), stats
		}
	}
	return "", stats
}

// byProxy reports whether a byte of the proxy of a was reported.
func byProxy(a uint64, got []uint64, all []trace.Event) bool {
	for i := range all {
		m := &all[i]
		if m.Kind != trace.Malloc || a < m.Addr || a >= m.Addr+m.Size {
			continue
		}
		for k := range all {
			p := &all[k]
			if p.Kind != trace.Proxy {
				break
			}
			if off := a - m.Addr; p.Site == m.Site && off >= p.Addr && off < p.Addr+p.Size {
				if j, _ := slices.BinarySearch(got, m.Addr+p.Stride); j < len(got) && got[j] < m.Addr+p.Stride+8 {
					return true
				}
			}
		}
	}
	return false
}

// TestRandomPlaced compares bf with the reference on traces with precise checks, and
// the detectors that use proxies on traces with the proxies that hold there.
func TestRandomPlaced(t *testing.T) {
	traces, size := 400, 400
	if *longEvents > 0 {
		size = 2000
		traces = *longEvents / size / 4
	}
	var proxied, checks, accesses uint64
	for seed := *firstSeed; seed < *firstSeed+uint64(traces); seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		events := tracegen.Generate(r, tracegen.Random(r, size))
		finish(slices.Clone(events), func(e *trace.Event) { events = append(events, *e) })
		placed := tracegen.Place(r, events)
		if err := trace.CheckPrecise(placed); err != nil {
			t.Fatalf("seed %d: %v: %v", seed, err, &placed[err.(*trace.ImpreciseError).Event])
		}
		if s := comparePlaced(t, placed); s != "" {
			t.Logf("seed %d", seed)
			explain(t, placed, func(e []trace.Event) string { return comparePlaced(t, e) })
		}
		for _, name := range []string{"rc", "sc"} {
			s, stats := owed(t, name, Learn(events, false), events)
			proxied += stats.Proxied
			if s != "" {
				t.Logf("seed %d", seed)
				explain(t, events, func(e []trace.Event) string {
					s, _ := owed(t, name, Learn(e, false), e)
					return s
				})
			}
		}
		s, stats := owed(t, "bf", Learn(placed, true), placed)
		if s != "" {
			t.Logf("seed %d", seed)
			explain(t, placed, func(e []trace.Event) string {
				if trace.CheckPrecise(e) != nil {
					return ""
				}
				s, _ := owed(t, "bf", Learn(e, true), e)
				return s
			})
		}
		proxied += stats.Proxied
		checks += stats.Placed
		accesses += stats.Accesses
	}
	t.Logf("%d traces: %d checks for %d accesses, %d accesses or checks skipped for a proxy", traces, checks, accesses, proxied)
	if proxied < uint64(traces) || checks > accesses || checks < accesses/10 {
		t.Error("the traces do not try enough")
	}
}
