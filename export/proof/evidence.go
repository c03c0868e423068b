package proof

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages"
	"github.com/bfverify/bfverify/stages/stage"
)

// Make verifies a program and returns the claims and the evidence that the stages
// found, about the pairs in scope, with their result. There is no evidence for a
// program that the checker refuses. Errors are those of
// stages.Verify.
func Make(ctx context.Context, p *facts.Program, opt stages.Options) (*check.Claims, []export.Result, error) {
	var b *builder
	cells := map[uint32]*cellEvidence{}
	refused := false
	opt.Solved = func(r *pta.Result) {
		b = newBuilder(r)
		b.solution()
		if rep := check.Points(p, b.c); len(rep.Refused) > 0 {
			refused = true
		}
	}
	judged := opt.Judged
	opt.Judged = func(w *stage.World, p *stage.Pair, by stage.Evidence) {
		if judged != nil {
			judged(w, p, by)
		}
		if refused {
			return
		}
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
	case err != nil || b == nil:
		return nil, out, err
	case refused:
		return b.c, out, nil
	}
	for _, c := range slices.Sorted(maps.Keys(cells)) {
		b.c.Evidence = append(b.c.Evidence, cells[c].CellEvidence)
	}
	first := len(b.c.Signals) // of channels as locks, which acquire by sends
	for _, c := range slices.Sorted(maps.Keys(b.chans)) {
		b.c.Signals = append(b.c.Signals, check.Signal{Kind: check.SendLock, Cell: c})
	}
	settle(p, b.c)
	bad := check.Check(p, opt.Scope, b.c).Bad
	again := false // or by receives
	for i := range b.c.Signals[first:] {
		s := &b.c.Signals[first+i]
		if slices.ContainsFunc(bad, func(e *check.Evidence) bool { return e.Kind == check.SameLock && e.Of == s.Cell }) {
			s.Kind, again = check.RecvLock, true
		}
	}
	if again {
		settle(p, b.c)
		bad = check.Check(p, opt.Scope, b.c).Bad
	}
	// What the stages know more of a kind than the checker judges gets another name.
	for _, e := range bad {
		if !strings.HasPrefix(e.Kind, finer) {
			e.Kind = finer + e.Kind
		}
	}
	return b.c, out, nil
}

// finer marks kinds of evidence.
const finer = "a finer "

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

// again is the kind of evidence about locks that are given up and taken again, which
// the checker does not judge.
const again = "a lock given up and taken again"

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
		switch e.Kind = check.Starts; by.Rule {
		case "one goroutine":
			e.Kind = "one goroutine, started once"
		case "count":
			e.Kind = "a counter as wait group"
		}
	case stage.Signalled:
		k, ok := signalKinds[by.Rule]
		n := slices.Index(b.c.Signals, check.Signal{Kind: k, Cell: b.cell[by.Cell]})
		if e.Kind, e.Of = check.Signalled, uint32(n); !ok || n < 0 {
			e.Kind, e.Of = "signalled: "+by.Rule, 0
		}
	case stage.SameLock:
		if e.Kind, e.Of = check.SameLock, b.cell[by.Cell]; by.Again {
			e.Kind = again
		}
		if o, _ := b.r.Object(by.Cell); b.r.Objs[o].Kind == pta.ObjSite {
			if k, _ := b.r.SiteKind(o); k == facts.SiteChan {
				b.chans[e.Of] = true
			}
		}
		if by.Once {
			e.Kind = "a Once as lock"
		}
	case stage.SameBase:
		if e.Kind, e.Delta = check.SameBase, by.Delta; by.Element {
			e.Kind = "same-base of an element"
		} else if by.Again {
			e.Kind = again
		}
		if by.Once {
			e.Kind = "same-base of a Once"
		}
	}
	return e
}

// signalKinds are the kinds of signals that the checker judges, by their names in
// stages.
var signalKinds = map[string]check.SignalKind{"close": check.Close, "message": check.Message, "send": check.Sends, "receive": check.Receives,
	"once": check.OnceDone, "wait": check.Group}

// signals lists what may order: each channel, Once and wait group that somebody waits
// for. The checker sorts out which of them can be relied on.
func (b *builder) signals() {
	seen := map[check.Signal]bool{}
	add := func(cells *pta.Set, kinds ...check.SignalKind) {
		cells.Each(func(c uint32) {
			for _, k := range kinds {
				if s := (check.Signal{Kind: k, Cell: b.cell[c]}); !seen[s] {
					seen[s] = true
					b.c.Signals = append(b.c.Signals, s)
				}
			}
		})
	}
	for i := 1; i < len(b.r.Insts); i++ {
		f := b.r.Func(pta.InstID(i))
		if f == nil {
			continue
		}
		for _, y := range f.Syncs {
			switch obj := b.r.PointsTo(pta.InstID(i), y.Obj, 0); y.Op {
			case facts.SyncRecv:
				add(obj, check.Close, check.Message, check.Sends)
			case facts.SyncSend:
				add(obj, check.Receives)
			case facts.SyncOnce:
				add(obj, check.OnceDone)
			case facts.SyncWait:
				add(obj, check.Group)
			}
		}
		for _, s := range f.Selects {
			for _, c := range s.Cases {
				if c.Send {
					add(b.r.PointsTo(pta.InstID(i), c.Chan, 0), check.Receives)
				} else {
					add(b.r.PointsTo(pta.InstID(i), c.Chan, 0), check.Close, check.Message, check.Sends)
				}
			}
		}
	}
}
