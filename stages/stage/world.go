// Package stage holds what the stages of both phases share: the accesses of a
// program, control flow, abstract goroutines, the kinds of evidence.
package stage

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Access is the relation access(N, I, rw, mode): one access in one instance.
type Access struct {
	Inst   pta.InstID
	Point  uint32
	Row    uint32 // Mems, or Deeps
	Deep   bool
	Write  bool
	Atomic bool
	// Sync says that the access is what an operation on a synchronisation
	// object does to the object itself; Row indexes Syncs or Selects. Pairs
	// with such an access are misuse.
	Sync SyncUse
}

// SyncUse names what an operation does to its own object, as the race detector
// sees it: every operation is an atomic write of the object, so that a plain
// copy or store of it while in use races; closing against sending, and adding
// to a wait group from zero against waiting, race by themselves.
type SyncUse uint8

// The uses.
const (
	NoUse SyncUse = iota
	UseObject
	UseClose
	UseSend
	UseAdd
	UseWait
)

// World is a program with its points-to solution, shared by all entries.
type World struct {
	Prog     *facts.Program
	Res      *pta.Result
	Accesses []Access
	// ByCell lists the accesses that may touch each cell; only cells with a
	// write by somebody are kept. Cells gives them in ascending order.
	ByCell map[uint32][]uint32
	Cells  []uint32

	// Callers lists the call edges into each instance.
	Callers [][]Caller
	// InstsOf lists the instances of each function, ByInst the accesses of each
	// instance.
	InstsOf map[facts.FuncID][]pta.InstID
	ByInst  map[pta.InstID][]uint32
	cellsOf [][]uint32
	flows   map[facts.FuncID]*Flow
}

// Caller is a call edge seen from the callee.
type Caller struct {
	Inst pta.InstID
	Kind pta.EdgeKind
	Row  uint32
}

// NewWorld collects the accesses of all instances.
func NewWorld(res *pta.Result) *World {
	w := &World{Prog: res.Prog, Res: res, ByCell: map[uint32][]uint32{}, flows: map[facts.FuncID]*Flow{},
		InstsOf: map[facts.FuncID][]pta.InstID{}, ByInst: map[pta.InstID][]uint32{}}
	w.Callers = make([][]Caller, len(res.Insts))
	for i := 1; i < len(res.Insts); i++ {
		w.InstsOf[res.Insts[i].Fn] = append(w.InstsOf[res.Insts[i].Fn], pta.InstID(i))
		for _, e := range res.Insts[i].Out {
			w.Callers[e.Callee] = append(w.Callers[e.Callee], Caller{pta.InstID(i), e.Kind, e.Row})
		}
	}
	written := map[uint32]bool{}
	touched := map[uint32]bool{}
	var lists [][]uint32
	for i := 1; i < len(res.Insts); i++ {
		id := pta.InstID(i)
		f := res.Func(id)
		if f == nil {
			continue
		}
		for p, pt := range f.Points {
			a := Access{Inst: id, Point: uint32(p), Row: pt.Row}
			switch pt.Op {
			case facts.OpMem:
				m := &f.Mems[pt.Row]
				if m.Mode == facts.Flow {
					continue
				}
				a.Write, a.Atomic = m.Write, m.Mode == facts.Atomic
			case facts.OpDeep:
				a.Deep, a.Write = true, f.Deeps[pt.Row].Write
			default:
				continue
			}
			cells := w.CellsOf(&a)
			if len(cells) == 0 {
				continue
			}
			w.ByInst[id] = append(w.ByInst[id], uint32(len(w.Accesses)))
			w.Accesses = append(w.Accesses, a)
			lists = append(lists, cells)
			for _, c := range cells {
				touched[c] = true
				if a.Write {
					written[c] = true
				}
			}
		}
	}
	lists = w.syncUses(lists, touched, written)
	for i, cells := range lists {
		for _, c := range cells {
			if written[c] {
				if w.ByCell[c] == nil {
					w.Cells = append(w.Cells, c)
				}
				w.ByCell[c] = append(w.ByCell[c], uint32(i))
			}
		}
	}
	sortCells(w.Cells)
	w.cellsOf = lists
	return w
}

// syncUses appends the accesses of synchronisation operations to their own
// objects. A plain access is needed for UseObject to conflict with.
func (w *World) syncUses(lists [][]uint32, touched, written map[uint32]bool) [][]uint32 {
	add := func(a Access, cells []uint32) {
		if len(cells) == 0 {
			return
		}
		w.ByInst[a.Inst] = append(w.ByInst[a.Inst], uint32(len(w.Accesses)))
		w.Accesses = append(w.Accesses, a)
		lists = append(lists, cells)
		for _, c := range cells {
			if a.Write {
				written[c] = true
			}
		}
	}
	for i := 1; i < len(w.Res.Insts); i++ {
		id := pta.InstID(i)
		f := w.Res.Func(id)
		if f == nil || len(f.Syncs)+len(f.Selects) == 0 {
			continue
		}
		chans := func(r facts.Reg) []uint32 { return w.Res.PointsTo(id, r, 0).Elems(nil) }
		// sema is the cell beside the object's first, where Add meets Wait.
		sema := func(r facts.Reg) []uint32 {
			var out []uint32
			for _, c := range chans(r) {
				if o, off := w.Res.Object(c); off+1 < w.Res.Objs[o].N {
					out = append(out, c+1)
				}
			}
			return out
		}
		for p, pt := range f.Points {
			a := Access{Inst: id, Point: uint32(p), Row: pt.Row}
			switch pt.Op {
			case facts.OpSelect:
				for _, k := range f.Selects[pt.Row].Cases {
					if k.Send {
						a.Sync = UseSend
						add(a, chans(k.Chan))
					}
				}
			case facts.OpSync:
				y := &f.Syncs[pt.Row]
				switch y.Op {
				case facts.SyncClose:
					a.Sync, a.Write = UseClose, true
					add(a, chans(y.Obj))
				case facts.SyncSend:
					a.Sync = UseSend
					add(a, chans(y.Obj))
				case facts.SyncAcquire, facts.SyncRelease, facts.SyncAdd, facts.SyncWait, facts.SyncOnce:
					u := a
					u.Sync, u.Write, u.Atomic = UseObject, true, true
					var cells []uint32
					for _, c := range chans(y.Obj) {
						if touched[c] {
							cells = append(cells, c)
						}
					}
					add(u, cells)
					if y.Op == facts.SyncWait {
						a.Sync, a.Write = UseWait, true
						add(a, sema(y.Obj))
					} else if y.Op == facts.SyncAdd && (!y.Known || y.N > 0) {
						if n, ok := w.ConstOf(id, y.Val); !y.Known && ok && n <= 0 {
							continue
						}
						a.Sync = UseAdd
						add(a, sema(y.Obj))
					}
				}
			}
		}
	}
	return lists
}

// CellsUnder returns the written cells that instances of a set touch, ascending.
func (w *World) CellsUnder(insts Bits) []uint32 {
	seen := map[uint32]bool{}
	var out []uint32
	for n := range w.Res.Insts {
		if !insts.Has(n) {
			continue
		}
		for _, a := range w.ByInst[pta.InstID(n)] {
			for _, c := range w.cellsOf[a] {
				if !seen[c] && w.ByCell[c] != nil {
					seen[c] = true
					out = append(out, c)
				}
			}
		}
	}
	sortCells(out)
	return out
}

// CellsOf returns the cells that an access may touch, ascending. Boxes,
// bindings of closures, channel buffers and ghosts are no memory of the
// program's and are left out; an untyped object is touched as a whole.
func (w *World) CellsOf(a *Access) []uint32 {
	f := w.Res.Func(a.Inst)
	var out []uint32
	add := func(c uint32) {
		o, _ := w.Res.Object(c)
		if w.private(o) {
			return
		}
		ob := &w.Res.Objs[o]
		if ob.Untyped {
			for i := range ob.N {
				out = append(out, ob.Node+i)
			}
			return
		}
		out = append(out, c)
	}
	if a.Deep {
		w.Res.Deep(a.Inst, a.Row).Each(add)
	} else {
		m := &f.Mems[a.Row]
		n := uint32(len(w.Prog.Layout(m.Type).Cells))
		w.Res.PointsTo(a.Inst, m.Base, 0).Each(func(p uint32) {
			o, off := w.Res.Object(p)
			ob := &w.Res.Objs[o]
			if ob.Untyped {
				add(p)
				return
			}
			for i := range n {
				if off+m.Off+i < ob.N {
					add(p + m.Off + i)
				}
			}
		})
	}
	sortCells(out)
	return dedup(out)
}

// private reports whether an object is none of the program's memory.
func (w *World) private(o pta.ObjID) bool {
	ob := &w.Res.Objs[o]
	switch ob.Kind {
	case pta.ObjFunc, pta.ObjGhost:
		return true
	case pta.ObjSite:
		k, _ := w.Res.SiteKind(o)
		return k == facts.SiteBox || k == facts.SiteClosure || k == facts.SiteChan
	}
	return ob.Type == 0
}

// Flow returns the control flow of an instance's function.
func (w *World) Flow(i pta.InstID) *Flow {
	f := w.Res.Func(i)
	fl := w.flows[f.ID]
	if fl == nil {
		fl = NewFlow(f)
		w.flows[f.ID] = fl
	}
	return fl
}

// PointsOf returns the points at which the row of a call edge runs.
func (w *World) PointsOf(i pta.InstID, kind pta.EdgeKind, row uint32) []uint32 {
	fl := w.Flow(i)
	if kind == pta.EdgeAny || kind == pta.EdgeAnyGo {
		return fl.AnyAt[row]
	}
	return fl.CallAt[row]
}

// IsSpawn reports whether an edge starts a goroutine.
func IsSpawn(k pta.EdgeKind) bool { return k == pta.EdgeGo || k == pta.EdgeAnyGo }

// Single returns the one cell that a register points to, if there is just one.
func (w *World) Single(i pta.InstID, r facts.Reg) (uint32, bool) {
	return w.Res.PointsTo(i, r, 0).One()
}

// ConstOf returns the integer constant that a register surely holds: a
// constant operand, or a parameter of a function with a single caller that
// passes one.
func (w *World) ConstOf(i pta.InstID, r facts.Reg) (int64, bool) {
	for range 8 {
		f := w.Res.Func(i)
		for _, c := range f.Consts {
			if c.Dst == r && c.Known {
				return c.Int, true
			}
		}
		k := -1
		for j, p := range f.Params {
			if p == r {
				k = j
			}
		}
		if k < 0 || len(w.Callers[i]) != 1 {
			return 0, false
		}
		c := w.Callers[i][0]
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo {
			return 0, false
		}
		call := &w.Res.Func(c.Inst).Calls[c.Row]
		if call.Method != 0 {
			k--
		}
		if k < 0 || k >= len(call.Args) || call.Args[k] == facts.NoReg {
			return 0, false
		}
		i, r = c.Inst, call.Args[k]
	}
	return 0, false
}
