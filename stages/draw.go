package stages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/export"
	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Drawing is a kind of picture of a program.
type Drawing struct {
	Name, Doc string
	draw      func(d *drawer) *graph.Graph
}

// Drawings lists the kinds of picture.
var Drawings = []*Drawing{
	{"goroutines", "who starts which goroutines, how many of them may run at a time, and what waits for them", drawGoroutines},
	{"order", "what happens before what: the operations by which goroutines order each other", drawOrder},
	{"callgraph", "who calls whom, as far as the points-to analysis tells", drawCalls},
}

// Draw draws a picture of one program, in which opt.Scope chooses what is shown;
// what lies outside is shown where the packages in scope call it. The error is
// that of a spent budget, or of a fault of the input. Cost: that of Verify up to
// stage parallel.
func Draw(ctx context.Context, p *facts.Program, opt Options, kind *Drawing) (*graph.Graph, error) {
	opt.fill()
	res, _, err := solve(ctx, p, &opt)
	if err != nil {
		return nil, err
	}
	w := stage.NewWorld(res)
	ov := findOverwritten(w)
	w.Overwritten = ov.Has
	v := stage.NewView(w, stage.AllEntries)
	r := &run{w: w, v: v, opt: &opt, over: ov, lock: mustnot.NewLocks(v, ov.Has)}
	r.pub = newPublished(r, &holders{})
	r.findScope()
	opt.Progress("parallel", 0, 0)
	joins := r.waitGroups(v)
	r.par = newParallel(v, newRunning(v, joins), newAwaited(r, v, joins))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := kind.draw(&drawer{r: r, rp: newReport(r)})
	g.Kind = kind.Name
	what := p.Path
	if p.Test {
		what += " (test binary)"
	}
	g.Title = fmt.Sprintf("%s of %s\n%s", kind.Name, what, g.Title)
	return g, nil
}

// drawer draws pictures of one run.
type drawer struct {
	r  *run
	rp *report // for names and positions
}

// at returns where a point that thread t runs is shown: its own place, or the
// last call in scope that leads there. ok is false where there is none.
func (d *drawer) at(t int, sp spot) (pos export.Pos, in string, ok bool) {
	r := d.r
	f := r.v.Res.Func(sp.Inst)
	if r.placed(sp.Inst) {
		return d.rp.pos(f.Points[sp.Point].Pos), display(f.Name), true
	}
	path := d.rp.path(t, sp.Inst)
	for i := len(path) - 1; i > 0; i-- {
		if r.placed(path[i].from) {
			return d.rp.pos(path[i].at), display(r.v.Res.Func(path[i].from).Name), true
		}
	}
	return export.Pos{}, "", false
}

// shownThreads are the threads with something to show, the main one first: those
// that run a function in scope, and all that lead to them.
func (d *drawer) shownThreads() []int {
	v := d.r.v
	shown := stage.NewBits(len(v.Threads))
	shown.Add(0)
	var todo []int
	add := func(t int) {
		if shown.Add(t) {
			todo = append(todo, t)
		}
	}
	for n := range v.Res.Insts {
		if id := pta.InstID(n); v.Live.Has(n) && d.r.placed(id) {
			for _, t := range v.ThreadsOf(id) {
				add(t)
			}
		}
	}
	for t := range v.Threads {
		for _, s := range v.Threads[t].Spawns {
			if d.r.placed(s.By) {
				add(t)
			}
		}
	}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range v.Threads[t].Parents {
			add(p)
		}
	}
	var out []int
	for t := range v.Threads {
		if shown.Has(t) {
			out = append(out, t)
		}
	}
	return out
}

// crowd is goroutines that look alike: the threads that begin with one
// function, are started at the same places, and are as many.
type crowd struct {
	id      string
	threads []int
	fn      string
	runs    string // where fn is out of scope, the functions in scope that it calls
	pkg     string
	from    []string // where they are started
	count   count
	outside bool // fn is out of scope
}

// kindsShown is how many crowds that begin in one package out of scope are told
// apart; more become one, as what a library does inside says little.
const kindsShown = 4

// edgeSet collects edges; those of one role between the same two nodes become
// one, with the labels of all.
type edgeSet struct {
	list   []graph.Edge // without labels
	labels map[graph.Edge][]string
}

func (s *edgeSet) add(e graph.Edge) {
	label := e.Label
	e.Label = ""
	if s.labels == nil {
		s.labels = map[graph.Edge][]string{}
	}
	have, ok := s.labels[e]
	if !ok {
		s.list = append(s.list, e)
	}
	if !slices.Contains(have, label) {
		have = append(have, label)
	}
	s.labels[e] = have
}

// edges returns the edges in the order in which they were first added.
func (s *edgeSet) edges() []graph.Edge {
	out := slices.Clone(s.list)
	for i, e := range out {
		out[i].Label = strings.Join(s.labels[e], "\n")
	}
	return out
}

// count says how many goroutines of a thread there may be.
type count int

const (
	exactlyOne count = iota // one at most in the whole run
	oneAtATime
	many
)

func (c count) String() string {
	return [...]string{"once", "one at a time", "many"}[c]
}

// crowds groups threads that look alike; of maps each to its crowd.
func (d *drawer) crowds(threads []int) (list []*crowd, of map[int]*crowd) {
	v := d.r.v
	of = map[int]*crowd{}
	byKey := map[string]*crowd{}
	for _, t := range threads {
		th := &v.Threads[t]
		f := v.Res.Func(th.Entry)
		c := &crowd{fn: "?", count: d.count(t)}
		if f != nil {
			c.fn, c.pkg = display(f.Name), f.Pkg
		}
		if t == 0 {
			c.fn, c.pkg = "main goroutine", ""
		} else if !d.r.placed(th.Entry) {
			c.runs, c.outside = d.runs(th.Entry), true
		}
		for _, s := range startsOf(v, t) {
			for _, by := range v.ThreadsOf(s.Inst) {
				if pos, _, ok := d.at(by, s); ok {
					if text := fileLine(pos); !slices.Contains(c.from, text) {
						c.from = append(c.from, text)
					}
				}
			}
		}
		slices.Sort(c.from)
		key := fmt.Sprint(c.fn, c.runs, c.from, c.count)
		if old := byKey[key]; old != nil {
			c = old
		} else {
			byKey[key] = c
			c.id = fmt.Sprint("t", len(list))
			list = append(list, c)
		}
		c.threads = append(c.threads, t)
		of[t] = c
	}
	return mergeLibraries(list, of), of
}

// mergeLibraries makes one crowd of those that begin in a package out of scope,
// where they are more than kindsShown, and returns the crowds left.
func mergeLibraries(list []*crowd, of map[int]*crowd) []*crowd {
	kinds := map[string]int{}
	for _, c := range list {
		if c.outside {
			kinds[c.pkg]++
		}
	}
	merged := map[string]*crowd{}
	var left []*crowd
	for _, c := range list {
		if !c.outside || kinds[c.pkg] <= kindsShown {
			left = append(left, c)
			continue
		}
		m := merged[c.pkg]
		if m == nil {
			m = &crowd{id: c.id, pkg: c.pkg, count: many, outside: true, fn: fmt.Sprintf("%d kinds of goroutine of %s", kinds[c.pkg], c.pkg)}
			merged[c.pkg] = m
			left = append(left, m)
		}
		m.threads = append(m.threads, c.threads...)
		for _, t := range c.threads {
			of[t] = m
		}
	}
	return left
}

// runs names the functions in scope that one out of scope calls, if they are few.
func (d *drawer) runs(n pta.InstID) string {
	var names []string
	for _, back := range d.callsBack(n) {
		if name := display(d.r.v.Res.Func(back).Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 3 {
		return ""
	}
	return strings.Join(names, ", ")
}

// count returns how many goroutines of thread t there may be. One at a time: none
// of them may run where one of them is started, there or beside its starters.
func (d *drawer) count(t int) count {
	p := d.r.par
	switch {
	case d.r.v.Threads[t].Single:
		return exactlyOne
	case p.stopped(p.run.sets.Bits(p.beside[t]), &stage.OrderClass{Thread: t, After: stage.NewBits(len(p.run.joins))}):
		return oneAtATime
	}
	return many
}

// label is what a picture says of a crowd.
func (c *crowd) label() string {
	lines := []string{c.fn}
	if c.runs != "" {
		lines[0] += " for " + c.runs
	}
	if len(c.from) > 0 {
		from := c.from
		more := ""
		if len(from) > 3 {
			more = fmt.Sprintf(" and %d more", len(from)-3)
			from = from[:3]
		}
		lines = append(lines, "started at "+strings.Join(from, ", ")+more)
		lines = append(lines, c.count.String())
	}
	return strings.Join(lines, "\n")
}

// role is how a picture shows a crowd.
func (c *crowd) role() graph.Role {
	if c.count == many {
		return graph.Many
	}
	return graph.Goroutine
}

// fileLine is FILE:LINE.
func fileLine(p export.Pos) string { return fmt.Sprintf("%s:%d", p.File, p.Line) }
