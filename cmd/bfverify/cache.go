package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/spf13/cobra"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts/cache"
	"github.com/bfverify/bfverify/facts/load"
)

const cacheHelp = `cache shows or empties the cache, which is in the folder that -cache names, or the
environment variable BFVERIFYCACHE, or else in the user's folder for such files.

  bfverify cache stat     print what it holds and how large it is
  bfverify cache gc       drop what was unused for longest, down to -cache-max
  bfverify cache clear    remove all of it`

// cacheVar names the environment variable with the default of -cache.
const cacheVar = "BFVERIFYCACHE"

// cacheDir returns the folder of the cache, "" for none, and whether the user named
// it.
func (c *command) cacheDir() (dir string, named bool) {
	dir = c.cache
	if dir == "" {
		dir = os.Getenv(cacheVar)
	}
	if dir == "off" {
		return "", true
	}
	if dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		return dir, true
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", false
	}
	return filepath.Join(user, "bfverify"), false
}

// cacheCommand returns the subcommand cache.
func (c *command) cacheCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cache stat|gc|clear",
		Short: "show or empty the cache",
		Long:  cacheHelp,
		Args:  cobra.ArbitraryArgs,
		RunE:  func(_ *cobra.Command, args []string) error { return c.cacheDo(args) },
	}
}

// cacheDo is what the subcommand does; "serve" is for Client.
func (c *command) cacheDo(args []string) error {
	if len(args) == 3 && args[0] == "serve" {
		max, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return err
		}
		return cache.Serve(os.Stdin, c.stdout, args[1], max)
	}
	if len(args) != 1 || !slices.Contains([]string{"stat", "gc", "clear"}, args[0]) {
		return errors.New("say what to do: bfverify cache stat, gc or clear")
	}
	dir, _ := c.cacheDir()
	if dir == "" {
		return errors.New("there is no cache: it is off, or there is no folder for it (name one: -cache DIR)")
	}
	if args[0] == "clear" {
		return c.cacheError(dir, cache.Clear(dir))
	}
	if _, err := os.Stat(dir); err != nil {
		fmt.Fprintf(c.stdout, "%s: nothing is kept there\n", dir)
		return nil
	}
	s, err := cache.Open(dir, 0)
	if err != nil {
		return c.cacheError(dir, err)
	}
	err = c.cacheShow(s, dir, args[0] == "gc")
	if err2 := s.Close(); err == nil {
		err = err2
	}
	return c.cacheError(dir, err)
}

// cacheShow prints what a store holds, after making it smaller with gc.
func (c *command) cacheShow(s *cache.Store, dir string, gc bool) error {
	if gc {
		n, err := s.GC(c.maxCache())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.stdout, "%d values dropped\n", n)
	}
	st, err := s.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s: %s on disk, of at most %s\n", dir, size(uint64(st.Disk)), size(uint64(c.maxCache())))
	for _, k := range [...]struct {
		kind cache.Kind
		name string
	}{{cache.Run, "verdicts of runs"}, {cache.Facts, "facts of packages"}, {cache.Export, "export data of packages"}} {
		if n := st.Values[k.kind]; n > 0 {
			fmt.Fprintf(c.stdout, "%6d %s, %s\n", n, k.name, size(uint64(st.Bytes[k.kind])))
		}
	}
	if !st.Oldest.IsZero() {
		fmt.Fprintf(c.stdout, "unused for longest: since %s\n", st.Oldest.Format(time.DateTime))
	}
	return nil
}

// maxCache is the limit in force.
func (c *command) maxCache() int64 {
	if c.cacheMax == 0 {
		return cache.DefaultMax
	}
	return int64(c.cacheMax)
}

// cacheError words an error of the cache for people.
func (c *command) cacheError(dir string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cache.ErrInUse):
		return fmt.Errorf("%s: %v (wait for it, or name another folder: -cache DIR)", dir, err)
	}
	return fmt.Errorf("%s: the cache cannot be used: %v (name another folder: -cache DIR, or none: -cache off)", dir, err)
}

// A tape is a Printer that keeps what is printed of programs, so that a later run can
// print it again. What is spoilt is not kept: a run that was abandoned or had errors.
type tape struct {
	export.Printer
	kept   kept
	spoilt bool
}

// kept is the value of kind cache.Run.
type kept struct {
	Warnings []string // for stderr
	LeftOut  []string // for stderr with -v
	Events   []event
}

// An event is one call of a Printer.
type event struct {
	Progress   *progressed     `cbor:",omitempty"`
	Result     *export.Result  `cbor:",omitempty"`
	Unverified *export.Library `cbor:",omitempty"`
}

type progressed struct {
	Program, Stage string
	Done, Of       int
}

func (t *tape) Progress(program, stage string, done, of int) {
	t.kept.Events = append(t.kept.Events, event{Progress: &progressed{program, stage, done, of}})
	t.Printer.Progress(program, stage, done, of)
}

func (t *tape) Error(program string, pos export.Pos, text string) {
	t.spoilt = true
	t.Printer.Error(program, pos, text)
}

func (t *tape) Result(r export.Result) {
	t.spoilt = t.spoilt || r.Verdict == export.Abandoned
	t.kept.Events = append(t.kept.Events, event{Result: &r})
	t.Printer.Result(r)
}

func (t *tape) Unverified(l export.Library) {
	t.kept.Events = append(t.kept.Events, event{Unverified: &l})
	t.Printer.Unverified(l)
}

// codec is how values are written: the same bytes for the same value, and texts as
// they are, for file names need not be UTF-8.
var (
	encoding, _ = cbor.CoreDetEncOptions().EncMode()
	decoding, _ = cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: 1<<31 - 1, MaxMapPairs: 1<<31 - 1}.DecMode()
)

// runKey returns the key of what a run over list prints, or false where that must not
// be kept. Everything that it prints depends on is in the key, but for the Printer's
// own options and -timeout, which changes nothing in a run that ends in time.
func (s *session) runKey(list *load.List) (key cache.Key, ok bool) {
	tool, ok := toolHash()
	if !ok {
		return key, false
	}
	wd, err := os.Getwd() // names of files are relative to it
	if err != nil {
		return key, false
	}
	c := s.c
	r := cache.NewRecipe("run 1")
	r.Key(tool)
	r.Strings([]string{wd, c.scope, c.ctx, c.why})
	r.Int(int64(c.k))
	r.Int(int64(c.hk))
	r.Int(int64(s.mem)) // beyond it packages lose their contexts
	for _, p := range c.ctxFor {
		r.String(fmt.Sprintf("%+v", p))
	}
	r.Bool(c.entry != nil)
	if c.entry != nil {
		r.String(c.entry.String())
	}
	var off []string
	for name, is := range c.off {
		if is {
			off = append(off, name)
		}
	}
	slices.Sort(off)
	r.Strings(off)
	if !list.Recipe(r) {
		return key, false
	}
	return r.Sum(), true
}

// toolHash returns a hash of this program, whose every change may change verdicts.
var toolHash = sync.OnceValues(func() (key cache.Key, ok bool) {
	exe, err := os.Executable()
	if err != nil {
		return key, false
	}
	f, err := os.Open(exe)
	if err != nil {
		return key, false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return key, false
	}
	return cache.Key(h.Sum(nil)), true
})

// openCache opens the cache, or returns nil: then it is not there, and where that is
// news it says so, once in a run.
func (s *session) openCache() *cache.Client {
	dir, _ := s.c.cacheDir()
	if dir == "" || s.uncached {
		return nil
	}
	exe, err := os.Executable()
	if err == nil {
		cmd := exec.Command(exe, "cache", "serve", dir, strconv.FormatInt(s.c.maxCache(), 10))
		cmd.Args[0] = os.Args[0]
		var c *cache.Client
		if c, err = cache.Start(cmd); err == nil {
			return c
		}
	}
	s.noCache(err)
	return nil
}

// noCache says that the cache cannot be used, and why.
func (s *session) noCache(err error) {
	dir, named := s.c.cacheDir()
	s.uncached = true
	if (named || errors.Is(err, cache.ErrInUse) || s.c.verbose) && !s.c.quiet {
		s.warn([]string{s.c.cacheError(dir, err).Error() + "; this run goes on without it"})
	}
}

// closeCache closes what openCache opened.
func (s *session) closeCache(c *cache.Client) {
	if c == nil {
		return
	}
	if err := c.Close(); err != nil {
		s.noCache(err)
	}
	if c.Damaged > 0 && !s.c.quiet {
		dir, _ := s.c.cacheDir()
		s.warn([]string{fmt.Sprintf("%s: part of the cache was damaged and is dropped", dir)})
	}
}

// sound reports whether there is nothing in k that a run would not print.
func (k *kept) sound() bool {
	for _, e := range k.Events {
		if r := e.Result; r != nil && (r.Verdict == export.Abandoned || soundResult(r) != nil) {
			return false
		}
	}
	return true
}

// replay prints what was kept.
func (s *session) replay(k *kept) {
	s.warn(k.Warnings)
	if s.c.verbose {
		s.warn(k.LeftOut)
	}
	for _, e := range k.Events {
		switch {
		case e.Progress != nil:
			s.out.Progress(e.Progress.Program, e.Progress.Stage, e.Progress.Done, e.Progress.Of)
		case e.Result != nil:
			s.results([]export.Result{*e.Result})
		case e.Unverified != nil:
			s.out.Unverified(*e.Unverified)
		}
	}
	s.out.Close()
}

// keep keeps what the tape has for later runs.
func (s *session) keep(key cache.Key, t *tape) {
	if t.spoilt {
		return
	}
	value, err := encoding.Marshal(&t.kept)
	if err != nil {
		return
	}
	if c := s.openCache(); c != nil {
		c.Put(cache.Run, key, value)
		s.closeCache(c)
	}
}

// warn prints lines on stderr.
func (s *session) warn(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.clear()
	for _, line := range lines {
		fmt.Fprintf(s.c.stderr, "bfverify: %s\n", line)
	}
}
