package facts

import "unicode"

// ExportedCells returns the cells of type t that a path of exported or embedded
// fields leads to, as offsets: those that reflection lets a program use; all of a
// field that is compared with zero. It is cached; the caller must not change it.
func (u *Universe) ExportedCells(t TypeID) []uint32 {
	if cs, ok := u.exported[t]; ok {
		return cs
	}
	var cs []uint32
	u.exportedCells(t, 0, &cs)
	u.exported[t] = cs
	return cs
}

func (u *Universe) exportedCells(t TypeID, off uint32, cs *[]uint32) {
	ty := &u.Types[t]
	switch {
	case ty.Kind == Struct && len(ty.Fields) > 0:
		for _, f := range ty.Fields {
			switch {
			case f.Whole:
				for i := range u.Layout(f.Type).Cells {
					*cs = append(*cs, off+uint32(i))
				}
			case ty.Usable(&f):
				u.exportedCells(f.Type, off, cs)
			}
			off += uint32(len(u.Layout(f.Type).Cells))
		}
	case ty.Kind == Array:
		u.exportedCells(ty.Elem, off, cs)
	default:
		*cs = append(*cs, off)
	}
}

// Usable reports whether reflection lets a program use a field of t, or fields
// of it: it is exported or embedded, or what a map or channel holds.
func (t *Type) Usable(f *Field) bool { return t.Builtin || f.Embedded || Exported(f.Name) }

// Exported reports whether a Go name is exported. A method key begins with the
// method's name.
func Exported(name string) bool {
	for _, r := range name {
		return unicode.IsUpper(r)
	}
	return false
}

// Pointee returns the type of the objects that values of type t point to, for
// pointers, slices, maps and channels; else 0.
func (u *Universe) Pointee(t TypeID) TypeID {
	switch ty := &u.Types[t]; ty.Kind {
	case Pointer, Slice:
		return ty.Elem
	case Map, Chan:
		return ty.Obj
	}
	return 0
}

// Over returns the types without name of a kind whose elements, or one of whose
// fields, have type t, in the order of their ids.
func (u *Universe) Over(t TypeID, kind Kind) []TypeID {
	if u.overAt != len(u.Types) {
		u.over, u.overAt = map[overKey][]TypeID{}, len(u.Types)
		for i := range u.Types {
			ty := &u.Types[i]
			if ty.Named || ty.Builtin {
				continue
			}
			add := func(t TypeID) {
				k := overKey{t, ty.Kind}
				if l := u.over[k]; t != 0 && (len(l) == 0 || l[len(l)-1] != TypeID(i)) {
					u.over[k] = append(l, TypeID(i))
				}
			}
			add(ty.Elem)
			if ty.Kind == Struct {
				for _, f := range ty.Fields {
					add(f.Type)
				}
			}
		}
	}
	return u.over[overKey{t, kind}]
}

type overKey struct {
	elem TypeID
	kind Kind
}

// PartTypes returns the types of the parts of type t: elements, keys, fields,
// parameters and results.
func (u *Universe) PartTypes(t TypeID) []TypeID {
	ty := &u.Types[t]
	var out []TypeID
	for _, x := range [...]TypeID{ty.Elem, ty.Key} {
		if x != 0 {
			out = append(out, x)
		}
	}
	for _, f := range ty.Fields {
		out = append(out, f.Type)
	}
	return out
}

// MethodTypes returns the types of the parameters and results of the exported
// methods of t.
func (u *Universe) MethodTypes(t TypeID) []TypeID {
	var out []TypeID
	for _, m := range u.Types[t].Methods {
		f := u.Funcs[m.Fn]
		if f == nil || !Exported(u.Methods[m.Key]) {
			continue
		}
		for _, r := range append(f.Params[:len(f.Params):len(f.Params)], f.Ret) {
			if x := f.Regs[r].Type; r != NoReg && x != 0 {
				out = append(out, x)
				if u.Types[x].Builtin { // several results
					out = append(out, u.PartTypes(x)...)
				}
			}
		}
	}
	return out
}

// Assignable reports whether a value of type t, no interface, may be assigned to
// a variable of type v, no interface: they are identical, or have identical
// underlying types and one of them has no name. Tags and the directions of
// channels are ignored.
func (u *Universe) Assignable(t, v TypeID) bool {
	if t == v {
		return true
	}
	a, b := &u.Types[t], &u.Types[v]
	if a.Named && b.Named || a.Kind != b.Kind || a.Shape != b.Shape || a.Elem != b.Elem || a.Key != b.Key || a.Size != b.Size || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i].Type != b.Fields[i].Type {
			return false
		}
	}
	return true
}

// Convertible reports whether the types have one structure once names and tags
// are ignored at the outermost level, or are pointers to such types, and tags
// within: whether a value of one converts to the other without a change of
// representation. Types that are recursive through unnamed types do not exist.
func (u *Universe) Convertible(t, v TypeID) bool {
	a, b := &u.Types[t], &u.Types[v]
	if t != v && a.Kind == Pointer && b.Kind == Pointer {
		return u.identical(a.Elem, b.Elem, false) || u.identical(t, v, false)
	}
	return u.identical(t, v, false)
}

// identical reports whether types are identical but for tags, or, without
// named, their underlying types are.
func (u *Universe) identical(t, v TypeID, named bool) bool {
	if t == v {
		return true
	}
	a, b := &u.Types[t], &u.Types[v]
	if a.Kind != b.Kind || named && (a.Named || b.Named) || a.Size != b.Size || len(a.Fields) != len(b.Fields) {
		return false
	}
	switch a.Kind {
	case Struct, FuncKind:
		for i := range a.Fields {
			if a.Kind == Struct && a.Fields[i].Name != b.Fields[i].Name || !u.identical(a.Fields[i].Type, b.Fields[i].Type, true) {
				return false
			}
		}
		return true
	case Pointer, Slice, Array, Map, Chan:
		return u.identical(a.Elem, b.Elem, true) && (a.Key == b.Key || u.identical(a.Key, b.Key, true))
	}
	return a.Shape == b.Shape
}
