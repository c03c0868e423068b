// Package mustnot holds the conditional must-not-aliasing stages (POPL'07
// section 3.3) and the must-locksets they rest on.
//
// # Must-locksets
//
// For each instance and point, the locks surely held by the goroutine that is
// there. A lock is named by one object (a cell of an object that is made at
// most once) or by a register of the function and the distance in bytes from
// what it points to (style: add narrowly, remove widely).
//
//	(L1) a goroutine starts with none; an instance starts with what all its
//	     callers hold, translated into names of its parameters
//	(L2) an acquire adds its operand's names, in its mode
//	(L3) a release removes every name that may be its operand
//	(L4) a call removes what it may release without having acquired it itself,
//	     and adds what every return of every callee surely acquired
//	(L5) a register that is defined again loses its names
//	(L6) states meet by intersection, where a lock held for writing is held for
//	     reading, too; what panics takes the state before the point, less what the
//	     callee may release
//	(L7) closures that are called where they are made: see onces.go, which also says
//	     how a sync.Once is a lock
//	(L8) a callee that gives up a lock only to take it again has released nothing
//	     when it panics (relock.go)
//
// (L4) is sound for a callee that acquires and releases the caller's lock: it
// would block for ever at the acquire while the caller holds it for writing,
// and restores the count if both hold it for reading.
//
// # Usable guards
//
// Go lets one goroutine release what another holds. A lock guards something
// only if every release in the program that may be of it is reached with it in
// the must-lockset, by the release's own operand; and if nothing overwrites it.
package mustnot

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Locks is the solution.
type Locks struct {
	v      *stage.View
	shapes []*shape // by function
	sets   *table
	// rel are the instances that lock or unlock, or call one that does; order
	// lists them, callees before callers but for cycles. takes are those that
	// lock, holding those that may hold something although they are entered with
	// nothing.
	rel, takes, holding stage.Bits
	order               []pta.InstID
	// index numbers the cells that anything may release; cells holds sets of
	// them. For each points-to set, exact caches which of them are in it, near
	// which lie in its objects; meets caches which sets have common elements.
	index       map[uint32]int
	cells       *stage.Pool
	exact, near map[*pta.Set]stage.Set
	meets       map[[2]stage.Set]bool
	one         map[uint32]bool // cells that are one variable of one object
	// By instance: what it may release without having acquired it, what its
	// returns surely hold, started with nothing, and what it surely starts with.
	releases []stage.Set
	acquires []held
	entry    []held
	heads    []held                // see flow
	blocks   map[pta.InstID][]held // states at the heads of blocks, see At
	bad      map[uint32]string     // cells that are no guards, and why
	relock   map[pta.InstID]bool   // see relocks
	again    stage.Set             // cells of locks that something gives up and takes again
	owners   owners
	bounds   map[callKey][]binding
	chans    map[spot]lockOp // operations on channels that are locks, see chanlock.go
	tokens   map[uint32]spot
}

// NewLocks computes the must-locksets of a view. overwritten tells which cells
// a plain store may overwrite.
func NewLocks(v *stage.View, overwritten func(uint32) bool) *Locks {
	n := len(v.Res.Insts)
	l := &Locks{
		v: v, shapes: make([]*shape, len(v.Prog.Funcs)), sets: newTable(),
		rel: stage.NewBits(n), takes: stage.NewBits(n), holding: stage.NewBits(n), index: map[uint32]int{},
		exact: map[*pta.Set]stage.Set{}, near: map[*pta.Set]stage.Set{}, meets: map[[2]stage.Set]bool{}, one: map[uint32]bool{},
		releases: make([]stage.Set, n), acquires: make([]held, n), entry: make([]held, n),
		blocks: map[pta.InstID][]held{}, bounds: map[callKey][]binding{}, bad: map[uint32]string{}, relock: map[pta.InstID]bool{},
	}
	l.findChanLocks()
	l.solve()
	l.usable(overwritten)
	l.findAgain()
	return l
}

// At returns the names of the locks surely held at point p of n. The caller must
// not change the result.
func (l *Locks) At(n pta.InstID, p uint32) Set { return l.sets.sets[l.at(n, p)] }

func (l *Locks) at(n pta.InstID, p uint32) held {
	entry := l.entry[n]
	if entry == unreached || entry == nothing && !l.holding.Has(int(n)) {
		return nothing
	}
	f := l.v.Res.Func(n)
	sh := l.shapeOf(f)
	in, ok := l.blocks[n]
	if !ok {
		in = slices.Clone(l.flow(n, f, sh, entry))
		l.blocks[n] = in
	}
	b := l.v.Flow(n).Block(p)
	s := in[b]
	if s == unreached {
		return nothing
	}
	pts := sh.blocks[b].points
	for i := 0; i < len(pts) && pts[i].point < p; i++ {
		s, _ = l.step(n, f, sh, &pts[i], s)
	}
	return s
}

// MayRelease reports whether point p of n may release the lock at a cell.
func (l *Locks) MayRelease(n pta.InstID, p, cell uint32) bool {
	y, ok := l.opAt(n, l.v.Res.Func(n), p)
	return ok && !y.acquire && l.v.Res.PointsTo(n, y.obj, 0).Has(cell)
}

// usable finds the cells that are no guards.
func (l *Locks) usable(overwritten func(uint32) bool) {
	v := l.v
	for i := 1; i < len(v.Res.Insts); i++ {
		id := pta.InstID(i)
		f := v.Res.Func(id)
		if f == nil || !v.Live.Has(i) || len(f.Syncs)+len(f.Selects) == 0 {
			continue
		}
		for p := range f.Points {
			y, ok := l.opAt(id, f, uint32(p))
			switch {
			case !ok || v.DeadAt(id, uint32(p)):
			case !y.acquire:
				if !l.holds(id, l.shapeOf(f), l.at(id, uint32(p)), y.obj) && !l.token(id, uint32(p), y.obj) {
					v.Res.PointsTo(id, y.obj, 0).Each(func(c uint32) { l.bad[c] = "it is unlocked where it is not surely locked" })
				}
			default:
				v.Res.PointsTo(id, y.obj, 0).Each(func(c uint32) {
					if overwritten(c) {
						l.bad[c] = "it may be overwritten by a plain store"
					}
				})
			}
		}
	}
}

// Guards reports whether a name stands for locks that may be used as guards.
func (l *Locks) Guards(n pta.InstID, name Name) bool {
	ok := true
	if name.Object {
		return l.bad[name.Cell] == ""
	}
	some := false
	l.v.Res.PointsTo(n, name.Reg, 0).Each(func(c uint32) {
		o, off := l.v.Res.Object(c)
		ob := &l.v.Res.Objs[o]
		cells := l.v.Prog.Layout(ob.Type).Cells
		if ob.Type == 0 || ob.Untyped {
			ok = false
			return
		}
		// The lock's cell: at the distance, within the same innermost element.
		base := &cells[off]
		found := false
		for i := range cells {
			if cells[i].Array == base.Array && cells[i].Off == base.Off+name.Off {
				found = true
				if l.bad[ob.Node+uint32(i)] != "" {
					ok = false
				}
			}
		}
		some = some || found
		ok = ok && found
	})
	return ok && some
}

// Why says why a cell is no guard; "" if it is one.
func (l *Locks) Why(cell uint32) string { return l.bad[cell] }
