package pta_test

import (
	"path/filepath"
	"testing"

	"github.com/bfverify/bfverify/pta"
)

// TestProgramsTwice holds the solver against its plain twin, and against Z3's
// Datalog engine where that is installed, on the Go programs of the testdata that
// keep to the core of the language.
func TestProgramsTwice(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range l.progs {
		if outside := pta.OutsideCore(solve(t, p, policy{pta.Insens, 0})); len(outside) > 0 {
			t.Logf("%s: %d functions with rows outside the core: %s", p.Path, len(outside), outside[0])
			continue
		}
		n++
		t.Run(filepath.Base(p.Path), func(t *testing.T) {
			for _, pol := range policies {
				pta.CheckTwin(t, p, pta.Config{Policy: pol.Policy, K: pol.k, HK: -1})
			}
			t.Run("datalog", func(t *testing.T) {
				pta.NeedsZ3(t)
				pta.CheckDatalog(t, p)
			})
		})
	}
	if n < 2 {
		t.Errorf("only %d programs keep to the core", n)
	}
}
