package reach

import (
	"slices"

	"github.com/bfverify/bfverify/pta"
)

// storeIndex lists, for each cell with effects, the stores that may write it.
type storeIndex struct {
	by map[uint32][]storeAt
}

// storeAt is an op of an instance's plan, and the leaf that goes into the cell.
type storeAt struct {
	inst pta.InstID
	op   uint32
	leaf uint32
}

// manyCells bounds the cells that one store is listed for; a store of more is
// listed for none, and the cells say nothing.
const manyCells = 4096

// index finds the stores of all cells that say something, when it is first asked
// for. Cells whose effects fell since are listed too.
func (e *Effects) index() *storeIndex {
	if e.stores != nil {
		return e.stores
	}
	idx := &storeIndex{by: map[uint32][]storeAt{}}
	e.stores = idx
	v := e.v
	for i := 1; i < len(e.types); i++ {
		if e.types[i] == nil {
			continue
		}
		n := pta.InstID(i)
		f := v.Res.Func(n)
		p := e.t.plan(f)
		for k := range p.ops {
			x := &p.ops[k]
			if x.kind != opStore {
				continue
			}
			m := &f.Mems[x.row]
			set := v.Res.PointsTo(n, m.Base, 0)
			many := set.Len() > manyCells
			for leaf, ptr := range v.Prog.Layout(m.Type).Ptrs {
				off := m.Off + ptr
				set.Each(func(c uint32) {
					o, at := v.Res.Object(c)
					if at+off >= v.Res.Objs[o].N || !e.clean.Has(int(o)) {
						return
					}
					if many {
						e.soil(o)
						return
					}
					idx.by[c+off] = append(idx.by[c+off], storeAt{n, uint32(k), uint32(leaf)})
				})
			}
		}
	}
	return idx
}

// soil gives up an object: nothing is said of its cells.
func (e *Effects) soil(o pta.ObjID) {
	ob := &e.v.Res.Objs[o]
	for i := range ob.N {
		e.lowerCell(ob.Node+i, Root)
	}
	e.clean.Remove(int(o))
}

// value returns what a store may store into the cell.
func (e *Effects) value(s storeAt) *pta.Set {
	f := e.v.Res.Func(s.inst)
	m := &f.Mems[e.t.plan(f).ops[s.op].row]
	return e.v.Res.PointsTo(s.inst, m.Val, uint32(m.ValLeaf)+s.leaf)
}

// explains reports whether the listed stores bring all that a cell holds, what is
// exempt too or not.
func (idx *storeIndex) explains(e *Effects, c uint32, exempt bool) bool {
	content := e.v.Res.Content(c)
	var sets []*pta.Set
	for _, s := range idx.by[c] {
		x := e.value(s)
		if x == content {
			return true
		}
		if !slices.Contains(sets, x) {
			sets = append(sets, x)
		}
	}
	ok := true
	content.Each(func(t uint32) {
		if !ok {
			return
		}
		if o, _ := e.v.Res.Object(t); !exempt && e.exempt.Has(int(o)) {
			return
		}
		ok = slices.ContainsFunc(sets, func(s *pta.Set) bool { return s.Has(t) })
	})
	return ok
}

// valueSources returns the sources of what a store stores; false if they are too
// many.
func (e *Effects) valueSources(s storeAt) ([]source, bool) {
	f := e.v.Res.Func(s.inst)
	p := e.t.plan(f)
	x := &p.ops[s.op]
	if x.values >= 0 {
		return p.values[x.values], true
	}
	if x.point == entry {
		return nil, false
	}
	m := &f.Mems[x.row]
	return p.sources(m.Val, uint32(m.ValLeaf)+s.leaf, p.use(m.Val, x.point))
}
