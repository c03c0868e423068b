package extract

import (
	"go/ast"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
)

// linknames returns the linkname directives of a package's files: the symbol
// that each gives to a function, by its local name.
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
func (x *extractor) link(pkgs []Package) {
	x.links = map[*ssa.Function]*ssa.Function{}
	symbols := map[string]*ssa.Function{}
	for _, p := range pkgs {
		if p.SSA == nil || x.cfg.Models != nil && x.cfg.Models.Inert(p.Path) {
			continue
		}
		for _, m := range p.SSA.Members {
			if f, ok := m.(*ssa.Function); ok && f.Blocks != nil && f.TypeParams().Len() == 0 {
				if s := p.Path + "." + f.Name(); symbols[s] == nil || p.ID == p.Path {
					symbols[s] = f
				}
			}
		}
	}
	for _, p := range pkgs { // after all: a push is the only body that its symbol has
		if p.SSA == nil || x.cfg.Models != nil && x.cfg.Models.Inert(p.Path) {
			continue
		}
		for _, local := range slices.Sorted(maps.Keys(p.Links)) {
			s := p.Links[local]
			if f := p.SSA.Func(local); f != nil && f.Blocks != nil && (symbols[s] == nil || p.ID == p.Path) {
				symbols[s] = f
			}
		}
	}
	for _, p := range pkgs {
		if p.SSA == nil {
			continue
		}
		for name, m := range p.SSA.Members {
			f, ok := m.(*ssa.Function)
			if !ok || f.Blocks != nil {
				continue
			}
			s, ok := p.Links[name]
			if !ok {
				s = p.Path + "." + name
			}
			if to := symbols[s]; to != nil && len(to.Params) == f.Signature.Params().Len() && to.Signature.Results().Len() == f.Signature.Results().Len() {
				x.links[f] = to
			}
		}
	}
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
