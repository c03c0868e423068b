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
	// Since the last acquire: what needs a cover or an access that comes later, and
	// the first event that does.
	open map[debt]int
}

// debt is a byte of an access without check, or of a check without access.
type debt struct {
	addr  uint64
	write bool
	check bool
}

func (p *precise) event(i int, e *Event) error {
	b := p.spans[e.G]
	if b == nil {
		b = &bounds{map[uint64]uint8{}, map[uint64]uint8{}, map[debt]int{}}
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
					b.add(i, debt{a, e.Kind.IsWrite(), e.Kind.IsCheck()})
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
func (b *bounds) add(event int, d debt) {
	mine, other := b.accessed, b.checked
	if d.check {
		mine, other = other, mine
	}
	bit := uint8(1)
	if d.write {
		bit = 2
	}
	mine[d.addr] |= bit
	// An access and a check that meet: for an access that comes first, covered means
	// that the check is for writes or the access is a read; for a check that comes
	// first, legitimate means that the access is a write or the check for reads. So
	// in both cases the later one must be a write or the earlier one a read. What
	// came before with no release in between pays for d, too.
	have := other[d.addr]
	if have&2 == 0 && (have&1 == 0 || d.write) {
		if _, ok := b.open[d]; !ok {
			b.open[d] = event
		}
	}
	delete(b.open, debt{d.addr, false, !d.check})
	if d.write {
		delete(b.open, debt{d.addr, true, !d.check})
	}
}

// settle fails if something is open when an acquire comes.
func (b *bounds) settle(what string) error {
	return owing(b.open, what, func(debt) bool { return true })
}

// owing fails if one of the chosen debts is there; it names the first.
func owing(open map[debt]int, what string, chosen func(debt) bool) error {
	var first *ImpreciseError
	for d, event := range open {
		if !chosen(d) || first != nil && (event > first.Event || event == first.Event && d.addr >= first.Addr) {
			continue
		}
		reason := "no check covers the access before " + what
		if d.check {
			reason = "the check is legitimate for no access before " + what
		}
		first = &ImpreciseError{event, d.addr, reason}
	}
	if first == nil {
		return nil
	}
	return first
}

// clear ends the life of some bytes.
func (b *bounds) clear(e *Event) error {
	inside := func(a uint64) bool { return a >= e.Addr && a < e.Addr+e.Size }
	err := owing(b.open, "its memory's "+e.Kind.String(), func(d debt) bool { return inside(d.addr) })
	for _, m := range []map[uint64]uint8{b.accessed, b.checked} {
		for a := range m {
			if inside(a) {
				delete(m, a)
			}
		}
	}
	return err
}
