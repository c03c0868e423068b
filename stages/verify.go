package stages

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"time"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Options choose how a program is verified and what is reported.
type Options struct {
	Ctx      string // insens, obj, hybrid
	K, HK    int    // HK < 0: the policy's default
	Packages []pta.PackagePolicy
	Entry    *regexp.Regexp
	Off      map[string]bool // stages that are switched off
	Scope    func(pkgPath string) bool
	Why      string // FILE:LINE
	MemLimit uint64
	RelFile  func(string) string
	Progress func(stage string, done, of int)
	// Trace, if set, gets every pair in scope with how it went down the stages.
	Trace func(export.WhyRow)
	// Solved, if set, gets the points-to solution that all pairs rest on.
	Solved func(*pta.Result)
	// Judged, if set, gets every pair of classes, in scope or not, with the evidence
	// that refutes it, or nil.
	Judged func(w *stage.World, p *stage.Pair, by stage.Evidence)
	// Emit, if set, gets each result as it comes, instead of the returned list.
	Emit func(export.Result)
}

// fill sets the functions that are not set.
func (o *Options) fill() {
	if o.Scope == nil {
		o.Scope = func(string) bool { return true }
	}
	if o.RelFile == nil {
		o.RelFile = func(s string) string { return s }
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
}

// run is the verification of one view.
type run struct {
	w     *stage.World
	v     *stage.View
	opt   *Options
	esc   stage.Bits
	par   *parallel
	lock  *mustnot.Locks
	pub   *published
	over  *overwritten
	homes *homes
	// frames are those that objects belong to.
	frames   *frames
	startsAt map[pta.ObjID]bool // see starts
	// looseObjs is found when first asked for; see loose.
	looseObjs stage.Bits
	user      []stage.Set // by instance: the threads that run it under a call made in scope
	made      map[pta.ObjID]bool
	// under, if set, are the instances that the entry leads to.
	under  stage.Bits
	scope  stage.Bits          // instances of functions in scope
	wholes []*stage.OrderClass // by kind
	alike  map[signature]outcome
	// See inherited.go: what classes inherit, and the threads started under a lock.
	inherits  map[*stage.Class][]inherited
	underLock stage.Bits
	buf       []byte
}

// Verify verifies one program: one Result for it, or with opt.Entry one for
// each entry that matches. An error is a fault of the input or of bfverify; a
// spent budget is no error but the verdict ABANDONED.
func Verify(ctx context.Context, p *facts.Program, opt Options) ([]export.Result, error) {
	opt.fill()
	var entries []int
	if opt.Entry != nil {
		for i, e := range p.Entries {
			if opt.Entry.MatchString(e.Name) {
				entries = append(entries, i)
			}
		}
		if len(entries) == 0 {
			return nil, nil
		}
	} else {
		entries = []int{-1}
	}
	var out []export.Result
	emit := func(r export.Result) {
		if opt.Emit != nil {
			opt.Emit(r)
			return
		}
		out = append(out, r)
	}
	var coarse []export.Coarse
	blank := func(e int) export.Result {
		r := export.Result{Program: p.Path, Kind: "main", Coarse: coarse}
		if p.Test {
			r.Kind = "test"
		}
		if e >= 0 {
			r.Entry = p.Entries[e].Name
		} else if e == stage.NoEntry {
			r.Entry = InitEntry
		}
		return r
	}
	abandon := func(from int, err error) {
		for _, e := range entries[from:] {
			r := blank(e)
			r.Verdict, r.Reason = export.Abandoned, err.Error()
			emit(r)
		}
	}
	res, spent, err := solve(ctx, p, &opt)
	if err != nil {
		if errors.Is(err, pta.ErrBudget) || ctx.Err() != nil {
			abandon(0, err)
			return out, nil
		}
		return nil, err
	}
	for _, c := range res.Coarse {
		coarse = append(coarse, export.Coarse{Package: c.Pkg, Share: c.Share})
	}
	if opt.Solved != nil {
		if opt.Solved(res); ctx.Err() != nil {
			abandon(0, ctx.Err())
			return out, nil
		}
	}
	opt.Progress("accesses", 0, 0)
	w := stage.NewWorld(res)
	ov := findOverwritten(w)
	w.Overwritten = ov.Has
	full := stage.NewView(w, stage.AllEntries)
	opt.Progress("locks", 0, 0)
	start := time.Now()
	shared := &shared{over: ov, locks: mustnot.NewLocks(full, ov.Has)}
	shared.lockSecs = time.Since(start).Seconds()
	if opt.Entry != nil {
		entries = append([]int{stage.NoEntry}, entries...)
	}
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			abandon(i, err)
			return out, nil
		}
		opt.Progress("pairs", i, len(entries))
		r := blank(e)
		if err := verifyView(ctx, w, &opt, shared, e, &r); err != nil {
			abandon(i, err)
			return out, nil
		}
		if e == stage.NoEntry && r.Open == 0 {
			continue
		}
		if len(r.Funnel) > 2 {
			r.Funnel[2].Seconds += spent.Seconds()
			spent = 0
		}
		emit(r)
	}
	return out, nil
}

// InitEntry is the entry under which pairs are reported that do not depend on
// any entry: both accesses run in initialisers, TestMain, or goroutines that
// those started. Each entry's own verdict leaves such pairs out.
const InitEntry = "init"

// shared is what does not depend on the entry: overwritten objects, and the
// must-locksets, which hold for each entry alone because they hold for all.
type shared struct {
	over     *overwritten
	locks    *mustnot.Locks
	census   *census // made with the first view
	holders  holders
	lockSecs float64
}

// solve runs the points-to analysis; test functions that may call t.Parallel
// are found first and then started as goroutines.
func solve(ctx context.Context, p *facts.Program, opt *Options) (*pta.Result, time.Duration, error) {
	start := time.Now()
	cfg := pta.Config{Policy: pta.Policy(opt.Ctx), K: opt.K, HK: opt.HK, MemLimit: opt.MemLimit / 3 * 2, // the rest is for the stages
		Packages: opt.Packages, Effort: pta.DefaultEffort,
		Progress: func(nodes, insts int, _ pta.Stats) { opt.Progress("aliasing", insts, 0) }}
	if cfg.Policy == "" {
		cfg.Policy = pta.Hybrid
	}
	res, err := pta.Analyze(ctx, p, cfg)
	if err != nil {
		return nil, 0, err
	}
	// The second analysis may have other contexts, if packages lose theirs.
	for {
		more := false
		for c := range parallelTests(res) {
			if !cfg.Parallel[c] {
				if cfg.Parallel == nil {
					cfg.Parallel = map[string]bool{}
				}
				cfg.Parallel[c], more = true, true
			}
		}
		if !more {
			return res, time.Since(start), nil
		}
		coarse := res.Coarse
		for _, c := range coarse {
			cfg.Packages = append(cfg.Packages, pta.PackagePolicy{Pattern: c.Pkg, Policy: pta.Insens})
		}
		if res, err = pta.Analyze(ctx, p, cfg); err != nil {
			return nil, 0, err
		}
		res.Coarse = append(coarse, res.Coarse...)
	}
}

// parallelTests returns the contexts of testing's runner in which it runs a
// test that may call t.Parallel, directly or not: the rest of such a test
// overlaps other tests, so all of it is taken to run in a goroutine of its own.
func parallelTests(res *pta.Result) map[string]bool {
	n := len(res.Insts)
	may := make([]bool, n)
	callers := make([][]pta.InstID, n)
	var todo []pta.InstID
	for i := 1; i < n; i++ {
		f := res.Func(pta.InstID(i))
		if f == nil {
			continue
		}
		for _, e := range res.Insts[i].Out {
			// Goroutines of a test may call its Parallel, too.
			callers[e.Callee] = append(callers[e.Callee], pta.InstID(i))
		}
		for _, y := range f.Syncs {
			if y.Op == facts.SyncParallel && !may[i] {
				may[i] = true
				todo = append(todo, pta.InstID(i))
			}
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range callers[i] {
			if !may[c] {
				may[c] = true
				todo = append(todo, c)
			}
		}
	}
	out := map[string]bool{}
	for i := 1; i < n; i++ {
		if f := res.Func(pta.InstID(i)); f != nil && f.Name == pta.TestRunner && may[i] {
			out[res.CtxKey(res.Insts[i].Ctx)] = true
		}
	}
	return out
}

// newRun makes what stages ask, for one entry (or all, -1), and lists the cells to
// look at. timed runs the analyses of a stage.
func newRun(ctx context.Context, w *stage.World, opt *Options, sh *shared, entry int, timed func(stage string, f func())) (r *run, cells []uint32, err error) {
	v := stage.NewView(w, entry)
	r = &run{w: w, v: v, opt: opt, made: map[pta.ObjID]bool{}, startsAt: map[pta.ObjID]bool{}, alike: map[signature]outcome{}, lock: sh.locks}
	r.pub = newPublished(r, &sh.holders)
	r.over, r.frames = sh.over, newFrames(r)
	r.findScope()
	cells = w.Cells
	if entry >= 0 { // pairs with at least one access that this entry leads to
		r.under = v.Under(entry)
		cells = w.CellsUnder(r.under)
	}
	timed("escaping", func() { r.esc = escaping(v) })
	timed("parallel", func() {
		joins := r.waitGroups(v)
		r.par = newParallel(v, newRunning(v, joins), newAwaited(r, v, joins))
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if err := over(opt); err != nil {
		return nil, nil, err
	}
	timed("local-signal", func() { r.homes = newHomes(r) })
	r.userCalls()
	timed("parallel", func() { r.mergeOrders(cells) })
	return r, cells, nil
}

// verifyView runs the pipeline for one entry (or all, -1).
func verifyView(ctx context.Context, w *stage.World, opt *Options, sh *shared, entry int, out *export.Result) error {
	secs := map[string]float64{"global-lock": sh.lockSecs}
	sh.lockSecs = 0
	r, cells, err := newRun(ctx, w, opt, sh, entry, func(name string, f func()) {
		opt.Progress(name, 0, 0)
		t := time.Now()
		f()
		secs[name] += time.Since(t).Seconds()
	})
	if err != nil {
		return err
	}
	rep := newReport(r)
	if sh.census == nil {
		sh.census = newCensus(w)
	}
	fun := newFunnel(r, sh.census)
	for k, cell := range cells {
		if k%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			opt.Progress("pairs", k, len(cells))
		}
		r.cell(cell, rep, fun)
	}
	for i, s := range Pipeline {
		out.Funnel = append(out.Funnel, export.FunnelRow{Stage: s.Name, Tuples: fun.tuples[i], Pairs: fun.pairs[i], Seconds: secs[s.Name]})
	}
	rep.finish(out)
	return nil
}

// over reports a spent memory budget.
func over(opt *Options) error {
	if opt.MemLimit == 0 {
		return nil
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > opt.MemLimit {
		return fmt.Errorf("%w: %d MB in use", pta.ErrBudget, m.HeapAlloc>>20)
	}
	return nil
}
