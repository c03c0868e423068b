package pta_test

import (
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// TestClosure compares what deep reads touch with a walk from object to object.
func TestClosure(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	reads, most := 0, 0
	for _, p := range l.progs {
		for _, pol := range policies {
			r := solve(t, p, pol)
			for id := range r.Insts {
				i := pta.InstID(id)
				if i == 0 || r.Func(i) == nil {
					continue
				}
				for row, d := range r.Func(i).Deeps {
					if d.Write || d.How != facts.ReachAll {
						continue
					}
					reads++
					got, want := r.Deep(i, uint32(row)), r.PlainReach(i, d.X)
					most = max(most, want.Len())
					if !got.Equal(want) {
						t.Errorf("%s: %s: read %d of %s touches %d cells, want %d", p.Path, pol, row, r.Func(i).Name, got.Len(), want.Len())
					}
				}
			}
		}
	}
	if reads < 50 || most < 5 {
		t.Errorf("%d reads, the largest of %d cells: the programs ask too little", reads, most)
	}
}
