package mustnot

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// OwnFrame returns the frame in which the goroutine began that makes an access as
// one of thread t, which starts with an instance, if the accessed object was made below it: by the goroutine, by
// those that it started, or, where its start begins no frame of its own, in the same
// iteration that started it.
func (l *Locks) OwnFrame(t int, entry pta.InstID, a *stage.Access, cell uint32) stage.Began {
	f := l.v.Res.Func(a.Inst)
	if t == 0 || a.Deep || f.Is(facts.FnUnknown) {
		return stage.Began{}
	}
	var base facts.Reg
	switch f.Points[a.Point].Op {
	case facts.OpMem:
		base = f.Mems[a.Row].Base
	case facts.OpSync:
		base = f.Syncs[a.Row].Obj
	default:
		return stage.Began{}
	}
	o, _ := l.v.Res.Object(cell)
	return l.Effects().OwnFrame(t, entry, a.Inst, a.Point, base, o)
}

// RefuteLocalThread is the stage local-thread (POPL'07 section 5.1.2): both
// accesses are by goroutines that were started, and each reaches an object that was
// made below the frame in which its goroutine began.
//
// Soundness: the record of section 5.1.2, made by the go statement, points to the
// closure and the arguments; here it is the frame in which the goroutine began, and
// the type of the register that is accessed through is what K⁺ says from the record
// along the loads that filled it: a load through a global or a table of other
// goroutines' objects gives a type that says nothing. Frames of one such node do not
// nest, so that one object lies below one of them; two goroutines of one thread
// began in two. For two threads their frames would both lie above the object, one
// above the other, and the nodes say that this cannot be (reach.Apart).
func (l *Locks) RefuteLocalThread(p *stage.Pair) stage.Evidence {
	if p.A.Own.Node == 0 || p.B.Own.Node == 0 || !l.Effects().Apart(p.A.Own, p.B.Own) {
		return nil
	}
	return stage.OwnGoroutine{A: p.A.Own.Node, B: p.B.Own.Node}
}
