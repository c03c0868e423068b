package observe

import (
	"cmp"
	"fmt"
	"go/token"
	"regexp"
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// A Miss is something observed that the result does not have.
type Miss struct {
	Pos   token.Position
	Text  string
	Count int
}

func (m Miss) String() string { return fmt.Sprintf("%s: %s (seen %d times)", m.Pos, m.Text, m.Count) }

// A Report compares a Record with a pta.Result.
type Report struct {
	Facts, Calls, Dynamics, Entered int    // distinct ones that were compared
	Compared                        int    // observations that these stand for
	Unplaced                        []Miss // uses where the program runs but has no point of the kind
	Unnamed                         int    // dynamic types that the facts do not name so
	Misses                          []Miss
}

// candidate is a register that a use may be: of an instance of fn.
type candidate struct {
	fn   facts.FuncID
	reg  facts.Reg
	leaf uint32
	row  int // of a call, or -1
}

// checker compares one program's record.
type checker struct {
	plan  *Plan
	r     *pta.Result
	u     *facts.Universe
	insts map[facts.FuncID][]pta.InstID
	at    map[facts.Pos][]int // uses
	cands [][]candidate       // by use
	enter map[facts.Pos]bool  // functions that are reached
	sites []facts.Pos         // of Plan.Sites
	funcs []facts.Pos
	main  string          // path of the main package: its types are main.T at run time
	names map[string]bool // of types
}

// Check compares what was observed in runs of a program with the points-to
// result for it.
func Check(plan *Plan, rec *Record, r *pta.Result) *Report {
	c := &checker{
		plan: plan, r: r, u: r.Prog.Universe, insts: map[facts.FuncID][]pta.InstID{}, at: map[facts.Pos][]int{},
		cands: make([][]candidate, len(plan.Uses)), enter: map[facts.Pos]bool{},
	}
	if !r.Prog.Test {
		c.main = r.Prog.Path
	}
	c.place()
	return c.compare(rec)
}

// place finds the registers of the uses.
func (c *checker) place() {
	files := map[string]uint32{}
	for i, name := range c.u.Files {
		files[name] = uint32(i)
	}
	pos := func(p token.Position) facts.Pos {
		return facts.Pos{File: files[p.Filename], Line: uint32(p.Line), Col: uint32(p.Column)}
	}
	for i := range c.plan.Uses[1:] {
		p := pos(c.plan.Uses[i+1].Pos)
		c.at[p] = append(c.at[p], i+1)
	}
	for _, s := range c.plan.Sites {
		c.sites = append(c.sites, pos(s))
	}
	for _, f := range c.plan.Funcs {
		c.funcs = append(c.funcs, pos(f))
	}
	for i := 1; i < len(c.r.Insts); i++ {
		fn := c.r.Insts[i].Fn
		if c.u.Funcs[fn] != nil {
			c.insts[fn] = append(c.insts[fn], pta.InstID(i))
		}
	}
	for id, f := range c.u.Funcs {
		if f == nil || c.insts[facts.FuncID(id)] == nil {
			continue
		}
		if !f.Is(facts.FnWrapper) {
			c.enter[f.Pos] = true
			for _, n := range c.at[f.Pos] {
				if u := &c.plan.Uses[n]; u.Role == Param && u.Index < len(f.Params) {
					c.add(n, f, f.Params[u.Index], 0, -1)
				}
			}
		}
		for _, pt := range f.Points {
			c.point(f, pt)
		}
		for row := range f.Calls {
			c.call(f, row)
		}
	}
}

func (c *checker) add(use int, f *facts.Func, reg facts.Reg, leaf uint32, row int) {
	if reg == facts.NoReg && row < 0 {
		return
	}
	x := candidate{f.ID, reg, leaf, row}
	if !slices.Contains(c.cands[use], x) {
		c.cands[use] = append(c.cands[use], x)
	}
}

// point adds the registers of a point to the uses at its position.
func (c *checker) point(f *facts.Func, pt facts.Point) {
	for _, n := range c.at[pt.Pos] {
		role := c.plan.Uses[n].Role
		switch pt.Op {
		case facts.OpAddr:
			if a := &f.Addrs[pt.Row]; role == AddrBase {
				c.add(n, f, a.Base, 0, -1)
			} else if role == AddrDst {
				c.add(n, f, a.Dst, 0, -1)
			}
		case facts.OpMem:
			if m := &f.Mems[pt.Row]; role == MemBase {
				c.add(n, f, m.Base, 0, -1)
			} else if role == Loaded && !m.Write && m.Val != facts.NoReg {
				c.add(n, f, m.Val, uint32(m.ValLeaf), -1)
			}
		case facts.OpCopy:
			if role == Loaded {
				c.add(n, f, f.Copies[pt.Row].Dst, 0, -1)
			}
		case facts.OpSync:
			if role == SyncObj {
				c.add(n, f, f.Syncs[pt.Row].Obj, 0, -1)
			}
		case facts.OpAssert:
			if a := &f.Asserts[pt.Row]; role == AssertX {
				c.add(n, f, a.X, 0, -1)
			} else if role == AssertDst {
				c.add(n, f, a.Dst, 0, -1)
			}
		}
	}
}

func (c *checker) call(f *facts.Func, row int) {
	call := &f.Calls[row]
	for _, n := range c.at[call.Pos] {
		switch u := &c.plan.Uses[n]; u.Role {
		case CallArg:
			if u.Index < len(call.Args) {
				c.add(n, f, call.Args[u.Index], 0, -1)
			}
		case CallRecv:
			if call.Recv != facts.NoReg {
				c.add(n, f, call.Recv, 0, row)
			}
		case CallFn:
			c.add(n, f, call.Fn, 0, row)
		case CallDst:
			c.add(n, f, call.Dst, 0, -1)
		}
	}
}

func (c *checker) compare(rec *Record) *Report {
	rep := &Report{}
	for _, fn := range sorted(rec.Entered, cmp.Compare[int]) {
		rep.Entered++
		if !c.enter[c.funcs[fn]] {
			rep.Misses = append(rep.Misses, Miss{c.plan.Funcs[fn], "the function ran but is not reached", rec.Entered[fn]})
		}
	}
	for use := range c.plan.Uses {
		if u := &c.plan.Uses[use]; rec.Uses[use] && len(c.cands[use]) == 0 && (u.Func == 0 || c.enter[c.funcs[u.Func]]) {
			rep.Unplaced = append(rep.Unplaced, Miss{u.Pos, u.Role.String() + " has no register", 1})
		}
	}
	held := map[int]*holding{}
	at := func(use int) *holding {
		if held[use] == nil {
			held[use] = c.holds(use)
		}
		return held[use]
	}
	miss := func(use, count int, text string) {
		u := &c.plan.Uses[use]
		rep.Misses = append(rep.Misses, Miss{u.Pos, u.Role.String() + " " + text, count})
	}
	for _, f := range sorted(rec.Facts, func(a, b Fact) int {
		return cmp.Or(a.Use-b.Use, a.Site-b.Site, a.Off-b.Off)
	}) {
		if len(c.cands[f.Use]) == 0 {
			continue
		}
		n := rec.Facts[f]
		rep.Facts++
		rep.Compared += n
		if ok, object := c.match(at(f.Use), c.sites[f.Site], int64(f.Off)); !ok {
			what := "points to an object made at"
			if object {
				what = fmt.Sprintf("points to offset %d, not to the cells that the result has, of an object made at", f.Off)
			}
			miss(f.Use, n, fmt.Sprintf("%s %s", what, c.plan.Sites[f.Site]))
		}
	}
	for _, d := range sorted(rec.Dynamics, func(a, b Dynamic) int { return cmp.Or(a.Use-b.Use, cmp.Compare(a.Type, b.Type)) }) {
		if len(c.cands[d.Use]) == 0 {
			continue
		}
		name := c.factName(d.Type)
		if c.u.TypeByName(name) == 0 && !c.named()[name] {
			rep.Unnamed++
			continue
		}
		rep.Dynamics++
		rep.Compared += rec.Dynamics[d]
		if !at(d.Use).types[name] {
			miss(d.Use, rec.Dynamics[d], "has dynamic type "+d.Type)
		}
	}
	for _, x := range sorted(rec.Calls, func(a, b Call) int { return cmp.Or(a.Use-b.Use, a.Func-b.Func) }) {
		if len(c.cands[x.Use]) == 0 {
			continue
		}
		rep.Calls++
		rep.Compared += rec.Calls[x]
		if !c.calls(x.Use)[c.funcs[x.Func]] {
			miss(x.Use, rec.Calls[x], fmt.Sprintf("calls the function at %s", c.plan.Funcs[x.Func]))
		}
	}
	slices.SortStableFunc(rep.Misses, func(a, b Miss) int {
		return cmp.Or(cmp.Compare(a.Pos.Filename, b.Pos.Filename), a.Pos.Line-b.Pos.Line, a.Pos.Column-b.Pos.Column, cmp.Compare(a.Text, b.Text))
	})
	return rep
}

func sorted[K comparable](m map[K]int, by func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, by)
	return keys
}

// calls returns where the functions are declared that a use's call may enter,
// through wrappers too.
func (c *checker) calls(use int) map[facts.Pos]bool {
	out := map[facts.Pos]bool{}
	seen := map[pta.InstID]bool{}
	var enter func(i pta.InstID)
	enter = func(i pta.InstID) {
		f := c.r.Func(i)
		if f == nil || seen[i] {
			return
		}
		seen[i] = true
		if !f.Is(facts.FnWrapper) {
			out[f.Pos] = true
			return
		}
		for _, e := range c.r.Insts[i].Out {
			enter(e.Callee)
		}
	}
	for _, x := range c.cands[use] {
		if x.row < 0 {
			continue
		}
		for _, i := range c.insts[x.fn] {
			for _, e := range c.r.EdgesAt(i, facts.Point{Op: facts.OpCall, Row: uint32(x.row)}) {
				enter(e.Callee)
			}
		}
	}
	return out
}

var variant = regexp.MustCompile(` \[[^\]]*\.test\]`)
