package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/file"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

const checkHelp = `check reads proofs that bfverify -proof DIR has written, finds the facts of their
programs again from source, and judges every claim. It runs no analysis. Of each
proof it says

  CHECKED    no pair in scope can race, under the assumptions of the facts
  UNCHECKED  all claims hold, and pairs are left whose evidence the checker does not
             judge, or that have none; or the program has what it does not judge
  REFUSED    a claim does not hold, or the proof is of something else

Run it where the module of the programs is, or with -C, with the tags and models
that the proofs were made with.

  bfverify -proof proofs ./...
  bfverify check proofs

Exit status: 0 all checked, 1 unchecked, 2 refused, or usage or load error,
3 abandoned.`

const (
	proofExt    = ".bfproof"
	manifestExt = ".json"
)

// proofName is the name of the proof of a program, without the ending.
func proofName(p *load.Program) string { return strings.ReplaceAll(p.String(), "/", "~") }

// writeProof writes the proof of a program and its manifest to the -proof directory.
func (c *command) writeProof(build string, p *load.Program, fp *facts.Program, claims *check.Claims) error {
	h := file.Header{Format: file.Format, Tool: toolVersion(), Build: build, Program: p.Path, Kind: p.Kind.String(), Packages: hashes(p)}
	scope := p.Has
	if len(p.Scope) < len(h.Packages) {
		h.Scope = slices.Sorted(maps.Keys(p.Scope))
	} else {
		scope = nil
	}
	rep := check.Check(fp, scope, claims)
	if rep.Failed != nil {
		return fmt.Errorf("the checker refuses the proof of %s: %s: %v", p, where(fp, rep.Failed.At), rep.Failed)
	}
	h.Proved, h.Closed, h.Open, h.NotChecked = rep.Proved(), rep.Closed, rep.Open, rep.NotChecked
	for _, x := range rep.Refused {
		h.Refused = append(h.Refused, x.Construct)
	}
	for _, x := range rep.Assumed {
		h.Assumed = append(h.Assumed, x.Kind+": "+x.Text)
	}
	manifest, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	var proof bytes.Buffer
	if err := file.New(h, fp, claims).Write(&proof); err != nil {
		return err
	}
	if err := os.MkdirAll(c.proofDir, 0o777); err != nil {
		return err
	}
	name := filepath.Join(c.proofDir, proofName(p))
	if err := os.WriteFile(name+proofExt, proof.Bytes(), 0o666); err != nil {
		return err
	}
	return os.WriteFile(name+manifestExt, append(manifest, '\n'), 0o666)
}

// hashes returns the packages of a program with hashes of their source. A file that is
// not there is a stand-in, which belongs to the tool.
func hashes(p *load.Program) (out []file.Package) {
	for _, q := range p.Packages() {
		sum := sha256.New()
		for _, name := range q.CompiledGoFiles {
			b, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			fmt.Fprintf(sum, "%s %d\n", filepath.Base(name), len(b))
			sum.Write(b)
		}
		out = append(out, file.Package{Path: q.ID, Hash: fmt.Sprintf("%x", sum.Sum(nil))})
	}
	return out
}

func where(fp *facts.Program, at facts.Pos) string {
	if int(at.File) >= len(fp.Files) || !at.Valid() {
		return "-"
	}
	return fmt.Sprintf("%s:%d:%d", fp.Files[at.File], at.Line, at.Col)
}

// check is the subcommand of that name.
func (c *command) check(args []string) error {
	names, err := proofFiles(args)
	if err != nil {
		return err
	}
	files := make([]*file.File, len(names))
	var patterns []string
	for i, name := range names {
		if files[i], err = readProof(name); err != nil {
			fmt.Fprintf(c.stdout, "REFUSED %s: %v\n", name, err)
			c.status = exitError
		} else if !slices.Contains(patterns, files[i].Program) {
			patterns = append(patterns, files[i].Program)
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	s := &session{c: c, start: time.Now(), mem: c.memory(), bar: newBar(c.stderr, false, false), out: export.Discard, status: c.status}
	var cancel func()
	s.ctx, cancel = c.budget()
	defer cancel()
	list := s.list(patterns)
	if list == nil {
		c.status = worse(exitAbandoned, s.status)
		return nil
	}
	res, a, err := s.prepare(list, patterns, nil)
	s.bar.clear()
	if res == nil || err != nil {
		c.status = worse(exitAbandoned, s.status)
		return nil
	}
	for i, f := range files {
		if f == nil {
			continue
		}
		status, text := exitError, "no such program is here (run it where its module is, or with -C)"
		for _, p := range res.Programs {
			if p.Path == f.Program && p.Kind.String() == f.Kind {
				status, text = c.checkOne(a, p, res.Build.String(), f)
			}
		}
		fmt.Fprintf(c.stdout, "%s %s: %s\n", [...]string{exitProved: "CHECKED", exitOpen: "UNCHECKED", exitError: "REFUSED"}[status], names[i], text)
		s.status = worse(s.status, status)
	}
	c.status = s.status
	return nil
}

// checkOne judges one proof.
func (c *command) checkOne(a analysis, p *load.Program, build string, f *file.File) (status int, text string) {
	if f.Build != build {
		return exitError, fmt.Sprintf("it is for %s, and this is %s", f.Build, build)
	}
	if changed := f.Changed(hashes(p)); len(changed) > 0 {
		more := ""
		if n := len(changed) - 1; n > 0 {
			more = fmt.Sprintf(" and of %d more", n)
		}
		return exitError, "the source of package " + changed[0] + more + " is not what it was made of (make it again)"
	}
	fp, err := a.Link(p)
	if err != nil {
		return exitError, err.Error()
	}
	claims, err := f.For(fp)
	if err != nil {
		return exitError, err.Error()
	}
	var scope func(string) bool
	about := "all packages"
	if f.Scope != nil {
		about = strings.Join(f.Scope, ", ")
		scope = func(pkg string) bool { return slices.Contains(f.Scope, pkg) }
	}
	rep := check.Check(fp, scope, claims)
	assumed := many(len(rep.Assumed), "assumption")
	switch {
	case rep.Failed != nil:
		return exitError, fmt.Sprintf("%s: %v", where(fp, rep.Failed.At), rep.Failed)
	case rep.Proved():
		return exitProved, fmt.Sprintf("no data race in %s; scope %s; %s", p, about, assumed)
	}
	var left []string
	for _, x := range rep.Refused {
		left = append(left, fmt.Sprintf("%s: %s is not judged (%s)", where(fp, x.At), x.Construct, many(x.Count, "time")))
	}
	for _, k := range slices.Sorted(maps.Keys(rep.NotChecked)) {
		left = append(left, many(rep.NotChecked[k], "pair")+" with evidence that is not judged, "+k)
	}
	if rep.Open > 0 {
		left = append(left, many(rep.Open, "pair")+" without evidence")
	}
	return exitOpen, fmt.Sprintf("%s; scope %s; %s", strings.Join(left, "; "), about, assumed)
}

// many is a number of things.
func many(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// proofFiles lists the proofs that arguments name, files or folders of them.
func proofFiles(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("%w (write proofs with bfverify -proof DIR)", err)
		}
		if !info.IsDir() {
			names = append(names, arg)
			continue
		}
		found, err := fs.Glob(os.DirFS(arg), "*"+proofExt)
		if err != nil || len(found) == 0 {
			return nil, errors.Join(err, fmt.Errorf("%s: there are no proofs (write them with bfverify -proof %s)", arg, arg))
		}
		for _, f := range found {
			names = append(names, filepath.Join(arg, f))
		}
	}
	return names, nil
}

func readProof(name string) (*file.File, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return file.Read(r)
}
