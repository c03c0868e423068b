package check

import (
	"maps"
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
	at := map[uint32][]int{} // accesses by cell
	written := map[uint32]bool{}
	for i := range k.accesses {
		for _, c := range k.touched(&k.accesses[i]) {
			at[c] = append(at[c], i)
			written[c] = written[c] || k.accesses[i].write
		}
	}
	evidence := map[uint32]*CellEvidence{}
	for i := range k.c.Evidence {
		evidence[k.c.Evidence[i].Cell] = &k.c.Evidence[i]
	}
	for _, c := range slices.Sorted(maps.Keys(at)) {
		if written[c] {
			k.cell(c, at[c], evidence[c])
		}
	}
}

// cell judges the pairs of one cell.
func (k *checker) cell(c uint32, list []int, ev *CellEvidence) {
	if k.oneGoroutine(list) {
		k.rep.Refuted[Starts] += k.conflicts(list)
		return
	}
	if ev == nil {
		ev = &CellEvidence{}
	}
	by := map[[2]int][]*Evidence{} // by classes
	for i := range ev.List {
		e := &ev.List[i]
		if e.Kind == NeverEscapes && e.A == Any && k.private(c) { // for all threads
			k.rep.Refuted[NeverEscapes] += k.conflicts(list)
			return
		}
		by[[2]int{min(e.A, e.B), max(e.A, e.B)}] = append(by[[2]int{min(e.A, e.B), max(e.A, e.B)}], e)
	}
	classes := map[At][]int{}
	for n, class := range ev.Classes {
		for _, x := range class {
			classes[x] = append(classes[x], n)
		}
	}
	ours := k.ours(k.objOf[c])
	for n, i := range list {
		for _, j := range list[n:] {
			a, b := &k.accesses[i], &k.accesses[j]
			if !ours && !k.inScope(a.at.Inst) && !k.inScope(b.at.Inst) {
				continue
			}
			if !a.write && !b.write || a.atomic && b.atomic || a.use == waits && b.use == waits {
				continue
			}
			var found []*Evidence
			for _, x := range append(classes[a.at], Any) {
				for _, y := range append(classes[b.at], Any) {
					found = append(found, by[[2]int{min(x, y), max(x, y)}]...)
				}
			}
			k.pair(c, a, b, found)
		}
	}
}

// conflicts counts the pairs of a list of accesses.
func (k *checker) conflicts(list []int) int {
	writes, all, atomicWrites, atomics := 0, len(list), 0, 0
	for _, i := range list {
		a := &k.accesses[i]
		if a.write {
			writes++
		}
		if a.atomic {
			atomics++
		}
		if a.write && a.atomic {
			atomicWrites++
		}
	}
	pairs := func(n int) int { return n * (n + 1) / 2 }
	return pairs(all) - pairs(all-writes) - (pairs(atomics) - pairs(atomics-atomicWrites))
}

// oneGoroutine reports whether all accesses are by one goroutine, in program order:
// by a thread that is not started where, or when, one of it may run.
func (k *checker) oneGoroutine(list []int) bool {
	t := -1
	for _, i := range list {
		by := k.runBy[k.accesses[i].at.Inst]
		if len(by) > 1 || len(by) == 1 && t >= 0 && by[0] != t {
			return false
		}
		if len(by) == 1 {
			t = by[0]
		}
	}
	return t < 0 || !k.beside[t].Has(t) && !k.c.Insts[k.threads[t].entry].Does.Has(t)
}

// private reports whether one goroutine alone has pointers to the object of a cell.
func (k *checker) private(c uint32) bool { return !k.c.Escaped.Has(int(k.objOf[c])) }

// pair judges a pair by the evidence that is given for it, for all threads.
func (k *checker) pair(c uint32, a, b *access, found []*Evidence) {
	kind, evidence := "", found // kind is that of the evidence that held last
	if len(evidence) == 0 {     // order by starts needs no more than its claims
		evidence = []*Evidence{{Kind: Starts}}
	}
	for _, t := range k.runBy[a.at.Inst] {
		for _, u := range k.runBy[b.at.Inst] {
			i := slices.IndexFunc(evidence, func(e *Evidence) bool { return k.holdsFor(c, t, a, u, b, e) })
			if i < 0 {
				k.without(c, a, b, found)
				return
			}
			kind = evidence[i].Kind
		}
	}
	if kind != "" {
		k.rep.Refuted[kind]++
	}
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
	}
	return false
}

// without notes a pair that no evidence refutes.
func (k *checker) without(c uint32, a, b *access, found []*Evidence) {
	for _, e := range found {
		if e.Kind == Open {
			k.rep.Open++
			return
		}
	}
	for _, e := range found {
		switch e.Kind {
		case NeverEscapes, Starts, SameLock, SameBase, Signalled:
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
