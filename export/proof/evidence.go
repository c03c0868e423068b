package proof

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages"
	"github.com/bfverify/bfverify/stages/stage"
)

// Make verifies a program, all of it in scope, and returns the claims and the
// evidence that the stages found, with their result. There is no result, and no
// evidence, for a program that the checker refuses. Errors are those of
// stages.Verify.
func Make(ctx context.Context, p *facts.Program, opt stages.Options) (*check.Claims, []export.Result, error) {
	var b *builder
	cells := map[uint32]*cellEvidence{}
	opt.Scope = nil
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	refused := false
	opt.Solved = func(r *pta.Result) {
		b = newBuilder(r)
		b.solution()
		if rep := check.Points(p, b.c); len(rep.Refused) > 0 {
			refused = true
			cancel()
		}
	}
	opt.Judged = func(w *stage.World, p *stage.Pair, by stage.Evidence) {
		ev := cells[p.Cell]
		if ev == nil {
			ev = newEvidence(b.cell[p.Cell])
			cells[p.Cell] = ev
		}
		e := b.evidence(by)
		e.A, e.B = check.Any, check.Any
		if e.Kind != check.NeverEscapes {
			e.A, e.B = ev.class(w, p.A), ev.class(w, p.B)
		}
		ev.add(e)
	}
	out, err := stages.Verify(ctx, p, opt)
	switch {
	case refused:
		return b.c, nil, nil
	case err != nil || b == nil:
		return nil, out, err
	}
	b.settle()
	for _, c := range slices.Sorted(maps.Keys(cells)) {
		b.c.Evidence = append(b.c.Evidence, cells[c].CellEvidence)
	}
	return b.c, out, nil
}

type cellEvidence struct {
	check.CellEvidence
	index map[string]int // of classes
	seen  map[check.Evidence]bool
}

func newEvidence(c uint32) *cellEvidence {
	return &cellEvidence{check.CellEvidence{Cell: c}, map[string]int{}, map[check.Evidence]bool{}}
}

func (ev *cellEvidence) add(e check.Evidence) {
	if !ev.seen[e] {
		ev.seen[e] = true
		ev.List = append(ev.List, e)
	}
}

// class returns the number of a class of accesses.
func (ev *cellEvidence) class(w *stage.World, c *stage.Class) int {
	var at []check.At
	for _, m := range c.Members {
		a := &w.Accesses[m.Access]
		at = append(at, check.At{Inst: check.InstID(a.Inst), Point: a.Point})
	}
	key := fmt.Sprint(at)
	n, ok := ev.index[key]
	if !ok {
		n = len(ev.Classes)
		ev.index[key] = n
		ev.Classes = append(ev.Classes, at)
	}
	return n
}

// evidence writes what a stage found as the checker reads it.
func (b *builder) evidence(by stage.Evidence) check.Evidence {
	if by == nil {
		return check.Evidence{Kind: check.Open}
	}
	e := check.Evidence{Kind: by.Kind()}
	switch by := by.(type) {
	case stage.NeverEscapes:
		e.Kind = check.NeverEscapes
	case stage.Ordered:
		switch by.Rule {
		case "wait":
			e.Kind = "wait group"
		case "one goroutine":
			e.Kind = "one goroutine, started once"
		case "count":
			e.Kind = "a counter as wait group"
		default:
			e.Kind = check.Starts
		}
	case stage.Signalled:
		e.Kind = "signalled: " + by.Rule
	case stage.SameLock:
		e.Kind, e.Lock = check.SameLock, b.cell[by.Cell]
		if o, _ := b.r.Object(by.Cell); b.r.Objs[o].Kind == pta.ObjSite {
			if k, _ := b.r.SiteKind(o); k == facts.SiteChan {
				e.Kind = "a channel as lock"
			}
		}
		if by.Once {
			e.Kind = "a Once as lock"
		}
	case stage.SameBase:
		if e.Kind, e.Delta = check.SameBase, by.Delta; by.Element {
			e.Kind = "same-base of an element"
		}
		if by.Once {
			e.Kind = "same-base of a Once"
		}
	}
	return e
}

// settle makes the claims about escape, starts and locks: the rules of the checker
// say what they lack, or have too much, until they ask for nothing.
func (b *builder) settle() {
	changed := false
	again := check.Rules(b.r.Prog, b.c, &check.Asked{
		Escapes: func(_ string, o check.ObjID) { changed = b.c.Escaped.Add(int(o)) || changed },
		Starts:  func(_ string, claim *check.Bits, all check.Bits) { changed = claim.Or(all) || changed },
		Holds: func(_ string, claim *check.State, most check.State) {
			if !claim.Within(most) {
				*claim, changed = claim.Meet(most), true
			}
		},
		Releases: func(_ string, claim *[]uint32, all []uint32) {
			for _, c := range all {
				if i, ok := slices.BinarySearch(*claim, c); !ok {
					*claim, changed = slices.Insert(*claim, i, c), true
				}
			}
		},
	})
	for again(); changed; again() {
		changed = false
	}
}
