package ptrgen

import (
	"fmt"
	"strings"
)

// A variable is a name in scope, or a place that can be read.
type variable struct {
	name  string
	t     *typ
	fixed bool // not to be assigned: a range variable, a constant place
	slot  bool // an element, field or the like, not a variable
	keyed bool // an element of a map, which has no address
}

// places returns what can be read and, unless fixed, written: variables, and
// what they lead to in two steps.
func (g *gen) places() []variable {
	var all []variable
	var walk func(v variable, d int)
	walk = func(v variable, d int) {
		all = append(all, v)
		if d == 0 {
			return
		}
		sub := func(name string, t *typ, fixed bool) { walk(variable{name: name, t: t, fixed: fixed, slot: true}, d-1) }
		switch c := v.t.core(); c.kind {
		case structure:
			for _, f := range c.fields {
				sub(v.name+"."+f.name, f.t, v.fixed)
				if f.embedded && d > 1 { // promoted
					e := f.t
					if e.kind == pointer {
						e = e.elem
					}
					for _, p := range e.fields {
						sub(v.name+"."+p.name, p.t, v.fixed && f.t.kind != pointer)
					}
				}
			}
		case pointer:
			switch c.elem.kind {
			case structure:
				for _, f := range c.elem.fields {
					sub(v.name+"."+f.name, f.t, false)
				}
				sub("(*"+v.name+")", c.elem, false)
			case generic:
				sub(v.name+".v", c.elem.elem, false)
				sub(v.name+".next", v.t, false)
			case array:
				sub(v.name+"[1]", c.elem.elem, false)
			default:
				sub("(*"+v.name+")", c.elem, false)
			}
		case slice:
			sub(v.name+"[0]", c.elem, false)
		case array:
			sub(v.name+"["+fmt.Sprint(g.rng.IntN(2))+"]", c.elem, v.fixed)
		case mapping:
			k := "0"
			if c.key.kind != integer {
				k = g.expr(c.key, 0)
			}
			all = append(all, variable{name: v.name + "[" + k + "]", t: c.elem, slot: true, keyed: true})
		}
	}
	for _, v := range g.scope {
		walk(v, 2)
	}
	return all
}

// use says what a place is for.
type use uint8

const (
	read use = iota
	assign
	address
)

// place returns a place of type t for a use, or "".
func (g *gen) place(t *typ, u use) string {
	var fit []string
	for _, v := range g.places() {
		if v.t.s == t.s && !(u != read && v.fixed) && !(u == address && v.keyed) {
			fit = append(fit, v.name)
		}
	}
	if len(fit) == 0 {
		return ""
	}
	return fit[g.rng.IntN(len(fit))]
}

// known returns a variable of type t, or "".
func (g *gen) known(t *typ) string {
	var fit []string
	for _, v := range g.scope {
		if v.t.s == t.s {
			fit = append(fit, v.name)
		}
	}
	if len(fit) == 0 {
		return ""
	}
	return fit[g.rng.IntN(len(fit))]
}

// expr returns an expression of type t that nests at most about d deep.
func (g *gen) expr(t *typ, d int) string {
	if d <= 0 {
		if v := g.known(t); v != "" && g.rng.IntN(8) > 0 {
			return v
		}
		return g.shallow(t)
	}
	switch r := g.rng.IntN(20); {
	case r < 7:
		if v := g.place(t, read); v != "" {
			return v
		}
	case r < 11:
		if c := g.call(t, d-1); c != "" {
			return c
		}
	case r < 12:
		return "ident(" + g.typed(t, d-1) + ")"
	case r < 13:
		if g.asserts {
			return g.expr(g.ifaces[0], d-1) + ".(" + t.s + ")"
		}
	}
	return g.fresh(t, d-1)
}

// typed is expr for a place that does not tell the type.
func (g *gen) typed(t *typ, d int) string {
	return "(" + t.s + ")(" + g.expr(t, d) + ")"
}

// shallow returns a small expression of type t, which is seldom nil.
func (g *gen) shallow(t *typ) string {
	switch c := t.core(); c.kind {
	case pointer:
		return "new(" + c.elem.s + ")"
	case slice:
		return t.s + "{" + g.shallow(c.elem) + "}"
	case mapping:
		return t.s + "{}"
	case channel:
		return "make(" + t.s + ", 2)"
	case iface:
		for range 4 {
			if x := ptr(g.pick(g.structs)); g.implements(x, t) {
				return t.s + "(" + g.shallow(x) + ")"
			}
		}
	}
	return zero(t)
}

func (g *gen) list(ts []*typ, d int) string {
	var ss []string
	for _, t := range ts {
		ss = append(ss, g.expr(t, d))
	}
	return strings.Join(ss, ", ")
}

// fresh returns an expression that makes a value of type t.
func (g *gen) fresh(t *typ, d int) string {
	switch c := t.core(); c.kind {
	case integer:
		return fmt.Sprint(g.rng.IntN(9))
	case pointer:
		return g.freshPointer(t, d)
	case slice:
		switch g.rng.IntN(6) {
		case 0:
			return "make(" + t.s + ", 2, 4)"
		case 1:
			if v := g.place(arrayOf(c.elem), address); v != "" {
				return t.s + "(" + v + "[:])"
			}
		case 2:
			return g.appended(t, d)
		case 3:
			if v := g.place(t, read); v != "" {
				return v + "[:1]"
			}
		case 4:
			if t.kind == named {
				return t.s + "(" + g.expr(c, d) + ")"
			}
		}
		return t.s + "{" + g.list([]*typ{c.elem, c.elem}, d) + "}"
	case array:
		if g.chance(4) {
			if v := g.place(sliceOf(c.elem), read); v != "" {
				return t.s + "(" + v + ")"
			}
		}
		return t.s + "{" + g.list([]*typ{c.elem, c.elem}, d) + "}"
	case mapping:
		return t.s + "{" + g.expr(c.key, d) + ": " + g.expr(c.elem, d) + "}"
	case channel:
		return "make(" + t.s + ", 2)"
	case function:
		return g.funcValue(t, d)
	case structure:
		if g.cfg.Structs && c.s == g.structs[0].s && g.chance(3) {
			return t.s + "(" + g.expr(g.alike, d) + ")"
		}
		var fs []string
		for _, f := range c.fields {
			if g.chance(2) {
				fs = append(fs, f.name+": "+g.expr(f.t, d))
			}
		}
		return t.s + "{" + strings.Join(fs, ", ") + "}"
	case iface:
		for range 20 {
			x := g.pick(g.pool)
			if x.kind == iface && x.s != "interface{}" && g.implements(x, t) {
				return t.s + "(" + g.expr(x, d) + ")"
			}
			if x.kind != iface && (len(t.methods) == 0 || g.implements(x, t)) {
				return t.s + "(" + g.typed(x, d) + ")"
			}
		}
	case generic:
		return t.s + "{v: " + g.expr(c.elem, d) + "}"
	}
	return zero(t)
}

func (g *gen) freshPointer(t *typ, d int) string {
	e := t.elem
	switch g.rng.IntN(5) {
	case 0:
		if v := g.place(e, address); v != "" {
			return "&" + v
		}
	case 1:
		if e.kind == structure || e.kind == array || e.kind == slice || e.kind == mapping || e.kind == generic {
			if x := g.fresh(e, d); strings.HasPrefix(x, e.s+"{") {
				return "&" + x
			}
		}
	case 2:
		if e.s == g.structs[0].s {
			return "(" + t.s + ")(" + g.expr(ptr(g.alike), d) + ")"
		}
		if e.s == g.alike.s {
			return "(" + t.s + ")(" + g.expr(ptr(g.structs[0]), d) + ")"
		}
	case 3:
		if e.kind == array {
			if v := g.place(sliceOf(e.elem), read); v != "" {
				return "(" + t.s + ")(" + v + ")"
			}
		}
		if e.kind == generic {
			return "link(" + g.typed(e.elem, d) + ", " + g.expr(t, d) + ")"
		}
	}
	return "new(" + e.s + ")"
}

// appended returns an append. Without Config.Full what is appended to is
// nothing whose capacity is known where it stands.
func (g *gen) appended(t *typ, d int) string {
	c := t.core()
	base := ""
	for _, v := range g.places() {
		if v.t.s == t.s && (v.slot || g.memory[v.name]) && g.chance(2) {
			base = v.name
		}
	}
	if g.cfg.Full && g.chance(2) {
		base = g.expr(t, d)
	}
	if base == "" {
		return t.s + "{" + g.expr(c.elem, d) + "}"
	}
	if g.chance(3) {
		return "append(" + base + ", " + g.expr(sliceOf(c.elem), d) + "...)"
	}
	return "append(" + base + ", " + g.expr(c.elem, d) + ")"
}

// hoist declares a variable before the statement at hand, initialised with a
// function, and names it. A branch that is not taken calls it, so that every
// function is called somewhere.
func (g *gen) hoist(c *typ, x string) string {
	name := g.name("c")
	var zs []string
	for _, p := range c.params {
		zs = append(zs, zero(p))
	}
	fmt.Fprintf(g.before, "%s := %s\nif calls < 0 {\n%s(%s)\n}\n", name, x, name, strings.Join(zs, ", "))
	return name
}

// funcValue returns a function of type t: a literal, a method value or
// expression, or a declared function.
func (g *gen) funcValue(t *typ, d int) string {
	c := t.core()
	if g.before == nil {
		return "(" + t.s + ")(nil)"
	}
	if g.chance(3) {
		for _, m := range g.methods {
			if signature(m.params, m.results) != signature(c.params, c.results) {
				continue
			}
			for _, v := range g.scope {
				if g.methodSet(v.t)[m.name] {
					return t.s + "(" + g.hoist(c, v.name+"."+m.name) + ")"
				}
			}
		}
	}
	if g.chance(3) {
		for _, f := range g.funcs {
			if !f.variadic && signature(f.params, f.results) == signature(c.params, c.results) {
				return t.s + "(" + f.name + ")"
			}
		}
	}
	if d <= 0 || g.nest > 3 {
		return "(" + t.s + ")(nil)"
	}
	return g.hoist(c, g.literal(c, 1))
}

// literal returns a function literal with a body of about n statements.
func (g *gen) literal(c *typ, n int) string {
	var b strings.Builder
	saved := len(g.scope)
	g.nest++
	b.WriteString("func(")
	for i, p := range c.params {
		name := g.name("q")
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + " " + p.s)
		g.declare(name, p)
	}
	b.WriteString(") ")
	var rs []string
	for _, r := range c.results {
		name := g.name("r")
		rs = append(rs, name+" "+r.s)
		g.declare(name, r)
	}
	if len(rs) > 0 {
		b.WriteString("(" + strings.Join(rs, ", ") + ") ")
	}
	b.WriteString("{\n")
	g.enter(&b)
	g.stmts(&b, n)
	if len(rs) > 0 {
		g.hoisting(&b, func(b *strings.Builder) { b.WriteString("return " + g.list(c.results, 1) + "\n") })
	}
	b.WriteString("}")
	g.nest--
	g.scope = g.scope[:saved]
	return b.String()
}

// call returns a call whose one result is of type t, or "".
func (g *gen) call(t *typ, d int) string {
	var cs []func() string
	one := func(rs []*typ) bool { return len(rs) == 1 && rs[0].s == t.s }
	for _, f := range g.funcs {
		if one(f.results) {
			cs = append(cs, func() string { return f.name + "(" + g.args(f, d) + ")" })
		}
	}
	for _, v := range g.places() {
		if c := v.t.core(); c.kind == function && one(c.results) {
			cs = append(cs, func() string { return v.name + "(" + g.list(c.params, d) + ")" })
		}
		if v.t.kind == pointer && v.t.elem.kind == generic && v.t.elem.elem.s == t.s {
			cs = append(cs, func() string { return v.name + ".Get()" })
		}
		set := g.methodSet(v.t)
		for _, m := range g.methods {
			if set[m.name] && one(m.results) {
				cs = append(cs, func() string { return v.name + "." + m.name + "(" + g.list(m.params, d) + ")" })
			}
		}
	}
	if len(cs) == 0 {
		return ""
	}
	return cs[g.rng.IntN(len(cs))]()
}

func (g *gen) args(f *fn, d int) string {
	if !f.variadic {
		return g.list(f.params, d)
	}
	last := f.params[len(f.params)-1]
	s := g.list(f.params[:len(f.params)-1], d)
	if s != "" {
		s += ", "
	}
	if g.chance(2) {
		return s + g.expr(last, d) + "..."
	}
	return s + g.expr(last.elem, d)
}
