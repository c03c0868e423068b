package pta_test

import (
	"context"
	"testing"

	"github.com/bfverify/bfverify/pta"
)

// contexts counts the instances of functions of a package.
func contexts(r *pta.Result, pkg string) (insts, fns int) {
	seen := map[string]bool{}
	for i := range r.Insts {
		if f := r.Func(pta.InstID(i)); i > 0 && f != nil && f.Pkg == pkg {
			insts++
			seen[f.Name] = true
		}
	}
	return insts, len(seen)
}

// TestPackages holds that a package's policy is its own, that the last pattern
// that matches counts, and that what results is between the policies.
func TestPackages(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.progs {
		hybrid := solve(t, p, policy{pta.Hybrid, 1})
		all := solve(t, p, policy{pta.Insens, 0})
		for _, c := range []struct {
			ps    []pta.PackagePolicy
			plain bool // the program's own package has no contexts
		}{
			{[]pta.PackagePolicy{{Pattern: "m/...", Policy: pta.Insens}}, true},
			{[]pta.PackagePolicy{{Pattern: p.Path, Policy: pta.Insens}}, true},
			{[]pta.PackagePolicy{{Pattern: "...", Policy: pta.Insens}, {Pattern: p.Path, Policy: pta.Hybrid, K: 1, HK: -1}}, false},
			{[]pta.PackagePolicy{{Pattern: p.Path + "/x", Policy: pta.Insens}}, false},
		} {
			r, err := pta.Analyze(context.Background(), p, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1, Packages: c.ps})
			if err != nil {
				t.Fatal(err)
			}
			insts, fns := contexts(r, p.Path)
			if c.plain && insts != fns {
				t.Errorf("%s with %v: %d instances of %d functions", p.Path, c.ps, insts, fns)
			}
			if have, _ := contexts(hybrid, p.Path); !c.plain && insts < have/2 {
				t.Errorf("%s with %v: %d instances, with contexts everywhere %d", p.Path, c.ps, insts, have)
			}
			within(t, p.Path, projection(hybrid), projection(r), projection(all))
		}
	}
}

// within reports what is in less but not in mid, or in mid but not in more.
func within(t *testing.T, path string, less, mid, more map[string]bool) {
	t.Helper()
	for x := range less {
		if !mid[x] {
			t.Errorf("%s: with fewer contexts %s is missing", path, x)
			return
		}
	}
	for x := range mid {
		if !more[x] {
			t.Errorf("%s: %s is not there without any context", path, x)
			return
		}
	}
}

// TestCoarse holds that an analysis that costs too much ends with less context,
// says where, is as sound, and is the same in every run.
func TestCoarse(t *testing.T) {
	l, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.progs {
		hybrid := solve(t, p, policy{pta.Hybrid, 2})
		all := solve(t, p, policy{pta.Insens, 0})
		lost := map[string]bool{}
		var first *pta.Result
		for range 2 {
			r, err := pta.Analyze(context.Background(), p, pta.Config{Policy: pta.Hybrid, K: 2, HK: -1, Effort: 1})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
				continue
			}
			if len(r.Coarse) != len(first.Coarse) || len(r.Insts) != len(first.Insts) {
				t.Errorf("%s: %d packages and %d instances, then %d and %d", p.Path, len(first.Coarse), len(first.Insts), len(r.Coarse), len(r.Insts))
			}
		}
		if len(first.Coarse) == 0 {
			t.Logf("%s: small enough", p.Path)
		}
		for _, c := range first.Coarse {
			if lost[c.Pkg] || c.Share <= 0 || c.Share > 1 {
				t.Errorf("%s: %s with share %v", p.Path, c.Pkg, c.Share)
			}
			lost[c.Pkg] = true
			if insts, fns := contexts(first, c.Pkg); insts != fns && c.Pkg == p.Path {
				t.Errorf("%s lost its contexts and has %d instances of %d functions", c.Pkg, insts, fns)
			}
		}
		within(t, p.Path, projection(hybrid), projection(first), projection(all))
	}
}
