package progen

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

var (
	raceProgs = flag.Int("raceprogs", 20, "programs that TestRaceDetector builds")
	raceSeed  = flag.Uint64("raceseed", 1, "seed of the first of them")
	raceFams  = flag.Bool("racefamilies", false, "run TestRaceDetector on the families instead")
	raceRuns  = flag.Int("raceruns", 6, "runs of each")
)

// TestBuild compiles generated programs with the go command.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	var list []uint64
	for seed := range uint64(*seeds) {
		list = append(list, seed)
	}
	if _, err := Batch(dir, list, Config{}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

// TestRaceDetector runs programs under the race detector: whatever it reports,
// Explore must have found.
func TestRaceDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with -race")
	}
	dir := t.TempDir()
	var progs []*Program
	var names []string
	if *raceFams {
		for _, f := range Families() {
			progs = append(progs, f.Program())
			names = append(names, f.Name)
		}
	} else {
		for i := range uint64(*raceProgs) {
			progs = append(progs, Generate(*raceSeed+i, Config{}))
			names = append(names, fmt.Sprintf("p%04d", *raceSeed+i))
		}
	}
	if err := WriteModule(dir, names, progs); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	if err := os.Mkdir(bin, 0o777); err != nil {
		t.Fatal(err)
	}
	// Inlining would give some accesses the line of the call.
	cmd := exec.Command("go", "build", "-race", "-gcflags=-l", "-o", bin, "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("-race")) {
			t.Skipf("no race detector here: %s", out)
		}
		t.Fatalf("go build: %v\n%s", err, out)
	}
	seen, racy, witnessed := 0, 0, 0
	for i, p := range progs {
		r := p.Explore(0)
		lines := p.Lines(append(r.Races, r.Misuse...))
		found := false
		for run := range *raceRuns {
			for _, pair := range raceRun(t, bin+names[i], run) {
				seen++
				found = true
				if r.Complete && !slices.Contains(lines, pair) {
					t.Errorf("seed %d %s: the detector sees a race of lines %v, Explore has %s\n%s", p.Seed, p.Name, pair, show(p, r), p.Source())
				}
			}
		}
		if r.Racy() {
			racy++
			if found {
				witnessed++
			} else {
				t.Logf("not witnessed: %s", names[i])
			}
		}
	}
	t.Logf("%d programs: %d reports; %d racy, %d of them witnessed", len(progs), seen, racy, witnessed)
}

var reportLine = regexp.MustCompile(`(?m)^(Read|Write|Previous read|Previous write|Atomic|Previous atomic)[^\n]* by |main\.go:(\d+)|^(Goroutine|={10})`)

// raceRun runs a program once and returns the pairs of lines in the reports.
// Processors and pace vary with run.
func raceRun(t *testing.T, prog string, run int) [][2]int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, prog)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", 1+run%4), "GORACE=atexit_sleep_ms=2 halt_on_error=0")
	out, _ := cmd.CombinedOutput() // deadlock, panic and races give errors
	var pairs [][2]int
	for report := range bytes.SplitSeq(out, []byte("WARNING: DATA RACE")) {
		var lines []int
		want := false
		for _, m := range reportLine.FindAllSubmatch(report, -1) {
			switch {
			case len(m[3]) > 0:
				want = false
			case len(m[2]) == 0:
				want = true
			case want: // the innermost frame in the program
				n, _ := strconv.Atoi(string(m[2]))
				lines = append(lines, n)
				want = false
			}
		}
		if len(lines) == 2 {
			pairs = append(pairs, [2]int{min(lines[0], lines[1]), max(lines[0], lines[1])})
		}
	}
	return pairs
}
