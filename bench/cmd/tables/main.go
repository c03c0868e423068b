// Command tables prints the tables that compare bfverify with what there was
// before it, measured on this machine in this run.
//
//	go run ./bench/cmd/tables [-only TABLE,...] [-programs NAME,...] [-rounds N]
//
// Every figure comes from a process of its own, so that peak memory is that of
// one configuration; rounds are interleaved and medians are printed. A cell
// that did not finish says why. The programs are modules under bench/real,
// with their versions in go.mod and go.sum.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bfverify/bfverify/bench/popl07"
)

// A program is one program to measure.
type program struct{ name, dir, pattern string }

// programs are those of the design's table of cost, small to large.
var programs = []program{
	{"hello", "std", "bench/std/hello"},
	{"web", "std", "bench/std/web"},
	{"bbolt", "bbolt", "go.etcd.io/bbolt/cmd/bbolt"},
	{"vegeta", "vegeta", "github.com/tsenart/vegeta/v12"},
	{"nats-server", "nats-server", "github.com/nats-io/nats-server/v2"},
	{"caddy", "caddy", "github.com/caddyserver/caddy/v2/cmd/caddy"},
}

// settings are the command line.
type settings struct {
	root     string   // of the repository
	names    []string // of programs, as given; empty: all
	programs []program
	configs  []string // of table pta; empty: all
	rounds   int
	timeout  time.Duration
	memory   uint64 // bytes; for the analysis
}

// tables are what -only names.
var tables = []struct {
	name string
	run  func(*settings) error
}{
	{"pta", ptaTable},
	{"cache", cacheTable},
	{"popl07", popl07Table},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == childFlag {
		child(os.Args[2:])
		return
	}
	var s settings
	only := flag.String("only", "", "tables to print, by comma: pta, cache, popl07 (default all)")
	progs := flag.String("programs", "", "programs to measure, by comma (default all)")
	configs := flag.String("configs", "", "columns of table pta, by comma (default all)")
	flag.IntVar(&s.rounds, "rounds", 5, "measurements of each figure; the median is printed")
	flag.DurationVar(&s.timeout, "timeout", 15*time.Minute, "limit for one measurement")
	mem := flag.Uint64("mem", 12, "heap limit of one analysis, GiB")
	flag.Parse()
	s.memory = *mem << 30
	s.configs = fields(*configs)
	if err := s.find(fields(*progs)); err != nil {
		fail(err)
	}
	names := fields(*only)
	for _, t := range tables {
		if len(names) == 0 || slices.Contains(names, t.name) {
			names = slices.DeleteFunc(names, func(n string) bool { return n == t.name })
			if err := t.run(&s); err != nil {
				fail(err)
			}
		}
	}
	if len(names) > 0 {
		fail(fmt.Errorf("there is no table %q", names[0]))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "tables:", err)
	os.Exit(2)
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// find sets the repository's root and the programs to measure.
func (s *settings) find(names []string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/bfverify/bfverify").Output()
	if err != nil {
		return errors.New("run this in the repository: go run ./bench/cmd/tables")
	}
	s.root, s.names = strings.TrimSpace(string(out)), slices.Clone(names)
	for _, p := range programs {
		if len(names) == 0 || slices.Contains(names, p.name) {
			s.programs = append(s.programs, p)
			names = slices.DeleteFunc(names, func(n string) bool { return n == p.name })
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return slices.ContainsFunc(popl07.Programs, func(p popl07.Program) bool { return p.Name == n })
	})
	if len(names) > 0 {
		return fmt.Errorf("there is no program %q", names[0])
	}
	return nil
}

// childFlag is the first argument of a measuring process.
const childFlag = "-measure"

// A figure is what one measuring process says.
type figure struct {
	Seconds float64 // of the step that is measured
	Load    float64 // seconds of what comes before
	PeakMB  float64 // of the process
	Err     string  // why there are no numbers
	Values  map[string]float64
}

// measure runs one process for configuration config of p.
func (s *settings) measure(p program, config string) figure {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], childFlag, config, p.pattern, fmt.Sprint(s.memory))
	cmd.Dir = filepath.Join(s.root, "bench", "real", p.dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var f figure
	switch {
	case ctx.Err() != nil:
		f.Err = fmt.Sprintf("not done in %v", s.timeout)
	case err != nil:
		f.Err = lastLine(errs.String(), err)
	default:
		if err := json.Unmarshal(out.Bytes(), &f); err != nil {
			f.Err = err.Error()
		}
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.PeakMB = float64(u.Maxrss) / 1024
	}
	return f
}

func lastLine(text string, err error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if l := lines[len(lines)-1]; l != "" {
		return l
	}
	return err.Error()
}

// median returns the figure with the median time; one that failed if any did.
func median(fs []figure) figure {
	for _, f := range fs {
		if f.Err != "" {
			return f
		}
	}
	pick := func(get func(figure) float64) float64 {
		var xs []float64
		for _, f := range fs {
			xs = append(xs, get(f))
		}
		slices.Sort(xs)
		return xs[len(xs)/2]
	}
	m := fs[0]
	m.Seconds = pick(func(f figure) float64 { return f.Seconds })
	m.Load = pick(func(f figure) float64 { return f.Load })
	m.PeakMB = pick(func(f figure) float64 { return f.PeakMB })
	return m
}
