package detect

import "github.com/bfverify/bfverify/dynamic/trace"

// spans finds redundant accesses as RedCard does (section 6, "Distinguishing Reads
// and Writes"): a write is redundant if the same release-free span of the goroutine
// has written the same before, a read if it has read or written it. Each goroutine
// has a table of bounded size in which a new access replaces an old one, so some
// are not found.
type spans struct {
	of    map[uint32]*span
	lives [4096]uint32 // by page modulo 4096: how often memory there began or ended a life
}

const spanLen = 512

type span struct {
	no    uint64 // of the current span
	table [spanLen]spanEntry
}

type spanEntry struct {
	part  trace.Part
	no    uint64
	lives uint32
	write bool
}

func (s *spans) release(g uint32) {
	if t := s.of[g]; t != nil {
		t.no++
	}
}

func (s *spans) end(g uint32) { delete(s.of, g) }

// clear says that the size bytes at addr have another life.
func (s *spans) clear(addr, size uint64) {
	first, last := addr>>13, (addr+size-1)>>13
	last = min(last, first+uint64(len(s.lives))-1)
	for p := first; p <= last; p++ {
		s.lives[p%uint64(len(s.lives))]++
	}
}

// seen reports whether the access is redundant, and remembers it.
func (s *spans) seen(g uint32, p trace.Part, write bool) bool {
	end := p.Addr + (p.Count-1)*p.Stride + p.Size - 1
	first, last := p.Addr>>13, end>>13
	if last-first > 8 {
		return false // too many pages to ask each whether its memory lives on
	}
	lives := uint32(0)
	for i := first; i <= last; i++ {
		lives += s.lives[i%uint64(len(s.lives))]
	}
	t := s.of[g]
	if t == nil {
		if s.of == nil {
			s.of = map[uint32]*span{}
		}
		t = &span{no: 1}
		s.of[g] = t
	}
	h := (p.Addr ^ p.Addr>>11 ^ p.Size<<4 ^ p.Count<<6) % spanLen
	e := &t.table[h]
	if e.part == p && e.no == t.no && e.lives == lives {
		if e.write || !write {
			return true
		}
	}
	*e = spanEntry{p, t.no, lives, write}
	return false
}
