package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

// loadProgram loads patterns with the models that fit them.
//
// A model of a package outside std is written for some versions of it. Where
// one does not fit, those are left out: functions without Go body are then
// assumed to do the worst, which is sound.
func (c *command) loadProgram(ctx context.Context, patterns []string, progress func(string)) (*load.Result, error) {
	cfg := load.Config{Dir: c.dir, Patterns: patterns, Tags: c.tags, Tests: c.tests, Progress: progress}
	env, err := c.goOutput(ctx, "env", "GOROOT", "GOMODCACHE")
	goroot, modcache, _ := strings.Cut(env, "\n")
	if err != nil || goroot == "" {
		// Without models nothing can be verified; Load knows best what is wrong.
		if _, lerr := engine.load(ctx, cfg); lerr != nil {
			return nil, lerr
		}
		return nil, errors.Join(errors.New("the go command does not tell its GOROOT (see: go env GOROOT)"), err)
	}
	if cfg.Overlay, err = models.Overlay(goroot); err != nil {
		return nil, err
	}
	std := len(cfg.Overlay)
	c.otherModels(ctx, cfg.Overlay, goroot, modcache)
	res, err := engine.load(ctx, cfg)
	var misfit *load.ModelError
	if errors.As(err, &misfit) && len(cfg.Overlay) > std {
		if cfg.Overlay, err = models.Overlay(goroot); err != nil {
			return nil, err
		}
		res, err = engine.load(ctx, cfg)
	}
	return res, err
}

// otherModels adds the models of packages outside std to overlay, in the
// directories where the go command finds these packages for the main module.
// What it does not find, no program uses. The go command refuses an overlay in
// the module cache, so only packages that are vendored, replaced or part of the
// workspace are modelled.
func (c *command) otherModels(ctx context.Context, overlay map[string][]byte, goroot, modcache string) {
	byPath := map[string][]models.File{}
	args := []string{"list", "-e", "-find", "-f", "{{if .Dir}}{{if not .Error}}{{.ImportPath}}\t{{.Dir}}{{end}}{{end}}", "--"}
	for _, f := range models.Files() {
		if first, _, _ := strings.Cut(f.Path, "/"); !strings.Contains(first, ".") {
			continue // std
		}
		if byPath[f.Path] == nil {
			args = append(args, f.Path)
		}
		byPath[f.Path] = append(byPath[f.Path], f)
	}
	if len(byPath) == 0 {
		return
	}
	out, err := c.goOutput(ctx, args...)
	if err != nil {
		return
	}
	for line := range strings.Lines(out) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if within(dir, goroot) || modcache != "" && within(dir, modcache) {
			continue
		}
		for _, f := range byPath[path] {
			models.Join(overlay, f, dir)
		}
	}
}

// within reports whether path is below dir.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
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
