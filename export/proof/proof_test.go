package proof_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/proof"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// TestMutants changes one claim at a time, in ways that always make it too small or
// senseless: each must be a Failure.
func TestMutants(t *testing.T) {
	rng, made, kinds := rand.New(rand.NewPCG(1, 2)), 0, map[int]int{}
	for _, p := range programs(t).twins {
		r := analyze(t, p, pta.Insens)
		if !check.Check(p, nil, proof.Claims(r)).Closed {
			continue
		}
		if made >= 300 {
			break
		}
		for range 5 {
			c := proof.Claims(r)
			kind, what := mutate(rng, p, c)
			if what == "" {
				continue
			}
			made++
			kinds[kind]++
			if rep := check.Check(p, nil, c); rep.Failed == nil {
				t.Errorf("%s: closed, although %s", p.Path, what)
			}
		}
	}
	t.Logf("%d mutants, by kind: %v", made, kinds)
	if made < 300 || len(kinds) < 6 {
		t.Errorf("%d mutants of %d kinds", made, len(kinds))
	}
}

// mutate changes a claim about some instance; it says what, or "" if the instance
// has no such claim.
func mutate(rng *rand.Rand, p *facts.Program, c *check.Claims) (kind int, what string) {
	first := rng.IntN(6)
	for try := range 200 {
		in := &c.Insts[1+rng.IntN(len(c.Insts)-1)]
		f := p.Funcs[in.Fn]
		switch kind = (first + try/40) % 6; {
		case kind == 0 && len(f.Allocs) > 0:
			in.Vars[f.Regs[f.Allocs[rng.IntN(len(f.Allocs))].Dst].Node] = 0
			return kind, "an allocation makes nothing"
		case kind == 1 && len(f.Globals) > 0:
			in.Vars[f.Regs[f.Globals[rng.IntN(len(f.Globals))].Dst].Node] = 0
			return kind, "a global has no address"
		case kind == 2 && len(in.Edges) > 0:
			e := in.Edges[rng.IntN(len(in.Edges))]
			if int(e.Row) >= len(f.Calls) || f.Calls[e.Row].Static == 0 {
				continue
			}
			in.Edges = slices.DeleteFunc(in.Edges, func(x check.Edge) bool { return x.Row == e.Row })
			return kind, "a call enters nothing"
		case kind == 3 && len(in.Edges) > 0:
			e := &in.Edges[rng.IntN(len(in.Edges))]
			e.Go = !e.Go
			return kind, "a call is a start, or a start a call"
		case kind == 4 && len(f.Mems) > 0:
			m := &f.Mems[rng.IntN(len(f.Mems))]
			ptrs := p.Layout(m.Type).Ptrs
			if !m.Write || m.Val == facts.NoReg || len(ptrs) == 0 || f.Regs[m.Base].Type == 0 {
				continue
			}
			base, val := c.Sets[in.Vars[f.Regs[m.Base].Node]], in.Vars[f.Regs[m.Val].Node+uint32(m.ValLeaf)]
			if len(base) == 0 || len(c.Sets[val]) == 0 {
				continue
			}
			c.Content[base[rng.IntN(len(base))]+m.Off+ptrs[0]] = 0
			return kind, "a store leaves nothing"
		case kind == 5:
			c.Content[rng.IntN(len(c.Content))] = check.SetID(len(c.Sets))
			return kind, "a set does not exist"
		}
	}
	return 0, ""
}
