package mustnot

import (
	"fmt"

	"github.com/bfverify/bfverify/facts"
)

// rootOf returns the normal form of a register: through field addresses and
// changes of type, as far as the pointer's value is one expression of it; of
// addresses of one element, the first.
func (l *plain) rootOf(f *facts.Func, r facts.Reg) root {
	rs := l.roots[f.ID]
	if rs == nil {
		rs = l.findRoots(f)
		l.roots[f.ID] = rs
	}
	return rs[r]
}

func (l *plain) findRoots(f *facts.Func) []root {
	rs := make([]root, len(f.Regs))
	for i := range rs {
		rs[i] = root{facts.Reg(i), 0}
	}
	defs := map[facts.Reg]int{}
	for _, p := range f.Points {
		defs[f.Defines(p)]++
	}
	// Definitions precede uses in block order for these, dominance being
	// respected by the order of blocks almost always; where it is not, the
	// register is its own root, which is always right.
	same := l.same(f)
	elems := map[string][]uint32{} // points that define the first address of an element
	for i, p := range f.Points {
		switch p.Op {
		case facts.OpMem:
			if m := &f.Mems[p.Row]; !m.Write && same[m.Val] != facts.NoReg {
				rs[m.Val] = rs[same[m.Val]]
			}
		case facts.OpAddr:
			a := &f.Addrs[p.Row]
			b := rs[a.Base]
			if a.Kind == facts.AddrField {
				rs[a.Dst] = root{b.reg, b.off + a.Bytes}
			}
			if a.Kind != facts.AddrElem || !f.Lins[a.Index].Known {
				continue
			}
			form := &f.Lins[a.Index]
			once := defs[a.Dst] <= 1 && defs[a.Base] <= 1 && defs[b.reg] <= 1
			operands := map[facts.Reg]bool{b.reg: true}
			for _, t := range form.Terms {
				operands[t.Reg] = true
				once = once && defs[t.Reg] <= 1
			}
			if !once {
				continue
			}
			key := fmt.Sprint(b, f.Regs[a.Dst].Type, *form)
			first := true
			for _, q := range elems[key] {
				if first && passes(f, q, uint32(i), operands) {
					rs[a.Dst] = rs[f.Addrs[f.Points[q].Row].Dst]
					first = false
				}
			}
			if first {
				elems[key] = append(elems[key], uint32(i))
			}
		case facts.OpCopy:
			c := &f.Copies[p.Row]
			if c.N == 1 && c.Index < 0 && !c.Unsafe && c.SrcLeaf == 0 && c.DstLeaf == 0 && l.simple(f, c.Dst) && l.simple(f, c.Src) && f.Regs[c.Dst].Def != 0 && defs[c.Dst] == 1 {
				rs[c.Dst] = rs[c.Src]
			}
		}
	}
	return rs
}

// simple reports whether a register is one pointer.
func (l *plain) simple(f *facts.Func, r facts.Reg) bool {
	t := f.Regs[r].Type
	return t != 0 && l.v.Prog.Types[t].Kind == facts.Pointer
}

// passes goes back from point p on all paths, point by point, and reports whether
// each comes to point q before it comes to where the function is entered or one of
// the operands is defined.
func passes(f *facts.Func, q, p uint32, operands map[facts.Reg]bool) bool {
	type place struct{ block, point uint32 } // before the point
	var todo []place
	seen := map[place]bool{}
	push := func(b, x uint32) {
		if at := (place{b, x}); !seen[at] {
			seen[at] = true
			todo = append(todo, at)
		}
	}
	for b := range f.Blocks {
		if f.Blocks[b].Start <= p && p < f.Blocks[b].End {
			push(uint32(b), p)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at.point > f.Blocks[at.block].Start {
			switch x := at.point - 1; {
			case x == q:
			case operands[f.Defines(f.Points[x])]:
				return false
			default:
				push(at.block, x)
			}
			continue
		}
		if at.block == 0 {
			return false
		}
		for b := range f.Blocks {
			blk := &f.Blocks[b]
			for _, s := range blk.Succs {
				if s == at.block {
					push(uint32(b), blk.End)
				}
			}
			for x := blk.Start; x < blk.End; x++ {
				if blk.Panic == int32(at.block) && f.Points[x].Flags&facts.MayPanic != 0 {
					push(uint32(b), x)
				}
			}
		}
	}
	return true
}
