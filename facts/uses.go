package facts

// Uses calls visit with every register that a point reads, NoReg left out; some
// may come twice. What a block returns and branches on is no part of its points.
func (f *Func) Uses(p Point, visit func(Reg)) {
	use := func(rs ...Reg) {
		for _, r := range rs {
			if r != NoReg {
				visit(r)
			}
		}
	}
	lin := func(is ...uint32) {
		for _, i := range is {
			for _, t := range f.Lins[i].Terms {
				use(t.Reg)
			}
		}
	}
	switch p.Op {
	case OpCopy:
		use(f.Copies[p.Row].Src)
	case OpPhi:
		use(f.Phis[p.Row].Edges...)
	case OpAddr:
		a := &f.Addrs[p.Row]
		use(a.Base)
		lin(a.Index, a.High, a.Max)
	case OpMem:
		m := &f.Mems[p.Row]
		use(m.Base)
		if m.Write {
			use(m.Val)
		}
		lin(m.Index)
	case OpDeep:
		use(f.Deeps[p.Row].X, f.Deeps[p.Row].From)
	case OpReach:
		use(f.Reaches[p.Row].X, f.Reaches[p.Row].Type)
	case OpAssert:
		use(f.Asserts[p.Row].X)
	case OpCall:
		c := &f.Calls[p.Row]
		use(c.Fn, c.Recv, c.Once)
		use(c.Args...)
	case OpAny:
		use(f.Anys[p.Row].Fn, f.Anys[p.Row].X)
	case OpSync:
		use(f.Syncs[p.Row].Obj, f.Syncs[p.Row].Val)
	case OpSelect:
		for _, c := range f.Selects[p.Row].Cases {
			use(c.Chan)
		}
	case OpGhost:
		use(f.Ghosts[p.Row].Base)
	case OpNew:
		use(f.News[p.Row].X)
	case OpArith:
		use(f.Ariths[p.Row].X, f.Ariths[p.Row].Y)
	}
}
