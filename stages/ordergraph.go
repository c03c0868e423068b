package stages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/stages/stage"
)

// drawOrder draws the skeleton of happens-before: a frame for the goroutines that
// look alike, in it the operations by which they order others or are ordered, and
// where they start others. Edges: the order of one goroutine, as far as it holds
// for all its executions of the two (drawn without what others imply); from a go
// statement to what it starts; and dashed, from each operation that signals to
// each that has waited for it.
func drawOrder(d *drawer) *graph.Graph {
	v := d.r.v
	threads := d.shownThreads()
	crowds, of := d.crowds(threads)
	o := &orderGraph{d: d, g: &graph.Graph{}, byID: map[string]*event{}}
	// The starts of all, then who starts them.
	started := map[string]bool{}
	for _, c := range crowds {
		o.event(c, nil, "starts")
	}
	for _, c := range crowds {
		for _, t := range c.threads {
			for _, s := range startsOf(v, t) {
				for _, by := range v.ThreadsOf(s.Inst) {
					if from := of[by]; from != nil {
						if e := o.event(from, &threadSpot{by, s}, "go "+c.fn); e != nil {
							started[e.id] = true
							o.edges.add(graph.Edge{From: e.id, To: c.id + " starts", Role: graph.Go})
						}
					}
				}
			}
		}
	}
	for _, w := range d.awaited() {
		to := of[w.thread]
		if to == nil {
			continue
		}
		for _, s := range o.spotsOf(w.signal) {
			from := of[s.t]
			if from == nil || !o.tells(w, s) {
				continue
			}
			x := o.event(from, &s, o.op(s.sp, w.signal))
			if x == nil {
				x = o.hidden(from, &s, o.op(s.sp, w.signal))
			}
			if x == nil {
				continue
			}
			if e := o.event(to, &threadSpot{w.thread, w.at}, o.op(w.at, w.signal)); e != nil && x != e {
				o.edges.add(graph.Edge{From: x.id, To: e.id, Label: ruleNames[w.signal.kind], Role: graph.Join})
			}
		}
	}
	o.programOrder(crowds)
	o.g.Edges = o.edges.edges()
	o.g.Title = fmt.Sprintf("%d operations of %d kinds of goroutine", len(o.g.Nodes), len(crowds))
	return o.g
}

// tells reports whether the order of a signal and a wait says something of the
// packages in scope: not if both are the doing of code outside on what that keeps
// for itself, a Once above all.
func (o *orderGraph) tells(w await, s threadSpot) bool {
	return w.signal.kind != signalOnce && w.signal.kind != signalFlag || o.d.r.placed(w.at.Inst) || o.d.r.placed(s.sp.Inst)
}

// orderGraph is the picture in the making.
type orderGraph struct {
	d     *drawer
	g     *graph.Graph
	byID  map[string]*event
	list  []*event
	edges edgeSet
}

// event is an operation of a crowd, at one place of the source.
type event struct {
	id    string
	crowd *crowd
	at    []threadSpot // none: the start
}

// event returns the event of an operation, nil if it is not shown; at nil is the
// start of the crowd.
func (o *orderGraph) event(c *crowd, at *threadSpot, what string) *event {
	label := what
	if at != nil {
		pos, _, ok := o.d.at(at.t, at.sp)
		if !ok {
			return nil
		}
		label += "\n" + fileLine(pos)
	}
	return o.labelled(c, at, label)
}

// hidden returns the event of an operation that a goroutine does where no code
// in scope leads it, such as the Done of WaitGroup.Go after the function that it
// was given; nil where the goroutine begins in scope.
func (o *orderGraph) hidden(c *crowd, at *threadSpot, what string) *event {
	v := o.d.r.v
	if o.d.r.placed(v.Threads[at.t].Entry) {
		return nil
	}
	return o.labelled(c, at, what+"\nin "+display(v.Res.Func(at.sp.Inst).Name))
}

// labelled returns the event of a crowd with a text, which it makes if need be.
func (o *orderGraph) labelled(c *crowd, at *threadSpot, label string) *event {
	id := c.id + " " + label
	e := o.byID[id]
	if e == nil {
		e = &event{id: id, crowd: c}
		o.byID[id] = e
		o.list = append(o.list, e)
		role, cluster := graph.Event, strings.ReplaceAll(c.label(), "\n", ", ")
		if at == nil {
			role = graph.Start
		}
		o.g.Nodes = append(o.g.Nodes, graph.Node{ID: id, Label: label, Cluster: cluster, Role: role})
	}
	if at != nil && !slices.Contains(e.at, *at) {
		e.at = append(e.at, *at)
	}
	return e
}

// spotsOf lists the operations that signal s, by the threads that run them.
func (o *orderGraph) spotsOf(s *signal) []threadSpot {
	v := o.d.r.v
	var out []threadSpot
	for _, sp := range s.spots {
		for _, t := range v.ThreadsOf(sp.Inst) {
			out = append(out, threadSpot{t, sp})
		}
	}
	if s.kind == signalWait {
		for i := range o.d.r.par.wait.joins {
			if j := &o.d.r.par.wait.joins[i]; j.Cell == s.Cell {
				for _, t := range j.Joined {
					for _, sp := range j.done[t] {
						out = append(out, threadSpot{t, sp})
					}
				}
			}
		}
	}
	if s.kind == signalOnce {
		for _, c := range findOnceCalls(v) {
			if ps := v.PointsOf(c.from, c.e.Kind, c.e.Row); c.cell == s.Cell && len(ps) > 0 {
				for _, t := range v.ThreadsOf(c.from) {
					out = append(out, threadSpot{t, spot{c.from, ps[0]}})
				}
			}
		}
	}
	return out
}

// op names an operation on a signal's object.
func (o *orderGraph) op(at spot, s *signal) string {
	f := o.d.r.v.Res.Func(at.Inst)
	name := o.d.rp.cellName(s.Cell)
	pt := f.Points[at.Point]
	switch pt.Op {
	case facts.OpSync:
		return syncNames[f.Syncs[pt.Row].Op] + " " + name
	case facts.OpCall:
		return "body of Do of " + name
	case facts.OpSelect:
		return "select on " + name
	case facts.OpMem:
		if f.Mems[pt.Row].Write {
			return "store to " + name
		}
	}
	// The branch of range, or of an ok tested where it is received, is one with
	// the operation for who reads the source.
	for p := range f.Points[:at.Point+1] {
		if row, ok := syncRow(f, uint32(p)); ok && f.Syncs[row].Op == facts.SyncRecv && o.d.rp.pos(f.Points[p].Pos).Line == o.d.rp.pos(pt.Pos).Line {
			return syncNames[facts.SyncRecv] + " " + name
		}
	}
	return "branch on " + name
}

// syncNames name operations as Go's programmers do.
var syncNames = map[facts.SyncOp]string{
	facts.SyncSend: "send on", facts.SyncRecv: "receive from", facts.SyncClose: "close", facts.SyncAcquire: "lock",
	facts.SyncRelease: "unlock", facts.SyncOnce: "Do of", facts.SyncAdd: "Add or Done of", facts.SyncWait: "Wait for",
}

// syncRow returns the row in Syncs of a point that synchronises.
func syncRow(f *facts.Func, p uint32) (uint32, bool) {
	pt := f.Points[p]
	return pt.Row, pt.Op == facts.OpSync
}

// programOrder adds the order of each crowd's events, without what is implied.
func (o *orderGraph) programOrder(crowds []*crowd) {
	for _, c := range crowds {
		var events []*event
		for _, e := range o.list {
			if e.crowd == c {
				events = append(events, e)
			}
		}
		n := len(events)
		before := make([][]bool, n)
		for i, x := range events {
			before[i] = make([]bool, n)
			for k, y := range events {
				before[i][k] = i != k && o.precedes(x, y)
			}
		}
		for i := range events {
			for k := range events {
				implied := !before[i][k]
				for m := range events {
					implied = implied || before[i][m] && before[m][k]
				}
				if !implied {
					o.edges.add(graph.Edge{From: events[i].id, To: events[k].id, Role: graph.Program})
				}
			}
		}
	}
}

// precedes reports whether x comes before y, neither in a loop with the other,
// wherever one goroutine executes both.
func (o *orderGraph) precedes(x, y *event) bool {
	if len(x.at) == 0 {
		return len(y.at) > 0
	}
	some := false
	for _, p := range x.at {
		for _, q := range y.at {
			if p.t != q.t {
				continue
			}
			some = true
			if !o.follows(p.sp, q.sp, p.t) || o.follows(q.sp, p.sp, p.t) {
				return false
			}
		}
	}
	return some
}

// follows reports whether thread t may execute q after p in the innermost
// activation that both belong to on their shortest call chains.
func (o *orderGraph) follows(p, q spot, t int) bool {
	a, b := o.chain(t, p), o.chain(t, q)
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i].Inst != b[i].Inst {
			return false
		}
		if a[i].Point != b[i].Point {
			return o.d.r.v.Flow(a[i].Inst).MayFollow(a[i].Point, b[i].Point)
		}
	}
	return false
}

// chain is the calls that lead thread t to a point, outermost first, and the point.
func (o *orderGraph) chain(t int, at spot) []spot {
	v := o.d.r.v
	out := []spot{at}
	path := o.d.rp.path(t, at.Inst)
	for i := len(path) - 1; i > 0; i-- {
		p := uint32(0)
		for _, e := range v.Res.Insts[path[i].from].Out {
			if e.Callee == path[i].inst && !stage.IsSpawn(e.Kind) && v.Has(path[i].from, e) {
				if at := v.PointsOf(path[i].from, e.Kind, e.Row); len(at) > 0 {
					p = at[0]
					break
				}
			}
		}
		out = append(out, spot{path[i].from, p})
	}
	slices.Reverse(out)
	return out
}
