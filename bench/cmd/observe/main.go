// Command observe runs the tests of real modules with instrumented code and
// checks that every points-to fact, dynamic type and call that was seen is in
// the result of package pta.
//
//	go run ./bench/cmd/observe [flags] [module@version package...] [-- test flags]
//	go run ./bench/cmd/observe [flags] directory [package...] [-- arguments]
//
// Without a module it takes those of the table below. In a directory main
// programs are run too; modules that it needs are to be in its folder vendor. It prints a line for each
// test binary and policy, then what was missed, and exits with 1 if anything
// was: each miss is a flow that pta, or a model, loses.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/internal/observe"
	"github.com/bfverify/bfverify/pta"
)

// A subject is a module and those of its packages whose tests run.
type subject struct {
	module   string
	packages []string
	args     []string // of the test binary
}

// subjects are the modules whose tests run by default.
var subjects = []subject{
	{"go.etcd.io/bbolt@v1.5.0", []string{".", "./internal/freelist", "./internal/common"}, []string{"-test.short"}},
	{"github.com/tsenart/vegeta/v12@v12.13.0", []string{"./..."}, nil},
}

func main() {
	policies := flag.String("policies", "insens:0,hybrid:1", "policies and depths of pta to check, by comma")
	work := flag.String("work", "", "folder to keep sources and logs in (default: a temporary one, removed)")
	verbose := flag.Bool("v", false, "list uses without register, packages left alone, and what the tests print")
	timeout := flag.Duration("timeout", 30*time.Minute, "limit for one module")
	flag.Parse()
	args, testArgs := flag.Args(), []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		args, testArgs = args[:i], args[i+1:]
	}
	list := subjects
	if len(args) > 0 {
		list = []subject{{args[0], args[1:], testArgs}}
		if len(args) == 1 {
			list[0].packages = []string{"./..."}
		}
	}
	missed := false
	for _, s := range list {
		ctx, cancel := context.WithTimeout(context.Background(), *timeout)
		m, err := run(ctx, s, strings.Split(*policies, ","), *work, *verbose)
		cancel()
		if err != nil {
			fmt.Fprintln(os.Stderr, "observe:", err)
			os.Exit(2)
		}
		missed = missed || m
	}
	if missed {
		os.Exit(1)
	}
}

// run observes one module and reports whether anything was missed.
func run(ctx context.Context, s subject, policies []string, work string, verbose bool) (missed bool, err error) {
	if work == "" {
		if work, err = os.MkdirTemp("", "observe"); err != nil {
			return false, err
		}
		defer os.RemoveAll(work)
	}
	work, err = filepath.EvalSymlinks(work)
	if err != nil {
		return false, err
	}
	work, err = filepath.Abs(filepath.Join(work, strings.NewReplacer("/", "_", "@", "_").Replace(s.module)))
	if err != nil {
		return false, err
	}
	src, gen := filepath.Join(work, "src"), filepath.Join(work, "gen")
	if err := os.MkdirAll(gen, 0o777); err != nil {
		return false, err
	}
	fetched := strings.Contains(s.module, "@")
	if !fetched {
		if src, err = filepath.Abs(s.module); err != nil {
			return false, err
		}
	} else if _, err := os.Stat(src); err != nil {
		if err := observe.Fetch(ctx, s.module, src); err != nil {
			return false, err
		}
	}
	o, err := observe.Open(ctx, src, gen, s.packages)
	if err != nil {
		return false, err
	}
	fmt.Printf("%s: %d packages instrumented, %d left; %d uses, %d sites, %d functions\n", s.module,
		len(o.Packages), len(o.Plan.Left), len(o.Plan.Uses)-1, len(o.Plan.Sites)-1, len(o.Plan.Funcs)-1)
	if verbose {
		for _, l := range o.Plan.Left {
			fmt.Println("\tleft:", l)
		}
	}
	for _, p := range o.Programs {
		if p.Kind != load.Test && fetched {
			continue
		}
		m, err := program(ctx, o, p, s.args, policies, verbose)
		if err != nil {
			return false, err
		}
		missed = missed || m
	}
	return missed, nil
}

// program observes one test binary.
func program(ctx context.Context, o *observe.Session, p *load.Program, args, policies []string, verbose bool) (missed bool, err error) {
	start := time.Now()
	var out bytes.Buffer
	rec, err := o.Run(ctx, p, &out, args...)
	if err != nil {
		return false, err
	}
	if verbose {
		os.Stdout.Write(out.Bytes())
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	fmt.Printf("%s: %d observations, %d unknown, %d calls of foreign functions; %d objects made, %d tracked; %d functions ran; %.1f s; %s\n", p,
		rec.Observations(), rec.Unknown, rec.Foreign, rec.Made, rec.Tracked, len(rec.Entered), time.Since(start).Seconds(), lines[len(lines)-1])
	fp, err := o.Link(p)
	if err != nil {
		return false, err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 1, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "\tpolicy\tfacts\tcalls\ttypes\tfunctions\tobservations\tno register\tno type\tmisses\tseconds")
	for _, name := range policies {
		pol, k, _ := strings.Cut(name, ":")
		depth, err := strconv.Atoi(k)
		if err != nil {
			return false, fmt.Errorf("a policy is NAME:K, not %q", name)
		}
		start := time.Now()
		r, err := pta.Analyze(ctx, fp, pta.Config{Policy: pta.Policy(pol), K: depth, HK: -1, Effort: pta.DefaultEffort})
		if err != nil {
			return false, err
		}
		rep := observe.Check(o.Plan, rec, r)
		fmt.Fprintf(w, "\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\n", name, rep.Facts, rep.Calls, rep.Dynamics, rep.Entered,
			rep.Compared, len(rep.Unplaced), rep.Unnamed, len(rep.Misses), time.Since(start).Seconds())
		for _, m := range rep.Misses {
			missed = true
			fmt.Fprintf(w, "\tmiss: %s\n", m)
		}
		if verbose {
			for _, m := range rep.Unplaced {
				fmt.Fprintf(w, "\tno register: %s\n", m)
			}
		}
	}
	return missed, nil
}
