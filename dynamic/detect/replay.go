package detect

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/bfverify/bfverify/dynamic/reference"
	"github.com/bfverify/bfverify/dynamic/shadow"
	"github.com/bfverify/bfverify/dynamic/trace"
)

// Finding is all reports that are alike: the same sites and kinds of access, or if a
// site is unknown, the same goroutines.
type Finding struct {
	Race          // the first report
	Reports int   // how many there are
	key     keyOf // what they have in common
}

// keyOf says which reports are alike. It does not tell the two accesses apart, because
// which of them comes second is up to the schedule and the detector.
type keyOf struct{ a, b Access }

func keyFor(r Race) keyOf {
	a, b := r.First, r.Second
	if a.Site != 0 && b.Site != 0 {
		a.G, b.G = 0, 0
	}
	if compareAccess(a, b) > 0 {
		a, b = b, a
	}
	return keyOf{a, b}
}

func compareAccess(a, b Access) int {
	bit := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.G, b.G),
		cmp.Compare(bit(a.Write), bit(b.Write)), cmp.Compare(bit(a.Atomic), bit(b.Atomic)))
}

// Result is what replaying a trace gave.
type Result struct {
	Findings []Finding         // by first report
	Reports  int               // all reports
	Events   int               // of the trace
	Names    map[uint32]string // of sites
	Stats    Stats             // zero for the reference
}

// maxFindings bounds how many findings are told apart; further ones only count as
// reports.
const maxFindings = 10000

// collector makes findings of reports.
type collector struct {
	res Result
	at  map[keyOf]int
}

func (c *collector) report(r Race) {
	c.res.Reports++
	k := keyFor(r)
	if i, ok := c.at[k]; ok {
		c.res.Findings[i].Reports++
		return
	}
	if len(c.res.Findings) == maxFindings {
		return
	}
	if c.at == nil {
		c.at = map[keyOf]int{}
	}
	c.at[k] = len(c.res.Findings)
	c.res.Findings = append(c.res.Findings, Finding{Race: r, Reports: 1, key: k})
}

// Replay runs a detector on the trace that r holds. What goroutines that do not end
// have pending at the end of the trace is committed then. A trace that needs more
// memory than o allows is an error.
func Replay(r *trace.Reader, alg Algorithm, o Options) (res *Result, err error) {
	var c collector
	d := New(alg, o, c.report)
	defer d.Close()
	defer func() {
		switch f := recover().(type) {
		case nil:
		case shadow.Fatal:
			res, err = nil, fmt.Errorf("event %d: %w", c.res.Events, f)
		default:
			panic(f)
		}
	}()
	if err := c.each(r, d.Event); err != nil {
		return nil, err
	}
	d.Finish()
	c.res.Stats = d.Stats()
	return &c.res, nil
}

// Reference is Replay with dynamic/reference; checks says what it looks at.
func Reference(r *trace.Reader, checks bool) (*Result, error) {
	var c collector
	d := reference.New(checks)
	if err := c.each(r, d.Event); err != nil {
		return nil, err
	}
	side := func(a reference.Access) Access { return Access{a.G, a.Kind.IsWrite(), a.Kind.IsAtomic(), a.Site} }
	races := d.Races()
	slices.SortStableFunc(races, func(a, b reference.Race) int { return cmp.Compare(a.Second.Event, b.Second.Event) })
	for _, r := range races {
		c.report(Race{trace.Part{Addr: r.Addr, Size: 1, Count: 1}, side(r.First), side(r.Second)})
	}
	return &c.res, nil
}

// each hands the events of a trace to event.
func (c *collector) each(r *trace.Reader, event func(*trace.Event)) error {
	c.res.Names = map[uint32]string{}
	var e trace.Event
	for {
		if err := r.Next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if e.Kind == trace.Name {
			c.res.Names[e.Site] = e.Text
		}
		event(&e)
		c.res.Events++
	}
}

// Finish commits what all goroutines have pending, as they do when they end.
func (d *Detector) Finish() {
	var ids []uint32
	for g := range d.threads {
		ids = append(ids, g)
	}
	slices.Sort(ids)
	for _, g := range ids {
		for !shadow.Commit(d.state, d.threads[g], shadow.MaxPiece) {
		}
	}
}

// Minimize returns a small part of the events on which the detector still reports the
// finding, on a byte that its first report is about. It replays the trace at most
// budget times.
func Minimize(events []trace.Event, alg Algorithm, f Finding, budget int) []trace.Event {
	return trace.Minimize(events, budget, func(events []trace.Event) bool {
		found := false
		d := New(alg, Options{}, func(r Race) { found = found || keyFor(r) == f.key && r.meets(f.Part) })
		defer d.Close()
		for i := range events {
			d.Event(&events[i])
		}
		d.Finish()
		return found
	})
}

// meets reports whether r is about a byte between the first and the last of p.
func (r *Race) meets(p trace.Part) bool {
	return r.Addr <= p.Addr+(p.Count-1)*p.Stride+p.Size-1 && p.Addr <= r.Addr+(r.Count-1)*r.Stride+r.Size-1
}
