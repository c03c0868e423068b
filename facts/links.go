package facts

import "strings"

// Linkname is a symbol that a package wants or gives with a directive //go:linkname.
type Linkname struct {
	Symbol string   // "path.name"
	Fn     FuncID   // a function; or
	Global GlobalID // a variable
	// Given tells that the function, which has a body, is to have the symbol. Else
	// the function has no body, and is to be what has the symbol; and a variable is
	// to be the one that has it.
	Given bool
}

// Decl says where something is declared that records of other packages may show the
// place of: a package-level type, or a method.
type Decl struct {
	Name string // "PkgID.T", "PkgID.T.m"
	Pos  Pos
}

// DeclFile starts the name of a file that is none: the rest names a Decl, and
// positions in it are that Decl's. So a record does not change when lines move in
// the packages that it uses. The Record with the Decl is added before.
const DeclFile = "\x00"

// ResolveLinks gives bodies to the functions without one that directives
// //go:linkname name. It is called once, when all records have been added.
//
// (L1) pulled: //go:linkname f q.g beside f without body makes f the function g
// of package q. (L2) pushed: //go:linkname g p.f beside g with a body makes g
// the function f of package p, which has none there. In both cases f becomes a
// call of g. What inert packages have is left to their models.
//
// (L3) A variable that such a directive names after one of the same type is that
// variable.
func (u *Universe) ResolveLinks() {
	funcs, given, vars := symbols[FuncID]{}, symbols[FuncID]{}, symbols[GlobalID]{}
	for _, r := range u.Records {
		wanted := map[FuncID]bool{}
		for _, l := range r.Links {
			switch {
			case l.Given:
				given.add(r, l.Symbol, l.Fn)
			case l.Fn != 0:
				wanted[l.Fn] = true
			}
		}
		for _, e := range r.Exports {
			if !r.Inert && !wanted[e.Fn] && u.Funcs[e.Fn] != nil {
				funcs.add(r, r.Path+"."+e.Name, e.Fn)
			}
		}
		for _, v := range r.Vars {
			vars.add(r, r.Path+"."+v.Name, v.Global)
		}
	}
	renamed := map[GlobalID]GlobalID{}
	for _, r := range u.Records {
		for _, l := range r.Links {
			switch {
			case l.Given:
			case l.Fn != 0:
				to := funcs.find(r, l.Symbol)
				if to == 0 {
					to = given.find(r, l.Symbol)
				}
				if to != 0 {
					u.forward(u.Funcs[l.Fn], u.Funcs[to])
				}
			default:
				to := vars.find(r, l.Symbol)
				if to != 0 && to != l.Global && u.Globals[to].Type == u.Globals[l.Global].Type {
					renamed[l.Global] = to
				}
			}
		}
	}
	if len(renamed) == 0 {
		return
	}
	for _, f := range u.Funcs {
		if f == nil {
			continue
		}
		for i := range f.Globals {
			if to, ok := renamed[f.Globals[i].Global]; ok {
				f.Globals[i].Global = to
			}
		}
	}
}

// symbols are the things that have a symbol, by its name and the variant of
// their package: several if a test binary compiles that anew.
type symbols[T comparable] map[[2]string]T

func (r *Record) variant() string { return strings.TrimPrefix(r.PkgID, r.Path) }

func (s symbols[T]) add(r *Record, name string, x T) {
	s[[2]string{name, r.variant()}] = x
	var none T
	if k := [2]string{name, "any"}; s[k] == none {
		s[k] = x
	}
}

// find returns what a package of r's variant means by a symbol, or the zero T.
func (s symbols[T]) find(r *Record, name string) (x T) {
	for _, v := range [...]string{r.variant(), "", "any"} {
		if y := s[[2]string{name, v}]; y != x {
			return y
		}
	}
	return x
}

// forward gives f, which has no body, that of a call of to with its own parameters,
// if to has as many parameters and results.
func (u *Universe) forward(f, to *Func) {
	results := u.results(to)
	if len(f.Params) != len(to.Params) || len(results) != len(u.results(f)) {
		return
	}
	n := 1 + len(f.Params)
	if f.Ret != NoReg {
		n++
	}
	g := &Func{
		ID: f.ID, Name: f.Name, Pkg: f.Pkg, PkgID: f.PkgID, Pos: f.Pos, Flags: f.Flags &^ (FnUnknown | FnInert),
		Parent: f.Parent, Recv: f.Recv, Params: f.Params, Ret: f.Ret, Regs: f.Regs[:n:n], Lins: make([]Lin, 1),
	}
	for i := range g.Regs {
		g.Regs[i].Def = 0
		g.NumNode += u.leaves(g.Regs[i].Type)
	}
	row := Call{Static: to.ID, Args: f.Params, Pos: f.Pos}
	if len(results) > 0 {
		t := u.Funcs[to.ID].Regs[to.Ret].Type
		if len(results) == 1 {
			t = results[0]
		}
		row.Dst = Reg(n)
		g.Regs = append(g.Regs, RegInfo{Type: t, Node: g.NumNode})
		g.NumNode += u.leaves(t)
		if k := min(u.leaves(t), u.leaves(f.Regs[f.Ret].Type)); k > 0 {
			g.Copies = []Copy{{Dst: f.Ret, Src: row.Dst, N: uint16(k), Index: -1}}
		}
	}
	g.Calls = []Call{row}
	g.Points = []Point{{Op: OpCall, Flags: MayPanic, Pos: f.Pos}}
	if len(g.Copies) > 0 {
		g.Points = append(g.Points, Point{Op: OpCopy, Pos: f.Pos})
	}
	g.Blocks = []Block{{End: uint32(len(g.Points)), Return: true, Panic: -1}}
	g.setDefs()
	*f = *g
}

// results returns the types of f's results.
func (u *Universe) results(f *Func) (ts []TypeID) {
	if f.Ret != NoReg {
		for _, x := range u.Types[f.Regs[f.Ret].Type].Fields {
			ts = append(ts, x.Type)
		}
	}
	return ts
}

// leaves returns the number of pointer-like cells of type t.
func (u *Universe) leaves(t TypeID) uint32 {
	if t == 0 {
		return 0
	}
	return uint32(len(u.Layout(t).Ptrs))
}
