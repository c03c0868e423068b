// Package stage holds what the stages of both phases share: the accesses of a
// program, control flow, abstract goroutines, the kinds of evidence.
package stage

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Access is the relation access(N, I, rw, mode): one access in one instance.
type Access struct {
	Inst  pta.InstID
	Point uint32
	Row   uint32 // Mems, or Deeps
	// Source numbers what the access is in the source: the same for all
	// instances of its function.
	Source uint32
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
	Sources  int // number of different Source
	// Cells are the cells that somebody writes, ascending; At lists the accesses
	// to one.
	Cells []uint32
	at    lists // of accesses, by place in Cells
	cells lists // of cells, by access

	// Callers lists the call edges into each instance.
	Callers [][]Caller
	// InstsOf lists the instances of each function, ByInst the accesses of each
	// instance.
	InstsOf map[facts.FuncID][]pta.InstID
	ByInst  [][]uint32
	// Overwritten tells which cells of synchronisation objects a plain store may
	// overwrite; nil: any. It is set before Views are made.
	Overwritten func(cell uint32) bool

	flows []*Flow    // by function
	dead  []Bits     // by instance: blocks that are never entered; nil if none
	cuts  [][]uint32 // by instance: points after which control never goes on

	values   *values
	partners *partners
}

// lists is a list of lists of numbers in two arrays.
type lists struct {
	end  []uint64
	data []uint32
}

func (l *lists) add(xs []uint32) {
	l.data = append(l.data, xs...)
	l.end = append(l.end, uint64(len(l.data)))
}

func (l *lists) of(i int) []uint32 {
	start := uint64(0)
	if i > 0 {
		start = l.end[i-1]
	}
	return l.data[start:l.end[i]:l.end[i]]
}

// Caller is a call edge seen from the callee.
type Caller struct {
	Inst pta.InstID
	Kind pta.EdgeKind
	Row  uint32
}

// NewWorld collects the accesses of all instances.
func NewWorld(res *pta.Result) *World {
	w := &World{Prog: res.Prog, Res: res, flows: make([]*Flow, len(res.Prog.Funcs)),
		InstsOf: map[facts.FuncID][]pta.InstID{}, ByInst: make([][]uint32, len(res.Insts))}
	w.Callers = make([][]Caller, len(res.Insts))
	for i := 1; i < len(res.Insts); i++ {
		w.InstsOf[res.Insts[i].Fn] = append(w.InstsOf[res.Insts[i].Fn], pta.InstID(i))
		for _, e := range res.Insts[i].Out {
			w.Callers[e.Callee] = append(w.Callers[e.Callee], Caller{pta.InstID(i), e.Kind, e.Row})
		}
	}
	touched, written := NewBits(res.Cells()), NewBits(res.Cells())
	var buf []uint32
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
			buf = w.cellsOf(&a, buf[:0])
			w.addAccess(a, buf, written)
			for _, c := range buf {
				touched.Add(int(c))
			}
		}
	}
	w.syncUses(touched, written)
	w.invert(written)
	w.number()
	w.findDead()
	return w
}

// number gives accesses their Source.
func (w *World) number() {
	type source struct {
		fn    facts.FuncID
		point uint32
		sync  SyncUse
	}
	seen := map[source]uint32{}
	for i := range w.Accesses {
		a := &w.Accesses[i]
		k := source{w.Res.Insts[a.Inst].Fn, a.Point, a.Sync}
		s, ok := seen[k]
		if !ok {
			s = uint32(len(seen))
			seen[k] = s
		}
		a.Source = s
	}
	w.Sources = len(seen)
}

// addAccess adds an access to some cells, if there are any.
func (w *World) addAccess(a Access, cells []uint32, written Bits) {
	if len(cells) == 0 {
		return
	}
	w.ByInst[a.Inst] = append(w.ByInst[a.Inst], uint32(len(w.Accesses)))
	w.Accesses = append(w.Accesses, a)
	w.cells.add(cells)
	if a.Write {
		for _, c := range cells {
			written.Add(int(c))
		}
	}
}

// invert lists the accesses to each written cell.
func (w *World) invert(written Bits) {
	count := make([]uint32, w.Res.Cells())
	for _, c := range w.cells.data {
		count[c]++
	}
	total := uint64(0)
	next := make([]uint64, len(count)) // where the next access to a cell goes
	for c := range count {
		if !written.Has(c) {
			continue
		}
		next[c] = total
		total += uint64(count[c])
		w.Cells = append(w.Cells, uint32(c))
		w.at.end = append(w.at.end, total)
	}
	w.at.data = make([]uint32, total)
	for i := range w.Accesses {
		for _, c := range w.cells.of(i) {
			if written.Has(int(c)) {
				w.at.data[next[c]] = uint32(i)
				next[c]++
			}
		}
	}
}

// At lists the accesses that may touch a cell, ascending; none if nobody writes
// it. The caller must not change the list.
func (w *World) At(cell uint32) []uint32 {
	i, ok := slices.BinarySearch(w.Cells, cell)
	if !ok {
		return nil
	}
	return w.at.of(i)
}

// CellsOf returns the cells that an access may touch, ascending. Boxes,
// bindings of closures, channel buffers and ghosts are no memory of the
// program's and are left out; an untyped object is touched as a whole, and its
// first cell stands for it. The caller must not change the result.
func (w *World) CellsOf(access uint32) []uint32 { return w.cells.of(int(access)) }

// syncUses appends the accesses of synchronisation operations to their own
// objects. A plain access is needed for UseObject to conflict with.
func (w *World) syncUses(touched, written Bits) {
	add := func(a Access, cells []uint32) {
		for i, c := range cells {
			cells[i] = w.home(c)
		}
		sortCells(cells)
		w.addAccess(a, dedup(cells), written)
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
						if touched.Has(int(w.home(c))) {
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
}

// CellsUnder returns the written cells that instances of a set touch, ascending.
func (w *World) CellsUnder(insts Bits) []uint32 {
	seen := NewBits(w.Res.Cells())
	var out []uint32
	for n := range w.Res.Insts {
		if !insts.Has(n) {
			continue
		}
		for _, a := range w.ByInst[n] {
			for _, c := range w.cells.of(int(a)) {
				if seen.Add(int(c)) && len(w.At(c)) > 0 {
					out = append(out, c)
				}
			}
		}
	}
	sortCells(out)
	return out
}

// home returns the cell that stands for c: the first of an untyped object, else
// c itself.
func (w *World) home(c uint32) uint32 {
	o, _ := w.Res.Object(c)
	if ob := &w.Res.Objs[o]; ob.Untyped {
		return ob.Node
	}
	return c
}

// cellsOf appends to out what CellsOf returns.
func (w *World) cellsOf(a *Access, out []uint32) []uint32 {
	f := w.Res.Func(a.Inst)
	if a.Deep {
		w.Res.Deep(a.Inst, a.Row).Each(func(c uint32) {
			if o, _ := w.Res.Object(c); !w.private(o) {
				out = append(out, w.home(c))
			}
		})
	} else {
		m := &f.Mems[a.Row]
		n := uint32(len(w.Prog.Layout(m.Type).Cells))
		w.Res.PointsTo(a.Inst, m.Base, 0).Each(func(p uint32) {
			o, off := w.Res.Object(p)
			ob := &w.Res.Objs[o]
			switch {
			case w.private(o):
			case ob.Untyped:
				out = append(out, ob.Node)
			default:
				for i := range n {
					if off+m.Off+i < ob.N {
						out = append(out, p+m.Off+i)
					}
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
	case pta.ObjFunc, pta.ObjGhost, pta.ObjUnboxed, pta.ObjBox, pta.ObjType, pta.ObjMethod, pta.ObjRef:
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
