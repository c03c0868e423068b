package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
)

func main() {
	steps := 0
	if f, err := os.Create("/tmp/cpu.prof"); err == nil {
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
		time.AfterFunc(40*time.Second, func() { pprof.StopCPUProfile(); os.Exit(1) })
	}
	t0 := time.Now()
	lap := func(s string) { fmt.Printf("%6.2fs %s\n", time.Since(t0).Seconds(), s) }
	ov, err := models.Overlay(runtime.GOROOT())
	check(err)
	res, err := load.Load(context.Background(), load.Config{Dir: os.Args[1], Patterns: os.Args[3:], Overlay: ov})
	check(err)
	lap("loaded")
	u, err := extract.Universe(res)
	check(err)
	lap(fmt.Sprintf("extracted: %d funcs %d types", len(u.Funcs), len(u.Types)))
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		check(err)
		r, err := pta.Analyze(context.Background(), fp, pta.Config{Policy: pta.Policy(os.Args[2]), K: 1, HK: -1, Progress: func(n, i int, st pta.Stats) {
			if steps++; steps%100 == 0 {
				lap(fmt.Sprint("  nodes ", n, " insts ", i, " untyped ", st.Untyped, " coll ", st.Collapsed))
			}
		}})
		check(err)
		lap(fmt.Sprintf("%s: %+v", p, r.Stats))
	}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
