package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// onceCall is a call edge that runs its callee as the body of Do.
type onceCall struct {
	from pta.InstID
	e    pta.Edge
	cell uint32 // of the Once
}

// findOnceCalls finds the calls of bodies of Do for one known Once.
func findOnceCalls(v *stage.View) []onceCall {
	var out []onceCall
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) {
			continue
		}
		for row := range f.Calls {
			o := f.Calls[row].Once
			if o == facts.NoReg {
				continue
			}
			c, ok := v.Single(n, o)
			if !ok {
				continue
			}
			for _, e := range v.EdgesAt(n, facts.Point{Op: facts.OpCall, Row: uint32(row)}) {
				if e.Kind == pta.EdgeCall {
					out = append(out, onceCall{n, e, c})
				}
			}
		}
	}
	return out
}

// onceBody says that threads run an instance only inside the body of a signal: of
// Do, or of a claim.
type onceBody struct {
	signal  int
	threads stage.Set
}

// body is what is known of the body of one signal.
type body struct {
	signal int
	enters func(n pta.InstID, e pta.Edge) bool // the calls that lead into it
	below  stage.Bits                          // what it may run
	only   map[pta.InstID]stage.Set            // the threads that run an instance only inside it; nil: not yet known
}

// findBodies finds the bodies of Do and of claims.
func (a *awaited) findBodies() {
	a.bodiesFound = true
	byCell := map[uint32]map[pta.InstID][]pta.Edge{}
	for _, c := range findOnceCalls(a.v) {
		if byCell[c.cell] == nil {
			byCell[c.cell] = map[pta.InstID][]pta.Edge{}
		}
		byCell[c.cell][c.from] = append(byCell[c.cell][c.from], c.e)
	}
	for i := range a.signals {
		s := &a.signals[i]
		var enters func(n pta.InstID, e pta.Edge) bool
		var from []pta.InstID
		switch s.kind {
		case signalOnce:
			calls := byCell[s.Cell]
			for n := range calls {
				from = append(from, n)
			}
			enters = func(n pta.InstID, e pta.Edge) bool { return slices.Contains(calls[n], e) }
		case signalClaim:
			for n := range s.claim {
				from = append(from, n)
			}
			enters = func(n pta.InstID, e pta.Edge) bool { return s.claim.enters(a.v, n, e) }
		default:
			continue
		}
		if b := a.below(from, enters); !b.Empty() {
			a.bodies = append(a.bodies, body{signal: i, enters: enters, below: b})
		}
	}
}

// below returns what calls of some instances that enter a body may run.
func (a *awaited) below(from []pta.InstID, enters func(pta.InstID, pta.Edge) bool) stage.Bits {
	v := a.v
	b := stage.NewBits(len(v.Res.Insts))
	var todo []pta.InstID
	visit := func(n pta.InstID, ok func(pta.InstID, pta.Edge) bool) {
		for _, e := range v.Res.Insts[n].Out {
			if !stage.IsSpawn(e.Kind) && v.Has(n, e) && ok(n, e) && b.Add(int(e.Callee)) {
				todo = append(todo, e.Callee)
			}
		}
	}
	for _, n := range from {
		visit(n, enters)
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(n, func(pta.InstID, pta.Edge) bool { return true })
	}
	return b
}

// bodiesWith lists the bodies inside which alone some threads run n.
func (a *awaited) bodiesWith(n pta.InstID) []onceBody {
	if !a.bodiesFound {
		a.findBodies()
	}
	var out []onceBody
	for i := range a.bodies {
		b := &a.bodies[i]
		if !b.below.Has(int(n)) {
			continue
		}
		if b.only == nil {
			a.findBody(b)
		}
		if s := b.only[n]; s != stage.None {
			out = append(out, onceBody{b.signal, s})
		}
	}
	return out
}

// findBody finds what runs inside one body alone.
func (a *awaited) findBody(b *body) {
	v := a.v
	b.only = map[pta.InstID]stage.Set{}
	outside := v.FlowThreads(v.ThreadEntry, b.enters)
	for m := range v.Res.Insts {
		if !b.below.Has(m) {
			continue
		}
		if s := v.ThreadPool().AndNot(v.ThreadSet(pta.InstID(m)), outside[m]); s != stage.None {
			b.only[pta.InstID(m)] = s
		}
	}
}
