package extract

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
)

// linknames returns the linkname directives of a package's files: the symbol
// that each gives to a function or variable, by its local name.
func linknames(files []*ast.File) map[string]string {
	links := map[string]string{}
	for _, f := range files {
		for _, g := range f.Comments {
			for _, c := range g.List {
				if w := strings.Fields(c.Text); len(w) == 3 && w[0] == "//go:linkname" {
					links[w[1]] = w[2]
				}
			}
		}
	}
	return links
}

// link finds the bodies that linkname directives give to functions without one.
//
// (L1) pulled: //go:linkname f q.g beside f without body makes f the function g
// of package q. (L2) pushed: //go:linkname g p.f beside g with a body makes g
// the function f of package p, which has none there. In both cases f becomes a
// call of g. What inert packages have is left to their models.
//
// (L3) A variable that such a directive names after one of the same type is that
// variable.
func (x *extractor) link(pkgs []Package) {
	x.links, x.linkedVars = map[*ssa.Function]*ssa.Function{}, map[*ssa.Global]*ssa.Global{}
	funcs, vars := symbols[*ssa.Function]{}, symbols[*ssa.Global]{}
	pushed := symbols[*ssa.Function]{}
	for _, p := range pkgs {
		if p.SSA == nil {
			continue
		}
		inert := x.cfg.Models != nil && x.cfg.Models.Inert(p.Path) != nil
		for name, m := range p.SSA.Members {
			switch m := m.(type) {
			case *ssa.Global:
				vars.add(p, p.Path+"."+name, m)
			case *ssa.Function:
				if m.Blocks == nil || m.TypeParams().Len() > 0 || inert {
					continue
				}
				funcs.add(p, p.Path+"."+name, m)
				if s := p.Links[name]; s != "" {
					pushed.add(p, s, m)
				}
			}
		}
	}
	for _, p := range pkgs {
		if p.SSA == nil {
			continue
		}
		for name, m := range p.SSA.Members {
			s, directed := p.Links[name]
			switch m := m.(type) {
			case *ssa.Global:
				if to := vars.find(p, s); directed && to != nil && to != m && types.Identical(m.Type(), to.Type()) {
					x.linkedVars[m] = to
				}
			case *ssa.Function:
				if !directed {
					s = p.Path + "." + name
				}
				to := funcs.find(p, s)
				if to == nil {
					to = pushed.find(p, s)
				}
				if m.Blocks == nil && to != nil && len(to.Params) == m.Signature.Params().Len() && to.Signature.Results().Len() == m.Signature.Results().Len() {
					x.links[m] = to
				}
			}
		}
	}
}

// symbols are the things that have a symbol, by its name and the variant of
// their package: several if a test binary compiles that anew.
type symbols[T any] map[[2]string]*T

func variantOf(p Package) string { return strings.TrimPrefix(p.ID, p.Path) }

func (s symbols[T]) add(p Package, name string, x T) {
	s[[2]string{name, variantOf(p)}] = &x
	if k := [2]string{name, "any"}; s[k] == nil {
		s[k] = &x
	}
}

// find returns what a package of p's variant means by a symbol, or the zero T.
func (s symbols[T]) find(p Package, name string) (x T) {
	for _, v := range [...]string{variantOf(p), "", "any"} {
		if y := s[[2]string{name, v}]; y != nil {
			return *y
		}
	}
	return x
}

// forward gives a function the body of a call of to with its own parameters.
func (l *lowering) forward(to *ssa.Function) {
	l.block()
	l.at = l.f.Pos
	row := facts.Call{Static: l.builder.fn(to), Args: l.f.Params, Pos: l.at}
	if res := to.Signature.Results(); res.Len() == 1 {
		row.Dst = l.newReg(nil, res.At(0).Type())
	} else if res.Len() > 1 {
		row.Dst = l.newReg(nil, res)
	}
	l.f.Calls = append(l.f.Calls, row)
	l.point(facts.OpCall, len(l.f.Calls)-1, facts.MayPanic)
	if n := min(l.leaves(to.Signature.Results()), l.leaves(l.fn.Signature.Results())); n > 0 {
		l.copyLeaves(l.f.Ret, 0, row.Dst, 0, n, -1, false)
	}
	l.f.Blocks[l.cur].Return = true
}
