package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/guards"
	"github.com/bfverify/bfverify/facts/load"
)

const guardsHelp = `guards tells which locks guard which fields and package variables:

  m.counter.n is guarded by m.counter.mu at 14 of 15 shared accesses

Counted are places in the source, of all programs among the packages together. An
access is shared if something that conflicts with it may run beside it, but for
locks. What is guarded at most accesses but not at all comes first, with the others.

With -annotate it prints a patch that says what is guarded at all shared accesses
in the source, in the syntax of gVisor's checklocks:

  bfverify guards -annotate ./... | git apply

Exit status: 0 printed, 2 usage or load error, 3 abandoned.`

// guardsFlags are the flags of that subcommand.
type guardsFlags struct{ annotate bool }

func (g *guardsFlags) define(fs *pflag.FlagSet) {
	fs.BoolVar(&g.annotate, "annotate", false, "print a patch with annotations for checklocks")
}

// guards is the subcommand of that name.
func (c *command) guards(patterns []string, gf *guardsFlags) error {
	if gf.annotate && c.json {
		return errors.New("-annotate and -json contradict each other (leave one out)")
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	s := &session{c: c, start: time.Now(), mem: c.memory(), bar: newBar(c.stderr, false, false), out: export.Discard}
	if c.json {
		s.out = export.NewJSON(c.stdout)
	}
	var cancel func()
	s.ctx, cancel = c.budget()
	defer cancel()
	listed := s.list(patterns)
	if listed == nil {
		c.status = s.status
		return nil
	}
	res, a, err := s.prepare(listed, patterns, nil)
	if res == nil && err == nil {
		return fmt.Errorf("%s: no accesses to look at: no program there, as the packages have neither func main nor tests%s (name a program that uses them, with -scope for the packages to see)", strings.Join(patterns, " "), map[bool]string{false: ", or -tests=false leaves these out"}[c.tests])
	}
	if res == nil || err != nil {
		if s.status == exitProved {
			s.status = exitAbandoned
		}
		c.status = s.status
		return nil
	}
	table := guards.NewTable()
	for i, p := range res.Programs {
		s.guards(a, p, table, fmt.Sprintf("[%d/%d] %s", i+1, len(res.Programs), p))
	}
	s.bar.clear()
	if err := s.out.Flush(); err != nil {
		return err
	}
	c.status = s.status
	if s.status != exitProved {
		return nil // counts of some programs only say too much; the reason is told
	}
	list := table.Guarded()
	findDeclarations(res, list)
	switch {
	case c.json:
		return guards.JSON(c.stdout, list)
	case gf.annotate:
		return c.annotate(list)
	}
	return guards.Text(c.stdout, list)
}

// guards adds the accesses of one program; it reports what goes wrong.
func (s *session) guards(a analysis, p *load.Program, into *guards.Table, label string) {
	live := true
	opt := options{
		Ctx: s.c.ctx, K: s.c.k, HK: s.c.hk, Packages: s.c.ctxFor, Scope: p.Has,
		MemLimit: s.mem, RelFile: relFile(), Progress: s.progress(label, p.Path, &live),
	}
	s.at("")
	err := s.step("linking", func(ctx context.Context) error {
		s.show(label)
		return a.Guards(ctx, p, opt, into)
	})
	s.mu.Lock()
	live = false
	s.mu.Unlock()
	if err != nil {
		if !abandoned(err) {
			err = ours(s.stageName(), err)
		}
		s.failed(p.String(), err)
	}
}

// findDeclarations sets the positions of what is guarded, where types and variables
// of packages declare it.
func findDeclarations(res *load.Result, list []guards.Guarded) {
	byPath := map[string][]*packages.Package{}
	for _, p := range res.Programs {
		for _, q := range p.Packages() {
			if q.Types != nil && !slices.Contains(byPath[q.PkgPath], q) {
				byPath[q.PkgPath] = append(byPath[q.PkgPath], q)
			}
		}
	}
	rel := relFile()
	for i := range list {
		g := &list[i]
		names := strings.Split(g.Field, ".")
		if g.Type != "" {
			names = []string{g.Type, g.Field}
		}
		for _, q := range byPath[g.Pkg] {
			if o := declaration(q.Types.Scope(), names); o != nil {
				at := res.Fset.Position(o.Pos())
				g.Pos = export.Pos{File: rel(at.Filename), Line: at.Line, Col: at.Column}
				break
			}
		}
	}
}

// declaration finds a type or variable, and its field, in it a field and so on.
func declaration(scope *types.Scope, names []string) types.Object {
	o := scope.Lookup(names[0])
	for _, name := range names[1:] {
		if o == nil {
			return nil
		}
		s, ok := o.Type().Underlying().(*types.Struct)
		if !ok {
			return nil
		}
		o = nil
		for f := range s.Fields() {
			if f.Name() == name {
				o = f
			}
		}
	}
	return o
}

// annotate prints a patch, and on stderr what it leaves out.
func (c *command) annotate(list []guards.Guarded) error {
	byFile := map[string][]*guards.Guarded{}
	var left []guards.Unsaid
	for i := range list {
		g := &list[i]
		switch {
		case g.Held < g.Shared:
			left = append(left, guards.Unsaid{Guarded: g, Why: fmt.Sprintf("it is so at %d of %d shared accesses", g.Held, g.Shared)})
		case g.Expr == "":
			left = append(left, guards.Unsaid{Guarded: g, Why: "the lock has no name where it is declared"})
		case g.Pos.Line == 0:
			left = append(left, guards.Unsaid{Guarded: g, Why: "its declaration is not in a package's scope"})
		case !filepath.IsLocal(g.Pos.File):
			left = append(left, guards.Unsaid{Guarded: g, Why: "its file is not below the current directory"})
		default:
			byFile[g.Pos.File] = append(byFile[g.Pos.File], g)
		}
	}
	var files []string
	for f := range byFile {
		files = append(files, f)
	}
	slices.Sort(files)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		patch, more, err := guards.Patch(filepath.ToSlash(f), src, byFile[f])
		if err != nil {
			return fmt.Errorf("%s: %w (does the file change while it is looked at?)", f, err)
		}
		left = append(left, more...)
		if _, err := fmt.Fprint(c.stdout, patch); err != nil {
			return err
		}
	}
	slices.SortStableFunc(left, func(a, b guards.Unsaid) int {
		return cmp.Or(cmp.Compare(a.Guarded.Rank(), b.Guarded.Rank()), strings.Compare(a.Guarded.Location.String(), b.Guarded.Location.String()))
	})
	for _, u := range left {
		fmt.Fprintf(c.stderr, "not annotated: %s, guarded by %s: %s\n", u.Guarded.Location, u.Guarded.Name, u.Why)
	}
	return nil
}
