package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// signalKind says how a signal orders.
type signalKind uint8

const (
	signalClose signalKind = iota // a receive that saw the channel closed
	signalFirst                   // any receive that completed
	signalSend                    // so many receives that all sends have been received
	signalRecv                    // so many sends that all receives have been done; Locks and Unlocks
	signalOnce                    // a return of Do
	signalWait                    // a Wait after which nothing that it waits for can start
	signalFlag                    // a value seen that only certain stores leave
	signalClaim                   // none waits: see claims.go
	signalBody                    // none waits: one body of a Once with several
)

// ruleNames are the signals' names in evidence.
var ruleNames = [...]string{"close", "message", "send", "receive", "once", "wait", "flag", "claim", "another body of once"}

// signal is a synchronisation object whose use orders: what precedes its spots
// (of every one, or of some; see precede.go) happens before whatever follows Need
// completed waits on some path of synchronised steps.
//
//	(S1) the object is made at most once (oneObject); a channel is never
//	     overwritten, being a value
//	(S2) close: every spot is a close; nothing is ever sent, so that a receive
//	     completes only after a close; or the wait is the edge on which a receive
//	     reported !ok. One close alone ends the waiting, so an access must
//	     precede every one of them
//	(S3) send: the spots are the sends, each executed at most once in the whole
//	     run; Need is their number; the waits are receives that did not end by
//	     close (nobody closes, or the edge of ok). Then every send has been
//	     received, so an access need precede one of them only
//	(S4) receive, capacity C known: as (S3) with the roles exchanged. The k-th
//	     receive is before the end of the (k+C)-th send, so Need is C more than
//	     there are receives. A mutex is such a channel of capacity 1: Lock sends
//	     and Unlock receives; no read lock and no overwriting is allowed
//	(S5) once: Need is 1; the access lies in the body of Do
//	(S6) wait: a join (waitgroup.go); the access precedes its own goroutine's Done,
//	     and no start of a joined goroutine can follow the Wait: it is by the
//	     owner, or by a goroutine that the owner alone starts where none can follow.
//	     Of counters that are no wait groups see counts.go
//	(S7) message: the spots are all sends and closes; the wait is any receive that
//	     completed. An access must precede every one of them
//	(S8) flag: see flags.go
//	(S9) a counted wait at certain places, (S3) and (S4): a spot that every
//	     execution of a place precedes is never among what a wait there waits for.
//	     Spots that all the places of the signal precede are left out of its spots
//	     and of Need; waits at other places do not count
//
// Reflection, and code that is not modelled, may send, receive and close on any
// channel that it gets hold of, without limit: such channels are no signals.
type signal struct {
	kind    signalKind
	Cell    uint32
	Need    uint8
	spots   []spot
	Senders []int          // threads that run the spots
	points  []stage.At     // spots, for evidence
	after   map[int]*after // signalWait: what may follow the Done, by thread
	// counted: signalWait of a counter that is no wait group (counts.go).
	counted bool
	claim   claim
}

// all reports whether an access must precede every spot.
func (s *signal) all() bool {
	return s.kind == signalClose || s.kind == signalFirst || s.kind == signalFlag
}

// evidence is what orders accesses of thread first, which precede the signal,
// before those that have waited for it.
func (s *signal) evidence(first int) stage.Evidence {
	if s.points == nil {
		for _, sp := range s.spots {
			s.points = append(s.points, stage.At(sp))
		}
	}
	rule := ruleNames[s.kind]
	if s.counted {
		rule = "count"
	}
	return stage.Signalled{Rule: rule, First: first, Cell: s.Cell, Need: int(s.Need), All: s.all(), Signals: s.points}
}

// chanOps are the operations that may touch one channel, or one mutex: sends
// are its Locks, recvs its Unlocks.
type chanOps struct {
	sends, recvs, closes []spot
	wild                 bool // reflection may do anything to it; read locks
	mutex                bool
}

const maxCounted = 100 // spots of a counted signal

// findOps collects the operations on channels and mutexes.
func (a *awaited) findOps() (cells []uint32, onces []uint32) {
	v := a.v
	at := func(c uint32) *chanOps {
		o := a.ops[c]
		if o == nil {
			o = &chanOps{}
			a.ops[c] = o
			cells = append(cells, c)
		}
		return o
	}
	once := map[uint32]bool{}
	for i := 1; i < len(v.Res.Insts); i++ {
		id := pta.InstID(i)
		f := v.Res.Func(id)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects)+len(f.Deeps) == 0 {
			continue
		}
		for p, pt := range f.Points {
			if pt.Op != facts.OpDeep && pt.Op != facts.OpSync && pt.Op != facts.OpSelect || v.DeadAt(id, uint32(p)) {
				continue
			}
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
					case facts.SyncAcquire, facts.SyncRelease:
						o := at(c)
						o.mutex = true
						o.wild = o.wild || !y.Write
						if y.Op == facts.SyncAcquire {
							o.sends = append(o.sends, sp)
						} else {
							o.recvs = append(o.recvs, sp)
						}
					case facts.SyncOnce:
						if !once[c] {
							once[c] = true
							onces = append(onces, c)
						}
					}
				})
			case facts.OpSelect:
				for k := range f.Selects[pt.Row].Cases {
					s := &f.Selects[pt.Row].Cases[k]
					if !v.MayCommunicate(id, s) {
						continue
					}
					v.Res.PointsTo(id, s.Chan, 0).Each(func(c uint32) {
						if s.Send {
							at(c).sends = append(at(c).sends, sp)
						} else {
							at(c).recvs = append(at(c).recvs, sp)
						}
					})
				}
			}
		}
	}
	return cells, onces
}

// findSignals collects the objects that fulfil (S1) to (S8).
func (a *awaited) findSignals(locks *mustnot.Locks) {
	v := a.v
	cells, onces := a.findOps()
	a.findRivals()
	for _, c := range cells {
		o := a.ops[c]
		if o.wild || !oneObject(v, c) || o.mutex && a.overwritten(c) { // (S1)
			continue
		}
		if o.mutex {
			a.counted(signalRecv, c, a.capacity(c, o), o.recvs) // (S4)
			continue
		}
		if len(o.closes) > 0 {
			a.found(signal{kind: signalClose, Cell: c, Need: 1, spots: o.closes}) // (S2)
		}
		if len(o.sends)+len(o.closes) > 0 { // (S7)
			a.found(signal{kind: signalFirst, Cell: c, Need: 1, spots: append(o.sends[:len(o.sends):len(o.sends)], o.closes...)})
		}
		a.counted(signalSend, c, 0, o.sends) // (S3)
		if k := a.capacity(c, o); k >= 0 {
			a.counted(signalRecv, c, k, o.recvs) // (S4)
		}
	}
	for _, c := range onces { // (S5)
		if oneObject(v, c) && !a.overwritten(c) {
			a.found(signal{kind: signalOnce, Cell: c, Need: 1})
		}
	}
	for i := range a.joins { // (S6)
		j := &a.joins[i]
		a.late[len(a.signals)] = a.lateWaiters(j)
		a.found(signal{kind: signalWait, Cell: j.Cell, Need: 1, after: j.after, Senders: j.Joined, counted: j.tally != nil})
		a.ownWaits[len(a.signals)-1] = j
	}
	a.findEdgeRegs()
	a.findWaits()
	a.findCounted()
	a.findPlaced()
	a.findFlags(locks) // (S8)
	a.findClaims()
}

// found adds a signal that operations on its cell wait for.
func (a *awaited) found(s signal) int {
	i := a.add(s)
	a.byCell[s.Cell] = append(a.byCell[s.Cell], i)
	return i
}

// add adds a signal, with its senders.
func (a *awaited) add(s signal) int {
	seen := stage.NewBits(len(a.v.Threads))
	for _, sp := range s.spots {
		for _, t := range a.v.ThreadsOf(sp.Inst) {
			if seen.Add(t) {
				s.Senders = append(s.Senders, t)
			}
		}
	}
	i := len(a.signals)
	a.signals = append(a.signals, s)
	return i
}

// counted adds a signal of kind (S3) or (S4) with the given spots if it has any.
func (a *awaited) counted(k signalKind, c uint32, extra int, at []spot) {
	n := len(at)
	if n > 0 && n+extra < maxCounted && a.onceEach(at) {
		a.found(signal{kind: k, Cell: c, Need: uint8(n + extra), spots: at})
	}
}

// onceEach reports whether each of the points executes at most once in the whole
// run.
func (a *awaited) onceEach(at []spot) bool {
	for i, p := range at {
		if !a.v.Once.Has(int(p.Inst)) || a.v.Flow(p.Inst).OnCycle(p.Point) {
			return false
		}
		for _, q := range at[:i] {
			if p == q {
				return false // two cases of one select
			}
		}
	}
	return true
}

// maxPlaced bounds the places of one channel that (S9) looks at.
const maxPlaced = 16

// findPlaced adds the signals of (S9): for each set of spots that some place
// precedes, one of the other spots.
func (a *awaited) findPlaced() {
	type key struct {
		c    uint32
		kind signalKind
	}
	places := map[key][]spot{}
	var keys []key
	for _, sp := range a.placeSpots {
		y := a.syncAt(sp)
		c, ok := a.v.Single(sp.Inst, y.Obj)
		o := a.ops[c]
		if !ok || o == nil || o.wild || !oneObject(a.v, c) {
			continue
		}
		k := key{c, signalRecv}
		if y.Op == facts.SyncRecv {
			k.kind = signalSend
			if len(o.closes) > 0 {
				continue
			}
		}
		if places[k] == nil {
			keys = append(keys, k)
		}
		places[k] = append(places[k], sp)
	}
	for _, k := range keys {
		o := a.ops[k.c]
		spots, extra := o.sends, 0
		if k.kind == signalRecv {
			spots, extra = o.recvs, a.capacity(k.c, o)
		}
		if len(places[k]) > maxPlaced || len(spots) > 64 || extra < 0 || o.mutex && a.overwritten(k.c) {
			continue
		}
		// Spots left must execute at most once each; those that do not would have
		// to follow a place, all of them, which is not worth asking of locks.
		if !a.onceEach(spots) && (o.mutex || len(spots) > 4) {
			continue
		}
		after := make([]uint64, len(places[k])) // of each place, the spots that it precedes
		for i, pl := range places[k] {
			for b, sp := range spots {
				if a.placeBefore(pl, sp) {
					after[i] |= 1 << b
				}
			}
		}
		for i, e := range after {
			if e == 0 || slices.Contains(after[:i], e) {
				continue
			}
			var left []spot
			for b, sp := range spots {
				if e&(1<<b) == 0 {
					left = append(left, sp)
				}
			}
			if n := len(left); n == 0 || n+extra >= maxCounted || !a.onceEach(left) {
				continue
			}
			g := a.add(signal{kind: k.kind, Cell: k.c, Need: uint8(len(left) + extra), spots: left})
			for j, pl := range places[k] {
				if after[j]&e == e {
					a.waits[pl] = append(a.waits[pl], g)
				}
			}
		}
	}
}

// capacity returns how many sends complete without a receive: that of a channel
// if it is known, else -1; 1 for a mutex.
func (a *awaited) capacity(c uint32, o *chanOps) int {
	if o.mutex {
		return 1
	}
	ob, _ := a.v.Res.Object(c)
	if s := a.v.Res.Site(ob); s != nil && s.CapKnown && s.Cap < maxCounted {
		return int(s.Cap)
	}
	return -1
}

// placeBefore reports whether every execution of a place, in any thread, precedes
// every execution of a spot.
func (a *awaited) placeBefore(pl, sp spot) bool {
	for _, t := range a.v.ThreadsOf(pl.Inst) {
		if !a.spotAfter(t, pl.Inst, pl.Point, sp, nil) {
			return false
		}
	}
	return true
}

// syncAt returns the operation at a spot, or nil.
func (a *awaited) syncAt(sp spot) *facts.Sync {
	f := a.v.Res.Func(sp.Inst)
	if pt := f.Points[sp.Point]; pt.Op == facts.OpSync {
		return &f.Syncs[pt.Row]
	}
	return nil
}

// lateWaiters returns the threads that j's owner alone starts, where no start
// of a joined goroutine can follow. (S6)
func (a *awaited) lateWaiters(j *join) []int {
	v := a.v
	var out []int
	for t := 1; t < len(v.Threads); t++ {
		th := &v.Threads[t]
		if len(th.Parents) != 1 || th.Parents[0] != j.Owner {
			continue
		}
		if slices.Contains(j.Joined, t) {
			continue
		}
		af := a.starts[t]
		if af == nil {
			af = newAfter(v, j.Owner, startsOf(v, t))
			a.starts[t] = af
		}
		if a.noStartAfter(j, af) {
			out = append(out, t)
		}
	}
	return out
}

// noStartAfter reports whether j's owner can start no joined goroutine where af,
// one of its own sets, says.
func (a *awaited) noStartAfter(j *join, af *after) bool {
	starts, lead := j.startPoints(a.v)
	return !af.HasAny(a.v, starts, lead)
}
