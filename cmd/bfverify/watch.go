package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bfverify/bfverify/dynamic/live"
)

const watchHelp = `%[1]s is go %[1]s with a race detector that is made of Go: neither cgo nor a C
compiler is needed. %[2]s

All flags of go %[1]s but -race, -msan and -asan are go's. These are ours, and may be
written -bf.detector and so on:

  -detector NAME
        ft, which checks each access (default ft)
  -assume-open SET
        all: watch all accesses, also those that were proved (default all)
  -runtime NAME
        slim, the detector that is made of Go, or race, that of go %[1]s -race, which needs
        cgo (default: slim where it fits the Go in use, else race)

Environment:

  GORACE
        options of Go's race detector, name=value with spaces between: exitcode,
        halt_on_error, atexit_sleep_ms, log_path, strip_path_prefix and
        suppress_equal_stacks; history_size has no effect, because no access is forgotten
  BFRACE
        stats=1 prints what the detector did and whether it may have missed something
  XDG_CACHE_HOME
        the folder for files that can be made again (default: ~/.cache)

Exit status: %[3]s`

// watchNotes are what is particular to each command.
var watchNotes = map[string]struct{ args, reports, status string }{
	"run": {"[go's flags] package [arguments]", "Races are reported as go run -race reports them.", `that of the program, but 66 (or GORACE=exitcode=N) for 0 if there was a
race; that of go build if it does not build; 2 for wrong arguments, and where the
run time finds no place for its files.`},
	"test": {"[go's flags] [packages]", "Races are reported as go test -race reports them, and a\ntest with one fails.",
		"that of go test; 2 for wrong arguments, and where the run time finds no\nplace for its files."},
	"build": {"[go's flags] [packages]", "The program reports its races as one of go build -race does,\nand its exit status is then 66 (or GORACE=exitcode=N) for 0.",
		"that of go build; 2 for wrong arguments, and where the run time finds no\nplace for its files."},
}

// isWatch reports whether args are those of a command that leaves its flags to go.
func isWatch(args []string) bool { return len(args) > 0 && watchNotes[args[0]].args != "" }

// watchCommand returns the command for go run, test or build.
func (c *command) watchCommand(verb, short string) *cobra.Command {
	notes := watchNotes[verb]
	return &cobra.Command{
		Use:                   verb + " " + notes.args,
		Short:                 short,
		Long:                  fmt.Sprintf(watchHelp, verb, notes.reports, notes.status),
		DisableFlagParsing:    true,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			live, err := live.ParseArgs(verb, args)
			if err == nil {
				c.status, err = live.Run(c.streams())
			}
			return watchError(cmd, err)
		},
	}
}

func (c *command) streams() live.Streams {
	return live.Streams{In: os.Stdin, Out: c.stdout, Err: c.stderr}
}

// watchError says where help is.
func watchError(cmd *cobra.Command, err error) error {
	var usage *live.UsageError
	switch {
	case errors.Is(err, live.ErrHelp):
		return cmd.Help()
	case errors.As(err, &usage):
		return fmt.Errorf("%v (see: %s -h)", err, cmd.CommandPath())
	}
	return err
}
