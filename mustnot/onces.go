package mustnot

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// A sync.Once is a lock for reading and writing:
//
//	(O1) the function that Do calls holds it for writing; who has returned from a Do
//	     holds it for reading
//	(O2) nothing releases it: what is known of a Once, done, stays so. But a name ends
//	     where its register is defined again, as for all locks
//	(O3) goroutines start with none, those that the function starts included
//
// Two accesses of which one is in the function, and which hold one Once, are ordered:
// the function runs once at most, in one goroutine, and happens before every return
// of Do. A Once that something may overwrite is no guard.
//
// Do is handed the function and the Once, so that it cannot name the one by what the
// other has captured. Who calls Do can:
//
//	(O4) all callers of Do that may give it the function make it as a closure, of one
//	     function literal or method value, in the same activation and hand it over
//	     right there; what it has captured is the register that the Once is named by
//
// A function that is called where it is made has names for what it has captured, too:
//
//	(L7) from the registers that its maker bound, if the call is of the register that
//	     the making defines. A deferred call stands at the exit: the making and the
//	     register are then none of a loop
//
// In (O4) and (L7) no definition of the register comes between the making and the
// call: it comes before the making on every path, being used there.

// binding says what a free variable of a function is bound to where it is made.
type binding struct{ free, to facts.Reg }

// madeAt returns the bindings of closures over g that define a register of f.
func (l *Locks) madeAt(f *facts.Func, fn facts.Reg, g *facts.Func) (out []binding, at uint32, ok bool) {
	def := f.Regs[fn].Def
	if def == 0 || f.Points[def-1].Op != facts.OpAlloc || len(l.v.InstsOf[f.ID]) == 0 {
		return nil, 0, false
	}
	a := &f.Allocs[f.Points[def-1].Row]
	if s := &f.Sites[a.Site]; s.Kind != facts.SiteClosure || s.Fn != g.ID {
		return nil, 0, false
	}
	defs := 0
	for p, pt := range f.Points {
		if f.Defines(pt) == fn {
			defs++
		}
		if pt.Op != facts.OpMem {
			continue
		}
		m := &f.Mems[pt.Row]
		if !m.Write || m.Mode != facts.Flow || m.Base != fn || m.ValLeaf != 0 || uint32(p) < def {
			continue
		}
		cell := uint32(0)
		for _, fr := range g.Free {
			if cell == m.Off && m.Val != facts.NoReg {
				out = append(out, binding{fr, m.Val})
			}
			cell += uint32(len(l.v.Prog.Layout(g.Regs[fr].Type).Cells))
		}
	}
	return out, def - 1, defs == 1
}

// bound lists the bindings of the closure that an edge calls, if the caller has made
// it. (L7)
func (l *Locks) bound(f *facts.Func, e pta.Edge) []binding {
	g := l.v.Res.Func(e.Callee)
	if e.Kind != pta.EdgeCall || g == nil || len(g.Free) == 0 || f.Calls[e.Row].Fn == facts.NoReg {
		return nil
	}
	k := callKey{f.ID, e.Row, g.ID}
	if out, ok := l.bounds[k]; ok {
		return out
	}
	out, at, ok := l.madeAt(f, f.Calls[e.Row].Fn, g)
	if fl := l.v.Flow(l.v.InstsOf[f.ID][0]); ok && f.Calls[e.Row].Mode == facts.ModeDefer {
		ok = !fl.OnCycle(at)
		out = slices.DeleteFunc(out, func(b binding) bool {
			def := f.Regs[l.rootOf(f, b.to).reg].Def
			return def != 0 && fl.OnCycle(def-1)
		})
	}
	if !ok {
		out = nil
	}
	l.bounds[k] = out
	return out
}

type callKey struct {
	f   facts.FuncID
	row uint32
	g   facts.FuncID
}

// inBody returns what the callee of an edge holds if Do calls it. (O1), (O4)
func (l *Locks) inBody(n pta.InstID, f *facts.Func, e pta.Edge) held {
	if e.Kind != pta.EdgeCall || f.Calls[e.Row].Once == facts.NoReg {
		return nothing
	}
	call := &f.Calls[e.Row]
	out := nothing
	if c, ok := l.v.Single(n, call.Once); ok && l.oneObject(c) {
		out = l.sets.with(out, Name{Object: true, Cell: c, Write: true, Once: true})
	}
	once, fn := slices.Index(f.Params, call.Once), slices.Index(f.Params, call.Fn)
	g := l.v.Res.Func(e.Callee)
	if once < 0 || fn < 0 || len(g.Free) == 0 {
		return out
	}
	names, first := nothing, true
	for _, c := range l.v.In(n) {
		if c.Kind == pta.EdgeCall && !l.gives(c.Inst, argument(&l.v.Res.Func(c.Inst).Calls[c.Row], fn), g) {
			continue
		}
		given := nothing
		if h := l.v.Res.Func(c.Inst); c.Kind == pta.EdgeCall && h.Calls[c.Row].Mode == facts.ModeCall {
			given = l.captures(h, &h.Calls[c.Row], once, fn, g)
		}
		if !first {
			given = l.sets.meet(names, given)
		}
		names, first = given, false
	}
	return l.sets.union(out, names)
}

// gives reports whether a register may hold a closure over g.
func (l *Locks) gives(n pta.InstID, r facts.Reg, g *facts.Func) bool {
	if r == facts.NoReg {
		return false
	}
	found := false
	l.v.Res.PointsTo(n, r, 0).Each(func(c uint32) {
		o, _ := l.v.Res.Object(c)
		s := l.v.Res.Site(o)
		found = found || s != nil && s.Kind == facts.SiteClosure && s.Fn == g.ID
	})
	return found
}

// captures returns the names of the Once that a call hands over with the closure that
// is to run: by what that has captured.
func (l *Locks) captures(f *facts.Func, call *facts.Call, once, fn int, g *facts.Func) held {
	o, c := argument(call, once), argument(call, fn)
	if o == facts.NoReg || c == facts.NoReg {
		return nothing
	}
	bs, _, ok := l.madeAt(f, c, g)
	if !ok {
		return nothing
	}
	of, out := l.rootOf(f, o), nothing
	for _, b := range bs {
		if rt := l.rootOf(f, b.to); rt.reg == of.reg {
			out = l.sets.with(out, Name{Reg: b.free, Off: of.off - rt.off, Write: true, Once: true})
		}
	}
	return out
}
