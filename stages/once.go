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

// below returns what the bodies of Do for signal i may run.
func (a *awaited) below(i int) stage.Bits {
	v := a.v
	b := stage.NewBits(len(v.Res.Insts))
	var todo []pta.InstID
	add := func(n pta.InstID) {
		if b.Add(int(n)) {
			todo = append(todo, n)
		}
	}
	for _, c := range a.onceCalls {
		if c.cell == a.signals[i].Cell {
			add(c.e.Callee)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range v.Res.Insts[n].Out {
			if !stage.IsSpawn(e.Kind) && v.Has(n, e) {
				add(e.Callee)
			}
		}
	}
	return b
}

// onceBody says that threads run an instance only inside the body of Do for a
// signal.
type onceBody struct {
	signal  int
	threads stage.Set
}

// body is what is known of the body of Do for one signal.
type body struct {
	signal int
	below  stage.Bits               // what it may run
	only   map[pta.InstID]stage.Set // the threads that run an instance only inside it; nil: not yet known
}

// bodiesWith lists the bodies of Do inside which alone some threads run n.
func (a *awaited) bodiesWith(n pta.InstID) []onceBody {
	if !a.bodiesFound {
		a.bodiesFound = true
		a.onceCalls = findOnceCalls(a.v)
		for i := range a.signals {
			if a.signals[i].kind == signalOnce {
				if b := a.below(i); !b.Empty() {
					a.bodies = append(a.bodies, body{i, b, nil})
				}
			}
		}
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

// findBody finds what runs inside one body of Do alone.
func (a *awaited) findBody(b *body) {
	v := a.v
	b.only = map[pta.InstID]stage.Set{}
	calls := map[pta.InstID][]pta.Edge{}
	for _, c := range a.onceCalls {
		if c.cell == a.signals[b.signal].Cell {
			calls[c.from] = append(calls[c.from], c.e)
		}
	}
	callers := stage.NewBits(len(v.Res.Insts))
	for n := range calls {
		callers.Add(int(n))
	}
	outside := v.FlowThreads(v.ThreadEntry, func(m pta.InstID, e pta.Edge) bool {
		return callers.Has(int(m)) && slices.Contains(calls[m], e)
	})
	for m := range v.Res.Insts {
		if !b.below.Has(m) {
			continue
		}
		if s := v.ThreadPool().AndNot(v.ThreadSet(pta.InstID(m)), outside[m]); s != stage.None {
			b.only[pta.InstID(m)] = s
		}
	}
}
