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
