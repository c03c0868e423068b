package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// goEnv is what the go command says about itself.
type goEnv struct {
	GOROOT, GOVERSION, GOOS, GOARCH, GOFLAGS, GOMODCACHE string

	command string   // how to call it
	vars    []string // what to add to its environment
}

// outside makes the go command work in a tree that is not in the module cache, where
// toolchains are that it fetched itself, and where no file may be replaced: there is a
// link to it elsewhere.
func (env *goEnv) outside() error {
	env.command = "go"
	rel, err := filepath.Rel(env.GOMODCACHE, env.GOROOT)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	link := filepath.Join(cache, "goroot", filepath.Base(env.GOROOT))
	if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
		return cacheError(err)
	}
	if to, err := os.Readlink(link); err != nil || to != env.GOROOT {
		os.Remove(link) // it led elsewhere, or is not there
		if err := os.Symlink(env.GOROOT, link); err != nil && !errors.Is(err, fs.ErrExist) {
			return cacheError(err)
		}
	}
	env.GOROOT, env.command = link, filepath.Join(link, "bin", "go")
	env.vars = []string{"GOROOT=" + link, "GOTOOLCHAIN=local"}
	return nil
}

// Run runs c and returns its exit status: that of the go command, for run that of the
// program. It says on s.Err which run time is used. An error is one of ours, or a
// *UsageError.
func (c *Command) Run(s Streams) (int, error) {
	env, err := c.goEnv()
	if err != nil {
		return 0, err
	}
	if c.Runtime != "race" {
		overlay, err := c.prepare(env, s)
		if err == nil {
			fmt.Fprintf(s.Err, "bfverify: run time slim in %s, detector %s, checks at all accesses that the compiler reports\n", env.GOVERSION, c.Detector)
			return c.exec(env, s, append([]string{"-overlay=" + overlay}, c.compilerFlags()...))
		}
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			return 0, err
		}
		if c.Runtime == "slim" {
			return 0, fmt.Errorf("%w (use Go 1.%d to 1.%d for linux/amd64 or linux/arm64, or -runtime=race)", err, minMinor, maxMinor)
		}
		fmt.Fprintf(s.Err, "bfverify: %v\n", err)
	}
	fmt.Fprintf(s.Err, "bfverify: run time race: go %s -race, which needs cgo (CGO_ENABLED=1) and a C compiler\n", c.Verb)
	flags := []string{"-race"}
	if c.Tags != "" {
		flags = append(flags, "-tags="+c.Tags)
	}
	if c.Overlay != "" {
		flags = append(flags, "-overlay="+c.Overlay)
	}
	for _, f := range c.GCFlags {
		flags = append(flags, "-gcflags="+f)
	}
	return c.exec(env, s, flags)
}

// goEnv asks the go command that works in c.Dir.
func (c *Command) goEnv() (*goEnv, error) {
	cmd := exec.Command("go", "env", "-json", "GOROOT", "GOVERSION", "GOOS", "GOARCH", "GOFLAGS", "GOMODCACHE")
	cmd.Dir = c.Dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %v\n%s", err, stderr.Bytes())
	}
	var env goEnv
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env: %v", err)
	}
	return &env, env.outside()
}

// compilerFlags select the files that are for race detectors, and are what makes the
// compiler report accesses: flags of the user apply to the packages that they name, and the
// last one counts for each package. A -race in GOFLAGS is undone.
func (c *Command) compilerFlags() []string {
	flags := []string{"-tags=" + strings.TrimPrefix(c.Tags+",race", ","), "-gcflags=all=-race", "-race=false"}
	for _, f := range c.GCFlags {
		flags = append(flags, "-gcflags="+f+" -race")
	}
	if c.Cover && c.Mode == "" {
		flags = append(flags, "-covermode=atomic")
	}
	return flags
}

// prepare returns the overlay file for the go command. A *Refusal says why the run time
// cannot be used.
func (c *Command) prepare(env *goEnv, s Streams) (string, error) {
	if env.GOOS != "linux" || env.GOARCH != "amd64" && env.GOARCH != "arm64" {
		return "", &Refusal{env.GOROOT, env.GOVERSION, "GOOS, GOARCH", env.GOOS + "/" + env.GOARCH + ": the run time is for linux/amd64 and linux/arm64"}
	}
	if err := c.goflags(env.GOFLAGS); err != nil {
		return "", err
	}
	o, err := New(env.GOROOT)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "live", o.Sum()[:16]) // for this overlay, and no other
	file, err := o.Write(dir)
	if err != nil {
		return "", cacheError(err)
	}
	if err := o.selfTest(dir, file, env, s.Err); err != nil {
		return "", err
	}
	if c.Overlay == "" {
		return file, nil
	}
	return merge(file, c.Overlay, c.Dir)
}

// cacheDir returns the folder for what can be made again.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", cacheError(err)
	}
	return filepath.Join(cache, "bfverify"), nil
}

// cacheError says what to do when there is no place for files that are kept.
func cacheError(err error) error {
	return fmt.Errorf("no place for the run time's files: %v (set XDG_CACHE_HOME to a folder that can be written)", err)
}

// Sum returns a hash of the overlay.
func (o *Overlay) Sum() string {
	h := sha256.New()
	for _, name := range sortedKeys(o.Replace) {
		fmt.Fprintf(h, "%s %d\n", name, len(o.Replace[name]))
		h.Write(o.Replace[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// merge writes an overlay file with the entries of two, beside the first one.
func merge(ours, theirs, dir string) (string, error) {
	var a, b struct{ Replace map[string]string }
	for _, f := range []struct {
		name string
		to   any
	}{{ours, &a}, {filepath.Join(dir, theirs), &b}} {
		if filepath.IsAbs(theirs) && f.to == any(&b) {
			f.name = theirs
		}
		data, err := os.ReadFile(f.name)
		if err == nil {
			err = json.Unmarshal(data, f.to)
		}
		if err != nil {
			return "", fmt.Errorf("-overlay=%s: %v", f.name, err)
		}
	}
	base, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	abs := func(name string) string {
		if name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(base, name)
	}
	for _, name := range sortedKeys(b.Replace) {
		if a.Replace[abs(name)] != "" {
			return "", usagef("-overlay=%s replaces %s, which the run time replaces too", theirs, name)
		}
		a.Replace[abs(name)] = abs(b.Replace[name])
	}
	data, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		return "", err
	}
	out := filepath.Join(filepath.Dir(ours), fmt.Sprintf("merged-%.8x.json", sha256.Sum256(data)))
	return out, writeChanged(out, data)
}

// exec runs the go command with more flags, and for run the program that it builds.
func (c *Command) exec(env *goEnv, s Streams, more []string) (int, error) {
	if c.Verb != "run" {
		return execute(s, c.Dir, env.vars, env.command, slices.Concat([]string{c.Verb}, more, c.Args))
	}
	wrapper, err := fields(c.Exec)
	if err != nil {
		return 0, usagef("-exec=%s: %v", c.Exec, err)
	}
	if what := c.Program[0]; strings.Contains(what, "@") && what[0] != '.' && what[0] != '/' {
		return 0, usagef("%s: a program of another module is watched in its own folder: get its source (git clone), and run it from there", what)
	}
	n := 0 // the package or files
	for n < len(c.Program) && (n == 0 || strings.HasSuffix(c.Program[n], ".go") && strings.HasSuffix(c.Program[0], ".go")) {
		n++
	}
	tmp, err := os.MkdirTemp("", "bfverify-run")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	name := filepath.Join(tmp, programName(c.Program[0]))
	status, err := execute(s, c.Dir, env.vars, env.command, slices.Concat([]string{"build", "-o", name}, more, c.Args, c.Program[:n]))
	if status != 0 || err != nil {
		return status, err
	}
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist): // -n
		return 0, nil
	case err != nil:
		return 0, err
	case info.Mode()&0o111 == 0:
		return 0, usagef("%s is no main package, so there is nothing to run; its tests are: bfverify test %s", c.Program[0], c.Program[0])
	}
	argv := slices.Concat(wrapper, []string{name}, c.Program[n:])
	return execute(s, c.Dir, nil, argv[0], argv[1:])
}

// programName is how go run would call the program.
func programName(arg string) string {
	arg, _, _ = strings.Cut(arg, "@")
	name := strings.TrimSuffix(filepath.Base(arg), ".go")
	if abs, err := filepath.Abs(arg); err == nil && (name == "." || name == "..") {
		name = filepath.Base(abs)
	}
	if name == "" || name == string(filepath.Separator) {
		return "main"
	}
	return name
}

// execute runs a command to its end and returns its exit status. Signals of the
// terminal reach it too, so that it decides.
func execute(s Streams, dir string, vars []string, name string, args []string) (int, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), vars...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, s.In, s.Out, s.Err
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() >= 0 {
			return exit.ExitCode(), nil
		}
		fmt.Fprintf(s.Err, "bfverify: %s: %v\n", filepath.Base(name), err)
		return 2, nil
	}
	return 0, err
}
