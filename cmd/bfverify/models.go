package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

// A modelled package is what its model files say.
type modelled struct {
	path     string
	inert    string   // reason; "" when functions without stand-in are analysed
	funcs    []string // "F", "T.M"; sorted
	user     bool     // it is in the directory that -models names
	replaces []string // functions with a built-in model that this one replaces
}

// models is the subcommand of that name.
func (c *command) models(patterns []string) error {
	all, err := c.readModels()
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
	var res *load.Result
	var a analysis
	list, err := s.ask(patterns)
	if err == nil {
		res, err = s.load(list, load.Reuse{})
	}
	if err == nil && len(res.Programs) == 0 {
		err = errors.New("the packages hold neither func main nor tests (see what is modelled at all: bfverify models)")
	}
	if err == nil {
		err = s.step(building, func(context.Context) (err error) {
			a, err = engine.extract(res, nil)
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
	for _, l := range res.LeftOut {
		fmt.Fprintf(c.stdout, "\n%s\n", leftOut(l))
	}
	c.printUnknown(a.Universe(), res.Programs)
	return nil
}

// printModels lists the models of the packages that keep keeps.
func (c *command) printModels(all []modelled, keep func(path string) bool) {
	fmt.Fprintln(c.stdout, "Modelled: these functions are analysed from a model, not from their source.")
	n := 0
	var user []modelled
	for _, m := range all {
		if !keep(m.path) || len(m.funcs) == 0 {
			continue
		}
		if m.user {
			user = append(user, m)
			continue
		}
		n += len(m.funcs)
		fmt.Fprintf(c.stdout, "%s: %s\n", m.path, strings.Join(m.funcs, " "))
	}
	fmt.Fprintf(c.stdout, "%d functions\n\n", n)
	if c.modelDir != "" {
		n = 0
		fmt.Fprintf(c.stdout, "Yours: these functions are analysed from a model in %s, which a verdict trusts.\n", c.userDir())
		for _, m := range user {
			n += len(m.funcs)
			fmt.Fprintf(c.stdout, "%s: %s\n", m.path, strings.Join(m.funcs, " "))
			if len(m.replaces) > 0 {
				fmt.Fprintf(c.stdout, "%s: in place of a model that is built in: %s\n", m.path, strings.Join(m.replaces, " "))
			}
		}
		fmt.Fprintf(c.stdout, "%d functions\n\n", n)
	}
	fmt.Fprintln(c.stdout, "Inert: functions of these packages that are not modelled do nothing with what they are handed.")
	for _, m := range all {
		if keep(m.path) && m.inert != "" {
			mine := ""
			if m.user {
				mine = "your model says: "
			}
			fmt.Fprintf(c.stdout, "%s: %s%s\n", m.path, mine, m.inert)
		}
	}
}

// mentioned returns the functions that are called, taken as values or in a table
// of methods anywhere.
func mentioned(u *facts.Universe) map[facts.FuncID]bool {
	set := map[facts.FuncID]bool{}
	for _, f := range u.Funcs {
		if f == nil {
			continue
		}
		for _, c := range f.Calls {
			set[c.Static] = true
		}
		for _, r := range f.FuncRef {
			set[r.Fn] = true
		}
	}
	for _, t := range u.Types {
		for _, m := range t.Methods {
			set[m.Fn] = true
		}
	}
	return set
}

// printUnknown lists the functions without body and model that something refers
// to, and counts the rest.
func (c *command) printUnknown(u *facts.Universe, progs []*load.Program) {
	var unknown []string
	counts := map[string]int{}
	rel := relFile()
	used := mentioned(u)
	for _, f := range u.Funcs {
		switch {
		case f == nil || f.Is(facts.FnWrapper):
		case f.Is(facts.FnUnknown) && (f.Is(facts.FnModel) || !used[f.ID]):
			// a marker, or what nothing calls
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

// readModels reads what the model files hold, sorted by import path; the user's
// after those built in.
func (c *command) readModels() ([]modelled, error) {
	files, err := c.modelFiles()
	if err != nil {
		return nil, err
	}
	var all []modelled
	builtIn := map[string]bool{} // path and function
	for _, f := range files {
		m, err := load.ReadModel(f)
		if err != nil {
			return nil, err
		}
		n := len(all) - 1
		if n < 0 || all[n].path != f.Path || all[n].user != f.User() {
			all = append(all, modelled{path: f.Path, user: f.User()})
			n++
		}
		if m.Inert != "" {
			all[n].inert = m.Inert
		}
		all[n].funcs = append(all[n].funcs, m.StandIns...)
		for _, name := range m.StandIns {
			key := f.Path + " " + name
			if !f.User() {
				builtIn[key] = true
			} else if builtIn[key] {
				all[n].replaces = append(all[n].replaces, name)
			}
		}
	}
	for i := range all {
		sort.Strings(all[i].funcs)
		all[i].funcs = slices.Compact(all[i].funcs)
		sort.Strings(all[i].replaces)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].path < all[j].path })
	return all, nil
}
