package popl07

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var witness = flag.Bool("witness", false, "run the programs under the race detector, which needs cgo")

// TestWitness holds that every race that is marked as one which most runs show is seen
// by the race detector in some of ten runs, that a program without marks shows none,
// and that what is seen is marked.
func TestWitness(t *testing.T) {
	if !*witness {
		t.Skip("run it with -witness")
	}
	dir := t.TempDir()
	build := func(pkg string, flags ...string) string {
		out := filepath.Join(dir, filepath.Base(pkg))
		cmd := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), pkg)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	for _, p := range Programs {
		r := &Result{Program: p}
		if err := r.readMarks(p.Name); err != nil {
			t.Fatal(err)
		}
		command := []string{build("./"+p.Name, "-race")}
		switch p.Name {
		case "philo":
			command = append(command, "-v")
		case "ftp":
			command = []string{build("./ftp/crowd"), command[0]}
		}
		seen := map[string]int{}
		for range 10 {
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Env = append(os.Environ(), "GORACE=halt_on_error=0 exitcode=0 atexit_sleep_ms=0")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v: %s", p.Name, err, errs.String())
			}
			for _, at := range raced(p.Name, errs.String()) {
				seen[at]++
			}
		}
		for _, m := range r.Marks {
			at := fmt.Sprint(m.File, ":", m.Line)
			if m.Kind == "race" && !m.Rare && seen[at] == 0 {
				t.Errorf("%s: not seen: %v", p.Name, m)
			}
			if m.Kind != "alarm" {
				t.Logf("%s: %v: seen %d times", p.Name, m, seen[at])
				delete(seen, at)
			}
		}
		for at := range seen {
			t.Errorf("%s: a race is seen at %s, which has no mark", p.Name, at)
		}
	}
}

var (
	side  = regexp.MustCompile(`(?m)^(?:Previous )?(?i:atomic )?(?i:read|write) at .*\n((?:  .*\n)+)`)
	frame = regexp.MustCompile(`/popl07/(\w+)/(\w+\.go):(\d+)`)
)

// raced lists the lines of a program where race reports have an access, in it or
// in what it calls there.
func raced(program, text string) []string {
	var out []string
	for _, m := range side.FindAllStringSubmatch(text, -1) {
		for _, f := range frame.FindAllStringSubmatch(m[1], -1) {
			if f[1] == program {
				n, _ := strconv.Atoi(f[3])
				out = append(out, fmt.Sprint(strings.TrimSpace(f[2]), ":", n))
				break
			}
		}
	}
	return out
}
