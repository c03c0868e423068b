package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// userCalls computes, for each instance, the threads in which it runs under a
// call made by a package in scope. A go statement in scope that starts another
// package's function is a call made in scope.
func (r *run) userCalls() {
	v, pool := r.v, r.v.ThreadPool()
	threads := stage.None
	for t := range v.Threads {
		for _, s := range v.Threads[t].Spawns {
			if r.inScope(s.By) {
				threads = pool.Or(threads, pool.One(t))
			}
		}
	}
	r.user = v.FlowThreads(func(n pta.InstID) stage.Set {
		if r.inScope(n) {
			return v.ThreadSet(n)
		}
		return pool.And(v.ThreadEntry(n), threads)
	}, nil)
}

func (r *run) inScope(n pta.InstID) bool { return r.scope.Has(int(n)) }

// placed reports whether accesses of n are shown where they are: in a function
// in scope, and in its source, not in a model of it.
func (r *run) placed(n pta.InstID) bool {
	f := r.v.Res.Func(n)
	return r.inScope(n) && (f == nil || !f.Is(facts.FnModel))
}

// findScope finds the instances of functions in scope.
func (r *run) findScope() {
	r.scope = stage.NewBits(len(r.v.Res.Insts))
	pkgs := map[string]bool{}
	for n := range r.v.Res.Insts {
		f := r.v.Res.Func(pta.InstID(n))
		if f == nil || f.Pkg == "" {
			continue
		}
		in, ok := pkgs[f.Pkg]
		if !ok {
			in = r.opt.Scope(f.Pkg)
			pkgs[f.Pkg] = in
		}
		if in {
			r.scope.Add(n)
		}
	}
}

// madeInScope reports whether the packages in scope made an object: its site
// lies in them, or an element of its heap context does.
func (r *run) madeInScope(o pta.ObjID) bool {
	if m, ok := r.made[o]; ok {
		return m
	}
	ob := &r.v.Res.Objs[o]
	m := false
	if ob.Kind == pta.ObjGlobal {
		m = r.opt.Scope(r.v.Prog.Globals[ob.Global].Pkg)
	} else {
		for _, fn := range r.v.Res.MakersOf(o) {
			if f := r.v.Prog.Funcs[fn]; f != nil && f.Pkg != "" && r.opt.Scope(f.Pkg) {
				m = true
			}
		}
	}
	r.made[o] = m
	return m
}

// madeBelow reports whether some instance that makes the object runs under a
// call made in scope, at any depth. Such an object may be the user's all the
// same, so that leaving its pairs out of scope is an assumption.
func (r *run) madeBelow(o pta.ObjID) bool {
	ob := &r.v.Res.Objs[o]
	if ob.Kind != pta.ObjSite && ob.Kind != pta.ObjNew {
		return false
	}
	for _, n := range r.v.InstsOf[ob.Fn] {
		if r.user[n] != stage.None {
			return true
		}
	}
	return false
}

// outOfScope reports whether no pair of a cell can be in scope: no access lies
// in a package in scope and none of those made the object. Such pairs are
// counted as they leave escaping and looked at no further.
func (r *run) outOfScope(cell uint32) bool {
	obj, _ := r.v.Res.Object(cell)
	if r.madeInScope(obj) {
		return false
	}
	for _, id := range r.w.At(cell) {
		if r.inScope(r.w.Accesses[id].Inst) {
			return false
		}
	}
	return true
}
