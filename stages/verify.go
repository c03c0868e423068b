package stages

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"sort"
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
	Entry    *regexp.Regexp
	Off      map[string]bool // stages that are switched off
	Scope    func(pkgPath string) bool
	Why      string // FILE:LINE
	MemLimit uint64
	RelFile  func(string) string
	Progress func(stage string, done, of int)
	// Trace, if set, gets every pair in scope with how it went down the stages.
	Trace func(export.WhyRow)
	// Emit, if set, gets each result as it comes, instead of the returned list.
	Emit func(export.Result)
}

// run is the verification of one view.
type run struct {
	w    *stage.World
	v    *stage.View
	opt  *Options
	esc  stage.Bits
	par  *parallel
	lock *mustnot.Locks
	user []stage.Set // by instance: the threads that run it under a call made in scope
	made map[pta.ObjID]bool
	// under, if set, are the instances that the entry leads to.
	under  stage.Bits
	scope  stage.Bits          // instances of functions in scope
	wholes []*stage.OrderClass // by kind
	alike  map[signature]outcome
	buf    []byte
}

// Verify verifies one program: one Result for it, or with opt.Entry one for
// each entry that matches. An error is a fault of the input or of bfverify; a
// spent budget is no error but the verdict ABANDONED.
func Verify(ctx context.Context, p *facts.Program, opt Options) ([]export.Result, error) {
	if opt.Scope == nil {
		opt.Scope = func(string) bool { return true }
	}
	if opt.RelFile == nil {
		opt.RelFile = func(s string) string { return s }
	}
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
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
	blank := func(e int) export.Result {
		r := export.Result{Program: p.Path, Kind: "main"}
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
	w := stage.NewWorld(res)
	full := stage.NewView(w, stage.AllEntries)
	ov := findOverwritten(w)
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
	lockSecs float64
}

// solve runs the points-to analysis; test functions that may call t.Parallel
// are found first and then started as goroutines.
func solve(ctx context.Context, p *facts.Program, opt *Options) (*pta.Result, time.Duration, error) {
	start := time.Now()
	cfg := pta.Config{Policy: pta.Policy(opt.Ctx), K: opt.K, HK: opt.HK, MemLimit: opt.MemLimit,
		Progress: func(nodes, insts int, _ pta.Stats) { opt.Progress("aliasing", insts, 0) }}
	if cfg.Policy == "" {
		cfg.Policy = pta.Hybrid
	}
	res, err := pta.Analyze(ctx, p, cfg)
	if err != nil {
		return nil, 0, err
	}
	if par := parallelTests(res); len(par) > 0 {
		cfg.Parallel = par
		if res, err = pta.Analyze(ctx, p, cfg); err != nil {
			return nil, 0, err
		}
	}
	return res, time.Since(start), nil
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
			if !stage.IsSpawn(e.Kind) {
				callers[e.Callee] = append(callers[e.Callee], pta.InstID(i))
			}
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

// verifyView runs the pipeline for one entry (or all, -1).
func verifyView(ctx context.Context, w *stage.World, opt *Options, sh *shared, entry int, out *export.Result) error {
	v := stage.NewView(w, entry)
	r := &run{w: w, v: v, opt: opt, made: map[pta.ObjID]bool{}, alike: map[signature]outcome{}, lock: sh.locks}
	r.findScope()
	ov := sh.over
	cells := w.Cells
	if entry >= 0 { // pairs with at least one access that this entry leads to
		r.under = v.Under(entry)
		cells = w.CellsUnder(r.under)
	}
	secs := map[string]float64{"global-lock": sh.lockSecs}
	sh.lockSecs = 0
	timed := func(name string, f func()) {
		t := time.Now()
		f()
		secs[name] += time.Since(t).Seconds()
	}
	timed("escaping", func() { r.esc = escaping(v) })
	timed("parallel", func() {
		joins := waitGroups(v, ov)
		r.par = newParallel(v, newRunning(v, joins), newAwaited(v, ov, joins))
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := over(opt); err != nil {
		return err
	}
	r.userCalls()
	timed("parallel", func() { r.mergeOrders(cells) })
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

// userCalls computes, for each instance, the threads in which it runs under a
// call made by a package in scope. A go statement in scope that starts another
// package's function is a call made in scope.
func (r *run) userCalls() {
	v, pool := r.v, r.v.ThreadPool()
	threads := stage.None
	for t := range v.Threads {
		for _, s := range v.Threads[t].Spawns {
			if r.inScope(s.By) {
				threads = pool.Or(threads, pool.One(t))
			}
		}
	}
	r.user = v.FlowThreads(func(n pta.InstID) stage.Set {
		if r.inScope(n) {
			return v.ThreadSet(n)
		}
		return pool.And(v.ThreadEntry(n), threads)
	}, nil)
}

func (r *run) inScope(n pta.InstID) bool { return r.scope.Has(int(n)) }

// findScope finds the instances of functions in scope.
func (r *run) findScope() {
	r.scope = stage.NewBits(len(r.v.Res.Insts))
	pkgs := map[string]bool{}
	for n := range r.v.Res.Insts {
		f := r.v.Res.Func(pta.InstID(n))
		if f == nil || f.Pkg == "" {
			continue
		}
		in, ok := pkgs[f.Pkg]
		if !ok {
			in = r.opt.Scope(f.Pkg)
			pkgs[f.Pkg] = in
		}
		if in {
			r.scope.Add(n)
		}
	}
}

// madeInScope reports whether the packages in scope made an object: its site
// lies in them, or an element of its heap context does.
func (r *run) madeInScope(o pta.ObjID) bool {
	if m, ok := r.made[o]; ok {
		return m
	}
	ob := &r.v.Res.Objs[o]
	m := false
	if ob.Kind == pta.ObjGlobal {
		m = r.opt.Scope(r.v.Prog.Globals[ob.Global].Pkg)
	} else {
		for _, fn := range r.v.Res.MakersOf(o) {
			if f := r.v.Prog.Funcs[fn]; f != nil && f.Pkg != "" && r.opt.Scope(f.Pkg) {
				m = true
			}
		}
	}
	r.made[o] = m
	return m
}

// madeBelow reports whether some instance that makes the object runs under a
// call made in scope, at any depth. Such an object may be the user's all the
// same, so that leaving its pairs out of scope is an assumption.
func (r *run) madeBelow(o pta.ObjID) bool {
	ob := &r.v.Res.Objs[o]
	if ob.Kind != pta.ObjSite && ob.Kind != pta.ObjNew {
		return false
	}
	for _, n := range r.v.InstsOf[ob.Fn] {
		if r.user[n] != stage.None {
			return true
		}
	}
	return false
}

// outOfScope reports whether no pair of a cell can be in scope: no access lies
// in a package in scope and none of those made the object. Such pairs are
// counted as they leave escaping and looked at no further.
func (r *run) outOfScope(cell uint32) bool {
	obj, _ := r.v.Res.Object(cell)
	if r.madeInScope(obj) {
		return false
	}
	for _, id := range r.w.At(cell) {
		if r.inScope(r.w.Accesses[id].Inst) {
			return false
		}
	}
	return true
}

// cell runs the pipeline on the pairs of one cell.
func (r *run) cell(cell uint32, rep *report, fun *funnel) {
	off := r.opt.Off
	obj, _ := r.v.Res.Object(cell)
	here := fun.cell(cell, r.esc.Has(int(obj)) || off["escaping"])
	if r.outOfScope(cell) {
		if r.closer(cell) {
			fun.rest(here)
			rep.count(cell, here.pairs.count())
		}
		return
	}
	classes := r.classes(cell)
	rep.next()
	// Cells whose classes are the same have the same pairs, left by the same
	// stages; only names differ, and a pair is named after its first location.
	alike := r.opt.Trace == nil && r.opt.Why == ""
	var sig signature
	if alike {
		sig = r.sign(cell, classes)
		if d, ok := r.alike[sig]; ok {
			fun.repeat(d.fun)
			rep.out += d.out
			rep.below += d.below
			return
		}
		before := outcome{fun.after(), rep.out, rep.below}
		defer func() {
			d := outcome{fun.after(), rep.out - before.out, rep.below - before.below}
			for k := range d.fun {
				d.fun[k].tuples -= before.fun[k].tuples
				d.fun[k].pairs -= before.fun[k].pairs
			}
			r.alike[sig] = d
		}()
	}
	fun.classes(classes)
	for i, a := range classes {
		for j := i; j < len(classes); j++ {
			b := classes[j]
			if !a.Write && !b.Write || a.Atomic && b.Atomic || !a.Under && !b.Under {
				continue
			}
			p := &stage.Pair{Cell: cell, A: a, B: b}
			var by stage.Evidence
			at := len(Pipeline)
			for k := rowEscaping; k < len(Pipeline); k++ {
				if by == nil && !off[Pipeline[k].Name] {
					if by = Pipeline[k].Refute(r, p); by != nil {
						at = k
					}
				}
			}
			n := a.Tuples * b.Tuples
			if i == j {
				n = a.Tuples * (a.Tuples + 1) / 2
			}
			in := by == nil && (a.InScope || b.InScope || a.User && b.User && r.madeInScope(obj))
			fun.left(i, j, n, at, in)
			rep.why(p, by, at)
			if in {
				rep.open(p)
			}
		}
	}
	rep.count(cell, fun.done())
}

// whole is the order class that stands for a thread as a whole, where points
// need not be told apart.
func (r *run) whole(t int) *stage.OrderClass {
	k := r.par.kinds[t]
	for len(r.wholes) <= k {
		r.wholes = append(r.wholes, nil)
	}
	if r.wholes[k] == nil {
		r.wholes[k] = &stage.OrderClass{ID: -1 - k, Thread: t, Whole: true}
	}
	return r.wholes[k]
}

// signature is what decides the outcome of a cell.
type signature [sha256.Size]byte

// outcome is what a cell adds to the counts.
type outcome struct {
	fun        []counts // by stage
	out, below int
}

func (r *run) sign(cell uint32, classes []*stage.Class) signature {
	obj, _ := r.v.Res.Object(cell)
	b := r.buf[:0]
	flag := func(xs ...bool) {
		for _, x := range xs {
			if x {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	flag(r.esc.Has(int(obj)), r.madeInScope(obj), r.madeBelow(obj))
	for _, c := range classes {
		b = binary.AppendVarint(b, int64(c.Order.ID))
		flag(c.Write, c.Atomic, c.User, c.InScope, c.Under)
		b = binary.AppendUvarint(b, uint64(c.Tuples))
		b = binary.AppendUvarint(b, uint64(len(c.Locks)))
		for _, g := range c.Locks {
			flag(g.Object, g.Write)
			b = binary.AppendUvarint(b, uint64(g.Cell))
			b = binary.AppendVarint(b, g.Delta)
		}
		b = binary.AppendUvarint(b, uint64(len(c.Members)))
		for _, m := range c.Members {
			b = binary.AppendUvarint(b, uint64(m.Access))
		}
	}
	r.buf = b
	return sha256.Sum256(b)
}

// oneGoroutine reports whether all accesses to a cell are by one goroutine.
func (r *run) oneGoroutine(cell uint32) bool {
	only := stage.None
	for _, id := range r.w.At(cell) {
		s := r.v.ThreadSet(r.w.Accesses[id].Inst)
		if s == stage.None || s == only {
			continue
		}
		ts := r.v.List(s)
		if only != stage.None || len(ts) != 1 || !r.v.Threads[ts[0]].Single {
			return false
		}
		only = s
	}
	return true
}

// closer reports whether some stage from here on looks at the accesses to a cell
// one by one: not on objects that do not escape, nor where one goroutine makes
// all accesses.
func (r *run) closer(cell uint32) bool {
	obj, _ := r.v.Res.Object(cell)
	return (r.esc.Has(int(obj)) || r.opt.Off["escaping"]) && (!r.oneGoroutine(cell) || r.opt.Off["parallel"])
}

// mergeOrders merges the order classes of all accesses that will be looked at.
func (r *run) mergeOrders(cells []uint32) {
	seen := stage.NewBits(len(r.w.Accesses))
	for _, cell := range cells {
		if !r.closer(cell) || r.outOfScope(cell) {
			continue
		}
		for _, id := range r.w.At(cell) {
			if seen.Add(int(id)) {
				a := &r.w.Accesses[id]
				r.par.classesAt(r.par.kindsAt(a.Inst, r.user[a.Inst]), a)
			}
		}
	}
	r.par.merge()
}

// classes groups the accesses to a cell so that members of one class cannot be
// told apart by any stage.
func (r *run) classes(cell uint32) []*stage.Class {
	type key struct {
		order         int
		write, atomic bool
		sync          bool
		user, scope   bool
		under         bool
		locks         string
	}
	byKey := map[key]*stage.Class{}
	var list []*stage.Class
	closer := r.closer(cell)
	for _, id := range r.w.At(cell) {
		a := &r.w.Accesses[id]
		base := key{write: a.Write, atomic: a.Atomic, sync: a.Sync != stage.NoUse, under: r.under == nil || r.under.Has(int(a.Inst))}
		tell := closer || r.opt.Trace != nil || r.opt.Why != ""
		if tell {
			base.scope = r.inScope(a.Inst)
		}
		var gs []stage.Guard
		if closer {
			if gs = r.lock.GuardsAt(a, cell); len(gs) > 0 {
				base.locks = fmt.Sprint(gs)
			}
		}
		var orders []*stage.OrderClass
		kinds := r.par.kindsAt(a.Inst, r.user[a.Inst])
		if closer {
			orders = r.par.classesAt(kinds, a)
		}
		for i, kind := range kinds {
			t, k := kind.thread, base
			if a.Sync == stage.UseAdd && r.par.paid(cell, t, a) {
				continue
			}
			oc := r.whole(t)
			if closer {
				oc = r.par.merged(orders[i])
			}
			k.order, k.user = oc.ID, tell && kind.user
			c := byKey[k]
			if c == nil {
				c = &stage.Class{Thread: t, Write: a.Write, Atomic: a.Atomic, Rep: id, Order: oc, Locks: gs, User: k.user, InScope: k.scope, Under: k.under}
				byKey[k] = c
				list = append(list, c)
			}
			c.Tuples += int64(kind.count)
			if m := c.Members; len(m) == 0 || m[len(m)-1].Access != id {
				c.Members = append(m, stage.Member{Access: id, Thread: int32(t)})
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Rep < list[j].Rep })
	return list
}
