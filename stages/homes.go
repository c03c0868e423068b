package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// The stage local-signal: one access precedes a signal that the goroutine gives to
// which the accessed object belongs, and the other has waited for the signal. Many
// objects have such a channel each, by one name, so that signals.go cannot tell
// whose close a wait was for; that all belong to goroutines of their own can.
//
// It is a stage, and no rule of parallel, because that one orders points, whatever
// they access, and this orders them only if they access one object.
//
// The pair is e1 and e2; h is a site of channels, t a thread, and g the node in the
// frames of which the goroutines of t begin (reach/goroutine.go).
//
//	(D1) e1 is by a goroutine of t, and what it accesses was made below the frame of
//	     g in which that goroutine began
//	(D2) all that may end the wait is by goroutines of t: every close of a channel of
//	     h and, unless the wait tells that it ended by a close, every send; and each
//	     such channel, there, was made below the frame in which the goroutine began
//	(D3) in no goroutine of t can e1 follow one of these points
//	(D4) e2 has waited for a channel of h in its own goroutine, or before a call that
//	     it runs in (heard.go)
//	(D5) that channel lies below one frame of g with what e2 accesses, both loaded
//	     from one value (reach.Together)
//
// Soundness: let e1 and e2 access one object o. By (D1) the goroutine of e1 began in
// the frame of g above o, which is one, as frames of g do not nest. The channel of
// (D4) lies below it, too, by (D5). Something ended the wait: by (D2) a point of a
// goroutine that began in the frame of g above the channel; so in that of e1, since
// two goroutines of one thread begin in two frames. By (D3) e1 came before that
// point, which happens before the end of the wait, and so before e2. A channel that
// is nil, or another than the one that was signalled, ends no wait.
//
// As for signals, what reflection or code that is not modelled may have hold of is
// no such channel. (S1)

// home is the closes, or closes and sends, of the channels of one site, if each is
// by the goroutine to which the channel belongs.
type home struct {
	Cell   uint32      // of the channels
	closes bool        // closes alone, else sends too
	of     stage.Began // (D2)
	spots  []spot
	points []stage.At // spots, for evidence
	after  *after     // what may follow them
}

// homes are the homes of a view, and what is asked of them.
type homes struct {
	r    *run
	list []home
	// By cell: the home of all its signals, and that of its closes if these are
	// others; index in list plus one.
	first, close map[uint32]int
	heard        heard
}

func newHomes(r *run) *homes {
	h := &homes{r: r, first: map[uint32]int{}, close: map[uint32]int{}}
	ops := r.par.wait.ops
	var cells []uint32
	for c, o := range ops {
		if !o.mutex && !o.wild && len(o.recvs) > 0 {
			cells = append(cells, c)
		}
	}
	slices.Sort(cells)
	add := func(c uint32, closes bool, spots []spot) int {
		of, ok := h.began(c, spots)
		if !ok {
			return 0
		}
		x := home{Cell: c, closes: closes, of: of, spots: spots, after: newAfter(r.v, of.Thread, spots)}
		for _, sp := range spots {
			x.points = append(x.points, stage.At(sp))
		}
		h.list = append(h.list, x)
		return len(h.list)
	}
	for _, c := range cells {
		o := ops[c]
		if k := add(c, len(o.sends) == 0, slices.Concat(o.closes, o.sends)); k > 0 {
			h.first[c] = k
		}
		if len(o.sends) == 0 {
			h.close[c] = h.first[c]
		} else if k := add(c, true, o.closes); k > 0 {
			h.close[c] = k
		}
	}
	h.heard.find(h)
	return h
}

// began is (D2): the thread that runs the spots alone, and the node in whose frames
// its goroutines begin.
func (h *homes) began(c uint32, spots []spot) (of stage.Began, ok bool) {
	v := h.r.v
	target, _ := v.Res.Object(c)
	for _, sp := range spots {
		ts := v.ThreadsOf(sp.Inst)
		if len(ts) != 1 {
			return of, false
		}
		f := v.Res.Func(sp.Inst)
		entry := v.Threads[ts[0]].Entry
		for _, r := range signalled(f, sp.Point) {
			if !v.Res.PointsTo(sp.Inst, r, 0).Has(c) {
				continue
			}
			b := h.r.lock.Effects().OwnFrame(ts[0], entry, sp.Inst, sp.Point, r, target)
			if b.Node == 0 || ok && b != of {
				return of, false
			}
			of, ok = b, true
		}
	}
	return of, ok
}

// signalled lists the registers with the channels that a point closes or sends on.
func signalled(f *facts.Func, p uint32) (out []facts.Reg) {
	switch pt := f.Points[p]; pt.Op {
	case facts.OpSync:
		out = append(out, f.Syncs[pt.Row].Obj)
	case facts.OpSelect:
		for _, c := range f.Selects[pt.Row].Cases {
			if c.Send {
				out = append(out, c.Chan)
			}
		}
	}
	return out
}

// refuteLocalSignal is the stage.
func refuteLocalSignal(r *run, p *stage.Pair) stage.Evidence {
	for _, x := range [...]struct{ e1, e2 *stage.Class }{{p.A, p.B}, {p.B, p.A}} {
		for _, k := range x.e2.Heard { // (D4), (D5)
			h := &r.homes.list[k]
			if x.e1.Own == h.of && r.homes.precedes(x.e1, h) { // (D1)
				return stage.HomeSignal{Thread: h.of.Thread, Node: h.of.Node, Cell: h.Cell, Closes: h.closes, Signals: h.points}
			}
		}
	}
	return nil
}

// precedes is (D3), of all accesses of a class.
func (h *homes) precedes(c *stage.Class, x *home) bool {
	for _, m := range c.Members {
		a := &h.r.w.Accesses[m.Access]
		if int(m.Thread) != x.of.Thread || x.after.Has(h.r.v, a.Inst, a.Point) {
			return false
		}
	}
	return true
}

// heardAt lists the homes whose signals surely precede an access to a cell, if they
// are those of the goroutine that the accessed object belongs to. (D4), (D5)
func (h *homes) heardAt(a *stage.Access, cell uint32) []int {
	f := h.r.v.Res.Func(a.Inst)
	if a.Deep || a.Sync != stage.NoUse || f.Is(facts.FnUnknown) || f.Points[a.Point].Op != facts.OpMem || !h.heard.under.Has(int(a.Inst)) {
		return nil
	}
	o, _ := h.r.v.Res.Object(cell)
	return h.heard.by(a.Inst, a.Point, f.Mems[a.Row].Base, []pta.ObjID{o}, 0)
}
