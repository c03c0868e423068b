package check

import (
	"cmp"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// State is the locks that are surely held where a goroutine is, ascending; with
// All, nothing is ever there.
type State struct {
	All   bool
	Locks []Lock
}

// Lock is a name of a lock: where register Reg points plus Off bytes, or, if Reg
// is 0, the one variable at Cell. Write tells the exclusive mode.
type Lock struct {
	Reg   facts.Reg
	Off   int64
	Cell  uint32
	Write bool
}

func (a Lock) compare(b Lock) int {
	w := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Reg, b.Reg), cmp.Compare(a.Off, b.Off), cmp.Compare(a.Cell, b.Cell), cmp.Compare(w(a.Write), w(b.Write)))
}

// Sorted sorts names of locks, each once.
func Sorted(l []Lock) []Lock {
	slices.SortFunc(l, Lock.compare)
	return slices.Compact(l)
}

func (s State) has(n Lock) bool {
	_, ok := slices.BinarySearchFunc(s.Locks, n, Lock.compare)
	return s.All || ok
}

// Within reports whether a state claims no more than another.
func (s State) Within(t State) bool {
	return t.All || !s.All && !slices.ContainsFunc(s.Locks, func(n Lock) bool { return !t.has(n) })
}

func (s State) drop(gone func(Lock) bool) State {
	if !slices.ContainsFunc(s.Locks, gone) {
		return s
	}
	return State{s.All, slices.DeleteFunc(slices.Clone(s.Locks), gone)}
}

// Meet returns what two states both hold.
func (s State) Meet(t State) State {
	if s.All {
		return t
	}
	return s.drop(func(n Lock) bool { return !t.has(n) })
}

func (s State) union(t State) State {
	switch {
	case s.All || t.All:
		return State{All: true}
	case len(t.Locks) == 0:
		return s
	}
	return State{Locks: Sorted(append(slices.Clone(s.Locks), t.Locks...))}
}

// root is the normal form of an address: a register and a distance in bytes.
type root struct {
	reg facts.Reg
	off int64
}

// rootsOf returns the normal form of each register, through field addresses and
// conversions of pointers. A register has one definition, which comes before every
// use; so where it is used, what its root was then is what its root is, or the
// root's definition has run again and with it this one. Definitions that stand
// after a use in the order of points are no roots' business: they are their own.
func (k *checker) rootsOf(f *facts.Func) []root {
	if rs := k.roots[f.ID]; rs != nil {
		return rs
	}
	rs, defs := make([]root, len(f.Regs)), make([]int, len(f.Regs))
	for r := range rs {
		rs[r] = root{facts.Reg(r), 0}
	}
	for _, pt := range f.Points {
		defs[f.Defines(pt)]++
	}
	pointer := func(r facts.Reg) bool {
		t := f.Regs[r].Type
		return t != 0 && k.p.Types[t].Kind == facts.Pointer
	}
	for _, pt := range f.Points {
		switch pt.Op {
		case facts.OpAddr:
			if a := &f.Addrs[pt.Row]; a.Kind == facts.AddrField && defs[a.Dst] == 1 && defs[a.Base] <= 1 {
				rs[a.Dst] = root{rs[a.Base].reg, rs[a.Base].off + a.Bytes}
			}
		case facts.OpCopy:
			c := &f.Copies[pt.Row]
			if c.N == 1 && c.Index < 0 && !c.Unsafe && pointer(c.Dst) && pointer(c.Src) && defs[c.Dst] == 1 && defs[c.Src] <= 1 {
				rs[c.Dst] = rs[c.Src]
			}
		}
	}
	k.roots[f.ID] = rs
	return rs
}
