package ptrgen

import (
	"fmt"
	"strings"
)

// stmts writes about n statements in a scope of their own.
func (g *gen) stmts(b *strings.Builder, n int) {
	saved := len(g.scope)
	for range n {
		if g.chance(2) { // what panics ends here
			b.WriteString("try(func() {\n")
			inner := len(g.scope)
			g.hoisting(b, g.stmt)
			g.scope = g.scope[:inner]
			b.WriteString("})\n")
			continue
		}
		g.hoisting(b, g.stmt)
	}
	g.scope = g.scope[:saved]
}

// hoisting writes a statement after what its expressions hoist.
func (g *gen) hoisting(b *strings.Builder, stmt func(b *strings.Builder)) {
	var before, s strings.Builder
	saved := g.before
	g.before = &before
	stmt(&s)
	g.before = saved
	b.WriteString(before.String())
	b.WriteString(s.String())
}

// let writes a declaration and returns the variable.
func (g *gen) let(b *strings.Builder, t *typ) string {
	name := g.name("v")
	x := g.expr(t, 2)
	if g.chance(3) {
		fmt.Fprintf(b, "var %s %s\n_ = %s\ntry(func() { %s = %s })\n", name, t.s, name, name, x)
	} else {
		fmt.Fprintf(b, "var %s %s = %s\n_ = %s\n", name, t.s, x, name)
	}
	g.declare(name, t)
	return name
}

func (g *gen) stmt(b *strings.Builder) {
	g.nest++
	defer func() { g.nest-- }()
	if g.nest > 5 {
		g.let(b, g.pick(g.pool))
		return
	}
	switch r := g.rng.IntN(40); {
	case r < 9:
		g.let(b, g.pick(g.pool))
	case r < 19: // an assignment
		t := g.pick(g.pool)
		if p := g.place(t, assign); p != "" {
			fmt.Fprintf(b, "%s = %s\n", p, g.expr(t, 2))
			return
		}
		g.let(b, t)
	case r < 21:
		fmt.Fprintf(b, "if maybe() {\n")
		g.stmts(b, 2)
		fmt.Fprintf(b, "} else {\n")
		g.stmts(b, 1)
		fmt.Fprintf(b, "}\n")
	case r < 23:
		i := g.name("i")
		fmt.Fprintf(b, "for %s := 0; %s < 2; %s++ {\n", i, i, i)
		saved := len(g.scope)
		g.declare(i, intT)
		g.scope[saved].fixed = true
		g.stmts(b, 2)
		g.scope = g.scope[:saved]
		fmt.Fprintf(b, "}\n")
	case r < 26:
		g.rangeStmt(b)
	case r < 29:
		g.typeSwitch(b)
	case r < 32:
		g.channelStmt(b)
	case r < 34:
		g.copyStmt(b)
	case r < 35: // a method expression
		for _, v := range g.scope {
			set := g.methodSet(v.t)
			for _, m := range g.methods {
				if set[m.name] && g.chance(2) {
					x := g.name("e")
					fmt.Fprintf(b, "%s := (%s).%s\n%s(%s)\n", x, v.t.s, m.name, x, g.list(append([]*typ{v.t}, m.params...), 1))
					return
				}
			}
		}
		g.let(b, g.pick(g.pool))
	case r < 36: // several results
		for _, m := range g.methods {
			if len(m.results) != 2 {
				continue
			}
			for _, v := range g.scope {
				if g.methodSet(v.t)[m.name] {
					x, y := g.name("v"), g.name("v")
					fmt.Fprintf(b, "%s, %s := %s.%s(%s)\n_, _ = %s, %s\n", x, y, v.name, m.name, g.list(m.params, 1), x, y)
					g.declare(x, m.results[0])
					g.declare(y, m.results[1])
					return
				}
			}
		}
		g.let(b, g.pick(g.pool))
	case r < 37:
		fmt.Fprintf(b, "go %s()\n", g.literal(funcOf(nil, nil), 1))
	case r < 38:
		fmt.Fprintf(b, "defer %s(%s)\n", g.literal(funcOf([]*typ{g.structs[1]}, nil), 1), g.expr(g.structs[1], 1))
	case r < 39: // a value that is recovered
		x := g.name("v")
		fmt.Fprintf(b, "%s := caught(func() {\nif maybe() {\npanic(%s)\n}\n", x, g.typed(g.pick(g.pool), 1))
		g.stmts(b, 1)
		fmt.Fprintf(b, "})\n_ = %s\n", x)
		g.declare(x, g.ifaces[0])
	default:
		fmt.Fprintf(b, "try(%s)\n", g.literal(funcOf(nil, nil), 3))
	}
}

func (g *gen) rangeStmt(b *strings.Builder) {
	saved := len(g.scope)
	var over []variable
	for _, v := range g.places() {
		switch v.t.core().kind {
		case slice, array, mapping:
			over = append(over, v)
		}
	}
	if g.chance(4) {
		x := g.name("v")
		fmt.Fprintf(b, "for %s := range each(%s) {\n_ = %s\n", x, g.expr(sliceOf(ptr(intT)), 1), x)
		g.declare(x, ptr(intT))
	} else {
		if len(over) == 0 {
			return
		}
		v := over[g.rng.IntN(len(over))]
		c := v.t.core()
		k, x := g.name("k"), g.name("v")
		fmt.Fprintf(b, "for %s, %s := range %s {\n_, _ = %s, %s\n", k, x, v.name, k, x)
		if c.kind == mapping {
			g.declare(k, c.key)
		}
		g.declare(x, c.elem)
	}
	g.stmts(b, 2)
	g.scope = g.scope[:saved]
	fmt.Fprintf(b, "}\n")
}

func (g *gen) typeSwitch(b *strings.Builder) {
	from := g.pick(g.ifaces)
	x := g.name("x")
	fmt.Fprintf(b, "switch %s := %s.(type) {\n", x, g.typed(from, 2))
	seen := map[string]bool{}
	for range 3 {
		t := g.pick(g.pool)
		if seen[t.s] || t.kind != iface && len(from.methods) > 0 && !g.implements(t, from) {
			continue
		}
		seen[t.s] = true
		fmt.Fprintf(b, "case %s:\n_ = %s\n", t.s, x)
		saved := len(g.scope)
		g.declare(x, t)
		g.stmts(b, 2)
		g.scope = g.scope[:saved]
	}
	fmt.Fprintf(b, "default:\n_ = %s\n}\n", x)
}

func (g *gen) channelStmt(b *strings.Builder) {
	var chans []variable
	for _, v := range g.places() {
		if v.t.kind == channel {
			chans = append(chans, v)
		}
	}
	if len(chans) == 0 {
		g.let(b, chanOf(ptr(intT)))
		return
	}
	one := func() variable { return chans[g.rng.IntN(len(chans))] }
	fmt.Fprintf(b, "select {\n")
	for range 1 + g.rng.IntN(2) {
		c := one()
		if g.chance(2) {
			fmt.Fprintf(b, "case %s <- %s:\n", c.name, g.expr(c.t.elem, 1))
			continue
		}
		x := g.name("v")
		fmt.Fprintf(b, "case %s := <-%s:\n_ = %s\n", x, c.name, x)
		saved := len(g.scope)
		g.declare(x, c.t.elem)
		g.stmts(b, 2)
		g.scope = g.scope[:saved]
	}
	fmt.Fprintf(b, "default:\n}\n")
}

func (g *gen) copyStmt(b *strings.Builder) {
	var ss []variable
	for _, v := range g.places() {
		if v.t.kind == slice {
			ss = append(ss, v)
		}
	}
	if len(ss) == 0 {
		g.let(b, sliceOf(ptr(intT)))
		return
	}
	v := ss[g.rng.IntN(len(ss))]
	switch g.rng.IntN(3) {
	case 0:
		fmt.Fprintf(b, "copy(%s, %s)\n", v.name, g.expr(v.t, 2))
	case 1:
		if v.slot || g.memory[v.name] {
			fmt.Fprintf(b, "%s = append(%s, %s)\n", v.name, v.name, g.expr(v.t.elem, 2))
		}
	default:
		fmt.Fprintf(b, "%s = %s[0:1]\n", v.name, v.name)
	}
}
