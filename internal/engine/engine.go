// Package engine runs the whole verifier: load, extract once, then link and
// verify program by program.
package engine

import (
	"context"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/stages"
)

// Config says what to load and how to verify. Load.Models is filled in here.
// Verify.Scope, if nil, is each program's own: the packages named.
type Config struct {
	Load   load.Config
	Verify stages.Options
}

// Run calls each with the results of every program, in the loader's order.
func Run(ctx context.Context, cfg Config, each func(p *load.Program, rs []export.Result) error) (*load.Result, error) {
	cfg.Load.Models = models.Files()
	res, err := load.Load(ctx, cfg.Load)
	if err != nil {
		return nil, err
	}
	u, err := extract.Universe(res)
	if err != nil {
		return res, err
	}
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			return res, err
		}
		opt := cfg.Verify
		if opt.Scope == nil {
			opt.Scope = func(path string) bool { return p.Scope[path] }
		}
		rs, err := stages.Verify(ctx, fp, opt)
		if err != nil {
			return res, err
		}
		if err := each(p, rs); err != nil {
			return res, err
		}
	}
	return res, nil
}
