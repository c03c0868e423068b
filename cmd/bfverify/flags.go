package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bfverify/bfverify/pta"
)

// command is the parsed command line and what a run needs besides.
type command struct {
	root           *cobra.Command
	stdout, stderr io.Writer
	status         int // the exit status, once a subcommand ran without error

	// Flags of loading.
	dir      string // -C
	tags     string
	tests    bool
	modelDir string // -models
	proofDir string // -proof

	// Flags of the analysis.
	entry   *regexp.Regexp
	scope   string
	ctx     string
	k, hk   int
	ctxFor  []pta.PackagePolicy // -ctx PATTERN=POLICY
	off     map[string]bool     // -stages: those switched off
	list    bool                // -stages=help
	why     string
	timeout time.Duration
	mem     uint64 // 0: the default

	// Flags of the cache.
	cache    string // -cache
	cacheMax uint64 // 0: the default

	// Flags of the output.
	json, stats, quiet, verbose bool

	// For work on bfverify itself; hidden from the help.
	cpuProfile, memProfile string
}

// newCommand returns the tree of commands; run parses arguments with it.
func newCommand(stdout, stderr io.Writer) *command {
	c := &command{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:           "bfverify [flags] [packages]",
		Short:         "bfverify proves Go programs free of data races, or says which accesses it could not prove.",
		Long:          rootHelp,
		Args:          cobra.ArbitraryArgs,
		RunE:          func(_ *cobra.Command, args []string) error { return c.verify(args) },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.root = root
	models := &cobra.Command{
		Use:   "models [flags] [packages]",
		Short: "list what is modelled, and what of a program is assumed",
		Long:  modelsHelp,
		Args:  cobra.ArbitraryArgs,
		RunE:  func(_ *cobra.Command, args []string) error { return c.models(args) },
	}
	version := &cobra.Command{
		Use:   "version",
		Short: "print the version of bfverify and of the Go that it was built with",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return c.version() },
	}
	var rf replayFlags
	replay := &cobra.Command{
		Use:   "replay [flags] FILE",
		Short: "look for data races in a recorded trace",
		Long:  replayHelp,
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.replay(args[0], &rf) },
	}
	replay.Flags().StringVar(&rf.detector, "detector", "ss", "run the detector called `NAME`: ft, rc, ss, sc, bf or reference")
	replay.Flags().StringVar(&rf.minimize, "minimize", "", "write the events without which the first race is not found to `FILE`")
	replay.Flags().BoolVar(&rf.stats, "stats", false, "print what the detector did")
	replay.Flags().BoolVar(&rf.quiet, "q", false, "print the number of races only")
	var gf graphFlags
	draw := &cobra.Command{
		Use:   "graph KIND [flags] [packages]",
		Short: "draw a picture of programs, for Graphviz",
		Long:  graphHelp(),
		Args:  cobra.ArbitraryArgs,
		RunE:  func(_ *cobra.Command, args []string) error { return c.graph(args, &gf) },
	}
	gf.define(draw.Flags())
	var guf guardsFlags
	guard := &cobra.Command{
		Use:   "guards [flags] [packages]",
		Short: "tell which locks guard which fields, or annotate them",
		Long:  guardsHelp,
		Args:  cobra.ArbitraryArgs,
		RunE:  func(_ *cobra.Command, args []string) error { return c.guards(args, &guf) },
	}
	guf.define(guard.Flags())
	kept := c.cacheCommand()
	checkProofs := &cobra.Command{
		Use:   "check [flags] FILE|DIR...",
		Short: "check proofs that -proof has written",
		Long:  checkHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.check(args) },
	}
	root.AddCommand(models, draw, guard, checkProofs, replay, version, kept,
		c.watchCommand("run", "run a program and report its data races"),
		c.watchCommand("test", "run tests and report their data races"),
		c.watchCommand("build", "build a program that reports its data races"))
	root.CompletionOptions.DisableDefaultCmd = true // completion is the name of many a package
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })

	for _, cmd := range []*cobra.Command{root, models, draw, guard, checkProofs} {
		fs := cmd.Flags()
		fs.StringVar(&c.dir, "C", "", "work in `DIR`, as the go command does")
		fs.StringVar(&c.tags, "tags", "", "build with the tags in `LIST`, a,b")
		fs.BoolVar(&c.tests, "tests", true, "verify the test binaries of the packages too")
		fs.StringVar(&c.modelDir, "models", "", "use the models in `DIR`/<import path>/*.go too; the verdict trusts them (docs/models.md says how to write them)")
	}
	c.k, c.hk, c.ctx = 1, -1, "hybrid"
	for _, cmd := range []*cobra.Command{root, draw, guard} {
		fs := cmd.Flags()
		fs.StringVar(&c.scope, "scope", "", "report pairs of the packages in `LIST` p,q/...; all for every package (default: those named)")
		fs.Var(contextFlag{c}, "ctx", "contexts of the points-to analysis: hybrid, obj, or insens, which is fastest and least precise (`POLICY`); for some packages with p/...=POLICY[:K[:HK]]")
		fs.Var(small{&c.k, 0, 9}, "k", "length `N` of calling contexts (default 1)")
		fs.Var(small{&c.hk, 0, 9}, "hk", "length `N` of heap contexts (default: what fits -ctx and -k)")
		fs.DurationVar(&c.timeout, "timeout", 0, "give up after this `TIME`, such as 10m")
		fs.Var(bytesFlag{&c.mem}, "mem", "give up beyond so much memory, `SIZE`, such as 12GiB (default: most of what the machine has)")
	}
	for _, cmd := range []*cobra.Command{root, guard} {
		cmd.Flags().BoolVar(&c.json, "json", false, "print a stream of JSON objects, one a line")
	}
	for _, cmd := range []*cobra.Command{root, kept} {
		fs := cmd.Flags()
		fs.StringVar(&c.cache, "cache", "", "keep what can be computed again in `DIR`, off for nowhere (default: $BFVERIFYCACHE, or else bfverify in the user's folder for caches)")
		fs.Var(bytesFlag{&c.cacheMax}, "cache-max", "keep `SIZE` at most (default: 4GiB)")
	}
	fs := root.Flags()
	fs.Var(regexpFlag{&c.entry}, "entry", "one verdict for each test, benchmark, fuzz test and example whose name matches `REGEXP`")
	fs.Var(stageList{c}, "stages", "run only the stages in `LIST` a,b, or all but those in -a,-b; help lists them")
	fs.StringVar(&c.proofDir, "proof", "", "write a proof of each program to `DIR`; bfverify check judges them")
	fs.Var(place{&c.why}, "why", "show the pairs at `FILE:LINE` going down the stages")
	fs.BoolVar(&c.stats, "stats", false, "print what each stage left, and time and memory")
	fs.BoolVar(&c.quiet, "q", false, "print verdicts only")
	fs.StringVar(&c.cpuProfile, "cpuprofile", "", "write a CPU profile of the run to `FILE`")
	fs.StringVar(&c.memProfile, "memprofile", "", "write a profile of the memory in use at the end to `FILE`")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		if err := fs.MarkHidden(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	fs.BoolVar(&c.verbose, "v", false, "list every assumption and all pairs kept, and progress even without a terminal")
	return c
}

// normalise rewrites flags in the go command's form, with one dash, to the form
// that pflag reads: "-tags race" becomes "--tags=race". So a value may start
// with a dash, as in "-stages -aliasing". An unknown flag is an error that says
// what to do.
func (c *command) normalise(args []string) ([]string, error) {
	known := map[string]*pflag.Flag{}
	for _, cmd := range append(c.root.Commands(), c.root) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = f })
	}
	if isWatch(args) {
		return args, nil
	}
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...), nil
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			out = append(out, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if name == "h" {
			name = "help"
		}
		f := known[name]
		switch {
		case f == nil:
			return nil, unknownFlag(name, known)
		case hasValue:
			out = append(out, "--"+name+"="+value)
		case f.NoOptDefVal != "": // a boolean
			out = append(out, "--"+name)
		case i+1 == len(args):
			meta, _ := pflag.UnquoteUsage(f)
			return nil, fmt.Errorf("flag -%s needs a value: -%s %s (see: bfverify -h)", name, name, meta)
		default:
			i++
			out = append(out, "--"+name+"="+args[i])
		}
	}
	return out, nil
}

// elsewhere says what to do instead of a flag that people know from the go
// command.
var elsewhere = map[string]string{
	"race":     "no instrumented build is needed; where files ask for the build tag: -tags race",
	"run":      "to choose tests: -entry REGEXP",
	"bench":    "to choose benchmarks: -entry REGEXP",
	"test":     "test binaries are verified unless -tests=false",
	"mod":      "set it in the environment: GOFLAGS=-mod=...",
	"modfile":  "set it in the environment: GOFLAGS=-modfile=...",
	"overlay":  "files of an overlay are not read: put them in place",
	"p":        "set it in the environment: GOMAXPROCS=N",
	"version":  "type: bfverify version",
	"d":        "to list or choose stages: -stages help",
	"memlimit": "that is -mem SIZE",
}

// unknownFlag returns the error for a flag that no command has.
func unknownFlag(name string, known map[string]*pflag.Flag) error {
	next := elsewhere[name]
	best := 3 // a typing error changes fewer letters
	if next == "" {
		for k := range known {
			if d := distance(name, k); d < best && d < len(name) || d == best && next != "" && "did you mean -"+k+"?" < next {
				best, next = d, "did you mean -"+k+"?"
			}
		}
	}
	if next == "" {
		next = "see what there is: bfverify -h"
	}
	return fmt.Errorf("unknown flag -%s (%s)", name, next)
}

// distance is the number of letters to add, drop or change between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diag
			if a[i] != b[j] {
				d++
			}
			diag, row[j+1] = row[j+1], min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// flagError words pflag's errors as this command writes flags.
func flagError(cmd *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		f := bad.GetFlag()
		why := errors.Unwrap(bad)
		if strings.Contains(why.Error(), "strconv.ParseBool") {
			why = errors.New("neither true nor false")
		} else if strings.HasPrefix(why.Error(), "time: ") {
			why = errors.New("no time: write it as 90s, 10m or 2h")
		}
		return fmt.Errorf("-%s=%s: %v (see: %s -h)", f.Name, bad.GetValue(), why, cmd.CommandPath())
	}
	var none *pflag.NotExistError
	if errors.As(err, &none) {
		return fmt.Errorf("-%s is no flag of %s (see what there is: %s -h)", none.GetSpecifiedName(), cmd.CommandPath(), cmd.CommandPath())
	}
	return fmt.Errorf("%v (see: %s -h)", err, cmd.CommandPath())
}

// The kinds of flag. Each reports what is wrong and what would be right.

type regexpFlag struct{ p **regexp.Regexp }

func (f regexpFlag) Set(s string) error {
	re, err := regexp.Compile(s)
	if err != nil {
		return err
	}
	*f.p = re
	return nil
}

func (f regexpFlag) String() string {
	if f.p == nil || *f.p == nil {
		return ""
	}
	return (*f.p).String()
}
func (regexpFlag) Type() string { return "REGEXP" }

// contextFlag is -ctx: POLICY, or PATTERN=POLICY[:K[:HK]], or several by comma.
type contextFlag struct{ c *command }

func (f contextFlag) Set(s string) error {
	for _, word := range strings.Split(s, ",") {
		pattern, value, some := strings.Cut(strings.TrimSpace(word), "=")
		if !some {
			pattern, value = "", pattern
		} else if pattern == "" {
			return fmt.Errorf("%q has no pattern before =", word)
		}
		parts := strings.Split(value, ":")
		if !slices.Contains([]string{"hybrid", "obj", "insens"}, parts[0]) || len(parts) > 3 || !some && len(parts) > 1 {
			return errors.New("it is one of hybrid, obj, insens, or PATTERN=POLICY[:K[:HK]]")
		}
		if !some {
			f.c.ctx = parts[0]
			continue
		}
		p := pta.PackagePolicy{Pattern: pattern, Policy: pta.Policy(parts[0]), K: 1, HK: -1}
		for i, n := range parts[1:] {
			v, err := strconv.Atoi(n)
			if err != nil || v < 0 || v > 9 {
				return fmt.Errorf("%q is not a number from 0 to 9", n)
			}
			*[]*int{&p.K, &p.HK}[i] = v
		}
		f.c.ctxFor = append(f.c.ctxFor, p)
	}
	return nil
}

func (f contextFlag) String() string {
	if f.c == nil {
		return ""
	}
	return f.c.ctx
}

func (contextFlag) Type() string { return "POLICY" }

type small struct {
	p      *int
	lo, hi int
}

func (f small) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < f.lo || n > f.hi {
		return fmt.Errorf("it is a number from %d to %d", f.lo, f.hi)
	}
	*f.p = n
	return nil
}

func (f small) String() string {
	if f.p == nil {
		return ""
	}
	return strconv.Itoa(*f.p)
}
func (small) Type() string { return "N" }

// place is FILE:LINE; a column is dropped, as in what the command prints.
type place struct{ p *string }

var placeForm = regexp.MustCompile(`^(.+?):([1-9][0-9]*)(:[0-9]+)?:?$`)

func (f place) Set(s string) error {
	m := placeForm.FindStringSubmatch(s)
	if m == nil {
		return errors.New("write it as FILE:LINE, such as main.go:12")
	}
	*f.p = filepath.Clean(m[1]) + ":" + m[2]
	return nil
}

func (f place) String() string {
	if f.p == nil {
		return ""
	}
	return *f.p
}
func (place) Type() string { return "FILE:LINE" }

type bytesFlag struct{ p *uint64 }

var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

func (f bytesFlag) Set(s string) error {
	i := strings.LastIndexAny(s, "0123456789.") + 1
	n, err := strconv.ParseFloat(s[:i], 64)
	unit, ok := units[strings.ToLower(strings.TrimSpace(s[i:]))]
	if err != nil || !ok || n <= 0 || n*unit >= math.MaxInt64 {
		return errors.New("write it as 12GiB or 800MiB")
	}
	*f.p = uint64(n * unit)
	return nil
}

func (f bytesFlag) String() string {
	if f.p == nil || *f.p == 0 {
		return ""
	}
	return size(*f.p)
}
func (bytesFlag) Type() string { return "SIZE" }

// size returns n bytes as people write it: "12GiB", "1.5GiB".
func size(n uint64) string {
	for _, u := range []struct {
		name string
		of   uint64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.of {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(u.of), 'f', 1, 64), ".0") + u.name
		}
	}
	return strconv.FormatUint(n, 10) + "B"
}

// stageList is -stages: names to run, or names with a dash to switch off.
type stageList struct{ c *command }

func (f stageList) Set(s string) error {
	if s == "help" {
		f.c.list = true
		return nil
	}
	all := map[string]bool{}
	var names []string
	for _, st := range pipeline() {
		all[st.Name] = true
		names = append(names, st.Name)
	}
	off, on := map[string]bool{}, map[string]bool{}
	for _, w := range strings.Split(s, ",") {
		w = strings.TrimSpace(w)
		name, drop := strings.CutPrefix(w, "-")
		if !all[name] {
			return fmt.Errorf("no stage is named %q; there are %s", name, strings.Join(names, ", "))
		}
		if drop {
			off[name] = true
		} else {
			on[name] = true
		}
	}
	if len(off) > 0 && len(on) > 0 {
		return errors.New("name either stages to run or, with a dash, stages to leave out")
	}
	if len(on) > 0 {
		for name := range all {
			if !on[name] {
				off[name] = true
			}
		}
	}
	f.c.off = off
	return nil
}
func (stageList) String() string { return "" }
func (stageList) Type() string   { return "LIST" }
