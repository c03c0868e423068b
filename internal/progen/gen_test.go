package progen

import (
	"flag"
	"testing"
	"time"
)

var seeds = flag.Int("seeds", 200, "generated programs per test")

// TestStatistics checks that the mix is balanced and the search is fast enough.
func TestStatistics(t *testing.T) {
	racy, incomplete, slow, misuse := 0, 0, 0, 0
	var total, worst, gen time.Duration
	states := 0
	for seed := range uint64(*seeds) {
		start := time.Now()
		p := Generate(seed, Config{})
		gen += time.Since(start)
		start = time.Now()
		r := p.Explore(0)
		d := time.Since(start)
		total += d
		worst = max(worst, d)
		states += r.States
		if d > 10*time.Millisecond {
			slow++
			if d > 300*time.Millisecond {
				t.Logf("slow: seed %d %s %v %d states complete %v", seed, p.Name, d, r.States, r.Complete)
			}
		}
		if r.Racy() {
			racy++
		}
		if len(r.Misuse) > 0 {
			misuse++
		}
		if !r.Complete {
			incomplete++
		}
	}
	n := *seeds
	t.Logf("%d programs: %d racy, %d misuse, %d incomplete; generate %v each; explore %v each, %d over 10ms, worst %v; %d states each",
		n, racy, misuse, incomplete, gen/time.Duration(n), total/time.Duration(n), slow, worst, states/n)
	if racy*100 < 35*n || racy*100 > 65*n {
		t.Errorf("%d of %d programs are racy", racy, n)
	}
	if incomplete*100 > 3*n {
		t.Errorf("%d of %d searches are incomplete", incomplete, n)
	}
}
