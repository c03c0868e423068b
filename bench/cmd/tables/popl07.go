package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/bfverify/bfverify/bench/popl07"
	"github.com/bfverify/bfverify/stages"
)

// popl07Table prints table 1 of the design for bench/popl07: the pairs that each stage
// leaves and what is open in the end, beside figures 10 to 12 of the paper, and each
// false alarm. -programs chooses programs of this table, too.
func popl07Table(s *settings) error {
	programs := popl07.Programs
	if len(s.names) > 0 {
		programs = slices.DeleteFunc(slices.Clone(programs), func(p popl07.Program) bool { return !slices.Contains(s.names, p.Name) })
		if len(programs) == 0 {
			return nil // other tables have them
		}
	}
	rs, err := popl07.Measure(context.Background(), filepath.Join(s.root, "bench", "popl07"), programs)
	if err != nil {
		return err
	}
	fmt.Println("Races in programs of POPL'07's shapes. Pairs left after each stage; paper: figures 10 to 12, of the Java programs that these are modelled on, where the stage is one of the paper's.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, ours func(*popl07.Result) string, paper func(*popl07.Paper) string) {
		fmt.Fprintf(w, "%s\t", name)
		for _, r := range rs {
			fmt.Fprintf(w, "%s\t%s\t", ours(r), paper(&r.Paper))
		}
		fmt.Fprintln(w)
	}
	none := func(*popl07.Paper) string { return "" }
	row("", func(r *popl07.Result) string { return r.Name }, func(*popl07.Paper) string { return "paper" })
	row("lines", func(r *popl07.Result) string { return strconv.Itoa(r.Lines) }, func(p *popl07.Paper) string { return strconv.Itoa(p.Lines) })
	row("k", func(r *popl07.Result) string { return strconv.Itoa(r.K) }, none)
	row("seconds", func(r *popl07.Result) string { return fmt.Sprintf("%.1f", r.Seconds) }, none)
	for _, st := range stages.Pipeline {
		paper := map[string]func(*popl07.Paper) string{
			"original":    func(p *popl07.Paper) string { return strconv.Itoa(p.Original) },
			"parallel":    func(p *popl07.Paper) string { return strconv.Itoa(p.Parallel) },
			"global-lock": func(p *popl07.Paper) string { return strconv.Itoa(p.GlobalLock) },
			// The paper gives what its last two stages leave together.
			"local-thread": func(p *popl07.Paper) string { return strconv.Itoa(p.Real + p.False) },
		}[st.Name]
		if paper == nil {
			paper = none
		}
		row(st.Name, func(r *popl07.Result) string { return strconv.Itoa(r.Left[st.Name]) }, paper)
	}
	row("real", func(r *popl07.Result) string { return strconv.Itoa(len(r.Real)) }, func(p *popl07.Paper) string { return strconv.Itoa(p.Real) })
	row("false", func(r *popl07.Result) string { return strconv.Itoa(len(r.False)) }, func(p *popl07.Paper) string { return strconv.Itoa(p.False) })
	row("no account", func(r *popl07.Result) string { return strconv.Itoa(len(r.NoMark)) }, none)
	row("marks lost", func(r *popl07.Result) string { return fmt.Sprintf("%d of %d", len(r.Lost), r.Races()) }, none)
	w.Flush()
	var ours, theirs [2]int // false, open
	for _, r := range rs {
		ours[0] += len(r.False) + len(r.NoMark)
		ours[1] += len(r.Real) + len(r.False) + len(r.NoMark)
		theirs[0] += r.Paper.False
		theirs[1] += r.Paper.Real + r.Paper.False
	}
	fmt.Printf("false alarms: %d of %d open pairs (%.0f %%); the paper's: %d of %d (%.0f %%)\n",
		ours[0], ours[1], percent(ours), theirs[0], theirs[1], percent(theirs))
	for _, r := range rs {
		why := map[string]int{}
		var order []string
		for _, a := range r.False {
			k := fmt.Sprintf("%s:%d: %s: %s", filepath.Base(a.A.Pos.File), a.A.Pos.Line, a.Location, a.Why)
			if why[k]++; why[k] == 1 {
				order = append(order, k)
			}
		}
		for _, k := range order {
			fmt.Printf("    %s: %d at %s\n", r.Name, why[k], k)
		}
	}
	return nil
}

func percent(of [2]int) float64 {
	if of[1] == 0 {
		return 0
	}
	return 100 * float64(of[0]) / float64(of[1])
}
