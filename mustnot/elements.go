package mustnot

import (
	"encoding/binary"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// elements finds the addresses of elements that are computed twice: &a[i] for the
// lock and a[i] for what it guards. Of two such addresses the later one is the
// earlier one.
//
//	(E1) both are of the element at one linear form of the same registers, from
//	     bases of one root; at type int sums wrap around alike
//	(E2) each register in them, the two addresses included, is defined by one point
//	     at most
//	(E3) the earlier definition dominates the later one; where its block may panic
//	     before it, the later one does not follow that panic
//
// Soundness: by (E2) and dominance, what follows the last execution of a register's
// definition and leads to the later address passes the earlier one, so that both
// were computed from the values that these registers now have.
type elements struct {
	fl    *stage.Flow
	idom  []int32
	defs  []uint8
	first map[string][]uint32 // points that define an address, by what it is of
	buf   []byte
}

func newElements(fl *stage.Flow, defs []uint8) *elements {
	return &elements{fl: fl, defs: defs, first: map[string][]uint32{}}
}

// earlier returns the register that holds the address that point p defines, of an
// element from a base of a root; not ok if there is none. The points of a function
// are asked about in order.
func (e *elements) earlier(p uint32, base root) (facts.Reg, bool) {
	f := e.fl.F
	a := &f.Addrs[f.Points[p].Row]
	l := &f.Lins[a.Index]
	if !l.Known || e.defs[a.Dst] > 1 || e.defs[base.reg] > 1 || e.defs[a.Base] > 1 {
		return facts.NoReg, false
	}
	b := binary.LittleEndian.AppendUint32(e.buf[:0], uint32(base.reg))
	b = binary.LittleEndian.AppendUint64(b, uint64(base.off))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Regs[a.Dst].Type)) // elements of no size may begin where others do
	b = binary.LittleEndian.AppendUint64(b, uint64(l.Const))
	for _, t := range l.Terms {
		if e.defs[t.Reg] > 1 { // (E2)
			return facts.NoReg, false
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Reg))
		b = binary.LittleEndian.AppendUint64(b, uint64(t.Coef))
	}
	e.buf = b
	for _, q := range e.first[string(b)] {
		if e.dominates(q, p) { // (E3)
			return f.Addrs[f.Points[q].Row].Dst, true
		}
	}
	e.first[string(b)] = append(e.first[string(b)], p)
	return facts.NoReg, false
}

// dominates reports (E3) of two points, the earlier one in the order of points first.
func (e *elements) dominates(p, q uint32) bool {
	b, c := e.fl.Block(p), e.fl.Block(q)
	if b == c {
		return true
	}
	if e.idom == nil {
		e.idom, _ = stage.Dominators(len(e.fl.F.Blocks), 0, e.fl.Succs)
	}
	blk := &e.fl.F.Blocks[b]
	for x := blk.Start; x < p && blk.Panic >= 0; x++ {
		if e.fl.F.Points[x].Flags&facts.MayPanic != 0 && (int(blk.Panic) == c || e.fl.Reach(int(blk.Panic)).Has(c)) {
			return false
		}
	}
	for c > 0 && c != b {
		c = int(e.idom[c])
	}
	return c == b
}
