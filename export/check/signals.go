package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// SignalKind says what orders what by a Signal.
type SignalKind uint8

// The kinds of signal.
const (
	Close    SignalKind = iota // closes of a channel: for who has received its end
	Message                    // sends and closes: for who has received anything
	Sends                      // all sends: for who has received as many
	Receives                   // all receives: for who has sent as many, and a buffer more
	OnceDone                   // the body of Do of a Once: for whom Do has returned
	SendLock                   // a channel as lock, see chanlock.go
	RecvLock                   // the same
	Group                      // Done of the goroutines that a wait group joins: for who has waited
)

// Signal is what goroutines may wait for, on the object at a cell.
type Signal struct {
	Kind SignalKind
	Cell uint32
}

// signal is a Signal that can be relied on, for Group one for each joined thread. It
// is one object of the whole run, and the spots are all points that signal:
//
//	(W1) who has waited for Close, Message, has waited for one of the spots, not known
//	     which: an access must precede all of them
//	(W2) where each spot of Sends or Receives executes at most once in the run, and
//	     need waits have completed, it has waited for all: an access need precede one.
//	     The n-th receive is before the end of the n+C-th send, C the capacity
//	(W3) a receive is for Message; for Close if nothing is ever sent, or where its
//	     second result is false; for Sends if nothing is ever closed. A case of a
//	     select counts on its own branch
//	(W4) a return of Do is for OnceDone; see once.go. A Wait: see joins.go
type signal struct {
	Signal
	need   uint32
	spots  []At
	thread int // Group: the joined one
	join   *join
}

// operations are the points that may operate on an object.
type operations struct{ sends, recvs, closes, adds, waits []At }

// findSignals numbers the claimed signals that can be relied on.
func (k *checker) findSignals() {
	k.ofCell, k.numbers = map[uint32][]int{}, make([][]int, len(k.c.Signals))
	k.ops = k.operations()
	for n, s := range k.c.Signals {
		if !k.oneVariable(s.Cell) {
			continue
		}
		o := k.ops[s.Cell]
		var list []signal
		counted := func(at []At, extra int64) {
			if len(at) > 0 && int64(len(at))+extra < maxCount && k.onceEach(at) { // (W2)
				list = append(list, signal{Signal: s, need: uint32(int64(len(at)) + extra), spots: at})
			}
		}
		site := k.siteOf(s.Cell)
		isChan := site != nil && site.Kind == facts.SiteChan
		switch {
		case s.Kind == Close && isChan:
			list = append(list, signal{Signal: s, need: 1, spots: o.closes})
		case s.Kind == Message && isChan:
			list = append(list, signal{Signal: s, need: 1, spots: slices.Concat(o.sends, o.closes)})
		case s.Kind == Sends && isChan:
			counted(o.sends, 0)
		case s.Kind == Receives && isChan && site.CapKnown && site.Cap >= 0:
			counted(o.recvs, min(site.Cap, maxCount))
		case s.Kind == OnceDone && !k.bad[s.Cell]:
			list = append(list, signal{Signal: s, need: 1})
		case (s.Kind == SendLock || s.Kind == RecvLock) && k.isChanLock(s, o):
			if _, ok := k.chanLocks[s.Cell]; !ok {
				k.chanLocks[s.Cell] = s.Kind
			}
		case s.Kind == Group && !k.bad[s.Cell]:
			list = k.findJoin(s, o)
		}
		for _, x := range list {
			i := len(k.signals)
			k.signals = append(k.signals, x)
			k.numbers[n], k.ofCell[s.Cell] = append(k.numbers[n], i), append(k.ofCell[s.Cell], i)
			for _, at := range x.spots {
				for _, t := range k.runBy[at.Inst] {
					if x.Kind != Group || t == x.thread {
						k.happens(at, event{i, t})
					}
				}
			}
		}
	}
}

// siteOf returns the site that makes the object of a cell, or nil.
func (k *checker) siteOf(c uint32) *facts.Site {
	o := &k.c.Objects[k.objOf[c]]
	if o.Kind != ObjSite {
		return nil
	}
	return &k.p.Funcs[o.Fn].Sites[o.Site]
}

// onceEach reports whether each of some points executes at most once in the run.
func (k *checker) onceEach(at []At) bool {
	seen := map[At]bool{}
	for _, x := range at {
		if seen[x] || !k.once.Has(int(x.Inst)) || k.flowOf(k.fn(x.Inst)).follows(x.Point, x.Point) {
			return false
		}
		seen[x] = true
	}
	return true
}

// operations finds the operations on the objects of claimed signals.
func (k *checker) operations() map[uint32]*operations {
	ops := map[uint32]*operations{}
	for _, s := range k.c.Signals {
		ops[s.Cell] = &operations{}
	}
	for i := 1; len(ops) > 0 && i < len(k.c.Insts); i++ {
		f := k.fn(InstID(i))
		for p, pt := range f.Points {
			add := func(r facts.Reg, list func(o *operations) *[]At) {
				for _, c := range k.set(k.pts(InstID(i), r, 0)) {
					if o := ops[c]; o != nil {
						*list(o) = append(*list(o), At{InstID(i), uint32(p)})
					}
				}
			}
			switch pt.Op {
			case facts.OpSync:
				y := &f.Syncs[pt.Row]
				if list := listOf[y.Op]; list != nil {
					add(y.Obj, list)
				}
			case facts.OpSelect:
				for _, c := range f.Selects[pt.Row].Cases {
					if c.Send {
						add(c.Chan, listOf[facts.SyncSend])
					} else {
						add(c.Chan, listOf[facts.SyncRecv])
					}
				}
			}
		}
	}
	return ops
}

var listOf = map[facts.SyncOp]func(o *operations) *[]At{
	facts.SyncSend:  func(o *operations) *[]At { return &o.sends },
	facts.SyncRecv:  func(o *operations) *[]At { return &o.recvs },
	facts.SyncClose: func(o *operations) *[]At { return &o.closes },
	facts.SyncAdd:   func(o *operations) *[]At { return &o.adds },
	facts.SyncWait:  func(o *operations) *[]At { return &o.waits },
}
