package check

import "github.com/bfverify/bfverify/facts"

// root is the normal form of an address: a register and a distance in bytes.
type root struct {
	reg facts.Reg
	off int64
}

// rootsOf returns the normal form of each register, through field addresses and
// conversions of pointers. A register has one definition, which comes before every
// use; so where it is used, what its root was then is what its root is, or the
// root's definition has run again and with it this one. Definitions that stand
// after a use in the order of points are no roots' business: they are their own.
func (k *checker) rootsOf(f *facts.Func) []root {
	if rs := k.roots[f.ID]; rs != nil {
		return rs
	}
	rs, defs := make([]root, len(f.Regs)), make([]int, len(f.Regs))
	for r := range rs {
		rs[r] = root{facts.Reg(r), 0}
	}
	for _, pt := range f.Points {
		defs[f.Defines(pt)]++
	}
	pointer := func(r facts.Reg) bool {
		t := f.Regs[r].Type
		return t != 0 && k.p.Types[t].Kind == facts.Pointer
	}
	for _, pt := range f.Points {
		switch pt.Op {
		case facts.OpAddr:
			if a := &f.Addrs[pt.Row]; a.Kind == facts.AddrField && defs[a.Dst] == 1 && defs[a.Base] <= 1 {
				rs[a.Dst] = root{rs[a.Base].reg, rs[a.Base].off + a.Bytes}
			}
		case facts.OpCopy:
			c := &f.Copies[pt.Row]
			if c.N == 1 && c.Index < 0 && !c.Unsafe && pointer(c.Dst) && pointer(c.Src) && defs[c.Dst] == 1 && defs[c.Src] <= 1 {
				rs[c.Dst] = rs[c.Src]
			}
		}
	}
	k.roots[f.ID] = rs
	return rs
}
