package stages

import (
	"slices"
	"strings"

	"github.com/bfverify/bfverify/export/guards"
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/mustnot"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// This file names what accesses are to, and their locks, as declarations do.

// layer is a struct that memory lies in: the struct's type, where it begins, and which
// of its fields the memory belongs to. A package variable that is no struct, or one
// whose type has no name, is a layer too.
type layer struct {
	loc guards.Location
	typ facts.TypeID
	off int64 // bytes from the start of the object, or of the innermost element
}

// layerKey is a cell of a type, or of a package variable.
type layerKey struct {
	typ    facts.TypeID
	global facts.GlobalID
	cell   uint32
}

// noGlobal is no package variable.
const noGlobal = ^facts.GlobalID(0)

// layersOf lists the layers of a cell, outermost first, within its innermost element
// and in the packages in scope.
func (g *guarding) layersOf(k layerKey) []layer {
	if ls, ok := g.layers[k]; ok {
		return ls
	}
	prog, at := g.r.v.Prog, k
	var out []layer
	off, variable := int64(0), guards.Location{}
	if k.global != noGlobal {
		variable = g.variable(k.global)
	}
	for at.cell < uint32(len(prog.Layout(at.typ).Cells)) {
		ty := &prog.Types[at.typ]
		if ty.Kind == facts.Array {
			out, off, at.typ = nil, 0, ty.Elem
			continue
		}
		if ty.Kind != facts.Struct || len(ty.Fields) == 0 || ty.Builtin {
			break
		}
		i := 0
		for n := uint32(len(prog.Layout(ty.Fields[0].Type).Cells)); at.cell >= n; n = uint32(len(prog.Layout(ty.Fields[i].Type).Cells)) {
			at.cell -= n
			i++
		}
		l := layer{typ: at.typ, off: off}
		if pkg, name, ok := declared(ty); ok {
			l.loc = guards.Location{Pkg: pkg, Type: name, Field: ty.Fields[i].Name}
			variable = guards.Location{}
		} else if variable.Pkg != "" {
			variable.Field += "." + ty.Fields[i].Name
			l.loc = variable
		}
		if l.loc.Pkg != "" && g.r.opt.Scope(l.loc.Pkg) {
			out = append(out, l)
		}
		off += ty.Fields[i].Off
		at.typ = ty.Fields[i].Type
	}
	if variable.Pkg != "" && len(out) == 0 && g.r.opt.Scope(variable.Pkg) {
		out = []layer{{loc: variable, typ: k.typ}}
	}
	g.layers[k] = out
	return out
}

// declared returns the package of a type that has a name, and the name, without type
// arguments; that of a local type has its place after an @.
func declared(t *facts.Type) (pkg, name string, ok bool) {
	s := cutArgs(plainName(t.Name))
	if !t.Named {
		return "", "", false
	}
	s, local, _ := strings.Cut(s, "@")
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", "", false
	}
	if name = s[i+1:]; local != "" {
		local, _, _ = strings.Cut(local, "#")
		name += "@" + local
	}
	return s[:i], name, true
}

// target is what an access is to: memory itself, or the content of a map or slice that
// was loaded from there.
type target struct {
	layers  []layer
	content bool
	// Where the content was loaded: an address that is computed from a register, and the
	// package variable that it is of, if it is of one.
	reg    facts.Reg
	global facts.GlobalID
}

// each calls f with all layers of all that an access to a cell is to.
func (g *guarding) each(a *stage.Access, cell uint32, f func(t *target, l layer)) {
	if a.Sync != stage.NoUse {
		return
	}
	res := g.r.v.Res
	o, off := res.Object(cell)
	ob := &res.Objs[o]
	if ob.Untyped || ob.Type == 0 {
		return
	}
	k := layerKey{ob.Type, noGlobal, off}
	if ob.Kind == pta.ObjGlobal {
		k.global = ob.Global
	}
	t := target{layers: g.layersOf(k)}
	for _, l := range t.layers {
		f(&t, l)
	}
	if ty := &g.r.v.Prog.Types[ob.Type]; ob.Kind == pta.ObjSite && !a.Deep && (ty.Kind == facts.Array || ty.Builtin) {
		if t, ok := g.loadedFrom(a.Inst, g.r.v.Res.Func(a.Inst).Mems[a.Row].Base); ok {
			f(&t, t.layers[len(t.layers)-1])
		}
	}
}

// loadedFrom finds the field or variable from which a map or slice was loaded in whose
// content a register points. It follows the register within its function.
func (g *guarding) loadedFrom(n pta.InstID, r facts.Reg) (target, bool) {
	f := g.r.v.Res.Func(n)
	for range 16 {
		def := f.Regs[r].Def
		if def == 0 {
			break
		}
		switch pt := f.Points[def-1]; pt.Op {
		case facts.OpAddr:
			r = f.Addrs[pt.Row].Base
			continue
		case facts.OpCopy:
			if c := &f.Copies[pt.Row]; c.Index < 0 && c.SrcLeaf == 0 && c.DstLeaf == 0 {
				r = c.Src
				continue
			}
		case facts.OpMem:
			if m := &f.Mems[pt.Row]; m.ValLeaf == 0 && m.Off == 0 {
				return g.contentOf(f, m.Base)
			}
		}
		break
	}
	return target{}, false
}

// contentOf returns the target that is the content of what lies at an address.
func (g *guarding) contentOf(f *facts.Func, r facts.Reg) (target, bool) {
	reg, off := g.r.lock.Address(f, r)
	t := target{content: true, reg: reg, global: noGlobal}
	for _, x := range f.Globals {
		if x.Dst == reg {
			t.global = x.Global
		}
	}
	typ := g.r.v.Prog.Types[f.Regs[reg].Type].Elem
	if typ == 0 {
		return t, false
	}
	i := slices.IndexFunc(g.r.v.Prog.Layout(typ).Cells, func(c facts.Cell) bool { return c.Array == 0 && c.Off == off })
	if i < 0 {
		return t, false
	}
	t.layers = g.layersOf(layerKey{typ, t.global, uint32(i)})
	return t, len(t.layers) > 0
}

// hold is a lock as it guards a location at an access.
type hold struct {
	lock  guards.Lock
	at    guards.Location
	write bool
}

// holds collects the locks under which an access is to a target. A lock in a struct
// around the memory guards the field of the smallest struct that both lie in, any
// other the innermost.
type holds struct {
	*guarding
	a    *stage.Access
	cell uint32
	t    *target
	out  []hold
}

// heldAt lists the locks under which an access is to a target.
func (g *guarding) heldAt(a *stage.Access, cell uint32, t *target) []hold {
	h := holds{guarding: g, a: a, cell: cell, t: t}
	locks := g.r.lock
	if t.content {
		for _, m := range locks.At(a.Inst, a.Point) {
			if !m.Object && m.Reg == t.reg && locks.Guards(a.Inst, m) {
				h.beside(guards.Field, m.Off, m.Write)
			}
		}
	}
	for _, x := range locks.GuardsAt(a, cell) {
		switch {
		case x.Object:
			h.object(x)
		case x.Way != 0 && !x.Stable:
			h.owner(x)
		case t.content: // the others are locks of the content
		case x.Way != 0:
			h.path(x)
		default:
			h.beside(guards.Field, g.cellOf(cell).Off+x.Delta, x.Write)
		}
	}
	return h.out
}

// add adds a lock that guards the innermost location.
func (h *holds) add(kind guards.Kind, name, expr string, write bool) {
	h.out = append(h.out, hold{guards.Lock{Kind: kind, Name: name, Expr: expr}, h.t.layers[len(h.t.layers)-1].loc, write})
}

// beside adds the lock that lies some bytes from where the layers begin; false if it
// lies in none of them.
func (h *holds) beside(kind guards.Kind, off int64, write bool) bool {
	l, path, ok := h.smallest(h.t.layers, off)
	if ok {
		h.out = append(h.out, hold{guards.Lock{Kind: kind, Name: l.sibling(path), Expr: path}, l.loc, write})
		if l.loc != h.t.layers[len(h.t.layers)-1].loc { // of a struct that holds that of the innermost location
			h.add(guards.Owner, l.sibling(path), "", write)
		}
	}
	return ok
}

// object adds a lock that is one object.
func (h *holds) object(x stage.Guard) {
	res := h.r.v.Res
	around, _ := res.Object(h.cell) // the object that the layers are of,
	start, array := int64(0), h.cellOf(h.cell).Array
	if h.t.content { // and where they begin in it
		if c, ok := h.r.v.Single(h.a.Inst, h.t.reg); ok {
			around, _ = res.Object(c)
			start, array = h.cellOf(c).Off, h.cellOf(c).Array
		} else {
			around = 0
		}
	}
	o, _ := res.Object(x.Cell)
	ob, off := &res.Objs[o], h.cellOf(x.Cell).Off
	if o == around && array == 0 && h.beside(guards.Field, off-start, x.Write) {
		return
	}
	if ob.Kind != pta.ObjGlobal {
		h.add(guards.Object, h.rp.lockName(h.a.Inst, mustnot.Name{Object: true, Cell: x.Cell}), "", x.Write)
		return
	}
	v := h.variable(ob.Global)
	if path := h.lockPath(ob.Type, off); path != "" {
		v.Field += "." + path
	}
	expr := ""
	inner := h.t.layers[len(h.t.layers)-1]
	first, _, _ := strings.Cut(v.Field, ".")
	hidden := slices.ContainsFunc(h.r.v.Prog.Types[inner.typ].Fields, func(f facts.Field) bool { return f.Name == first })
	if v.Pkg == inner.loc.Pkg && !hidden { // where the field is declared, names of fields come first
		expr = v.Field
	}
	h.add(guards.Global, v.String(), expr, x.Write)
}

// path adds a lock to which a field of the accessed object leads.
func (h *holds) path(x stage.Guard) {
	c := h.cellOf(x.Cell)
	l, path, ok := h.smallest(h.t.layers, c.Off)
	if !ok || c.Array != h.cellOf(h.cell).Array {
		return
	}
	if ty := &h.r.v.Prog.Types[c.Type]; ty.Kind == facts.Pointer && strings.HasPrefix(h.r.v.Prog.Types[ty.Elem].Name, "sync.") {
		h.beside(guards.Path, c.Off, x.Write)
		return
	}
	h.add(guards.Path, l.sibling(path)+"...", "", x.Write) // by more than one pointer
}

// owner adds a lock of the object that owns the accessed one. If that is content of a
// field, and the lock lies in the same type of struct, it is the lock beside the field.
func (h *holds) owner(x stage.Guard) {
	o, off := h.r.v.Res.Object(x.Cell)
	l, path, ok := h.smallest(h.layersOf(layerKey{h.r.v.Res.Objs[o].Type, noGlobal, off}), h.cellOf(x.Cell).Off)
	if !ok {
		h.add(guards.Owner, h.rp.lockName(h.a.Inst, mustnot.Name{Object: true, Cell: x.Cell}), "", x.Write)
		return
	}
	if i := slices.IndexFunc(h.t.layers, func(y layer) bool { return y.typ == l.typ }); h.t.content && i >= 0 {
		h.out = append(h.out, hold{guards.Lock{Kind: guards.Field, Name: l.sibling(path), Expr: path}, h.t.layers[i].loc, x.Write})
		return
	}
	h.add(guards.Owner, l.sibling(path), "", x.Write)
}

// cellOf describes a cell.
func (g *guarding) cellOf(cell uint32) *facts.Cell {
	o, off := g.r.v.Res.Object(cell)
	return g.r.v.Res.Cell(o, off)
}

// variable is the location of a package variable.
func (g *guarding) variable(v facts.GlobalID) guards.Location {
	x := &g.r.v.Prog.Globals[v]
	return guards.Location{Pkg: x.Pkg, Field: x.Name[strings.LastIndexByte(x.Name, '.')+1:]}
}

// sibling names what a path of fields leads to from the start of a layer.
func (l layer) sibling(path string) string {
	loc := l.loc
	if loc.Type == "" {
		v, _, _ := strings.Cut(loc.Field, ".")
		path = v + "." + path
	}
	loc.Field = path
	return loc.String()
}

// smallest finds the innermost layer that what lies some bytes from the start of its
// element belongs to, and the path of fields from there.
func (g *guarding) smallest(ls []layer, off int64) (layer, string, bool) {
	for i := len(ls) - 1; i >= 0; i-- {
		l := ls[i]
		if d := off - l.off; d >= 0 && d < g.r.v.Prog.Types[l.typ].Size {
			if path := g.lockPath(l.typ, d); path != "" {
				return l, path, true
			}
		}
	}
	return layer{}, "", false
}

// lockPath names the fields that lead from a struct to the lock, or the pointer to
// one, some bytes from its start; "" if the struct is the lock.
func (g *guarding) lockPath(t facts.TypeID, off int64) string {
	var path []string
	for {
		ty := &g.r.v.Prog.Types[t]
		if ty.Kind != facts.Struct || strings.HasPrefix(ty.Name, "sync.") {
			return strings.Join(path, ".")
		}
		i := slices.IndexFunc(ty.Fields, func(f facts.Field) bool {
			return f.Off <= off && off < f.Off+g.r.v.Prog.Types[f.Type].Size
		})
		if i < 0 {
			return strings.Join(path, ".")
		}
		path = append(path, ty.Fields[i].Name)
		off -= ty.Fields[i].Off
		t = ty.Fields[i].Type
	}
}
