package extract

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
)

// Pointers that are numbers for a while.

// pointersIn returns the pointers that a uintptr was computed from in this
// function, in the order in which they are found.
func pointersIn(u ssa.Value, has func(types.Type) bool) []ssa.Value {
	var found []ssa.Value
	seen := map[ssa.Value]bool{}
	todo := []ssa.Value{u}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		switch v := v.(type) {
		case *ssa.BinOp:
			todo = append(todo, v.X, v.Y)
		case *ssa.Phi:
			todo = append(todo, v.Edges...)
		case *ssa.ChangeType:
			todo = append(todo, v.X)
		case *ssa.Convert:
			if has(v.X.Type()) {
				found = append(found, v.X)
			} else {
				todo = append(todo, v.X)
			}
		}
	}
	return found
}

// fromUintptr lowers unsafe.Pointer(u): whatever pointers u was computed from
// in this function, at any offset; anything else is an assumption.
func (l *lowering) fromUintptr(r facts.Reg, u ssa.Value) {
	found := false
	for _, p := range pointersIn(u, func(t types.Type) bool { return l.leaves(t) == 1 }) {
		if s := l.reg(p); s != facts.NoReg {
			found = true
			l.copyLeaves(r, 0, s, 0, 1, -1, true)
		}
	}
	if _, isConst := u.(*ssa.Const); !found && !isConst && !strings.HasPrefix(l.f.Pkg, "runtime") {
		l.assume("unsafe", "a uintptr from elsewhere becomes a pointer: it is assumed to point to nothing that the program shares")
	}
}

// kernel lowers what a call does to memory whose address it gets as a number, as
// rule (4) of package unsafe allows for functions in assembly and those that make
// system calls: it reads and writes what the pointer points to and, where pointers
// are in that, all that it leads to. Which of the two a system call does is not
// looked at: package syscall of std has models that say it.
func (l *lowering) kernel(fn *ssa.Function, c *ssa.CallCommon) {
	if fn == nil || fn.Blocks != nil && !strings.Contains(fn.Name(), "yscall") || c.IsInvoke() {
		return
	}
	for _, a := range c.Args {
		if b, ok := a.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.Uintptr {
			continue
		}
		for _, p := range pointersIn(a, func(t types.Type) bool { return l.leaves(t) == 1 }) {
			how := facts.ReachCells
			if !l.pointsFlat(p, 8) {
				how = facts.ReachAll
			}
			x := l.reg(p)
			l.deep(facts.Deep{X: x, How: how})
			l.deep(facts.Deep{X: x, Write: true, How: how})
		}
	}
}

// pointsFlat reports whether a pointer surely points to memory without pointers,
// as far as the types show that it had before it became an unsafe.Pointer.
func (l *lowering) pointsFlat(v ssa.Value, depth int) bool {
	if depth == 0 {
		return false
	}
	switch u := v.Type().Underlying().(type) {
	case *types.Pointer:
		return l.leaves(u.Elem()) == 0
	case *types.Slice:
		return l.leaves(u.Elem()) == 0
	}
	switch v := v.(type) {
	case *ssa.Convert:
		return l.pointsFlat(v.X, depth-1)
	case *ssa.ChangeType:
		return l.pointsFlat(v.X, depth-1)
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !l.pointsFlat(e, depth-1) {
				return false
			}
		}
		return true
	case *ssa.Const:
		return true // nil
	}
	return false
}
