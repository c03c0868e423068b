package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Command is a go command that is to run with a race detector.
type Command struct {
	Verb     string // run, test or build
	Runtime  string // slim, race, or "" for the first that works
	Detector string // ft

	Dir     string   // -C
	Args    []string // go's arguments but those below, as they were given
	Program []string // for run: the package or files, and the program's arguments
	Overlay string   // -overlay
	GCFlags []string // -gcflags
	Tags    string   // -tags
	Exec    string   // for run: -exec
	Cover   bool     // coverage is asked for
	Mode    string   // -covermode
}

// UsageError says what is wrong with arguments, and what to do.
type UsageError struct{ msg string }

func (e *UsageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// ErrHelp is what ParseArgs returns when help is asked for.
var ErrHelp = errors.New("help")

// valued are go's flags whose value may be the next argument.
var valued = strings.Fields(`C asmflags buildmode compiler covermode coverpkg coverprofile exec gccgoflags gcflags
	installsuffix ldflags mod modfile o overlay p pgo pkgdir tags toolexec
	bench benchtime blockprofile blockprofilerate count cpu cpuprofile fuzz fuzzcachedir fuzzminimizetime fuzztime
	list memprofile memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout
	trace vet`)

// ours are our flags; each may be written with bf. before its name.
var ours = []string{"runtime", "detector", "assume-open"}

// ParseArgs reads the arguments of bfverify run, test or build: go's flags in go's form,
// and ours among them. What it does not know it leaves for go.
func ParseArgs(verb string, args []string) (*Command, error) {
	c := &Command{Verb: verb, Detector: "ft"}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if verb == "run" {
				c.Program = args[i:]
				return c, nil
			}
			c.Args = append(c.Args, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if name == "args" {
			c.Args = append(c.Args, args[i:]...)
			return c, nil
		}
		if name == "h" || name == "help" {
			return nil, ErrHelp
		}
		given := args[i : i+1]
		if mine := strings.TrimPrefix(name, "bf."); !hasValue && (mine != name || slices.Contains(ours, mine) || slices.Contains(valued, strings.TrimPrefix(name, "test."))) {
			if i++; i == len(args) {
				return nil, usagef("flag -%s needs a value", name)
			}
			value, hasValue = args[i], true
			given = args[i-1 : i+1]
		}
		kept, err := c.set(name, value, hasValue)
		if err != nil {
			return nil, err
		}
		if !kept {
			c.Args = append(c.Args, given...)
		}
	}
	if verb == "run" {
		return nil, usagef("there is no program to run: bfverify run PACKAGE")
	}
	return c, nil
}

// goflags applies what GOFLAGS says, which go reads before the command line. Its -race is
// undone by compilerFlags.
func (c *Command) goflags(list string) error {
	flags, err := fields(list)
	if err != nil {
		return usagef("GOFLAGS=%s: %v", list, err)
	}
	for _, f := range flags {
		name, value, hasValue := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch name {
		case "race":
		case "gcflags", "overlay":
			return usagef("GOFLAGS=%s: give -%s on the command line, where it can be combined with that of the run time", list, name)
		case "tags":
			if c.Tags == "" {
				c.Tags = value
			}
		case "exec":
			if c.Verb == "run" && c.Exec == "" {
				c.Exec = value
			}
		default:
			if _, err := c.set(name, value, hasValue); err != nil {
				return usagef("GOFLAGS=%s: %v", list, err)
			}
		}
	}
	return nil
}

// fields splits a list as the go command does those of GOFLAGS and -exec: at spaces, where
// a field in single or double quotes may contain them.
func fields(list string) (out []string, err error) {
	for rest := strings.TrimSpace(list); rest != ""; rest = strings.TrimLeft(rest, " \t\r\n") {
		if q := rest[0]; q == '"' || q == '\'' {
			field, after, closed := strings.Cut(rest[1:], string(q))
			if !closed {
				return nil, fmt.Errorf("a quote %c has no end", q)
			}
			out, rest = append(out, field), after
			continue
		}
		n := strings.IndexAny(rest, " \t\r\n")
		if n < 0 {
			n = len(rest)
		}
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out, nil
}

// set looks at one flag. It reports whether c keeps it, so that go does not get it as
// it is.
func (c *Command) set(name, value string, hasValue bool) (kept bool, err error) {
	if mine := strings.TrimPrefix(name, "bf."); mine != name || slices.Contains(ours, mine) {
		return true, c.setOurs(mine, value)
	}
	on := !hasValue || value != "false"
	switch strings.TrimPrefix(name, "test.") {
	case "C":
		c.Dir = value
		return true, nil
	case "overlay":
		c.Overlay = value
		return true, nil
	case "tags":
		c.Tags = value
		return true, nil
	case "gcflags":
		c.GCFlags = append(c.GCFlags, value)
		return true, nil
	case "exec":
		if c.Verb == "run" {
			c.Exec = value
			return true, nil
		}
	case "race":
		if on {
			return false, usagef("-race is another detector: leave it out, or ask for it with -runtime=race")
		}
	case "msan", "asan":
		if on {
			return false, usagef("-%s cannot be used together with a race detector", name)
		}
	case "buildmode":
		if !slices.Contains([]string{"default", "exe", "pie"}, value) {
			return false, usagef("-buildmode=%s: the run time works in programs, not in libraries and plugins that another program loads: use exe or pie", value)
		}
	case "cover":
		c.Cover = c.Cover || on
	case "coverprofile", "coverpkg":
		c.Cover = true
	case "covermode":
		c.Cover, c.Mode = true, value
		if value != "atomic" {
			return false, usagef("-covermode=%s: counters that are not atomic race themselves: use atomic", value)
		}
	}
	return false, nil
}

func (c *Command) setOurs(name, value string) error {
	choices := map[string]struct {
		at   *string
		all  []string
		note string
	}{
		"runtime":     {&c.Runtime, []string{"slim", "race"}, ""},
		"detector":    {&c.Detector, []string{"ft"}, "; rc, ss, sc and bf need checks that are placed in the program, which is not there yet (bfverify replay has them)"},
		"assume-open": {new(string), []string{"all"}, "; checks are made at all accesses until they can be placed"},
	}
	ch, ok := choices[name]
	if !ok {
		return usagef("there is no flag -bf.%s; there are -bf.%s", name, strings.Join(ours, ", -bf."))
	}
	if !slices.Contains(ch.all, value) {
		return usagef("-%s=%s: it must be %s%s", name, value, strings.Join(ch.all, " or "), ch.note)
	}
	*ch.at = value
	return nil
}
