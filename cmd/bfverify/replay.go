package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bfverify/bfverify/dynamic/detect"
	"github.com/bfverify/bfverify/dynamic/trace"
)

const replayHelp = `replay looks for data races in a recorded trace: what a run did to memory, and
how its goroutines synchronised.

The detectors are ft, rc, ss, sc and bf, and reference, which is slow and meant
to be obviously right. bf looks at the checks that were placed in the program,
the others at the accesses.

Exit status: 0 no race, 1 races, 2 usage or a file that is no trace.`

// minimizeBudget is how often -minimize replays a trace at most.
const minimizeBudget = 5000

// replayFlags are the flags of that subcommand.
type replayFlags struct {
	detector, minimize string
	stats, quiet       bool
}

// replay is the subcommand of that name.
func (c *command) replay(file string, f *replayFlags) error {
	res, err := replayFile(file, f, c.memory())
	if err != nil {
		return err
	}
	if f.minimize != "" {
		if err := minimizeFile(file, f, res); err != nil {
			return err
		}
	}
	if !f.quiet {
		for _, r := range res.Findings {
			fmt.Fprintln(c.stdout, findingLine(&r, res.Names))
		}
	}
	races := fmt.Sprintf("%d races", len(res.Findings))
	switch {
	case len(res.Findings) == 0:
		races = "no race"
	case len(res.Findings) == 1:
		races = "1 race"
	}
	fmt.Fprintf(c.stdout, "%s: %s in %d events (%s)\n", file, races, res.Events, f.detector)
	if f.stats {
		c.replayStats(res)
	}
	if why := res.Stats.Missing(); why != "" {
		fmt.Fprintf(c.stderr, "bfverify: races may have been missed: %s\n", why)
	}
	if len(res.Findings) > 0 {
		c.status = exitOpen
	}
	return nil
}

// replayFile runs the detector that f names on the trace in file, with at most so much
// memory for shadow.
func replayFile(file string, f *replayFlags, memory uint64) (*detect.Result, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := trace.NewReader(in)
	var res *detect.Result
	if f.detector == "reference" {
		res, err = detect.Reference(r, false)
	} else {
		var alg detect.Algorithm
		if alg, err = detect.ByName(f.detector); err != nil {
			return nil, fmt.Errorf("-detector=%s: %v, reference", f.detector, err)
		}
		res, err = detect.Replay(r, alg, detect.Options{Memory: memory})
		if err == nil && alg.Checks && res.Stats.Placed == 0 && res.Stats.Accesses > 0 {
			return nil, fmt.Errorf("%s: %s needs a trace with checks, and there are none (look at the accesses: bfverify replay -detector ss %s)", file, alg.Name, file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %v", file, err)
	}
	return res, nil
}

// minimizeFile writes the smallest part of the trace that still shows the first race.
func minimizeFile(file string, f *replayFlags, res *detect.Result) error {
	if f.detector == "reference" {
		return errors.New("-minimize works with a detector other than reference (try: -detector ft)")
	}
	if len(res.Findings) == 0 {
		return fmt.Errorf("%s: there is no race to keep, so -minimize has nothing to do", file)
	}
	alg, err := detect.ByName(f.detector)
	if err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	events, err := trace.ReadAll(bufio.NewReader(in))
	in.Close()
	if err != nil {
		return fmt.Errorf("%s: %v", file, err)
	}
	small := detect.Minimize(events, alg, res.Findings[0], minimizeBudget)
	out, err := os.Create(f.minimize)
	if err != nil {
		return err
	}
	err = trace.WriteAll(out, withNames(small, events))
	return errors.Join(err, out.Close())
}

// withNames puts the names of the sites in events in front of them. all has the names.
func withNames(events, all []trace.Event) []trace.Event {
	used := map[uint32]bool{}
	for i := range events {
		used[events[i].Site] = true
	}
	var out []trace.Event
	for i := range all {
		if e := &all[i]; e.Kind == trace.Name && used[e.Site] {
			out = append(out, trace.Event{Kind: trace.Name, Site: e.Site, Text: e.Text}) // by goroutine 0
			used[e.Site] = false
		}
	}
	return append(out, trace.Repair(events)...)
}

// findingLine says what races, in one line.
func findingLine(f *detect.Finding, names map[uint32]string) string {
	s := fmt.Sprintf("race on %v: %s, %s", f.Part, side(f.First, names), side(f.Second, names))
	if f.Reports > 1 {
		s += fmt.Sprintf(" (%d reports)", f.Reports)
	}
	return s
}

func side(a detect.Access, names map[uint32]string) string {
	what := "read"
	if a.Write {
		what = "write"
	}
	if a.Atomic {
		what = "atomic " + what
	}
	s := fmt.Sprintf("%s by goroutine %d", what, a.G)
	if name := names[a.Site]; name != "" {
		s += " at " + name
	} else if a.Site != 0 {
		s += fmt.Sprintf(" at site %d", a.Site)
	}
	return s
}

// replayStats prints what the detector did.
func (c *command) replayStats(res *detect.Result) {
	s := &res.Stats
	share := func(n, of uint64) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", float64(n)/float64(of))
	}
	for _, row := range []struct {
		name string
		n    uint64
		note string
	}{
		{"accesses", s.Accesses, ""},
		{"placed checks", s.Placed, share(s.Placed, s.Accesses) + " of accesses"},
		{"redundant", s.Redundant, share(s.Redundant, s.Accesses) + " of accesses"},
		{"by proxy", s.Proxied, ""},
		{"operations on shadow", s.Checks, share(s.Checks, s.Accesses) + " of accesses"},
		{"shadow locations", s.Locations, ""},
		{"footprints", s.Footprints, ""},
		{"refinements", s.Refined, ""},
		{"splits", s.Splits, ""},
		{"read vectors", s.Shared, ""},
		{"shadow memory", s.Bytes, size(s.Bytes)},
	} {
		fmt.Fprintln(c.stdout, strings.TrimRight(fmt.Sprintf("  %-21s %12d  %s", row.name, row.n, row.note), " "))
	}
}
