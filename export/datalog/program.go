package datalog

import "github.com/bfverify/bfverify/facts"

// function numbers the variables of f and describes its parameters.
func (p *Program) function(f *facts.Func) {
	base := p.nodes
	p.base[f.ID] = base
	p.nodes += f.NumNode
	for r := range f.Regs {
		for j, t := range p.leaves(f, facts.Reg(r)) {
			p.node(base+f.Regs[r].Node+uint32(j), t)
		}
	}
	for i, r := range f.Params {
		for j := range p.leaves(f, r) {
			p.fact("param", "FIIN", f.ID, i, j, p.Var(f.ID, r, uint32(j)))
		}
	}
	for j := range p.leaves(f, f.Ret) {
		p.fact("result", "FIN", f.ID, j, p.Var(f.ID, f.Ret, uint32(j)))
	}
	p.fact("arity", "FI", f.ID, len(f.Params))
	if len(f.Params) > 0 && len(p.leaves(f, f.Params[0])) > 0 {
		p.fact("this", "FN", f.ID, p.Var(f.ID, f.Params[0], 0))
	}
}

// node says what a variable or cell of type t accepts.
func (p *Program) node(n uint32, t facts.TypeID) {
	if p.filters(t) {
		p.fact("typ", "NT", n, t)
	} else {
		p.fact("free", "N", n)
	}
}

func (p *Program) filters(t facts.TypeID) bool {
	ty := &p.u.Types[t]
	return t != 0 && (p.u.Pointee(t) != 0 || ty.Kind == facts.FuncKind || ty.Kind == facts.Interface && len(ty.Methods) > 0)
}

// object returns an object, making it with type t.
func (p *Program) object(k Object, t facts.TypeID) *Object {
	i, ok := p.index[k]
	if !ok {
		i = len(p.Objects)
		p.index[k] = i
		k.First, k.N, k.Type = p.nodes, 1, t
		if t != 0 {
			k.N = uint32(len(p.u.Layout(t).Cells))
		}
		p.nodes += k.N
		p.Objects = append(p.Objects, k)
	}
	return &p.Objects[i]
}

// rows writes the rows of f.
func (p *Program) rows(f *facts.Func) {
	at := func(r facts.Reg, leaf int) uint32 { return p.Var(f.ID, r, uint32(leaf)) }
	for _, g := range f.Globals {
		o := p.object(Object{Global: g.Global}, p.u.Globals[g.Global].Type)
		p.fact("alloc", "FNN", f.ID, at(g.Dst, 0), o.First)
	}
	for _, r := range f.FuncRef {
		p.fact("alloc", "FNN", f.ID, at(r.Dst, 0), p.object(Object{Value: r.Fn}, 0).First)
	}
	for _, a := range f.Allocs {
		o := p.object(Object{Fn: f.ID, Site: a.Site}, f.Sites[a.Site].Type)
		p.fact("alloc", "FNN", f.ID, at(a.Dst, 0), o.First)
	}
	for _, c := range f.Copies {
		d, s := p.leaves(f, c.Dst), p.leaves(f, c.Src)
		for j := range int(c.N) {
			p.fact("copy", "FNN", f.ID, at(c.Dst, int(c.DstLeaf)+j), at(c.Src, int(c.SrcLeaf)+j))
			if !iterates(p.u, f, &c) {
				p.converts(f, s[int(c.SrcLeaf)+j], d[int(c.DstLeaf)+j])
			}
		}
	}
	for _, x := range f.Phis {
		for _, e := range x.Edges {
			if e != facts.NoReg {
				for j := range p.leaves(f, x.Dst) {
					p.fact("copy", "FNN", f.ID, at(x.Dst, j), at(e, j))
				}
			}
		}
	}
	for _, a := range f.Addrs {
		switch {
		case len(p.leaves(f, a.Base)) == 0:
		case a.Kind != facts.AddrField || a.Off == 0:
			p.fact("copy", "FNN", f.ID, at(a.Dst, 0), at(a.Base, 0))
		default:
			p.fact("addr", "FNNI", f.ID, at(a.Dst, 0), at(a.Base, 0), p.offset(a.Off))
		}
	}
	for _, m := range f.Mems {
		if m.Val == facts.NoReg || m.Type == 0 {
			continue
		}
		relation := "load"
		if m.Write {
			relation = "store"
		}
		for j, cell := range p.u.Layout(m.Type).Ptrs {
			p.fact(relation, "FNNI", f.ID, at(m.Val, int(m.ValLeaf)+j), at(m.Base, 0), p.offset(m.Off+cell))
		}
	}
	for _, g := range f.Ghosts {
		if len(p.leaves(f, g.Base)) > 0 {
			p.ghost = p.u.Types[f.Regs[g.Dst].Type].Elem
			p.fact("ghost", "FNN", f.ID, at(g.Dst, 0), at(g.Base, 0))
		}
	}
	for _, a := range f.Asserts {
		if a.X == facts.NoReg {
			continue
		}
		d, x := at(a.Dst, 0), at(a.X, 0)
		if p.u.Types[a.Type].Kind == facts.Interface {
			p.fact("assertIface", "FNNT", f.ID, d, x, a.Type)
			continue
		}
		l := p.u.Layout(a.Type)
		if len(l.Ptrs) == 1 && len(l.Cells) == 1 {
			p.fact("assertWord", "FNN", f.ID, d, x)
		}
		for j, cell := range l.Ptrs {
			p.fact("assertLeaf", "FNNTI", f.ID, d+uint32(j), x, a.Type, p.offset(cell))
		}
	}
	for row := range f.Calls {
		p.call(f, uint32(row))
	}
}

func (p *Program) converts(f *facts.Func, from, to facts.TypeID) {
	if from != to {
		p.fact("converts", "FTT", f.ID, from, to)
	}
}

// call writes a row of Calls.
func (p *Program) call(f *facts.Func, row uint32) {
	c := &f.Calls[row]
	s := len(p.Calls)
	p.Calls = append(p.Calls, Call{f.ID, row})
	skip := 0 // the receiver is no argument of an interface call
	switch {
	case c.Static != 0:
		p.fact("static", "FSF", f.ID, s, c.Static)
		// The caller may have declared the callee otherwise.
		if g := p.u.Funcs[c.Static]; g != nil {
			for i := range min(len(c.Args), len(g.Params)) {
				p.convertAll(f, p.leaves(f, c.Args[i]), p.leaves(g, g.Params[i]))
			}
			p.convertAll(f, p.leaves(g, g.Ret), p.leaves(f, c.Dst))
		}
	case c.Method != 0:
		if c.Recv == facts.NoReg {
			return
		}
		skip = 1
		p.fact("invoke", "FSNM", f.ID, s, p.Var(f.ID, c.Recv, 0), c.Method)
	case c.Fn != facts.NoReg:
		p.fact("dynamic", "FSN", f.ID, s, p.Var(f.ID, c.Fn, 0))
		p.fact("args", "SI", s, len(c.Args))
	}
	for i, a := range c.Args {
		for j := range p.leaves(f, a) {
			p.fact("arg", "SIIN", s, i+skip, j, p.Var(f.ID, a, uint32(j)))
		}
	}
	for j := range p.leaves(f, c.Dst) {
		p.fact("dst", "SIN", s, j, p.Var(f.ID, c.Dst, uint32(j)))
	}
}

func (p *Program) convertAll(f *facts.Func, from, to []facts.TypeID) {
	for j := range min(len(from), len(to)) {
		p.converts(f, from[j], to[j])
	}
}

// offset notes that facts lead to cells so much further in their objects.
func (p *Program) offset(off uint32) uint32 {
	p.offsets[off] = true
	return off
}

// hidden makes the cells that hang on others, if the program has such.
func (p *Program) hidden() {
	if p.ghost == 0 {
		return
	}
	for _, o := range p.Objects[:len(p.Objects):len(p.Objects)] {
		for i := range o.N {
			g := p.object(Object{Of: o.First + i}, p.ghost)
			p.fact("hidden", "NN", o.First+i, g.First)
		}
	}
}

// cells describes the cells of all objects.
func (p *Program) cells() {
	for _, o := range p.Objects {
		kind := facts.SiteUnknown
		if o.Fn != 0 {
			kind = p.u.Funcs[o.Fn].Sites[o.Site].Kind
		}
		var layout []facts.Cell
		if o.Type != 0 {
			layout = p.u.Layout(o.Type).Cells
		}
		for i := range o.N {
			c := o.First + i
			for j := i; j < o.N; j++ {
				if p.offsets[j-i] {
					p.fact("shift", "NIN", c, j-i, o.First+j)
				}
			}
			if layout == nil {
				p.node(c, 0)
			} else {
				p.node(c, layout[i].Type)
				for _, t := range layout[i].Types {
					p.fact("starts", "NT", c, t)
					p.fact("base", "NT", c, p.element(t))
				}
			}
			switch {
			case kind == facts.SiteBox:
				p.fact("box", "NT", c, o.Type)
				p.fact("first", "NN", c, o.First)
				continue
			case kind == facts.SiteClosure:
				p.closure(c, &o)
			case o.Value != 0:
				p.value(c, o.Value)
			}
			p.fact("plain", "N", c)
		}
	}
}

// value says that cell c is function f.
func (p *Program) value(c uint32, f facts.FuncID) {
	p.fact("function", "NF", c, f)
	if p.u.Funcs[f] == nil {
		p.fact("nameless", "F", f)
	}
}

// closure says that cell c is closure o, whose bindings go to free variables.
func (p *Program) closure(c uint32, o *Object) {
	fn := p.u.Funcs[o.Fn].Sites[o.Site].Fn
	p.value(c, fn)
	g := p.u.Funcs[fn]
	if g == nil || len(g.Free) == 0 {
		return
	}
	for j, cell := range p.u.Layout(o.Type).Ptrs {
		p.fact("bind", "NNN", c, p.Var(fn, g.Free[0], uint32(j)), o.First+cell)
	}
}

// types describes the types that the program mentions.
func (p *Program) types(ts []facts.TypeID) {
	var ifaces []facts.TypeID
	for _, t := range ts {
		if p.u.Types[t].Kind == facts.Interface {
			ifaces = append(ifaces, t)
		}
	}
	boxes := map[facts.TypeID]bool{}
	for _, o := range p.Objects {
		boxes[o.Type] = boxes[o.Type] || o.Fn != 0 && p.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteBox
	}
	for _, t := range ts {
		ty := &p.u.Types[t]
		p.fact("element", "TT", t, p.element(t))
		if x := p.u.Pointee(t); x != 0 {
			p.fact("pointee", "TT", t, x)
			p.fact("target", "TT", t, p.element(x))
		}
		switch ty.Kind {
		case facts.Array:
			p.fact("array", "TT", t, ty.Elem)
		case facts.Struct:
			for i, f := range ty.Fields {
				p.fact("field", "TIT", t, i, f.Type)
			}
		case facts.FuncKind:
			p.fact("funcs", "T", t)
			for i, f := range ty.Fields {
				p.fact("signature", "TIT", t, i, f.Type)
			}
		case facts.Map:
			p.fact("mapPart", "TIT", t, 0, ty.Key)
			p.fact("mapPart", "TIT", t, 1, ty.Elem)
		case facts.Chan:
			p.fact("chanPart", "TIT", t, 0, ty.Elem)
		case facts.Interface:
			if len(ty.Methods) > 0 {
				p.fact("iface", "T", t)
			}
		}
		q := p.pointerTo(t)
		for _, i := range ifaces {
			if boxes[t] && p.u.Implements(t, i) {
				p.fact("implements", "TT", t, i)
			}
			if p.u.Implements(t, i) || q != 0 && p.u.Implements(q, i) {
				p.fact("either", "TT", t, i)
			}
		}
		if boxes[t] && ty.Kind != facts.Interface {
			p.methods(t)
		}
		if q != 0 {
			for _, m := range p.u.Types[q].Methods {
				if p.u.Funcs[m.Fn] != nil {
					p.fact("pointerMethod", "TMF", t, m.Key, m.Fn)
				}
			}
		}
	}
}

// methods writes the method table of the dynamic type of a box, and where the
// leaves of the receiver go.
func (p *Program) methods(t facts.TypeID) {
	for _, m := range p.u.Types[t].Methods {
		if m.Fn == 0 {
			continue
		}
		p.fact("method", "TMF", t, m.Key, m.Fn)
		g := p.u.Funcs[m.Fn]
		if g == nil || len(g.Params) == 0 {
			continue
		}
		for j, cell := range p.u.Layout(t).Ptrs {
			p.fact("receiver", "TMIN", t, m.Key, p.offset(cell), p.Var(m.Fn, g.Params[0], uint32(j)))
		}
	}
}
