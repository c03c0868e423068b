package stages

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Pairs are listed one by one up to maxPairs for a location and maxAll in all;
// beyond, only those that show an access that no pair shows there, or anywhere.
// All are counted.
const (
	maxPairs = 200
	maxAll   = 20_000
)

// report collects the open pairs of a view.
type report struct {
	r        *run
	pairs    []stage.Bits    // open pairs: by key, the keys of the other side
	listed   map[[2]int]bool // those listed
	anywhere map[int]bool    // keys listed
	locOf    map[locKey]string
	keys     map[string]int
	keyOf    map[keyAt]int
	sides    map[sideKey]export.Side
	framesOf map[sideKey][]export.Frame
	own      []int32        // keys of sources in scope, plus 1
	sets     map[string]int // of keys, see sources
	keySets  []stage.Bits
	done     map[[2]int]bool // pairs of sets
	ofClass  map[*stage.Class]sourceSet
	byLoc    map[string]*place
	below    int                    // of those: on objects made below a call in scope
	out      int                    // pairs out of scope, at each location
	trees    map[int][]stage.Caller // by thread: how each instance is reached
	rows     []export.WhyRow
	asked    map[string]bool
}

// place is what is open at one location.
type place struct {
	name  string
	pairs []*export.Pair
	shown map[int]bool
}

// locKey is what the name of a location depends on.
type locKey struct{ cell, source uint32 }

// step is one call on a path: the instance called and the point that calls it.
type step struct {
	inst pta.InstID
	from pta.InstID
	at   facts.Pos
}

func newReport(r *run) *report {
	return &report{r: r, listed: map[[2]int]bool{}, anywhere: map[int]bool{}, locOf: map[locKey]string{}, keys: map[string]int{}, keyOf: map[keyAt]int{}, sides: map[sideKey]export.Side{}, framesOf: map[sideKey][]export.Frame{}, own: make([]int32, r.w.Sources), sets: map[string]int{}, done: map[[2]int]bool{}, ofClass: map[*stage.Class]sourceSet{}, byLoc: map[string]*place{}, trees: map[int][]stage.Caller{}, asked: map[string]bool{}}
}

// open records that all pairs of two classes are open, and in scope.
func (rp *report) open(p *stage.Pair) {
	as, ka := rp.sources(p.A)
	bs, kb := rp.sources(p.B)
	if k := [2]int{min(ka, kb), max(ka, kb)}; rp.done[k] {
		return // shown, at this location or another
	} else {
		rp.done[k] = true
	}
	for range len(rp.keys) - len(rp.pairs) {
		rp.pairs = append(rp.pairs, nil)
	}
	add := func(key int, others stage.Bits) {
		if n := len(others) - len(rp.pairs[key]); n > 0 {
			rp.pairs[key] = append(rp.pairs[key], make(stage.Bits, n)...)
		}
		rp.pairs[key].Or(others)
	}
	for _, x := range as {
		add(x.key, rp.keySets[kb])
	}
	for _, y := range bs {
		add(y.key, rp.keySets[ka])
	}
	// All pairs where they are few; else as many as show every access once.
	if len(as)*len(bs) <= 4*maxPairs {
		for _, x := range as {
			for _, y := range bs {
				rp.add(p, x, y)
			}
		}
		return
	}
	for _, x := range as {
		rp.add(p, x, bs[0])
	}
	for _, y := range bs {
		rp.add(p, as[0], y)
	}
}

// openPairs returns the number of open pairs.
func (rp *report) openPairs() int {
	n, same := 0, 0
	for k, s := range rp.pairs {
		for _, w := range s {
			n += bits.OnesCount64(w)
		}
		if k/64 < len(s) && s.Has(k) {
			same++
		}
	}
	return (n-same)/2 + same
}

// shownAt is a member of a class and the number of what it is shown as.
type shownAt struct {
	stage.Member
	key int
}

// sources lists the members of a class that are shown differently, and numbers
// what they are shown as together.
func (rp *report) sources(c *stage.Class) ([]shownAt, int) {
	if s, ok := rp.ofClass[c]; ok {
		return s.list, s.id
	}
	var out []shownAt
	seen := map[int]bool{}
	for _, m := range c.Members {
		if k := rp.key(m); !seen[k] {
			seen[k] = true
			out = append(out, shownAt{m, k})
		}
	}
	keys := make([]int, len(out))
	for i, s := range out {
		keys[i] = s.key
	}
	slices.Sort(keys)
	var name []byte
	for _, k := range keys {
		name = binary.AppendUvarint(name, uint64(k))
	}
	id, ok := rp.sets[string(name)]
	if !ok {
		id = len(rp.sets)
		rp.sets[string(name)] = id
		set := stage.NewBits(slices.Max(keys) + 1)
		for _, k := range keys {
			set.Add(k)
		}
		rp.keySets = append(rp.keySets, set)
	}
	rp.ofClass[c] = sourceSet{out, id}
	return out, id
}

// sourceSet is what sources returns.
type sourceSet struct {
	list []shownAt
	id   int
}

// next forgets the classes of the cell before.
func (rp *report) next() {
	clear(rp.ofClass)
	clear(rp.locOf)
}

// count counts pairs that are out of scope.
func (rp *report) count(cell uint32, n int64) {
	rp.out += int(n)
	if o, _ := rp.r.v.Res.Object(cell); rp.r.madeBelow(o) {
		rp.below += int(n)
	}
}

// maxWhy bounds the pairs listed for -why.
const maxWhy = 100

// why records how a pair went down the stages, if it has an access at the place
// that was asked for.
func (rp *report) why(p *stage.Pair, by stage.Evidence, at int) {
	trace := rp.r.opt.Trace
	if trace == nil && (rp.r.opt.Why == "" || len(rp.rows) >= maxWhy) || !p.A.InScope && !p.B.InScope && !(p.A.User && p.B.User) {
		return
	}
	if o, _ := rp.r.v.Res.Object(p.Cell); trace != nil && !p.A.InScope && !p.B.InScope && !rp.r.madeInScope(o) {
		return // out of scope, where -why shows more
	}
	for _, x := range p.A.Members {
		for _, y := range p.B.Members {
			pa, _ := rp.shown(x)
			pb, _ := rp.shown(y)
			if trace == nil && !rp.askedFor(pa) && !rp.askedFor(pb) {
				continue
			}
			row := export.WhyRow{Outcome: "open"}
			for k := rowEscaping; k < len(Pipeline); k++ {
				name := Pipeline[k].Name
				switch {
				case rp.r.opt.Off[name]:
					row.Steps = append(row.Steps, name+": off")
				case by != nil && k == at:
					row.Steps = append(row.Steps, name+": refuted, "+rp.evidence(by))
					row.Outcome = "refuted by " + name
				case by == nil || k < at:
					row.Steps = append(row.Steps, name+": kept")
				}
			}
			key := fmt.Sprint(rp.key(x), rp.key(y), row.Outcome)
			if rp.asked[key] || trace == nil && len(rp.rows) >= maxWhy {
				continue
			}
			rp.asked[key] = true
			row.A, row.B = rp.side(x), rp.side(y)
			if trace != nil {
				trace(row)
				continue
			}
			rp.rows = append(rp.rows, row)
		}
	}
}

// askedFor reports whether a position is that of -why FILE:LINE; the file may
// be given by its last elements.
func (rp *report) askedFor(p export.Pos) bool {
	file, line, ok := strings.Cut(rp.r.opt.Why, ":")
	if !ok || fmt.Sprint(p.Line) != line {
		return false
	}
	return p.File == file || strings.HasSuffix(p.File, "/"+file)
}

// key numbers the source access that an access is shown as: its own place, or
// the call in scope that leads to it.
func (rp *report) key(m stage.Member) int {
	a := &rp.r.w.Accesses[m.Access]
	number := func(name string) int {
		k, ok := rp.keys[name]
		if !ok {
			k = len(rp.keys)
			rp.keys[name] = k
		}
		return k
	}
	if rp.r.placed(a.Inst) {
		k := &rp.own[a.Source]
		if *k == 0 {
			*k = int32(number(fmt.Sprint(rp.r.v.Res.Insts[a.Inst].Fn, ".", a.Point))) + 1
		}
		return int(*k) - 1
	}
	at := keyAt{a.Inst, m.Thread, a.Source}
	k, ok := rp.keyOf[at]
	if !ok {
		pos, _ := rp.shown(m)
		k = number(fmt.Sprint(pos, op(a)))
		rp.keyOf[at] = k
	}
	return k
}

// keyAt is what the key of an access depends on.
type keyAt struct {
	inst   pta.InstID
	thread int32
	source uint32
}

// shown returns where and in which function an access is shown. What lies in
// other packages, or in a model, is shown at the last call in scope that leads
// there.
func (rp *report) shown(m stage.Member) (export.Pos, string) {
	r, t := rp.r, int(m.Thread)
	a := &r.w.Accesses[m.Access]
	f := r.v.Res.Func(a.Inst)
	if !r.placed(a.Inst) {
		path := rp.path(t, a.Inst)
		for i := len(path) - 1; i > 0; i-- {
			if r.placed(path[i].from) {
				return rp.pos(path[i].at), display(r.v.Res.Func(path[i].from).Name)
			}
		}
		for _, s := range r.v.Threads[t].Spawns {
			if ps := r.v.PointsOf(s.By, s.Kind, s.Row); r.inScope(s.By) && len(ps) > 0 {
				g := r.v.Res.Func(s.By)
				return rp.pos(g.Points[ps[0]].Pos), display(g.Name)
			}
		}
	}
	return rp.pos(f.Points[a.Point].Pos), display(f.Name)
}

// add lists the pair of two accesses.
func (rp *report) add(p *stage.Pair, sx, sy shownAt) {
	x, y := sx.Member, sy.Member
	kx, ky := min(sx.key, sy.key), max(sx.key, sy.key)
	if rp.listed[[2]int{kx, ky}] || len(rp.listed) >= maxAll && rp.anywhere[kx] && rp.anywhere[ky] {
		return
	}
	at := locKey{p.Cell, rp.r.w.Accesses[x.Access].Source}
	loc, ok := rp.locOf[at]
	if !ok {
		loc = rp.location(p.Cell, x.Access)
		rp.locOf[at] = loc
	}
	pl := rp.byLoc[loc]
	if pl == nil {
		pl = &place{name: loc, shown: map[int]bool{}}
		rp.byLoc[loc] = pl
	}
	if len(pl.pairs) >= maxPairs && pl.shown[kx] && pl.shown[ky] {
		return
	}
	pair := &export.Pair{Kind: "race", Location: loc}
	rp.listed[[2]int{kx, ky}] = true
	rp.anywhere[kx], rp.anywhere[ky] = true, true
	pl.shown[kx], pl.shown[ky] = true, true
	pair.A, pair.B = rp.side(x), rp.side(y)
	if later(pair.A.Pos, pair.B.Pos) {
		pair.A, pair.B = pair.B, pair.A
	}
	if rp.r.w.Accesses[x.Access].Sync != stage.NoUse || rp.r.w.Accesses[y.Access].Sync != stage.NoUse {
		pair.Kind = "misuse"
	}
	pair.Missing, pair.Stage = rp.missing(p, pair)
	pair.ID = fingerprint(pair)
	pl.pairs = append(pl.pairs, pair)
}

// fingerprint identifies a pair across edits: by what is accessed, where and
// how, not by lines.
func fingerprint(p *export.Pair) string {
	a, b := p.A.Func+" "+p.A.Op, p.B.Func+" "+p.B.Op
	if a > b {
		a, b = b, a
	}
	h := sha256.Sum256([]byte(p.Kind + "\n" + p.Location + "\n" + a + "\n" + b))
	return fmt.Sprintf("%x", h[:8])
}

// side describes one access. Accesses of one instance share their path.
func (rp *report) side(m stage.Member) export.Side {
	a, t := &rp.r.w.Accesses[m.Access], int(m.Thread)
	k := sideKey{t, m.Access}
	s, ok := rp.sides[k]
	if !ok {
		s = export.Side{Op: op(a), Goroutine: rp.frames(t, a.Inst), Locks: rp.r.lock.Describe(a, rp.lockName)}
		s.Pos, s.Func = rp.shown(m)
		if s.Locks == nil {
			s.Locks = []string{}
		}
		rp.sides[k] = s
	}
	return s
}

// sideKey is an access in a thread.
type sideKey struct {
	thread int
	access uint32
}

// frames returns the calls that lead thread t to n.
func (rp *report) frames(t int, n pta.InstID) []export.Frame {
	k := sideKey{t, uint32(n)}
	if f, ok := rp.framesOf[k]; ok {
		return f
	}
	r := rp.r
	var out []export.Frame
	path := rp.path(t, n)
	for i, st := range path {
		fn := r.v.Res.Func(st.inst)
		fr := export.Frame{Func: display(fn.Name), Pos: rp.pos(st.at)}
		if i == 0 {
			fr.Pos = rp.pos(fn.Pos)
			if at := startsOf(r.v, t); len(at) > 0 {
				fr.Pos = rp.pos(r.v.Res.Func(at[0].Inst).Points[at[0].Point].Pos)
			}
		}
		if fn.Name != "" && !strings.HasPrefix(fn.Name, "root of ") {
			out = append(out, fr)
		}
	}
	rp.framesOf[k] = out
	return out
}

// path returns a shortest chain of calls from the start of thread t to n. The
// tree of shortest chains is kept for each thread that is asked about.
func (rp *report) path(t int, n pta.InstID) []step {
	v := rp.r.v
	entry := v.Threads[t].Entry
	tree := rp.trees[t]
	if tree == nil {
		tree = make([]stage.Caller, len(v.Res.Insts))
		rp.trees[t] = tree
		todo := []pta.InstID{entry}
		for len(todo) > 0 {
			m := todo[0]
			todo = todo[1:]
			for _, e := range v.Res.Insts[m].Out {
				if stage.IsSpawn(e.Kind) || !v.Has(m, e) || e.Callee == entry || tree[e.Callee].Inst != 0 || v.Res.Func(e.Callee) == nil {
					continue
				}
				tree[e.Callee] = stage.Caller{Inst: m, Kind: e.Kind, Row: e.Row}
				todo = append(todo, e.Callee)
			}
		}
	}
	var path []step
	for n != entry && tree[n].Inst != 0 {
		c := tree[n]
		s := step{inst: n, from: c.Inst}
		if ps := v.PointsOf(c.Inst, c.Kind, c.Row); len(ps) > 0 {
			s.at = v.Res.Func(c.Inst).Points[ps[0]].Pos
		}
		path = append(path, s)
		n = c.Inst
	}
	path = append(path, step{inst: n})
	slices.Reverse(path)
	return path
}

// finish fills in the result.
func (rp *report) finish(out *export.Result) {
	names := make([]string, 0, len(rp.byLoc))
	for n := range rp.byLoc {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		pl := rp.byLoc[n]
		sort.SliceStable(pl.pairs, func(i, j int) bool {
			a, b := pl.pairs[i], pl.pairs[j]
			if a.A.Pos != b.A.Pos {
				return later(b.A.Pos, a.A.Pos)
			}
			if a.B.Pos != b.B.Pos {
				return later(b.B.Pos, a.B.Pos)
			}
			return a.ID < b.ID
		})
		for _, p := range pl.pairs {
			p.Entry = out.Entry
			out.Pairs = append(out.Pairs, *p)
		}
	}
	out.Open = rp.openPairs()
	out.OutOfScope = rp.out
	out.Why = rp.rows
	out.Assumptions = rp.r.assumptions()
	if rp.below > 0 {
		out.Assumptions = append(out.Assumptions, export.Assumption{
			ID: fmt.Sprintf("X%d", len(out.Assumptions)+1), Kind: "scope",
			Text: fmt.Sprintf("%d pairs on objects that other packages make below calls of those in scope are out of scope: they are assumed not to race (list them with -scope=all)", rp.below),
		})
	}
	out.Verdict = export.Proved
	if out.Open > 0 {
		out.Verdict = export.Open
	}
}

// assumptions lists what the live code could not be modelled in.
func (r *run) assumptions() []export.Assumption {
	var out []export.Assumption
	seen := map[facts.FuncID]bool{}
	for n := 1; n < len(r.v.Res.Insts); n++ {
		f := r.v.Res.Func(pta.InstID(n))
		if !r.v.Live.Has(n) {
			continue
		}
		if f == nil {
			fn := r.v.Res.Insts[n].Fn
			if !seen[fn] {
				seen[fn] = true
				out = append(out, export.Assumption{Kind: "missing", Text: "function " + display(r.v.Prog.FuncName(fn)) + " was not loaded: it is assumed to do nothing"})
			}
			continue
		}
		if seen[f.ID] {
			continue
		}
		seen[f.ID] = true
		for _, u := range f.Unknown {
			rp := report{r: r}
			out = append(out, export.Assumption{Kind: u.Kind, Text: u.Text, Pos: rp.pos(u.Pos)})
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Kind != out[j].Kind {
			return out[i].Kind < out[j].Kind
		}
		if out[i].Pos != out[j].Pos {
			return later(out[j].Pos, out[i].Pos)
		}
		return out[i].Text < out[j].Text
	})
	for i := range out {
		out[i].ID = fmt.Sprintf("X%d", i+1)
	}
	return out
}
