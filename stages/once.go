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
		case signalBody:
			x := a.rivals[slices.IndexFunc(a.rivals, func(x rival) bool { return x.signal == i })]
			for n := range byCell[s.Cell] {
				from = append(from, n)
			}
			enters = a.calls(x)
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

// Bodies of one Once exclude each other: of several functions that are handed to Do,
// one at most is ever called. So what one calls, and what the goroutines do that it
// starts, is in no execution together with what another calls.

// rival is a body of a Once that has several: an instance that Do calls, and its
// signal.
type rival struct {
	cell   uint32
	n      pta.InstID
	signal int
}

// findRivals finds the bodies of Onces that fulfil (S5) and have several.
func (a *awaited) findRivals() {
	var all []rival
	count := map[uint32]int{}
	for _, c := range findOnceCalls(a.v) {
		is := func(x rival) bool { return x.cell == c.cell && x.n == c.e.Callee }
		if oneObject(a.v, c.cell) && !a.overwritten(c.cell) && !slices.ContainsFunc(all, is) {
			all = append(all, rival{c.cell, c.e.Callee, 0})
			count[c.cell]++
		}
	}
	for _, x := range all {
		if count[x.cell] > 1 && len(a.rivals) < maxClaims {
			x.signal = a.add(signal{kind: signalBody, Cell: x.cell, Need: 1})
			a.rivals = append(a.rivals, x)
		}
	}
}

// calls reports whether a call is one of Do that runs the body.
func (a *awaited) calls(x rival) func(pta.InstID, pta.Edge) bool {
	var list []onceCall
	for _, c := range findOnceCalls(a.v) {
		if c.cell == x.cell && c.e.Callee == x.n {
			list = append(list, c)
		}
	}
	return func(n pta.InstID, e pta.Edge) bool {
		return slices.Contains(list, onceCall{n, e, x.cell})
	}
}

// exclusive reports whether no execution has both a point of instance n by thread t
// and one of instance m by thread s.
func (a *awaited) exclusive(t int, n pta.InstID, s int, m pta.InstID) bool {
	for _, x := range a.rivals {
		for _, y := range a.rivals {
			if x.cell == y.cell && x != y && a.inBody(x, t, n) && a.inBody(y, s, m) {
				return true
			}
		}
	}
	return false
}

// inBody reports whether thread t runs an instance only inside a body, or is started
// there.
func (a *awaited) inBody(x rival, t int, n pta.InstID) bool {
	return a.inside(x, t, n) || a.startedIn(x, t, nil)
}

// startedIn reports whether all starts of a thread are in a body, or by threads for
// which this holds.
func (a *awaited) startedIn(x rival, t int, within []int) bool {
	starts := startsOf(a.v, t)
	if t == 0 || len(starts) == 0 || slices.Contains(within, t) {
		return false
	}
	within = append(within[:len(within):len(within)], t)
	for _, st := range starts {
		for _, u := range a.v.ThreadsOf(st.Inst) {
			if !a.inside(x, u, st.Inst) && !a.startedIn(x, u, within) {
				return false
			}
		}
	}
	return true
}

// inside reports whether thread t runs an instance only inside a body.
func (a *awaited) inside(x rival, t int, n pta.InstID) bool {
	v := a.v
	outside, ok := a.outside[x]
	if !ok {
		outside = v.FlowThreads(v.ThreadEntry, a.calls(x))
		if a.outside == nil {
			a.outside = map[rival][]stage.Set{}
		}
		a.outside[x] = outside
	}
	return v.Runs(t, n) && !v.ThreadPool().Has(outside[n], t)
}
