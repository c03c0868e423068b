package extract

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

// Universe builds SSA for all packages of res and extracts their facts.
func Universe(res *load.Result) (u *facts.Universe, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("building SSA: %v\n%s", p, debug.Stack())
		}
	}()
	prog, _ := ssautil.AllPackages(res.Packages, ssa.InstantiateGenerics)
	prog.Build()
	ds := &directives{inert: map[string]bool{}, files: map[string][]string{}}
	var pkgs []Package
	seen := map[string]bool{}
	for _, p := range res.Programs {
		for _, q := range p.Packages() {
			if seen[q.ID] {
				continue
			}
			seen[q.ID] = true
			ds.scan(q)
			pkgs = append(pkgs, Package{ID: q.ID, Path: q.PkgPath, SSA: prog.Package(q.Types), Types: q.Types, Links: linknames(q.Syntax)})
		}
	}
	sizes := types.SizesFor("gc", res.Build.GOARCH)
	recs, err := Records(prog, pkgs, Config{Fset: res.Fset, Sizes: sizes, Models: ds})
	if err != nil {
		return nil, err
	}
	u = facts.NewUniverse()
	for _, r := range recs {
		if err := u.Add(r); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// Link makes the facts.Program of a loaded program.
func Link(u *facts.Universe, p *load.Program) (*facts.Program, error) {
	var ids []string
	for _, q := range p.Packages() {
		ids = append(ids, q.ID)
	}
	var entries []facts.TestEntry
	for _, t := range p.Tests {
		k := facts.EntryTest
		switch t.Kind {
		case load.Benchmark:
			k = facts.EntryBenchmark
		case load.Fuzz:
			k = facts.EntryFuzz
		case load.Example:
			k = facts.EntryExample
		}
		entries = append(entries, facts.TestEntry{Name: t.Name, PkgID: t.Pkg.ID, Kind: k})
	}
	return facts.Link(u, p.Path, p.Root.ID, ids, p.Kind == load.Test, entries)
}

// directives reads what model files say of themselves above their package
// clause.
type directives struct {
	inert map[string]bool
	files map[string][]string
}

func (d *directives) scan(p *packages.Package) {
	if !models.Has(p.PkgPath) {
		return
	}
	for i, f := range p.Syntax {
		if i >= len(p.CompiledGoFiles) {
			break
		}
		name := p.CompiledGoFiles[i]
		if !strings.HasPrefix(filepath.Base(name), load.ModelPrefix) {
			continue
		}
		words := []string{}
		for _, c := range docLines(f) {
			if rest, ok := strings.CutPrefix(c, "//bf:"); ok {
				if strings.HasPrefix(rest, "default inert") {
					d.inert[p.PkgPath] = true
				} else {
					words = append(words, strings.Fields(rest)...)
				}
			}
		}
		d.files[name] = words
	}
}

func docLines(f *ast.File) []string {
	var lines []string
	for _, g := range f.Comments {
		if g.End() < f.Package {
			for _, c := range g.List {
				lines = append(lines, c.Text)
			}
		}
	}
	return lines
}

func (d *directives) Directives(file string) ([]string, bool) {
	w, ok := d.files[file]
	return w, ok
}

func (d *directives) Inert(path string) bool { return d.inert[path] }
