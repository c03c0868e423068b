package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/stages"
)

// graphHelp is the long help of the subcommand.
func graphHelp() string {
	var b strings.Builder
	b.WriteString(`graph draws one picture of each program among the packages, in Graphviz's
language DOT, or with -format as SVG or PNG, for which Graphviz's command dot
must be there. The KINDs are

`)
	for _, d := range stages.Drawings {
		fmt.Fprintf(&b, "  %-12s %s\n", d.Name, d.Doc)
	}
	b.WriteString(`
What packages outside -scope do is shown where those in it call them. A box with
two lines stands for goroutines of which many may run at a time.

  bfverify graph goroutines ./cmd/server | dot -Tsvg > goroutines.svg
  bfverify graph order -tests=false -format svg -o order.svg .

Exit status: 0 drawn, 2 usage or load error, 3 abandoned.`)
	return b.String()
}

// graphFlags are the flags of that subcommand.
type graphFlags struct {
	format, out string
	opt         graph.Options
}

func (g *graphFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&g.format, "format", "dot", "write the picture as `FORMAT`: dot, svg or png")
	fs.StringVar(&g.out, "o", "", "write to `FILE` instead of to standard output")
	fs.StringVar(&g.opt.Focus, "focus", "", "draw what is connected with the nodes that have `TEXT` in them")
	fs.Var(small{&g.opt.Depth, 0, 999}, "depth", "with -focus, go `N` edges far (default: 3)")
	fs.Var(small{&g.opt.Max, 0, 1 << 20}, "max", "draw `N` nodes at most, 0 for all (default 150)")
	g.opt.Max, g.opt.Depth = 150, 3
}

// graph is the subcommand of that name.
func (c *command) graph(args []string, gf *graphFlags) error {
	kind, err := drawingOf(args)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"dot", "svg", "png"}, gf.format) {
		return fmt.Errorf("-format=%s: it is one of dot, svg, png", gf.format)
	}
	if gf.format != "dot" {
		if _, err := exec.LookPath("dot"); err != nil {
			return fmt.Errorf("-format=%s needs Graphviz's command dot, which is not here (install Graphviz, or use -format dot)", gf.format)
		}
	}
	patterns := args[1:]
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	s := &session{c: c, start: time.Now(), mem: c.memory(), bar: newBar(c.stderr, false, false), out: export.Discard}
	var cancel func()
	s.ctx, cancel = c.budget()
	defer cancel()
	list := s.list(patterns)
	if list == nil {
		c.status = s.status
		return nil
	}
	res, a, err := s.prepare(list, patterns, nil)
	if res == nil && err == nil {
		return fmt.Errorf("%s: nothing to draw: no program there, as the packages have neither func main nor tests%s (draw a program that uses them)", strings.Join(patterns, " "), map[bool]string{false: ", or -tests=false leaves these out"}[c.tests])
	}
	if res == nil || err != nil {
		if s.status == exitProved {
			s.status = exitAbandoned
		}
		c.status = s.status
		return nil
	}
	if len(res.Programs) > 1 && gf.format != "dot" {
		return fmt.Errorf("-format=%s draws one program, and these are %d: %s, ... (name one package, with -tests=false for its main package alone)", gf.format, len(res.Programs), res.Programs[0])
	}
	var out bytes.Buffer
	for i, p := range res.Programs {
		dot, err := s.draw(a, p, kind, gf, fmt.Sprintf("[%d/%d] %s", i+1, len(res.Programs), p))
		if err != nil {
			return err
		}
		out.WriteString(dot)
	}
	s.bar.clear()
	c.status = s.status
	if out.Len() == 0 {
		return nil // said why
	}
	picture := out.Bytes()
	if gf.format != "dot" {
		if picture, err = render(s.ctx, gf.format, picture); err != nil {
			return err
		}
	}
	if gf.out != "" {
		return os.WriteFile(gf.out, picture, 0o644)
	}
	_, err = c.stdout.Write(picture)
	return err
}

// drawingOf returns the kind of picture that is asked for.
func drawingOf(args []string) (*stages.Drawing, error) {
	var names []string
	for _, d := range stages.Drawings {
		if len(args) > 0 && d.Name == args[0] {
			return d, nil
		}
		names = append(names, d.Name)
	}
	if len(args) == 0 {
		return nil, fmt.Errorf("say what to draw: bfverify graph %s [packages]", strings.Join(names, "|"))
	}
	return nil, fmt.Errorf("there is no graph %q; there are %s (as in: bfverify graph %s [packages])", args[0], strings.Join(names, ", "), names[0])
}

// draw returns the picture of one program, "" if that was abandoned or is a bug,
// both of which it reports.
func (s *session) draw(a analysis, p *load.Program, kind *stages.Drawing, gf *graphFlags, label string) (string, error) {
	live := true
	opt := options{
		Ctx: s.c.ctx, K: s.c.k, HK: s.c.hk, Packages: s.c.ctxFor, Scope: p.Has,
		MemLimit: s.mem, RelFile: relFile(), Progress: s.progress(label, p.Path, &live),
	}
	var g *graph.Graph
	s.at("")
	err := s.step("linking", func(ctx context.Context) (err error) {
		s.show(label)
		g, err = a.Draw(ctx, p, opt, kind)
		return err
	})
	s.mu.Lock()
	live = false
	s.mu.Unlock()
	if err != nil {
		if !abandoned(err) {
			err = ours(s.stageName(), err)
		}
		s.failed(p.String(), err)
		return "", nil
	}
	if g, err = g.Select(gf.opt); err != nil {
		return "", err
	}
	return g.DOT()
}

// render has Graphviz turn DOT into another format.
func render(ctx context.Context, format string, dot []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "dot", "-T"+format)
	cmd.Stdin = bytes.NewReader(dot)
	var msgs bytes.Buffer
	cmd.Stderr = &msgs
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New("dot: " + strings.TrimSpace(oneLine(msgs.String()+" ")+" "+err.Error()) + " (see the picture's source with -format dot)")
	}
	return out, nil
}
