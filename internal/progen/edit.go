package progen

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"math/rand/v2"
	"slices"
	"strings"
)

// editor changes the text of a program at places that its syntax tree gives.
// Offsets are those of the text before all edits.
type editor struct {
	p     *Program
	rng   *rand.Rand
	lists []list
	edits []edit
}

// A list is a sequence of statements that can gain and lose some.
type list struct {
	stmts []ast.Stmt
	end   int           // offset where one more statement can go
	decl  *ast.FuncDecl // function that contains it
	loop  ast.Stmt      // loop whose body it is, or nil
}

type edit struct {
	from, to int
	text     string
}

func newEditor(p *Program, rng *rand.Rand) *editor {
	e := &editor{p: p, rng: rng}
	for _, d := range e.funcs() {
		var loop ast.Stmt
		ast.Inspect(d.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt:
				loop = n
			case *ast.RangeStmt:
				loop = n
			case *ast.BlockStmt:
				l := list{stmts: n.List, end: e.off(n.Rbrace), decl: d}
				switch s := loop.(type) {
				case *ast.ForStmt:
					if s.Body == n {
						l.loop = s
					}
				case *ast.RangeStmt:
					if s.Body == n {
						l.loop = s
					}
				}
				if len(n.List) > 0 {
					if _, ok := n.List[0].(*ast.CommClause); ok {
						return true // body of a select
					}
				}
				e.lists = append(e.lists, l)
			case *ast.CommClause:
				e.lists = append(e.lists, list{stmts: n.Body, end: e.off(n.End()), decl: d})
			}
			return true
		})
	}
	return e
}

// funcs lists the functions of the program but for the built-in ones.
func (e *editor) funcs() []*ast.FuncDecl {
	var fs []*ast.FuncDecl
	for _, d := range e.p.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			if d.Recv != nil || d.Name.Name != "maybe" && d.Name.Name != "use" {
				fs = append(fs, d)
			}
		}
	}
	return fs
}

func (e *editor) off(p token.Pos) int { return e.p.fset.Position(p).Offset }

func (e *editor) text(n ast.Node) string { return e.p.src[e.off(n.Pos()):e.off(n.End())] }

func (e *editor) replace(n ast.Node, text string) {
	e.edits = append(e.edits, edit{e.off(n.Pos()), e.off(n.End()), text})
}

// insert puts a statement before number i of the list, or at its end.
func (e *editor) insert(l list, i int, text string) {
	at := l.end
	if i < len(l.stmts) {
		at = e.off(l.stmts[i].Pos())
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if i >= len(l.stmts) {
		text = "\n" + text
	}
	e.edits = append(e.edits, edit{at, at, text})
}

// insertInMain puts a statement at a random place of main's body.
func (e *editor) insertInMain(text string) bool {
	for _, l := range e.lists {
		if l.decl.Name.Name == "main" && len(l.decl.Body.List) == len(l.stmts) && l.end == e.off(l.decl.Body.Rbrace) {
			e.insert(l, e.rng.IntN(len(l.stmts)+1), text)
			return true
		}
	}
	return false
}

// result returns the text after all edits.
func (e *editor) result() string {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for _, ed := range e.edits {
		if ed.from < at {
			continue // overlaps an earlier one
		}
		b.WriteString(e.p.src[at:ed.from])
		b.WriteString(ed.text)
		at = ed.to
	}
	b.WriteString(e.p.src[at:])
	return b.String()
}

// squeeze removes the empty lines inside declarations.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	out := lines[:0]
	for i, l := range lines {
		if strings.TrimSpace(l) == "" && i+1 < len(lines) {
			next := lines[i+1]
			if next == "" || strings.TrimLeft(next, "\t }") != next {
				continue
			}
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// place is a statement in a list.
type place struct {
	l list
	i int
}

func (p place) stmt() ast.Stmt { return p.l.stmts[p.i] }

// places lists the statements that satisfy ok.
func (e *editor) places(ok func(ast.Stmt) bool) []place {
	var out []place
	for _, l := range e.lists {
		for i, s := range l.stmts {
			if ok(s) {
				out = append(out, place{l, i})
			}
		}
	}
	return out
}

// choose picks one element, and reports false if there is none.
func choose[T any](rng *rand.Rand, list []T) (T, bool) {
	if len(list) == 0 {
		var zero T
		return zero, false
	}
	return list[rng.IntN(len(list))], true
}

// methodCall returns the receiver and the method name of a statement x.m(...),
// perhaps deferred.
func methodCall(s ast.Stmt) (x ast.Expr, method string) {
	var call ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		call = s.X
	case *ast.DeferStmt:
		call = s.Call
	}
	if c, ok := call.(*ast.CallExpr); ok {
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
			return sel.X, sel.Sel.Name
		}
	}
	return nil, ""
}

// isSync reports whether s is a simple statement that synchronises.
func isSync(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.SendStmt, *ast.GoStmt:
		return true
	case *ast.ExprStmt:
		if u, ok := s.X.(*ast.UnaryExpr); ok {
			return u.Op == token.ARROW
		}
		if c, ok := s.X.(*ast.CallExpr); ok {
			id, ok := c.Fun.(*ast.Ident)
			return !ok || id.Name != "use"
		}
	case *ast.DeferStmt:
		return true
	}
	return false
}

// isAccess reports whether s is a simple statement that touches a variable.
func isAccess(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := c.Fun.(*ast.Ident)
		return ok && id.Name == "use"
	}
	return false
}

// topDecl is a declaration at package level.
type topDecl struct {
	names []string
	text  string
}

func topDecls(p *Program) []topDecl {
	e := &editor{p: p}
	var out []topDecl
	for _, d := range p.file.Decls {
		t := topDecl{text: e.text(d)}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil || d.Name.Name == "maybe" || d.Name.Name == "use" {
				continue
			}
			t.names = []string{d.Name.Name}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						t.names = append(t.names, n.Name)
					}
				case *ast.TypeSpec:
					t.names = append(t.names, s.Name.Name)
				}
			}
		}
		if len(t.names) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// renameTop returns the body of p with package-level names changed.
func renameTop(p *Program, names map[string]string) string {
	e := &editor{p: p}
	ast.Inspect(p.file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := p.info.Defs[id]
		if o == nil {
			o = p.info.Uses[id]
		}
		if to, ok := names[id.Name]; ok && o != nil && o.Parent() == p.pkg.Scope() {
			e.replace(id, to)
		}
		return true
	})
	return stripHeader(e.result())
}

// vars lists the uses of variables, in the order of the source.
func (e *editor) vars() []*ast.Ident {
	var out []*ast.Ident
	for _, d := range e.funcs() {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := e.p.info.Uses[id].(*types.Var); ok && !v.IsField() {
					out = append(out, id)
				}
			}
			return true
		})
	}
	return out
}
