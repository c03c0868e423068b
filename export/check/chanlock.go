package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// A channel of capacity 1 is a lock, held for writing, if the whole run uses it by one
// protocol. It is claimed as a Signal of kind SendLock or RecvLock:
//
//	(C1) it is one object, of capacity 1, never closed, in no select, and every send
//	     and receive that may be on it is on it alone
//	(C2) SendLock: sends acquire, receives release. All receives are by who holds it.
//	     The buffer has as many values as there are holders, one at most, and a
//	     receive comes before the end of the next send
//	(C3) RecvLock: receives acquire, sends release. All sends are by who holds it, but
//	     for one that executes at most once in the run. Values and holders together
//	     are one at most, and a send comes before the end of its receive
//
// That releases are by holders is (G1).

// isChanLock reports (C1).
func (k *checker) isChanLock(s Signal, o *operations) bool {
	site := k.siteOf(s.Cell)
	if site == nil || site.Kind != facts.SiteChan || !site.CapKnown || site.Cap != 1 || len(o.closes) > 0 {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(o.sends, o.recvs), func(at At) bool {
		f := k.fn(at.Inst)
		if f.Points[at.Point].Op != facts.OpSync {
			return true
		}
		c, ok := k.single(at.Inst, f.Syncs[f.Points[at.Point].Row].Obj)
		return !ok || c != s.Cell
	})
}

// lockOp is what a point does to a lock.
type lockOp struct {
	obj              facts.Reg
	acquire, release bool
	write            bool
	channel          bool // the lock is one
}

func (k *checker) lockOp(i InstID, f *facts.Func, pt facts.Point) (op lockOp) {
	if pt.Op != facts.OpSync {
		return op
	}
	switch y := &f.Syncs[pt.Row]; y.Op {
	case facts.SyncAcquire, facts.SyncRelease:
		return lockOp{y.Obj, y.Op == facts.SyncAcquire, y.Op == facts.SyncRelease, y.Write, false}
	case facts.SyncSend, facts.SyncRecv:
		c, ok := k.single(i, y.Obj)
		if kind, is := k.chanLocks[c]; ok && is {
			acquire := (kind == SendLock) == (y.Op == facts.SyncSend)
			return lockOp{y.Obj, acquire, !acquire, true, true}
		}
	}
	return op
}

// first reports whether a release by who does not hold the lock is the one that (C3)
// allows: the first that is asked about.
func (k *checker) first(at At, obj facts.Reg) bool {
	c, ok := k.single(at.Inst, obj)
	if !ok || k.chanLocks[c] != RecvLock || !k.onceEach([]At{at}) {
		return false
	}
	if k.tokens[c] == (At{}) {
		k.tokens[c] = at
	}
	return k.tokens[c] == at
}
