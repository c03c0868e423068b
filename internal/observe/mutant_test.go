package observe

import (
	"context"
	"go/token"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// A mutant takes one row from a function's facts: what it does is a flow, an
// object or a call that the analysis loses.
type mutant struct {
	kind string
	pos  facts.Pos
	do   func()
	undo func()
}

// set is a mutant that gives *p another value.
func set[T any](kind string, pos facts.Pos, p *T, v T) mutant {
	old := *p
	return mutant{kind, pos, func() { *p = v }, func() { *p = old }}
}

// mutants returns those of the rows of f that move pointers.
func mutants(u *facts.Universe, f *facts.Func, tracked map[facts.Pos]bool) []mutant {
	at := map[facts.Op]map[uint32]facts.Pos{}
	for _, pt := range f.Points {
		if at[pt.Op] == nil {
			at[pt.Op] = map[uint32]facts.Pos{}
		}
		at[pt.Op][pt.Row] = pt.Pos
	}
	leaves := func(r facts.Reg) bool {
		return r != facts.NoReg && len(u.Layout(f.Regs[r].Type).Ptrs) > 0
	}
	var ms []mutant
	for i := range f.Sites {
		if s := &f.Sites[i]; tracked[s.Pos] && s.Kind != facts.SiteBox && s.Kind != facts.SiteClosure {
			ms = append(ms, set("object", s.Pos, &s.Pos, facts.Pos{}))
		}
	}
	for i := range f.Copies {
		ms = append(ms, set("copy", at[facts.OpCopy][uint32(i)], &f.Copies[i].N, 0))
	}
	for i := range f.Phis {
		for j, e := range f.Phis[i].Edges {
			if leaves(e) {
				ms = append(ms, set("phi", at[facts.OpPhi][uint32(i)], &f.Phis[i].Edges[j], facts.NoReg))
			}
		}
	}
	for i := range f.Addrs {
		if a := &f.Addrs[i]; a.Off > 0 {
			ms = append(ms, set("field", at[facts.OpAddr][uint32(i)], &a.Off, 0))
		}
	}
	for i := range f.Mems {
		if m := &f.Mems[i]; leaves(m.Val) && len(u.Layout(m.Type).Ptrs) > 0 {
			kind := "load"
			if m.Write {
				kind = "store"
			}
			ms = append(ms, set(kind, at[facts.OpMem][uint32(i)], &m.Type, 0))
		}
	}
	for i := range f.Asserts {
		if leaves(f.Asserts[i].Dst) {
			ms = append(ms, set("assertion", at[facts.OpAssert][uint32(i)], &f.Asserts[i].X, facts.NoReg))
		}
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		ms = append(ms, set("call", c.Pos, c, facts.Call{Mode: c.Mode, Args: c.Args, Dst: c.Dst, Pos: c.Pos}))
		for j, a := range c.Args {
			if leaves(a) {
				ms = append(ms, set("argument", c.Pos, &c.Args[j], facts.NoReg))
			}
		}
	}
	return ms
}

// TestMutants is the negative control: it takes each row of program lang away
// and counts how often what the run showed tells that something is missing.
// Some rows are no loss, since all that they move comes by another way too.
func TestMutants(t *testing.T) {
	plan := programs(t)
	var o *observed
	for _, x := range all {
		if strings.HasSuffix(x.name, "/lang") {
			o = x
		}
	}
	u := o.prog.Universe
	files := map[string]uint32{}
	for i, name := range u.Files {
		files[name] = uint32(i)
	}
	pos := func(p token.Position) facts.Pos {
		return facts.Pos{File: files[p.Filename], Line: uint32(p.Line), Col: uint32(p.Column)}
	}
	ran, tracked := map[facts.Pos]bool{}, map[facts.Pos]bool{}
	for id := range o.rec.Entered {
		ran[pos(plan.Funcs[id])] = true
	}
	for f := range o.rec.Facts {
		tracked[pos(plan.Sites[f.Site])] = true
	}
	made, noticed := map[string]int{}, map[string]int{}
	for _, f := range u.Funcs {
		if f == nil || !ran[f.Pos] || f.Is(facts.FnWrapper) {
			continue
		}
		for _, m := range mutants(u, f, tracked) {
			m.do()
			r, err := pta.Analyze(context.Background(), o.prog, pta.Config{Policy: pta.Insens})
			if err != nil {
				t.Fatal(err)
			}
			rep := Check(plan, o.rec, r)
			m.undo()
			made[m.kind]++
			if len(rep.Misses) > 0 {
				noticed[m.kind]++
			} else if testing.Verbose() {
				t.Logf("%s:%d:%d: a lost %s in %s is not noticed", u.Files[m.pos.File], m.pos.Line, m.pos.Col, m.kind, f.Name)
			}
		}
	}
	for _, want := range []struct {
		kind    string
		percent int
	}{
		{"object", 90}, {"call", 95}, {"assertion", 85}, {"load", 80}, {"field", 70}, {"store", 70}, {"copy", 60}, {"phi", 45}, {"argument", 33},
	} {
		n, got := made[want.kind], noticed[want.kind]
		t.Logf("%s: %d of %d noticed", want.kind, got, n)
		if n < 10 || 100*got < want.percent*n {
			t.Errorf("%s: %d of %d lost rows are noticed, want %d %% of 10 or more", want.kind, got, n, want.percent)
		}
	}
}
