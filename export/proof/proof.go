// Package proof makes the claims of a proof (package check) from a solved program.
// Nothing that it does need be believed: the checker judges what comes out.
package proof

import (
	"cmp"
	"slices"

	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Claims returns the points-to sets, objects, instances and call edges of a result
// as claims, with what the rules for escape, starts and locks make of them, and no
// evidence. Cells get numbers of their own, without gaps, in the order of the
// result's objects; equal sets are one. Cost: the size of all sets.
func Claims(r *pta.Result) *check.Claims {
	b := newBuilder(r)
	b.solution()
	settle(r.Prog, b.c)
	return b.c
}

func newBuilder(r *pta.Result) *builder {
	return &builder{r: r, cell: make([]uint32, r.Cells()), obj: make([]check.ObjID, len(r.Objs)), ids: map[string]check.SetID{"": 0}, known: map[*pta.Set]check.SetID{}, chans: map[uint32]bool{},
		c: &check.Claims{Sets: [][]uint32{nil}, Objects: make([]check.Object, 1), Insts: make([]check.Inst, 1), Root: check.InstID(r.Root)}}
}

// solution writes down the points-to sets and the call graph.
func (b *builder) solution() {
	r, c := b.r, b.c
	next := uint32(0)
	for i := 1; i < len(r.Objs); i++ {
		o := &r.Objs[i]
		if b.obj[i] = check.ObjID(len(c.Objects)); o.Kind == pta.ObjRef {
			continue
		}
		c.Objects = append(c.Objects, object(o, next))
		for n := range o.N {
			b.cell[o.Node+n] = next
			next++
		}
	}
	for i := 1; i < len(r.Objs); i++ {
		switch o := &r.Objs[i]; o.Kind {
		case pta.ObjRef: // the cell stands for all variables that start there
			b.cell[o.Node] = b.cell[o.Of]
		case pta.ObjGhost:
			c.Objects[b.obj[i]].Of = b.cell[o.Of]
		case pta.ObjUnboxed:
			c.Objects[b.obj[i]].Of = c.Objects[b.obj[o.Of]].First
		}
	}
	for i := 1; i < len(r.Objs); i++ {
		o := &r.Objs[i]
		if o.Kind == pta.ObjRef {
			continue
		}
		for n := range o.N {
			c.Content = append(c.Content, b.set(r.Content(o.Node+n)))
		}
	}
	for i := 1; i < len(r.Insts); i++ {
		c.Insts = append(c.Insts, b.inst(pta.InstID(i)))
	}
	b.signals()
}

func object(o *pta.Object, first uint32) check.Object {
	out := check.Object{Kind: check.ObjOther, First: first}
	switch {
	case o.Untyped: // accesses to it go by bytes
	case o.Kind == pta.ObjSite:
		out.Kind, out.Fn, out.Site = check.ObjSite, o.Fn, o.Site
	case o.Kind == pta.ObjGlobal:
		out.Kind, out.Global = check.ObjGlobal, o.Global
	case o.Kind == pta.ObjFunc:
		out.Kind, out.Fn = check.ObjFunc, o.Fn
	case o.Kind == pta.ObjGhost:
		out.Kind, out.Type = check.ObjGhost, o.Type
	case o.Kind == pta.ObjUnboxed:
		out.Kind = check.ObjCopy
	}
	return out
}

type builder struct {
	r     *pta.Result
	c     *check.Claims
	cell  []uint32      // by cell of the result
	obj   []check.ObjID // by object of the result, but for references
	ids   map[string]check.SetID
	known map[*pta.Set]check.SetID
	chans map[uint32]bool // cells of channels that are locks
}

// set returns the number of a set of cells.
func (b *builder) set(s *pta.Set) check.SetID {
	if id, ok := b.known[s]; ok {
		return id
	}
	var out []uint32
	s.Each(func(c uint32) { out = append(out, b.cell[c]) })
	slices.Sort(out)
	out = slices.Compact(out)
	var key []byte
	for _, x := range out {
		key = append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	id, ok := b.ids[string(key)]
	if !ok {
		id = check.SetID(len(b.c.Sets))
		b.c.Sets = append(b.c.Sets, out)
		b.ids[string(key)] = id
	}
	b.known[s] = id
	return id
}

func (b *builder) inst(i pta.InstID) check.Inst {
	in := &b.r.Insts[i]
	out := check.Inst{Fn: in.Fn}
	f := b.r.Func(i)
	if f == nil {
		return out
	}
	out.Vars = make([]check.SetID, f.NumNode)
	for r := 1; r < len(f.Regs); r++ {
		if t := f.Regs[r].Type; t != 0 {
			for n := range b.r.Prog.Layout(t).Ptrs {
				out.Vars[f.Regs[r].Node+uint32(n)] = b.set(b.r.PointsTo(i, facts.Reg(r), uint32(n)))
			}
		}
	}
	for row := range f.Deeps {
		out.Deeps = append(out.Deeps, b.set(b.r.Deep(i, uint32(row))))
	}
	for _, e := range in.Out {
		row := e.Row
		if e.Kind == pta.EdgeAny || e.Kind == pta.EdgeAnyGo { // the checker refuses those that start goroutines
			row += uint32(len(f.Calls))
		}
		out.Edges = append(out.Edges, check.Edge{Row: row, Go: e.Kind == pta.EdgeGo, Callee: check.InstID(e.Callee)})
	}
	slices.SortStableFunc(out.Edges, func(a, b check.Edge) int { return cmp.Compare(a.Row, b.Row) })
	return out
}
