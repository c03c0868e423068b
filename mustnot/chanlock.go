package mustnot

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// A channel of capacity 1 is a lock if the whole program uses it by one protocol:
//
//	(C1) it is one object, of known capacity 1, never closed; reflection and code
//	     that is not modelled do not get hold of it, and every send and receive
//	     on it is on it alone
//	(C2) forward: sends acquire and receives release. Every receive is by a
//	     goroutine that holds it. Then the buffer holds as many values as there
//	     are holders, one at most; a receive is before the end of the next send
//	(C3) backward: receives acquire and sends release. One send, which executes
//	     at most once in the whole run, may be by a goroutine that does not hold
//	     it; all others are by one that does. Then values and holders together
//	     are one at most; a send is before the end of its receive
//
// A select counts as an operation where one case alone can ever be ready and it
// has no default; another select on the channel breaks the protocol, since it
// may acquire on one branch only. That every release is by a holder is checked
// with those of mutexes (usable); of the two protocols one is chosen by what its
// users do first, and if it is the wrong one, nothing holds.

// lockOp is an operation on a lock.
type lockOp struct {
	obj     facts.Reg
	acquire bool
	write   bool
	once    bool // the end of a Do
}

type spot struct {
	n pta.InstID
	p uint32
}

// chanOp is an operation on a channel that may be a lock.
type chanOp struct {
	at   spot
	obj  facts.Reg
	send bool
}

// opAt returns what a point does to a lock.
func (l *Locks) opAt(n pta.InstID, f *facts.Func, p uint32) (lockOp, bool) {
	pt := f.Points[p]
	switch pt.Op {
	case facts.OpSync:
		switch y := &f.Syncs[pt.Row]; y.Op {
		case facts.SyncAcquire, facts.SyncRelease:
			return lockOp{obj: y.Obj, acquire: y.Op == facts.SyncAcquire, write: y.Write}, true
		case facts.SyncOnce:
			return lockOp{obj: y.Obj, acquire: true, once: true}, true
		case facts.SyncSend, facts.SyncRecv:
		default:
			return lockOp{}, false
		}
	case facts.OpSelect:
	default:
		return lockOp{}, false
	}
	if len(l.chans) == 0 {
		return lockOp{}, false
	}
	op, ok := l.chans[spot{n, p}]
	return op, ok
}

// findChanLocks finds the channels that fulfil (C1), and what operations on them
// do under the protocol that is chosen for each.
func (l *Locks) findChanLocks() {
	v := l.v
	byCell := map[uint32][]chanOp{}
	bad := map[uint32]bool{}
	var cells []uint32
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects)+len(f.Deeps) == 0 {
			continue
		}
		op := func(p uint32, obj facts.Reg, send, ok bool) {
			pts := v.Res.PointsTo(n, obj, 0)
			c, one := pts.One()
			if !one || !ok {
				pts.Each(func(c uint32) { bad[c] = true })
				return
			}
			if byCell[c] == nil {
				cells = append(cells, c)
			}
			byCell[c] = append(byCell[c], chanOp{spot{n, p}, obj, send})
		}
		for p, pt := range f.Points {
			if pt.Op != facts.OpDeep && pt.Op != facts.OpSync && pt.Op != facts.OpSelect || v.DeadAt(n, uint32(p)) {
				continue
			}
			switch pt.Op {
			case facts.OpDeep:
				if f.Pkg == "reflect" || f.Deeps[pt.Row].Write {
					v.Res.Deep(n, pt.Row).Each(func(c uint32) { bad[c] = true })
				}
			case facts.OpSync:
				switch y := &f.Syncs[pt.Row]; y.Op {
				case facts.SyncSend, facts.SyncRecv:
					op(uint32(p), y.Obj, y.Op == facts.SyncSend, true)
				case facts.SyncClose:
					op(uint32(p), y.Obj, true, false)
				}
			case facts.OpSelect:
				s := &f.Selects[pt.Row]
				live := 0
				for k := range s.Cases {
					if v.MayCommunicate(n, &s.Cases[k]) {
						live++
					}
				}
				for k := range s.Cases {
					if c := &s.Cases[k]; v.MayCommunicate(n, c) {
						op(uint32(p), c.Chan, c.Send, live == 1 && s.Blocking)
					}
				}
			}
		}
	}
	l.chans, l.tokens = map[spot]lockOp{}, map[uint32]spot{}
	for _, c := range cells {
		o, _ := v.Res.Object(c)
		s := v.Res.Site(o)
		if bad[c] || s == nil || s.Kind != facts.SiteChan || !s.CapKnown || s.Cap != 1 || !l.oneObject(c) {
			continue
		}
		acquire := l.sendsFirst(byCell[c])
		for _, x := range byCell[c] {
			l.chans[x.at] = lockOp{obj: x.obj, acquire: x.send == acquire, write: true}
		}
		if !acquire {
			l.tokens[c] = spot{}
		}
	}
}

// sendsFirst reports whether most of the functions that both send and receive do
// the former first. A send that executes at most once, before anything else of
// its function, may be that of (C3), and does not count.
func (l *Locks) sendsFirst(ops []chanOp) bool {
	votes := 0
	for i := 0; i < len(ops); {
		k := i
		for k < len(ops) && ops[k].at.n == ops[i].at.n {
			k++
		}
		list := ops[i:k]
		i = k
		if list[0].send && l.onlyOnce(list[0].at) {
			list = list[1:]
		}
		for _, y := range list {
			if y.send != list[0].send {
				if list[0].send {
					votes++
				} else {
					votes--
				}
				break
			}
		}
	}
	return votes >= 0
}

// onlyOnce reports whether a point executes at most once in the whole run.
func (l *Locks) onlyOnce(at spot) bool {
	return l.v.Once.Has(int(at.n)) && !l.v.Flow(at.n).OnCycle(at.p)
}

// token reports whether a release at a spot, by who does not surely hold the
// lock, is the one that (C3) allows: the first that is asked about.
func (l *Locks) token(n pta.InstID, p uint32, obj facts.Reg) bool {
	c, ok := l.v.Single(n, obj)
	if !ok || !l.onlyOnce(spot{n, p}) {
		return false
	}
	at, ok := l.tokens[c]
	if ok && at == (spot{}) {
		at = spot{n, p}
		l.tokens[c] = at
	}
	return ok && at == spot{n, p}
}
