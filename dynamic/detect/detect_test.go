package detect

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/dynamic/internal/tracegen"
	"github.com/bfverify/bfverify/dynamic/trace"
)

const objectAt = 0xc000000000

// word is an access to a word of the object.
func word(k trace.Kind, g uint32, field uint64) trace.Event {
	return trace.Event{Kind: k, G: g, Addr: objectAt + field*8, Size: 8}
}

func syncBy(k trace.Kind, g uint32) trace.Event { return trace.Event{Kind: k, G: g, Addr: 64} }

var start = []trace.Event{
	{Kind: trace.Malloc, Addr: objectAt, Size: 32, Site: 5},
	{Kind: trace.Fork, Other: 1},
	{Kind: trace.Fork, Other: 2},
}

func with(events ...trace.Event) []trace.Event {
	return append(start[:len(start):len(start)], events...)
}

// TestLearn has the conditions of a proxy, each broken once. f is word 0, g word 1.
func TestLearn(t *testing.T) {
	const w, r = trace.Write, trace.Read
	const acq, rel = trace.Acquire, trace.Release
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   string // "a<b": the races on a are found on b
	}{
		{"together", with(word(w, 1, 0), word(w, 1, 1)), "1<0"},
		{"the other way", with(word(w, 1, 1), word(w, 1, 0)), "1<0"},
		{"f alone too", with(word(w, 1, 0), word(w, 1, 1), syncBy(rel, 1), word(w, 1, 0)), "1<0"},
		{"g alone too", with(word(w, 1, 0), word(w, 1, 1), syncBy(rel, 1), word(w, 1, 1)), "0<1"},
		{"each alone", with(word(w, 1, 0), syncBy(rel, 1), word(w, 1, 1)), ""},
		{"f first, then an acquire", with(word(w, 1, 0), syncBy(acq, 1), word(w, 1, 1)), "1<0"},
		{"g first, then an acquire", with(word(w, 1, 1), syncBy(acq, 1), word(w, 1, 0)), "0<1"},
		{"f first, then a release", with(word(w, 1, 0), syncBy(rel, 1), word(w, 1, 1)), ""},
		{"a read does not stand for a write", with(word(r, 1, 0), word(w, 1, 1)), "0<1"},
		{"a write stands for a read", with(word(w, 1, 0), word(r, 1, 1)), "1<0"},
		{"another goroutine", with(word(w, 1, 0), word(w, 2, 1)), ""},
		{"another life", with(word(w, 1, 0), trace.Event{Kind: trace.Malloc, Addr: objectAt, Size: 32, Site: 5}, word(w, 1, 1)), ""},
		{"a piece of a field", with(word(w, 1, 0), word(w, 1, 1), trace.Event{Kind: r, Addr: objectAt + 8, Size: 4}), ""},
		{"atomic", with(word(w, 1, 0), word(w, 1, 1), word(trace.AtomicRead, 2, 2)), ""},
		{"three", with(word(w, 1, 0), word(w, 1, 1), word(w, 1, 2), syncBy(rel, 1), word(w, 1, 1), word(w, 1, 2)), "0<1 2<1"},
		{"chain", with(word(w, 1, 0), syncBy(rel, 1), word(w, 1, 0), word(w, 1, 1), syncBy(rel, 1), word(w, 1, 0), word(w, 1, 1), word(w, 1, 2)), "1<0 2<0"},
	} {
		var got []string
		for _, p := range Learn(test.events, false) {
			got = append(got, fmt.Sprintf("%d<%d", p.Addr/8, p.Stride/8))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: proxies %q, want %q", test.name, s, test.want)
		}
	}
}

// TestProxyAfterAcquire is the trace of the package comment: the proxy that RedCard's
// condition allows misses the race.
func TestProxyAfterAcquire(t *testing.T) {
	events := with(word(trace.Write, 1, 0), word(trace.Write, 1, 1), syncBy(trace.Release, 1),
		word(trace.Read, 2, 1), syncBy(trace.Acquire, 2), word(trace.Read, 2, 0))
	if got := oracle(events, false); len(got) != 8 || got[0] != objectAt+8 {
		t.Fatalf("racy bytes %x", got)
	}
	if s, _ := owed(t, "rc", Learn(events, false), events); s != "" {
		t.Error(s)
	}
	bad := []trace.Event{{Kind: trace.Proxy, Site: 5, Addr: 8, Size: 8, Stride: 0}}
	if s, _ := owed(t, "rc", bad, events); !strings.Contains(s, "missed") {
		t.Errorf("the trace does not show it: %q", s)
	}
}

// TestProxyObjects: only whole fields of live objects of the site have proxies.
func TestProxyObjects(t *testing.T) {
	proxy := trace.Event{Kind: trace.Proxy, Site: 5, Addr: 8, Size: 8, Stride: 0}
	w := func(g uint32, off, size uint64) trace.Event {
		return trace.Event{Kind: trace.Write, G: g, Addr: objectAt + off, Size: size}
	}
	life := func(site uint32) trace.Event {
		return trace.Event{Kind: trace.Malloc, Addr: objectAt, Size: 32, Site: site}
	}
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   uint64 // skipped accesses
		racy   int    // bytes
	}{
		{"field", with(w(1, 8, 8), w(2, 8, 8)), 2, 0},
		{"its proxy", with(w(1, 0, 8), w(2, 0, 8)), 0, 8},
		{"a part of it", with(w(1, 8, 4), w(2, 8, 4)), 0, 4},
		{"more than it", with(w(1, 8, 16), w(2, 8, 16)), 0, 16},
		{"another life", with(life(6), w(1, 8, 8), w(2, 8, 8)), 0, 8},
		{"no life", with(trace.Event{Kind: trace.Free, Addr: objectAt, Size: 32}, w(1, 8, 8), w(2, 8, 8)), 0, 8},
		{"the same again", with(life(5), w(1, 8, 8), w(2, 8, 8)), 2, 0},
	} {
		events := append([]trace.Event{proxy}, test.events...)
		got, stats := racyBytes(t, "rc", Options{}, events)
		if stats.Proxied != test.want || len(got) != test.racy {
			t.Errorf("%s: %d skipped, %d racy bytes", test.name, stats.Proxied, len(got))
		}
		if got, stats := racyBytes(t, "ft", Options{}, events); stats.Proxied != 0 || len(got) == 0 {
			t.Errorf("%s: ft knows of proxies", test.name)
		}
	}
}

// TestSpans: what is redundant in a release-free span.
func TestSpans(t *testing.T) {
	const w, r = trace.Write, trace.Read
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   uint64
	}{
		{"write, write", with(word(w, 1, 0), word(w, 1, 0)), 1},
		{"write, read", with(word(w, 1, 0), word(r, 1, 0)), 1},
		{"read, read", with(word(r, 1, 0), word(r, 1, 0)), 1},
		{"read, write", with(word(r, 1, 0), word(w, 1, 0)), 0},
		{"over an acquire", with(word(w, 1, 0), syncBy(trace.Acquire, 1), word(w, 1, 0)), 1},
		{"over a release", with(word(w, 1, 0), syncBy(trace.Release, 1), word(w, 1, 0)), 0},
		{"over a fork", with(word(w, 1, 0), trace.Event{Kind: trace.Fork, G: 1, Other: 3}, word(w, 1, 0)), 0},
		{"two goroutines", with(word(w, 1, 0), word(w, 2, 0)), 0},
		{"another life", with(word(w, 1, 0), trace.Event{Kind: trace.Free, Addr: objectAt, Size: 32}, word(w, 1, 0)), 0},
		{"atomic", with(word(trace.AtomicRead, 1, 0), word(trace.AtomicRead, 1, 0)), 0},
	} {
		if _, stats := racyBytes(t, "rc", Options{}, test.events); stats.Redundant != test.want {
			t.Errorf("%s: %d redundant, want %d", test.name, stats.Redundant, test.want)
		}
	}
}

// TestReplay: what replaying a file gives, twice the same, and its minimum.
func TestReplay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	found := 0
	for range 20 {
		events := tracegen.Generate(r, tracegen.Random(r, 600))
		var b bytes.Buffer
		if err := trace.WriteAll(&b, events); err != nil {
			t.Fatal(err)
		}
		for _, alg := range Algorithms {
			run := func() *Result {
				res, err := Replay(trace.NewReader(bytes.NewReader(b.Bytes())), alg, Options{})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			res := run()
			if again := run(); !reflect.DeepEqual(res, again) {
				t.Fatalf("%s: %+v, then %+v", alg.Name, res, again)
			}
			if res.Events != len(events) || res.Stats.Accesses > 0 && alg.Checks != (res.Stats.Missing() != "") {
				t.Errorf("%s: %d events, missing %q", alg.Name, res.Events, res.Stats.Missing())
			}
			if alg.Name != "ss" || len(res.Findings) == 0 {
				continue
			}
			found++
			small := Minimize(events, alg, res.Findings[0], 3000)
			accesses := 0
			for i := range small {
				if small[i].Kind.IsAccess() {
					accesses++
				}
			}
			if accesses != 2 {
				t.Errorf("%d accesses are left: %v", accesses, small)
			}
			if len(oracle(small, false)) == 0 {
				t.Errorf("no race is left: %v", small)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d traces had races", found)
	}
	if _, err := Replay(trace.NewReader(strings.NewReader("bft")), Algorithms[0], Options{}); err == nil {
		t.Error("no error for a file that is cut")
	}
}

// TestMemoryLimit: a small file that touches much memory is refused.
func TestMemoryLimit(t *testing.T) {
	var b bytes.Buffer
	events := start[:1:1]
	for i := range uint64(30) {
		events = append(events, trace.Event{Kind: trace.Array, Addr: 1<<40 + i<<32, Size: 1, Count: 1 << 32},
			trace.Event{Kind: trace.Write, Addr: i << 30, Size: 1 << 27})
	}
	if err := trace.WriteAll(&b, events); err != nil {
		t.Fatal(err)
	}
	for _, alg := range Algorithms[:4] {
		_, err := Replay(trace.NewReader(bytes.NewReader(b.Bytes())), alg, Options{Memory: 64 << 20})
		if err == nil || !strings.Contains(err.Error(), "no memory left") {
			t.Errorf("%s: %v", alg.Name, err)
		}
	}
}
