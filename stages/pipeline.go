// Package stages is the verifier: the pipeline of stages that refute pairs of
// accesses, top to bottom, and the analyses of phase 1 (design: original,
// reachable, aliasing, escaping, parallel; POPL'07 section 3, PLDI'06).
//
// # Same instance
//
// Wherever a rule needs two operations to be on the same synchronisation
// object it asks for one variable: both operands point to one cell of one
// object that is made at most once, the cell lies in no array, the object was
// never viewed at a foreign type, and no plain store may overwrite it.
//
// # Order
//
// See parallel.go for what overlaps, running.go for starts and wait groups,
// signals.go for what one can wait for, waits.go for where, awaited.go for what
// has been waited for, precede.go for what comes before a signal, flags.go for
// values that tell who stored them, sights.go for what branches tell, once.go for
// bodies of Do, claims.go for branches taken once, counts.go for counters, waitgroup.go, credits.go
// and trips.go for the accounting, after.go for what follows a signal, kinds.go for the goroutines
// that one speaks for, published.go and leaks.go for objects in the making,
// homes.go and heard.go for signals of the goroutine that an object belongs to,
// inherited.go for locks that starters hold, frames.go and local.go for objects of
// one call or one iteration, index.go, starts.go, induction.go, source.go,
// entered.go, tickets.go and sections.go for elements of arrays. cells.go runs the table on the pairs of one location.
package stages

import (
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/stages/stage"
)

// A Stage refutes pairs.
type Stage struct {
	Name   string
	Doc    string // what it removes
	Source string // paper and section
	// Refute returns the evidence that the pair cannot race, or nil to keep it.
	// The first three stages choose the pairs that exist at all, and have none.
	Refute func(r *run, p *stage.Pair) stage.Evidence
}

// Pipeline is the whole verifier, top to bottom. A pair goes on to the next
// row until some row refutes it.
var Pipeline = [...]*Stage{
	{Name: "original", Doc: "keep two accesses to cells of one type, one of them a write, not both atomic", Source: "PLDI'06 section 3"},
	{Name: "reachable", Doc: "keep accesses that run in some goroutine that the entry leads to", Source: "PLDI'06 section 4.1"},
	{Name: "aliasing", Doc: "keep pairs whose bases may point to one cell", Source: "PLDI'06 section 4.2"},
	{Name: "escaping", Doc: "refute pairs on objects that one goroutine alone can reach", Source: "PLDI'06 section 4.3", Refute: refuteEscaping},
	{Name: "parallel", Doc: "refute pairs of which one happens before the other", Source: "POPL'07 section 3.2; the Go memory model", Refute: refuteParallel},
	{Name: "published", Doc: "refute pairs of which one belongs to the making of the object", Source: "design 05, local publication", Refute: refutePublished},
	{Name: "global-lock", Doc: "refute pairs that hold one lock, made at most once", Source: "POPL'07 section 3.3",
		Refute: refuteGlobalLock},
	{Name: "local-lock", Doc: "refute pairs whose locks lie in the accessed object or in what owns it", Source: "POPL'07 sections 4 and 5.1.2",
		Refute: func(_ *run, p *stage.Pair) stage.Evidence { return mustnot.RefuteLocalLock(p) }},
	{Name: "local-thread", Doc: "refute pairs on objects made in, or for, one goroutine each", Source: "POPL'07 sections 4 and 5.1.2",
		Refute: func(r *run, p *stage.Pair) stage.Evidence { return r.lock.RefuteLocalThread(p) }},
	{Name: "local-signal", Doc: "refute pairs ordered by a signal of the goroutine that the object belongs to", Source: "design 04, same instance (4); POPL'07 section 4", Refute: refuteLocalSignal},
	{Name: "local-frame", Doc: "refute pairs on objects of one call or iteration, by its own order and locks", Source: "design 04, same instance (4)", Refute: refuteFrame},
	{Name: "local-index", Doc: "refute pairs on different elements of one array", Source: "design 05, local-index", Refute: refuteIndex},
}

// Rows of Pipeline that code speaks of. Those before escaping choose the pairs
// that exist at all.
const (
	rowAliasing = 2
	rowEscaping = 3
	rowParallel = 4
	rowFrame    = 10 // the first that asks what frames an object belongs to
)

// order documents why rows stand where they do; TestOrder holds Pipeline to it.
var order = [...]struct{ before, after, why string }{
	{"original", "reachable", "reachable asks about accesses of original pairs only"},
	{"reachable", "aliasing", "aliasing looks at reachable accesses only"},
	{"aliasing", "escaping", "escaping asks about the objects that aliasing found in common"},
	{"escaping", "parallel", "parallel costs more a pair and gets the fewer"},
	{"parallel", "published", "published judges other locations, and need not where order does"},
	{"published", "global-lock", "what was not shared yet needs no lock"},
	{"parallel", "global-lock", "pairs that are ordered need no lock, and the funnel counts them as ordered"},
	{"global-lock", "local-lock", "one object is the simpler reason"},
	{"local-lock", "local-thread", "a lock says more of what the program means than where objects were made"},
	{"local-thread", "local-signal", "whose an object is says less where goroutines share it"},
	{"local-signal", "local-frame", "a frame costs an analysis of its own"},
	{"local-frame", "local-index", "what belongs to one iteration needs no index"},
}

// StageInfo describes a row of the pipeline.
type StageInfo struct{ Name, Doc, Source string }

// Stages lists the pipeline in order.
func Stages() []StageInfo {
	var out []StageInfo
	for _, s := range Pipeline {
		out = append(out, StageInfo{s.Name, s.Doc, s.Source})
	}
	return out
}

// refuteGlobalLock refutes pairs that hold one lock, or of which one is done while
// its starter holds it.
func refuteGlobalLock(r *run, p *stage.Pair) stage.Evidence {
	if by := mustnot.RefuteGlobalLock(p); by != nil {
		return by
	}
	return r.refuteInherited(p)
}

// refuteEscaping refutes pairs on objects outside the escape set: two
// goroutines cannot both reach them.
func refuteEscaping(r *run, p *stage.Pair) stage.Evidence {
	o, _ := r.v.Res.Object(p.Cell)
	if r.esc.Has(int(o)) {
		return nil
	}
	return stage.NeverEscapes{Object: uint32(o)}
}

func refuteParallel(r *run, p *stage.Pair) stage.Evidence {
	if p.A.Order.Whole { // one goroutine alone, see run.classes
		return stage.Ordered{Rule: "program order", Thread: p.A.Thread}
	}
	return r.par.ordered(p.A.Order, p.B.Order)
}
