package proof_test

import (
	"context"
	"flag"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/proof"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages"
)

func prove(t *testing.T, p *facts.Program) *check.Claims {
	t.Helper()
	c, _, err := proof.Make(context.Background(), p, stages.Options{Ctx: "hybrid", K: 1, HK: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEvidence holds that the claims about the twins are closed under the rules of
// the checker, which shares none of the analyses; that it accepts all evidence of
// the kinds that it judges; and that no program which races is proved, also not
// with other evidence (TestMutants has other claims). Mutants of closed claims
// are made along the way, for their proofs are at hand.
func TestEvidence(t *testing.T) {
	refuted, unchecked, refused := map[string]int{}, map[string]int{}, map[string]int{}
	closed, proved := 0, 0
	m := &mutants{rng: rand.New(rand.NewPCG(5, 6)), made: map[string]int{}}
	c := programs(t)
	for _, p := range slices.Concat(c.twins, c.racy) {
		if large := len(p.PkgIDs) > 20; large && !*all && crc32.ChecksumIEEE([]byte(p.Path))%3 != 0 { // a second each
			continue
		}
		claims := prove(t, p)
		rep := check.Check(p, nil, claims)
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
		for _, x := range rep.Refused {
			refused[x.Construct]++
		}
		if rep.Closed {
			closed++
			m.stronger(t, p, claims)
			m.otherLock(t, p, claims)
			m.unprinted(t, p, claims)
			if c.races[p.Path] {
				m.forged(t, p, claims)
			}
		}
		if rep.Proved() {
			proved++
			if c.races[p.Path] {
				t.Errorf("UNSOUND: %s, which races, is proved", p.Path)
			}
		}
	}
	t.Logf("closed: %d, proved: %d; pairs refuted: %v; not checked: %v", closed, proved, refuted, unchecked)
	t.Logf("programs refused, by construct: %v; mutants: %v", refused, m.made)
	for k, n := range unchecked {
		if strings.HasPrefix(k, "a finer ") && n > 24 && k != "a finer apart" { // locks that closures captured are among them
			t.Errorf("%d pairs with evidence that should hold: %s", n, k)
		}
	}
	if closed < 300 || proved < 30 {
		t.Errorf("only %d programs are closed, and %d proved", closed, proved)
	}
	if refuted[check.Apart] < 2 {
		t.Errorf("%d pairs refuted by apart", refuted[check.Apart])
	}
	for _, k := range []string{check.NeverEscapes, check.Starts, check.SameLock, check.SameBase, check.Signalled, check.Published} {
		if refuted[k] < 3 {
			t.Errorf("%d pairs refuted by %s", refuted[k], k)
		}
	}
	for _, k := range []string{"escape", "does", "before", "held", "own", "gained", "releases", "prints", "fact", "other lock", "forged", "channel"} {
		if m.made[k] < 20 {
			t.Errorf("%d mutants of %s", m.made[k], k)
		}
	}
}

var all = flag.Bool("all", false, "look at the evidence of all programs, also of those that are large")

// mutants makes wrong proofs.
type mutants struct {
	rng  *rand.Rand
	made map[string]int
}

// stronger makes one claim about escape, starts or locks say more than it does.
// The claims are the strongest that the rules allow, so each must be a Failure.
func (m *mutants) stronger(t *testing.T, p *facts.Program, c *check.Claims) {
	for range 6 {
		if m.made["releases"] > 20 && m.made["own"] > 40 && m.made["before"] > 20 {
			return
		}
		in := &c.Insts[1+m.rng.IntN(len(c.Insts)-1)]
		what := ""
		var undo func()
		without := func(name string, b check.Bits) {
			var all []int
			for x := range 64 * len(b) {
				if b.Has(x) {
					all = append(all, x)
				}
			}
			if len(all) == 0 {
				return
			}
			x := all[m.rng.IntN(len(all))]
			b[x/64] &^= 1 << (x % 64)
			what, undo = name, func() { b.Add(x) }
		}
		// with adds a lock that some state of the program names, or one of the
		// function's registers.
		with := func(name string, s *check.State) {
			old := *s
			if s.All {
				return
			}
			n := check.Fact{Write: m.rng.IntN(2) == 0, Cell: uint32(m.rng.IntN(len(c.Content)))}
			if f := p.Funcs[in.Fn]; len(f.Params) > 0 && m.rng.IntN(2) == 0 {
				n.Cell, n.Reg = 0, f.Params[m.rng.IntN(len(f.Params))]
			}
			if k := check.FactKind(1 + m.rng.IntN(3)); len(c.Signals) > 0 && m.rng.IntN(2) == 0 {
				n = check.Fact{Kind: k, Signal: uint32(m.rng.IntN(min(len(c.Signals), 4))), N: 1}
				name = "fact"
			}
			*s = check.State{Facts: check.Sorted(append(slices.Clone(s.Facts), n))}
			if len(s.Facts) > len(old.Facts) {
				what = name
			}
			undo = func() { *s = old }
		}
		shorter := func(name string, lists func(in *check.Inst) []*[]uint32) {
			var some []*[]uint32
			for k := range c.Insts {
				some = append(some, slices.DeleteFunc(lists(&c.Insts[k]), func(l *[]uint32) bool { return len(*l) == 0 })...)
			}
			if len(some) > 0 {
				l := some[m.rng.IntN(len(some))]
				old, i := *l, m.rng.IntN(len(*l))
				*l = slices.Delete(slices.Clone(old), i, i+1)
				what, undo = name, func() { *l = old }
			}
		}
		switch m.rng.IntN(8) {
		case 0:
			without("escape", c.Escaped)
		case 1:
			for k := range c.Insts { // few start anything
				if x := &c.Insts[k]; len(x.Does) > 0 && m.rng.IntN(4) == 0 {
					without("does", x.Does)
				}
				if what != "" {
					break
				}
			}
		case 2:
			for k := range c.Insts {
				if x := &c.Insts[k]; len(x.Before) > 0 && m.rng.IntN(4) == 0 {
					without("before", x.Before)
				}
				if what != "" {
					break
				}
			}
		case 3:
			with("held", &in.Held[m.rng.IntN(len(in.Held))])
		case 4:
			with("own", &in.Own[m.rng.IntN(len(in.Own))])
		case 5:
			with("gained", &in.Gained)
		case 6, 7:
			shorter("releases", func(in *check.Inst) []*[]uint32 { return []*[]uint32{&in.Releases} })
		}
		if what != "" {
			m.made[what]++
			if rep := check.Check(p, nil, c); rep.Failed == nil {
				t.Errorf("%s: closed, although %s says more", p.Path, what)
			}
		}
		if undo != nil {
			undo()
		}
	}
}

// channels claims that every channel of the program is a lock, by one protocol and
// by the other, with all that follows from it, and that pairs hold it.
func (m *mutants) channels(t *testing.T, p *facts.Program, c *check.Claims, forge func(kind string, of uint32, delta int64)) {
	if len(c.Insts) > 60 {
		return
	}
	old := c.Signals
	for _, kind := range []check.SignalKind{check.SendLock, check.RecvLock} {
		c.Signals = slices.Clone(old)
		var cells []uint32
		for _, s := range old {
			if s.Kind == check.Receives || s.Kind == check.Message {
				cells = append(cells, s.Cell)
				c.Signals = append(c.Signals, check.Signal{Kind: kind, Cell: s.Cell})
			}
		}
		if len(cells) == 0 {
			continue
		}
		proof.Settle(p, c)
		slices.Sort(cells)
		for _, cell := range slices.Compact(cells) {
			m.made["channel"]++
			forge(check.SameLock, cell, 0)
		}
	}
	if len(c.Signals) > len(old) {
		c.Signals = old
		proof.Settle(p, c)
	}
}

// unprinted takes objects out of what rows that print visit.
func (m *mutants) unprinted(t *testing.T, p *facts.Program, c *check.Claims) {
	made := 0
	for i := range c.Insts {
		for j := range c.Insts[i].Prints {
			pr := &c.Insts[i].Prints[j]
			for _, l := range []*[]uint32{&pr.Operands, &pr.Visited} {
				for n := 0; n < len(*l) && made < 8; n++ {
					made++
					m.made["prints"]++
					old := *l
					*l = slices.Delete(slices.Clone(old), n, n+1)
					if rep := check.Check(p, nil, c); rep.Failed == nil {
						t.Errorf("%s: closed, although less is printed", p.Path)
					}
					*l = old
				}
			}
		}
	}
}

// otherLock names another lock in evidence that one is held: it is not held at
// both accesses of any of the twins.
func (m *mutants) otherLock(t *testing.T, p *facts.Program, c *check.Claims) {
	for i := range c.Evidence {
		for j := range c.Evidence[i].List {
			e := &c.Evidence[i].List[j]
			old := *e
			switch e.Kind {
			case check.SameLock:
				e.Of++
			case check.SameBase:
				e.Delta += 8
			default:
				continue
			}
			m.made["other lock"]++
			if rep := check.Check(p, nil, c); rep.Failed == nil {
				t.Errorf("%s: accepted, with another lock", p.Path)
			}
			*e = old
		}
	}
}

// forged gives pairs of a program that races other evidence: of every kind that is
// judged, with locks that the program has. It must not be proved.
func (m *mutants) forged(t *testing.T, p *facts.Program, c *check.Claims) {
	if m.made["forged"] > 700 {
		return
	}
	var locks []uint32
	for i := range c.Insts {
		locks = append(locks, c.Insts[i].Releases...)
	}
	slices.Sort(locks)
	locks = append(slices.Compact(locks), 0)
	old := c.Evidence
	forge := func(kind string, lock uint32, delta int64) {
		c.Evidence = slices.Clone(old)
		for i := range c.Evidence {
			list := slices.Clone(c.Evidence[i].List)
			for j := range list {
				if k := list[j].Kind; k != check.NeverEscapes && k != check.Starts {
					list[j].Kind, list[j].Of, list[j].Delta = kind, lock, delta
				}
			}
			c.Evidence[i].List = list
		}
		m.made["forged"]++
		if rep := check.Check(p, nil, c); rep.Proved() {
			t.Errorf("UNSOUND: %s, which races, is proved with %s", p.Path, kind)
		}
	}
	forge(check.NeverEscapes, 0, 0)
	forge(check.Starts, 0, 0)
	forge(check.Published, 0, 0)
	forge(check.Apart, 0, 0)
	for _, l := range locks[:min(len(locks), 3)] {
		forge(check.SameLock, l, 0)
	}
	for _, d := range []int64{-8, 8} {
		forge(check.SameBase, 0, d)
	}
	for n := range c.Signals[:min(len(c.Signals), 12)] {
		forge(check.Signalled, uint32(n), 0)
	}
	m.channels(t, p, c, forge)
	c.Evidence = nil
	m.made["forged"]++
	if check.Check(p, nil, c).Proved() {
		t.Errorf("UNSOUND: %s, which races, is proved without evidence", p.Path)
	}
	c.Evidence = old
}
