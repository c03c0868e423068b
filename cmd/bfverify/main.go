// Command bfverify proves Go programs free of data races, or says which
// accesses it could not prove and why.
//
// This package is the command line only: flags, budgets, errors and exit codes.
// What is analysed is in the packages that engine.go names, what is printed in
// package export.
//
// What may be believed: exit status 0 means that every program that the
// patterns named has a verdict and that none of its pairs is open. Whatever
// ends an analysis early (a budget, a signal, a bug) gives ABANDONED or an
// error, never PROVED; see sound in verify.go.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole command; it returns the exit status. It may leave goroutines
// behind that do not react to being cancelled.
func run(args []string, stdout, stderr io.Writer) int {
	c := newCommand(stdout, stderr)
	args, err := c.normalise(args)
	if err == nil {
		c.root.SetArgs(args)
		err = c.root.Execute()
	}
	if err != nil {
		fmt.Fprintf(stderr, "bfverify: %v\n", err)
		return exitError
	}
	return c.status
}

// The exit statuses.
const (
	exitProved    = 0 // no open pair, or waived ones only
	exitOpen      = 1 // open or confirmed pairs
	exitError     = 2 // usage, code that does not load, or a bug of ours
	exitAbandoned = 3 // a budget ran out
)

// badness orders the exit statuses: of several, the worst counts.
var badness = [...]int{exitError: 3, exitAbandoned: 2, exitOpen: 1, exitProved: 0}

// worse returns the worse of two exit statuses.
func worse(a, b int) int {
	if badness[b] > badness[a] {
		return b
	}
	return a
}
