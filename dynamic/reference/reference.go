// Package reference finds data races with plain vector clocks for every byte. It is
// slow and meant to be obviously right: it is what the detectors are held to.
//
// # What may be believed
//
// A byte is racy if and only if the trace has two accesses to it, in one life of the
// memory, that conflict and of which neither happens before the other. For each
// byte, goroutine and kind of access the time of the last access is kept, and each
// access is compared with all of them. An earlier access of the same goroutine
// and kind can be forgotten: where it is concurrent with another goroutine's
// access, so is the last one.
//
// Happens-before is that of the vector clocks in FastTrack, as reviewed in SlimState,
// section II, with releases that merge and that acquire as the Go runtime has them.
package reference

import (
	"slices"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// Access is one side of a race.
type Access struct {
	G     uint32
	Kind  trace.Kind
	Site  uint32
	Event int // index in the trace
}

// Race is two concurrent accesses to a byte, in the order of the trace.
type Race struct {
	Addr          uint64
	First, Second Access
}

// Detector consumes a trace.
type Detector struct {
	checks bool
	n      int // events so far
	clocks map[uint32]clock
	syncs  map[uint64]clock
	bytes  map[uint64]*history
	races  map[uint64]Race // the first one found for each byte
}

// clock maps goroutines to times; what is absent is 0.
type clock map[uint32]uint64

func (c clock) join(o clock) {
	for g, v := range o {
		c[g] = max(c[g], v)
	}
}

func (c clock) clone() clock {
	d := clock{}
	d.join(c)
	return d
}

// The kinds of access that are told apart.
const (
	read = iota
	write
	atomicRead
	atomicWrite
	nKinds
)

// conflict says which kinds conflict. Two atomic accesses never do.
var conflict = [nKinds][nKinds]bool{
	read:        {write: true, atomicWrite: true},
	write:       {read: true, write: true, atomicRead: true, atomicWrite: true},
	atomicRead:  {write: true},
	atomicWrite: {read: true, write: true},
}

// history is what was done to one byte: for each kind the last access of each
// goroutine.
type history [nKinds][]past

type past struct {
	Access
	time uint64
}

// New returns a detector. With checks it looks at the checks of the trace instead of
// the plain accesses; atomic accesses are their own checks.
func New(checks bool) *Detector {
	return &Detector{
		checks: checks,
		clocks: map[uint32]clock{0: {0: 1}},
		syncs:  map[uint64]clock{},
		bytes:  map[uint64]*history{},
		races:  map[uint64]Race{},
	}
}

// Event handles the next event of a well-formed trace.
func (d *Detector) Event(e *trace.Event) {
	c := d.clocks[e.G]
	switch e.Kind {
	case trace.Fork:
		child := c.clone()
		child[e.Other] = 1
		d.clocks[e.Other] = child
		c[e.G]++
	case trace.Join:
		c.join(d.clocks[e.Other])
		delete(d.clocks, e.Other)
	case trace.End:
		if e.Count == 0 {
			delete(d.clocks, e.G)
		}
	case trace.Acquire:
		c.join(d.syncs[e.Addr])
	case trace.Release:
		d.syncs[e.Addr] = c.clone()
		c[e.G]++
	case trace.ReleaseMerge:
		s := c.clone()
		s.join(d.syncs[e.Addr])
		d.syncs[e.Addr] = s
		c[e.G]++
	case trace.ReleaseAcquire:
		before := d.syncs[e.Addr]
		d.syncs[e.Addr] = c.clone()
		c.join(before)
		c[e.G]++
	case trace.Malloc, trace.Free:
		d.clear(e.Addr, e.Addr+e.Size)
	default:
		if e.Kind.IsAtomic() || e.Kind.IsAccess() && !d.checks || e.Kind.IsCheck() && d.checks {
			d.access(e, c)
		}
	}
	d.n++
}

func (d *Detector) access(e *trace.Event, c clock) {
	kind := read
	if e.Kind.IsWrite() {
		kind = write
	}
	if e.Kind.IsAtomic() {
		kind += atomicRead
	}
	me := past{Access{e.G, e.Kind, e.Site, d.n}, c[e.G]}
	for _, p := range e.Pieces() {
		for i := range p.Count {
			for k := range p.Size {
				d.byte(p.Addr+i*p.Stride+k, kind, me, c)
			}
		}
	}
}

func (d *Detector) byte(addr uint64, kind int, me past, c clock) {
	h := d.bytes[addr]
	if h == nil {
		h = new(history)
		d.bytes[addr] = h
	}
	for other := range h {
		if !conflict[kind][other] {
			continue
		}
		for _, p := range h[other] {
			if p.time > c[p.G] {
				if _, ok := d.races[addr]; !ok {
					d.races[addr] = Race{addr, p.Access, me.Access}
				}
			}
		}
	}
	i := slices.IndexFunc(h[kind], func(p past) bool { return p.G == me.G })
	if i < 0 {
		h[kind] = append(h[kind], me)
	} else {
		h[kind][i] = me
	}
}

// clear forgets what is known about [lo, hi).
func (d *Detector) clear(lo, hi uint64) {
	forget(d.bytes, lo, hi)
	forget(d.syncs, lo, hi)
}

func forget[V any](m map[uint64]V, lo, hi uint64) {
	if hi-lo < uint64(len(m)) {
		for a := lo; a < hi; a++ {
			delete(m, a)
		}
		return
	}
	for a := range m {
		if a >= lo && a < hi {
			delete(m, a)
		}
	}
}

// Races returns one race for each racy byte, by address.
func (d *Detector) Races() []Race {
	var all []Race
	for _, r := range d.races {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Race) int {
		if a.Addr < b.Addr {
			return -1
		}
		return 1
	})
	return all
}

// Run returns the races of a trace.
func Run(events []trace.Event, checks bool) []Race {
	d := New(checks)
	for i := range events {
		d.Event(&events[i])
	}
	return d.Races()
}
