package detect

import (
	"slices"

	"github.com/bfverify/bfverify/dynamic/trace"
)

// proxies knows which fields have proxies, and where the objects are.
type proxies struct {
	fields  map[uint32][]field // by allocation site
	objects map[uint64]object  // by address / 8
}

// field is a field whose races are found on another one.
type field struct{ off, size, by uint64 }

type object struct {
	site uint32
	base uint64
}

// maxObject is the size up to which objects can have proxies.
const maxObject = 4096

func (p *proxies) declare(e *trace.Event) {
	if p.fields == nil {
		p.fields = map[uint32][]field{}
		p.objects = map[uint64]object{}
	}
	p.fields[e.Site] = append(p.fields[e.Site], field{e.Addr, e.Size, e.Stride})
}

// add says that an object was allocated.
func (p *proxies) add(site uint32, addr, size uint64) {
	if p.fields[site] == nil || size > maxObject || addr&7 != 0 {
		return
	}
	for a := addr; a < addr+size; a += 8 {
		p.objects[a/8] = object{site, addr}
	}
}

// clear says that memory has another life.
func (p *proxies) clear(addr, size uint64) {
	if len(p.objects) == 0 {
		return
	}
	if size/8 > uint64(len(p.objects)) {
		for a := range p.objects {
			if a*8+8 > addr && a*8 < addr+size {
				delete(p.objects, a)
			}
		}
		return
	}
	for a := addr / 8; a*8 < addr+size; a++ {
		delete(p.objects, a)
	}
}

// has reports whether part is a field that has a proxy.
func (p *proxies) has(part trace.Part) bool {
	if len(p.objects) == 0 || part.Count != 1 {
		return false
	}
	o, ok := p.objects[part.Addr/8]
	if !ok {
		return false
	}
	return slices.ContainsFunc(p.fields[o.site], func(f field) bool {
		return f.off == part.Addr-o.base && f.size == part.Size
	})
}
