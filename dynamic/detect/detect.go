// Package detect holds the detectors that replay traces: FastTrack, RedCard,
// SlimState, SlimCard and BigFoot, all over the state machine of dynamic/shadow.
//
// # What may be believed
//
// On a well-formed trace, with R the racy bytes that dynamic/reference finds (in the
// accesses) and D those that a detector reports:
//
//	ft, ss       D = R
//	rc, sc, bf   D is a part of R, and for each byte of R either it or its proxy is
//	             in D. Without proxies D = R.
//
// For bf that holds if the checks in the trace are precise: each plain access is
// covered by a check, and each check is legitimate for an access (BigFoot, section
// 2); see CheckPrecise. For all it holds as far as Stats.Missing says nothing else.
//
// # Proxies
//
// A trace may say that a field is a proxy for another one of the same object (RedCard,
// section 5; BigFoot, section 4). That must mean: each access to the field by a
// goroutine is covered by an access, or check, of the proxy. RedCard asks for less:
// the proxy is accessed somewhere in the same release-free span. That is too
// little when it comes after an acquire. Goroutine 1 writes f and g and unlocks m;
// goroutine 2 reads g, locks m and reads f: a race on g, none on f, although f is
// accessed in each span that accesses g. So covering is meant in BigFoot's sense: the
// proxy comes first with no release in between, or last with no acquire or release
// in between. Learn finds the proxies that hold in a trace.
package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/dynamic/shadow"
	"github.com/bfverify/bfverify/dynamic/trace"
)

// Algorithm is one of the detectors.
type Algorithm struct {
	Name   string
	Doc    string
	Paper  string
	Checks bool // looks at checks, not plain accesses
	arrays bool // SlimState's arrays
	spans  bool // skips what the same release-free span has accessed
	proxy  bool // skips fields that have a proxy
}

// Algorithms are all detectors.
var Algorithms = [...]Algorithm{
	{"ft", "epochs and adaptive read clocks, a check at each access", "FastTrack, as in SlimState, section II", false, false, false, false},
	{"rc", "ft without redundant checks, with shadow proxies", "RedCard, sections 3 and 5", false, false, true, true},
	{"ss", "ft with footprints and partitioned array shadow", "SlimState", false, true, false, false},
	{"sc", "rc and ss", "BigFoot, section 6", false, true, true, true},
	{"bf", "placed checks, field compression, arrays as in ss", "BigFoot", true, true, false, true},
}

// ByName returns an algorithm.
func ByName(name string) (Algorithm, error) {
	var names []string
	for _, a := range Algorithms {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Algorithm{}, fmt.Errorf("no detector is called %q; there are %s", name, strings.Join(names, ", "))
}

// Access is one side of a race.
type Access struct {
	G      uint32
	Write  bool
	Atomic bool
	Site   uint32
}

// Race is a race on Part, whose accesses are those of one goroutine that were checked
// last, Second, and earlier ones, First. Where checks are deferred the order in time
// may be the other one, and sites may be those of others of the same goroutine's
// accesses to the range that was checked.
type Race struct {
	trace.Part
	First, Second Access
}

// Stats count what a detector did.
type Stats struct {
	shadow.Stats
	Accesses  uint64 // plain and atomic accesses in the trace
	Placed    uint64 // checks in the trace
	Redundant uint64 // accesses skipped because their span has accessed the same
	Proxied   uint64 // accesses or parts of checks skipped because of a proxy
	Bytes     uint64 // memory taken from the system for shadow
	noChecks  bool   // the detector needs checks
}

// Missing says what may have been missed, or "".
func (s *Stats) Missing() string {
	var why []string
	say := func(n uint64, what string) {
		if n != 0 {
			why = append(why, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(s.Uncovered, "slots of goroutines were reused too early")
	say(s.Slotless, "goroutines were not tracked")
	if s.Accesses > 0 && s.Placed == 0 && s.noChecks {
		why = append(why, "the trace holds no checks")
	}
	return strings.Join(why, ", ")
}

// Options for New.
type Options struct {
	Slots  uint32 // goroutines with a clock of their own; 0: as many as there can be
	Firsts bool   // lay out cells as the live run time does; see shadow.Options
	Step   uint32 // Commit events commit only about so many cells; 0: all that is pending
	Memory uint64 // bytes of shadow; 0: no limit. What needs more panics with shadow.Fatal
}

// Detector consumes a trace. It must be closed.
type Detector struct {
	alg     Algorithm
	step    uint32
	fast    bool // use the fast path of the live run time
	state   *shadow.State
	threads map[uint32]*shadow.Thread
	owners  map[uint32][]owner // by slot
	spans   spans
	proxies proxies
	stats   Stats
	report  func(Race)
}

// owner says which goroutine a slot belongs to from a clock on.
type owner struct {
	clock uint64
	g     uint32
}

// New returns a detector that hands races to report, several for one byte if there
// are several.
func New(alg Algorithm, o Options, report func(Race)) *Detector {
	d := &Detector{alg: alg, step: o.Step, fast: o.Firsts && !alg.arrays, threads: map[uint32]*shadow.Thread{}, owners: map[uint32][]owner{}, report: report}
	d.state = shadow.New(shadow.Options{Arrays: alg.arrays, Firsts: o.Firsts, Slots: o.Slots, Memory: o.Memory}, d.raced)
	d.start(nil, 0)
	return d
}

// Close frees the memory of d.
func (d *Detector) Close() { d.state.Close() }

// Stats returns the counts so far.
func (d *Detector) Stats() Stats {
	s := d.stats
	s.Stats = d.state.Stats()
	s.Bytes = d.state.Bytes()
	s.noChecks = d.alg.Checks
	return s
}

// start makes goroutine g, a child of parent.
func (d *Detector) start(parent *shadow.Thread, g uint32) {
	t := shadow.Fork(d.state, parent, uint64(g))
	d.threads[g] = t
	if e := shadow.Epoch(t); e != 0 {
		slot := shadow.Slot(e)
		d.owners[slot] = append(d.owners[slot], owner{shadow.Clock(e), g})
	}
}

// raced translates a report of the state machine.
func (d *Detector) raced(r *shadow.Race) {
	of := d.owners[shadow.Slot(r.PrevEpoch)]
	i, _ := slices.BinarySearchFunc(of, shadow.Clock(r.PrevEpoch)+1, func(o owner, c uint64) int {
		if o.clock < c {
			return -1
		}
		return 1
	})
	first := Access{Write: r.PrevKind&1 != 0, Atomic: r.PrevKind >= shadow.AtomicRead, Site: r.PrevSite}
	if i > 0 {
		first.G = of[i-1].g
	}
	d.report(Race{
		Part:   trace.Part{Addr: uint64(r.Lo), Size: uint64(r.Size), Count: uint64(r.Count), Stride: uint64(r.Stride)},
		First:  first,
		Second: Access{uint32(r.Thread), r.Kind&1 != 0, r.Kind >= shadow.AtomicRead, r.Site},
	})
}

// joinKey is a synchronisation object that stands for the end of goroutine g. It lies
// above all memory.
func joinKey(g uint32) uintptr { return uintptr(trace.MaxAddr + uint64(g)*4) }

// Event handles the next event of a well-formed trace.
func (d *Detector) Event(e *trace.Event) {
	s, t := d.state, d.threads[e.G]
	if d.alg.spans && e.Kind.Releases() {
		d.spans.release(e.G)
	}
	switch e.Kind {
	case trace.Fork:
		d.start(t, e.Other)
	case trace.End:
		if e.Count != 0 {
			shadow.Release(s, t, joinKey(e.G))
		}
		shadow.End(s, t)
		delete(d.threads, e.G)
		d.spans.end(e.G)
	case trace.Join:
		shadow.Acquire(s, t, joinKey(e.Other))
		shadow.Forget(s, joinKey(e.Other))
	case trace.Acquire, trace.Release, trace.ReleaseMerge, trace.ReleaseAcquire:
		d.sync(t, e.Kind, uintptr(e.Addr))
	case trace.Malloc, trace.Free:
		shadow.Clear(s, uintptr(e.Addr), uintptr(e.Size))
		d.spans.clear(e.Addr, e.Size)
		d.proxies.clear(e.Addr, e.Size)
		if e.Kind == trace.Malloc {
			d.proxies.add(e.Site, e.Addr, e.Size)
		}
	case trace.Array:
		shadow.AddArray(s, uintptr(e.Addr), uintptr(e.Size), uintptr(e.Count))
	case trace.Commit:
		if d.step > 0 {
			shadow.Commit(s, t, uintptr(d.step))
			break
		}
		for !shadow.Commit(s, t, shadow.MaxPiece) {
		}
	case trace.Proxy:
		if d.alg.proxy {
			d.proxies.declare(e)
		}
	case trace.Name:
	default:
		d.access(t, e)
	}
}

// sync handles what t does with the object at addr, as the live run time does.
func (d *Detector) sync(t *shadow.Thread, kind trace.Kind, addr uintptr) {
	s := d.state
	switch kind {
	case trace.Acquire:
		if !d.fast || !shadow.TryAcquire(s, t, addr) {
			shadow.Acquire(s, t, addr)
		}
	case trace.Release:
		if !d.fast || !shadow.TryRelease(s, t, addr, false) {
			shadow.Release(s, t, addr)
		}
	case trace.ReleaseMerge:
		if !d.fast || !shadow.TryRelease(s, t, addr, true) {
			shadow.ReleaseMerge(s, t, addr)
		}
	case trace.ReleaseAcquire:
		if d.fast {
			if o := shadow.TryBegin(s, t, addr, true, true); o != nil {
				shadow.TryEnd(t, o, true)
				return
			}
		}
		shadow.ReleaseAcquire(s, t, addr)
	}
}

// access handles an access or a check.
func (d *Detector) access(t *shadow.Thread, e *trace.Event) {
	if e.Kind.IsCheck() {
		d.stats.Placed++
	} else {
		d.stats.Accesses++
	}
	if d.alg.Checks != e.Kind.IsCheck() && !e.Kind.IsAtomic() {
		return
	}
	kind := uint8(shadow.Read)
	if e.Kind.IsWrite() {
		kind = shadow.Write
	}
	if e.Kind.IsAtomic() {
		kind += shadow.AtomicRead
	}
	if e.Kind.IsCheck() {
		for _, p := range e.Parts {
			d.piece(t, e, p, kind)
		}
		return
	}
	p := trace.Part{Addr: e.Addr, Size: e.Size, Count: 1}
	if e.Kind == trace.ReadRange || e.Kind == trace.WriteRange {
		p.Count, p.Stride = e.Count, e.Stride
	}
	d.piece(t, e, p, kind)
}

func (d *Detector) piece(t *shadow.Thread, e *trace.Event, p trace.Part, kind uint8) {
	if kind <= shadow.Write {
		if d.alg.proxy && d.proxies.has(p) {
			d.stats.Proxied++
			return
		}
		if d.alg.spans && d.spans.seen(e.G, p, kind == shadow.Write) {
			d.stats.Redundant++
			return
		}
	}
	addr, size, count, stride := uintptr(p.Addr), uintptr(p.Size), uintptr(p.Count), uintptr(p.Stride)
	if d.fast && count == 1 && size == 1 && d.try(t, addr, kind, e.Site) {
		return
	}
	if count == 1 {
		if d.fast && kind <= shadow.Write {
			n, how := shadow.TryRange(t, addr, size, kind, e.Site)
			if how == shadow.Check {
				shadow.Recheck(d.state, t, addr+n, 8, kind, e.Site)
				n += 8
			}
			addr, size = addr+n, size-n
		}
		for size > 0 {
			n := shadow.Access(d.state, t, addr, size, kind, e.Site)
			addr, size = addr+n, size-n
		}
		return
	}
	for count > 0 {
		n := shadow.Range(d.state, t, addr, size, count, stride, kind, e.Site)
		addr, count = addr+n*stride, count-n
	}
}

// try performs an access to one byte as the live run time does. It reports whether that
// was all.
func (d *Detector) try(t *shadow.Thread, addr uintptr, kind uint8, site uint32) bool {
	c := shadow.Find(d.state, t, addr)
	if c == nil {
		return false
	}
	if kind <= shadow.Write && shadow.Same(t, c, kind) || kind > shadow.Write && shadow.SameAtomic(t, c, kind) {
		return true
	}
	how := shadow.Hard
	switch kind {
	case shadow.Write:
		how = shadow.TryWrite(t, c, site)
	case shadow.Read:
		how = shadow.TryRead(t, c, site)
	default:
		how = shadow.TryAtomic(t, c, kind, site)
	}
	if how == shadow.Check {
		shadow.Recheck(d.state, t, addr, 1, kind, site)
	}
	return how != shadow.Hard
}
