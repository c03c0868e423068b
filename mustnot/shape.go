package mustnot

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// shape is what the flow of locks through a function looks at, the same for all
// its instances: the points that can change a state or are asked about, and of
// those that can only panic one for each state.
type shape struct {
	roots  []root
	again  stage.Bits // roots that are the first of several addresses of one element
	blocks []shapeBlock
	// syncs are the reached points that may lock or unlock; calls and anys tell the
	// rows of Calls and Anys that a reached point runs.
	syncs       []uint32
	calls, anys stage.Bits
}

type shapeBlock struct {
	reached bool
	points  []shapePoint
}

// shapePoint is a point that the flow looks at.
type shapePoint struct {
	point uint32
	kind  pointKind
	throw bool      // a panic here goes to the block's Panic
	def   facts.Reg // defined here and the root of names, or NoReg
}

type pointKind uint8

const (
	other pointKind = iota
	sync            // see opAt
	call
)

// root is the normal form of an address: a register and a distance.
type root struct {
	reg facts.Reg
	off int64
}

// shapeOf returns the shape of a function.
func (l *Locks) shapeOf(f *facts.Func) *shape {
	if sh := l.shapes[f.ID]; sh != nil {
		return sh
	}
	roots, again := l.rootsOf(f)
	sh := &shape{roots: roots, again: again, blocks: make([]shapeBlock, len(f.Blocks)),
		calls: stage.NewBits(len(f.Calls)), anys: stage.NewBits(len(f.Anys))}
	l.shapes[f.ID] = sh
	// Names are rooted in what is locked, passed, or a parameter.
	named := stage.NewBits(len(f.Regs))
	name := func(r facts.Reg) {
		if r != facts.NoReg {
			named.Add(int(sh.roots[r].reg))
		}
	}
	for _, p := range f.Params {
		named.Add(int(p))
	}
	for i := range f.Syncs {
		name(f.Syncs[i].Obj)
	}
	for i := range f.Selects {
		for _, c := range f.Selects[i].Cases {
			name(c.Chan)
		}
	}
	for i := range f.Calls {
		for _, a := range f.Calls[i].Args {
			name(a)
		}
	}
	for i := range f.Mems { // bound by closures
		if m := &f.Mems[i]; m.Write && m.Mode == facts.Flow {
			name(m.Val)
		}
	}
	sh.reach(f, 0)
	for b := range f.Blocks {
		blk, out := &f.Blocks[b], &sh.blocks[b]
		if !out.reached {
			continue
		}
		thrown := false // the present state is known where panics go
		for p := blk.Start; p < blk.End; p++ {
			pt := f.Points[p]
			sp := shapePoint{point: p, throw: pt.Flags&facts.MayPanic != 0 && blk.Panic >= 0}
			if d := f.Defines(pt); d != facts.NoReg && named.Has(int(d)) {
				sp.def = d
			}
			switch pt.Op {
			case facts.OpSync:
				switch f.Syncs[pt.Row].Op {
				case facts.SyncAcquire, facts.SyncRelease, facts.SyncSend, facts.SyncRecv, facts.SyncOnce:
					sp.kind, sh.syncs = sync, append(sh.syncs, p)
				}
			case facts.OpSelect:
				sp.kind, sh.syncs = sync, append(sh.syncs, p)
			case facts.OpCall:
				sp.kind = call
				sh.calls.Add(int(pt.Row))
			case facts.OpAny:
				sp.kind = call
				sh.anys.Add(int(pt.Row))
			}
			if sp.kind == other && sp.def == facts.NoReg {
				if !sp.throw || thrown {
					continue
				}
				thrown = true
			} else {
				thrown = false
			}
			out.points = append(out.points, sp)
		}
	}
	return sh
}

// reach marks the blocks that some path from block b leads to.
func (sh *shape) reach(f *facts.Func, b uint32) {
	todo := []uint32{b}
	for len(todo) > 0 {
		b = todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if sh.blocks[b].reached {
			continue
		}
		sh.blocks[b].reached = true
		blk := &f.Blocks[b]
		todo = append(todo, blk.Succs...)
		if blk.Panic < 0 {
			continue
		}
		for p := blk.Start; p < blk.End; p++ {
			if f.Points[p].Flags&facts.MayPanic != 0 {
				todo = append(todo, uint32(blk.Panic))
				break
			}
		}
	}
}

// loadsTwice reports whether two loads of a function may be of one field, as far as
// types tell.
func loadsTwice(f *facts.Func) bool {
	seen := map[facts.TypeID]bool{}
	for i := range f.Mems {
		if m := &f.Mems[i]; !m.Write && m.Val != facts.NoReg {
			if seen[m.Type] {
				return true
			}
			seen[m.Type] = true
		}
	}
	return false
}

// rootsOf returns the normal form of each register: through field addresses and
// changes of type, as far as the pointer's value is one expression of it; of
// loads of one field that is written once, the first; and of addresses of one
// element, the first (elements), which are the registers in again.
func (l *Locks) rootsOf(f *facts.Func) (rs []root, again stage.Bits) {
	rs, again = make([]root, len(f.Regs)), stage.NewBits(len(f.Regs))
	for i := range rs {
		rs[i] = root{facts.Reg(i), 0}
	}
	defs := make([]uint8, len(f.Regs)) // points that define each; 2: two or more
	for _, p := range f.Points {
		if d := f.Defines(p); d != facts.NoReg && defs[d] < 2 {
			defs[d]++
		}
	}
	// Definitions precede uses in block order for these, dominance being
	// respected by the order of blocks almost always; where it is not, the
	// register is its own root, which is always right.
	var same map[facts.Reg]facts.Reg
	if loadsTwice(f) {
		same = l.Effects().SameLoads(f)
	}
	elems := newElements(l.v.Flow(l.v.InstsOf[f.ID][0]), defs)
	for i, p := range f.Points {
		switch p.Op {
		case facts.OpMem:
			if m := &f.Mems[p.Row]; !m.Write && m.Val != facts.NoReg {
				if r, ok := same[m.Val]; ok {
					rs[m.Val] = rs[r]
				}
			}
		case facts.OpAddr:
			switch a := &f.Addrs[p.Row]; a.Kind {
			case facts.AddrField:
				b := rs[a.Base]
				rs[a.Dst] = root{b.reg, b.off + a.Bytes}
			case facts.AddrElem:
				if r, ok := elems.earlier(uint32(i), rs[a.Base]); ok {
					rs[a.Dst] = rs[r]
					again.Add(int(rs[r].reg))
				}
			}
		case facts.OpCopy:
			c := &f.Copies[p.Row]
			if c.N == 1 && c.Index < 0 && !c.Unsafe && c.SrcLeaf == 0 && c.DstLeaf == 0 && l.simple(f, c.Dst) && l.simple(f, c.Src) && f.Regs[c.Dst].Def != 0 && defs[c.Dst] == 1 {
				rs[c.Dst] = rs[c.Src]
			}
		}
	}
	return rs, again
}

// rootOf returns the normal form of a register.
func (l *Locks) rootOf(f *facts.Func, r facts.Reg) root { return l.shapeOf(f).roots[r] }

// Address returns the form in which locks are named, Name.Reg and Name.Off, of the
// address that a register of a function holds.
func (l *Locks) Address(f *facts.Func, r facts.Reg) (facts.Reg, int64) {
	rt := l.rootOf(f, r)
	return rt.reg, rt.off
}

// simple reports whether a register is one pointer.
func (l *Locks) simple(f *facts.Func, r facts.Reg) bool {
	t := f.Regs[r].Type
	return t != 0 && l.v.Prog.Types[t].Kind == facts.Pointer
}
