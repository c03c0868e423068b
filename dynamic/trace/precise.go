package trace

import "fmt"

// ImpreciseError says which access is not covered, or which check not legitimate.
type ImpreciseError struct {
	Event  int    // index of the access or check
	Addr   uint64 // a byte
	Reason string
}

func (e *ImpreciseError) Error() string {
	return fmt.Sprintf("event %d, byte %#x: %s", e.Event, e.Addr, e.Reason)
}

// CheckPrecise returns an *ImpreciseError unless the checks of a well-formed trace are
// precise (BigFoot, section 2, with reads and writes told apart as in section 5):
//
// (P1) Each plain access is covered: by a check that comes before it with no release
// of the goroutine in between, or after it with no acquire in between. A check for
// writes covers both, one for reads only reads.
//
// (P2) Each check is legitimate: for an access that comes before it with no release in
// between, or after it with no acquire in between. A check for writes is legitimate
// only for a write.
//
// Access and check must be in the same life of the byte. Atomic accesses are their own
// checks. Then the detectors that look at checks report the racy bytes, no more and no
// fewer (theorem B.1 there). Time is proportional to the bytes accessed.
func CheckPrecise(events []Event) error {
	p := precise{spans: map[uint32]*bounds{}}
	for i := range events {
		if err := p.event(i, &events[i]); err != nil {
			return err
		}
	}
	for i := range events { // by goroutine, in the order of the trace
		if b := p.spans[events[i].G]; b != nil {
			if err := b.settle("the end of the trace"); err != nil {
				return err
			}
		}
	}
	return nil
}

type precise struct{ spans map[uint32]*bounds }

// bounds is what one goroutine did since its last synchronisation.
type bounds struct {
	// Since the last release; 1 for reads, 2 for writes, 3 for both.
	accessed, checked map[uint64]uint8
	// Since the last acquire: what needs a cover or an access that comes later, in
	// order.
	open []debt
}

// debt is a byte of an access without check, or of a check without access.
type debt struct {
	event int
	addr  uint64
	write bool
	check bool
}

func (p *precise) event(i int, e *Event) error {
	b := p.spans[e.G]
	if b == nil {
		b = &bounds{map[uint64]uint8{}, map[uint64]uint8{}, nil}
		p.spans[e.G] = b
	}
	switch {
	case e.Kind == Malloc || e.Kind == Free:
		for g := range p.spans {
			if err := p.spans[g].clear(e); err != nil {
				return err
			}
		}
	case e.Kind.IsAccess() && !e.Kind.IsAtomic() || e.Kind.IsCheck():
		for _, q := range e.Pieces() {
			for k := range q.Count {
				for a := q.Addr + k*q.Stride; a < q.Addr+k*q.Stride+q.Size; a++ {
					b.add(debt{i, a, e.Kind.IsWrite(), e.Kind.IsCheck()})
				}
			}
		}
	}
	if e.Kind.Acquires() || e.Kind == End {
		if err := b.settle(e.Kind.String()); err != nil {
			return err
		}
	}
	if e.Kind.Releases() {
		clear(b.accessed)
		clear(b.checked)
	}
	return nil
}

// add records an access to one byte, or a check.
func (b *bounds) add(d debt) {
	mine, other := b.accessed, b.checked
	if d.check {
		mine, other = other, mine
	}
	bit := uint8(1)
	if d.write {
		bit = 2
	}
	mine[d.addr] |= bit
	// Paid by what came before? A write is covered by, and a check for writes is
	// legitimate for, a write only; anything will do for reads.
	if have := other[d.addr]; have&2 != 0 || have&1 != 0 && !d.write {
		// nothing to wait for
	} else {
		b.open = append(b.open, d)
	}
	// What it pays of what came before.
	k := 0
	for _, o := range b.open {
		if o.addr == d.addr && o.check != d.check && (d.write || !o.write) {
			continue
		}
		b.open[k] = o
		k++
	}
	b.open = b.open[:k]
}

// settle fails if something is open when an acquire comes.
func (b *bounds) settle(what string) error {
	if len(b.open) == 0 {
		return nil
	}
	d := b.open[0]
	reason := "no check covers the access before " + what
	if d.check {
		reason = "the check is legitimate for no access before " + what
	}
	return &ImpreciseError{d.event, d.addr, reason}
}

// clear ends the life of some bytes.
func (b *bounds) clear(e *Event) error {
	for _, d := range b.open {
		if d.addr >= e.Addr && d.addr < e.Addr+e.Size {
			return (&bounds{open: []debt{d}}).settle("its memory " + e.Kind.String())
		}
	}
	for _, m := range []map[uint64]uint8{b.accessed, b.checked} {
		for a := range m {
			if a >= e.Addr && a < e.Addr+e.Size {
				delete(m, a)
			}
		}
	}
	return nil
}
