// Command live compares the run time of bfverify with Go's own race detector, both
// on this machine and in this run.
//
//	go run ./bench/cmd/live cases [-runs N] DIR           programs with known races, and repaired ones
//	go run ./bench/cmd/live suites [-runs N] [NAME ...]   the tests of real modules
//	go run ./bench/cmd/live micro [-rounds N] [ROW ...]   what one operation costs
//
// Runs alternate between the two, so that a change of the machine's load meets both.
// Exit status 1 says that the run time reported something false, or missed what Go's
// detector found; nothing is decided by time.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/bfverify/bfverify/dynamic/live"
)

// A detector is one way to build a program.
type detector string

const (
	none detector = "plain"
	race detector = "race" // go build -race
	slim detector = "slim" // bfverify build
)

// both are those that are compared, in the order of their runs.
var both = []detector{race, slim}

// build runs go build, or go test -c, in dir and writes the program to out.
func (d detector) build(verb, dir, out string, args ...string) error {
	args = append([]string{"-C", dir, "-o", out}, args...)
	if verb == "test" {
		args = slices.Insert(args, 2, "-c", "-vet=off")
	}
	var log bytes.Buffer
	if d == slim {
		c, err := live.ParseArgs(verb, append([]string{"-runtime=slim"}, args...))
		if err != nil {
			return err
		}
		status, err := c.Run(live.Streams{Out: &log, Err: &log})
		if err != nil || status != 0 {
			return fmt.Errorf("bfverify %s %v: status %d, %v\n%s", verb, args, status, err, &log)
		}
		return nil
	}
	if d == race {
		args = slices.Insert(args, 2, "-race")
	}
	cmd := exec.Command("go", append([]string{verb}, args...)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s %v: %w\n%s", verb, args, err, &log)
	}
	return nil
}

// An outcome is what one run of a program showed.
type outcome struct {
	text    string
	status  int // -1 if a signal ended it
	late    bool
	seconds float64 // of processor time
}

// run runs a program in dir for some time at most.
func run(limit time.Duration, dir, options, name string, args ...string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE="+options)
	cmd.WaitDelay = time.Second // of its children, which may keep the output open
	out, err := cmd.CombinedOutput()
	o := outcome{text: string(out), status: -1, late: ctx.Err() != nil}
	if p := cmd.ProcessState; p != nil {
		o.status, o.seconds = p.ExitCode(), (p.UserTime() + p.SystemTime()).Seconds()
	} else {
		o.text += err.Error()
	}
	return o
}

// root returns the folder of the repository.
func root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/bfverify/bfverify").Output()
	if err != nil {
		return "", fmt.Errorf("run this in the repository: go run ./bench/cmd/live")
	}
	return string(bytes.TrimSpace(out)), nil
}

// commands are the comparisons, by name. Each reports whether all was well.
var commands = map[string]func(args []string) (bool, error){"cases": cases, "suites": suites, "micro": micro}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/cmd/live cases|suites|micro [flags] [arguments]")
		os.Exit(2)
	}
	ok, err := commands[os.Args[1]](os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// parse reads the flags of one command and returns what follows them.
func parse(f *flag.FlagSet, args []string) []string {
	f.Parse(args) // which exits when it fails
	return f.Args()
}

// workspace returns a folder for programs, and what removes it.
func workspace() (string, func(), error) {
	dir, err := os.MkdirTemp("", "live")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return dir, func() { os.RemoveAll(dir) }, err
}
