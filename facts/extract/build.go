package extract

import (
	"fmt"
	"go/types"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

// Universe builds SSA for all packages of res and extracts their facts.
func Universe(res *load.Result) (*facts.Universe, error) { return UniverseWith(res, nil) }

// UniverseWith is Universe for clients that want to know the SSA form: lowered is
// Config.Lowered.
func UniverseWith(res *load.Result, lowered func(*ssa.Function, *facts.Func, map[ssa.Value]facts.Reg)) (u *facts.Universe, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("building SSA: %v\n%s", p, debug.Stack())
		}
	}()
	prog, _ := ssautil.AllPackages(res.Packages, ssa.InstantiateGenerics)
	prog.Build()
	var pkgs []Package
	seen := map[string]bool{}
	for _, p := range res.Programs {
		for _, q := range p.Packages() {
			if seen[q.ID] {
				continue
			}
			seen[q.ID] = true
			pkgs = append(pkgs, Package{ID: q.ID, Path: q.PkgPath, SSA: prog.Package(q.Types), Types: q.Types, Links: linknames(q.Syntax)})
		}
	}
	sizes := types.SizesFor("gc", res.Build.GOARCH)
	recs, err := Records(prog, pkgs, Config{Fset: res.Fset, Sizes: sizes, Models: newDirectives(res.Models), Lowered: lowered})
	if err != nil {
		return nil, err
	}
	u = facts.NewUniverse()
	for _, r := range recs {
		if err := u.Add(r); err != nil {
			return nil, err
		}
	}
	u.ResolveLinks()
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

// directives are what the models of a load say of themselves above their package
// clause.
type directives struct {
	inert map[string]*load.Model
	files map[string]*load.Model
}

func newDirectives(list []*load.Model) *directives {
	d := &directives{inert: map[string]*load.Model{}, files: map[string]*load.Model{}}
	for _, m := range list {
		d.files[m.At] = m
		if m.Inert != "" && (d.inert[m.Path] == nil || m.User()) {
			d.inert[m.Path] = m
		}
	}
	return d
}

func (d *directives) File(name string) *load.Model { return d.files[name] }

func (d *directives) Inert(path string) *load.Model {
	return d.inert[strings.TrimPrefix(path, "vendor/")]
}
