package detect

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/dynamic/internal/tracegen"
	"github.com/bfverify/bfverify/dynamic/reference"
	"github.com/bfverify/bfverify/dynamic/trace"
)

var (
	longEvents = flag.Int("events", 0, "events of random traces in the long mode")
	firstSeed  = flag.Uint64("seed", 1, "first seed of the random traces")
)

// racyBytes runs a detector and returns the bytes that it reports, sorted.
func racyBytes(t testing.TB, name string, o Options, events []trace.Event) ([]uint64, Stats) {
	alg, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	d := New(alg, o, func(r Race) {
		if r.First.G == r.Second.G {
			t.Fatalf("%s: g%d races with itself: %+v", name, r.First.G, r)
		}
		if !r.First.Write && !r.Second.Write || r.First.Atomic && r.Second.Atomic {
			t.Fatalf("%s: no conflict: %+v", name, r)
		}
		for i := range r.Count {
			for k := range r.Size {
				seen[r.Addr+i*r.Stride+k] = true
			}
		}
	})
	defer d.Close()
	for i := range events {
		d.Event(&events[i])
	}
	// What is pending is committed when goroutines end.
	finish(events, d.Event)
	all := make([]uint64, 0, len(seen))
	for a := range seen {
		all = append(all, a)
	}
	slices.Sort(all)
	return all, d.Stats()
}

// finish ends all goroutines that still run.
func finish(events []trace.Event, event func(*trace.Event)) {
	runs := map[uint32]bool{0: true}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case trace.Fork:
			runs[e.Other] = true
		case trace.End:
			delete(runs, e.G)
		}
	}
	var ids []uint32
	for g := range runs {
		ids = append(ids, g)
	}
	slices.Sort(ids)
	for _, g := range ids {
		event(&trace.Event{Kind: trace.End, G: g})
	}
}

func oracle(events []trace.Event, checks bool) []uint64 {
	var all []uint64
	for _, r := range reference.Run(events, checks) {
		all = append(all, r.Addr)
	}
	return all
}

// differ reports how two sorted sets differ.
func differ(got, want []uint64) string {
	if slices.Equal(got, want) {
		return ""
	}
	s := ""
	for _, a := range got {
		if _, ok := slices.BinarySearch(want, a); !ok {
			s += fmt.Sprintf(" false %#x", a)
		}
	}
	for _, a := range want {
		if _, ok := slices.BinarySearch(got, a); !ok {
			s += fmt.Sprintf(" missed %#x", a)
		}
	}
	if len(s) > 300 {
		s = s[:300] + "..."
	}
	return s
}

// precise are the detectors that owe the same bytes as the reference, if the trace
// declares no proxies.
var precise = []string{"ft", "rc", "ss", "sc"}

// compare returns in what the detectors differ from the reference, or "".
func compare(t testing.TB, events []trace.Event) string {
	want := oracle(events, false)
	for _, name := range precise {
		for _, firsts := range []bool{false, name == "ft" || name == "ss"} {
			got, _ := racyBytes(t, name, Options{Firsts: firsts}, events)
			if s := differ(got, want); s != "" {
				return name + s
			}
		}
	}
	return ""
}

// explain minimises a trace on which a detector is wrong.
func explain(t testing.TB, events []trace.Event, wrong func([]trace.Event) string) {
	t.Helper()
	small := trace.Minimize(events, 3000, func(e []trace.Event) bool { return wrong(e) != "" })
	var b bytes.Buffer
	for i := range small {
		fmt.Fprintf(&b, "%4d %v\n", i, &small[i])
	}
	t.Fatalf("%s\n%s", wrong(small), b.String())
}

// TestRandomSteps commits footprints in pieces, at random points. TestRandom has
// them whole.
func TestRandomSteps(t *testing.T) {
	compareSteps := func(events []trace.Event, step uint32) string {
		got, _ := racyBytes(t, "ss", Options{Step: step}, events)
		return differ(got, oracle(events, false))
	}
	for seed := *firstSeed; seed < *firstSeed+150; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		c := tracegen.Random(r, 300)
		c.Arrays = 1 + r.IntN(3)
		events := tracegen.Generate(r, c)
		step := 1 + r.Uint32N(20)
		var more []trace.Event
		for i := range events {
			more = append(more, events[i])
			if events[i].Kind != trace.End && r.IntN(3) == 0 {
				more = append(more, trace.Event{Kind: trace.Commit, G: events[i].G})
			}
		}
		if compareSteps(more, step) != "" {
			t.Logf("seed %d, steps of %d", seed, step)
			explain(t, more, func(e []trace.Event) string { return compareSteps(e, step) })
		}
	}
}

// TestRandomRows has each byte of a trace thirtytwo times: what was a word is a row.
func TestRandomRows(t *testing.T) {
	wrong := func(events []trace.Event) string {
		got, _ := racyBytes(t, "ft", Options{Firsts: true}, events)
		return differ(got, oracle(events, false))
	}
	for seed := *firstSeed; seed < *firstSeed+150; seed++ {
		r := rand.New(rand.NewPCG(seed, 5))
		events := tracegen.Generate(r, tracegen.Random(r, 200))
		for i := range events {
			e := &events[i]
			e.Addr = e.Addr % (1 << 30) * 32 // as far apart as before
			switch e.Kind {
			case trace.Acquire, trace.Release, trace.ReleaseMerge, trace.ReleaseAcquire:
			default:
				e.Size *= 32
				e.Stride *= 32
			}
		}
		if wrong(events) != "" {
			t.Logf("seed %d", seed)
			explain(t, events, wrong)
		}
	}
}

// TestRandomFewSlots has too few slots: nothing false may be reported, and nothing
// missed unless that is counted.
func TestRandomFewSlots(t *testing.T) {
	missing := 0
	for seed := *firstSeed; seed < *firstSeed+150; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		c := tracegen.Random(r, 400)
		c.Threads += r.IntN(10)
		c.Ends = true
		slots := 1 + r.Uint32N(12)
		events := tracegen.Generate(r, c)
		compareFew := func(events []trace.Event) string {
			want := oracle(events, false)
			for _, name := range []string{"ft", "ss"} {
				got, stats := racyBytes(t, name, Options{Slots: slots}, events)
				if s := differ(got, want); s != "" {
					if stats.Missing() == "" || strings.Contains(s, "false") {
						return name + s
					}
					missing++
				}
			}
			return ""
		}
		if compareFew(events) != "" {
			t.Logf("seed %d, %d slots", seed, slots)
			explain(t, events, compareFew)
		}
	}
	if missing == 0 {
		t.Error("no trace had more goroutines than slots can tell apart")
	}
}

// TestRandom compares all detectors with the reference, byte by byte.
func TestRandom(t *testing.T) {
	traces, size := 600, 400
	if *longEvents > 0 {
		size = 2000
		traces = *longEvents / size
	}
	racy, events := 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(traces); seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		all := tracegen.Generate(r, tracegen.Random(r, size))
		events += len(all)
		if compare(t, all) != "" {
			t.Logf("seed %d", seed)
			explain(t, all, func(e []trace.Event) string { return compare(t, e) })
		}
		if len(oracle(all, false)) > 0 {
			racy++
		}
	}
	t.Logf("%d traces, %d of them racy, %d events", traces, racy, events)
	if racy < traces/5 || racy > traces*4/5 {
		t.Errorf("%d of %d traces are racy", racy, traces)
	}
}
