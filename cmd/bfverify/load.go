package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

// list lists the patterns, and reports what goes wrong; it returns nil then.
func (s *session) list(patterns []string) *load.List {
	list, err := s.ask(patterns)
	if err != nil {
		s.out.Config(s.config(nil, patterns))
		s.failed(strings.Join(patterns, " "), err)
		return nil
	}
	return list
}

// ask asks the go command for the patterns.
func (s *session) ask(patterns []string) (list *load.List, err error) {
	if s.scope, err = load.ParseScope(s.c.scope, s.c.dir); err != nil {
		return nil, err
	}
	err = s.step(loading, func(ctx context.Context) (err error) {
		list, err = s.c.listProgram(ctx, patterns, func(msg string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.bar.show(msg, false)
		})
		return err
	})
	return list, err
}

// prepare loads what is listed and extracts its facts, and reports what goes
// wrong. Without a result there is nothing to go on with; with an error there
// are programs, but no facts. What w has of packages is used.
func (s *session) prepare(list *load.List, patterns []string, w *warm) (*load.Result, analysis, error) {
	for first := true; ; {
		res, err := s.load(list, w.reuse(list))
		if w.needs(err) {
			continue
		}
		if err == nil {
			err = s.choose(res)
		}
		if err != nil {
			s.out.Config(s.config(nil, patterns))
			s.failed(strings.Join(patterns, " "), err)
			return nil, nil, err
		}
		if first {
			s.build = list.Build.String()
			s.out.Config(s.config(list, patterns))
			first = false
		}
		if len(res.Programs) == 0 {
			s.status = exitError // nothing is proved
			s.close(res)
			return nil, nil, nil
		}
		var a analysis
		err = s.step(building, func(context.Context) (err error) {
			a, err = engine.extract(res, w.keeping(res))
			return err
		})
		if w.needs(err) {
			continue
		}
		if err == nil {
			w.keepNeeds()
		} else if !abandoned(err) {
			s.failed("", ours(building, err))
		}
		return res, a, err
	}
}

// load reads what is listed and sets the scope.
func (s *session) load(list *load.List, reuse load.Reuse) (res *load.Result, err error) {
	err = s.step(loading, func(ctx context.Context) (err error) {
		res, err = list.Check(ctx, reuse)
		return err
	})
	if err != nil {
		return nil, err
	}
	lines, verbose := s.c.modelWarnings(s.ctx, res)
	if t, ok := s.out.(*tape); ok {
		t.kept.Warnings, t.kept.LeftOut = lines, verbose
	}
	if !s.warned {
		s.warn(lines)
		if s.c.verbose {
			s.warn(verbose)
		}
	}
	s.warned = true
	return res, s.scope.Apply(res)
}

// listProgram lists patterns with the models that are built in and the user's.
func (c *command) listProgram(ctx context.Context, patterns []string, progress func(string)) (*load.List, error) {
	files, err := c.modelFiles()
	if err != nil {
		return nil, err
	}
	return engine.list(ctx, load.Config{
		Dir: c.dir, Patterns: patterns, Tags: c.tags, Tests: c.tests, Models: files, Progress: progress,
	})
}

// modelFiles returns the models: those built in, and the user's after them.
func (c *command) modelFiles() ([]models.File, error) {
	files := models.Files()
	if c.modelDir == "" {
		return files, nil
	}
	user, err := models.Read(c.userDir())
	if err != nil {
		return nil, fmt.Errorf("-models: %w", err)
	}
	return append(files, user...), nil
}

// userDir returns the directory of the user's models, read as the go command
// reads files with -C.
func (c *command) userDir() string {
	if filepath.IsAbs(c.modelDir) {
		return c.modelDir
	}
	return filepath.Join(c.dir, c.modelDir)
}

// modelWarnings says which models of the user stand for nothing because there is
// no such package, and for -v which built-in ones were left out. A package that
// the programs do not use is no reason to warn: a directory of models may serve
// several programs.
func (c *command) modelWarnings(ctx context.Context, res *load.Result) (lines, verbose []string) {
	if len(res.Unused) > 0 {
		args := append([]string{"list", "-e", "-find", "-f", "{{if .Error}}{{.ImportPath}}{{end}}", "--"}, res.Unused...)
		out, err := c.goOutput(ctx, args...)
		if err != nil {
			out = strings.Join(res.Unused, "\n")
		}
		for _, path := range strings.Fields(out) {
			lines = append(lines, fmt.Sprintf("%s: there is no package %s, so this model stands for nothing (see the import paths: go list -deps ./...)",
				filepath.Join(c.userDir(), filepath.FromSlash(path)), path))
		}
	}
	for _, l := range res.LeftOut {
		verbose = append(verbose, leftOut(l))
	}
	return lines, verbose
}

// leftOut says why the built-in models of a package are not used.
func leftOut(l load.LeftOut) string {
	return fmt.Sprintf("%s: a model that is built in does not fit the version in use and is left out: %s", l.Path, l.Why)
}

// goOutput returns what the go command prints in the directory to work in.
func (c *command) goOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = c.dir
	if c.dir != "" {
		if abs, err := filepath.Abs(c.dir); err == nil {
			cmd.Env = append(os.Environ(), "PWD="+abs)
		}
	}
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
