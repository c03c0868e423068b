package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

// A modelled package is what its model files say.
type modelled struct {
	path  string
	inert string   // reason; "" when functions without stand-in are analysed
	funcs []string // "F", "T.M"; sorted
}

// models is the subcommand of that name.
func (c *command) models(patterns []string) error {
	all, err := readModels()
	if err != nil {
		return err
	}
	if len(patterns) == 0 {
		c.printModels(all, func(string) bool { return true })
		return nil
	}
	s := &session{c: c, mem: c.memory(), bar: newBar(c.stderr, false, false), out: export.NewText(c.stdout, export.TextOptions{})}
	c.k, c.hk, c.ctx = 1, -1, "insens"
	var cancel func()
	s.ctx, cancel = c.budget()
	defer cancel()
	res, err := s.load(patterns)
	var a analysis
	if err == nil && len(res.Programs) == 0 {
		err = errors.New("the packages hold neither func main nor tests (see what is modelled at all: bfverify models)")
	}
	if err == nil {
		err = s.step(building, func(context.Context) (err error) {
			a, err = engine.extract(res)
			return err
		})
		if err != nil && !abandoned(err) {
			err = ours(building, err)
		}
	}
	s.bar.clear()
	if err != nil {
		s.failed(strings.Join(patterns, " "), err)
		c.status = s.status
		return nil
	}
	used := map[string]bool{}
	for _, p := range res.Programs {
		for _, q := range p.Packages() {
			used[strings.TrimPrefix(q.PkgPath, "vendor/")] = true
		}
	}
	c.printModels(all, func(path string) bool { return used[path] })
	c.printUnknown(a.Universe(), res.Programs)
	return nil
}

// printModels lists the models of the packages that keep keeps.
func (c *command) printModels(all []modelled, keep func(path string) bool) {
	fmt.Fprintln(c.stdout, "Modelled: these functions are analysed from a model, not from their source.")
	n := 0
	for _, m := range all {
		if keep(m.path) && len(m.funcs) > 0 {
			n += len(m.funcs)
			fmt.Fprintf(c.stdout, "%s: %s\n", m.path, strings.Join(m.funcs, " "))
		}
	}
	fmt.Fprintf(c.stdout, "%d functions\n\nInert: functions of these packages that are not modelled do nothing with what they are handed.\n", n)
	for _, m := range all {
		if keep(m.path) && m.inert != "" {
			fmt.Fprintf(c.stdout, "%s: %s\n", m.path, m.inert)
		}
	}
}

// printUnknown lists the functions without body and model, and counts the rest.
func (c *command) printUnknown(u *facts.Universe, progs []*load.Program) {
	var unknown []string
	counts := map[string]int{}
	rel := relFile()
	for _, f := range u.Funcs {
		switch {
		case f == nil || f.Is(facts.FnWrapper):
		case f.Is(facts.FnUnknown):
			line := f.Name
			if f.Pos.Valid() && int(f.Pos.File) < len(u.Files) {
				line = fmt.Sprintf("%s:%d:%d: %s", rel(u.Files[f.Pos.File]), f.Pos.Line, f.Pos.Col, f.Name)
			}
			unknown = append(unknown, line)
		case f.Is(facts.FnModel):
			counts["modelled"]++
		case f.Is(facts.FnInert):
			counts["inert"]++
		default:
			counts["analysed"]++
		}
	}
	sort.Strings(unknown)
	fmt.Fprintf(c.stdout, "\nAssumed: these functions have neither a Go body nor a model. Where they are called, the worst is assumed.\n")
	for _, line := range unknown {
		fmt.Fprintln(c.stdout, line)
	}
	var names []string
	for _, p := range progs {
		names = append(names, p.String())
	}
	fmt.Fprintf(c.stdout, "%d functions\n\nIn the packages of %s: %d functions analysed from source, %d from models, %d inert, %d assumed\n",
		len(unknown), strings.Join(names, ", "), counts["analysed"], counts["modelled"], counts["inert"], len(unknown))
}

// readModels reads what the model files hold, sorted by import path.
func readModels() ([]modelled, error) {
	byPath := map[string]*modelled{}
	var paths []string
	for _, file := range models.Files() {
		f, err := parser.ParseFile(token.NewFileSet(), file.Path+"/"+file.Name, file.Source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		m := byPath[file.Path]
		if m == nil {
			m = &modelled{path: file.Path}
			byPath[file.Path] = m
			paths = append(paths, file.Path)
		}
		for _, g := range f.Comments {
			for _, line := range g.List {
				if reason, ok := strings.CutPrefix(line.Text, "//bf:default inert "); ok && g.End() < f.Package {
					m.inert = reason
				}
			}
		}
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				if name, ok := strings.CutPrefix(fd.Name.Name, load.ModelPrefix); ok {
					m.funcs = append(m.funcs, receiver(fd)+name)
				}
			}
		}
	}
	sort.Strings(paths)
	var all []modelled
	for _, path := range paths {
		m := byPath[path]
		sort.Strings(m.funcs)
		all = append(all, *m)
	}
	return all, nil
}

// receiver returns "T." for a method of T or *T, and "" for a function.
func receiver(fd *ast.FuncDecl) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return ""
	}
	for t := fd.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}
