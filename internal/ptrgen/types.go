package ptrgen

import (
	"fmt"
	"strings"
)

type kind uint8

const (
	integer kind = iota
	pointer
	slice
	array
	mapping
	channel
	function
	structure
	iface
	named // a name for a slice or function type
	generic
)

// A typ is a type; equal types have equal spellings.
type typ struct {
	kind    kind
	s       string
	elem    *typ // pointer, slice, array, channel, map value, what a generic is of
	key     *typ
	params  []*typ
	results []*typ
	fields  []field
	methods []string // own methods: of a struct, or of an interface
	valued  []bool   // structs: the method has a value receiver
	under   *typ     // named
}

type field struct {
	name     string
	t        *typ
	embedded bool
}

var intT = &typ{kind: integer, s: "int"}

func ptr(t *typ) *typ     { return &typ{kind: pointer, s: "*" + t.s, elem: t} }
func sliceOf(t *typ) *typ { return &typ{kind: slice, s: "[]" + t.s, elem: t} }
func arrayOf(t *typ) *typ { return &typ{kind: array, s: "[2]" + t.s, elem: t} }
func chanOf(t *typ) *typ {
	s := t.s
	if t.kind == channel {
		s = "(" + s + ")"
	}
	return &typ{kind: channel, s: "chan " + s, elem: t}
}
func mapOf(k, v *typ) *typ {
	return &typ{kind: mapping, s: "map[" + k.s + "]" + v.s, key: k, elem: v}
}
func funcOf(params, results []*typ) *typ {
	return &typ{kind: function, s: "func" + signature(params, results), params: params, results: results}
}

func signature(params, results []*typ) string {
	list := func(ts []*typ) string {
		var ss []string
		for _, t := range ts {
			ss = append(ss, t.s)
		}
		return "(" + strings.Join(ss, ", ") + ")"
	}
	if len(results) == 1 {
		return list(params) + " " + results[0].s
	}
	if len(results) == 0 {
		return list(params)
	}
	return list(params) + " " + list(results)
}

// core returns the type without its name.
func (t *typ) core() *typ {
	if t.kind == named {
		return t.under
	}
	return t
}

// A method of these names has one signature in the whole program.
type method struct {
	name    string
	params  []*typ
	results []*typ
}

// makeTypes makes the types of the program.
func (g *gen) makeTypes() {
	n := 3 + g.rng.IntN(3)
	for i := range n {
		g.structs = append(g.structs, &typ{kind: structure, s: fmt.Sprint("S", i)})
	}
	anyT := &typ{kind: iface, s: "interface{}"}
	pint, s0, s1 := ptr(intT), g.structs[0], g.structs[1]
	g.methods = []method{
		{"M0", []*typ{pint}, []*typ{pint}},
		{"M1", []*typ{ptr(s0), pint}, []*typ{ptr(s0), pint}},
		{"M2", nil, []*typ{anyT}},
		{"M3", []*typ{s1}, []*typ{ptr(s1)}},
	}
	g.ifaces = []*typ{
		anyT,
		{kind: iface, s: "I0", methods: []string{"M0"}},
		{kind: iface, s: "I1", methods: []string{"M0", "M1"}},
		{kind: iface, s: "I2", methods: []string{"M2"}},
		{kind: iface, s: "I3", methods: []string{"M3"}},
	}
	g.named = []*typ{
		{kind: named, s: "L0", under: sliceOf(ptr(g.structs[n-1]))},
		{kind: named, s: "F0", under: funcOf([]*typ{pint}, []*typ{ptr(s0)})},
	}
	for _, t := range []*typ{pint, ptr(s0), s1} {
		g.generics = append(g.generics, &typ{kind: generic, s: "G[" + t.s + "]", elem: t})
	}
	g.pool = []*typ{pint, pint, ptr(pint), anyT, chanOf(pint), sliceOf(pint), arrayOf(pint), mapOf(pint, pint)}
	g.pool = append(g.pool, g.ifaces[1:]...)
	g.pool = append(g.pool, g.named...)
	for _, t := range g.structs {
		g.pool = append(g.pool, ptr(t), ptr(t), t)
	}
	for _, t := range g.generics {
		g.pool = append(g.pool, ptr(t))
	}
	// Composite types over those.
	for range 8 {
		t := g.pick(g.pool)
		switch g.rng.IntN(8) {
		case 0:
			t = sliceOf(t)
		case 1:
			t = arrayOf(t)
		case 2:
			t = mapOf(intT, t)
		case 3:
			t = mapOf(pint, t)
		case 4:
			t = chanOf(t)
		case 5:
			t = ptr(t)
		case 6:
			t = funcOf([]*typ{g.pick(g.pool)}, []*typ{t})
		case 7:
			t = funcOf([]*typ{t, g.pick(g.pool)}, []*typ{g.pick(g.pool), t})
		}
		g.pool = append(g.pool, t)
	}
	for i, s := range g.structs {
		if i > 0 && g.chance(2) {
			e := g.structs[g.rng.IntN(i)]
			name := e.s
			switch g.rng.IntN(5) {
			case 0, 1:
				e = ptr(e)
			case 2:
				e = g.ifaces[1+g.rng.IntN(len(g.ifaces)-1)]
				name = e.s
			}
			s.fields = append(s.fields, field{name, e, true})
		}
		for k := range 2 + g.rng.IntN(3) {
			t := g.pick(g.pool)
			for !g.finite(t, i) {
				t = g.pick(g.pool)
			}
			s.fields = append(s.fields, field{fmt.Sprintf("f%d%d", i, k), t, false})
		}
		for _, m := range g.methods {
			if g.chance(2) {
				s.methods = append(s.methods, m.name)
				s.valued = append(s.valued, g.chance(2))
			}
		}
	}
}

// finite reports whether a field of struct i may have type t: structs are held
// by value by later ones only.
func (g *gen) finite(t *typ, i int) bool {
	switch t.kind {
	case array:
		return g.finite(t.elem, i)
	case structure:
		for j, s := range g.structs {
			if s.s == t.s {
				return j < i
			}
		}
	case generic:
		return false
	}
	return true
}

// methodSet returns the names of the methods of t.
func (g *gen) methodSet(t *typ) map[string]bool {
	set := map[string]bool{}
	switch {
	case t.kind == iface:
		for _, m := range t.methods {
			set[m] = true
		}
	case t.kind == structure:
		g.collect(t, false, set)
	case t.kind == pointer && t.elem.kind == structure:
		g.collect(t.elem, true, set)
	}
	return set
}

func (g *gen) collect(s *typ, addressable bool, set map[string]bool) {
	own := map[string]bool{}
	for i, m := range s.methods {
		own[m] = true
		if s.valued[i] || addressable {
			set[m] = true
		}
	}
	for _, f := range s.fields {
		if !f.embedded {
			continue
		}
		e, sub := f.t, map[string]bool{}
		switch e.kind {
		case pointer:
			g.collect(e.elem, true, sub)
		case iface:
			sub = g.methodSet(e)
		default:
			g.collect(e, addressable, sub)
		}
		for m := range sub {
			if !own[m] {
				set[m] = true
			}
		}
	}
}

func (g *gen) implements(t, i *typ) bool {
	set := g.methodSet(t)
	for _, m := range i.methods {
		if !set[m] {
			return false
		}
	}
	return true
}

func (g *gen) method(name string) method {
	for _, m := range g.methods {
		if m.name == name {
			return m
		}
	}
	panic("ptrgen: no method " + name)
}

// zero returns the zero value of t as an expression of that type.
func zero(t *typ) string {
	switch t.core().kind {
	case integer:
		return "0"
	case structure, array:
		return t.s + "{}"
	}
	return "(" + t.s + ")(nil)"
}
