package main

import (
	"context"
	"errors"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/export/guards"
	"github.com/bfverify/bfverify/export/proof"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages"
)

// This file is the one place where the command meets the analysis. Tests put a
// fake in place of engine; all else of the command is tested with it.

type (
	options   = stages.Options
	stageInfo = stages.StageInfo
)

// An analysis is extracted facts, ready to verify the programs that they were
// extracted from, one after the other.
type analysis interface {
	// Verify gives opt.Emit one result, or with opt.Entry one for every entry
	// that matches. An ABANDONED without a reason ran out of memory.
	Verify(ctx context.Context, p *load.Program, opt options) error
	// Draw draws a picture of p.
	Draw(ctx context.Context, p *load.Program, opt options, kind *stages.Drawing) (*graph.Graph, error)
	// Guards adds the accesses of p to a table, with the locks held there.
	Guards(ctx context.Context, p *load.Program, opt options, into *guards.Table) error
	// Prove is Verify, and then gives write the claims of a proof.
	Prove(ctx context.Context, p *load.Program, opt options, write func(*facts.Program, *check.Claims) error) error
	// Link returns the facts of p.
	Link(p *load.Program) (*facts.Program, error)
	// Universe returns the facts.
	Universe() *facts.Universe
}

// engine is what the command runs.
var engine = struct {
	list func(context.Context, load.Config) (*load.List, error)
	// extract is told what to do with facts that are worth being kept, or nil.
	extract  func(*load.Result, func(*load.Fresh, []byte)) (analysis, error)
	pipeline func() []stageInfo
}{
	list: load.NewList,
	extract: func(res *load.Result, keep func(*load.Fresh, []byte)) (analysis, error) {
		u, err := extract.UniverseKnown(res, keep)
		if err != nil {
			return nil, err
		}
		return universe{u}, nil
	},
	pipeline: stages.Stages,
}

// pipeline returns the stages in order.
func pipeline() []stageInfo { return engine.pipeline() }

// universe is the real analysis.
type universe struct{ u *facts.Universe }

func (a universe) Universe() *facts.Universe { return a.u }

func (a universe) Draw(ctx context.Context, p *load.Program, opt options, kind *stages.Drawing) (*graph.Graph, error) {
	fp, err := extract.Link(a.u, p)
	if err != nil {
		return nil, err
	}
	g, err := stages.Draw(ctx, fp, opt, kind)
	if errors.Is(err, pta.ErrBudget) {
		err = errMemory
	}
	return g, err
}

func (a universe) Guards(ctx context.Context, p *load.Program, opt options, into *guards.Table) error {
	fp, err := extract.Link(a.u, p)
	if err != nil {
		return err
	}
	err = stages.Guards(ctx, fp, opt, into)
	if errors.Is(err, pta.ErrBudget) {
		err = errMemory
	}
	return err
}
func (a universe) Link(p *load.Program) (*facts.Program, error) { return extract.Link(a.u, p) }

func (a universe) Verify(ctx context.Context, p *load.Program, opt options) error {
	fp, err := extract.Link(a.u, p)
	if err != nil {
		return err
	}
	_, err = stages.Verify(ctx, fp, own(opt))
	return err
}

func (a universe) Prove(ctx context.Context, p *load.Program, opt options, write func(*facts.Program, *check.Claims) error) error {
	fp, err := extract.Link(a.u, p)
	if err != nil {
		return err
	}
	claims, _, err := proof.Make(ctx, fp, own(opt))
	if err != nil || claims == nil || ctx.Err() != nil {
		return err
	}
	return write(fp, claims)
}

// own leaves it to the command to say what to try where memory runs out.
func own(opt options) options {
	emit := opt.Emit
	opt.Emit = func(r export.Result) {
		if r.Verdict == export.Abandoned && strings.HasPrefix(r.Reason, pta.ErrBudget.Error()) {
			r.Reason = "" // the command knows what to try next
		}
		emit(r)
	}
	return opt
}
