package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootHelp = `bfverify proves Go programs free of data races, or says which accesses it could
not prove and why.

Packages are named as for go build; none is ".". Every main package and every
test binary among them is a program and gets a verdict:

  PROVED     no pair of accesses can race, under the assumptions printed with it
  OPEN       pairs are left; each says what is missing for a proof
  ABANDONED  time or memory ran out; nothing is known

Exit status: 0 all proved, 1 open pairs, 2 usage or load error, 3 abandoned;
of several programs the worst, in the order 2, 3, 1, 0.`

const modelsHelp = `models lists the functions of the standard library that bfverify does not
analyse from their source but from a model, and the packages whose functions
have no effect that matters here.

With packages it lists what of that their programs use, and which of their
functions have neither a Go body nor a model. Such a function is assumed to do
the worst with all that it is handed.

With -models DIR it lists the models in DIR, too, and those of them that take
the place of a model that is built in.`

// help prints the help of a command, with flags as the go command writes them.
func help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", text, cmd.UseLine())
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			fmt.Fprintf(w, "       %s\n%8s%s\n", sub.UseLine(), "", "  "+sub.Short)
		}
	}
	if cmd.DisableFlagParsing {
		return // the text has them
	}
	fmt.Fprint(w, "\nFlags:\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		meta, usage := pflag.UnquoteUsage(f)
		name := "-" + f.Name
		if f.Name == "help" {
			name, usage = "-h", "print this"
		} else if f.NoOptDefVal == "" {
			name += " " + meta
		} else if f.DefValue == "true" {
			name += "=false"
			usage = "do not " + usage
		}
		usage = strings.ReplaceAll(usage, " (POLICY)", "")
		fmt.Fprintf(w, "  %s\n        %s\n", name, usage)
	})
}

// version prints what the user needs to report a bug.
func (c *command) version() error {
	fmt.Fprintf(c.stdout, "bfverify %s\n", toolVersion())
	fmt.Fprintf(c.stdout, "built with %s for %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; rev != "" {
		if settings["vcs.modified"] == "true" {
			rev += " with changes"
		}
		fmt.Fprintf(c.stdout, "from revision %s of %s\n", rev, settings["vcs.time"])
	}
	for _, d := range info.Deps {
		if d.Path == "golang.org/x/tools" {
			fmt.Fprintf(c.stdout, "with %s %s\n", d.Path, d.Version)
		}
	}
	return nil
}

// toolVersion returns the module version, or "(devel)" for a build in a tree.
func toolVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
