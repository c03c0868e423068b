package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/bfverify/bfverify/pta"
)

// top prints the functions whose variables hold most: where precision is lost.
func top(w io.Writer, r *pta.Result, n int) {
	type row struct {
		fn           string
		pairs, insts int
		max          int
	}
	rows := make([]row, len(r.Prog.Funcs))
	for i := 1; i < len(r.Insts); i++ {
		f := r.Func(pta.InstID(i))
		if f == nil {
			continue
		}
		x := &rows[r.Insts[i].Fn]
		x.fn = f.Name
		x.pairs += r.Pairs(pta.InstID(i))
		x.insts++
		for d := range f.Deeps {
			x.max = max(x.max, r.Deep(pta.InstID(i), uint32(d)).Len())
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.pairs, a.pairs) })
	for _, x := range rows[:n] {
		fmt.Fprintf(w, "%12d pairs %6d instances  deep %7d  %s\n", x.pairs, x.insts, x.max, x.fn)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.max, a.max) })
	for _, x := range rows[:n] {
		fmt.Fprintf(w, "deep %7d %s\n", x.max, x.fn)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.insts, a.insts) })
	for _, x := range rows[:n/2] {
		fmt.Fprintf(w, "%6d instances %s\n", x.insts, x.fn)
	}
}

// seeds prints who calls the instances of a function, and how much they hold.
func seeds(w io.Writer, r *pta.Result, name string) {
	callers := map[pta.InstID][]string{}
	for i := 1; i < len(r.Insts); i++ {
		for _, e := range r.Insts[i].Out {
			if f := r.Func(e.Callee); f != nil && f.Name == name {
				callers[e.Callee] = append(callers[e.Callee], r.Func(pta.InstID(i)).Name)
			}
		}
	}
	for i := 1; i < len(r.Insts); i++ {
		id := pta.InstID(i)
		if len(callers[id]) > 0 {
			n := last(r, id)
			fmt.Fprintf(w, "%8d %s from %v\n", n, name, callers[id])
		}
	}
}

func seedTypes(w io.Writer, r *pta.Result, name string) {
	for i := 1; i < len(r.Insts); i++ {
		f := r.Func(pta.InstID(i))
		if f == nil || f.Name != name {
			continue
		}
		set := r.PointsTo(pta.InstID(i), f.Params[len(f.Params)-1], 0)
		d := r.Deep(pta.InstID(i), 0).Len()
		if d < 5000 {
			continue
		}
		fmt.Fprintf(w, "deep %d, %d values:", d, set.Len())
		n := 0
		set.Each(func(p uint32) {
			o, _ := r.Object(p)
			if n++; n < 20 {
				fmt.Fprintf(w, " %d:%s", r.Objs[o].Kind, r.Prog.Types[r.Objs[o].Type].Name)
			}
		})
		fmt.Fprintln(w)
		if d > 5200 && d < 5270 {
			by := map[string]int{}
			r.Deep(pta.InstID(i), 0).Each(func(p uint32) {
				o, _ := r.Object(p)
				ob := r.Objs[o]
				by[fmt.Sprintf("kind %d %s in %s", ob.Kind, r.Prog.Types[ob.Type].Name, r.Prog.FuncName(ob.Fn))]++
			})
			for k, n := range by {
				fmt.Fprintf(w, "cells %6d %s\n", n, k)
			}
		}
	}
}

func last(r *pta.Result, id pta.InstID) int {
	n := 0
	f := r.Func(id)
	for _, p := range f.Params {
		n = max(n, r.PointsTo(id, p, 0).Len())
	}
	return n
}

func holds(w io.Writer, r *pta.Result, name string) {
	for i := 1; i < len(r.Insts); i++ {
		f := r.Func(pta.InstID(i))
		if f == nil || f.Name != name {
			continue
		}
		by := map[string]int{}
		r.PointsTo(pta.InstID(i), f.Params[0], 0).Each(func(p uint32) {
			o, _ := r.Object(p)
			ob := r.Objs[o]
			by[fmt.Sprintf("kind %d as %s in %s", ob.Kind, r.Prog.Types[ob.As].Name+" "+r.Prog.Types[ob.Type].Name, r.Prog.FuncName(ob.Fn))]++
		})
		for k, n := range by {
			fmt.Fprintf(w, "holds %s %6d %s\n", name, n, k)
		}
	}
}

// kinds prints what a function's results hold over all instances.
func kinds(w io.Writer, r *pta.Result, name string) {
	by := map[string]int{}
	for i := 1; i < len(r.Insts); i++ {
		f := r.Func(pta.InstID(i))
		if f == nil || f.Name != name {
			continue
		}
		seen := map[string]bool{}
		r.PointsTo(pta.InstID(i), f.Ret, 0).Each(func(p uint32) {
			o, _ := r.Object(p)
			ob := r.Objs[o]
			k := fmt.Sprintf("kind %d as %s in %s", ob.Kind, r.Prog.Types[ob.As].Name+" "+r.Prog.Types[ob.Type].Name, r.Prog.FuncName(ob.Fn))
			by[k]++
			_ = seen
		})
	}
	for k, n := range by {
		fmt.Fprintf(w, "kinds %s %6d %s\n", name, n, k)
	}
}
