package tracegen

import "github.com/bfverify/bfverify/dynamic/trace"

// access returns an access to a part of o.
func (g *gen) access(o *object, t uint32, write bool) trace.Event {
	e := trace.Event{G: t, Addr: o.base, Site: g.site()}
	if write {
		e.Kind = trace.Write
	}
	unit := uint64(8)
	if o.n > 0 {
		unit = o.es
	}
	k := g.r.Uint64N(max(o.size/unit, 1))
	e.Addr, e.Size = o.base+k*unit, min(unit, o.size)
	switch {
	case g.c.Odd && g.r.IntN(3) == 0: // any bytes
		off := g.r.Uint64N(o.size)
		e.Addr = o.base + off
		e.Size = 1 + g.r.Uint64N(min(o.size-off, 20))
	case o.n == 0 && g.r.IntN(4) == 0: // half a word
		e.Size = 4
		e.Addr += 4 * g.r.Uint64N(2)
	case o.n > 0 && o.es >= 16 && g.r.IntN(2) == 0: // a field of an element
		e.Size = o.es / 2
		if o.es%8 == 0 {
			e.Size = 8
		}
		e.Addr += e.Size * g.r.Uint64N(o.es/e.Size)
	case o.n > 1 && g.r.IntN(3) == 0: // several elements
		n := 1 + g.r.Uint64N(o.n-k)
		s := 1 + g.r.Uint64N(4)
		if n = (n + s - 1) / s; n > 1 {
			e.Kind += trace.ReadRange - trace.Read
			e.Count, e.Stride = n, s*o.es
		}
	}
	return e
}

func (g *gen) site() uint32 {
	g.sites++
	return g.sites % 1000
}

// use gives t accesses to o, under its discipline or not.
func (g *gen) use(t *thread, o *object) {
	d := o.discipline
	if g.r.Float64() < g.c.Wrong {
		d = wild
	}
	if d == local && o.owner != t || d == phased {
		return
	}
	var events []trace.Event
	for range 1 + g.r.IntN(4) {
		e := g.access(o, t.id, d != constant && g.r.IntN(2) == 0)
		events = append(events, e)
		if g.r.IntN(4) == 0 {
			events = append(events, e) // the same again
		}
	}
	if o.together { // the second field proxies the others
		write := d != constant && g.r.IntN(2) == 0
		events = nil
		for f := range o.size / 8 {
			e := trace.Event{Addr: o.base + f*8, Size: 8, Site: g.site()}
			if write {
				e.Kind = trace.Write
			}
			if f == 1 || g.r.IntN(4) > 0 {
				events = append(events, e)
			}
		}
	}
	if o.n > 0 && g.r.IntN(2) == 0 {
		events = append(events, g.walk(o, t.id, g.r.IntN(2) == 0 && d != constant)...)
	}
	switch d {
	case guarded:
		t.locked(o.lock, events...)
	case atomic:
		if o.together {
			return
		}
		a := trace.Event{Kind: trace.AtomicRead, Addr: o.base, Size: min(8, o.size), Site: g.site()}
		s := trace.Event{Kind: trace.Acquire, Addr: o.base}
		switch g.r.IntN(3) {
		case 1:
			a.Kind, s.Kind = trace.AtomicWrite, trace.Release
		case 2:
			a.Kind, s.Kind = trace.AtomicWrite, trace.ReleaseAcquire
		}
		t.add(a, s)
	case passed: // o changes hands through its flag
		if o.owner != t {
			t.add(trace.Event{Kind: trace.Acquire, Addr: o.flag})
			return
		}
		t.add(events...)
		kind := trace.Release
		if g.r.IntN(2) == 0 {
			kind = trace.ReleaseAcquire
		}
		to := g.threads[g.r.IntN(len(g.threads))]
		t.queue = append(t.queue, action{Event: trace.Event{Kind: kind, Addr: o.flag}, then: func() {
			// The receiver acquires before what it has queued.
			if to.gone {
				return
			}
			o.owner = to
			to.queue = append([]action{{Event: trace.Event{Kind: trace.Acquire, Addr: o.flag}}}, to.queue...)
		}})
		o.owner = nil
	default:
		t.add(events...)
	}
}

// walk returns accesses to the elements of o one by one, upwards.
func (g *gen) walk(o *object, t uint32, write bool) []trace.Event {
	from := g.r.Uint64N(o.n)
	to := from + g.r.Uint64N(o.n-from) + 1
	step := 1 + g.r.Uint64N(3)
	if g.r.IntN(2) == 0 {
		from = 0
	}
	if g.r.IntN(2) == 0 {
		to = o.n
	}
	var events []trace.Event
	site := g.site()
	for i := from; i < to && len(events) < 60; i += step {
		e := trace.Event{G: t, Addr: o.base + i*o.es, Size: o.es, Site: site}
		if write {
			e.Kind = trace.Write
		}
		events = append(events, e)
	}
	if g.r.IntN(8) == 0 { // downwards
		for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
			events[i], events[j] = events[j], events[i]
		}
	}
	return events
}

// phase lets all goroutines that run work on an object, each on its part, between
// two barriers; or the barrier is forgotten.
func (g *gen) phase() {
	o := g.objects[g.r.IntN(len(g.objects))]
	if o.discipline != phased {
		return
	}
	if g.r.Float64() >= g.c.Wrong {
		g.barrier()
	}
	shares := g.shares(o)
	write := g.r.IntN(3) > 0
	for i, t := range g.threads {
		events := shares[i]
		for k := range events {
			if write {
				events[k].Kind++
			}
		}
		t.add(events...)
		if g.r.Float64() < g.c.Wrong {
			t.add(g.access(o, t.id, g.r.IntN(2) == 0))
		}
	}
	g.barrier()
}

// barrier makes all goroutines that run wait for each other.
func (g *gen) barrier() {
	b := &barrier{len(g.threads)}
	addr := g.newSync()
	for _, t := range g.threads {
		t.queue = append(t.queue,
			action{Event: trace.Event{Kind: trace.ReleaseMerge, Addr: addr}, arrives: b},
			action{Event: trace.Event{Kind: trace.Acquire, Addr: addr}, waits: b})
	}
}

// shares divides o among the goroutines: reads, which the caller makes writes.
func (g *gen) shares(o *object) [][]trace.Event {
	k := uint64(len(g.threads))
	shares := make([][]trace.Event, k)
	if o.n < k {
		shares[g.r.IntN(int(k))] = []trace.Event{{Addr: o.base, Size: o.size, Site: g.site()}}
		return shares
	}
	// Elements of a share: from, to, step.
	add := func(t, from, to, step uint64) {
		if from >= to {
			return
		}
		n := (to - from + step - 1) / step
		site := g.site()
		switch {
		case n == 1 || g.r.IntN(3) == 0 && n < 80: // one by one
			for i := range n {
				shares[t] = append(shares[t], trace.Event{Addr: o.base + (from+i*step)*o.es, Size: o.es, Site: site})
			}
		case step == 1 && g.r.IntN(2) == 0:
			shares[t] = append(shares[t], trace.Event{Addr: o.base + from*o.es, Size: n * o.es, Site: site})
		default:
			shares[t] = append(shares[t], trace.Event{Kind: trace.ReadRange, Addr: o.base + from*o.es, Size: o.es, Count: n, Stride: step * o.es, Site: site})
		}
	}
	switch g.r.IntN(7) {
	case 0: // the whole, by one
		add(g.r.Uint64N(k), 0, o.n, 1)
	case 1: // halves, thirds, ...
		for t := range k {
			add(t, o.n*t/k, o.n*(t+1)/k, 1)
		}
	case 2: // every k-th
		for t := range k {
			add(t, t, o.n, k)
		}
	case 3: // rows in turn
		row := 1 + g.r.Uint64N(8)
		for from, t := uint64(0), uint64(0); from < o.n; from, t = from+row, t+1 {
			add(t%k, from, min(from+row, o.n), 1)
		}
	case 4: // the beginning, by one
		add(g.r.Uint64N(k), 0, 1+g.r.Uint64N((o.n+3)/4), 1)
	case 5: // at random
		for i := range min(o.n, 60) {
			add(g.r.Uint64N(k), i, i+1, 1)
		}
	case 6: // columns of fields
		size := o.es
		for _, u := range []uint64{8, 4, 2} {
			if o.es%u == 0 && o.es > u {
				size = u
				break
			}
		}
		if size == o.es || o.n < 2 {
			add(0, 0, o.n, 1)
			break
		}
		for f := range o.es / size {
			t := f % k
			shares[t] = append(shares[t], trace.Event{Kind: trace.ReadRange, Addr: o.base + f*size, Size: size, Count: o.n, Stride: o.es, Site: g.site()})
		}
	}
	return shares
}
