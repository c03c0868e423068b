package facts

import (
	"sort"
	"strings"
)

// TypeID identifies a type of the Universe (or, before linking, of a Record).
// 0 is no type.
type TypeID uint32

// Kind classifies a type by what bfverify needs to know of it.
type Kind uint8

// The kinds. Scalar covers numbers, booleans and strings: no pointers.
const (
	Scalar Kind = iota
	Pointer
	UnsafePointer
	Slice
	Array
	Struct // also tuples, closures' bindings, map and channel objects
	Map
	Chan
	FuncKind
	Interface
	Opaque // iterators of range: one pointer-like leaf, no filter
)

// PointerLike reports whether a value of the kind is one pointer-like leaf.
func (k Kind) PointerLike() bool {
	switch k {
	case Pointer, UnsafePointer, Slice, Map, Chan, FuncKind, Interface, Opaque:
		return true
	}
	return false
}

// OneWord reports whether values of the kind are a pointer and no more.
func (k Kind) OneWord() bool {
	switch k {
	case Pointer, UnsafePointer, Map, Chan, FuncKind:
		return true
	}
	return false
}

// Type is the relation type(T, kind, name, elem, key, fields, size): one row a type.
// Types are structural up to Name; two types of one name are one type.
type Type struct {
	Name   string  // stable: full paths, local types with function and ordinal
	Kind   Kind    //
	Elem   TypeID  // pointer, slice, array, chan, map value
	Key    TypeID  // map key
	Obj    TypeID  // map, chan: the type of the object it points to
	Shape  string  // underlying type one level deep, tags ignored: what unsafe may take for another
	Fields []Field // struct; parameters and results of a function type
	Size   int64   // bytes
	// Methods is the method table: for a concrete type the function that each
	// method key names, for an interface the keys alone (Fn 0). Sorted by key
	// text when linked.
	Methods []Method
	// Concrete tells that Methods was computed (an empty table is a fact too).
	Concrete bool
	Named    bool
	// Builtin tells that the language makes the type, and no fields hide in it:
	// tuples, objects of maps and channels.
	Builtin bool
}

// Field is one field of a struct.
type Field struct {
	Name string
	Type TypeID
	Off  int64 // bytes
	// Embedded tells that the field is embedded: its exported fields are those of
	// the struct too.
	Embedded bool
	// Whole tells that a tag has the field compared with zero, parts that are not
	// exported included (encoding/json's omitzero).
	Whole bool
}

// MethodID identifies a method by name and signature ("String() string";
// unexported names carry their package).
type MethodID uint32

// Method is one row of a method table.
type Method struct {
	Key MethodID
	Fn  FuncID
}

// Cell is one leaf of a flattened type.
type Cell struct {
	Path  string // ".a.[].b"
	Type  TypeID
	Off   int64 // bytes from the start of the innermost array element (or of the type)
	Size  int64
	Array uint32 // innermost enclosing array, numbered from 1 within the layout; 0 none
	Ptr   bool   // pointer-like
	// Types are those that start at this cell, innermost first, without arrays
	// that have no name.
	Types []TypeID
}

// ShapeID identifies a Shape in a Universe.
type ShapeID uint32

// Layout is the flattened form of a type: layout(T, C). It always has at least
// one cell, so that zero-size types have an address.
type Layout struct {
	Cells []Cell
	Ptrs  []uint32 // offsets of the pointer-like cells
}

// Layout returns the flattened form of t. It is cached; the caller must not
// change it. Cost: the number of leaves, once per type.
func (u *Universe) Layout(t TypeID) *Layout {
	if int(t) < len(u.layouts) && u.layouts[t] != nil {
		return u.layouts[t]
	}
	for len(u.layouts) < len(u.Types) {
		u.layouts = append(u.layouts, nil)
	}
	l := &Layout{}
	var arrays uint32
	u.flatten(l, t, "", 0, 0, &arrays)
	for i := range l.Cells {
		c := &l.Cells[i]
		if c.Ptr {
			l.Ptrs = append(l.Ptrs, uint32(i))
		}
	}
	u.layouts[t] = l
	return l
}

// flatten appends the cells of t. Types nest by value, so the recursion is as
// deep as the declaration, never as the program.
func (u *Universe) flatten(l *Layout, t TypeID, path string, off int64, array uint32, arrays *uint32) {
	first := len(l.Cells)
	ty := &u.Types[t]
	switch {
	case ty.Kind == Struct && len(ty.Fields) > 0:
		for _, f := range ty.Fields {
			u.flatten(l, f.Type, path+"."+f.Name, off+f.Off, array, arrays)
		}
	case ty.Kind == Array:
		*arrays++
		u.flatten(l, ty.Elem, path+"[]", 0, *arrays, arrays)
	default:
		l.Cells = append(l.Cells, Cell{Path: path, Type: t, Off: off, Size: ty.Size, Array: array, Ptr: ty.Kind.PointerLike()})
	}
	if c := &l.Cells[first]; ty.Kind != Array || ty.Named {
		c.Types = append(c.Types, t)
	}
}

// ShapeOf returns the shape of t: that of the element for arrays, because a
// slice, a pointer to an array and a pointer to an element share cells.
func (u *Universe) ShapeOf(t TypeID) ShapeID {
	for u.Types[t].Kind == Array {
		t = u.Types[t].Elem
	}
	for len(u.shapeOf) < len(u.Types) {
		u.shapeOf = append(u.shapeOf, 0)
	}
	if s := u.shapeOf[t]; s != 0 {
		return s
	}
	text := u.Types[t].Shape
	id, ok := u.shapes[text]
	if !ok {
		id = ShapeID(len(u.shapes) + 1)
		u.shapes[text] = id
	}
	u.shapeOf[t] = id
	return id
}

// MethodOf returns the function that key names in the method table of t, or 0.
func (u *Universe) MethodOf(t TypeID, key MethodID) FuncID {
	ms := u.Types[t].Methods
	i := sort.Search(len(ms), func(i int) bool { return ms[i].Key >= key })
	if i < len(ms) && ms[i].Key == key {
		return ms[i].Fn
	}
	return 0
}

// Implements reports whether every method of interface type i is in the method
// table of concrete type t. Cost: the sum of the tables' lengths, once per pair.
func (u *Universe) Implements(t, i TypeID) bool {
	k := [2]TypeID{t, i}
	if r, ok := u.impl[k]; ok {
		return r
	}
	r := true
	have := u.Types[t].Methods
	for _, m := range u.Types[i].Methods {
		j := sort.Search(len(have), func(j int) bool { return have[j].Key >= m.Key })
		if j == len(have) || have[j].Key != m.Key {
			r = false
			break
		}
	}
	u.impl[k] = r
	return r
}

// Overlap reports whether cells a and b of one layout share bytes. Cells under
// different arrays, or at equal offsets, are compared conservatively.
func (l *Layout) Overlap(a, b uint32) bool {
	if a == b {
		return true
	}
	x, y := &l.Cells[a], &l.Cells[b]
	if x.Array != y.Array {
		return false // an array's elements and what lies outside it are disjoint
	}
	return x.Off < y.Off+y.Size && y.Off < x.Off+x.Size
}

// PrettyPath gives a cell's path as a person would write it: ".a[]" for ".a[]",
// "" for the whole.
func (c *Cell) PrettyPath() string { return strings.ReplaceAll(c.Path, "[][]", "[]") }
