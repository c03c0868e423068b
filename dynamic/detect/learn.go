package detect

import (
	"slices"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// Learn returns Proxy events for the fields that have a proxy in all of the trace: it
// conjectures that each field is a proxy for each other one of the objects of its
// allocation site, and refutes what does not hold (RedCard, section 6, "Shadow
// Proxies"). With checks it looks at checks, where a field is covered only by the
// others of the same check (BigFoot, section 4). Put the events in front of the trace.
//
// Sites are left out whose objects are larger than 4096 bytes, have more than 32
// fields, are accessed atomically, or in pieces that overlap without being equal.
func Learn(events []trace.Event, checks bool) []trace.Event {
	l := &learner{checks: checks, sites: map[uint32]*site{}, live: map[uint64]*instance{}, open: map[uint32][]*use{}}
	for i := range events {
		l.event(&events[i])
	}
	for g := range l.open {
		l.settle(g, nil)
	}
	return l.proxies()
}

type learner struct {
	checks bool
	sites  map[uint32]*site
	live   map[uint64]*instance // by address / 8
	open   map[uint32][]*use    // by goroutine, of its current release-free span
}

type site struct {
	bad    bool
	fields []fieldKey
	never  [32][32]bool // f, g: some access to g is not covered by f
}

type fieldKey struct{ off, size uint64 }

type instance struct {
	site *site
	base uint64
}

// use is what a goroutine did to an object in a release-free span.
type use struct {
	of    *instance
	reads [32]bool    // accessed in the span
	write [32]bool    // written in the span
	waits [32][2]bool // reads and writes of the current region between synchronisations
}

func (l *learner) event(e *trace.Event) {
	switch {
	case e.Kind.Releases():
		l.settle(e.G, nil)
		delete(l.open, e.G)
	case e.Kind.Acquires():
		l.settle(e.G, nil)
	case e.Kind == trace.Malloc || e.Kind == trace.Free:
		l.clear(e)
	case e.Kind.IsAtomic():
		if o := l.live[e.Addr/8]; o != nil {
			o.site.bad = true
		}
	case e.Kind.IsAccess() && !l.checks:
		for _, p := range e.Pieces() {
			l.access(e, p)
		}
	case e.Kind.IsCheck() && l.checks:
		l.settle(e.G, nil) // covers do not reach from check to check
		delete(l.open, e.G)
		for _, p := range e.Parts {
			l.access(e, p)
		}
		l.settle(e.G, nil)
		delete(l.open, e.G)
	}
}

// clear ends lives, and begins one.
func (l *learner) clear(e *trace.Event) {
	gone := map[*instance]bool{}
	forget := func(a uint64) {
		if o := l.live[a]; o != nil {
			gone[o] = true
			delete(l.live, a)
		}
	}
	first, last := e.Addr/8, (e.Addr+e.Size-1)/8
	if last-first < uint64(len(l.live)) {
		for a := first; a <= last; a++ {
			forget(a)
		}
	} else {
		for a := range l.live {
			if a >= first && a <= last {
				forget(a)
			}
		}
	}
	if len(gone) > 0 {
		for g := range l.open {
			l.settle(g, gone)
			l.open[g] = slices.DeleteFunc(l.open[g], func(u *use) bool { return gone[u.of] })
		}
	}
	if e.Kind != trace.Malloc || e.Site == 0 || e.Size > maxObject || e.Addr&7 != 0 {
		return
	}
	s := l.sites[e.Site]
	if s == nil {
		s = &site{}
		l.sites[e.Site] = s
	}
	o := &instance{s, e.Addr}
	for a := e.Addr; a < e.Addr+e.Size; a += 8 {
		l.live[a/8] = o
	}
}

func (l *learner) access(e *trace.Event, p trace.Part) {
	end := p.Addr + (p.Count-1)*p.Stride + p.Size
	o := l.live[p.Addr/8]
	if o == nil || p.Count != 1 || l.live[(end-1)/8] != o {
		for a := p.Addr / 8; a*8 < end; a++ {
			if o := l.live[a]; o != nil {
				o.site.bad = true
			}
		}
		return
	}
	i := o.site.field(fieldKey{p.Addr - o.base, p.Size})
	if o.site.bad {
		return
	}
	k := slices.IndexFunc(l.open[e.G], func(u *use) bool { return u.of == o })
	if k < 0 {
		k = len(l.open[e.G])
		l.open[e.G] = append(l.open[e.G], &use{of: o})
	}
	u := l.open[e.G][k]
	write := e.Kind.IsWrite()
	u.reads[i] = true
	u.write[i] = u.write[i] || write
	if write {
		u.waits[i][1] = true
	} else {
		u.waits[i][0] = true
	}
}

// field returns the index of a field, which may be new. settle refutes fields that
// are still unknown too, so a new one is no proxy for what was accessed without it.
func (s *site) field(k fieldKey) int {
	if i := slices.Index(s.fields, k); i >= 0 {
		return i
	}
	for _, f := range s.fields {
		if f.off < k.off+k.size && k.off < f.off+f.size {
			s.bad = true
		}
	}
	if len(s.fields) == len(s.never) {
		s.bad = true
	}
	if s.bad {
		return 0
	}
	s.fields = append(s.fields, k)
	return len(s.fields) - 1
}

// settle ends a synchronisation-free region of g, for all objects or some: what waits
// has to be covered by now, by a field accessed before in the span or since in the
// region.
func (l *learner) settle(g uint32, some map[*instance]bool) {
	for _, u := range l.open[g] {
		if some != nil && !some[u.of] {
			continue
		}
		s := u.of.site
		for i := range u.waits {
			for kind := range u.waits[i] {
				if !u.waits[i][kind] {
					continue
				}
				u.waits[i][kind] = false
				for f := range s.never {
					if !(u.write[f] || kind == 0 && u.reads[f]) {
						s.never[f][i] = true
					}
				}
			}
		}
	}
}

// proxies chooses for each field the proxy that no other one stands for, the first
// of several that stand for each other.
func (l *learner) proxies() []trace.Event {
	var ids []uint32
	for id := range l.sites {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []trace.Event
	for _, id := range ids {
		s := l.sites[id]
		if s.bad {
			continue
		}
		better := func(f, g int) bool { // f replaces g
			return !s.never[f][g] && (s.never[g][f] || s.fields[f].off < s.fields[g].off)
		}
		for g := range s.fields {
			for f := range s.fields {
				if !better(f, g) {
					continue
				}
				if slices.ContainsFunc(s.fields, func(k fieldKey) bool { return better(slices.Index(s.fields, k), f) }) {
					continue // f has a proxy itself, which stands for g too
				}
				out = append(out, trace.Event{Kind: trace.Proxy, Site: id, Addr: s.fields[g].off, Size: s.fields[g].size, Stride: s.fields[f].off})
				break
			}
		}
	}
	return out
}
