package reach

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Config bounds the analysis.
type Config struct {
	// Rounds is how often all instances are visited at most; 0 is a default that
	// programs stay far below.
	Rounds int
}

// Effects is the solution: the types of all variables and the effects of all
// cells of a program. Its methods are for one goroutine.
type Effects struct {
	v     *stage.View
	t     *tree
	types [][]Node // by instance, variable
	cells []Node   // by cell: its effects
	// clean are the objects whose cells are written by stores alone; made tells
	// who makes each.
	clean  stage.Bits
	exempt stage.Bits
	made   []maker
	gave   map[gaveKey]Node // what loads gave since the effects last changed
	boxed  map[gaveKey]Node // the same for what boxes hold, as receivers
	fell   bool             // effects have changed
	put    map[gaveKey]Node // what stores have brought into all cells of a set
	stores *storeIndex
	once   map[uint32]bool // see writtenOnce
	ghosts map[pta.ObjID][]pta.ObjID
	Stats  Stats
}

// Stats counts what the analysis did.
type Stats struct {
	Nodes, Recursive, Instances, Rounds int
	Typed, Cells                        int // variables and cells that say something
	Unsettled                           bool
}

// maker is the one point that makes an object; n is the number of such points, of
// which node is that of the first.
type maker struct {
	n     uint32
	inst  pta.InstID
	point uint32
	node  Node
}

type gaveKey struct {
	set *pta.Set
	off uint32
}

// New computes the types and effects of a view of all entries.
func New(v *stage.View, cfg Config) *Effects {
	if cfg.Rounds == 0 {
		cfg.Rounds = 200
	}
	e := unsolved(v)
	e.settle(v.CallOrder(), cfg.Rounds)
	e.count()
	return e
}

// unsolved returns the effects of a view with what holds before any rule.
func unsolved(v *stage.View) *Effects {
	e := &Effects{v: v, t: newTree(v), types: make([][]Node, len(v.Res.Insts)), cells: make([]Node, v.Res.Cells()),
		clean: stage.NewBits(len(v.Res.Objs)), exempt: stage.NewBits(len(v.Res.Objs)), made: make([]maker, len(v.Res.Objs)),
		gave: map[gaveKey]Node{}, boxed: map[gaveKey]Node{}, put: map[gaveKey]Node{}, once: map[uint32]bool{}}
	e.findMakers()
	e.findClean()
	for i := range v.Res.Insts {
		if f := v.Res.Func(pta.InstID(i)); i > 0 && f != nil && v.Live.Has(i) {
			e.types[i] = make([]Node, f.NumNode)
			for k := range e.types[i] {
				e.types[i][k] = none
			}
		}
	}
	e.enterAll()
	return e
}

// settle finds the greatest solution, which no order of visits changes.
func (e *Effects) settle(order []pta.InstID, rounds int) {
	e.solve(order, rounds)
	for e.distrust() {
		e.solve(order, rounds)
	}
}

// findMakers finds the points that make each object, and those that are exempt:
// some point makes them at the root.
func (e *Effects) findMakers() {
	v := e.v
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) {
			continue
		}
		p := e.t.plan(f)
		for _, x := range p.ops {
			if x.kind != opMake {
				continue
			}
			a := f.Allocs[x.row]
			v.Res.PointsTo(n, a.Dst, 0).Each(func(c uint32) {
				o, off := v.Res.Object(c)
				ob := &v.Res.Objs[o]
				if ob.Kind != pta.ObjSite || ob.Fn != f.ID || ob.Site != a.Site || off != 0 {
					return
				}
				m := &e.made[o]
				if m.n++; m.n == 1 {
					m.inst, m.point, m.node = n, x.point, e.t.node(n, x.at)
				}
				if e.t.node(n, x.at) == Root {
					e.exempt.Add(int(o))
				}
			})
		}
	}
	for o := range v.Res.Objs {
		switch v.Res.Objs[o].Kind {
		case pta.ObjGlobal, pta.ObjFunc, pta.ObjType:
			e.exempt.Add(o)
		}
	}
}

// findClean finds the objects whose cells are written by recognised stores alone,
// and starts their cells with effects that say all.
func (e *Effects) findClean() {
	v := e.v
	for o := 1; o < len(v.Res.Objs); o++ {
		ob := &v.Res.Objs[o]
		if ob.Kind != pta.ObjSite || ob.Type == 0 || ob.Untyped || v.Res.Site(pta.ObjID(o)).Kind == facts.SiteUnknown || e.ofModel(v.Prog.Funcs[ob.Fn], ob.Site) {
			continue
		}
		e.clean.Add(o)
	}
	soil := func(c uint32) {
		o, _ := v.Res.Object(c)
		e.clean.Remove(int(o))
	}
	for q := 1; q < len(v.Res.Objs); q++ {
		v.Res.Behind(pta.ObjID(q), soil)
		if v.Res.Objs[q].Kind == pta.ObjUnboxed {
			e.clean.Remove(int(v.Res.Objs[q].Of))
		}
	}
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) {
			continue
		}
		for row := range f.Deeps {
			if f.Deeps[row].Write {
				v.Res.Deep(n, uint32(row)).Each(soil)
			}
		}
		if f.Is(facts.FnUnknown) {
			for r := range f.Regs {
				for k := range v.Prog.Layout(f.Regs[r].Type).Ptrs {
					v.Res.PointsTo(n, facts.Reg(r), uint32(k)).Each(soil)
				}
			}
		}
	}
	for o := 1; o < len(v.Res.Objs); o++ {
		if ob := &v.Res.Objs[o]; e.clean.Has(o) && !e.exempt.Has(o) {
			for _, k := range v.Prog.Layout(ob.Type).Ptrs {
				e.cells[ob.Node+k] = none
			}
		}
	}
}

// ofModel reports whether objects of a site are a model's own. Its closures, and the
// variables in which it keeps what it was passed for them, are taken for what they
// are, since what it calls and starts is; other objects may stand for any number that
// the real function makes, or keeps.
func (e *Effects) ofModel(f *facts.Func, site facts.SiteID) bool {
	s := &f.Sites[site]
	variable := s.Kind == facts.SiteNew && s.Name != "" && len(e.v.Prog.Layout(s.Type).Cells) == 1
	return f.Is(facts.FnModel) && s.Kind != facts.SiteClosure && !variable
}

// enterAll gives the root to parameters and bindings that are filled by
// call-backs. (R6)
func (e *Effects) enterAll() {
	for i := range e.types {
		if e.types[i] == nil {
			continue
		}
		n := pta.InstID(i)
		for _, c := range e.v.In(n) {
			if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo {
				e.unknownEntry(n)
			}
		}
	}
}

// unknownEntry gives the root to all that an instance is entered with.
func (e *Effects) unknownEntry(n pta.InstID) bool {
	f := e.v.Res.Func(n)
	changed := false
	for _, list := range [2][]facts.Reg{f.Params, f.Free} {
		for _, r := range list {
			for k := range e.t.plan(f).leaves(r) {
				changed = e.lower(n, f.Regs[r].Node+k, Root) || changed
			}
		}
	}
	return changed
}

// lower joins a type into a variable's, and reports whether that changed it.
func (e *Effects) lower(n pta.InstID, x uint32, w Node) bool {
	old := e.types[n][x]
	if w = e.t.meet(old, w); w == old {
		return false
	}
	e.types[n][x] = w
	return true
}

// lowerCell joins the effects of a store into a cell's.
func (e *Effects) lowerCell(c uint32, w Node) {
	old := e.cells[c]
	if w = e.t.meet(old, w); w != old {
		e.cells[c] = w
		e.fell = true
	}
}

// solve visits instances, in order and again, until nothing changes.
func (e *Effects) solve(order []pta.InstID, rounds int) {
	dirty := stage.NewBits(len(e.types))
	for _, n := range order {
		dirty.Add(int(n))
	}
	w := &worker{e: e, dirty: dirty, loads: stage.NewBits(len(e.types))}
	for r := 0; !dirty.Empty() || e.fell; r++ {
		if e.Stats.Rounds++; r == rounds {
			e.giveUp()
			return
		}
		if e.fell {
			e.fell = false
			clear(e.gave)
			clear(e.boxed)
			dirty.Or(w.loads)
		}
		for _, n := range order {
			for k := 0; dirty.Has(int(n)) && k < 64; k++ {
				dirty.Remove(int(n))
				w.visit(n)
			}
		}
	}
}

// giveUp makes everything say nothing.
func (e *Effects) giveUp() {
	e.Stats.Unsettled = true
	for _, ts := range e.types {
		clear(ts)
	}
	clear(e.cells)
	e.fell = false
}

// distrust finds variables and cells that hold what no rule has put there, and
// gives them the root: nothing is said of what other parts of the points-to
// analysis do. It reports whether there were any.
func (e *Effects) distrust() bool {
	v, changed := e.v, false
	for i := range e.types {
		if e.types[i] == nil {
			continue
		}
		n := pta.InstID(i)
		f := v.Res.Func(n)
		for r := 1; r < len(f.Regs); r++ {
			for k := range e.t.plan(f).leaves(facts.Reg(r)) {
				if x := f.Regs[r].Node + k; e.types[i][x] == none && e.typed(v.Res.PointsTo(n, facts.Reg(r), k)) {
					e.types[i][x], changed = Root, true
				}
			}
		}
	}
	idx := e.index()
	for c := range e.cells {
		if e.cells[c] != Root && !v.Res.Content(uint32(c)).Empty() && !idx.explains(e, uint32(c), false) {
			e.cells[c], changed = Root, true
			e.fell = true
		}
	}
	return changed || e.fell
}

// typed reports whether a set has an object that is not exempt.
func (e *Effects) typed(s *pta.Set) (yes bool) {
	s.Each(func(c uint32) {
		if !yes {
			o, _ := e.v.Res.Object(c)
			yes = !e.exempt.Has(int(o))
		}
	})
	return yes
}

func (e *Effects) count() {
	s := &e.Stats
	s.Nodes = e.t.count
	for _, r := range e.t.recursive {
		if r {
			s.Recursive++
		}
	}
	for _, ts := range e.types {
		if ts != nil {
			s.Instances++
		}
		for _, w := range ts {
			if w != Root && w != none {
				s.Typed++
			}
		}
	}
	for _, w := range e.cells {
		if w != Root && w != none {
			s.Cells++
		}
	}
}

// Typed reports whether the type of a register's leaf at a point of an instance
// is more than the root, and its node.
func (e *Effects) Typed(n pta.InstID, r facts.Reg, leaf uint32, point uint32) (Node, bool) {
	if e.types[n] == nil || r == facts.NoReg {
		return Root, false
	}
	f := e.v.Res.Func(n)
	p := e.t.plan(f)
	w := e.t.move(e.types[n][f.Regs[r].Node+leaf], e.t.node(n, p.use(r, point)))
	return w, w != Root && w != none
}
