package pta

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// types makes the types of a random system, as extraction makes those of a
// package. Types of one name are one type.
type types struct {
	rec    *facts.Record
	byName map[string]facts.TypeID
}

func (t *types) at(id facts.TypeID) *facts.Type { return &t.rec.Types[id] }

func (t *types) add(ty facts.Type) facts.TypeID {
	if id, ok := t.byName[ty.Name]; ok {
		return id
	}
	id := facts.TypeID(len(t.rec.Types))
	t.byName[ty.Name] = id
	if ty.Shape == "" {
		ty.Shape = ty.Name
	}
	t.rec.Types = append(t.rec.Types, ty)
	return id
}

func (t *types) name(id facts.TypeID) string { return t.at(id).Name }

func (t *types) ptr(e facts.TypeID) facts.TypeID {
	return t.add(facts.Type{Name: "*" + t.name(e), Kind: facts.Pointer, Elem: e, Size: 8})
}

func (t *types) slice(e facts.TypeID) facts.TypeID {
	return t.add(facts.Type{Name: "[]" + t.name(e), Kind: facts.Slice, Elem: e, Size: 24})
}

// array is an array of n elements; n is "?" for the backing array of a slice.
func (t *types) array(n string, e facts.TypeID) facts.TypeID {
	size := int64(1 << 40)
	if n != "?" {
		size = 4 * t.at(e).Size
	}
	return t.add(facts.Type{Name: "[" + n + "]" + t.name(e), Kind: facts.Array, Elem: e, Size: size})
}

func (t *types) header() facts.TypeID { return t.add(facts.Type{Name: "map.header", Size: 8}) }

func (t *types) mapOf(k, v facts.TypeID) facts.TypeID {
	obj := t.object("map.object["+t.name(k)+"]"+t.name(v), []string{"header", "key", "value"}, []facts.TypeID{t.header(), k, v})
	return t.add(facts.Type{Name: "map[" + t.name(k) + "]" + t.name(v), Kind: facts.Map, Key: k, Elem: v, Obj: obj, Size: 8})
}

func (t *types) chanOf(e facts.TypeID) facts.TypeID {
	obj := t.object("chan.object "+t.name(e), []string{"buf"}, []facts.TypeID{e})
	return t.add(facts.Type{Name: "chan(" + t.name(e) + ")", Kind: facts.Chan, Elem: e, Obj: obj, Size: 8})
}

// object is the type of an object that the language makes.
func (t *types) object(name string, fields []string, ts []facts.TypeID) facts.TypeID {
	ty := facts.Type{Name: name, Kind: facts.Struct, Builtin: true}
	for i, f := range ts {
		ty.Fields = append(ty.Fields, facts.Field{Name: fields[i], Type: f, Off: ty.Size})
		ty.Size += 64
	}
	return t.add(ty)
}

func (t *types) tuple(ts []facts.TypeID) facts.TypeID {
	ty := facts.Type{Name: "(", Kind: facts.Struct, Builtin: true}
	for i, f := range ts {
		ty.Name += t.name(f) + ","
		ty.Fields = append(ty.Fields, facts.Field{Name: fmt.Sprint(i), Type: f})
	}
	ty.Name += ")"
	return t.add(ty)
}

func (t *types) funcOf(s sig) facts.TypeID {
	ty := facts.Type{Name: "func" + t.name(t.tuple(s.params)) + t.name(t.tuple(s.results)), Kind: facts.FuncKind, Size: 8}
	for _, x := range append(s.params[:len(s.params):len(s.params)], s.results...) {
		ty.Fields = append(ty.Fields, facts.Field{Type: x})
	}
	return t.add(ty)
}

// structOf fills the row of a named struct type: its shape is that of its fields.
func (t *types) structOf(id facts.TypeID, fields []facts.TypeID) {
	ty := t.at(id)
	ty.Kind, ty.Named, ty.Shape, ty.Fields, ty.Size = facts.Struct, true, "struct{", nil, 0
	for i, f := range fields {
		name := string(rune('a' + i))
		ty.Fields = append(ty.Fields, facts.Field{Name: name, Type: f, Off: ty.Size})
		ty.Size += t.at(f).Size
		ty.Shape += name + " " + t.name(f) + ";"
	}
}

func (t *types) cells(id facts.TypeID) int {
	ty := t.at(id)
	switch {
	case ty.Kind == facts.Struct && len(ty.Fields) > 0:
		n := 0
		for _, f := range ty.Fields {
			n += t.cells(f.Type)
		}
		return n
	case ty.Kind == facts.Array:
		return t.cells(ty.Elem)
	}
	return 1
}

func (t *types) leaves(id facts.TypeID) int {
	ty := t.at(id)
	switch {
	case ty.Kind == facts.Struct:
		n := 0
		for _, f := range ty.Fields {
			n += t.leaves(f.Type)
		}
		return n
	case ty.Kind == facts.Array:
		return t.leaves(ty.Elem)
	case ty.Kind.PointerLike():
		return 1
	}
	return 0
}

// sig is a signature without receiver.
type sig struct{ params, results []facts.TypeID }

// makeTypes makes the types of the system: a few structs, some with twins of the
// same shape, interfaces, signatures, and the pool of types that registers have.
func (g *generator) makeTypes() {
	t := g.types
	num := t.add(facts.Type{Name: "int", Size: 8})
	g.empty = t.add(facts.Type{Name: "interface{}", Kind: facts.Interface, Size: 16})
	g.hidden = t.add(facts.Type{Name: "p.hidden", Kind: facts.Interface, Size: 16, Named: true})
	for i := range 2 + g.IntN(2) {
		g.structs = append(g.structs, t.add(facts.Type{Name: fmt.Sprintf("p.S%d", i), Named: true}))
	}
	for range 1 + g.IntN(2) {
		g.ifaces = append(g.ifaces, t.add(facts.Type{Name: fmt.Sprintf("p.I%d", len(g.ifaces)), Kind: facts.Interface, Size: 16, Named: true}))
	}
	refs := func() facts.TypeID { // something that has a size before all structs do
		s := g.structs[g.IntN(len(g.structs))]
		switch g.IntN(10) {
		case 0:
			return t.slice(s)
		case 1:
			return t.slice(t.ptr(s))
		case 2:
			return t.ptr(t.ptr(s))
		case 3:
			return g.empty
		case 4:
			return g.ifaces[g.IntN(len(g.ifaces))]
		case 5:
			return t.mapOf(t.ptr(s), t.ptr(g.structs[0]))
		case 6:
			return t.chanOf(t.ptr(s))
		case 7:
			return t.ptr(num)
		}
		return t.ptr(s)
	}
	for range 2 {
		var s sig
		for range 1 + g.IntN(2) {
			s.params = append(s.params, refs())
		}
		for range g.IntN(3) {
			s.results = append(s.results, refs())
		}
		g.sigs = append(g.sigs, s)
	}
	for i, s := range g.structs {
		var fs []facts.TypeID
		for range 1 + g.IntN(3) {
			switch k := g.IntN(10); {
			case k == 0:
				fs = append(fs, num)
			case k == 1 && i > 0:
				fs = append(fs, g.structs[g.IntN(i)])
			case k == 2 && i > 0:
				fs = append(fs, t.array("4", g.structs[g.IntN(i)]))
			case k == 3:
				fs = append(fs, t.array("4", refs()))
			case k == 4:
				fs = append(fs, t.funcOf(g.sigs[g.IntN(2)]))
			default:
				fs = append(fs, refs())
			}
		}
		t.structOf(s, fs)
		if g.IntN(2) == 0 { // one that converts to it
			r := t.add(facts.Type{Name: fmt.Sprintf("p.R%d", i), Named: true})
			t.structOf(r, fs)
			g.twins = append(g.twins, [2]facts.TypeID{s, r})
		}
	}
	for range 4 {
		g.pool = append(g.pool, refs())
	}
	for _, s := range g.structs {
		g.pool = append(g.pool, t.ptr(s), s)
	}
	for _, p := range g.twins {
		g.pool = append(g.pool, t.ptr(p[1]), t.slice(p[1]))
	}
	for _, s := range g.sigs {
		g.pool = append(g.pool, t.funcOf(s))
	}
	g.pool = append(g.pool, g.empty, g.ifaces[0], t.ptr(t.array("4", t.ptr(g.structs[0]))))
	slices.Sort(g.pool)
	g.pool = slices.Compact(g.pool)
}

// generator makes one random system. Its facts are well typed but for a few rows
// in some systems.
type generator struct {
	*rand.Rand
	types         *types
	empty, hidden facts.TypeID
	structs       []facts.TypeID
	twins         [][2]facts.TypeID
	ifaces        []facts.TypeID
	sigs          []sig          // of function types
	methods       []sig          // by method key less one
	pool          []facts.TypeID // of registers
	funcs         []*function
	globals       []facts.TypeID
	boxed         []facts.TypeID // what interfaces were made of
	illTyped      bool
	deeps         bool // has rows for everything that is reachable
	ghosts        bool
	wide          int // how many objects one variable gets, or 0
}
