// Package tracegen makes random well-formed traces for tests of the detectors: some
// goroutines with locks, channels, atomics, barriers, forks and joins, on objects and
// arrays that are accessed under some discipline, which is broken now and then.
//
// A trace is made as the run of a random program under a random schedule: each
// goroutine has a queue of events, some of which wait for others.
package tracegen

import (
	"math/rand/v2"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// Config says what traces look like. The zero value of a field switches its part off.
type Config struct {
	Events  int     // about so many
	Threads int     // at most so many goroutines at once
	Objects int     // objects that are no arrays
	Arrays  int     // arrays
	Wrong   float64 // share of the transactions that break the discipline
	Reuse   bool    // memory is freed and allocated again
	Odd     bool    // accesses of odd sizes, at odd offsets
	Ends    bool    // goroutines end, are joined, and others begin
}

// Random returns a config, which most often has few of everything.
func Random(r *rand.Rand, events int) Config {
	c := Config{Events: events, Threads: 1 + r.IntN(6), Objects: r.IntN(6), Arrays: r.IntN(4)}
	if r.IntN(8) == 0 {
		c.Threads += r.IntN(40)
	}
	if r.IntN(3) != 0 {
		c.Wrong = 0.2 * r.Float64() * r.Float64()
	}
	c.Reuse, c.Odd, c.Ends = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	return c
}

// Generate returns the trace that r and c determine.
func Generate(r *rand.Rand, c Config) []trace.Event {
	g := &gen{r: r, c: c, next: 0xc000000000, threads: []*thread{{}}}
	for range c.Objects + c.Arrays {
		g.allocate(0, len(g.objects) < c.Arrays)
	}
	for len(g.out) < c.Events {
		g.step()
	}
	return g.out
}

type gen struct {
	r       *rand.Rand
	c       Config
	out     []trace.Event
	threads []*thread
	lastID  uint32
	objects []*object
	next    uint64 // address of the next object
	freed   []*object
	locks   [4]bool // held
	ended   []uint32
	syncs   uint64
	sites   uint32
}

// thread is a goroutine that runs.
type thread struct {
	id    uint32
	queue []action
	gone  bool
}

// action is an event to come.
type action struct {
	trace.Event
	takes, gives int      // lock taken or released before or after, plus 1
	waits        *barrier // for all to arrive
	arrives      *barrier
	then         func() // run when it is done
}

type barrier struct{ missing int }

// object is a piece of memory.
type object struct {
	base, size uint64
	es, n      uint64 // elements; n is 0 for what is no array
	cap        uint64 // bytes reserved
	discipline int
	owner      *thread
	lock       int
	site       uint32
	flag       uint64 // synchronisation object of its own
	together   bool   // its fields are accessed together, most often
}

const (
	guarded  = iota // by a lock
	local           // to one goroutine
	constant        // written by who allocates it
	phased          // by barriers; arrays in patterns
	atomic          // accessed atomically, nearly always
	passed          // through a channel
	wild            // no discipline at all
	nDisciplines
)

// newSync returns the address of a new synchronisation object.
func (g *gen) newSync() uint64 {
	g.syncs++
	return 0x1000000 + g.syncs*2 // two of them share four bytes
}

// allocate lets t have a new object; it may take the memory of a freed one.
func (g *gen) allocate(t uint32, array bool) {
	o := &object{discipline: g.r.IntN(nDisciplines), lock: g.r.IntN(len(g.locks)), flag: g.newSync()}
	if o.discipline == wild && g.r.IntN(4) != 0 {
		o.discipline = guarded
	}
	o.size = uint64(1+g.r.IntN(8)) * 8
	o.site = uint32(1 + g.r.IntN(3))
	if !array && g.r.IntN(2) == 0 {
		o.together, o.site = true, 4
		o.size = 32
	}
	if array {
		sizes := []uint64{1, 2, 4, 8, 8, 8, 16, 24, 12, 40, 3}
		o.es = sizes[g.r.IntN(len(sizes))]
		o.n = uint64(1 + g.r.IntN(150))
		if g.r.IntN(2) == 0 {
			o.n = []uint64{16, 24, 32, 60, 64, 100, 128, 256, 600}[g.r.IntN(9)]
		}
		if g.r.IntN(20) == 0 { // more than one chunk of cells, more than one page
			o.n += 1024 + uint64(g.r.IntN(3000))
			o.n &^= 3
		}
		o.size = o.es * o.n
	}
	o.owner = g.threads[g.r.IntN(len(g.threads))]
	if k := len(g.freed); k > 0 && g.r.IntN(3) > 0 && g.freed[k-1].cap >= o.size {
		o.base, o.cap = g.freed[k-1].base, g.freed[k-1].cap
		g.freed = g.freed[:k-1]
	} else {
		o.base, o.cap = g.next, o.size
		g.next += (o.size + 7) &^ 7
		if g.r.IntN(4) == 0 {
			g.next += uint64(g.r.IntN(4)) * 2048 &^ 7
		}
	}
	g.emit(trace.Event{Kind: trace.Malloc, G: t, Addr: o.base, Size: o.size, Site: o.site})
	if array {
		declare := trace.Event{Kind: trace.Array, G: t, Addr: o.base, Size: o.es, Count: o.n}
		if g.r.IntN(4) == 0 { // known to be an array only after an access
			g.emit(g.access(o, t, g.r.IntN(2) == 0))
		}
		g.emit(declare)
	}
	g.objects = append(g.objects, o)
}

func (g *gen) emit(e trace.Event) { g.out = append(g.out, e) }

// step lets a random goroutine do what comes next.
func (g *gen) step() {
	t := g.threads[g.r.IntN(len(g.threads))]
	if len(t.queue) == 0 {
		g.plan(t)
	}
	if len(t.queue) == 0 {
		return
	}
	a := t.queue[0]
	if a.takes != 0 && g.locks[a.takes-1] || a.waits != nil && a.waits.missing > 0 {
		return // blocked
	}
	t.queue = t.queue[1:]
	a.G = t.id
	if a.takes != 0 {
		g.locks[a.takes-1] = true
	}
	if a.gives != 0 {
		g.locks[a.gives-1] = false
	}
	if a.arrives != nil {
		a.arrives.missing--
	}
	g.emit(a.Event)
	if a.then != nil {
		a.then()
	}
}

func (t *thread) add(events ...trace.Event) {
	for _, e := range events {
		t.queue = append(t.queue, action{Event: e})
	}
}

// locked queues events within lock i.
func (t *thread) locked(i int, events ...trace.Event) {
	t.queue = append(t.queue, action{Event: trace.Event{Kind: trace.Acquire, Addr: lockAddr(i)}, takes: i + 1})
	t.add(events...)
	t.queue = append(t.queue, action{Event: trace.Event{Kind: trace.Release, Addr: lockAddr(i)}, gives: i + 1})
}

func lockAddr(i int) uint64 { return 0x800000 + uint64(i)*4 }

// plan gives t something to do.
func (g *gen) plan(t *thread) {
	switch p := g.r.IntN(40); {
	case p < 2 && len(g.threads) < g.c.Threads:
		g.fork(t)
	case p == 2 && g.c.Ends && t.id != 0 && len(g.threads) > 1:
		g.end(t)
	case p == 3 && len(g.ended) > 0:
		g.emit(trace.Event{Kind: trace.Join, G: t.id, Other: g.ended[0]})
		g.ended = g.ended[1:]
	case p == 4 && g.c.Reuse && len(g.objects) > 0:
		g.reuse(t)
	case p < 8 && len(g.objects) > 0:
		g.phase()
	case p == 8:
		t.add(trace.Event{Kind: trace.Commit})
	case p == 9: // synchronisation for its own sake
		kinds := []trace.Kind{trace.Acquire, trace.Release, trace.ReleaseMerge, trace.ReleaseAcquire}
		t.add(trace.Event{Kind: kinds[g.r.IntN(4)], Addr: 0x900000 + uint64(g.r.IntN(4))})
	case len(g.objects) > 0:
		g.use(t, g.objects[g.r.IntN(len(g.objects))])
	case g.r.IntN(10) == 0:
		t.add(trace.Event{Kind: trace.Commit})
	}
}

func (g *gen) fork(t *thread) {
	g.lastID += uint32(1 + g.r.IntN(2))
	g.emit(trace.Event{Kind: trace.Fork, G: t.id, Other: g.lastID, Site: 1})
	g.threads = append(g.threads, &thread{id: g.lastID})
}

func (g *gen) end(t *thread) {
	e := trace.Event{Kind: trace.End, G: t.id}
	if g.r.IntN(2) == 0 {
		e.Count = 1
		g.ended = append(g.ended, t.id)
	}
	g.emit(e)
	t.gone = true
	for i := range g.threads {
		if g.threads[i] == t {
			g.threads = append(g.threads[:i:i], g.threads[i+1:]...)
			break
		}
	}
	for _, o := range g.objects {
		if o.owner == t { // hand it on through a channel that its new owner reads
			o.owner = g.threads[g.r.IntN(len(g.threads))]
			o.discipline = wild
		}
	}
}

// reuse ends the life of an object, under whoever uses it, and begins another.
func (g *gen) reuse(t *thread) {
	i := g.r.IntN(len(g.objects))
	o := g.objects[i]
	g.objects = append(g.objects[:i:i], g.objects[i+1:]...)
	if o.n > 0 || g.r.IntN(2) == 0 { // an array ends as a whole, (W4) of package trace
		g.emit(trace.Event{Kind: trace.Free, G: t.id, Addr: o.base, Size: o.size})
	}
	// Queued accesses to o stay: they become accesses to what takes its place, as
	// those through a dangling pointer would be.
	g.freed = append(g.freed, o)
	g.allocate(t.id, o.n > 0 || g.r.IntN(8) == 0)
}
