package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer writes a trace. It may be used by several goroutines; events are written
// in the order in which it gets them.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	valid Validator
	enc   codec
	buf   []byte
	sum   uint32
	count uint64
	err   error
}

// codec is the state that encoding and decoding share.
type codec struct {
	g    uint32
	addr [64]uint64
}

// NewWriter begins a trace on w.
func NewWriter(w io.Writer) *Writer {
	t := &Writer{w: w}
	_, t.err = io.WriteString(w, magic+string(rune(Version)))
	return t
}

// Write adds an event. It refuses one that may not come next; the trace stays good.
func (t *Writer) Write(e *Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	if err := t.valid.Check(e); err != nil {
		return fmt.Errorf("event %d, %v: %v", t.count, e, err)
	}
	t.buf = t.enc.append(t.buf, e)
	t.count++
	if len(t.buf) >= frameTarget {
		t.flush()
	}
	return t.err
}

// flush writes what is buffered as a frame.
func (t *Writer) flush() {
	if len(t.buf) == 0 || t.err != nil {
		return
	}
	out := binary.AppendUvarint(nil, uint64(len(t.buf)))
	out = append(out, t.buf...)
	t.sum = chain(t.sum, t.buf)
	out = binary.LittleEndian.AppendUint32(out, t.sum)
	t.buf = t.buf[:0]
	_, t.err = t.w.Write(out)
}

// Close ends the trace. A trace without an end is refused by readers. It does not
// close the underlying writer.
func (t *Writer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
	if t.err != nil {
		return t.err
	}
	n := binary.AppendUvarint(nil, t.count)
	t.sum = chain(t.sum, n)
	_, err := t.w.Write(binary.LittleEndian.AppendUint32(append([]byte{0}, n...), t.sum))
	t.err = errors.New("the trace is closed")
	return err
}

// chain is the checksum of p that follows sum.
func chain(sum uint32, p []byte) uint32 {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], sum)
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, p)
}

// append encodes e.
func (c *codec) append(b []byte, e *Event) []byte {
	f := fields[e.Kind]
	head := byte(e.Kind)
	if e.G == c.g {
		head |= headSameG
	}
	if f != "" && f[0] == '@' && e.Site == 0 {
		head |= headNoSite
	}
	b = append(b, head)
	if e.G != c.g {
		b = binary.AppendUvarint(b, uint64(e.G))
		c.g = e.G
	}
	for i := range f {
		switch f[i] {
		case '@':
			if e.Site != 0 {
				b = binary.AppendUvarint(b, uint64(e.Site))
			}
		case 'a':
			b = c.appendAddr(b, e.Addr)
		case 's':
			b = binary.AppendUvarint(b, e.Size)
		case 'c':
			b = binary.AppendUvarint(b, e.Count)
		case 't':
			b = binary.AppendUvarint(b, e.Stride)
		case 'o':
			b = binary.AppendUvarint(b, uint64(e.Other))
		case 'x':
			b = binary.AppendUvarint(b, uint64(len(e.Text)))
			b = append(b, e.Text...)
		case 'p':
			b = binary.AppendUvarint(b, uint64(len(e.Parts)))
			for _, p := range e.Parts {
				b = c.appendAddr(b, p.Addr)
				b = binary.AppendUvarint(b, p.Size)
				b = binary.AppendUvarint(b, p.Count)
				if p.Count != 1 {
					b = binary.AppendUvarint(b, p.Stride)
				}
			}
		}
	}
	return b
}

func (c *codec) appendAddr(b []byte, addr uint64) []byte {
	last := &c.addr[c.g%64]
	b = binary.AppendVarint(b, int64(addr-*last))
	*last = addr
	return b
}
