package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// signalKind says how a signal orders.
type signalKind uint8

const (
	signalClose signalKind = iota // a receive that saw the channel closed
	signalSend                    // the n-th receive, of n sends in all
	signalRecv                    // the n-th send on an unbuffered channel, of n receives in all
	signalOnce                    // a return of Do
	signalWait                    // a Wait by a goroutine that was started after all that it waits for
)

// signal is a synchronisation object whose use orders: what a goroutine of a
// sender did before every signal happens before whatever follows Need
// completed waits on some path of synchronised steps.
//
//	(S1) the object is made at most once (oneObject); a channel is never
//	     overwritten, being a value
//	(S2) close: nothing is ever sent, so that a receive completes only after a
//	     close; or the wait is the edge on which a receive reported !ok
//	(S3) send: nobody closes the channel; Need is the number of send points,
//	     each executed at most once in the whole run, so that Need completed
//	     receives have taken the value of every send
//	(S4) receive, unbuffered: as (S3) with the roles exchanged: a send completes
//	     after its receive has begun
//	     Reflection, and code that is not modelled, may do any of the three to
//	     any channel that it gets hold of, without limit
//	(S5) once: Need is 1
//	(S6) wait: a join (waitgroup.go) waited for by a goroutine of another thread
//	     than the owner, started by the owner alone where no start of a joined
//	     goroutine can follow; the access precedes its own goroutine's Done
//
// For (S2) to (S4) an access is ordered if it precedes every signal of its own
// goroutine, and all signals are by single goroutines; a signal by another
// goroutine would satisfy the wait in its place. For close, all closes must be
// by the one thread of the access. For (S5) it must lie in the body of Do.
type signal struct {
	kind    signalKind
	Cell    uint32
	Need    uint8
	Senders []int          // threads that signal
	after   map[int]*after // per sender
}

// awaited is the must-analysis of completed waits: the relation
// awaited(N, I, signal, count), a lower bound of the number of waits for each
// signal that happen before the point.
//
//	(A1) the initial goroutine starts with none
//	(A2) a wait adds one, up to Need; it counts where it surely is for this object
//	(A3) states meet by minimum, over callers, starts of goroutines and paths:
//	     what the starter has waited for, the started inherits
//	(A4) a call adds the least that any return of any callee added
//	(A5) what panics takes the state before the point
type awaited struct {
	v       *stage.View
	signals []signal
	once    map[uint32]bool
	gens    []bool // instances that wait, or call one that does
	sum     [][]uint8
	entry   [][]uint8
	blocks  map[pta.InstID][][]uint8
	edge    map[facts.FuncID]map[facts.Reg]uint32 // ok registers: the receive's row
	byCell  map[uint32][]int                      // signals by their cells
	by      [][]int                               // signals by the threads that send them
	ops     map[uint32]*chanOps
	joins   []join
	late    map[int][]int  // by signal: the threads that (S6) lets wait
	starts  map[int]*after // by thread with one parent: what may follow its starts
	waits   map[spot]int   // signals waited for, by point
	// bodies of Do, found when first asked for.
	bodies      []body
	bodiesFound bool
	onceCalls   []onceCall
}

// chanOps are the operations that may touch one channel.
type chanOps struct {
	sends, recvs, closes []spot
	wild                 bool // reflection may do anything to it
}

func newAwaited(v *stage.View, ov *overwritten, joins []join) *awaited {
	a := &awaited{v: v, joins: joins, late: map[int][]int{}, starts: map[int]*after{}, once: map[uint32]bool{}, byCell: map[uint32][]int{}, waits: map[spot]int{}, by: make([][]int, len(v.Threads))}
	a.findSignals(ov, joins)
	a.solve()
	return a
}

// findSignals collects the objects that fulfil (S1) to (S5).
func (a *awaited) findSignals(ov *overwritten, joins []join) {
	v := a.v
	ops := map[uint32]*chanOps{}
	a.ops = ops
	var chans, onces []uint32
	at := func(c uint32) *chanOps {
		o := ops[c]
		if o == nil {
			o = &chanOps{}
			ops[c] = o
			chans = append(chans, c)
		}
		return o
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		id := pta.InstID(i)
		f := v.Res.Func(id)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects)+len(f.Deeps) == 0 {
			continue
		}
		for p, pt := range f.Points {
			sp := spot{id, uint32(p)}
			switch pt.Op {
			case facts.OpDeep:
				if f.Pkg != "reflect" && !f.Deeps[pt.Row].Write {
					continue
				}
				v.Res.Deep(id, pt.Row).Each(func(c uint32) {
					o, _ := v.Res.Object(c)
					if k, ok := v.Res.SiteKind(o); ok && k == facts.SiteChan {
						at(v.Res.Objs[o].Node).wild = true
					}
				})
			case facts.OpSync:
				y := &f.Syncs[pt.Row]
				v.Res.PointsTo(id, y.Obj, 0).Each(func(c uint32) {
					switch y.Op {
					case facts.SyncSend:
						at(c).sends = append(at(c).sends, sp)
					case facts.SyncRecv:
						at(c).recvs = append(at(c).recvs, sp)
					case facts.SyncClose:
						at(c).closes = append(at(c).closes, sp)
					case facts.SyncOnce:
						if !a.once[c] {
							a.once[c] = true
							onces = append(onces, c)
						}
					}
				})
			case facts.OpSelect:
				for _, k := range f.Selects[pt.Row].Cases {
					v.Res.PointsTo(id, k.Chan, 0).Each(func(c uint32) {
						if k.Send {
							at(c).sends = append(at(c).sends, sp)
						} else {
							at(c).recvs = append(at(c).recvs, sp)
						}
					})
				}
			}
		}
	}
	for _, c := range chans {
		if !oneObject(v, c) { // (S1)
			continue
		}
		o := ops[c]
		if o.wild {
			continue
		}
		if len(o.closes) > 0 {
			if s, ok := a.senders(signalClose, c, o.closes, false); ok && len(s.Senders) == 1 { // (S2)
				s.Need = 1
				a.signals = append(a.signals, s)
			}
			continue
		}
		if n := len(o.sends); n > 0 && n < 100 { // (S3)
			if s, ok := a.senders(signalSend, c, o.sends, true); ok {
				s.Need = uint8(n)
				a.signals = append(a.signals, s)
			}
		}
		ob, _ := v.Res.Object(c)
		site := v.Res.Site(ob)
		if n := len(o.recvs); n > 0 && n < 100 && site != nil && site.CapKnown && site.Cap == 0 { // (S4)
			if s, ok := a.senders(signalRecv, c, o.recvs, true); ok {
				s.Need = uint8(n)
				a.signals = append(a.signals, s)
			}
		}
	}
	for _, c := range onces { // (S5)
		if oneObject(v, c) && !ov.Has(c) {
			a.signals = append(a.signals, signal{kind: signalOnce, Cell: c, Need: 1})
		}
	}
	for i := range a.signals {
		a.signals[i].after = map[int]*after{}
	}
	for i := range joins {
		if late := a.lateWaiters(&joins[i]); len(late) > 0 { // (S6)
			a.late[len(a.signals)] = late
			a.signals = append(a.signals, signal{kind: signalWait, Cell: joins[i].Cell, Need: 1, Senders: joins[i].Joined, after: joins[i].after})
		}
	}
	for i := range a.signals {
		s := &a.signals[i]
		a.byCell[s.Cell] = append(a.byCell[s.Cell], i)
		for _, t := range s.Senders {
			a.by[t] = append(a.by[t], i)
		}
	}
	a.okRegs()
}

// lateWaiters returns the threads that j's owner alone starts, where no start
// of a joined goroutine can follow. (S6)
func (a *awaited) lateWaiters(j *join) []int {
	v := a.v
	var out []int
	var starts []spot
	for _, c := range j.Joined {
		starts = append(starts, startsOf(v, c)...)
	}
	lead := leading(v, starts)
	for t := 1; t < len(v.Threads); t++ {
		th := &v.Threads[t]
		if len(th.Parents) != 1 || th.Parents[0] != j.Owner || slices.Contains(j.Joined, t) {
			continue
		}
		af := a.starts[t]
		if af == nil {
			af = newAfter(v, j.Owner, startsOf(v, t))
			a.starts[t] = af
		}
		if !af.HasAny(v, starts, lead) {
			out = append(out, t)
		}
	}
	return out
}

// senders finds the threads that execute the given points. With once, each
// point must execute at most once in the whole run; every thread must be a
// single goroutine.
func (a *awaited) senders(k signalKind, c uint32, at []spot, once bool) (signal, bool) {
	v := a.v
	s := signal{kind: k, Cell: c}
	seen := map[int]bool{}
	for _, p := range at {
		for _, t := range v.ThreadsOf(p.Inst) {
			if !v.Threads[t].Single {
				return s, false
			}
			if !seen[t] {
				seen[t] = true
				s.Senders = append(s.Senders, t)
			}
		}
		if once && (!v.Once.Has(int(p.Inst)) || v.Flow(p.Inst).OnCycle(p.Point)) {
			return s, false
		}
	}
	return s, true
}

// before reports whether every execution of the point by thread t, a sender of
// s, precedes every signal of s by t, in the sense of (S2) to (S4).
func (a *awaited) before(i, t int, n pta.InstID, p uint32) bool {
	s := &a.signals[i]
	af := s.after[t]
	if af == nil {
		var own []spot
		for _, sp := range a.signalSpots(s) {
			if a.v.Runs(t, sp.Inst) {
				own = append(own, sp)
			}
		}
		af = newAfter(a.v, t, own)
		s.after[t] = af
	}
	return !af.Has(a.v, n, p)
}

// signalSpots lists the points that may signal s.
func (a *awaited) signalSpots(s *signal) []spot {
	o := a.ops[s.Cell]
	if o == nil {
		return nil
	}
	return [...][]spot{signalClose: o.closes, signalSend: o.sends, signalRecv: o.recvs, signalOnce: nil, signalWait: nil}[s.kind]
}

// okRegs maps the second results of receives to their rows.
func (a *awaited) okRegs() {
	a.edge = map[facts.FuncID]map[facts.Reg]uint32{}
	for i := 1; i < len(a.v.Res.Insts); i++ {
		f := a.v.Res.Func(pta.InstID(i))
		if f == nil || a.edge[f.ID] != nil {
			continue
		}
		m := map[facts.Reg]uint32{}
		byDst := map[facts.Reg]uint32{}
		for row, y := range f.Syncs {
			if y.Op == facts.SyncRecv && y.Comma {
				byDst[y.Dst] = uint32(row)
			}
		}
		if len(byDst) > 0 {
			for _, c := range f.Copies {
				if row, ok := byDst[c.Src]; ok && c.Index == 1 {
					m[c.Dst] = row
				}
			}
		}
		a.edge[f.ID] = m
	}
}

// findWait returns the signal that the point waits for, or -1. (A2)
func (a *awaited) findWait(n pta.InstID, f *facts.Func, p uint32) int {
	pt := f.Points[p]
	if pt.Op != facts.OpSync {
		return -1
	}
	y := &f.Syncs[pt.Row]
	var k signalKind
	switch y.Op {
	case facts.SyncRecv:
		k = signalSend
	case facts.SyncSend:
		k = signalRecv
	case facts.SyncOnce:
		k = signalOnce
	case facts.SyncWait:
		k = signalWait
	default:
		return -1
	}
	c, ok := a.v.Single(n, y.Obj)
	if !ok {
		return -1
	}
	for _, i := range a.byCell[c] {
		s := &a.signals[i]
		if k == signalWait && !a.allLate(i, n) {
			continue
		}
		if s.kind == k || s.kind == signalClose && k == signalSend && !a.sent(c) {
			return i
		}
	}
	return -1
}

// wait returns the signal that the point waits for, or -1.
func (a *awaited) wait(n pta.InstID, f *facts.Func, p uint32) int {
	if f.Points[p].Op != facts.OpSync {
		return -1
	}
	if i, ok := a.waits[spot{n, p}]; ok {
		return i
	}
	return -1
}

// allLate reports whether instance n runs only in threads that (S6) lets wait
// for signal i.
func (a *awaited) allLate(i int, n pta.InstID) bool {
	for _, t := range a.v.ThreadsOf(n) {
		ok := false
		for _, l := range a.late[i] {
			ok = ok || l == t
		}
		if !ok {
			return false
		}
	}
	return true
}

// sent reports whether anything may be sent on the channel.
func (a *awaited) sent(c uint32) bool {
	return a.ops[c] != nil && len(a.ops[c].sends) > 0
}

// closedEdge returns the signal that taking successor k of block b waits for:
// the edge on which a receive reported that the channel is closed. (S2)
func (a *awaited) closedEdge(n pta.InstID, f *facts.Func, b, k int) int {
	c := f.Blocks[b].Cond
	if c.Kind != facts.CondTrue || len(f.Blocks[b].Succs) != 2 {
		return -1
	}
	row, ok := a.edge[f.ID][c.X]
	if !ok || (k == 0) != c.Neg {
		return -1
	}
	cell, ok := a.v.Single(n, f.Syncs[row].Obj)
	if !ok {
		return -1
	}
	for _, i := range a.byCell[cell] {
		if a.signals[i].kind == signalClose {
			return i
		}
	}
	return -1
}

func (a *awaited) solve() {
	v := a.v
	a.sum = make([][]uint8, len(v.Res.Insts))
	a.entry = make([][]uint8, len(v.Res.Insts))
	a.gens = make([]bool, len(v.Res.Insts))
	a.blocks = map[pta.InstID][][]uint8{}
	if len(a.signals) == 0 {
		return
	}
	var list, todo []pta.InstID
	mark := func(n pta.InstID) {
		if !a.gens[n] {
			a.gens[n] = true
			list = append(list, n)
			todo = append(todo, n)
		}
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		id := pta.InstID(i)
		f := v.Res.Func(id)
		if f == nil || !v.Live.Has(i) {
			continue
		}
		for p := range f.Points {
			if i := a.findWait(id, f, uint32(p)); i >= 0 {
				a.waits[spot{id, uint32(p)}] = i
				mark(id)
			}
		}
		for b := range f.Blocks {
			if a.closedEdge(id, f, b, 0) >= 0 || a.closedEdge(id, f, b, 1) >= 0 {
				mark(id)
			}
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range v.In(n) {
			if !stage.IsSpawn(c.Kind) && c.Kind != pta.EdgeAny {
				mark(c.Inst)
			}
		}
	}
	// Summaries: least added on the way to a return. From "adds nothing"
	// upwards each round is sound; a few rounds give nested helpers their due.
	for _, n := range list {
		a.sum[n] = make([]uint8, len(a.signals))
	}
	rounds := make([]uint8, len(v.Res.Insts))
	work := slices.Clone(list)
	queued := make([]bool, len(v.Res.Insts))
	for _, n := range list {
		queued[n] = true
	}
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued[n] = false
		rounds[n]++
		s := a.summary(n)
		if slices.Equal(s, a.sum[n]) {
			continue
		}
		a.sum[n] = s
		for _, c := range v.In(n) {
			if a.gens[c.Inst] && !stage.IsSpawn(c.Kind) && !queued[c.Inst] && rounds[c.Inst] < 8 {
				queued[c.Inst] = true
				work = append(work, c.Inst)
			}
		}
	}
	// Entry states, top-down: the greatest fixed point from unvisited.
	root := v.Res.Root
	a.entry[root] = make([]uint8, len(a.signals)) // (A1)
	work = append(work, root)
	queued[root] = true
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		queued[n] = false
		// push meets c's entry state with s. States are shared between
		// instances, and never changed in place.
		push := func(c pta.InstID, s []uint8) {
			old := a.entry[c]
			if old != nil && &old[0] == &s[0] {
				return
			}
			if old != nil {
				lower := slices.Clone(old)
				for i, x := range s {
					lower[i] = min(lower[i], x)
				}
				if slices.Equal(lower, old) {
					return
				}
				s = lower
			}
			a.entry[c] = s
			if !queued[c] {
				queued[c] = true
				work = append(work, c)
			}
		}
		if v.Res.Func(n) == nil {
			continue
		}
		if !a.gens[n] {
			for _, e := range v.Res.Insts[n].Out {
				if v.Has(n, e) {
					push(e.Callee, a.entry[n])
				}
			}
			continue
		}
		f := v.Res.Func(n)
		in := a.flow(n, a.entry[n])
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			s := append([]uint8(nil), in[b]...)
			for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
				if edges := v.EdgesAt(n, f.Points[p]); len(edges) > 0 {
					before := slices.Clone(s)
					for _, e := range edges {
						push(e.Callee, before)
					}
				}
				a.step(n, f, p, s)
			}
		}
	}
}

// step applies point p to s.
func (a *awaited) step(n pta.InstID, f *facts.Func, p uint32, s []uint8) {
	if i := a.wait(n, f, p); i >= 0 {
		if s[i] < a.signals[i].Need {
			s[i]++
		}
		return
	}
	pt := f.Points[p]
	if pt.Op != facts.OpCall {
		return
	}
	var add []uint8 // (A4)
	none := false
	for _, e := range a.v.EdgesAt(n, pt) {
		if e.Kind == pta.EdgeGo || !a.gens[e.Callee] {
			none = true
			continue
		}
		if add == nil {
			add = append([]uint8(nil), a.sum[e.Callee]...)
			continue
		}
		for i, x := range a.sum[e.Callee] {
			add[i] = min(add[i], x)
		}
	}
	if none {
		return
	}
	for i, x := range add {
		s[i] = min(s[i]+x, a.signals[i].Need)
	}
}

// flow returns the states at the heads of n's blocks; nil is unreached.
func (a *awaited) flow(n pta.InstID, entry []uint8) [][]uint8 {
	f := a.v.Res.Func(n)
	in := make([][]uint8, len(f.Blocks))
	in[0] = append([]uint8(nil), entry...)
	for changed := true; changed; {
		changed = false
		meet := func(b int, s []uint8) {
			if in[b] == nil {
				in[b] = append([]uint8(nil), s...)
				changed = true
				return
			}
			for i := range s {
				if s[i] < in[b][i] {
					in[b][i] = s[i]
					changed = true
				}
			}
		}
		for b := range f.Blocks {
			if in[b] == nil {
				continue
			}
			blk := &f.Blocks[b]
			s := append([]uint8(nil), in[b]...)
			for p := blk.Start; p < blk.End; p++ {
				if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
					meet(int(blk.Panic), s) // (A5)
				}
				a.step(n, f, p, s)
			}
			for k, q := range blk.Succs {
				if i := a.closedEdge(n, f, b, k); i >= 0 && s[i] == 0 {
					x := append([]uint8(nil), s...)
					x[i] = 1
					meet(int(q), x)
					continue
				}
				meet(int(q), s)
			}
		}
	}
	return in
}

// summary returns the least that a return of n adds; "never returns" adds Need.
func (a *awaited) summary(n pta.InstID) []uint8 {
	f := a.v.Res.Func(n)
	in := a.flow(n, make([]uint8, len(a.signals)))
	out := make([]uint8, len(a.signals))
	for i := range out {
		out[i] = a.signals[i].Need
	}
	for b := range f.Blocks {
		if in[b] == nil || !f.Blocks[b].Return {
			continue
		}
		s := append([]uint8(nil), in[b]...)
		for p := f.Blocks[b].Start; p < f.Blocks[b].End; p++ {
			a.step(n, f, p, s)
		}
		for i := range out {
			out[i] = min(out[i], s[i])
		}
	}
	return out
}

// At returns the counts at point p of n; nil means none.
func (a *awaited) At(n pta.InstID, p uint32) []uint8 {
	entry := a.entry[n]
	if entry == nil {
		return nil
	}
	if !a.gens[n] {
		return entry
	}
	in, ok := a.blocks[n]
	if !ok {
		in = a.flow(n, entry)
		a.blocks[n] = in
	}
	fl := a.v.Flow(n)
	b := fl.Block(p)
	if in[b] == nil {
		return nil
	}
	s := append([]uint8(nil), in[b]...)
	for q := fl.F.Blocks[b].Start; q < p; q++ {
		a.step(n, fl.F, q, s)
	}
	return s
}
