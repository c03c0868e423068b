package observe

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// alias is the name under which instrumented files import the logger.
const alias = "bfobserve__"

// An edit replaces del bytes at off by text. At one place closing ones come
// first, and those that replace something last.
type edit struct {
	off, del int
	closing  bool
	text     string
}

func (e edit) rank() int {
	switch {
	case e.closing:
		return 0
	case e.del == 0:
		return 1
	}
	return 2
}

// A wrap is text around an expression.
type wrap struct{ open, close string }

// file instruments one file by inserting text into its lines, so that comments,
// directives and line numbers stay.
type file struct {
	plan  *Plan
	fset  *token.FileSet
	info  *types.Info
	src   []byte
	tf    *token.File
	edits []edit

	wraps   map[ast.Node][]wrap            // asked for by what is around a node, outermost first
	plain   map[ast.Node]bool              // results that must stay as they are: places, operands of syntax
	silent  map[ast.Node]bool              // nodes to leave alone with all that is in them
	part    map[ast.Node]bool              // *p of which a part or the address is taken: nothing is loaded there
	implied map[*ast.CompositeLit]ast.Expr // types of literals that do not say theirs
	calls   map[*ast.CallExpr]token.Pos
	funcs   []int // functions around the current node
}

// instrument returns the instrumented source of f.
func (p *Plan) instrument(fset *token.FileSet, info *types.Info, f *ast.File, src []byte) []byte {
	x := &file{
		plan: p, fset: fset, info: info, src: src, tf: fset.File(f.Package),
		wraps: map[ast.Node][]wrap{}, plain: map[ast.Node]bool{}, silent: map[ast.Node]bool{}, part: map[ast.Node]bool{},
		implied: map[*ast.CompositeLit]ast.Expr{}, calls: map[*ast.CallExpr]token.Pos{},
		funcs: []int{0},
	}
	x.insert(f.Name.End(), `; import `+alias+` "bfobserve"`)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil || directed(d.Doc) {
				continue
			}
			x.function(d, d.Name.Pos(), d.Recv, d.Type, d.Body)
		case *ast.GenDecl:
			if d.Tok == token.VAR && !directed(d.Doc) {
				x.walk(d)
			}
		}
	}
	return x.apply()
}

// directed reports whether the compiler is told something about a declaration.
func directed(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:") && !strings.HasPrefix(c.Text, "//go:noinline") {
			return true
		}
	}
	return false
}

func (x *file) pos(p token.Pos) token.Position { return x.fset.Position(p) }

func (x *file) insert(p token.Pos, text string) {
	x.edits = append(x.edits, edit{off: x.tf.Offset(p), text: text})
}

func (x *file) apply() []byte {
	slices.SortStableFunc(x.edits, func(a, b edit) int {
		return cmp.Or(a.off-b.off, a.rank()-b.rank())
	})
	var out bytes.Buffer
	at := 0
	for _, e := range x.edits {
		out.Write(x.src[at:e.off])
		out.WriteString(e.text)
		at = e.off + e.del
	}
	out.Write(x.src[at:])
	out.WriteString("\nvar _ = " + alias + ".Enter\n") // a file without code uses the import too
	return out.Bytes()
}

// use numbers a use.
func (x *file) use(pos token.Pos, role Role, index int) int {
	x.plan.Uses = append(x.plan.Uses, Use{x.pos(pos), role, index, x.funcs[len(x.funcs)-1]})
	return len(x.plan.Uses) - 1
}

// logger returns the function of the logger that logs values of type t, or "".
func logger(t types.Type) string {
	if t == nil {
		return ""
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if _, ok := types.Unalias(t).(*types.Pointer); ok {
			return "A"
		}
		return "P"
	case *types.Map, *types.Chan:
		return "P"
	case *types.Slice:
		return "S"
	case *types.Interface:
		return "I"
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			return "P"
		}
	}
	return ""
}

// observe asks for e to be logged.
func (x *file) observe(e ast.Expr, pos token.Pos, role Role, index int) {
	if f := logger(x.info.TypeOf(e)); f != "" && !x.constant(e) && !x.isNil(e) {
		x.wrap(e, fmt.Sprintf("%s.%s(%d, ", alias, f, x.use(pos, role, index)))
	}
}

func (x *file) wrap(e ast.Expr, open string) {
	x.wraps[e] = append(x.wraps[e], wrap{open, ")"})
}

func (x *file) constant(e ast.Expr) bool { return x.info.Types[e].Value != nil }
func (x *file) isNil(e ast.Expr) bool    { return x.info.Types[e].IsNil() }

// function instruments a function's body and logs its parameters.
func (x *file) function(n ast.Node, pos token.Pos, recv *ast.FieldList, typ *ast.FuncType, body *ast.BlockStmt) {
	x.plan.Funcs = append(x.plan.Funcs, x.pos(pos))
	id := len(x.plan.Funcs) - 1
	x.funcs = append(x.funcs, id)
	text := fmt.Sprintf(" %s.Enter(%d);", alias, id)
	index := 0
	for _, list := range []*ast.FieldList{recv, typ.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				t := x.info.TypeOf(name)
				if f := logger(t); f != "" && name.Name != "_" {
					text += fmt.Sprintf(" %s.%s(%d, %s);", alias, f, x.use(pos, Param, index), name.Name)
				}
				index++
			}
			if len(field.Names) == 0 {
				index++
			}
		}
	}
	x.insert(body.Lbrace+1, text)
	x.walk(body)
	x.funcs = x.funcs[:len(x.funcs)-1]
}

// walk instruments what is in n. Wraps around a node open before and close
// after everything within it.
func (x *file) walk(n ast.Node) {
	var stack []ast.Node
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			n = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			ws := x.wraps[n]
			for i := len(ws) - 1; i >= 0; i-- {
				x.edits = append(x.edits, edit{off: x.tf.Offset(n.End()), closing: true, text: ws[i].close})
			}
			return true
		}
		if x.silent[n] {
			return false
		}
		if e, ok := n.(ast.Expr); ok {
			if tv := x.info.Types[e]; tv.IsType() || tv.Value != nil {
				return false
			}
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			x.open(n)
			x.function(n, n.Type.Func, nil, n.Type, n.Body)
			for i := len(x.wraps[n]) - 1; i >= 0; i-- {
				x.edits = append(x.edits, edit{off: x.tf.Offset(n.End()), closing: true, text: x.wraps[n][i].close})
			}
			return false
		case *ast.Ident, *ast.BasicLit:
		default:
			x.node(n)
		}
		x.open(n)
		stack = append(stack, n)
		return true
	})
}

func (x *file) open(n ast.Node) {
	for _, w := range x.wraps[n] {
		x.insert(n.Pos(), w.open)
	}
}
