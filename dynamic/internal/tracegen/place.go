package tracegen

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// Place returns the trace with precise checks for its accesses, as a placement might
// make them: moved to the end or the beginning of the region between two
// synchronisations, left out where an earlier one in the span covers, put off past a
// release where the same access follows, and coalesced.
func Place(r *rand.Rand, events []trace.Event) []trace.Event {
	p := &placer{r: r, in: events, g: map[uint32]*regions{}}
	for i := range events {
		p.event(i)
	}
	for i := range events {
		p.flush(events[i].G, nil)
	}
	return p.out
}

type placer struct {
	r   *rand.Rand
	in  []trace.Event
	out []trace.Event
	g   map[uint32]*regions
}

// regions is where one goroutine stands.
type regions struct {
	begun   bool    // something was accessed in this region
	style   int     // of this region
	pending []check // of this region
	checked []check // since the last release
}

type check struct {
	trace.Part
	write bool
	site  uint32
}

const (
	late = iota
	each
	early
	nStyles
)

func (c check) covers(d check) bool { return c.Part == d.Part && (c.write || !d.write) }

func checkOf(e *trace.Event) check { return check{e.Pieces()[0], e.Kind.IsWrite(), e.Site} }

func plain(e *trace.Event) bool { return e.Kind.IsAccess() && !e.Kind.IsAtomic() }

func overlap(p trace.Part, e *trace.Event) bool {
	return p.Addr < e.Addr+e.Size && e.Addr < p.Addr+(p.Count-1)*p.Stride+p.Size
}

func (p *placer) event(i int) {
	e := &p.in[i]
	s := p.g[e.G]
	if s == nil {
		s = &regions{style: p.r.IntN(nStyles)}
		p.g[e.G] = s
	}
	switch {
	case plain(e):
		if !s.begun && s.style == early {
			p.ahead(i, s)
		}
		s.begun = true
		c := checkOf(e)
		if !slices.ContainsFunc(s.checked, func(d check) bool { return d.covers(c) }) {
			s.pending = append(s.pending, c)
		}
		p.out = append(p.out, *e)
		if s.style == each {
			p.flush(e.G, nil)
		}
		return
	case e.Kind == trace.Malloc || e.Kind == trace.Free:
		ids := make([]uint32, 0, len(p.g))
		for g := range p.g {
			ids = append(ids, g)
		}
		slices.Sort(ids)
		for _, g := range ids {
			if slices.ContainsFunc(p.g[g].pending, func(c check) bool { return overlap(c.Part, e) }) {
				p.flush(g, nil)
			}
			p.g[g].checked = slices.DeleteFunc(p.g[g].checked, func(c check) bool { return overlap(c.Part, e) })
		}
	case e.Kind.Acquires() || e.Kind.Releases():
		if !e.Kind.Acquires() && e.Kind != trace.End {
			p.flush(e.G, func(c check) bool { return p.again(i, c) })
			s.pending = nil // those that are put off
		} else {
			p.flush(e.G, nil)
		}
		s.begun, s.style = false, p.r.IntN(nStyles)
		if e.Kind.Releases() {
			s.checked = nil
		}
	}
	p.out = append(p.out, *e)
}

// ahead places the checks of the region that begins with event i before it.
func (p *placer) ahead(i int, s *regions) {
	for k := i; k < len(p.in); k++ {
		e := &p.in[k]
		if e.Kind == trace.Malloc || e.Kind == trace.Free {
			break
		}
		if e.G != p.in[i].G {
			continue
		}
		if e.Kind.Acquires() || e.Kind.Releases() {
			break
		}
		if plain(e) && p.r.IntN(4) > 0 {
			c := checkOf(e)
			if !slices.ContainsFunc(s.checked, func(d check) bool { return d.covers(c) }) {
				s.pending = append(s.pending, c)
			}
		}
	}
	p.flush(p.in[i].G, nil)
}

// again reports whether the goroutine of the release i makes the access c again
// before it acquires.
func (p *placer) again(i int, c check) bool {
	for k := i + 1; k < len(p.in); k++ {
		e := &p.in[k]
		if (e.Kind == trace.Malloc || e.Kind == trace.Free) && overlap(c.Part, e) {
			return false
		}
		if e.G != p.in[i].G {
			continue
		}
		if e.Kind.Acquires() || e.Kind == trace.End {
			return false
		}
		if plain(e) && checkOf(e).covers(c) {
			return true
		}
	}
	return false
}

// flush emits the pending checks of g, but those that may be put off.
func (p *placer) flush(g uint32, putOff func(check) bool) {
	s := p.g[g]
	var now []check
	for _, c := range s.pending {
		if putOff != nil && p.r.IntN(2) == 0 && putOff(c) {
			continue
		}
		now = append(now, c)
	}
	s.pending = nil
	s.checked = append(s.checked, now...)
	// A check for writes makes one for reads of the same needless.
	var kinds [2][]check
	for i, c := range now {
		needless := slices.ContainsFunc(now[:i], func(d check) bool { return d.covers(c) }) ||
			slices.ContainsFunc(now[i+1:], func(d check) bool { return d.write && !c.write && d.covers(c) })
		switch {
		case needless:
		case c.write:
			kinds[1] = append(kinds[1], c)
		default:
			kinds[0] = append(kinds[0], c)
		}
	}
	for w, checks := range kinds {
		parts := coalesce(checks)
		for len(parts) > 0 {
			n := min(len(parts), trace.MaxParts)
			p.out = append(p.out, trace.Event{Kind: trace.CheckRead + trace.Kind(w), G: g, Site: checks[0].site, Parts: parts[:n:n]})
			parts = parts[n:]
		}
	}
}

// coalesce makes ranges of single pieces of one size at equal distances.
func coalesce(checks []check) []trace.Part {
	slices.SortStableFunc(checks, func(a, b check) int { return cmp.Compare(a.Addr, b.Addr) })
	var parts []trace.Part
	for _, c := range checks {
		if n := len(parts) - 1; n >= 0 && c.Count == 1 && parts[n].Size == c.Size {
			q := &parts[n]
			d := c.Addr - q.Addr
			if q.Count == 1 && d >= c.Size && d < 64 {
				q.Count, q.Stride = 2, d
				continue
			}
			if q.Count > 1 && d == q.Count*q.Stride {
				q.Count++
				continue
			}
		}
		parts = append(parts, c.Part)
	}
	return parts
}
