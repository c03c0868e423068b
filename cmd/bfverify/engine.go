package main

import (
	"context"
	"regexp"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/stages"
)

// This file is the one place where the command meets the analysis. Tests put a
// fake in place of engine; all else of the command is tested with it.

// options are those of the analysis of one program.
type options struct {
	Ctx      string // policy: "insens", "obj", "hybrid"
	K, HK    int
	Entry    *regexp.Regexp            // nil: the whole test binary
	Off      map[string]bool           // switched off stages
	Scope    func(pkgPath string) bool // in scope
	Why      string                    // FILE:LINE
	MemLimit uint64
	RelFile  func(string) string // makes file names relative
	Progress func(stage string, done, of int)
	Emit     func(export.Result) // gets each result as it comes
}

// stageInfo is a row of the pipeline table.
type stageInfo struct{ Name, Doc, Source string }

// An analysis is extracted facts, ready to verify the programs that they were
// extracted from, one after the other.
type analysis interface {
	// Verify gives opt.Emit one result, or with opt.Entry one for every entry
	// that matches. An ABANDONED without a reason ran out of memory.
	Verify(ctx context.Context, p *load.Program, opt options) error
	// Universe returns the facts.
	Universe() *facts.Universe
}

// engine is what the command runs.
var engine = struct {
	load     func(context.Context, load.Config) (*load.Result, error)
	extract  func(*load.Result) (analysis, error)
	pipeline func() []stageInfo
}{
	load: load.Load,
	extract: func(res *load.Result) (analysis, error) {
		u, err := extract.Universe(res)
		if err != nil {
			return nil, err
		}
		return universe{u}, nil
	},
	pipeline: func() []stageInfo {
		var out []stageInfo
		for _, s := range stages.Stages() {
			out = append(out, stageInfo{s.Name, s.Doc, s.Source})
		}
		return out
	},
}

// pipeline returns the stages in order.
func pipeline() []stageInfo { return engine.pipeline() }

// universe is the real analysis.
type universe struct{ u *facts.Universe }

func (a universe) Universe() *facts.Universe { return a.u }

func (a universe) Verify(ctx context.Context, p *load.Program, opt options) error {
	fp, err := extract.Link(a.u, p)
	if err != nil {
		return err
	}
	return verifyFacts(ctx, fp, opt)
}

// verifyFacts hands the facts to package stages.
func verifyFacts(ctx context.Context, p *facts.Program, opt options) error {
	_, err := stages.Verify(ctx, p, stages.Options{
		Ctx: opt.Ctx, K: opt.K, HK: opt.HK, Entry: opt.Entry, Off: opt.Off, Scope: opt.Scope, Why: opt.Why,
		MemLimit: opt.MemLimit, RelFile: opt.RelFile, Progress: opt.Progress, Emit: opt.Emit,
	})
	return err
}
