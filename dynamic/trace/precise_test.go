package trace

import (
	"strings"
	"testing"
)

// TestPrecise breaks each condition once; twins differ by one event or kind.
func TestPrecise(t *testing.T) {
	at := func(k Kind, g uint32, addr uint64) Event {
		if k.IsCheck() {
			return Event{Kind: k, G: g, Parts: []Part{{addr, 8, 1, 0}}}
		}
		return Event{Kind: k, G: g, Addr: addr, Size: 8}
	}
	w, r, cw, cr := at(Write, 0, 64), at(Read, 0, 64), at(CheckWrite, 0, 64), at(CheckRead, 0, 64)
	acq, rel, both := Event{Kind: Acquire, Addr: 8}, Event{Kind: Release, Addr: 8}, Event{Kind: ReleaseAcquire, Addr: 8}
	fork, free := Event{Kind: Fork, Other: 1}, Event{Kind: Free, G: 1, Addr: 64, Size: 1}
	for _, test := range []struct {
		name   string
		events []Event
		reason string // "" for precise
	}{
		{"after", []Event{w, cw}, ""},
		{"before", []Event{cw, w}, ""},
		{"none", []Event{w}, "no check covers"},
		{"none, read", []Event{r}, "no check covers"},
		{"no access", []Event{cr}, "legitimate for no access"},
		{"another byte", []Event{at(Write, 0, 72), cw, w, at(CheckWrite, 0, 68)}, "no check covers"},
		{"the rest of the bytes", []Event{at(Write, 0, 64), at(Write, 0, 72), at(CheckWrite, 0, 68), cw, at(CheckWrite, 0, 72)}, ""},
		{"check for reads of a write", []Event{w, cr}, "no check covers"},
		{"check for writes of a read", []Event{r, cw}, "legitimate for no access"},
		{"check for writes of a read and a write", []Event{r, cw, w}, ""},
		{"check for reads of a write, too", []Event{w, cr, cw}, ""},
		{"before, over an acquire", []Event{w, cw, acq, w}, ""},
		{"before, over a release", []Event{w, cw, rel, w}, "no check covers"},
		{"after, over an acquire", []Event{w, acq, cw, w}, "no check covers"},
		{"after, over a release", []Event{w, rel, w, cw}, ""},
		{"legitimate after, over an acquire", []Event{w, cw, acq, cw}, ""},
		{"legitimate after, over a release", []Event{w, cw, rel, cw}, "legitimate for no access"},
		{"legitimate before, over a release", []Event{cw, rel, w, cw}, ""},
		{"legitimate before, over an acquire", []Event{cw, acq, w}, "legitimate for no access"},
		{"over both", []Event{w, both, cw, w}, "no check covers"},
		{"other goroutine", []Event{fork, w, at(CheckWrite, 1, 64)}, "no check covers"},
		{"end", []Event{fork, at(Write, 1, 64), {Kind: End, G: 1}}, "before end"},
		{"dead", []Event{fork, w, free, cw, w}, "its memory's free"},
		{"dead in between", []Event{fork, w, cw, free, w}, "no check covers"},
		{"atomic", []Event{at(AtomicWrite, 0, 64)}, ""},
	} {
		err := CheckPrecise(test.events)
		if got := ""; err != nil {
			got = err.Error()
			if test.reason == "" || !strings.Contains(got, test.reason) {
				t.Errorf("%s: %v", test.name, err)
			}
		} else if test.reason != "" {
			t.Errorf("%s: no error", test.name)
		}
	}
	if err, ok := CheckPrecise([]Event{cr, r, w, acq}).(*ImpreciseError); !ok || err.Event != 2 || err.Addr != 64 {
		t.Errorf("%v", err)
	}
}
