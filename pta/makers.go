package pta

import "github.com/bfverify/bfverify/facts"

// MakersOf returns the functions that took part in making an object: that of
// its allocation site and those of the elements of its heap context.
func (r *Result) MakersOf(o ObjID) []facts.FuncID {
	ob := &r.Objs[o]
	var out []facts.FuncID
	if ob.Kind == ObjSite || ob.Kind == ObjNew {
		out = append(out, ob.Fn)
	}
	for _, e := range r.ctx.seqs[ob.Ctx] {
		if fn := r.elemFn[e]; fn != 0 {
			out = append(out, fn)
		}
	}
	return out
}

// CtxKey names a context in a way that means the same in every analysis of one
// program.
func (r *Result) CtxKey(c CtxID) string { return r.ctx.key(c) }
