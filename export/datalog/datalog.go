// Package datalog writes a program's facts, and the rules of the points-to
// analysis without contexts (-ctx insens), in the dialect of Datalog that
// bddbddb introduced (Whaley, Avots, Carbin, Lam: Using Datalog with binary
// decision diagrams for program analysis, APLAS 2005) and that Z3 reads:
//
//	z3 fp.xform.inline_eager=false fp.xform.inline_linear=false program.datalog
//
// prints the relations pts(v, c), what variable or cell v may point to, and
// calls(s, f), which functions a call may run. Without the options (Options) it
// puts rules together that are apart on purpose, and takes a hundred times as long
// for the same answers. Outsiders can add rules and ask
// their own questions; tests compare the answers with those of package pta.
//
// # What may be believed
//
// The rules are those of package pta for the core of the language, without
// reflection, unsafe, and code that is not known. The answers hold if the relation
// outside, which is printed too, is empty: it has the functions with such rows
// that are reached. Without contexts, a method call whose receiver holds nothing
// is no special case. Functions that package pta copies for each call
// (facts.FnInline) are not copied here.
//
// # Domains
//
//	F  functions       facts.FuncID
//	N  nodes           variables, then cells; Program tells which is which
//	T  types           facts.TypeID
//	S  calls           in the order of functions and their rows
//	M  method keys     facts.MethodID
//	I  small numbers   offsets in cells, positions of arguments, leaves
package datalog

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Options are those that Z3 should be given.
var Options = []string{"fp.xform.inline_eager=false", "fp.xform.inline_linear=false"}

// Object is what a range of nodes stands for: the cells of what is allocated at
// a site, of a global, of a function as a value, or the cell that hangs on cell
// Of. Exactly one of Fn with Site, Global, Value and Of is set.
type Object struct {
	First, N uint32 // its nodes
	Type     facts.TypeID
	Fn       facts.FuncID // allocates it
	Site     facts.SiteID
	Global   facts.GlobalID
	Value    facts.FuncID
	Of       uint32
}

// Call is one element of domain S.
type Call struct {
	Fn  facts.FuncID
	Row uint32
}

// Program says what the numbers mean that Write gave to nodes and calls.
type Program struct {
	Objects []Object
	Calls   []Call
	Outside map[facts.FuncID]string // functions with a row that has no rule, and what it is
	Facts   int                     // how many there are

	u     *facts.Universe
	base  map[facts.FuncID]uint32 // by function: its first variable
	funcs []facts.FuncID
	nodes uint32
	sizes map[string]uint32
	index map[Object]int // by what is set, without nodes and type
	ghost facts.TypeID
	// offsets are those that facts mention.
	offsets map[uint32]bool
	out     *bufio.Writer
}

// Funcs returns the functions that may be reached, in the order of their ids.
func (p *Program) Funcs() []facts.FuncID { return p.funcs }

// Var returns the node of a leaf of a register, if its function may be reached
// and the register has that leaf.
func (p *Program) Var(f facts.FuncID, r facts.Reg, leaf uint32) uint32 {
	return p.base[f] + p.u.Funcs[f].Regs[r].Node + leaf
}

// Write writes prog with the rules. Cost: linear in the functions that may be
// reached, and in the pairs of their interfaces and other types.
func Write(w io.Writer, prog *facts.Program) (*Program, error) {
	p := &Program{
		u: prog.Universe, base: map[facts.FuncID]uint32{}, nodes: 1, index: map[Object]int{}, offsets: map[uint32]bool{}, Outside: map[facts.FuncID]string{},
		sizes: map[string]uint32{"F": uint32(len(prog.Funcs)), "T": uint32(len(prog.Types)), "M": uint32(len(prog.Methods))},
	}
	types := p.reachable(prog.Root)
	// The facts come first, since they say how large the domains are.
	var body text
	p.out = bufio.NewWriter(&body)
	p.fact("root", "F", prog.Root)
	for _, f := range p.funcs {
		p.function(p.u.Funcs[f])
	}
	for _, f := range p.funcs {
		if p.Outside[f] != "" {
			p.fact("unruly", "F", f)
			continue
		}
		p.rows(p.u.Funcs[f])
	}
	p.hidden()
	p.types(types)
	p.cells()
	p.out.Flush()
	p.sizes["N"] = p.nodes

	b := bufio.NewWriter(w)
	for _, d := range domains {
		fmt.Fprintf(b, "%s %d\n", d, p.sizes[d]+1)
	}
	fmt.Fprintf(b, "%s\n%s%s", relations, body, rules)
	return p, b.Flush()
}

type text []byte

func (t *text) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	return len(b), nil
}

// fact writes a fact; domains has a letter for each value.
func (p *Program) fact(relation, domains string, values ...any) {
	p.Facts++
	p.out.WriteString(relation)
	sep := byte('(')
	for i, v := range values {
		var n uint32
		switch v := v.(type) {
		case int:
			n = uint32(v)
		case uint32:
			n = v
		case facts.FuncID:
			n = uint32(v)
		case facts.TypeID:
			n = uint32(v)
		case facts.MethodID:
			n = uint32(v)
		default:
			panic(fmt.Sprintf("datalog: value of type %T", v))
		}
		d := domains[i : i+1]
		p.sizes[d] = max(p.sizes[d], n)
		p.out.WriteByte(sep)
		fmt.Fprint(p.out, n)
		sep = ','
	}
	p.out.WriteString(").\n")
}

// reachable finds the functions that may be reached, going by the functions that
// they mention and the methods of the types that they mention, and returns those
// types, sorted.
func (p *Program) reachable(root facts.FuncID) []facts.TypeID {
	seenF, seenT := map[facts.FuncID]bool{}, map[facts.TypeID]bool{}
	var todoF []facts.FuncID
	var todoT []facts.TypeID
	fn := func(f facts.FuncID) {
		if f != 0 && !seenF[f] {
			seenF[f] = true
			todoF = append(todoF, f)
		}
	}
	typ := func(t facts.TypeID) {
		if t != 0 && !seenT[t] {
			seenT[t] = true
			todoT = append(todoT, t)
		}
	}
	fn(root)
	for len(todoF)+len(todoT) > 0 {
		for len(todoT) > 0 {
			t := todoT[len(todoT)-1]
			todoT = todoT[:len(todoT)-1]
			for _, x := range p.u.PartTypes(t) {
				typ(x)
			}
			typ(p.u.Types[t].Obj)
			typ(p.pointerTo(t))
			for _, m := range p.u.Types[t].Methods {
				fn(m.Fn)
			}
		}
		if len(todoF) == 0 {
			break
		}
		id := todoF[len(todoF)-1]
		todoF = todoF[:len(todoF)-1]
		f := p.u.Funcs[id]
		if f == nil {
			continue
		}
		p.funcs = append(p.funcs, id)
		if what := outside(p.u, f); what != "" {
			p.Outside[id] = what
			continue
		}
		for _, r := range f.Regs {
			typ(r.Type)
		}
		for _, s := range f.Sites {
			typ(s.Type)
			fn(s.Fn)
		}
		for _, m := range f.Mems {
			typ(m.Type)
		}
		for _, a := range f.Asserts {
			typ(a.Type)
		}
		for _, c := range f.Calls {
			fn(c.Static)
		}
		for _, r := range f.FuncRef {
			fn(r.Fn)
		}
		for _, g := range f.Globals {
			typ(p.u.Globals[g.Global].Type)
		}
	}
	slices.Sort(p.funcs)
	types := make([]facts.TypeID, 0, len(seenT))
	for t := range seenT {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}

// outside names a row of f that the rules do not cover, or returns "".
func outside(u *facts.Universe, f *facts.Func) string {
	switch {
	case len(f.Deeps) > 0:
		return "an access to all that is reachable"
	case len(f.Reaches) > 0:
		return "a value made of what is reachable"
	case len(f.Anys) > 0:
		return "a call of functions found at run time"
	case len(f.News) > 0:
		return "an allocation of a type found at run time"
	}
	for _, c := range f.Copies {
		if c.N > 0 && c.Unsafe && !iterates(u, f, &c) {
			return "an unsafe conversion"
		}
	}
	return ""
}

// iterates reports whether a copy makes an iterator of a map.
func iterates(u *facts.Universe, f *facts.Func, c *facts.Copy) bool {
	return c.Unsafe && u.Types[f.Regs[c.Src].Type].Kind == facts.Map
}

// pointerTo returns the type *t, or 0 if the program does not have it.
func (p *Program) pointerTo(t facts.TypeID) facts.TypeID {
	return p.u.TypeByName("*" + p.u.Types[t].Name)
}

// element is what an array counts as.
func (p *Program) element(t facts.TypeID) facts.TypeID {
	for p.u.Types[t].Kind == facts.Array {
		t = p.u.Types[t].Elem
	}
	return t
}

// leaves returns the types of a register's leaves.
func (p *Program) leaves(f *facts.Func, r facts.Reg) []facts.TypeID {
	if r == facts.NoReg || f.Regs[r].Type == 0 {
		return nil
	}
	l := p.u.Layout(f.Regs[r].Type)
	ts := make([]facts.TypeID, len(l.Ptrs))
	for i, c := range l.Ptrs {
		ts[i] = l.Cells[c].Type
	}
	return ts
}
