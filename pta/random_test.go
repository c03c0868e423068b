package pta

import (
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/facts"
)

var (
	systems   = flag.Int("systems", 300, "random systems of TestSystems")
	firstSeed = flag.Uint64("systems-from", 0, "the first of their seeds")
)

// twinPolicies are those under which solver and twin are compared.
var twinPolicies = []Config{
	{Policy: Insens, HK: -1}, {Policy: Obj, K: 1, HK: -1}, {Policy: Hybrid, K: 1, HK: -1}, {Policy: Hybrid, K: 2, HK: -1},
}

// anySystem returns the system of a seed: every fourth one reaches everything in
// places.
func anySystem(seed uint64) *facts.Record {
	if seed%4 == 3 {
		return newSystemReaching(seed)
	}
	return newSystem(seed)
}

// maxTwin bounds the instances of a system that is compared.
const maxTwin = 300

// program makes a program of a record, which it uses up.
func program(rec *facts.Record) *facts.Program {
	u := facts.NewUniverse()
	if err := u.Add(rec); err != nil {
		panic(err)
	}
	p, err := facts.Link(u, "p", "p", []string{"p"}, false, nil)
	if err != nil {
		panic(err)
	}
	return p
}

// differ compares solver and twin on p under one policy; ok is false if p has
// more than most instances, unless that is 0.
func differ(p *facts.Program, cfg Config, e eager, most int) (diffs []string, s *solver, ok bool) {
	n := solveNaively(p, cfg, most)
	if n == nil {
		return nil, nil, false
	}
	s, r := solveEagerly(p, cfg, e)
	return differences(s, r, n), s, true
}

// OutsideCore names the functions that a result reaches and that have rows for
// which the twin has no rule.
func OutsideCore(r *Result) []string {
	var out []string
	for i := range r.Insts {
		if f := r.Func(InstID(i)); i > 0 && f != nil {
			if what := outsideCore(r.u, f); what != "" {
				out = append(out, f.Name+": "+what)
			}
		}
	}
	return out
}

// CheckTwin compares solver and twin on a program of the core language.
func CheckTwin(t *testing.T, p *facts.Program, cfg Config) {
	t.Helper()
	for _, e := range []eager{lazy, early, allTime} {
		diffs, _, _ := differ(p, cfg, e, 0)
		if len(diffs) > 0 {
			t.Errorf("%s k=%d: %d differences\n%s", cfg.Policy, cfg.K, len(diffs), strings.Join(diffs[:min(len(diffs), 10)], "\n"))
		}
	}
}

// TestSystems compares the solver with its twin on random systems: points-to sets
// of all variables and cells, instances and call edges must be equal.
func TestSystems(t *testing.T) {
	var most, collapsed, large, pairs int
	skipped := 0
	for i := range uint64(*systems) {
		seed := *firstSeed + i
		p := program(anySystem(seed))
		for j, cfg := range twinPolicies {
			e := eager((seed + uint64(j)) % 3)
			diffs, s, ok := differ(p, cfg, e, maxTwin)
			if !ok {
				skipped++
				continue
			}
			most = max(most, len(s.insts)-1)
			collapsed += s.stats.Collapsed
			for n := range s.pts {
				if s.pts[n] != nil {
					pairs += s.pts[n].Len()
					if len(s.pts[n].keys) > 1 {
						large++
					}
				}
			}
			if len(diffs) > 0 {
				t.Errorf("seed %d, %s k=%d, %d: %d differences\n%s\n%s", seed, cfg.Policy, cfg.K, e, len(diffs), strings.Join(diffs[:min(len(diffs), 8)], "\n"), shrink(seed, cfg, e))
				return
			}
		}
	}
	t.Logf("%d systems, %d runs too large, at most %d instances, %d nodes merged, %d pairs, %d sets of several chunks", *systems, skipped, most, collapsed, pairs, large)
	if *systems >= 300 && (collapsed < 1000 || large < 10 || most < 50 || skipped > *systems/10) {
		t.Error("the systems no longer reach what they are for")
	}
}

// rowTables are the tables of a function that hold rows; their names are those
// of the fields of facts.Func.
var rowTables = []string{"Allocs", "Copies", "Phis", "Addrs", "Mems", "Asserts", "Ghosts", "Reaches", "Deeps", "Calls", "Globals", "FuncRef"}

// without drops the rows for which drop says so from a record. Rows are counted
// from 0 through functions and tables. It returns their number.
func without(rec *facts.Record, drop func(i int) bool) int {
	i := 0
	for _, f := range rec.Funcs {
		v := reflect.ValueOf(f).Elem()
		for _, name := range rowTables {
			rows := v.FieldByName(name)
			kept := reflect.MakeSlice(rows.Type(), 0, rows.Len())
			for j := range rows.Len() {
				if !drop(i) {
					kept = reflect.Append(kept, rows.Index(j))
				}
				i++
			}
			rows.Set(kept)
		}
		f.Points = points(f)
	}
	return i
}

// shrink drops rows of a system while solver and twin still differ, and returns
// what is left as text.
func shrink(seed uint64, cfg Config, e eager) string {
	n := without(anySystem(seed), func(int) bool { return false })
	dropped := make([]bool, n)
	differs := func() (out []string) {
		defer func() {
			if x := recover(); x != nil {
				out = []string{fmt.Sprint(x)}
			}
		}()
		rec := anySystem(seed)
		without(rec, func(i int) bool { return dropped[i] })
		d, _, _ := differ(program(rec), cfg, e, maxTwin)
		return d
	}
	for size := n / 2; size > 0; size /= 2 {
		for again := true; again; {
			again = false
			for from := 0; from < n; from += size {
				old := append([]bool(nil), dropped...)
				for i := from; i < min(from+size, n); i++ {
					dropped[i] = true
				}
				if fmt.Sprint(old) == fmt.Sprint(dropped) {
					continue
				}
				if len(differs()) == 0 {
					dropped = old
				} else {
					again = true
				}
			}
			again = again && size == 1
		}
	}
	rec := anySystem(seed)
	without(rec, func(i int) bool { return dropped[i] })
	p := program(rec)
	return "shrunk:\n" + text(p) + strings.Join(differs(), "\n")
}

// text writes the rows of a program, with the types of registers.
func text(p *facts.Program) string {
	var b strings.Builder
	for _, f := range p.Funcs {
		if f == nil || len(f.Points)+len(f.Globals)+len(f.FuncRef) == 0 {
			continue
		}
		fmt.Fprintf(&b, "f%d %s flags %b params %v free %v ret %d\n", f.ID, f.Name, f.Flags, f.Params, f.Free, f.Ret)
		for i, r := range f.Regs[1:] {
			fmt.Fprintf(&b, "  r%d %s\n", i+1, p.Types[r.Type].Name)
		}
		for i, s := range f.Sites {
			fmt.Fprintf(&b, "  site %d kind %d %s fn %d\n", i, s.Kind, p.Types[s.Type].Name, s.Fn)
		}
		v := reflect.ValueOf(*f)
		for _, name := range rowTables {
			rows := v.FieldByName(name)
			for j := range rows.Len() {
				fmt.Fprintf(&b, "  %s %d %+v\n", name, j, rows.Index(j).Interface())
			}
		}
	}
	return b.String()
}
