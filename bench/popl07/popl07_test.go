package popl07

import (
	"context"
	"testing"
)

// TestMarks holds that no marked race is lost, that every open pair has an account,
// and that a false alarm which goes away is unmarked.
func TestMarks(t *testing.T) {
	rs, err := Measure(context.Background(), ".", Programs)
	if err != nil {
		t.Fatal(err)
	}
	open, alarms := 0, 0
	for _, r := range rs {
		for _, m := range r.Lost {
			t.Errorf("%s: UNSOUND: a race is in no open pair: %v", r.Name, m)
		}
		for _, p := range r.NoMark {
			t.Errorf("%s: %v %s and %v %s on %s: an open pair without account: %s", r.Name, p.A.Pos, p.A.Op, p.B.Pos, p.B.Op, p.Location, p.Missing)
		}
		for _, m := range r.Gone {
			t.Errorf("%s: the false alarm is gone: remove its mark: %v", r.Name, m)
		}
		for _, m := range r.Marks {
			if m.Kind != "race" && m.Why == "" {
				t.Errorf("%s: %v has no reason", r.Name, m)
			}
		}
		open += len(r.Real) + len(r.False)
		alarms += len(r.False)
	}
	if alarms*10 > open {
		t.Errorf("%d of %d open pairs are false alarms, which is more than one in ten", alarms, open)
	}
}
