package extract

import (
	"fmt"
	"go/types"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/image"
)

// Universe builds SSA for all packages of res and extracts their facts.
func Universe(res *load.Result) (*facts.Universe, error) { return UniverseWith(res, nil) }

// UniverseWith is Universe for clients that want to know the SSA form: lowered is
// Config.Lowered.
func UniverseWith(res *load.Result, lowered func(*ssa.Function, *facts.Func, map[ssa.Value]facts.Reg)) (*facts.Universe, error) {
	return universe(res, lowered, nil)
}

// UniverseKnown is Universe where res may have packages that are known: these are not
// extracted again. keep is told of each of res.Fresh that is part of a program what
// to keep as load.Known.Facts. Where there is an instance of a generic function that is
// known from export data alone the error is a *NeedSourceError.
func UniverseKnown(res *load.Result, keep func(f *load.Fresh, facts []byte)) (*facts.Universe, error) {
	return universe(res, nil, keep)
}

func universe(res *load.Result, lowered func(*ssa.Function, *facts.Func, map[ssa.Value]facts.Reg), keep func(*load.Fresh, []byte)) (u *facts.Universe, err error) {
	defer func() {
		if p := recover(); p != nil {
			u, err = nil, fmt.Errorf("building SSA: %v\n%s", p, debug.Stack())
		}
	}()
	prog := ssa.NewProgram(res.Fset, ssa.InstantiateGenerics)
	var pkgs []Package
	seen := map[string]bool{}
	for _, p := range res.Programs {
		for _, q := range p.Packages() {
			if seen[q.ID] {
				continue
			}
			seen[q.ID] = true
			x := Package{ID: q.ID, Path: q.PkgPath, Types: q.Types, Links: linknames(q.Syntax)}
			x.SSA = prog.CreatePackage(q.Types, q.Syntax, q.TypesInfo, true)
			if k := res.Known[q.ID]; k != nil {
				if x.known, err = newKnownFacts(k.Facts, q.TypesInfo != nil); err != nil {
					return nil, &NeedSourceError{[]string{q.ID}}
				}
			}
			pkgs = append(pkgs, x)
		}
	}
	prog.Build()
	sizes := types.SizesFor("gc", res.Build.GOARCH)
	kept, err := records(prog, pkgs, Config{Fset: res.Fset, Sizes: sizes, Models: newDirectives(res.Models), Lowered: lowered})
	if err != nil {
		return nil, err
	}
	if keep != nil {
		byID := map[string]*Facts{}
		for i, p := range pkgs {
			byID[p.ID] = kept[i]
		}
		for _, f := range res.Fresh {
			if k := byID[f.ID]; k != nil {
				keep(f, image.Encode(k))
			}
		}
	}
	u = facts.NewUniverse()
	for _, k := range kept {
		if err := u.Add(k.Record); err != nil {
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
