package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// plan is what the types of a function's variables depend on, the same for all
// its instances. Variables are numbered as in facts.RegInfo.Node.
type plan struct {
	f      *facts.Func
	fl     *stage.Flow
	u      *facts.Universe
	loops  []loop
	loopOf []int32 // by block
	heads  []int32 // by block: the loop of which it is the header, or -1
	idom   []int32 // by block; nil without loops
	// tangled: a panic may go on in the loop where it arose, after half a block
	tangled bool
	defs    [][]def // by register
	ops     []op
	values  [][]source // of the stores that name them, see (R4)
}

// def is a point that defines a register.
type def struct{ point uint32 }

// source is a variable, and the innermost loop whose iteration is the same where
// it was defined and where it is used; -1 is the activation.
type source struct {
	reg  facts.Reg
	leaf uint32
	loop int32
}

// entry is the point of what is defined when the function is entered.
const entry = ^uint32(0)

// opKind says how a variable gets its type.
type opKind uint8

const (
	opMake   opKind = iota // (R1)
	opMove                 // (R2), (R3)
	opTop                  // (R6)
	opLoad                 // (R5)
	opStore                // (R4)
	opAssert               // (R5), from a box
	opCall                 // (R3)
)

// op is one row at one point: dst[:n] get what src[:n] have. For loads and
// stores src is the base, for stores values, if not -1, indexes plan.values.
type op struct {
	kind     opKind
	out      bool // dst is defined in several blocks: its type is that in the activation
	row      uint32
	point    uint32
	at       int32 // loop of the point
	dst, src uint32
	n        uint32
	loop     int32 // of src
	vloop    int32 // stores: of the value, which is dst
	values   int32
}

func newPlan(v *stage.View, f *facts.Func) *plan {
	p := &plan{f: f, u: v.Prog.Universe}
	if len(v.InstsOf[f.ID]) == 0 {
		return p
	}
	p.fl = v.Flow(v.InstsOf[f.ID][0])
	p.loops, p.loopOf = findLoops(p.fl)
	p.heads = make([]int32, len(f.Blocks))
	for b := range p.heads {
		p.heads[b] = -1
	}
	for k, l := range p.loops {
		p.heads[l.header] = int32(k)
	}
	if len(p.loops) > 0 {
		p.idom, _ = stage.Dominators(len(f.Blocks), 0, p.fl.Succs)
		for b := range f.Blocks {
			if to := f.Blocks[b].Panic; to >= 0 && p.around(p.loopOf[b], p.loopOf[to]) >= 0 {
				p.tangled = true
			}
		}
	}
	p.findDefs()
	p.findOps()
	return p
}

// around returns the innermost loop around both, or -1.
func (p *plan) around(a, b int32) int32 {
	for x := a; x >= 0; x = p.loops[x].parent {
		for y := b; y >= 0; y = p.loops[y].parent {
			if x == y {
				return x
			}
		}
	}
	return -1
}

// inside reports whether loop a is b or lies in it.
func (p *plan) inside(a, b int32) bool { return p.around(a, b) == b }

func (p *plan) dominates(a, b int) bool {
	for p.idom[b] >= 0 && b != 0 && b != a {
		b = int(p.idom[b])
	}
	return a == b
}

func (p *plan) findDefs() {
	p.defs = make([][]def, len(p.f.Regs))
	for q, pt := range p.f.Points {
		if r := p.f.Defines(pt); r != facts.NoReg {
			p.defs[r] = append(p.defs[r], def{uint32(q)})
		}
	}
}

// defBlock returns the block in which a register is defined: -1 at the entry, -2
// in several.
func (p *plan) defBlock(r facts.Reg) int {
	b := -1
	for i, d := range p.defs[r] {
		c := p.fl.Block(d.point)
		if i > 0 && c != b {
			return -2
		}
		b = c
	}
	return b
}

// shared returns the innermost loop whose iteration is the same where r is
// defined and where it is used, at a point or, with atEnd, at the end of a block;
// -1 is the activation. In a loop that is entered at its header, a definition that
// dominates the use has run in the same iteration. (R2)
func (p *plan) shared(r facts.Reg, point uint32, block int, atEnd bool) int32 {
	if len(p.loops) == 0 || p.tangled {
		return -1
	}
	d := p.defBlock(r)
	if d < 0 || block < 0 {
		return -1
	}
	if d == block && !atEnd {
		for _, x := range p.defs[r] {
			if x.point >= point {
				return -1
			}
		}
	}
	if !p.dominates(d, block) {
		return -1
	}
	return p.around(p.loopOf[d], p.loopOf[block])
}

// use is shared at a point.
func (p *plan) use(r facts.Reg, point uint32) int32 {
	if point == entry {
		return -1
	}
	return p.shared(r, point, p.fl.Block(point), false)
}

// along returns the loop that the end of block b and the start of block s share:
// an edge to a header begins an iteration.
func (p *plan) along(b, s int) int32 {
	l := p.loopOf[s]
	if h := p.heads[s]; h >= 0 {
		l = p.loops[h].parent
	}
	return p.around(p.loopOf[b], l)
}

func (p *plan) leaves(r facts.Reg) uint32 {
	if r == facts.NoReg || p.f.Regs[r].Type == 0 {
		return 0
	}
	return uint32(len(p.u.Layout(p.f.Regs[r].Type).Ptrs))
}

func (p *plan) findOps() {
	f := p.f
	placed := map[facts.Op]map[uint32]bool{}
	for q, pt := range f.Points {
		if placed[pt.Op] == nil {
			placed[pt.Op] = map[uint32]bool{}
		}
		placed[pt.Op][pt.Row] = true
		p.add(pt.Op, pt.Row, uint32(q))
	}
	// Rows that no point runs have their effect in the points-to relation.
	rest := func(o facts.Op, n int) {
		for row := range n {
			if !placed[o][uint32(row)] {
				p.add(o, uint32(row), entry)
			}
		}
	}
	rest(facts.OpAlloc, len(f.Allocs))
	rest(facts.OpCopy, len(f.Copies))
	rest(facts.OpPhi, len(f.Phis))
	rest(facts.OpAddr, len(f.Addrs))
	rest(facts.OpMem, len(f.Mems))
	rest(facts.OpReach, len(f.Reaches))
	rest(facts.OpAssert, len(f.Asserts))
	rest(facts.OpCall, len(f.Calls))
	rest(facts.OpAny, len(f.Anys))
	rest(facts.OpGhost, len(f.Ghosts))
	rest(facts.OpNew, len(f.News))
}

func (p *plan) add(o facts.Op, row, point uint32) {
	f := p.f
	at := int32(-1)
	if point != entry {
		at = p.loopOf[p.fl.Block(point)]
	}
	node := func(r facts.Reg) uint32 { return f.Regs[r].Node }
	put := func(x op, dst facts.Reg) {
		x.row, x.point, x.at = row, point, at
		x.out = point == entry || p.defBlock(dst) == -2 || dst == f.Ret
		p.ops = append(p.ops, x)
	}
	top := func(r facts.Reg) {
		if n := p.leaves(r); n > 0 {
			put(op{kind: opTop, dst: node(r), n: n}, r)
		}
	}
	switch o {
	case facts.OpAlloc:
		a := f.Allocs[row]
		if point == entry {
			top(a.Dst)
			return
		}
		put(op{kind: opMake, dst: node(a.Dst), n: 1}, a.Dst)
	case facts.OpCopy:
		c := &f.Copies[row]
		if c.N == 0 {
			return
		}
		if c.Unsafe && p.u.Types[f.Regs[c.Src].Type].Kind != facts.Map {
			top(c.Dst)
			return
		}
		put(op{kind: opMove, dst: node(c.Dst) + uint32(c.DstLeaf), src: node(c.Src) + uint32(c.SrcLeaf), n: uint32(c.N), loop: p.use(c.Src, point)}, c.Dst)
	case facts.OpPhi:
		x := &f.Phis[row]
		if point == entry {
			top(x.Dst)
			return
		}
		b := p.fl.Block(point)
		for i, e := range x.Edges {
			if n := min(p.leaves(e), p.leaves(x.Dst)); n > 0 {
				put(op{kind: opMove, dst: node(x.Dst), src: node(e), n: n, loop: p.overEdge(e, b, i)}, x.Dst)
			}
		}
	case facts.OpAddr:
		a := &f.Addrs[row]
		if p.leaves(a.Base) == 0 || p.leaves(a.Dst) == 0 {
			return
		}
		put(op{kind: opMove, dst: node(a.Dst), src: node(a.Base), n: 1, loop: p.use(a.Base, point)}, a.Dst)
	case facts.OpMem:
		m := &f.Mems[row]
		n := uint32(0)
		if m.Type != 0 {
			n = uint32(len(p.u.Layout(m.Type).Ptrs))
		}
		if m.Val == facts.NoReg || n == 0 {
			return
		}
		val := node(m.Val) + uint32(m.ValLeaf)
		if !m.Write {
			if p.leaves(m.Base) == 0 {
				return // nil
			}
			put(op{kind: opLoad, dst: val, src: node(m.Base), n: n, loop: p.use(m.Base, point)}, m.Val)
			return
		}
		if p.leaves(m.Base) == 0 {
			return
		}
		x := op{kind: opStore, dst: val, src: node(m.Base), n: n, loop: p.use(m.Base, point), vloop: p.use(m.Val, point), values: -1}
		if n == 1 && point != entry {
			if srcs, dropped := p.withoutSelf(m, point); dropped {
				x.values = int32(len(p.values))
				p.values = append(p.values, srcs)
			}
		}
		x.row, x.point, x.at = row, point, at
		p.ops = append(p.ops, x)
	case facts.OpReach:
		top(f.Reaches[row].Dst)
	case facts.OpGhost:
		top(f.Ghosts[row].Dst)
	case facts.OpNew:
		top(f.News[row].Dst)
	case facts.OpAny:
		top(f.Anys[row].Dst)
		put(op{kind: opCall, src: 1}, facts.NoReg)
	case facts.OpAssert:
		a := &f.Asserts[row]
		n := p.leaves(a.Dst)
		if n == 0 || p.leaves(a.X) == 0 {
			return
		}
		x := op{kind: opAssert, dst: node(a.Dst), src: node(a.X), n: min(n, uint32(len(p.u.Layout(a.Type).Ptrs))), loop: p.use(a.X, point)}
		if p.u.Types[a.Type].Kind == facts.Interface {
			x.kind = opMove
		}
		put(x, a.Dst)
	case facts.OpCall:
		put(op{kind: opCall}, f.Calls[row].Dst)
	}
}

// overEdge returns the loop that the definition of the i-th operand of a phi in
// block b shares with the phi.
func (p *plan) overEdge(e facts.Reg, b, i int) int32 {
	if i >= len(p.f.Blocks[b].Preds) {
		return -1
	}
	from := int(p.f.Blocks[b].Preds[i])
	return p.around(p.shared(e, 0, from, true), p.along(from, b))
}

// maxSources bounds the copies and phis that sources follows.
const maxSources = 64

// sources returns where the value of a variable may come from: through copies,
// phis and derived addresses to other definitions. ok is false if there are too
// many.
func (p *plan) sources(r facts.Reg, leaf uint32, l int32) (out []source, ok bool) {
	type key struct {
		reg  facts.Reg
		leaf uint32
	}
	seen := map[key]int32{}
	todo := []source{{r, leaf, l}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		k := key{s.reg, s.leaf}
		if have, ok := seen[k]; ok {
			if p.inside(s.loop, have) {
				continue
			}
			s.loop = p.around(have, s.loop)
		}
		if len(seen) > maxSources {
			return nil, false
		}
		seen[k] = s.loop
		leads := false
		follow := func(e facts.Reg, leaf uint32, loop int32) {
			leads = true
			if p.leaves(e) > leaf {
				todo = append(todo, source{e, leaf, p.around(s.loop, loop)})
			}
		}
		for _, d := range p.defs[s.reg] {
			pt := p.f.Points[d.point]
			switch pt.Op {
			case facts.OpCopy:
				c := &p.f.Copies[pt.Row]
				if c.Unsafe || c.N == 0 {
					continue
				}
				if i := int(s.leaf) - int(c.DstLeaf); i >= 0 && i < int(c.N) {
					follow(c.Src, uint32(int(c.SrcLeaf)+i), p.use(c.Src, d.point))
				} else {
					leads = true // fills other leaves
				}
			case facts.OpPhi:
				for i, e := range p.f.Phis[pt.Row].Edges {
					leads = true
					if e != facts.NoReg {
						follow(e, s.leaf, p.overEdge(e, p.fl.Block(d.point), i))
					}
				}
			case facts.OpAddr:
				follow(p.f.Addrs[pt.Row].Base, 0, p.use(p.f.Addrs[pt.Row].Base, d.point))
			}
		}
		if !leads {
			out = append(out, s)
		}
	}
	return out, true
}

// place is a register and a distance in cells: the normal form of an address.
type place struct {
	reg facts.Reg
	off uint32
}

// placeOf follows an address back to what it is derived from.
func (p *plan) placeOf(r facts.Reg, off uint32) place {
	for range 32 {
		if len(p.defs[r]) != 1 {
			break
		}
		pt := p.f.Points[p.defs[r][0].point]
		if pt.Op == facts.OpAddr {
			a := &p.f.Addrs[pt.Row]
			if a.Kind == facts.AddrField {
				off += a.Off
			}
			r = a.Base
			continue
		}
		if pt.Op == facts.OpCopy {
			c := &p.f.Copies[pt.Row]
			if !c.Unsafe && c.N == 1 && c.Index < 0 && c.SrcLeaf == 0 && c.DstLeaf == 0 && p.leaves(c.Src) == 1 {
				r = c.Src
				continue
			}
		}
		break
	}
	return place{r, off}
}

// withoutSelf returns the sources of the value that a store of one pointer stores,
// without those that were loaded from the very cell that is stored into, of the
// same object: of these C holds the effect already. (R4)
func (p *plan) withoutSelf(m *facts.Mem, point uint32) (out []source, dropped bool) {
	srcs, ok := p.sources(m.Val, uint32(m.ValLeaf), p.use(m.Val, point))
	if !ok {
		return nil, false
	}
	cell := p.u.Layout(m.Type).Ptrs[0]
	to := p.placeOf(m.Base, m.Off+cell)
	for _, s := range srcs {
		if p.isSelf(s, to, point) {
			dropped = true
			continue
		}
		out = append(out, s)
	}
	return out, dropped
}

// isSelf reports whether a source was loaded from the place that is stored into at
// a point, by the same value of its register.
func (p *plan) isSelf(s source, to place, point uint32) bool {
	if len(p.defs[s.reg]) != 1 {
		return false
	}
	q := p.defs[s.reg][0].point
	pt := p.f.Points[q]
	if pt.Op != facts.OpMem {
		return false
	}
	m := &p.f.Mems[pt.Row]
	ptrs := p.u.Layout(m.Type).Ptrs
	i := int(s.leaf) - int(m.ValLeaf)
	if m.Write || i < 0 || i >= len(ptrs) || p.placeOf(m.Base, m.Off+ptrs[i]) != to {
		return false
	}
	d := p.defBlock(to.reg)
	if d == -1 || d >= 0 && p.loopOf[d] == -1 && len(p.defs[to.reg]) == 1 {
		return true // one value an activation
	}
	if d < 0 || p.tangled || len(p.defs[to.reg]) != 1 || !p.dominates(d, p.fl.Block(q)) || !p.dominates(d, p.fl.Block(point)) {
		return false
	}
	return p.inside(s.loop, p.loopOf[d])
}
