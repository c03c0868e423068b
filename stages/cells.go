package stages

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/bfverify/bfverify/stages/stage"
)

// cell runs the pipeline on the pairs of one cell. Cells whose classes are the
// same have the same pairs, left by the same stages; only names differ, and a
// pair is named after its first location. So one of them is looked at, unless
// every pair was asked for.
func (r *run) cell(cell uint32, rep *report, fun *funnel) {
	obj, _ := r.v.Res.Object(cell)
	here := fun.cell(cell, r.esc.Has(int(obj)) || r.opt.Off["escaping"])
	if r.outOfScope(cell) {
		if r.closer(cell) {
			fun.rest(here)
			rep.count(cell, here.pairs.count())
		}
		return
	}
	classes := r.classes(cell, false)
	if r.opt.Trace != nil || r.opt.Why != "" || r.opt.Judged != nil {
		r.pairs(cell, classes, rep, fun)
		return
	}
	sig := r.sign(cell, classes)
	d, ok := r.alike[sig]
	if !ok || d.local && d.frames != r.localKey(cell) {
		before := outcome{fun: fun.after(), out: rep.out, below: rep.below}
		local := r.pairs(cell, classes, rep, fun)
		if ok {
			return
		}
		d = outcome{fun: fun.after(), out: rep.out - before.out, below: rep.below - before.below, local: local}
		for k := range d.fun {
			d.fun[k].tuples -= before.fun[k].tuples
			d.fun[k].pairs -= before.fun[k].pairs
		}
		if local {
			d.frames = r.localKey(cell)
		}
		r.alike[sig] = d
		return
	}
	fun.repeat(d.fun)
	rep.out += d.out
	rep.below += d.below
}

// localKey tells apart cells that the stages which look at frames may: by the
// frames of their object, and elements of arrays one by one.
func (r *run) localKey(cell uint32) string {
	o, off := r.v.Res.Object(cell)
	key := r.frames.key(o)
	if c := r.v.Res.Cell(o, off); c != nil && c.Array != 0 {
		key += fmt.Sprint(" ", cell)
	}
	return key
}

// waits reports whether a class is of Waits on a wait group: of those that wait
// at the same time the first alone conflicts with an Add from zero, and none
// with another Wait.
func (r *run) waits(c *stage.Class) bool { return r.w.Accesses[c.Rep].Sync == stage.UseWait }

// conflict reports whether two classes may make a pair.
func (r *run) conflict(a, b *stage.Class) bool {
	return (a.Write || b.Write) && !(a.Atomic && b.Atomic) && (a.Under || b.Under) && !(r.waits(a) && r.waits(b))
}

// refute runs the pipeline on a pair: it returns the evidence of the row that
// refutes it, or nil and the number of rows.
func (r *run) refute(p *stage.Pair) (stage.Evidence, int) {
	for at := rowEscaping; at < len(Pipeline); at++ {
		if r.opt.Off[Pipeline[at].Name] {
			continue
		}
		if by := Pipeline[at].Refute(r, p); by != nil {
			return by, at
		}
	}
	return nil, len(Pipeline)
}

// maxFine is the number of accesses to an element up to which they are told apart
// where local-index may tell.
const maxFine = 64

// refine returns the classes of a cell by access, should local-index be able to
// refute pairs of some members where it cannot refute those of a class as a whole.
func (r *run) refine(cell uint32, classes []*stage.Class) []*stage.Class {
	if r.opt.Off["local-index"] || len(r.w.At(cell)) > maxFine {
		return classes
	}
	for i, a := range classes {
		for _, b := range classes[i:] {
			if !r.conflict(a, b) || len(a.Members)+len(b.Members) == 2 {
				continue
			}
			if by, _ := r.refute(&stage.Pair{Cell: cell, A: a, B: b}); by == nil {
				if !r.indexed(cell) {
					return classes
				}
				return r.classes(cell, true)
			}
		}
	}
	return classes
}

// pairs runs the pipeline on the pairs of classes of a cell, and reports whether
// some got to the stages that look at the object's frames.
func (r *run) pairs(cell uint32, classes []*stage.Class, rep *report, fun *funnel) (local bool) {
	obj, _ := r.v.Res.Object(cell)
	classes = r.refine(cell, classes)
	rep.next()
	fun.classes(classes)
	for i, a := range classes {
		for j := i; j < len(classes); j++ {
			b := classes[j]
			if !r.conflict(a, b) {
				continue
			}
			p := &stage.Pair{Cell: cell, A: a, B: b}
			by, at := r.refute(p)
			local = local || at >= rowFrame
			n := a.Tuples * b.Tuples
			if i == j {
				n = a.Tuples * (a.Tuples + 1) / 2
			}
			in := by == nil && (a.InScope || b.InScope || a.User && b.User && r.madeInScope(obj))
			fun.left(i, j, n, at, in)
			rep.why(p, by, at)
			if r.opt.Judged != nil {
				r.opt.Judged(r.w, p, by)
			}
			if in {
				rep.open(p)
			}
		}
	}
	rep.count(cell, fun.done())
	return local
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
	local      bool   // some pair got to the stages that look at frames,
	frames     string // and these are the object's
}

// sign returns the signature of a cell: all that pairs looks at.
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
		flag(c.Write, c.Atomic, c.User, c.InScope, c.Under, c.Fresh)
		b = binary.AppendUvarint(b, uint64(c.Own.Thread))
		b = binary.AppendUvarint(b, uint64(c.Own.Node))
		flag(c.Own.Alone)
		b = binary.AppendUvarint(b, uint64(c.Tuples))
		b = binary.AppendUvarint(b, uint64(len(c.Locks)))
		for _, g := range c.Locks {
			flag(g.Object, g.Stable, g.Write, g.Once, g.Again)
			b = binary.AppendUvarint(b, uint64(g.Cell))
			b = binary.AppendVarint(b, g.Delta)
			b = binary.AppendUvarint(b, uint64(g.Way))
		}
		b = binary.AppendUvarint(b, uint64(len(c.Heard)))
		for _, k := range c.Heard {
			b = binary.AppendUvarint(b, uint64(k))
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
// told apart by any stage but local-index; with fine, by access.
func (r *run) classes(cell uint32, fine bool) []*stage.Class {
	type key struct {
		order         int
		write, atomic bool
		sync          bool
		user, scope   bool
		under, fresh  bool
		locks, heard  string
		own           stage.Began
		access        uint32 // with fine
	}
	byKey := map[key]*stage.Class{}
	var list []*stage.Class
	closer := r.closer(cell)
	for _, id := range r.w.At(cell) {
		a := &r.w.Accesses[id]
		base := key{write: a.Write, atomic: a.Atomic, sync: a.Sync != stage.NoUse, under: r.under == nil || r.under.Has(int(a.Inst))}
		if fine {
			base.access = id
		}
		tell := closer || r.opt.Trace != nil || r.opt.Why != ""
		if tell {
			base.scope = r.inScope(a.Inst)
		}
		var gs []stage.Guard
		var hs []int
		if closer {
			base.fresh = r.pub.Fresh(id, cell)
			if gs = r.lock.GuardsAt(a, cell); len(gs) > 0 {
				base.locks = fmt.Sprint(gs)
			}
			if hs = r.homes.heardAt(a, cell); len(hs) > 0 {
				base.heard = fmt.Sprint(hs)
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
			if closer && kind.count == 1 {
				k.own = r.lock.OwnFrame(t, r.v.Threads[t].Entry, a, cell)
			}
			c := byKey[k]
			if c == nil {
				c = &stage.Class{Thread: t, Write: a.Write, Atomic: a.Atomic, Rep: id, Order: oc, Locks: gs, Heard: hs, User: k.user, InScope: k.scope, Under: k.under, Fresh: k.fresh, Own: k.own}
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
