package trace

import "fmt"

// Validator checks that events, handed to it one by one, form a well-formed trace.
// The zero value is ready. Its memory grows with the number of Fork events.
type Validator struct {
	state map[uint32]uint8 // nil: nothing seen yet
	last  uint32           // highest id given
}

const (
	running  = 1 + iota
	joinable // ended, will be joined
	gone
)

// Check returns why e cannot be the next event.
func (v *Validator) Check(e *Event) error {
	if v.state == nil {
		v.state = map[uint32]uint8{0: running}
	}
	if e.Kind >= NumKinds {
		return fmt.Errorf("there is no event of %v", e.Kind)
	}
	if v.state[e.G] != running {
		return fmt.Errorf("goroutine %d does not run", e.G)
	}
	if err := checkFields(e); err != nil {
		return err
	}
	switch e.Kind {
	case Fork:
		if e.Other <= v.last {
			return fmt.Errorf("goroutine %d is forked after goroutine %d", e.Other, v.last)
		}
		v.last = e.Other
		v.state[e.Other] = running
	case End:
		v.state[e.G] = gone
		if e.Count == 1 {
			v.state[e.G] = joinable
		}
	case Join:
		if v.state[e.Other] != joinable {
			return fmt.Errorf("goroutine %d has not ended to be joined, or was joined before", e.Other)
		}
		v.state[e.Other] = gone
	}
	return nil
}

// checkFields checks what can be seen in e alone.
func checkFields(e *Event) error {
	switch e.Kind {
	case Read, Write, AtomicRead, AtomicWrite:
		return checkPart(Part{e.Addr, e.Size, 1, 0})
	case ReadRange, WriteRange:
		return checkPart(Part{e.Addr, e.Size, e.Count, e.Stride})
	case CheckRead, CheckWrite:
		if len(e.Parts) == 0 || len(e.Parts) > MaxParts {
			return fmt.Errorf("a check of %d parts", len(e.Parts))
		}
		for _, p := range e.Parts {
			if err := checkPart(p); err != nil {
				return err
			}
		}
	case Acquire, Release, ReleaseMerge, ReleaseAcquire:
		if e.Addr >= MaxAddr {
			return fmt.Errorf("address %#x is too high", e.Addr)
		}
	case Malloc, Free:
		if e.Size == 0 || e.Size > MaxAlloc || e.Addr >= MaxAddr || e.Addr+e.Size > MaxAddr {
			return fmt.Errorf("%d bytes at %#x are no memory", e.Size, e.Addr)
		}
	case Array:
		if e.Size == 0 || e.Count == 0 || e.Size > MaxArray || e.Count > MaxArray || e.Size*e.Count > MaxArray ||
			e.Addr >= MaxAddr || e.Addr+e.Size*e.Count > MaxAddr {
			return fmt.Errorf("%d elements of %d bytes at %#x are no array", e.Count, e.Size, e.Addr)
		}
	case End:
		if e.Count > 1 {
			return fmt.Errorf("an end to be joined %d times", e.Count)
		}
	case Name:
		if len(e.Text) > MaxText {
			return fmt.Errorf("a name of %d bytes", len(e.Text))
		}
	case Proxy:
		if e.Size == 0 || e.Size > MaxAccess || e.Addr > MaxAccess || e.Stride > MaxAccess {
			return fmt.Errorf("offsets %d and %d, %d bytes are no fields", e.Addr, e.Stride, e.Size)
		}
	}
	return nil
}

func checkPart(p Part) error {
	switch {
	case p.Size == 0 || p.Size > MaxAccess || p.Count == 0 || p.Count > MaxAccess || p.Size*p.Count > MaxAccess:
		return fmt.Errorf("an access of %d times %d bytes", p.Count, p.Size)
	case p.Count == 1 && p.Stride != 0:
		return fmt.Errorf("one piece with a stride of %d", p.Stride)
	case p.Count > 1 && (p.Stride < p.Size || p.Stride > MaxAddr/p.Count):
		return fmt.Errorf("%d pieces of %d bytes, %d apart", p.Count, p.Size, p.Stride)
	case p.Addr >= MaxAddr || p.Addr+(p.Count-1)*p.Stride+p.Size > MaxAddr:
		return fmt.Errorf("address %#x is too high", p.Addr)
	}
	return nil
}
