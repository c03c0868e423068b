package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// A proof is about the pairs in scope: those of which an access is in one of some
// packages, and those on objects that these made: a variable of theirs, or what was
// made by a function of theirs or by one that they call or start. Which packages
// these are is no claim, but part of what is asked.

// inScope reports whether an instance is of a function of a package in scope.
func (k *checker) inScope(i InstID) bool { return k.scope == nil || k.scope(k.fn(i).Pkg) }

// ours reports whether the packages in scope made an object.
func (k *checker) ours(id ObjID) bool {
	switch o := &k.c.Objects[id]; {
	case k.scope == nil:
		return true
	case o.Kind == ObjGlobal:
		return k.scope(k.p.Globals[o.Global].Pkg)
	case o.Kind != ObjSite:
		return false
	case k.called == nil: // what functions in scope call
		k.called = NewBits(len(k.c.Insts))
		for i := 1; i < len(k.c.Insts); i++ {
			if k.inScope(InstID(i)) {
				k.called.Add(i)
				for _, e := range k.c.Insts[i].Edges {
					k.called.Add(int(e.Callee))
				}
			}
		}
	}
	return slices.ContainsFunc(k.makers(id), func(i InstID) bool { return k.called.Has(int(i)) })
}

// makers returns the instances that make objects of a site.
func (k *checker) makers(id ObjID) (out []InstID) {
	o := &k.c.Objects[id]
	for _, i := range k.instsOf[o.Fn] {
		if slices.ContainsFunc(k.fn(i).Allocs, func(a facts.Alloc) bool {
			return a.Site == o.Site && k.has(k.pts(i, a.Dst, 0), o.First)
		}) {
			out = append(out, i)
		}
	}
	return out
}
