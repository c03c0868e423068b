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

// links fills the record's Links, Vars and Inert; see facts.ResolveLinks.
func (b *builder) links() {
	p := b.pkg
	b.rec.Inert = b.cfg.Models != nil && b.cfg.Models.Inert(p.Path) != nil
	for _, name := range slices.Sorted(maps.Keys(p.SSA.Members)) {
		symbol := p.Links[name]
		switch m := p.SSA.Members[name].(type) {
		case *ssa.Global:
			id := b.global(m)
			b.rec.Vars = append(b.rec.Vars, facts.Var{Name: name, Global: id})
			if symbol != "" {
				b.rec.Links = append(b.rec.Links, facts.Linkname{Symbol: symbol, Global: id})
			}
		case *ssa.Function:
			switch {
			case m.TypeParams().Len() > 0 || b.rec.Inert:
			case m.Blocks != nil && symbol != "":
				b.rec.Links = append(b.rec.Links, facts.Linkname{Symbol: symbol, Fn: b.fn(m), Given: true})
			case m.Blocks == nil && symbol != "":
				b.rec.Links = append(b.rec.Links, facts.Linkname{Symbol: symbol, Fn: b.fn(m)})
			case m.Blocks == nil:
				b.rec.Links = append(b.rec.Links, facts.Linkname{Symbol: p.Path + "." + name, Fn: b.fn(m)})
			}
		}
	}
}
