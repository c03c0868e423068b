package extract

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
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
// are in that, all that it leads to; a system call that is known to do but one of
// the two does that. A number that may be an address and is none of a pointer of
// this function is an assumption.
func (l *lowering) kernel(fn *ssa.Function, c *ssa.CallCommon) {
	if fn == nil || c.IsInvoke() {
		return
	}
	reads, writes := l.systemCall(fn, c)
	for i, a := range c.Args {
		if !numbers(a.Type()) || !l.builder.toKernel(fn, i) {
			continue
		}
		pointers, elsewhere := l.handed(a)
		for _, p := range pointers {
			how := facts.ReachCells
			if !l.pointsFlat(p, 8) {
				how = facts.ReachAll
			}
			x := l.reg(p)
			if reads {
				l.deep(facts.Deep{X: x, How: how})
			}
			if writes {
				l.deep(facts.Deep{X: x, Write: true, How: how})
			}
		}
		if elsewhere && len(pointers) == 0 && !strings.HasPrefix(l.f.Pkg, "runtime") {
			l.assume("unsafe", "a uintptr from elsewhere is handed to "+fn.String()+": it is assumed to be no address of memory of the program")
		}
	}
}

// numbers reports whether values of type t are what addresses are handed to the
// kernel as: a uintptr, or several.
func numbers(t types.Type) bool {
	t = t.Underlying()
	if s, ok := t.(*types.Slice); ok {
		t = s.Elem().Underlying()
	}
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.Uintptr
}

// handed returns the pointers that argument a, a number or a slice of them that
// the call makes, was computed from in this function, and whether it is computed
// from a number that is loaded, or that a call gave.
func (l *lowering) handed(a ssa.Value) (pointers []ssa.Value, elsewhere bool) {
	for _, v := range elementsOf(a) {
		pointers = append(pointers, pointersIn(v, func(t types.Type) bool { return l.leaves(t) == 1 })...)
		elsewhere = elsewhere || slices.ContainsFunc(numbersIn(v), func(v ssa.Value) bool {
			switch v := v.(type) {
			case *ssa.UnOp:
				return v.Op == token.MUL
			case *ssa.Call:
				return v.Call.Method == nil || v.Call.Method.Name() != "Fd"
			case *ssa.Extract, *ssa.Field, *ssa.Lookup, *ssa.Index:
				return true
			}
			return false
		})
	}
	return
}

// elementsOf returns what is stored into the slice that a variadic call makes of
// its last arguments, or v.
func elementsOf(v ssa.Value) []ssa.Value {
	s, ok := v.(*ssa.Slice)
	if !ok {
		return []ssa.Value{v}
	}
	array, ok := s.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	var out []ssa.Value
	for _, r := range *array.Referrers() {
		if at, ok := r.(*ssa.IndexAddr); ok {
			for _, r := range *at.Referrers() {
				if st, ok := r.(*ssa.Store); ok && st.Addr == at {
					out = append(out, st.Val)
				}
			}
		}
	}
	return out
}

// numbersIn returns the values of type uintptr that v is computed from, and that
// are not computed themselves in this function.
func numbersIn(v ssa.Value) []ssa.Value {
	var out []ssa.Value
	seen := map[ssa.Value]bool{}
	todo := []ssa.Value{v}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[v] || !numbers(v.Type()) {
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
			todo = append(todo, v.X)
		default:
			out = append(out, v)
		}
	}
	return out
}

// kernelArg names an argument of a function.
type kernelArg struct {
	fn *ssa.Function
	i  int
}

// toKernel reports whether fn hands its i-th argument, a number, to the kernel or to
// assembly: it has no body, or passes it on. A function that calls itself is taken
// to do so.
func (b *builder) toKernel(fn *ssa.Function, i int) bool {
	if s := b.summaryOf(fn); s != nil {
		return s.kernel[kernelName{b.funcName(fn), uint32(i)}]
	}
	if fn.Blocks == nil {
		return true
	}
	k := kernelArg{fn, i}
	if r, ok := b.kernelArgs[k]; ok {
		return r
	}
	b.kernelArgs[k] = true
	r := i < len(fn.Params) && b.passesOn(fn, fn.Params[i])
	b.kernelArgs[k] = r
	return r
}

// passesOn reports whether fn hands its parameter p, or an element of it, to the
// kernel.
func (b *builder) passesOn(fn *ssa.Function, p *ssa.Parameter) bool {
	for _, block := range fn.Blocks {
		for _, in := range block.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			c := call.Common()
			callee := c.StaticCallee()
			if callee == nil {
				continue
			}
			for i, a := range c.Args {
				if numbers(a.Type()) && slices.ContainsFunc(elementsOf(a), func(v ssa.Value) bool { return from(v, p) }) && b.toKernel(callee, i) {
					return true
				}
			}
		}
	}
	return false
}

// from reports whether number v is computed from parameter p, or an element of it.
func from(v ssa.Value, p *ssa.Parameter) bool {
	return slices.ContainsFunc(numbersIn(v), func(v ssa.Value) bool {
		if u, ok := v.(*ssa.UnOp); ok {
			if at, ok := u.X.(*ssa.IndexAddr); ok {
				return at.X == p
			}
		}
		return v == p
	})
}

// systemCall returns what the system call does to the memory that it is handed, if
// it is made with a constant number by package syscall, or by the package of
// golang.org/x/sys that has the numbers too.
func (l *lowering) systemCall(fn *ssa.Function, c *ssa.CallCommon) (reads, writes bool) {
	if fn.Pkg == nil || fn.Pkg.Pkg.Path() != "syscall" && fn.Pkg.Pkg.Path() != "golang.org/x/sys/unix" {
		return true, true
	}
	switch fn.Name() {
	case "Syscall", "Syscall6", "RawSyscall", "RawSyscall6", "SyscallNoError", "RawSyscallNoError":
	default:
		return true, true
	}
	k, ok := c.Args[0].(*ssa.Const)
	if !ok || k.Value == nil {
		return true, true
	}
	for name, does := range systemCalls {
		if x, ok := fn.Pkg.Pkg.Scope().Lookup("SYS_" + name).(*types.Const); ok && constant.Compare(constant.ToInt(x.Val()), token.EQL, constant.ToInt(k.Value)) {
			return does == 'r', does == 'w'
		}
	}
	return true, true
}

// systemCalls are those of Linux that only read ('r') or only write ('w') the memory
// that their arguments point to. Source: section 2 of the Linux manual.
var systemCalls = map[string]byte{
	"WRITE": 'r', "PWRITE64": 'r', "WRITEV": 'r', "PWRITEV": 'r', "SENDTO": 'r', "SENDMSG": 'r',
	"BIND": 'r', "CONNECT": 'r', "SETSOCKOPT": 'r', "OPEN": 'r', "OPENAT": 'r', "MKDIRAT": 'r',
	"UNLINKAT": 'r', "RENAMEAT": 'r', "CHDIR": 'r', "EPOLL_CTL": 'r', "INOTIFY_ADD_WATCH": 'r', "MEMFD_CREATE": 'r',
	"READ": 'w', "PREAD64": 'w', "GETRANDOM": 'w', "GETCWD": 'w', "PIPE2": 'w', "FSTAT": 'w',
	"GETDENTS64": 'w', "UNAME": 'w', "SYSINFO": 'w', "CLOCK_GETTIME": 'w',
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
