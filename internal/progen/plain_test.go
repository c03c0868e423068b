package progen

import (
	"slices"
	"testing"
)

// TestPlainTwin compares the search with the one that takes no short cuts.
func TestPlainTwin(t *testing.T) {
	var progs []*Program
	for _, f := range Families() {
		progs = append(progs, f.Program())
	}
	for seed := range uint64(3 * *seeds) {
		progs = append(progs, Generate(seed+1e6, Config{}))
	}
	compared := 0
	for _, p := range progs {
		want := p.explore(10_000, true)
		if !want.Complete {
			continue
		}
		compared++
		got := p.Explore(0)
		if !slices.Equal(got.Races, want.Races) || !slices.Equal(got.Misuse, want.Misuse) || !slices.Equal(got.Reached, want.Reached) ||
			!got.Complete || got.Stuck != want.Stuck {
			t.Errorf("seed %d %s: stuck %v, want %v; got%s\nwant%s\n%s", p.Seed, p.Name, got.Stuck, want.Stuck, show(p, got), show(p, want), p.Source())
		}
	}
	t.Logf("%d of %d programs compared", compared, len(progs))
	if compared < len(progs)/2 {
		t.Errorf("only %d of %d programs are small enough to compare", compared, len(progs))
	}
}
