package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/stages"
)

func main() {
	js := flag.Bool("json", false, "")
	tags := flag.String("tags", "", "")
	entry := flag.String("entry", "", "")
	cx := flag.String("ctx", "hybrid", "")
	tests := flag.Bool("tests", true, "")
	prof := flag.String("prof", "", "")
	flag.Parse()
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	ov, err := models.Overlay(runtime.GOROOT())
	check(err)
	res, err := load.Load(context.Background(), load.Config{Dir: ".", Patterns: flag.Args(), Overlay: ov, Tags: *tags, Tests: *tests})
	check(err)
	u, err := extract.Universe(res)
	check(err)
	wd, _ := os.Getwd()
	opt := stages.Options{Ctx: *cx, K: 1, HK: -1, RelFile: func(s string) string {
		if r, err := filepath.Rel(wd, s); err == nil && !strings.HasPrefix(r, "..") {
			return r
		}
		return s
	}}
	if *entry != "" {
		opt.Entry = regexp.MustCompile(*entry)
	}
	enc := json.NewEncoder(os.Stdout)
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		check(err)
		opt.Scope = func(path string) bool { return p.Scope[path] }
		rs, err := stages.Verify(context.Background(), fp, opt)
		check(err)
		for _, r := range rs {
			if *js {
				for _, pr := range r.Pairs {
					enc.Encode(map[string]any{"type": "pair", "program": r.Program, "entry": r.Entry, "a": pr.A, "b": pr.B})
				}
				enc.Encode(map[string]any{"type": "verdict", "program": r.Program, "entry": r.Entry, "verdict": r.Verdict})
				continue
			}
			fmt.Println(r.Program, r.Entry, r.Verdict, r.Open, r.OutOfScope, r.Reason)
			for _, f := range r.Funnel {
				fmt.Printf("   %-12s %10d %10d %.2f\n", f.Stage, f.Tuples, f.Pairs, f.Seconds)
			}
			for _, a := range r.Assumptions {
				fmt.Println("  ", a)
			}
			for _, pr := range r.Pairs {
				fmt.Printf("  %s: %s\n", pr.Location, pr.Missing)
				for _, s := range []export.Side{pr.A, pr.B} {
					fmt.Printf("     %s:%d:%d %s in %s locks %v\n", s.Pos.File, s.Pos.Line, s.Pos.Col, s.Op, s.Func, s.Locks)
					for _, fr := range s.Goroutine {
						fmt.Printf("         %s %s:%d\n", fr.Func, fr.Pos.File, fr.Pos.Line)
					}
				}
			}
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
