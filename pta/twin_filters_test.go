package pta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// The twin's filters, classes of types, and contexts.

func (n *naive) siteKind(o *naiveObj) facts.SiteKind {
	if o.kind != ObjSite {
		return facts.SiteUnknown
	}
	return n.u.Funcs[o.a].Sites[o.b].Kind
}

func (n *naive) isBox(o *naiveObj) bool { return n.siteKind(o) == facts.SiteBox }

// fits applies (F1) to (F3): whether a variable of type t may hold cell p.
func (n *naive) fits(t facts.TypeID, p int) bool {
	if t == 0 {
		return true
	}
	o := &n.objs[n.nodes[p].obj]
	switch ty := &n.u.Types[t]; ty.Kind {
	case facts.Interface:
		if len(ty.Methods) == 0 || n.isBox(o) {
			return len(ty.Methods) == 0 || n.u.Implements(o.typ, t)
		}
		return o.typ != 0 && slices.ContainsFunc(n.typesAt(p), func(x facts.TypeID) bool {
			q := n.u.TypeByName("*" + n.u.Types[x].Name)
			return n.u.Implements(x, t) || q != 0 && n.u.Implements(q, t)
		})
	case facts.FuncKind:
		return o.kind == ObjFunc || n.siteKind(o) == facts.SiteClosure
	}
	return n.pointsAs(t, p)
}

// pointsAs reports whether a pointer, slice, map or channel of type t may point
// to cell p; values of other kinds may.
func (n *naive) pointsAs(t facts.TypeID, p int) bool {
	target := n.u.Pointee(t)
	return target == 0 || n.startsAt(p, target)
}

// startsAt reports whether a variable of t's class starts at cell p.
func (n *naive) startsAt(p int, t facts.TypeID) bool {
	o := &n.objs[n.nodes[p].obj]
	return o.typ != 0 && slices.ContainsFunc(n.u.Layout(o.typ).Cells[p-o.first].Types, func(x facts.TypeID) bool {
		return n.class[n.elem(x)] == n.class[n.elem(t)]
	})
}

// typesAt returns the types that start at cell p, and those of their classes.
func (n *naive) typesAt(p int) []facts.TypeID {
	var out []facts.TypeID
	o := &n.objs[n.nodes[p].obj]
	declared := n.u.Layout(o.typ).Cells[p-o.first].Types
	for i := range n.class {
		t := facts.TypeID(i)
		if slices.Contains(declared, t) || n.elem(t) == t && n.startsAt(p, t) {
			out = append(out, t)
		}
	}
	return out
}

// elem is what an array counts as.
func (n *naive) elem(t facts.TypeID) facts.TypeID {
	for n.u.Types[t].Kind == facts.Array {
		t = n.u.Types[t].Elem
	}
	return t
}

// first reports whether it is asked this for the first time.
func (n *naive) first(t, v facts.TypeID, what uint32) bool {
	k := [3]uint32{uint32(t), uint32(v), what}
	if n.asked[k] || t == v {
		return false
	}
	n.asked[k], n.changed = true, true
	return true
}

// converts says that a value of type t becomes one of type v: then so do its
// parts, and a variable that the one points to may be taken for one that the
// other points to.
func (n *naive) converts(t, v facts.TypeID) {
	if !n.first(t, v, 0) {
		return
	}
	x, y := &n.u.Types[t], &n.u.Types[v]
	if a, b := n.u.Pointee(t), n.u.Pointee(v); a != 0 && b != 0 {
		n.same(a, b)
	}
	if x.Kind != y.Kind {
		return
	}
	if x.Kind == facts.Array {
		n.converts(x.Elem, y.Elem)
	}
	if x.Kind == facts.Struct || x.Kind == facts.FuncKind {
		for i := range min(len(x.Fields), len(y.Fields)) {
			n.converts(x.Fields[i].Type, y.Fields[i].Type)
		}
	}
	if x.Kind == facts.Map || x.Kind == facts.Chan {
		n.same(x.Elem, y.Elem)
		if x.Key != 0 && y.Key != 0 {
			n.same(x.Key, y.Key)
		}
	}
}

// same says that a variable of type t may be taken for one of type v: the types
// are of one class, and so are those of its parts.
func (n *naive) same(t, v facts.TypeID) {
	if !n.first(t, v, 1) {
		return
	}
	a, b := n.class[n.elem(t)], n.class[n.elem(v)]
	for i := range n.class {
		if n.class[i] == a || n.class[i] == b {
			n.class[i] = min(a, b)
		}
	}
	n.converts(t, v)
	x, y := &n.u.Types[t], &n.u.Types[v]
	if x.Kind != y.Kind {
		return
	}
	if x.Kind == facts.Array {
		n.same(x.Elem, y.Elem)
	}
	if x.Kind == facts.Struct {
		for i := range min(len(x.Fields), len(y.Fields)) {
			n.same(x.Fields[i].Type, y.Fields[i].Type)
		}
	}
}

// Contexts, by the definitions in doc.go.

// calleeCtx is the context of callee when Calls[row] of f in instance i calls it;
// recv is the receiver's object, or the closure, or 0.
func (n *naive) calleeCtx(i int, f *facts.Func, row uint32, callee *facts.Func, recv int) naiveCtx {
	site := fmt.Sprintf("c%d.%d", f.ID, row)
	ctx := n.insts[i].ctx
	if callee.Is(facts.FnInline) {
		return naiveCtx{cut(site+" "+ctx.seq, maxInline), min(ctx.inlined+1, maxInline)}
	}
	o := &n.objs[recv]
	if recv != 0 && callee.Is(facts.FnClosure|facts.FnModel) && o.ctx.inlined > 0 {
		return o.ctx // copied with the model that made it
	}
	pol := n.policy(callee.ID)
	switch {
	case pol.Policy == Insens:
		return naiveCtx{}
	case recv != 0 && callee.Flags&(facts.FnMethod|facts.FnClosure) != 0:
		return naiveCtx{cut(n.elementOf(recv)+" "+o.ctx.seq, 1+pol.HK+o.ctx.inlined), 0}
	case callee.Is(facts.FnWrapper):
		return ctx
	case pol.Policy == Obj:
		return naiveCtx{}
	}
	return naiveCtx{cut(site+" "+ctx.seq, pol.K), 0}
}

// byReceiver reports whether the context of callee depends on its receiver.
func (n *naive) byReceiver(callee *facts.Func) bool {
	if callee.Is(facts.FnInline) {
		return false
	}
	return callee.Is(facts.FnClosure|facts.FnModel) || n.policy(callee.ID).Policy != Insens && callee.Is(facts.FnMethod)
}

// heapCtx is the heap context of what instance i makes.
func (n *naive) heapCtx(i int) naiveCtx {
	ctx := n.insts[i].ctx
	k := max(n.policy(n.insts[i].fn).HK, ctx.inlined)
	if strings.Count(ctx.seq, " ") <= k {
		return ctx
	}
	return naiveCtx{cut(ctx.seq, k), ctx.inlined}
}

// cut returns the first k elements of a sequence.
func cut(seq string, k int) string {
	es := strings.SplitAfter(seq, " ")
	return strings.Join(es[:min(k, len(es))], "")
}

// elementOf is what object o is in a context: its site, without the context in
// which it was made; else itself.
func (n *naive) elementOf(o int) string {
	if ob := &n.objs[o]; ob.kind == ObjSite {
		return fmt.Sprintf("s%d.%d", ob.a, ob.b)
	}
	return n.name(o)
}

// name names object o in a way that does not depend on the order of discovery.
func (n *naive) name(o int) string {
	if s, ok := n.names[o]; ok {
		return s
	}
	ob := &n.objs[o]
	s := ""
	switch ob.kind {
	case ObjSite:
		s = fmt.Sprintf("s%d.%d[%s]%d", ob.a, ob.b, strings.ReplaceAll(ob.ctx.seq, " ", "/"), ob.ctx.inlined)
	case ObjGlobal:
		s = fmt.Sprintf("g%d", ob.a)
	case ObjFunc:
		s = fmt.Sprintf("f%d", ob.a)
	case ObjUnboxed:
		s = fmt.Sprintf("copy(%s)", n.name(int(ob.a)))
	case ObjGhost:
		of := n.nodes[ob.a].obj
		s = fmt.Sprintf("ghost(%s+%d)", n.name(of), int(ob.a)-n.objs[of].first)
	}
	n.names[o] = s
	return s
}
