package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bfverify/bfverify/internal/observe"
)

// A suite is the tests of one module, or of the Go tree.
type suite struct {
	name     string
	module   string // without version: that of bench/real/NAME/go.mod; "" for the Go tree
	patterns []string
	args     []string // of the test binaries
	limit    time.Duration
}

// natsTests are tests of package server that start servers, routes and clients, about
// ten minutes under a detector.
const natsTests = "^Test(Client|Sublist|Subject|Route|Reload|Config|Accounts?|Auth|Ping|Split|Parse|Monitor|Gateway|Leaf|Websocket|MQTT|JetStream(Basic|Add|Consumer(Basic|Pull)|Pub))"

var list = []suite{
	{"bbolt", "go.etcd.io/bbolt", []string{"./..."}, []string{"-test.short"}, 10 * time.Minute},
	{"vegeta", "github.com/tsenart/vegeta/v12", []string{"./..."}, nil, 10 * time.Minute},
	{"nats-server", "github.com/nats-io/nats-server/v2", []string{"./server"}, []string{"-test.short", "-test.run=" + natsTests}, 20 * time.Minute},
	{"net/http", "", []string{"net/http"}, []string{"-test.short"}, 20 * time.Minute},
}

// fetch puts the source of s below tmp and returns its folder.
func (s suite) fetch(root, tmp string) (string, error) {
	if s.module == "" {
		return filepath.Join(runtime.GOROOT(), "src"), nil
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}}@{{.Version}}", s.module)
	cmd.Dir = filepath.Join(root, "bench", "real", s.name)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", s.module, err)
	}
	dir := filepath.Join(tmp, s.name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	return dir, observe.Fetch(context.Background(), strings.TrimSpace(string(out)), dir)
}

// packages returns the folders of the packages of s that have tests.
func (s suite) packages(dir string) ([]string, error) {
	args := append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}"}, s.patterns...)
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %v: %w", args, err)
	}
	return strings.Fields(string(out)), nil
}

var (
	failLine = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	passLine = regexp.MustCompile(`(?m)^--- PASS: `)
	raceFail = regexp.MustCompile(`race(:| detected)`)
)

// A result is what the runs of one test binary under one detector showed.
type result struct {
	races   map[string]int // by key, the runs that showed it
	failed  map[string]int // tests that failed, and not for a race
	passed  int            // tests of the last run
	seconds []float64
	end     string // how it ended, if not by itself
}

func (r *result) add(o outcome, dir string) {
	once := map[string]bool{}
	for _, rep := range reports(o.text) {
		once[rep.key(dir)] = true
	}
	for k := range once {
		r.races[k]++
	}
	r.passed = len(passLine.FindAllString(o.text, -1))
	parts := failLine.FindAllStringSubmatchIndex(o.text, -1)
	for i, m := range parts {
		end := len(o.text)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		if text := o.text[m[0]:min(end, m[0]+2000)]; !raceFail.MatchString(text) {
			r.failed[o.text[m[2]:m[3]]]++
		}
	}
	r.seconds = append(r.seconds, o.seconds)
	if o.late || o.status < 0 || strings.Contains(o.text, "fatal error:") || strings.Contains(o.text, "\npanic: ") {
		r.end = fmt.Sprintf("status %d, late %v", o.status, o.late)
	}
}

// suites runs the tests of modules under both detectors and compares what they report
// and what fails.
func suites(args []string) (bool, error) {
	f := flag.NewFlagSet("suites", flag.ExitOnError)
	runs := f.Int("runs", 5, "runs of each test binary under each detector")
	keep := f.String("work", "", "folder to keep sources, programs and what they print in (default: a temporary one, removed)")
	tests := f.String("run", "", "tests to run, in place of those of the table")
	names := parse(f, args)
	chosen := list
	if len(names) > 0 {
		chosen = nil
	}
	for _, n := range names {
		i := slices.IndexFunc(list, func(s suite) bool { return s.name == n })
		if i < 0 {
			return false, fmt.Errorf("there is no suite %q", n)
		}
		chosen = append(chosen, list[i])
	}
	top, err := root()
	if err != nil {
		return false, err
	}
	tmp, remove, err := workspace()
	if err != nil {
		return false, err
	}
	defer remove()
	if *keep != "" {
		if tmp, err = filepath.Abs(*keep); err != nil {
			return false, err
		}
	}
	ok := true
	for _, s := range chosen {
		if *tests != "" {
			s.args = []string{"-test.run=" + *tests}
		}
		dir, err := s.fetch(top, tmp)
		if err != nil {
			return false, err
		}
		packages, err := s.packages(dir)
		if err != nil {
			return false, err
		}
		for _, pkg := range packages {
			same, err := s.compare(pkg, tmp, *runs)
			if err != nil {
				return false, err
			}
			ok = ok && same
		}
	}
	return ok, nil
}

// compare runs the tests of one package and prints what both detectors say of them.
func (s suite) compare(pkg, tmp string, runs int) (bool, error) {
	all := map[detector]*result{}
	base := filepath.Join(tmp, strings.NewReplacer("/", "_").Replace(s.name+"_"+filepath.Base(pkg)))
	for _, d := range both {
		all[d] = &result{races: map[string]int{}, failed: map[string]int{}}
		if err := d.build("test", pkg, base+"."+string(d), "."); err != nil {
			return false, err
		}
	}
	for n := range runs {
		for _, d := range both {
			args := append([]string{"-test.v", "-test.timeout=" + (s.limit - s.limit/10).String()}, s.args...)
			o := run(s.limit, pkg, "atexit_sleep_ms=0", base+"."+string(d), args...)
			all[d].add(o, pkg)
			if err := os.WriteFile(fmt.Sprintf("%s.%s.%d.log", base, d, n), []byte(o.text), 0o666); err != nil {
				return false, err
			}
		}
	}
	fmt.Printf("%s, %s, %d runs\n", s.name, pkg, runs)
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\tdetector\tpassed\tfailed\traces\tseconds of processor time")
	for _, d := range both {
		r := all[d]
		slices.Sort(r.seconds)
		fmt.Fprintf(w, "\t%s\t%d\t%d\t%d\t%.1f\t%s\n", d, r.passed, len(r.failed), len(r.races), r.seconds[len(r.seconds)/2], r.end)
	}
	w.Flush()
	same := all[slim].end == "" || all[race].end != ""
	for _, what := range []struct {
		name string
		of   func(*result) map[string]int
	}{{"race", func(r *result) map[string]int { return r.races }}, {"failure", func(r *result) map[string]int { return r.failed }}} {
		a, b := what.of(all[race]), what.of(all[slim])
		var keys []string
		for k := range a {
			keys = append(keys, k)
		}
		for k := range b {
			if a[k] == 0 {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			fmt.Printf("\t%s %s: in %d runs of race, %d of slim\n", what.name, k, a[k], b[k])
			same = same && a[k] > 0 == (b[k] > 0)
		}
	}
	return same, nil
}
