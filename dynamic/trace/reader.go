package trace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// FormatError says where a file stops being a trace, and why.
type FormatError struct {
	Offset int64  // of the byte where the frame or event begins that is wrong
	Event  uint64 // number of the event, from 0; in front of it all is well
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("byte %d, event %d: %s", e.Offset, e.Event, e.Reason)
}

// Reader reads a trace. It uses memory for one frame, and for the goroutines that
// were forked.
type Reader struct {
	r     *bufio.Reader
	valid Validator
	dec   codec
	frame []byte // what is left of the payload
	start int64  // offset of the payload
	size  int    // of the payload
	off   int64  // of what r returns next
	sum   uint32
	count uint64
	err   error
}

// NewReader returns a Reader of the trace that r holds.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next sets *e to the next event, reusing its memory. After the last one it returns
// io.EOF; other errors are FormatErrors, or come from the underlying reader. A frame
// is checked before the first of its events is returned.
func (t *Reader) Next(e *Event) error {
	if t.err != nil {
		return t.err
	}
	if t.off == 0 {
		if t.err = t.readHeader(); t.err != nil {
			return t.err
		}
	}
	if len(t.frame) == 0 {
		if t.err = t.readFrame(); t.err != nil {
			return t.err
		}
	}
	at := t.start + int64(t.size-len(t.frame))
	rest, reason := t.dec.decode(t.frame, e)
	if reason == "" {
		if err := t.valid.Check(e); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		t.err = &FormatError{at, t.count, reason}
		return t.err
	}
	t.frame = rest
	t.count++
	return nil
}

// fail returns an error at the current place.
func (t *Reader) fail(off int64, err error, reason string) error {
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if err != nil {
		reason = "the file ends in the middle: " + reason
	}
	return &FormatError{off, t.count, reason}
}

func (t *Reader) readHeader() error {
	b := make([]byte, len(magic)+1)
	if _, err := io.ReadFull(t.r, b); err != nil {
		return t.fail(0, err, "no header of a trace")
	}
	if string(b[:len(magic)]) != magic {
		return t.fail(0, nil, fmt.Sprintf("not a trace: it begins with %q, not %q", b[:len(magic)], magic))
	}
	if v := b[len(magic)]; v != Version {
		return t.fail(0, nil, fmt.Sprintf("a trace of version %d; only version %d is known", v, Version))
	}
	t.off = int64(len(b))
	return nil
}

// readFrame reads the next frame, or the end, which gives io.EOF.
func (t *Reader) readFrame() error {
	begin := t.off
	n, err := t.uvarint()
	if err != nil {
		return t.fail(begin, err, "no length of a frame")
	}
	if n > MaxFrame {
		return t.fail(begin, nil, fmt.Sprintf("a frame of %d bytes; at most %d are allowed", n, MaxFrame))
	}
	if n == 0 {
		return t.readEnd(begin)
	}
	if uint64(cap(t.frame)) < n {
		t.frame = make([]byte, n)
	}
	t.frame = t.frame[:n]
	t.start, t.size = t.off, int(n)
	if _, err := io.ReadFull(t.r, t.frame); err != nil {
		return t.fail(begin, err, fmt.Sprintf("a frame of %d bytes is cut short", n))
	}
	t.off += int64(n)
	return t.readSum(begin, t.frame)
}

// readEnd reads what follows the length 0.
func (t *Reader) readEnd(begin int64) error {
	n, err := t.uvarint()
	if err != nil {
		return t.fail(begin, err, "no count of events")
	}
	if err := t.readSum(begin, binary.AppendUvarint(nil, n)); err != nil {
		return err
	}
	if n != t.count {
		return t.fail(begin, nil, fmt.Sprintf("the end counts %d events, the file holds %d", n, t.count))
	}
	if _, err := t.r.ReadByte(); err == nil {
		return t.fail(t.off, nil, "bytes after the end")
	} else if err != io.EOF {
		return err
	}
	return io.EOF
}

func (t *Reader) readSum(begin int64, p []byte) error {
	var b [4]byte
	if _, err := io.ReadFull(t.r, b[:]); err != nil {
		return t.fail(begin, err, "no checksum of the frame")
	}
	t.off += 4
	t.sum = chain(t.sum, p)
	if got := binary.LittleEndian.Uint32(b[:]); got != t.sum {
		return t.fail(begin, nil, fmt.Sprintf("the checksum of the frame is %08x, not %08x", t.sum, got))
	}
	return nil
}

// uvarint reads one in its shortest form.
func (t *Reader) uvarint() (uint64, error) {
	var b [binary.MaxVarintLen64]byte
	for i := range b {
		c, err := t.r.ReadByte()
		if err != nil {
			return 0, err
		}
		t.off++
		b[i] = c
		if c < 0x80 {
			v, rest, reason := uvarint(b[:i+1])
			if reason != "" || len(rest) != 0 {
				return 0, &FormatError{t.off, t.count, reason}
			}
			return v, nil
		}
	}
	return 0, &FormatError{t.off, t.count, "a number of more than 64 bits"}
}

// uvarint decodes one in its shortest form.
func uvarint(b []byte) (v uint64, rest []byte, reason string) {
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, nil, "the frame ends inside an event"
	case n < 0:
		return 0, nil, "a number of more than 64 bits"
	case n > 1 && b[n-1] == 0:
		return 0, nil, "a number with needless zeros"
	}
	return v, b[n:], ""
}

// decode sets *e to the first event of b.
func (c *codec) decode(b []byte, e *Event) (rest []byte, reason string) {
	*e = Event{Parts: e.Parts[:0]}
	head := b[0]
	b = b[1:]
	e.Kind = Kind(head & headKind)
	if e.Kind >= NumKinds {
		return nil, fmt.Sprintf("there is no event of %v", e.Kind)
	}
	f := fields[e.Kind]
	number := func(max uint64) uint64 {
		if reason != "" {
			return 0
		}
		var v uint64
		if v, b, reason = uvarint(b); reason == "" && v > max {
			reason = fmt.Sprintf("%d, where at most %d is allowed", v, max)
		}
		return v
	}
	addr := func() uint64 {
		v := number(math.MaxUint64)
		last := &c.addr[e.G%64]
		*last += v>>1 ^ -(v & 1)
		return *last
	}
	e.G = c.g
	if head&headSameG == 0 {
		if e.G = uint32(number(math.MaxUint32)); reason == "" && e.G == c.g {
			reason = "a goroutine that is the same is written out"
		}
		c.g = e.G
	}
	if head&headNoSite != 0 && (f == "" || f[0] != '@') {
		return nil, fmt.Sprintf("%v has no site to leave out", e.Kind)
	}
	for i := range f {
		switch f[i] {
		case '@':
			if head&headNoSite == 0 {
				if e.Site = uint32(number(math.MaxUint32)); reason == "" && e.Site == 0 {
					reason = "site 0 is written out"
				}
			}
		case 'a':
			e.Addr = addr()
		case 's':
			e.Size = number(math.MaxUint64)
		case 'c':
			e.Count = number(math.MaxUint64)
		case 't':
			e.Stride = number(math.MaxUint64)
		case 'o':
			e.Other = uint32(number(math.MaxUint32))
		case 'x':
			n := number(MaxText)
			if reason == "" && n > uint64(len(b)) {
				reason = "the frame ends inside a text"
			}
			if reason == "" {
				e.Text = string(b[:n])
				b = b[n:]
			}
		case 'p':
			for n := number(MaxParts); n > 0 && reason == ""; n-- {
				p := Part{Addr: addr(), Size: number(math.MaxUint64), Count: number(math.MaxUint64)}
				if p.Count != 1 {
					p.Stride = number(math.MaxUint64)
				}
				e.Parts = append(e.Parts, p)
			}
		}
	}
	if len(e.Parts) == 0 {
		e.Parts = nil
	}
	return b, reason
}

// ReadAll returns all events of the trace that r holds.
func ReadAll(r io.Reader) ([]Event, error) {
	var all []Event
	t := NewReader(r)
	for {
		var e Event
		if err := t.Next(&e); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// WriteAll writes events as a trace to w.
func WriteAll(w io.Writer, events []Event) error {
	t := NewWriter(w)
	for i := range events {
		if err := t.Write(&events[i]); err != nil {
			return err
		}
	}
	return t.Close()
}
