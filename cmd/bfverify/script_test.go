package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/export/guards"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/cache"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/stages"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bfverify": main,
		"bffake":   func() { useFake(); main() },
		"mktrace":  makeTrace,
	})
}

// TestScript runs the scripts of testdata/script. Commands: bfverify is the real
// one; bffake has an analysis that gives the results of fake.json.
func TestScript(t *testing.T) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(out))
	user := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"holds": holds, "release": release, "damage": damage},
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", dirs[0])
			env.Setenv("GOMODCACHE", dirs[1])
			env.Setenv("GOPATH", dirs[2])
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOTOOLCHAIN", "local")
			env.Setenv("GOFLAGS", "")
			env.Setenv("GOWORK", "")
			env.Setenv("CGO_ENABLED", "0")
			env.Setenv("XDG_CACHE_HOME", user) // one self-test for all scripts
			env.Setenv(cacheVar, "off")
			return nil
		},
	})
}

// holds keeps the cache in a folder open, up to release or the end of the script.
func holds(ts *testscript.TestScript, _ bool, args []string) {
	store, err := cache.Open(ts.MkAbs(args[0]), 0)
	ts.Check(err)
	held.Store(ts.Getenv("WORK"), store)
	ts.Defer(func() { release(ts, false, nil) })
}

func release(ts *testscript.TestScript, _ bool, _ []string) {
	if store, ok := held.LoadAndDelete(ts.Getenv("WORK")); ok {
		ts.Check(store.(*cache.Store).Close())
	}
}

// damage changes every fourth byte of the tables of the cache in a folder.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*", "*.[sv]*"))
	ts.Check(err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		ts.Check(err)
		for i := 0; i < len(b); i += 4 {
			b[i] ^= 0x55
		}
		ts.Check(os.WriteFile(name, b, 0o666))
	}
}

var held sync.Map // WORK of a script -> *cache.Store

// fake is an analysis that does what a table says, by the program's String.
type fake map[string]struct {
	Do      string // what to do first; see Verify
	Stages  []string
	Results []export.Result
}

// useFake puts the fake in place of the engine. Packages are really loaded, but
// the build configuration is always the same.
func useFake() {
	grace = 200 * time.Millisecond
	engine.list = func(ctx context.Context, cfg load.Config) (*load.List, error) {
		list, err := load.NewList(ctx, cfg)
		if err == nil {
			list.Build = load.Build{GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26.0", Lang: "go1.26", GOROOT: list.Build.GOROOT}
		}
		return list, err
	}
	engine.extract = func(*load.Result, func(*load.Fresh, []byte)) (analysis, error) {
		f := fake{}
		b, err := os.ReadFile("fake.json")
		if errors.Is(err, os.ErrNotExist) {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &f); err != nil {
			return nil, err
		}
		if f["extract"].Do == "panic" {
			panic("index out of range")
		}
		return f, nil
	}
	engine.pipeline = func() []stageInfo {
		return []stageInfo{
			{Name: "original", Doc: "one writes", Source: "POPL 2007, 3.1"},
			{Name: "aliasing", Doc: "the bases may be the same object", Source: "POPL 2007, 3.3"},
			{Name: "local-lock", Doc: "distinct locks, distinct objects", Source: "POPL 2007, 4"},
		}
	}
}

func (f fake) Draw(context.Context, *load.Program, options, *stages.Drawing) (*graph.Graph, error) {
	return nil, errors.New("the fake draws nothing")
}

func (f fake) Guards(context.Context, *load.Program, options, *guards.Table) error {
	return errors.New("the fake has no locks")
}

func (f fake) Link(*load.Program) (*facts.Program, error) {
	return nil, errors.New("the fake has no facts")
}

func (f fake) Prove(ctx context.Context, p *load.Program, opt options, _ func(*facts.Program, *check.Claims) error) error {
	return f.Verify(ctx, p, opt)
}

func (f fake) Universe() *facts.Universe { return facts.NewUniverse() }

func (f fake) Verify(ctx context.Context, p *load.Program, opt options) error {
	emit := func(r export.Result) {
		r.Program, r.Kind = p.Path, p.Kind.String()
		opt.Emit(r)
	}
	row, ok := f[p.String()]
	if !ok { // proved
		if opt.Entry == nil {
			emit(export.Result{Verdict: export.Proved})
			return nil
		}
		for _, e := range p.Tests {
			if opt.Entry.MatchString(e.Name) {
				emit(export.Result{Entry: e.Name, Verdict: export.Proved})
			}
		}
		return nil
	}
	for i, st := range row.Stages {
		opt.Progress(st, i+1, len(row.Stages))
	}
	for _, r := range row.Results {
		emit(r)
	}
	switch row.Do {
	case "":
	case "options":
		var off []string
		for _, st := range pipeline() {
			if opt.Off[st.Name] {
				off = append(off, st.Name)
			}
		}
		fmt.Fprintf(os.Stderr, "ctx=%s k=%d hk=%d entry=%v off=%v scope=%v why=%s mem=%d file=%s\n",
			opt.Ctx, opt.K, opt.HK, opt.Entry, off, p.ScopePaths(), opt.Why, opt.MemLimit, opt.RelFile(p.Root.Dir+"/main.go"))
		emit(export.Result{Verdict: export.Proved})
	case "panic":
		var m map[string]int
		m["x"] = 1
	case "error":
		return errors.New("main.go:3:1: instruction of an unknown kind")
	case "interrupt":
		syscall.Kill(os.Getpid(), syscall.SIGINT)
		<-ctx.Done()
		return ctx.Err()
	case "wait": // and give up as the engine does
		<-ctx.Done()
		emit(export.Result{Verdict: export.Abandoned, Reason: ctx.Err().Error()})
	case "budget":
		emit(export.Result{Verdict: export.Abandoned})
	case "stuck":
		select {}
	case "hog":
		var keep [][]byte
		for ctx.Err() == nil {
			keep = append(keep, make([]byte, 1<<22))
			time.Sleep(time.Millisecond / 4)
		}
		keep[0][0] = 1
		return ctx.Err()
	default:
		return errors.New("fake.json: nothing is known of " + row.Do)
	}
	return nil
}
