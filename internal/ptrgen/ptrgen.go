package ptrgen

import (
	"fmt"
	"go/format"
	"math/rand/v2"
	"strings"
)

// Config switches on what some analyses are known to differ in.
type Config struct {
	Full    bool // append to slices whose length is known to be their capacity
	Structs bool // conversions of struct values, not of pointers to them
	Size    int  // statements of a function, about; 0 means 3
}

// gen is the state of one generation.
type gen struct {
	cfg      Config
	rng      *rand.Rand
	structs  []*typ
	alike    *typ // a struct with the underlying type of structs[0]
	ifaces   []*typ
	named    []*typ
	generics []*typ
	pool     []*typ
	methods  []method
	funcs    []*fn
	scope    []variable
	memory   map[string]bool  // names of globals and parameters
	before   *strings.Builder // where functions are hoisted to; nil where they cannot be
	asserts  bool
	nest     int
	n        int
}

type fn struct {
	name     string
	params   []*typ
	results  []*typ
	variadic bool
}

func (g *gen) pick(ts []*typ) *typ { return ts[g.rng.IntN(len(ts))] }

// chance is true once in n times.
func (g *gen) chance(n int) bool { return g.rng.IntN(n) == 0 }

func (g *gen) name(prefix string) string {
	g.n++
	return fmt.Sprint(prefix, g.n)
}

func (g *gen) declare(name string, t *typ) {
	g.scope = append(g.scope, variable{name: name, t: t})
}

// enter writes what bounds the calls of a run.
func (g *gen) enter(b *strings.Builder) {
	b.WriteString("if calls++; calls > 300 {\nreturn\n}\n")
}

// Program returns the source of package main for a seed. Equal arguments give
// equal programs; each compiles. Cost: milliseconds.
func Program(seed uint64, cfg Config) string {
	if cfg.Size == 0 {
		cfg.Size = 3
	}
	g := &gen{cfg: cfg, rng: rand.New(rand.NewPCG(seed, 0x5851f42d4c957f2d)), memory: map[string]bool{}}
	g.makeTypes()
	g.alike = &typ{kind: structure, s: "A0", fields: g.structs[0].fields}
	g.pool = append(g.pool, ptr(g.alike))
	if cfg.Structs {
		g.pool = append(g.pool, g.alike)
	}
	g.asserts = g.chance(2)
	for i := range 3 + g.rng.IntN(3) {
		f := &fn{name: fmt.Sprint("f", i)}
		for range 1 + g.rng.IntN(3) {
			f.params = append(f.params, g.pick(g.pool))
		}
		f.results = append(f.results, g.pick(g.pool))
		if g.chance(4) {
			f.variadic = true
			f.params = append(f.params, sliceOf(g.pick(g.pool)))
		}
		g.funcs = append(g.funcs, f)
	}
	var b strings.Builder
	b.WriteString("package main\n\nvar calls int\n")
	g.types(&b)
	b.WriteString(prelude)
	g.globals(&b)
	for _, f := range g.funcs {
		b.WriteString("\nfunc " + f.name)
		g.body(&b, f.params, f.results, f.variadic, nil)
	}
	for _, s := range g.structs {
		for i, name := range s.methods {
			recv := s
			if !s.valued[i] {
				recv = ptr(s)
			}
			m := g.method(name)
			fmt.Fprintf(&b, "\nfunc (recv %s) %s", recv.s, name)
			g.body(&b, m.params, m.results, false, recv)
		}
	}
	g.main(&b)
	src, err := format.Source([]byte(b.String()))
	if err != nil {
		panic(fmt.Sprintf("ptrgen: seed %d: %v\n%s", seed, err, b.String()))
	}
	return string(src)
}

// prelude is in every program.
const prelude = `
type I0 interface{ M0(*int) *int }
type I1 interface {
	I0
	M1(*S0, *int) (*S0, *int)
}
type I2 interface{ M2() interface{} }
type I3 interface{ M3(S1) *S1 }

type G[T interface{}] struct {
	v    T
	next *G[T]
}

func (g *G[T]) Get() T {
	if g.next != nil {
		return g.next.v
	}
	return g.v
}

func link[T interface{}](v T, next *G[T]) *G[T] { return &G[T]{v: v, next: next} }

func ident[T interface{}](x T) T { return x }

func each(s []*int) func(func(*int) bool) {
	return func(yield func(*int) bool) {
		for _, x := range s {
			if !yield(x) {
				return
			}
		}
	}
}

func maybe() bool {
	calls++
	return calls%3 != 0
}

func try(f func()) {
	defer func() { recover() }()
	f()
}

func caught(f func()) (e interface{}) {
	defer func() { e = recover() }()
	f()
	return nil
}
`

func (g *gen) types(b *strings.Builder) {
	for _, s := range append(g.structs[:len(g.structs):len(g.structs)], g.alike) {
		fmt.Fprintf(b, "type %s struct {\n", s.s)
		for _, f := range s.fields {
			if f.embedded {
				fmt.Fprintf(b, "%s\n", f.t.s)
			} else {
				fmt.Fprintf(b, "%s %s\n", f.name, f.t.s)
			}
		}
		b.WriteString("}\n")
	}
	for _, t := range g.named {
		fmt.Fprintf(b, "type %s %s\n", t.s, t.under.s)
	}
}

// globals declares variables. Initialisers use those before them, and no function
// that could use the variable itself.
func (g *gen) globals(b *strings.Builder) {
	funcs, methods := g.funcs, g.methods
	g.funcs, g.methods = nil, nil
	for range 4 {
		t := g.pick(g.pool)
		name := g.name("g")
		x := ""
		if g.chance(2) {
			g.nest = 9
			d := 0
			if g.chance(4) {
				d = 2 // which may panic
			}
			x = " = " + g.expr(t, d)
			g.nest = 0
		}
		fmt.Fprintf(b, "var %s %s%s\n", name, t.s, x)
		g.declare(name, t)
		g.memory[name] = true
	}
	g.funcs, g.methods = funcs, methods
}

func (g *gen) body(b *strings.Builder, params, results []*typ, variadic bool, recv *typ) {
	saved := len(g.scope)
	if recv != nil {
		g.declare("recv", recv)
	}
	b.WriteString("(")
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		name := g.name("p")
		s := p.s
		if variadic && i == len(params)-1 {
			s = "..." + p.elem.s
		}
		b.WriteString(name + " " + s)
		g.declare(name, p)
	}
	b.WriteString(") (")
	var names []string
	for _, r := range results {
		name := g.name("r")
		b.WriteString(name + " " + r.s + ", ")
		names = append(names, name)
		g.declare(name, r)
	}
	b.WriteString(") {\n")
	g.enter(b)
	if g.chance(3) {
		g.hoisting(b, func(b *strings.Builder) {
			fmt.Fprintf(b, "defer func() {\n%s = %s\n}()\n", names[0], g.expr(results[0], 1))
		})
	}
	g.stmts(b, g.cfg.Size)
	g.hoisting(b, func(b *strings.Builder) { fmt.Fprintf(b, "return %s\n}\n", g.list(results, 2)) })
	g.scope = g.scope[:saved]
}

func (g *gen) main(b *strings.Builder) {
	b.WriteString("\nfunc main() {\n")
	g.round(b)
	b.WriteString("try(func() {\n")
	g.stmts(b, 3)
	b.WriteString("})\n")
	// Methods that nothing calls are called here, of all kinds.
	b.WriteString("if calls < 0 {\n")
	for _, s := range g.structs {
		for _, m := range s.methods {
			var zs []string
			for _, p := range g.method(m).params {
				zs = append(zs, zero(p))
			}
			fmt.Fprintf(b, "new(%s).%s(%s)\n", s.s, m, strings.Join(zs, ", "))
		}
	}
	for _, t := range g.generics {
		fmt.Fprintf(b, "new(%s).Get()\n", t.s)
	}
	b.WriteString("}\n")
	// And each function again, with what the first round left.
	g.round(b)
	b.WriteString("}\n")
}

// round calls each function.
func (g *gen) round(b *strings.Builder) {
	for _, f := range g.funcs {
		b.WriteString("calls = 0\ntry(func() {\n")
		g.hoisting(b, func(b *strings.Builder) { fmt.Fprintf(b, "_ = %s(%s)\n", f.name, g.args(f, 2)) })
		b.WriteString("})\n")
	}
}
