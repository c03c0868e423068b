package reference

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// Each trace is written as words: a goroutine, an operation, and where needed a letter
// for the place. Lower-case places are bytes, upper-case ones synchronisation objects.
//
//	r w   read, write          R W   atomic
//	acq rel mrg swp            f2 e2 j2   fork, end, join of goroutine 2
//	m     Malloc of the byte   cr cw   checks
func parse(t *testing.T, s string) []trace.Event {
	var all []trace.Event
	kinds := map[string]trace.Kind{"r": trace.Read, "w": trace.Write, "R": trace.AtomicRead, "W": trace.AtomicWrite,
		"acq": trace.Acquire, "rel": trace.Release, "mrg": trace.ReleaseMerge, "swp": trace.ReleaseAcquire,
		"f": trace.Fork, "j": trace.Join, "e": trace.End, "m": trace.Malloc, "cr": trace.CheckRead, "cw": trace.CheckWrite}
	for _, w := range strings.Split(s, ",") {
		var e trace.Event
		var g uint32
		var op, place string
		if _, err := fmt.Sscan(w, &g, &op, &place); err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		e.Kind, e.G = kinds[op], g
		if place[0] >= '0' && place[0] <= '9' {
			if _, err := fmt.Sscan(place, &e.Other); err != nil {
				t.Fatal(err)
			}
			if e.Kind == trace.End {
				e.Count, e.Other = 1, 0
			}
		} else {
			e.Addr = uint64(place[0])
			if e.Kind.IsCheck() {
				e.Parts, e.Addr = []trace.Part{{Addr: e.Addr, Size: 1, Count: 1}}, 0
			} else if e.Kind.IsAccess() || e.Kind == trace.Malloc {
				e.Size = 1
			}
		}
		all = append(all, e)
	}
	if len(trace.Repair(all)) != len(all) {
		t.Fatalf("%s is not well formed", s)
	}
	return all
}

func TestReference(t *testing.T) {
	for _, test := range []struct{ events, racy string }{
		{"0 f 1, 0 w x, 1 w x", "x"},
		{"0 w x, 0 f 1, 1 w x", ""},
		{"0 f 1, 0 r x, 1 r x", ""},
		{"0 f 1, 0 r x, 1 w x", "x"},
		{"0 f 1, 0 w x, 1 r x, 0 w y, 1 w z", "x"},
		{"0 f 1, 0 R x, 1 W x, 0 W x", ""},
		{"0 f 1, 0 R x, 1 r x", ""},
		{"0 f 1, 0 W x, 1 r x", "x"},
		{"0 f 1, 0 r x, 1 W x", "x"},
		{"0 f 1, 0 R x, 1 w x", "x"},
		{"0 f 1, 1 w x, 1 rel A, 0 acq A, 0 w x", ""},
		{"0 f 1, 1 rel A, 1 w x, 0 acq A, 0 w x", "x"},
		{"0 f 1, 1 w x, 1 rel A, 0 acq B, 0 w x", "x"},
		{"0 f 1, 0 f 2, 1 w x, 1 rel A, 2 rel A, 0 acq A, 0 w x", "x"},
		{"0 f 1, 0 f 2, 1 w x, 1 mrg A, 2 mrg A, 0 acq A, 0 w x", ""},
		{"0 f 1, 0 f 2, 1 w x, 1 rel A, 2 swp A, 2 w x", ""},
		{"0 f 1, 0 f 2, 1 w x, 1 rel A, 2 swp A, 0 acq A, 0 w x", "x"},
		{"0 f 1, 1 w x, 1 e 1, 0 w x", "x"},
		{"0 f 1, 1 w x, 1 e 1, 0 j 1, 0 w x", ""},
		{"0 f 1, 1 w x, 0 m x, 0 w x", ""},
		{"0 f 1, 1 w x, 0 m y, 0 w x", "x"},
		{"0 f 1, 1 w x, 1 rel A, 0 m A, 0 acq A, 0 w x", "x"},
		{"0 f 1, 0 f 2, 1 r x, 2 r x, 2 rel A, 0 acq A, 0 w x", "x"},
		{"0 f 1, 0 f 2, 1 w x, 1 rel A, 2 acq A, 2 w x, 2 rel B, 0 acq B, 0 w x", ""},
		{"0 f 1, 0 cw x, 1 cw x", ""},
	} {
		racy := ""
		for _, r := range Run(parse(t, test.events), false) {
			racy += string(rune(r.Addr))
		}
		if racy != test.racy {
			t.Errorf("%s: racy %q, want %q", test.events, racy, test.racy)
		}
	}
	if got := Run(parse(t, "0 f 1, 0 cw x, 1 cr x, 0 w y, 1 w y, 0 W z, 1 cw z"), true); len(got) != 2 {
		t.Errorf("checks: %v", got)
	}
	got := Run(parse(t, "0 f 1, 0 w y, 0 w x, 1 w x, 1 r y"), false)
	want := []Race{
		{'x', Access{0, trace.Write, 0, 2}, Access{1, trace.Write, 0, 3}},
		{'y', Access{0, trace.Write, 0, 1}, Access{1, trace.Read, 0, 4}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
