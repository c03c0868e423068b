package proof

import (
	"slices"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/facts"
)

// settle makes the claims that the rules of the checker ask about: they say what the
// claims lack, or have too much, until they ask for nothing. The facts of an instance
// are asked about again when they, or what its callees gain, have changed.
func settle(p *facts.Program, c *check.Claims) {
	callers := make([][]check.InstID, len(c.Insts))
	for i := range c.Insts {
		for _, e := range c.Insts[i].Edges {
			callers[e.Callee] = append(callers[e.Callee], check.InstID(i))
		}
	}
	changed := false
	dirty := make([]bool, len(c.Insts))
	var work []check.InstID
	push := func(is ...check.InstID) {
		for _, i := range is {
			if !dirty[i] {
				dirty[i] = true
				work = append(work, i)
			}
		}
	}
	rules := check.NewRules(p, c, &check.Asked{
		Escapes: func(_ string, o check.ObjID) { changed = c.Escaped.Add(int(o)) || changed },
		Does:    func(_ string, claim *check.Bits, all check.Bits) { changed = claim.Or(all) || changed },
		Holds: func(_ string, of check.InstID, claim *check.State, most check.State) {
			if claim.Within(most) {
				return
			}
			*claim = claim.Meet(most)
			if in := &c.Insts[of]; claim == &in.Gained || claim == &in.Left {
				push(callers[of]...)
			} else {
				push(of)
			}
		},
		Has: func(_ string, of check.InstID, claim *[]uint32, all []uint32) {
			for _, x := range all {
				if i, ok := slices.BinarySearch(*claim, x); !ok {
					*claim, changed = slices.Insert(*claim, i, x), true
					push(callers[of]...)
				}
			}
		},
	})
	if rules == nil {
		return
	}
	for changed = true; changed; {
		changed = false
		rules.May()
	}
	for again := true; again; again = rules.Credits() {
		for i := len(c.Insts) - 1; i > 0; i-- {
			push(check.InstID(i))
		}
		for len(work) > 0 {
			i := work[0]
			work, dirty[i] = work[1:], false
			rules.Must(i)
		}
	}
}
