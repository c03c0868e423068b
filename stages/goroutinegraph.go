package stages

import (
	"fmt"
	"slices"

	"github.com/bfverify/bfverify/export/graph"
	"github.com/bfverify/bfverify/pta"
)

// drawGoroutines draws the tree of starts: goroutines that look alike are one
// node, with how many of them there may be, in a frame for each package; an edge
// leads from who starts to what is started, and a dashed one back from what is
// awaited to who waits for it.
func drawGoroutines(d *drawer) *graph.Graph {
	v := d.r.v
	threads := d.shownThreads()
	crowds, of := d.crowds(threads)
	g := &graph.Graph{}
	if left := len(v.Threads) - len(threads); left > 0 {
		g.Title = fmt.Sprintf("%d abstract goroutines; %d that run no code in scope are not shown", len(v.Threads), left)
	} else {
		g.Title = fmt.Sprintf("%d abstract goroutines", len(v.Threads))
	}
	for _, c := range crowds {
		g.Nodes = append(g.Nodes, graph.Node{ID: c.id, Label: c.label(), Cluster: c.pkg, Role: c.role()})
	}
	var edges edgeSet
	for _, c := range crowds {
		for _, t := range c.threads {
			for _, p := range v.Threads[t].Parents {
				if from := of[p]; from != nil {
					edges.add(graph.Edge{From: from.id, To: c.id, Role: graph.Go})
				}
			}
		}
	}
	for _, w := range d.awaited() {
		for _, t := range w.signal.Senders {
			from, to := of[t], of[w.thread]
			if from == nil || to == nil || from == to {
				continue
			}
			switch w.signal.kind {
			case signalWait, signalClose, signalFirst, signalSend:
				edges.add(graph.Edge{From: from.id, To: to.id, Label: ruleNames[w.signal.kind] + ": " + d.rp.cellName(w.signal.Cell), Role: graph.Join})
			}
		}
	}
	g.Edges = edges.edges()
	return g
}

// await is a wait of a thread for a signal, at a point: where it waits or, for
// what a branch tells (E2, E3), the last point before the branch.
type await struct {
	signal *signal
	index  int // of the signal
	thread int
	at     spot
}

// awaited lists the waits for signals that are shown, by signal, thread, place.
func (d *drawer) awaited() []await {
	a, v := d.r.par.wait, d.r.v
	var out []await
	add := func(i int, at spot) {
		for _, t := range v.ThreadsOf(at.Inst) {
			if _, _, ok := d.at(t, at); ok {
				out = append(out, await{&a.signals[i], i, t, at})
			}
		}
	}
	for at, list := range a.waits {
		for _, i := range list {
			add(i, at)
		}
	}
	for e, list := range a.edgeWaits {
		blk := &v.Res.Func(e.n).Blocks[e.b]
		if blk.End == blk.Start {
			continue
		}
		for _, i := range list {
			add(i, spot{e.n, blk.End - 1})
		}
	}
	// Waits for joins by their owner.
	for i := range a.signals {
		if j := a.ownWaits[i]; j != nil {
			for n := range v.Res.Insts {
				id := pta.InstID(n)
				if f := v.Res.Func(id); f == nil || len(f.Syncs) == 0 || !v.Live.Has(n) || !v.Runs(j.Owner, id) {
					continue
				}
				d.waitPoints(id, j, func(p uint32) {
					at := spot{id, p}
					if _, _, ok := d.at(j.Owner, at); ok {
						out = append(out, await{&a.signals[i], i, j.Owner, at})
					}
				})
			}
		}
	}
	slices.SortFunc(out, func(x, y await) int {
		for _, c := range [...]int{x.index - y.index, x.thread - y.thread, int(x.at.Inst) - int(y.at.Inst), int(x.at.Point) - int(y.at.Point)} {
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return slices.CompactFunc(out, func(x, y await) bool { return x == y })
}

// waitPoints calls f with the points at which n, run by j's owner, waits for j.
func (d *drawer) waitPoints(n pta.InstID, j *join, f func(p uint32)) {
	run := d.r.par.run
	fn := d.r.v.Res.Func(n)
	for p := range fn.Points {
		if at, ok := syncRow(fn, uint32(p)); ok {
			if k := run.joinAt(j.Owner, n, at); k >= 0 && run.joins[k].Cell == j.Cell && !d.r.v.DeadAt(n, uint32(p)) {
				f(uint32(p))
			}
		}
	}
}
