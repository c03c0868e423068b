package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// every makes both detectors print each race, however often, and wait less than their second
// for other goroutines at the end.
const every = "suppress_equal_stacks=0 suppress_equal_addresses=0 atexit_sleep_ms=200"

// A mark says that a line is an access of a race, or, second form, that a report
// there is no fault.
var mark = regexp.MustCompile(`// (want: race|note: misuse)`)

// marks returns the marked lines of the files in dir: those of races, and all.
func marks(dir string) (races, all []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		n := 0
		for line := range strings.Lines(string(src)) {
			n++
			if m := mark.FindStringSubmatch(line); m != nil {
				at := fmt.Sprintf("%s:%d", filepath.Base(name), n)
				all = append(all, at)
				if m[1] == "want: race" {
					races = append(races, at)
				}
			}
		}
	}
	return races, all, err
}

// A tally is what some runs of one program under one detector showed.
type tally struct {
	reported int             // runs with a race
	lines    map[string]bool // of accesses
	odd      string          // a run that ended in another way
}

func (t *tally) add(o outcome, dir string) {
	all := reports(o.text)
	if len(all) > 0 {
		t.reported++
	}
	for _, r := range all {
		for _, stack := range r {
			if f, ok := inside(stack, dir); ok {
				t.lines[fmt.Sprintf("%s:%d", filepath.Base(f.file), f.line)] = true
			}
		}
	}
	// 2 is that of the run time's own check of maps.
	if o.late || !slices.Contains([]int{0, 2, 66}, o.status) {
		t.odd = fmt.Sprintf("status %d, late %v:\n%.2000s", o.status, o.late, o.text)
	}
}

// seen counts the lines of list that runs reported.
func (t *tally) seen(list []string) (n int) {
	for _, l := range list {
		if t.lines[l] {
			n++
		}
	}
	return n
}

// beyond returns the reported lines that list does not have.
func (t *tally) beyond(list []string) (lines []string) {
	for l := range t.lines {
		if !slices.Contains(list, l) {
			lines = append(lines, l)
		}
	}
	slices.Sort(lines)
	return lines
}

// cases runs programs in folders NAME/buggy and NAME/fixed below a folder, which a go.mod
// makes a module. A buggy one must be reported, on marked lines only, a fixed one not.
func cases(args []string) (bool, error) {
	f := flag.NewFlagSet("cases", flag.ExitOnError)
	runs := f.Int("runs", 20, "runs of each program under each detector")
	only := f.String("only", "*", "glob of the cases to run")
	args = parse(f, args)
	if len(args) != 1 {
		return false, fmt.Errorf("usage: live cases [flags] DIR")
	}
	dirs, err := filepath.Glob(filepath.Join(args[0], *only, "buggy"))
	if err != nil || len(dirs) == 0 {
		return false, fmt.Errorf("%s has no folder %s/buggy", args[0], *only)
	}
	tmp, remove, err := workspace()
	if err != nil {
		return false, err
	}
	defer remove()
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "case\trace: runs reported\tslim\tlines marked\trace\tslim\trace: not marked\tslim\trace: fixed reported\tslim\n")
	ok := true
	fault := func(format string, args ...any) {
		ok = false
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(dir))
		buggy, err := tallies(dir, tmp, *runs)
		if err != nil {
			return false, err
		}
		fixed, err := tallies(filepath.Join(filepath.Dir(dir), "fixed"), tmp, *runs)
		if err != nil {
			return false, err
		}
		want, all, err := marks(dir)
		if err != nil {
			return false, err
		}
		r, s := buggy[race], buggy[slim]
		fmt.Fprintf(w, "%s\t%d/%d\t%d/%d\t%d\t%d\t%d\t%d\t%d\t%d/%d\t%d/%d\n", name, r.reported, *runs, s.reported, *runs, len(want), r.seen(want), s.seen(want),
			len(r.beyond(all)), len(s.beyond(all)), fixed[race].reported, *runs, fixed[slim].reported, *runs)
		if s.reported == 0 {
			fault("%s: the buggy program was never reported", name)
		}
		if lines := s.beyond(all); len(lines) > 0 {
			fault("%s: reported but not marked: %v", name, lines)
		}
		if n := fixed[slim].reported; n > 0 {
			fault("%s: the fixed program was reported in %d runs", name, n)
		}
		if s.odd+fixed[slim].odd != "" {
			fault("%s: %s", name, s.odd+fixed[slim].odd)
		}
		for _, l := range want {
			if r.lines[l] && !s.lines[l] {
				fault("%s: only go -race reported %s", name, l)
			}
		}
	}
	return ok, w.Flush()
}

// tallies runs the program in dir under both detectors.
func tallies(dir, tmp string, runs int) (map[detector]*tally, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	all := map[detector]*tally{}
	for _, d := range both {
		all[d] = &tally{lines: map[string]bool{}}
		if err := d.build("build", dir, filepath.Join(tmp, string(d)), "."); err != nil {
			return nil, err
		}
	}
	for range runs {
		for _, d := range both {
			all[d].add(run(time.Minute, tmp, every, filepath.Join(tmp, string(d))), dir)
		}
	}
	return all, nil
}
