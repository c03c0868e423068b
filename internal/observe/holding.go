package observe

import (
	"strings"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// wide is the size from which the logger records no offsets in an object.
const wide = 1 << 16

// place is a cell of an object, or with any all of its cells.
type place struct {
	obj pta.ObjID
	off uint32
	any bool
}

// holding is what the registers of a use may hold, contexts projected away.
type holding struct {
	places map[facts.Pos][]place // by the position where the object is made
	types  map[string]bool       // dynamic types, for interface values
}

// holds collects what the candidates of a use hold in all instances. For
// interface values it is what the boxes hold, too.
func (c *checker) holds(use int) *holding {
	h := &holding{places: map[facts.Pos][]place{}, types: map[string]bool{}}
	sets := map[*pta.Set]bool{}
	seen := map[uint32]bool{}
	var collect func(s *pta.Set, depth int)
	var elem func(p uint32, depth int)
	add := func(o pta.ObjID, off uint32, any bool) {
		var pos facts.Pos
		switch ob := &c.r.Objs[o]; ob.Kind {
		case pta.ObjSite:
			pos = c.r.Site(o).Pos
		case pta.ObjGlobal:
			pos = c.u.Globals[ob.Global].Pos
		default:
			return
		}
		h.places[pos] = append(h.places[pos], place{o, off, any || c.r.Objs[o].Untyped})
	}
	elem = func(p uint32, depth int) {
		if seen[p] || depth > 4 {
			return
		}
		seen[p] = true
		o, off := c.r.Object(p)
		ob := &c.r.Objs[o]
		kind, site := c.r.SiteKind(o)
		switch {
		case site && kind == facts.SiteBox, ob.Kind == pta.ObjBox, ob.Kind == pta.ObjUnboxed:
			h.types[c.typeName(ob.Type)] = true
			collect(c.r.Content(p), depth+1)
		case ob.Kind == pta.ObjRef:
			h.types[c.typeName(ob.As)] = true
			h.types["*"+c.typeName(ob.As)] = true
			q, qoff := c.r.Object(ob.Of)
			add(q, qoff, false)
			collect(c.r.Content(ob.Of), depth+1)
		case ob.Kind == pta.ObjArith:
			add(pta.ObjID(ob.Of), 0, true)
		default:
			if cell := c.r.Cell(o, off); cell != nil {
				for _, t := range cell.Types {
					h.types[c.typeName(t)] = true
					h.types["*"+c.typeName(t)] = true
				}
				h.types[c.typeName(cell.Type)] = true
			}
			add(o, off, false)
		}
	}
	collect = func(s *pta.Set, depth int) {
		if !sets[s] {
			sets[s] = true
			s.Each(func(p uint32) { elem(p, depth) })
		}
	}
	for _, x := range c.cands[use] {
		if x.reg == facts.NoReg {
			continue
		}
		for _, i := range c.insts[x.fn] {
			collect(c.r.PointsTo(i, x.reg, x.leaf), 0)
		}
	}
	return h
}

// match reports whether h has a cell at byte off of an object made at pos, and
// whether it has any cell of one.
func (c *checker) match(h *holding, pos facts.Pos, off int64) (ok, object bool) {
	for _, p := range h.places[pos] {
		object = true
		t := c.r.Objs[p.obj].Type
		if p.any || c.u.Types[t].Size > wide {
			return true, true
		}
		var cells []uint32
		c.cellsAt(t, off, 0, &cells)
		for _, n := range cells {
			if n == p.off {
				return true, true
			}
		}
	}
	return false, object
}

// cellsAt appends the cells of a variable of type t, first being its first,
// that may start at byte off: several where some have no size.
func (c *checker) cellsAt(t facts.TypeID, off int64, first uint32, cells *[]uint32) {
	ty := &c.u.Types[t]
	switch {
	case ty.Kind == facts.Struct && len(ty.Fields) > 0:
		if ty.Builtin { // a map or channel: its address is that of its first cell
			*cells = append(*cells, first)
			return
		}
		for _, f := range ty.Fields {
			if size := c.u.Types[f.Type].Size; off == f.Off || off > f.Off && off < f.Off+size {
				c.cellsAt(f.Type, off-f.Off, first, cells)
			}
			first += uint32(len(c.u.Layout(f.Type).Cells))
		}
	case ty.Kind == facts.Array:
		if size := c.u.Types[ty.Elem].Size; size > 0 {
			off %= size
		}
		c.cellsAt(ty.Elem, off, first, cells)
	default:
		*cells = append(*cells, first)
	}
}

// typeName is the name of a type without variants of packages.
func (c *checker) typeName(t facts.TypeID) string {
	name := c.u.Types[t].Name
	if strings.Contains(name, ".test]") {
		name = variant.ReplaceAllString(name, "")
	}
	return name
}

// factName turns a name of the run time into one of the facts.
func (c *checker) factName(name string) string {
	if c.main != "" {
		stars := name[:len(name)-len(strings.TrimLeft(name, "*[]"))]
		if rest, ok := strings.CutPrefix(name[len(stars):], "main."); ok {
			return stars + c.main + "." + rest
		}
	}
	return name
}

// named are the names of all types, without variants.
func (c *checker) named() map[string]bool {
	if c.names == nil {
		c.names = map[string]bool{}
		for t := range c.u.Types {
			c.names[c.typeName(facts.TypeID(t))] = true
		}
	}
	return c.names
}
