package extract

import (
	"fmt"
	"go/types"
	"hash/fnv"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/bfverify/bfverify/facts"
)

// typeName gives the stable name of a type: full package paths with variant,
// local types with their place, so that two types share a name only if they
// are identical.
func (x *extractor) typeName(t types.Type) string {
	if s, ok := x.names.Load(t); ok {
		return s.(string)
	}
	var s strings.Builder
	x.writeType(&s, t, nil)
	name := s.String()
	x.names.Store(t, name)
	return name
}

// writeType writes a type's name. in are the local types whose underlying types
// are being written, outermost first.
func (x *extractor) writeType(s *strings.Builder, t types.Type, in []*types.Named) {
	switch t := t.(type) {
	case *types.Alias:
		x.writeType(s, types.Unalias(t), in)
	case *types.Basic:
		s.WriteString(types.Typ[t.Kind()].Name()) // byte and rune are other names
	case *types.Pointer:
		s.WriteByte('*')
		x.writeType(s, t.Elem(), in)
	case *types.Slice:
		s.WriteString("[]")
		x.writeType(s, t.Elem(), in)
	case *types.Array:
		fmt.Fprintf(s, "[%d]", t.Len())
		x.writeType(s, t.Elem(), in)
	case *types.Map:
		s.WriteString("map[")
		x.writeType(s, t.Key(), in)
		s.WriteByte(']')
		x.writeType(s, t.Elem(), in)
	case *types.Chan:
		s.WriteString([]string{"chan(", "chan<-(", "<-chan("}[t.Dir()])
		x.writeType(s, t.Elem(), in)
		s.WriteByte(')')
	case *types.Struct:
		s.WriteString("struct{")
		for i := range t.NumFields() {
			f := t.Field(i)
			if f.Embedded() {
				s.WriteByte('!')
			}
			if !f.Exported() && f.Pkg() != nil {
				s.WriteString(x.ids[f.Pkg()] + ".")
			}
			s.WriteString(f.Name() + " ")
			x.writeType(s, f.Type(), in)
			if tag := t.Tag(i); tag != "" {
				s.WriteString(strconv.Quote(tag))
			}
			s.WriteByte(';')
		}
		s.WriteByte('}')
	case *types.Tuple:
		s.WriteByte('(')
		for i := range t.Len() {
			if i > 0 {
				s.WriteByte(',')
			}
			x.writeType(s, t.At(i).Type(), in)
		}
		s.WriteByte(')')
	case *types.Signature:
		s.WriteString("func")
		x.writeSig(s, t, in)
	case *types.Interface:
		s.WriteString("interface{")
		for i := range t.NumMethods() {
			m := t.Method(i)
			if !m.Exported() && m.Pkg() != nil {
				s.WriteString(x.ids[m.Pkg()] + ".")
			}
			s.WriteString(m.Name())
			x.writeSig(s, m.Signature(), in)
			s.WriteByte(';')
		}
		for i := range t.NumEmbeddeds() {
			if !types.IsInterface(t.EmbeddedType(i)) {
				s.WriteByte('~')
				x.writeType(s, t.EmbeddedType(i), in)
			}
		}
		s.WriteByte('}')
	case *types.Named:
		o := t.Obj()
		if o.Pkg() == nil {
			s.WriteString(o.Name())
			return
		}
		s.WriteString(x.ids[o.Pkg()] + "." + o.Name())
		if o.Parent() != o.Pkg().Scope() && o.Pos().IsValid() {
			p := x.cfg.Fset.Position(o.Pos())
			fmt.Fprintf(s, "@%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column)
			// Instances of a generic function have local types of their own.
			if i := slices.IndexFunc(in, func(x *types.Named) bool { return types.Identical(x, t) }); i >= 0 {
				fmt.Fprintf(s, "^%d", len(in)-i) // inside itself
			} else if len(in) < maxLocal {
				var u strings.Builder
				x.writeType(&u, t.Underlying(), append(in[:len(in):len(in)], t))
				h := fnv.New64a()
				h.Write([]byte(u.String()))
				fmt.Fprintf(s, "#%x", h.Sum64())
			}
		}
		if a := t.TypeArgs(); a.Len() > 0 {
			s.WriteByte('[')
			for i := range a.Len() {
				if i > 0 {
					s.WriteByte(',')
				}
				x.writeType(s, a.At(i), in)
			}
			s.WriteByte(']')
		}
	case *types.Union:
		for i := range t.Len() {
			if t.Term(i).Tilde() {
				s.WriteByte('~')
			}
			x.writeType(s, t.Term(i).Type(), in)
			s.WriteByte('|')
		}
	default: // opaque types of go/ssa, type parameters of generic bodies
		s.WriteString(t.String())
	}
}

func (x *extractor) writeSig(s *strings.Builder, t *types.Signature, in []*types.Named) {
	x.writeType(s, t.Params(), in)
	if t.Variadic() {
		s.WriteString("...")
	}
	x.writeType(s, t.Results(), in)
}

func (x *extractor) sigName(t *types.Signature) string {
	var s strings.Builder
	x.writeSig(&s, t, nil)
	return s.String()
}

// shape writes the underlying type one level deep, without tags: two pointers
// whose elements have one shape convert into each other without unsafe.
func (x *extractor) shape(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		var s strings.Builder
		s.WriteString("struct{")
		for i := range u.NumFields() {
			f := u.Field(i)
			if !f.Exported() && f.Pkg() != nil {
				s.WriteString(x.ids[f.Pkg()] + ".")
			}
			s.WriteString(f.Name() + " " + x.typeName(f.Type()) + ";")
		}
		s.WriteByte('}')
		return s.String()
	case *types.Chan:
		return "chan " + x.typeName(u.Elem())
	default:
		return x.typeName(u)
	}
}

// typ returns the reference of a type, adding its row and those it needs.
func (b *builder) typ(t types.Type) facts.TypeID {
	if t == nil {
		return 0
	}
	if id, ok := b.types[t]; ok {
		return id
	}
	name := b.typeName(t)
	if id, ok := b.typeOf[name]; ok {
		b.types[t] = id
		return id
	}
	id := b.newType(name)
	b.types[t] = id
	row := facts.Type{Name: name, Shape: b.shape(t)}
	_, row.Named = types.Unalias(t).(*types.Named)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		row.Size = b.size(t)
		if u.Kind() == types.UnsafePointer {
			row.Kind = facts.UnsafePointer
		}
	case *types.Pointer:
		row.Kind, row.Size, row.Elem = facts.Pointer, 8, b.typ(u.Elem())
	case *types.Slice:
		row.Kind, row.Size, row.Elem = facts.Slice, 24, b.typ(u.Elem())
	case *types.Array:
		row.Kind, row.Size, row.Elem = facts.Array, b.size(t), b.typ(u.Elem())
	case *types.Chan:
		row.Kind, row.Size, row.Elem = facts.Chan, 8, b.typ(u.Elem())
		row.Obj = b.chanObj(u)
	case *types.Map:
		row.Kind, row.Size, row.Elem, row.Key = facts.Map, 8, b.typ(u.Elem()), b.typ(u.Key())
		row.Obj = b.mapObj(u)
	case *types.Signature:
		row.Kind, row.Size = facts.FuncKind, 8
		for _, tuple := range [...]*types.Tuple{u.Params(), u.Results()} {
			for v := range tuple.Variables() {
				row.Fields = append(row.Fields, facts.Field{Name: v.Name(), Type: b.typ(v.Type())})
			}
		}
	case *types.Interface:
		row.Kind, row.Size = facts.Interface, 16
		for i := range u.NumMethods() {
			row.Methods = append(row.Methods, facts.Method{Key: b.method(u.Method(i))})
		}
	case *types.Struct:
		row.Kind, row.Size = facts.Struct, b.size(t)
		row.Fields = b.fields(u)
	case *types.Tuple:
		row.Kind, row.Builtin = facts.Struct, true
		for i := range u.Len() {
			row.Fields = append(row.Fields, facts.Field{Name: strconv.Itoa(i), Type: b.typ(u.At(i).Type())})
		}
	default:
		row.Kind, row.Size = facts.Opaque, 8
	}
	b.rec.Types[id] = row
	if b.reflected(t) {
		b.table(t)
		b.table(types.NewPointer(t))
	}
	return id
}

// reflected reports whether t has methods that reflection may find where no
// code makes an interface of it, and which its package does not list: instances
// of generic types, local types, and structs without name that embed. A record
// has the tables of all that it mentions.
func (b *builder) reflected(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		return o.Pkg() != nil && !types.IsInterface(t) && !isGeneric(t) && (t.TypeArgs().Len() > 0 || o.Parent() != o.Pkg().Scope())
	case *types.Struct:
		for i := range t.NumFields() {
			if t.Field(i).Embedded() {
				return true
			}
		}
	}
	return false
}

// size returns the size of t in bytes; 0 for what has none.
func (b *builder) size(t types.Type) int64 {
	if basic, ok := t.Underlying().(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 {
		return 8
	}
	return b.cfg.Sizes.Sizeof(t)
}

func (b *builder) fields(u *types.Struct) []facts.Field {
	vars := make([]*types.Var, u.NumFields())
	for i := range vars {
		vars[i] = u.Field(i)
	}
	offs := b.cfg.Sizes.Offsetsof(vars)
	fs := make([]facts.Field, len(vars))
	for i, v := range vars {
		fs[i] = facts.Field{Name: v.Name(), Type: b.typ(v.Type()), Off: offs[i], Embedded: v.Embedded(), Whole: omitsZero(u.Tag(i))}
	}
	return fs
}

// omitsZero reports whether a field's tag asks encoding/json to leave out its zero
// value.
func omitsZero(tag string) bool {
	_, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), "omitzero")
}

func (b *builder) newType(name string) facts.TypeID {
	id := facts.TypeID(len(b.rec.Types))
	b.typeOf[name] = id
	b.rec.Types = append(b.rec.Types, facts.Type{Name: name})
	return id
}

// synthetic returns a struct type made of the given fields, one after another.
func (b *builder) synthetic(name string, fields ...facts.Field) facts.TypeID {
	if id, ok := b.typeOf[name]; ok {
		return id
	}
	id := b.newType(name)
	var off int64
	for i := range fields {
		fields[i].Off = off
		off += 64 // run-time layout of these objects is no business of the program
	}
	b.rec.Types[id] = facts.Type{Name: name, Kind: facts.Struct, Shape: name, Fields: fields, Size: off, Builtin: true}
	return id
}

// header is the type of the cell that stands for a map as a whole.
func (b *builder) header() facts.TypeID {
	const name = "map.header"
	if id, ok := b.typeOf[name]; ok {
		return id
	}
	id := b.newType(name)
	b.rec.Types[id] = facts.Type{Name: name, Shape: name, Size: 8}
	return id
}

// mapObj is the type of the object a map value points to: cells map.header,
// map.key, map.value.
func (b *builder) mapObj(u *types.Map) facts.TypeID {
	return b.synthetic("map.object["+b.typeName(u.Key())+"]"+b.typeName(u.Elem()),
		facts.Field{Name: "header", Type: b.header()},
		facts.Field{Name: "key", Type: b.typ(u.Key())},
		facts.Field{Name: "value", Type: b.typ(u.Elem())})
}

// chanObj is the type of the object a channel value points to: cell chan.buf.
func (b *builder) chanObj(u *types.Chan) facts.TypeID {
	return b.synthetic("chan.object "+b.typeName(u.Elem()), facts.Field{Name: "buf", Type: b.typ(u.Elem())})
}

// arrayOf is the type of a backing array of unknown length.
func (b *builder) arrayOf(elem types.Type) facts.TypeID {
	name := "[?]" + b.typeName(elem)
	if id, ok := b.typeOf[name]; ok {
		return id
	}
	id := b.newType(name)
	e := b.typ(elem)
	b.rec.Types[id] = facts.Type{Name: name, Kind: facts.Array, Elem: e, Shape: name, Size: 1 << 40}
	return id
}

// leaves returns the number of pointer-like leaves of t.
func (b *builder) leaves(t types.Type) int {
	if n := b.leafN.At(t); n != nil {
		return n.(int)
	}
	n := 0
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			n = 1
		}
	case *types.Struct:
		for i := range u.NumFields() {
			n += b.leaves(u.Field(i).Type())
		}
	case *types.Tuple:
		for i := range u.Len() {
			n += b.leaves(u.At(i).Type())
		}
	case *types.Array:
		n = b.leaves(u.Elem())
	default:
		n = 1
	}
	b.leafN.Set(t, n)
	return n
}

// cells returns the number of cells of t; it agrees with facts.Layout.
func (b *builder) cells(t types.Type) int {
	if n := b.cellN.At(t); n != nil {
		return n.(int)
	}
	n := 1
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if u.NumFields() > 0 {
			n = 0
			for i := range u.NumFields() {
				n += b.cells(u.Field(i).Type())
			}
		}
	case *types.Array:
		n = b.cells(u.Elem())
	}
	b.cellN.Set(t, n)
	return n
}

// table asks for the method table of concrete type t.
func (b *builder) table(t types.Type) {
	id := b.typ(t)
	if b.rec.Types[id].Concrete {
		return
	}
	b.rec.Types[id].Concrete = true
	b.tables = append(b.tables, tableJob{t, id})
}

func (b *builder) fillTable(j tableJob) {
	var ms []facts.Method
	for sel := range b.prog.MethodSets.MethodSet(j.t).Methods() {
		fn := b.prog.MethodValue(sel)
		if fn == nil {
			continue // generic method of an interface: has no table of its own
		}
		m := sel.Obj().(*types.Func)
		// The key is that of the method with the receiver's type arguments in place.
		key := b.methodAt(m, sel)
		ms = append(ms, facts.Method{Key: key, Fn: b.fn(fn)})
	}
	b.rec.Types[j.id].Methods = ms
}

func (b *builder) methodAt(m *types.Func, sel *types.Selection) facts.MethodID {
	sig, ok := sel.Type().(*types.Signature)
	if !ok {
		return b.method(m)
	}
	key := m.Name()
	if !m.Exported() && m.Pkg() != nil {
		key = b.ids[m.Pkg()] + "." + key
	}
	key += " " + b.sigName(sig)
	id, ok := b.methods[key]
	if !ok {
		id = facts.MethodID(len(b.rec.Methods))
		b.methods[key] = id
		b.rec.Methods = append(b.rec.Methods, key)
	}
	return id
}

// maxLocal is how deep local types that use each other are told apart.
const maxLocal = 8
