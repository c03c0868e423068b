package guards

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/bfverify/bfverify/export"
)

// annotation is how gVisor's checklocks marks what a lock guards:
// https://pkg.go.dev/gvisor.dev/gvisor/tools/checklocks.
const annotation = "+checklocks:"

// Unsaid is a location that Annotate leaves alone, and why.
type Unsaid struct {
	Guarded *Guarded
	Why     string
}

// Patch returns what Annotate does to a file as a unified diff, "" for nothing. name
// is what the diff calls the file, relative to where it is to be applied.
func Patch(name string, src []byte, list []*Guarded) (patch string, left []Unsaid, err error) {
	out, left, err := Annotate(src, list)
	if err != nil || bytes.Equal(src, out) {
		return "", left, err
	}
	d := diff.Diff("a/"+name, src, "b/"+name, out)
	_, d, _ = bytes.Cut(d, []byte("\n")) // "diff a/name b/name" is no header that git knows
	return string(d), left, nil
}

// Annotate writes a line "// +checklocks:LOCK" above the declaration of each field
// of a source file that a lock guards at all shared accesses. Fields are found by
// their positions; a file that gofmt has formatted stays so. What the checker cannot be told, or has been told already, is
// left as it is. An error is one of the parser.
func Annotate(src []byte, list []*Guarded) (out []byte, left []Unsaid, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	fields := map[export.Pos]*ast.Field{} // by where a name stands
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok {
			if t, ok := s.Type.(*ast.StructType); ok {
				for _, f := range t.Fields.List {
					for _, p := range names(f) {
						at := fset.PositionFor(p, false)
						fields[export.Pos{Line: at.Line, Col: at.Column}] = f
					}
				}
			}
		}
		return true
	})
	of := map[*ast.Field][]*Guarded{}
	var order []*ast.Field
	for _, g := range list {
		f := fields[export.Pos{Line: g.Pos.Line, Col: g.Pos.Col}]
		if f == nil {
			left = append(left, Unsaid{g, "it is no field of a struct type that has a name"})
			continue
		}
		if of[f] == nil {
			order = append(order, f)
		}
		of[f] = append(of[f], g)
	}
	slices.SortFunc(order, func(a, b *ast.Field) int { return int(a.Pos() - b.Pos()) })
	end := "\n"
	if bytes.Contains(src, []byte("\r\n")) {
		end = "\r\n"
	}
	var b bytes.Buffer
	done := 0
	for _, f := range order {
		start := fset.PositionFor(f.Pos(), false).Offset
		line := bytes.LastIndexByte(src[:start], '\n') + 1
		indent := src[line:start]
		if why := refuse(f, of[f], indent); why != "" {
			for _, g := range of[f] {
				left = append(left, Unsaid{g, why})
			}
			continue
		}
		b.Write(src[done:line])
		if f.Doc != nil && !strings.HasPrefix(f.Doc.List[len(f.Doc.List)-1].Text, "// +") {
			fmt.Fprintf(&b, "%s//%s", indent, end)
		}
		fmt.Fprintf(&b, "%s// %s%s%s", indent, annotation, of[f][0].Expr, end)
		done = line
	}
	b.Write(src[done:])
	out = b.Bytes()
	if pretty, err := format.Source(src); err == nil && bytes.Equal(pretty, src) {
		if pretty, err = format.Source(out); err == nil { // fields line up anew
			out = pretty
		}
	}
	return out, left, nil
}

// names returns where the names of a field stand; the name of an embedded one is the
// last element of its type.
func names(f *ast.Field) []token.Pos {
	var out []token.Pos
	for _, n := range f.Names {
		out = append(out, n.Pos())
	}
	if len(out) > 0 {
		return out
	}
	t := f.Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.SelectorExpr:
			return []token.Pos{x.Sel.Pos()}
		default:
			return []token.Pos{t.Pos()}
		}
	}
}

// refuse says why a declaration gets no annotation, "" if it gets one.
func refuse(f *ast.Field, gs []*Guarded, indent []byte) string {
	for _, doc := range []*ast.CommentGroup{f.Doc, f.Comment} {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.Contains(c.Text, "+checklocks") {
				return "it has an annotation"
			}
			if doc == f.Doc && strings.HasPrefix(c.Text, "/*") {
				return "its comment is no line comment"
			}
		}
	}
	switch {
	case len(bytes.TrimSpace(indent)) > 0:
		return "it is declared with others on one line"
	case len(gs) < len(names(f)):
		return fmt.Sprintf("it is declared together with others (%s), and not all of these are guarded so", join(f))
	}
	for _, g := range gs[1:] {
		if g.Expr != gs[0].Expr {
			return fmt.Sprintf("it is declared together with others (%s), and these are not guarded alike", join(f))
		}
	}
	return ""
}

// join lists the names of a field.
func join(f *ast.Field) string {
	var ns []string
	for _, n := range f.Names {
		ns = append(ns, n.Name)
	}
	return strings.Join(ns, ", ")
}
