package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// micro builds bench/micro without a detector and with both, and compares its rows:
// medians over rounds in which the three alternate.
func micro(args []string) (bool, error) {
	f := flag.NewFlagSet("micro", flag.ExitOnError)
	rounds := f.Int("rounds", 5, "rounds; the medians are printed")
	least := f.Duration("time", 50*time.Millisecond, "time of one measurement at least")
	rows := parse(f, args)
	top, err := root()
	if err != nil {
		return false, err
	}
	tmp, remove, err := workspace()
	if err != nil {
		return false, err
	}
	defer remove()
	builds := []detector{none, race, slim}
	figures := map[detector]map[string][]float64{}
	for _, d := range builds {
		figures[d] = map[string][]float64{}
		if err := d.build("build", top, filepath.Join(tmp, string(d)), "./bench/micro"); err != nil {
			return false, err
		}
	}
	var names []string
	for range *rounds {
		for _, d := range builds {
			o := run(10*time.Minute, tmp, "atexit_sleep_ms=0", filepath.Join(tmp, string(d)), append([]string{"-rounds=1", "-time=" + least.String()}, rows...)...)
			if o.status != 0 || o.late {
				return false, fmt.Errorf("%s: status %d, late %v\n%s", d, o.status, o.late, o.text)
			}
			for line := range strings.Lines(o.text) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
				v, err := strconv.ParseFloat(value, 64)
				if err != nil {
					return false, fmt.Errorf("%s: %q", d, line)
				}
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
				figures[d][name] = append(figures[d][name], v)
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "row\tplain\trace\tslim\tslim/race\t")
	for _, name := range names {
		var m []float64
		for _, d := range builds {
			v := figures[d][name]
			slices.Sort(v)
			m = append(m, v[len(v)/2])
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.2f\t\n", name, m[0], m[1], m[2], m[2]/m[1])
	}
	return true, w.Flush()
}
