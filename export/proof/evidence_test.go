package proof_test

import (
	"context"
	"testing"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/proof"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages"
)

func prove(t *testing.T, p *facts.Program, policy string) *check.Claims {
	t.Helper()
	c, _, err := proof.Make(context.Background(), p, stages.Options{Ctx: policy, K: 1, HK: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEvidence holds that the checker accepts all evidence, of the kinds that it
// judges, that the stages give for the twins.
func TestEvidence(t *testing.T) {
	refuted, unchecked, open, proved := map[string]int{}, map[string]int{}, 0, 0
	for _, p := range programs(t).twins {
		c := prove(t, p, "hybrid")
		rep := check.Check(p, c)
		if rep.Failed != nil {
			pos := rep.Failed.At
			t.Errorf("%s: %s:%d: %v", p.Path, p.Files[pos.File], pos.Line, rep.Failed)
		}
		for k, n := range rep.Refuted {
			refuted[k] += n
		}
		for k, n := range rep.NotChecked {
			unchecked[k] += n
		}
		open += rep.Open
		if rep.Closed && len(c.Evidence) > 0 {
			t.Log(p.Path, rep.Refuted, rep.NotChecked, rep.Open)
		}
		if rep.Proved() {
			proved++
		}
	}
	t.Logf("programs proved: %d; pairs refuted: %v; not checked: %v; without evidence: %d", proved, refuted, unchecked, open)
}
