package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// access is a point of an instance that reads or writes memory.
type access struct {
	at            At
	write, atomic bool
	use           use
}

// use says what an operation on a synchronisation object does to it.
type use uint8

const (
	none use = iota
	closes
	sends
	adds
	waits
)

// findAccesses finds the accesses of all instances:
//
//	(A1) a load or store, but one that moves values without being an access
//	(A2) a deep read
//	(A3) an operation on a lock, wait group or once is an atomic write of the object,
//	     so that a plain copy or store of it conflicts
//	(A4) close writes and send reads a channel; Wait writes and Add, of more than
//	     nothing, reads the cell
//	     beside a wait group's first. They are no accesses, but misuse if they are
//	     not ordered
func (k *checker) findAccesses() {
	for i := 1; i < len(k.c.Insts); i++ {
		f := k.fn(InstID(i))
		fl := k.flowOf(f)
		for p, pt := range f.Points {
			if b := int(fl.blockOf[p]); b != 0 && !fl.reach[0].Has(b) {
				continue // no path leads there
			}
			a := access{at: At{InstID(i), uint32(p)}}
			switch pt.Op {
			case facts.OpMem: // (A1)
				m := &f.Mems[pt.Row]
				if m.Mode == facts.Flow {
					continue
				}
				a.write, a.atomic = m.Write, m.Mode == facts.Atomic
			case facts.OpDeep: // (A2)
				a.write = f.Deeps[pt.Row].Write
			case facts.OpSync: // (A3), (A4)
				op := f.Syncs[pt.Row].Op
				n, known := k.added(InstID(i), &f.Syncs[pt.Row])
				used := access{at: a.at, write: op == facts.SyncClose || op == facts.SyncWait, use: uses[op]}
				if used.use != none && !(used.use == adds && known && n <= 0) {
					k.accesses = append(k.accesses, used)
				}
				if op == facts.SyncSend || op == facts.SyncRecv || op == facts.SyncClose || op == facts.SyncParallel {
					continue
				}
				a.write, a.atomic = true, true
			case facts.OpSelect:
				a.use = sends
			default:
				continue
			}
			k.accesses = append(k.accesses, a)
		}
	}
}

var uses = map[facts.SyncOp]use{facts.SyncClose: closes, facts.SyncSend: sends, facts.SyncAdd: adds, facts.SyncWait: waits}

// touched returns the cells that an access may touch, without those that are no
// memory of the program: functions, hidden cells, boxes and copies, bindings, channels.
func (k *checker) touched(a *access) []uint32 {
	i := a.at.Inst
	f := k.fn(i)
	var out []uint32
	add := func(from, n uint32) {
		o := &k.c.Objects[k.objOf[from]]
		switch {
		case o.Kind == ObjFunc || o.Kind == ObjGhost || o.Kind == ObjCopy:
			return
		case o.Kind == ObjSite:
			if s := k.p.Funcs[o.Fn].Sites[o.Site].Kind; s == facts.SiteBox || s == facts.SiteClosure || s == facts.SiteChan {
				return
			}
		}
		for j := range n {
			if k.inside(from, j) {
				out = append(out, from+j)
			}
		}
	}
	switch pt := f.Points[a.at.Point]; pt.Op {
	case facts.OpMem:
		m := &f.Mems[pt.Row]
		for _, c := range k.set(k.pts(i, m.Base, 0)) {
			if k.inside(c, m.Off) {
				add(c+m.Off, uint32(len(k.p.Layout(m.Type).Cells)))
			}
		}
	case facts.OpDeep:
		for _, c := range k.set(k.c.Insts[i].Deeps[pt.Row]) {
			add(c, 1)
		}
	case facts.OpSync:
		for _, c := range k.set(k.pts(i, f.Syncs[pt.Row].Obj, 0)) {
			switch a.use {
			case none:
				add(c, 1)
			case closes, sends:
				out = append(out, c)
			case adds, waits:
				if k.inside(c, 1) {
					out = append(out, c+1)
				}
			}
		}
	case facts.OpSelect:
		for _, s := range f.Selects[pt.Row].Cases {
			if s.Send {
				out = append(out, k.set(k.pts(i, s.Chan, 0))...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pairs judges, cell by cell, every two accesses of which one writes and not both
// are atomic, by every two threads that run them: some evidence must hold.
func (k *checker) pairs() {
	k.at, k.evidence = make([][]int, len(k.objOf)), map[uint32]*CellEvidence{}
	written := NewBits(len(k.objOf))
	for i := range k.accesses {
		for _, c := range k.touched(&k.accesses[i]) {
			k.at[c] = append(k.at[c], i)
			if k.accesses[i].write {
				written.Add(int(c))
			}
		}
	}
	for i := range k.c.Evidence {
		k.evidence[k.c.Evidence[i].Cell] = &k.c.Evidence[i]
	}
	for c := range k.at {
		if written.Has(c) {
			k.cell(uint32(c), true, func(kind string, n int) { k.rep.Refuted[kind] += n }, func(a, b *access, found []*Evidence) bool {
				k.without(a, b, found)
				return true
			})
		}
	}
}

// raceFree reports whether evidence refutes all pairs of a cell, in scope or not,
// without asking about itself.
func (k *checker) raceFree(c uint32) bool {
	return judge(k.free, c, func() bool {
		ok := true
		k.cell(c, false, func(string, int) {}, func(*access, *access, []*Evidence) bool {
			ok = false
			return false
		})
		return ok
	})
}

// cell judges the pairs of one cell, or those in scope. It calls by with the kinds of
// evidence that refute pairs, and how many, and left with pairs that none refutes
// until that returns false.
func (k *checker) cell(c uint32, scoped bool, by func(kind string, n int), left func(a, b *access, found []*Evidence) bool) {
	list, ev := k.at[c], k.evidence[c]
	if k.oneGoroutine(list) {
		by(Starts, k.conflicts(list))
		return
	}
	if ev == nil {
		ev = &CellEvidence{}
	}
	between := map[[2]int][]*Evidence{} // classes
	for i := range ev.List {
		e := &ev.List[i]
		if e.Kind == NeverEscapes && e.A == Any && k.private(c) { // for all threads
			by(NeverEscapes, k.conflicts(list))
			return
		}
		key := [2]int{min(e.A, e.B), max(e.A, e.B)}
		between[key] = append(between[key], e)
	}
	classes := map[At][]int{}
	for n, class := range ev.Classes {
		for _, x := range class {
			classes[x] = append(classes[x], n)
		}
	}
	all := !scoped || k.ours(k.objOf[c])
	for n, i := range list {
		for _, j := range list[n:] {
			a, b := &k.accesses[i], &k.accesses[j]
			if !all && !k.inScope(a.at.Inst) && !k.inScope(b.at.Inst) {
				continue
			}
			if !a.write && !b.write || a.atomic && b.atomic || a.use == waits && b.use == waits {
				continue
			}
			var found []*Evidence
			for _, x := range append(classes[a.at], Any) {
				for _, y := range append(classes[b.at], Any) {
					found = append(found, between[[2]int{min(x, y), max(x, y)}]...)
				}
			}
			if kind, ok := k.pair(c, a, b, found); !ok && !left(a, b, found) {
				return
			} else if ok && kind != "" {
				by(kind, 1)
			}
		}
	}
}

// pair judges a pair by the evidence that is given for it, for all threads, and
// returns the kind that held last.
func (k *checker) pair(c uint32, a, b *access, evidence []*Evidence) (kind string, ok bool) {
	if len(evidence) == 0 { // order by starts needs no more than its claims
		evidence = []*Evidence{{Kind: Starts}}
	}
	for _, t := range k.runBy[a.at.Inst] {
		for _, u := range k.runBy[b.at.Inst] {
			i := slices.IndexFunc(evidence, func(e *Evidence) bool { return k.holdsFor(c, t, a, u, b, e) })
			if i < 0 {
				return "", false
			}
			kind = evidence[i].Kind
		}
	}
	return kind, true
}

// The kinds of evidence that are judged. Others leave a pair not checked, and Open
// is none: some threads were found to race there.
const (
	Open         = "open"
	NeverEscapes = "never-escapes"
	Starts       = "starts"
	SameLock     = "same-lock"
	SameBase     = "same-base"
	Signalled    = "signalled"
	Published    = "published"
	Apart        = "apart"
)

// holdsFor reports whether evidence refutes a pair of a cell by two threads.
func (k *checker) holdsFor(c uint32, t int, a *access, u int, b *access, e *Evidence) bool {
	switch e.Kind {
	case NeverEscapes:
		return k.private(c)
	case Starts:
		return k.ordered(t, a, u, b)
	case SameLock:
		return int(e.Of) < len(k.objOf) && k.sameLock(a, b, e.Of)
	case Signalled:
		return k.signalled(t, a, u, b, e.Of)
	case SameBase:
		return k.sameBase(a, b, c, e.Delta)
	case Published:
		return k.fresh(a, c) || k.fresh(b, c)
	case Apart:
		return k.apart(a, b, c)
	}
	return false
}

// without notes a pair that no evidence refutes.
func (k *checker) without(a, b *access, found []*Evidence) {
	for _, e := range found {
		if e.Kind == Open {
			k.rep.Open++
			return
		}
	}
	for _, e := range found {
		switch e.Kind {
		case NeverEscapes, Starts, SameLock, SameBase, Signalled, Published, Apart:
		default:
			k.rep.NotChecked[e.Kind]++
			return
		}
	}
	if len(found) == 0 {
		k.rep.Open++
		return
	}
	k.rep.Wrong++
	k.rep.Bad = append(k.rep.Bad, found...)
	if k.rep.Failed == nil {
		f, g := k.fn(a.at.Inst), k.fn(b.at.Inst)
		k.rep.Failed = &Failure{found[0].Kind, f.Points[a.at.Point].Pos, "the evidence does not hold for an access in " + f.Name + " and one in " + g.Name}
	}
}
