package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bfverify/bfverify/dynamic/live"
)

const watchHelp = `%[1]s is go %[1]s with a race detector that is made of Go: neither cgo nor a C
compiler is needed. Races are reported as go %[1]s -race does it%[2]s.

All flags of go %[1]s are go's, but:

  -detector NAME     ft, which checks each access
  -assume-open SET   all: watch all accesses, also those that were proved
  -runtime NAME      slim, or race, the race detector of Go; default: slim where
                     the Go in use is one that it fits, else race

They may be written -bf.detector and so on. Options in the environment variable
GORACE are those of Go's race detector; history_size has no effect, because no
access is forgotten. BFRACE=stats=1 prints what the detector did.`

// watchNotes are what is particular to each command.
var watchNotes = map[string]string{
	"run":   ", and the exit\nstatus is 66 if there was one, else the program's",
	"test":  ", and a test\nwith one fails",
	"build": " by the program",
}

// isWatch reports whether args are those of a command that leaves its flags to go.
func isWatch(args []string) bool { return len(args) > 0 && watchNotes[args[0]] != "" }

// watchCommand returns the command for go run, test or build.
func (c *command) watchCommand(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use:                verb + " [go's flags] [packages]",
		Short:              short,
		Long:               fmt.Sprintf(watchHelp, verb, watchNotes[verb]),
		DisableFlagParsing: true,
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
