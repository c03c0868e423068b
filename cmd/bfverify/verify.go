package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/check"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

// A session is one run of the root command.
type session struct {
	c      *command
	ctx    context.Context
	mem    uint64
	start  time.Time
	status int
	stuck  bool  // a cancelled step goes on in the background
	why    error // what cancelled it

	dropped  []*load.Program // by choose
	scope    *load.Scope
	uncached bool   // the cache cannot be used
	warned   bool   // about models
	build    string // configuration

	mu    sync.Mutex // of what follows, as steps report progress
	out   export.Printer
	bar   *bar
	stage string // what is going on
}

// verify is the root command.
func (c *command) verify(patterns []string) error {
	if c.list {
		return c.listStages()
	}
	if c.quiet && c.verbose {
		return errors.New("-q and -v contradict each other (leave one out)")
	}
	if c.proofDir != "" && c.entry != nil {
		return errors.New("-proof writes proofs of whole programs, and -entry asks about parts (leave one out)")
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	s := &session{c: c, start: time.Now(), mem: c.memory(), bar: newBar(c.stderr, c.quiet, c.verbose)}
	if c.json {
		s.out = export.NewJSON(c.stdout)
	} else {
		s.out = export.NewText(c.stdout, export.TextOptions{
			Color: inColor(c.stdout), Quiet: c.quiet, Long: c.verbose, Stats: c.stats, Why: c.why,
		})
	}
	var cancel func()
	s.ctx, cancel = c.budget()
	defer cancel()
	stop, err := c.profile()
	if err != nil {
		return err
	}
	s.run(patterns)
	s.bar.clear()
	if err := stop(); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("cannot write the verdicts: %w", err)
	}
	if c.stats && !c.quiet {
		fmt.Fprintf(c.stderr, "%.1f s, peak memory %s\n", time.Since(s.start).Seconds(), size(peak()))
	}
	c.status = s.status
	return nil
}

// run does all that verify does once flags are known to be right.
func (s *session) run(patterns []string) {
	list := s.list(patterns)
	if list == nil {
		return
	}
	if dir, _ := s.c.cacheDir(); dir == "" || s.c.proofDir != "" { // verdicts are kept, claims are not
		s.verify(list, patterns, nil)
		return
	}
	key, ok := s.runKey(list)
	if !ok {
		s.verify(list, patterns, nil)
		return
	}
	w := s.openWarm()
	if k := w.recall(key); k != nil {
		w.close()
		s.show("the verdicts are in the cache")
		s.out.Config(s.config(list, patterns))
		s.replay(k)
		return
	}
	t := &tape{Printer: s.out}
	s.out = t
	if s.verify(list, patterns, w) {
		s.keep(key, t)
	}
}

// verify verifies what is listed, from what w has of it, which it closes. It reports
// whether what it printed holds for the listed files as they were when they were hashed.
func (s *session) verify(list *load.List, patterns []string, w *warm) bool {
	res, a, err := s.prepare(list, patterns, w)
	w.close()
	if res == nil {
		return false
	}
	defer s.close(res)
	if err != nil {
		for _, p := range res.Programs {
			s.results(s.unknown(p, nil, err))
		}
		return false
	}
	for i, p := range res.Programs {
		s.program(a, p, i, len(res.Programs))
	}
	return !res.Changed
}

// config is the first message of the output.
func (s *session) config(list *load.List, patterns []string) export.Config {
	c := s.c
	cfg := export.Config{Version: toolVersion(), Patterns: patterns, K: c.k, HK: c.hk, Ctx: c.ctx}
	if list != nil {
		cfg.Build = list.Build.String()
	}
	return cfg
}

// choose drops the programs in which -entry names nothing. That it names
// nothing in all of them is an error.
func (s *session) choose(res *load.Result) error {
	re := s.c.entry
	if re == nil || len(res.Programs) == 0 {
		return nil
	}
	var kept []*load.Program
	s.dropped = nil
	names := 0
	example := ""
	for _, p := range res.Programs {
		names += len(p.Tests)
		if len(p.Tests) > 0 && example == "" {
			example = p.Tests[0].Name
		}
		if len(s.entries(p)) > 0 {
			kept = append(kept, p)
		} else {
			s.dropped = append(s.dropped, p)
		}
	}
	if len(kept) == 0 {
		what := ""
		switch {
		case names == 1:
			what = "the only entry is " + example
		case names > 0:
			what = fmt.Sprintf("%s is one of %d entries, and none matches", example, names)
		default:
			what = "the packages have no tests, benchmarks, fuzz tests or examples with output"
			if !s.c.tests {
				what += ", because -tests=false leaves them out"
			}
		}
		return fmt.Errorf("-entry=%s matches nothing: %s (see what there is: go test -list . ./...)", re, what)
	}
	res.Programs = kept
	return nil
}

// entries returns the names that get a verdict of their own in p: those that
// -entry matches, or nil.
func (s *session) entries(p *load.Program) []string {
	if s.c.entry == nil {
		return nil
	}
	var names []string
	for _, t := range p.Tests {
		if s.c.entry.MatchString(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// program verifies one program and prints its verdicts.
func (s *session) program(a analysis, p *load.Program, i, of int) {
	live := true // until the step is over, lest one that is stuck goes on printing
	label := fmt.Sprintf("[%d/%d] %s", i+1, of, p)
	seen := map[string]bool{}
	var ctx context.Context
	var wrong error
	opt := options{
		Ctx: s.c.ctx, K: s.c.k, HK: s.c.hk, Packages: s.c.ctxFor,
		Entry: s.c.entry, Off: s.c.off, Scope: p.Has, Why: s.c.why,
		MemLimit: s.mem,
		RelFile:  relFile(),
		Progress: s.progress(label, p.Path, &live),
		Emit: func(r export.Result) {
			if r.Verdict == export.Abandoned && (r.Reason == "" || ctx.Err() != nil) {
				err := errMemory
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				r.Reason = s.reason(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := sound(p, &r); err != nil || !live || wrong != nil {
				wrong = cmp.Or(wrong, err)
				return
			}
			seen[r.Entry] = true
			s.result(r)
		},
	}
	s.at("")
	err := s.step("linking", func(c context.Context) error {
		ctx = c
		s.show(label)
		if s.c.proofDir == "" {
			return a.Verify(ctx, p, opt)
		}
		return a.Prove(ctx, p, opt, func(fp *facts.Program, claims *check.Claims) error {
			return s.c.writeProof(s.build, p, fp, claims)
		})
	})
	s.mu.Lock()
	live = false
	err = cmp.Or(err, wrong)
	s.mu.Unlock()
	missing := s.unknown(p, seen, err)
	if err == nil {
		if len(missing) == 0 {
			return
		}
		err = fmt.Errorf("no verdict for %s", strings.TrimSpace(p.String()+" "+missing[0].Entry))
	}
	if errors.Is(err, errMemory) && !s.stuck {
		debug.FreeOSMemory() // the next program may fit
	}
	if !abandoned(err) {
		s.failed(p.String(), ours(s.stageName(), err))
	}
	s.results(missing)
}

// progress returns a function that shows the progress of a program while live.
func (s *session) progress(label, path string, live *bool) func(stage string, done, of int) {
	last := ""
	return func(stage string, done, of int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !*live {
			return
		}
		text := fmt.Sprintf("%s: %s", label, stage)
		if of > 0 {
			text += fmt.Sprintf(" %d/%d", done, of)
		}
		s.bar.show(text, stage != last)
		if stage != last {
			last, s.stage = stage, stage
			s.out.Progress(path, stage, done, of)
		}
	}
}

// sound returns an error for a result that cannot be: whatever is wrong with
// the engine, a PROVED that something speaks against must not get out.
func sound(p *load.Program, r *export.Result) error {
	if r.Program != p.Path || r.Kind != p.Kind.String() {
		return fmt.Errorf("a verdict for %s (%s) instead of %s", r.Program, r.Kind, p)
	}
	return soundResult(r)
}

// soundResult is sound for a result of whatever program.
func soundResult(r *export.Result) error {
	unwaived := 0
	for _, pr := range r.Pairs {
		if pr.Waived == "" {
			unwaived++
		}
	}
	switch r.Verdict {
	case export.Proved:
		if r.Open > 0 || r.Waived > 0 || len(r.Pairs) > 0 {
			return fmt.Errorf("PROVED with %d open pairs", max(r.Open, len(r.Pairs)))
		}
	case export.Open, export.Confirmed:
		if unwaived > r.Open {
			return fmt.Errorf("%d open pairs were counted and %d listed", r.Open, unwaived)
		}
	case export.Abandoned:
	default:
		return fmt.Errorf("there is no verdict %q", r.Verdict)
	}
	return nil
}

// unknown returns the results that p should have besides those seen, with err
// as what kept it from them.
func (s *session) unknown(p *load.Program, seen map[string]bool, err error) []export.Result {
	reason := "a bug in bfverify ended the analysis; see the error"
	if abandoned(err) {
		reason = s.reason(err)
	}
	entries := s.entries(p)
	if s.c.entry == nil {
		entries = []string{""}
	}
	var rs []export.Result
	for _, e := range entries {
		if !seen[e] {
			rs = append(rs, export.Result{Program: p.Path, Kind: p.Kind.String(), Entry: e, Verdict: export.Abandoned, Reason: reason})
		}
	}
	return rs
}

// results prints verdicts and counts them in the exit status.
func (s *session) results(rs []export.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rs {
		s.result(r)
	}
}

// result prints one verdict; the caller holds mu.
func (s *session) result(r export.Result) {
	s.bar.clear()
	s.out.Result(r)
	s.out.Flush() // verify looks at the error
	s.status = worse(s.status, statusOf(r))
}

// statusOf returns the exit status that a verdict asks for.
func statusOf(r export.Result) int {
	switch {
	case r.Verdict == export.Proved:
		return exitProved
	case r.Verdict == export.Open && r.Open == 0 && r.Waived > 0:
		return exitProved
	case r.Verdict == export.Open, r.Verdict == export.Confirmed:
		return exitOpen
	}
	return exitAbandoned
}

// failed reports an error, about one program or, with a name that is no
// program's, about the run.
func (s *session) failed(name string, err error) {
	text := ""
	if abandoned(err) {
		text = s.reason(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.clear()
	s.out.Flush()
	if text != "" {
		fmt.Fprintf(s.c.stderr, "%s %s: %s\n", export.Abandoned, name, text)
		s.out.Error("", export.Pos{}, text)
		s.status = worse(s.status, exitAbandoned)
		return
	}
	s.status = exitError
	var bug *bugError
	program := ""
	if errors.As(err, &bug) {
		program = strings.TrimSuffix(name, ".test")
		if name != "" {
			fmt.Fprintf(s.c.stderr, "bfverify: %s: %v\n", name, err)
		} else {
			fmt.Fprintf(s.c.stderr, "bfverify: %v\n", err)
		}
		s.out.Error(program, export.Pos{}, oneLine(err.Error()))
		return
	}
	fmt.Fprintln(s.c.stderr, err)
	for _, d := range diags(err) {
		s.out.Error("", export.Pos{File: d.Pos.Filename, Line: d.Pos.Line, Col: d.Pos.Column}, d.Msg)
	}
}

// diags takes an error of loading apart for the stream: its findings, and last
// what to do.
func diags(err error) []load.Diag {
	var (
		code  *load.CodeError
		model *load.ModelError
		dep   *load.DependencyError
		cycle *load.CycleError
		list  []load.Diag
	)
	switch {
	case errors.As(err, &code):
		list = code.Diags
	case errors.As(err, &model):
		list = model.Diags
	case errors.As(err, &dep):
		list = dep.Diags
	case errors.As(err, &cycle):
		d := load.Diag{Pos: cycle.Pos, Msg: err.Error()}
		if cycle.Pos.Filename != "" {
			d.Msg = strings.TrimPrefix(d.Msg, cycle.Pos.String()+": ")
		}
		return []load.Diag{d}
	default:
		return []load.Diag{{Msg: err.Error()}}
	}
	text := strings.Split(strings.TrimRight(err.Error(), "\n"), "\n")
	return append(list[:len(list):len(list)], load.Diag{Msg: text[len(text)-1]})
}

// ours makes an error of the engine one that only a bug explains.
func ours(stage string, err error) error {
	var bug *bugError
	if errors.As(err, &bug) {
		return bug
	}
	if stage == "" {
		stage = "after the last stage"
	}
	what, stack, _ := strings.Cut(err.Error(), "\n")
	return &bugError{stage, what, []byte(stack)}
}

// close prints what the verdicts do not cover.
func (s *session) close(res *load.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.clear()
	for _, p := range s.dropped {
		s.out.Unverified(export.Library{Path: p.String(), Group: "left out, as -entry matches nothing in them"})
	}
	covered := map[string]bool{}
	for _, p := range res.Programs {
		for _, q := range p.Packages() {
			covered[q.PkgPath] = true
		}
	}
	for _, path := range res.Libraries {
		l := export.Library{Path: path}
		switch {
		case covered[path]:
			l.Group = "covered only as the programs above use them"
		case s.c.entry != nil:
			l.Group = "not verified, as no entry that -entry matches uses them"
		case !s.c.tests:
			l.Text = "no program here uses it, and -tests=false leaves out tests that it may have (for a verdict: bfverify " + path + ")"
		default:
			l.Text = "it has neither func main nor tests, and no program here uses it (for a verdict write a test that calls it from several goroutines, then: bfverify " + path + ")"
		}
		s.out.Unverified(l)
	}
	s.out.Close()
}

// at says what is going on; "" says that nothing is.
func (s *session) at(stage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = stage
	if stage != "" {
		s.bar.show(stage, false)
	}
}

// show puts a text on the bar.
func (s *session) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar.show(text, true)
}

// stageName says what is going on, or was last.
func (s *session) stageName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stage
}

// relFile returns a function that makes file names relative to the current
// directory where that is shorter.
func relFile() func(string) string {
	wd, err := os.Getwd()
	if err != nil {
		return func(name string) string { return name }
	}
	return func(name string) string {
		if rel, err := filepath.Rel(wd, name); err == nil && len(rel) < len(name) {
			return rel
		}
		return name
	}
}

// listStages prints the pipeline.
func (c *command) listStages() error {
	for _, st := range pipeline() {
		fmt.Fprintf(c.stdout, "%-14s %s (%s)\n", st.Name, st.Doc, st.Source)
	}
	return nil
}
