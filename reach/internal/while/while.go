// Package while is the language WHILE of Naik and Aiken, Conditional must not
// aliasing for static race detection, POPL 2007: its syntax (Figure 3), its
// semantics as an interpreter (Figures 4 and 5), its types and effects (Figures
// 6 to 8), and disjoint reachability (Figure 9), letter by letter.
//
// It is the plain twin of package reach: slow, and close to the paper's text, so
// that the theorems can be tested on random programs, and package reach against
// it.
//
// Terms: a variable, field, site or loop is a small integer; -1 as a site is
// the paper's top. Rules are cited by the numbers of the paper.
package while

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Program is a statement over variables, fields, allocation sites and loops
// numbered from zero. Each site and each loop stands in it once.
type Program struct {
	Vars, Fields, Sites, Loops int
	Body                       Stmt
}

// Stmt is a statement of Figure 3.
type Stmt interface {
	text(b *strings.Builder, indent string)
}

// The statements: x = null, x = new h, x = y, x = y.f, x.f = y, a sequence,
// if (*) then else, and while_w (*) do.
type (
	Null  struct{ X int }
	New   struct{ X, H int }
	Copy  struct{ X, Y int }
	Load  struct{ X, Y, F int }
	Store struct{ X, F, Y int }
	Seq   []Stmt
	If    struct{ Then, Else Stmt }
	While struct {
		W    int
		Body Stmt
	}
)

func line(b *strings.Builder, indent, format string, args ...any) {
	fmt.Fprintf(b, indent+format+"\n", args...)
}

func (s Null) text(b *strings.Builder, in string)  { line(b, in, "x%d = null", s.X) }
func (s New) text(b *strings.Builder, in string)   { line(b, in, "x%d = new h%d", s.X, s.H) }
func (s Copy) text(b *strings.Builder, in string)  { line(b, in, "x%d = x%d", s.X, s.Y) }
func (s Load) text(b *strings.Builder, in string)  { line(b, in, "x%d = x%d.f%d", s.X, s.Y, s.F) }
func (s Store) text(b *strings.Builder, in string) { line(b, in, "x%d.f%d = x%d", s.X, s.F, s.Y) }
func (s Seq) text(b *strings.Builder, in string) {
	for _, t := range s {
		t.text(b, in)
	}
}
func (s If) text(b *strings.Builder, in string) {
	line(b, in, "if (*) {")
	s.Then.text(b, in+"\t")
	line(b, in, "} else {")
	s.Else.text(b, in+"\t")
	line(b, in, "}")
}
func (s While) text(b *strings.Builder, in string) {
	line(b, in, "while%d (*) {", s.W)
	s.Body.text(b, in+"\t")
	line(b, in, "}")
}

// String prints the program in the paper's syntax.
func (p *Program) String() string {
	var b strings.Builder
	p.Body.text(&b, "")
	return b.String()
}

// Generate returns a random program of about size statements. Equal seeds give
// equal programs.
func Generate(seed uint64, size int) *Program {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 1)), p: &Program{Vars: 2 + int(seed%4), Fields: 1 + int(seed/4%2)}, left: size}
	g.p.Body = g.seq(0)
	return g.p
}

type generator struct {
	rng  *rand.Rand
	p    *Program
	left int
}

func (g *generator) seq(depth int) Stmt {
	var out Seq
	for range 1 + g.rng.IntN(5) {
		if g.left <= 0 {
			break
		}
		g.left--
		out = append(out, g.stmt(depth))
	}
	return out
}

func (g *generator) stmt(depth int) Stmt {
	v := func() int { return g.rng.IntN(g.p.Vars) }
	f := func() int { return g.rng.IntN(g.p.Fields) }
	k := g.rng.IntN(20)
	switch {
	case k < 6:
		g.p.Sites++
		return New{v(), g.p.Sites - 1}
	case k < 11:
		return Store{v(), f(), v()}
	case k < 12:
		return Load{v(), v(), f()}
	case k < 13:
		return Copy{v(), v()}
	case k < 14:
		return Null{v()}
	case depth > 3:
		return Store{v(), f(), v()}
	case k < 16:
		return If{g.seq(depth + 1), g.seq(depth + 1)}
	}
	w := g.p.Loops
	g.p.Loops++
	g.left += 2
	return While{w, g.seq(depth + 1)}
}

// Go returns the program as the body of a Go function: variables are local
// pointers of type *obj with fields f0, f1 ..., more() decides branches, and a
// step that the semantics does not have (a field of null) returns. The line of
// site h ends in the comment "site name.h".
func (p *Program) Go(name string) string {
	var b strings.Builder
	for x := range p.Vars {
		line(&b, "\t", "var x%d *obj", x)
	}
	for x := range p.Vars {
		line(&b, "\t", "_ = x%d", x)
	}
	p.goStmt(&b, p.Body, name, "\t")
	return b.String()
}

func (p *Program) goStmt(b *strings.Builder, s Stmt, name, in string) {
	switch s := s.(type) {
	case Null:
		line(b, in, "x%d = nil", s.X)
	case New:
		line(b, in, "x%d = new(obj) // site %s.%d", s.X, name, s.H)
	case Copy:
		line(b, in, "x%d = x%d", s.X, s.Y)
	case Load:
		line(b, in, "if x%d == nil {", s.Y)
		line(b, in, "\treturn")
		line(b, in, "}")
		line(b, in, "x%d = x%d.f%d", s.X, s.Y, s.F)
	case Store:
		line(b, in, "if x%d == nil {", s.X)
		line(b, in, "\treturn")
		line(b, in, "}")
		line(b, in, "x%d.f%d = x%d", s.X, s.F, s.Y)
	case Seq:
		for _, t := range s {
			p.goStmt(b, t, name, in)
		}
	case If:
		line(b, in, "if more() {")
		p.goStmt(b, s.Then, name, in+"\t")
		line(b, in, "} else {")
		p.goStmt(b, s.Else, name, in+"\t")
		line(b, in, "}")
	case While:
		line(b, in, "for more() {")
		p.goStmt(b, s.Body, name, in+"\t")
		line(b, in, "}")
	}
}
