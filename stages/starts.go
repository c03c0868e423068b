package stages

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// Where slices of an array begin: positions of elements count from the start of
// the array only if the slices that are indexed begin there (I1).

// zero reports whether a part begins where what it is of begins.
func zero(f *facts.Func, ad *facts.Addr) bool {
	l := &f.Lins[ad.Index]
	return ad.Index == 0 || l.Known && l.Const == 0 && len(l.Terms) == 0
}

// starts reports whether all slices of an object begin where the array does, but
// for parts that are indexed, or accessed as a whole, where they are made, or by
// a function literal that captures them. Package unsafe and reflection may make
// slices that begin anywhere.
func (r *run) starts(o pta.ObjID) bool {
	if ok, known := r.startsAt[o]; known {
		return ok
	}
	ok := !r.loose().Has(int(o))
	for i := 1; i < len(r.v.Res.Insts) && ok; i++ {
		n := pta.InstID(i)
		f := r.v.Res.Func(n)
		if f == nil || !r.v.Live.Has(i) {
			continue
		}
		meets := func(dst facts.Reg) (is bool) {
			r.v.Res.PointsTo(n, dst, 0).Each(func(c uint32) {
				q, _ := r.v.Res.Object(c)
				is = is || q == o
			})
			return is
		}
		for j := range f.Addrs {
			ad := &f.Addrs[j]
			ok = ok && (ad.Kind != facts.AddrSlice || zero(f, ad) || !meets(ad.Dst) || r.stays(f, ad.Dst, 0))
		}
		for _, c := range f.Copies {
			ok = ok && !(c.Unsafe && meets(c.Dst))
		}
	}
	r.startsAt[o] = ok
	return ok
}

// loose returns the objects of which code that is not followed to the letter may
// make slices: all that package reflect may get at, and all that a model, or a
// function without body, has a pointer to or a value boxed with one. What a model
// returns may stand for a part of it. The packages named hand on what they get.
func (r *run) loose() stage.Bits {
	if r.looseObjs != nil {
		return r.looseObjs
	}
	v := r.v
	out, seen := stage.NewBits(len(v.Res.Objs)), stage.NewBits(len(v.Res.Objs))
	var deep, boxed []pta.ObjID
	for i := 1; i < len(v.Res.Insts); i++ {
		n := pta.InstID(i)
		f := v.Res.Func(n)
		if f == nil || !v.Live.Has(i) || f.Pkg != "reflect" && !f.Is(facts.FnModel) && len(f.Unknown) == 0 {
			continue
		}
		switch f.Pkg {
		case "sync", "sync/atomic", "context", "fmt":
			continue
		}
		for x := range f.Regs {
			for k := range v.Prog.Layout(f.Regs[x].Type).Ptrs {
				v.Res.PointsTo(n, facts.Reg(x), uint32(k)).Each(func(c uint32) {
					o, _ := v.Res.Object(c)
					if out.Add(int(o)) {
						boxed = append(boxed, o)
					}
					if f.Pkg == "reflect" && seen.Add(int(o)) {
						deep = append(deep, o)
					}
				})
			}
		}
	}
	for len(boxed) > 0 {
		o := boxed[len(boxed)-1]
		boxed = boxed[:len(boxed)-1]
		ob := &v.Res.Objs[o]
		if k, ok := v.Res.SiteKind(o); ob.Kind != pta.ObjBox && (!ok || k != facts.SiteBox) {
			continue
		}
		for i := range ob.N {
			v.Res.Content(ob.Node + i).Each(func(c uint32) {
				if q, _ := v.Res.Object(c); out.Add(int(q)) {
					boxed = append(boxed, q)
				}
			})
		}
	}
	r.frames.spread(seen, deep)
	out.Or(seen)
	r.looseObjs = out
	return out
}

// stays reports whether a slice goes nowhere but into accesses of its own
// function, and into function literals of which this holds too.
func (r *run) stays(f *facts.Func, s facts.Reg, depth int) bool {
	ok := depth < 4
	for b := range f.Blocks {
		ok = ok && !slices.Contains(f.Blocks[b].Results, s)
	}
	for _, pt := range f.Points {
		uses := false
		f.Uses(pt, func(x facts.Reg) { uses = uses || x == s })
		if !ok || !uses {
			continue
		}
		switch pt.Op {
		case facts.OpArith:
		case facts.OpAddr:
			ok = f.Addrs[pt.Row].Kind == facts.AddrElem
		case facts.OpCopy:
			c := &f.Copies[pt.Row]
			ok = c.Dst != f.Ret && f.Regs[c.Dst].Type == f.Regs[s].Type && r.stays(f, c.Dst, depth+1)
		case facts.OpMem:
			m := &f.Mems[pt.Row]
			if !m.Write || m.Val != s {
				ok = m.Base == s && m.What != facts.WhatAppend
				break
			}
			d := f.Regs[m.Base].Def
			if ok = m.Mode == facts.Flow && d != 0 && f.Points[d-1].Op == facts.OpAlloc; !ok {
				break
			}
			site := &f.Sites[f.Allocs[f.Points[d-1].Row].Site]
			if ok = site.Kind == facts.SiteClosure; ok {
				ok = r.boundStays(r.v.Prog.Funcs[site.Fn], m.Off, depth)
			}
		default:
			ok = false
		}
	}
	return ok
}

// boundStays is stays for what is bound at a cell of a closure over f.
func (r *run) boundStays(f *facts.Func, off uint32, depth int) bool {
	if f == nil {
		return false
	}
	at := uint32(0)
	for _, fr := range f.Free {
		if at == off {
			return r.stays(f, fr, depth+1)
		}
		at += uint32(len(r.v.Prog.Layout(f.Regs[fr].Type).Cells))
	}
	return false
}
