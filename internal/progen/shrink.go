package progen

import (
	"errors"
	"go/ast"
	"go/types"
	"strings"
)

// Shrink removes declarations and statements from p, and braces around
// statements, as long as stillBad holds of the rest. It returns p itself if
// nothing can go. The function is asked only about programs of the subset.
func Shrink(p *Program, stillBad func(*Program) bool) *Program {
	for {
		q := shrinkOnce(p, stillBad)
		if q == nil {
			return p
		}
		p = q
	}
}

// shrinkOnce returns a smaller program that is still bad, or nil.
func shrinkOnce(p *Program, stillBad func(*Program) bool) *Program {
	for i := range reductions(newEditor(p, nil)) {
		e := newEditor(p, nil)
		reductions(e)[i]()
		q := repair(p.Name, e.result())
		if q != nil && len(q.src) < len(p.src) && stillBad(q) {
			q.Seed = p.Seed
			return q
		}
	}
	return nil
}

// reductions lists the edits that may make the program smaller, the largest
// pieces first.
func reductions(e *editor) []func() {
	var out []func()
	for _, d := range e.p.file.Decls {
		if f, ok := d.(*ast.FuncDecl); !ok || f.Recv != nil || f.Name.Name != "main" {
			out = append(out, func() { e.replace(d, "") })
		}
	}
	for _, l := range e.lists {
		for _, s := range l.stmts {
			out = append(out, func() { e.replace(s, "") })
		}
	}
	for _, l := range e.lists {
		for _, s := range l.stmts {
			var parts []ast.Node
			switch s := s.(type) {
			case *ast.IfStmt:
				parts = append(parts, s.Body)
				if s.Else != nil {
					parts = append(parts, s.Else)
				}
			case *ast.ForStmt:
				parts = append(parts, s.Body)
			case *ast.RangeStmt:
				parts = append(parts, s.Body)
			case *ast.BlockStmt:
				parts = append(parts, s)
			case *ast.GoStmt:
				if f, ok := s.Call.Fun.(*ast.FuncLit); ok {
					parts = append(parts, f.Body)
				}
			}
			for _, b := range parts {
				out = append(out, func() {
					text := e.text(b)
					text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
					e.replace(s, text)
				})
			}
		}
	}
	return out
}

// repair parses text, without the lines of variables that it declares and does
// not use. It returns nil if that is not enough.
func repair(name, text string) *Program {
	for range 5 {
		p, err := Parse(name, text)
		if err == nil {
			return p
		}
		var te types.Error
		if !errors.As(err, &te) || !strings.Contains(te.Msg, "declared and not used") {
			return nil
		}
		body, err := normalise(stripHeader(text)) // what the error is about
		if err != nil {
			return nil
		}
		lines := strings.Split(assemble(body), "\n")
		at := te.Fset.Position(te.Pos).Line
		text = strings.Join(append(lines[:at-1:at-1], lines[at:]...), "\n")
	}
	return nil
}
