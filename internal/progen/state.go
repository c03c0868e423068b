package progen

import "slices"

// bits is a set of carriers: goroutines (below firstClock) and clocks.
type bits [2]uint64

const (
	firstClock = 16
	maxCarrier = 128
)

func (b *bits) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b *bits) add(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b *bits) del(i int)      { b[i>>6] &^= 1 << (i & 63) }

// subset reports whether every carrier of b is in c.
func (b *bits) subset(c *bits) bool { return b[0]&^c[0] == 0 && b[1]&^c[1] == 0 }

// A rec remembers one access for races with later ones. In place of vector
// clocks, it carries the set of goroutines that it happens before (their next
// instruction, that is) and of the clocks of synchronisation objects that would
// tell a goroutine. That is all the future depends on, so equal sets mean equal
// states, whatever the past.
type rec struct {
	obj, cell int32
	acc       int32
	known     bits
}

// object is the memory of one variable, map, slice, channel or environment.
type object struct {
	cells []value
	owned bool // cells belong to this state alone
}

// frame modes.
const (
	running = iota
	returning
	panicking
)

type frame struct {
	code   int32
	pc     int32
	mode   uint8
	ret    value
	vals   []value   // slots, then operands
	defers [][]value // callee and arguments; the inner slices are never changed
}

type thread struct {
	path   uint64 // numbers of the go statements that led to it, four bits each
	kids   uint8
	frames []frame
	owned  bool // frames belong to this state alone
	ready  bool // has invisible instructions to run
	dead   bool
}

type state struct {
	objs    []object
	threads []thread
	recs    []rec
	clocks  int // clocks in use
}

func (s *state) clone() *state {
	n := &state{
		objs:    make([]object, len(s.objs), len(s.objs)+4),
		threads: make([]thread, len(s.threads), len(s.threads)+1),
		recs:    make([]rec, len(s.recs), len(s.recs)+8),
		clocks:  s.clocks,
	}
	for i := range s.objs {
		n.objs[i].cells = s.objs[i].cells
		s.objs[i].owned = false
	}
	for i := range s.threads {
		s.threads[i].owned = false
	}
	copy(n.threads, s.threads)
	copy(n.recs, s.recs)
	return n
}

// thaw makes the frames of thread t writable.
func (s *state) thaw(t int) *thread {
	th := &s.threads[t]
	if !th.owned {
		frames := make([]frame, len(th.frames), len(th.frames)+1)
		copy(frames, th.frames)
		for i := range frames {
			frames[i].vals = append(make([]value, 0, len(frames[i].vals)+4), frames[i].vals...)
			frames[i].defers = slices.Clone(frames[i].defers)
		}
		th.frames = frames
		th.owned = true
	}
	return th
}

func (s *state) top(t int) *frame {
	th := &s.threads[t]
	return &th.frames[len(th.frames)-1]
}

func (f *frame) push(v value) { f.vals = append(f.vals, v) }

func (f *frame) pop() value {
	v := f.vals[len(f.vals)-1]
	f.vals = f.vals[:len(f.vals)-1]
	return v
}

// peek returns the operand n below the top.
func (f *frame) peek(n int) value { return f.vals[len(f.vals)-1-n] }

func (s *state) alloc(cells int) int {
	if len(s.objs) > maxObjs {
		panic(errTooBig)
	}
	s.objs = append(s.objs, object{make([]value, cells), true})
	return len(s.objs) - 1
}

func (s *state) get(obj, cell int) value { return s.objs[obj].cells[cell] }

func (s *state) set(obj, cell int, v value) {
	o := &s.objs[obj]
	if !o.owned {
		o.cells = slices.Clone(o.cells)
		o.owned = true
	}
	o.cells[cell] = v
}

// acquire orders what the clock knows before the next instruction of t.
func (s *state) acquire(t int, clock value) {
	if clock.tag() != tagClock {
		return
	}
	k := clock.num()
	for i := range s.recs {
		if s.recs[i].known.has(k) {
			s.recs[i].known.add(t)
		}
	}
}

// release makes the clock in the cell know what t knows, besides what it knew
// already if merge is set.
func (s *state) release(t, obj, cell int, merge bool) {
	k := s.get(obj, cell)
	if k.tag() != tagClock {
		if firstClock+s.clocks >= maxCarrier {
			panic(errTooBig)
		}
		k = tagged(tagClock, firstClock+s.clocks)
		s.clocks++
		s.set(obj, cell, k)
		merge = true
	}
	n := k.num()
	for i := range s.recs {
		if s.recs[i].known.has(t) {
			s.recs[i].known.add(n)
		} else if !merge {
			s.recs[i].known.del(n)
		}
	}
}

// exchange is release without merge, and acquire of what the clock knew before.
func (s *state) exchange(t, obj, cell int) {
	k := s.get(obj, cell)
	if k.tag() != tagClock {
		s.release(t, obj, cell, false)
		return
	}
	n := k.num()
	for i := range s.recs {
		b := &s.recs[i].known
		mine, its := b.has(t), b.has(n)
		if its {
			b.add(t)
		}
		if mine {
			b.add(n)
		} else {
			b.del(n)
		}
	}
}

// meet orders what either of two goroutines knows before both.
func (s *state) meet(t, u int) {
	for i := range s.recs {
		if b := &s.recs[i].known; b.has(t) {
			b.add(u)
		} else if b.has(u) {
			b.add(t)
		}
	}
}

// access records an access by t and reports the pairs that it completes.
func (e *explorer) access(s *state, t, obj, cell int, acc int32) {
	if acc < 0 {
		return
	}
	e.reached[acc] = true
	kept := s.recs[:0]
	kind := e.m.accs[acc].Kind
	for _, r := range s.recs {
		if int(r.obj) == obj && int(r.cell) == cell {
			known := r.known.has(t)
			if !known && conflicts[e.m.accs[r.acc].Kind][kind] {
				e.report(r.acc, acc)
			}
			if known && r.acc == acc {
				continue // (R1) the new record meets whatever the old one would
			}
		}
		kept = append(kept, r)
	}
	n := rec{obj: int32(obj), cell: int32(cell), acc: acc}
	n.known.add(t)
	s.recs = append(kept, n)
}

// conflicts tells which kinds of access must be ordered on one location.
var conflicts = func() (m [len(kindNames)][len(kindNames)]bool) {
	for _, p := range [][2]Kind{
		{Write, Write}, {Write, Read}, {Write, AtomicRead}, {Write, AtomicWrite}, {Read, AtomicWrite},
		{Read, SyncOp}, {Read, AddFromZero}, {Read, WaitOp},
		{Write, SyncOp}, {Write, AddFromZero}, {Write, WaitOp},
		{AddFromZero, WaitOp}, {SendOp, CloseOp}, {CloseOp, CloseOp},
	} {
		m[p[0]][p[1]], m[p[1]][p[0]] = true, true
	}
	return
}()

// isRace reports whether a conflict of these kinds is a data race, and not
// misuse of a synchronisation object.
func isRace(a, b Kind) bool { return a < SyncOp && b < SyncOp }
