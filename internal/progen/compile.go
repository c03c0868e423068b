package progen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// An UnsupportedError reports a construct outside the subset.
type UnsupportedError struct {
	Line int
	What string
}

// Error names the line and the construct.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("main.go:%d: %s is outside the subset of progen", e.Line, e.What)
}

// compiler turns a type-checked file into a machine.
type compiler struct {
	p      *Program
	m      *machine
	global map[types.Object]int  // package variables: number
	fn     map[types.Object]int  // functions and methods: code
	boxed  map[types.Object]bool // local variables that live in an object of their own
	synth  map[string]int        // operations wrapped as functions: code
	strs   map[string]int        // string constants: number
	values map[types.Object]bool // integer variables and fields whose value is looked at
	taken  map[string]bool       // classes of locations that have their address taken
	ids    map[types.Object]int  // numbers of variables and fields, for classes
	anyInt bool                  // some integer is looked at through a pointer, element or map
}

// compile makes the machine of p, whose file and info are set.
func compile(p *Program) (m *machine, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *UnsupportedError:
			m, err = nil, e
		default:
			panic(e)
		}
	}()
	c := &compiler{
		p: p, m: &machine{},
		global: map[types.Object]int{}, fn: map[types.Object]int{}, boxed: map[types.Object]bool{},
		taken: map[string]bool{}, ids: map[types.Object]int{}, synth: map[string]int{}, strs: map[string]int{}, values: map[types.Object]bool{},
	}
	c.survey()
	init := &function{c: c, code: c.newCode("init")}
	c.m.init = 0
	var bodies []*ast.FuncDecl
	for _, d := range p.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && (d.Name.Name == "maybe" || d.Name.Name == "use") {
				continue
			}
			if d.Recv == nil && d.Name.Name == "init" || d.Type.TypeParams != nil {
				c.fail(d, "func init or a generic function")
			}
			c.newCode(d.Name.Name)
			c.fn[p.info.Defs[d.Name]] = len(c.m.codes) - 1
			if d.Recv == nil && d.Name.Name == "main" {
				c.m.main = len(c.m.codes) - 1
			}
			bodies = append(bodies, d)
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, s := range d.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					obj := p.info.Defs[name]
					c.global[obj] = len(c.m.globals)
					c.m.globals = append(c.m.globals, c.size(obj.Type(), name))
				}
			}
		}
	}
	for _, in := range p.info.InitOrder {
		if len(in.Lhs) != 1 {
			c.fail(in.Rhs, "an initialiser of several variables")
		}
		init.emit(opGlobal, c.global[in.Lhs[0]], 0)
		init.fill(c.classVar(in.Lhs[0]), in.Lhs[0].Type(), in.Rhs, in.Lhs[0].Name())
	}
	init.emit(opRet, 0, 0)
	init.code.slots = 0
	for _, d := range bodies {
		if c.recursive(d) {
			c.fail(d, "a recursive function")
		}
		c.body(c.m.codes[c.fn[p.info.Defs[d.Name]]], nil, d.Recv, d.Type, d.Body)
	}
	c.m.foresee()
	return c.m, nil
}

func (c *compiler) fail(n ast.Node, what string) {
	panic(&UnsupportedError{c.p.fset.Position(n.Pos()).Line, what})
}

func (c *compiler) newCode(name string) *code {
	co := &code{name: name}
	c.m.codes = append(c.m.codes, co)
	return co
}

// access numbers an access at n. Tracked says that its value may decide what
// runs later.
func (c *compiler) access(kind Kind, n ast.Node, expr string, tracked bool) int {
	c.m.accs = append(c.m.accs, Access{len(c.m.accs), c.p.fset.Position(n.Pos()).Line, kind, expr})
	c.m.tracked = append(c.m.tracked, tracked)
	c.m.class = append(c.m.class, "")
	return len(c.m.accs) - 1
}

// accessOf is access for a location of a known class.
func (c *compiler) accessOf(class string, kind Kind, n ast.Node, expr string, tracked bool) int {
	id := c.access(kind, n, expr, tracked)
	c.m.class[id] = class
	return id
}

// syncName returns the name of t if t is a type of package sync or
// sync/atomic, and "" otherwise.
func syncName(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	switch n.Obj().Pkg().Path() {
	case "sync":
		return n.Obj().Name()
	case "sync/atomic":
		return "atomic." + n.Obj().Name()
	}
	return ""
}

// size returns the number of cells of a variable of type t.
func (c *compiler) size(t types.Type, at ast.Node) int {
	switch name := syncName(t); name {
	case "":
	case "RWMutex":
		return 4
	default:
		return 2
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		n := 0
		for f := range u.Fields() {
			n += c.size(f.Type(), at)
		}
		return n
	case *types.Array:
		return int(u.Len()) * c.size(u.Elem(), at)
	case *types.Basic:
		switch u.Kind() {
		case types.Int32, types.Int64:
			return 2 // like an atomic.Int32
		case types.Int, types.Bool:
			return 1
		}
		c.fail(at, "type "+t.String())
	case *types.Interface:
		if !u.Empty() {
			c.fail(at, "type "+t.String())
		}
	}
	return 1
}

// offset returns the first cell of field i of struct s.
func (c *compiler) offset(s *types.Struct, i int, at ast.Node) int {
	n := 0
	for j := range i {
		n += c.size(s.Field(j).Type(), at)
	}
	return n
}

// hasSync reports whether memory of type t contains a synchronisation object.
func hasSync(t types.Type) bool {
	if syncName(t) != "" {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if hasSync(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return hasSync(u.Elem())
	}
	return false
}

func isAggregate(t types.Type) bool {
	if syncName(t) != "" {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// survey finds, for the whole file, the local variables that need a box and
// the integers whose value matters.
func (c *compiler) survey() {
	info := c.p.info
	owner := map[types.Object]ast.Node{} // innermost function that declares it
	var walk func(n ast.Node, fn ast.Node)
	walk = func(root ast.Node, fn ast.Node) {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n != root {
					walk(n, n)
					return false
				}
			case *ast.FuncLit:
				if n != root {
					walk(n, n)
					return false
				}
			case *ast.Ident:
				if v, ok := info.Defs[n].(*types.Var); ok && !v.IsField() && v.Parent() != c.p.pkg.Scope() {
					owner[v] = fn
					if isAggregate(v.Type()) || c.size(v.Type(), n) != 1 {
						c.boxed[v] = true
					}
				}
				if v, ok := info.Uses[n].(*types.Var); ok && owner[v] != nil && owner[v] != fn {
					c.boxed[v] = true
				}
			case *ast.UnaryExpr:
				if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
					if v, ok := info.Uses[id].(*types.Var); ok {
						c.boxed[v] = true
					}
				}
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					if tv := info.TypeOf(l); tv != nil && hasSync(tv) {
						c.m.copies = true
					}
				}
			}
			return true
		})
	}
	walk(c.p.file, nil)
	c.surveyInts()
}

// surveyInts fills values and anyInt. An integer is looked at unless it is only
// passed to use, dropped, or updated by an increment.
func (c *compiler) surveyInts() {
	idle := map[ast.Expr]bool{} // places where the value does not matter
	var addressed []ast.Expr
	ast.Inspect(c.p.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "use" {
				idle[ast.Unparen(n.Args[0])] = true
			}
		case *ast.IncDecStmt:
			idle[ast.Unparen(n.X)] = true
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				idle[ast.Unparen(l)] = true
				if id, ok := l.(*ast.Ident); ok && id.Name == "_" && len(n.Lhs) == len(n.Rhs) {
					idle[ast.Unparen(n.Rhs[i])] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				idle[name] = true
			}
		case *ast.KeyValueExpr:
			idle[n.Key] = true
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				idle[ast.Unparen(n.X)] = true
				addressed = append(addressed, ast.Unparen(n.X))
			}
		case *ast.Field:
			for _, name := range n.Names {
				idle[name] = true
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					idle[e] = true
				}
			}
		}
		return true
	})
	ast.Inspect(c.p.file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || idle[e] {
			return true
		}
		if id, ok := e.(*ast.Ident); ok {
			if v, ok := c.p.info.Uses[id].(*types.Var); ok && isInteger(v.Type()) && !v.IsField() {
				c.values[v] = true
			}
			return true
		}
		if tv, ok := c.p.info.Types[e]; !ok || tv.Value != nil || tv.Type == nil || !isInteger(tv.Type) {
			return true
		}
		switch e := e.(type) {
		case *ast.SelectorExpr:
			if s := c.p.info.Selections[e]; s != nil {
				c.values[s.Obj()] = true
			}
		case *ast.IndexExpr, *ast.StarExpr:
			c.anyInt = true
		}
		return true
	})
	for _, e := range addressed {
		c.taken[c.ownClass(e)] = true
		if t := c.p.info.TypeOf(e); t != nil && isInteger(t) && c.looked(e) {
			c.anyInt = true
		}
	}
}

// looked reports whether the value of the variable that e denotes matters.
func (c *compiler) looked(e ast.Expr) bool {
	t := c.p.info.TypeOf(e)
	if c.anyInt || !types.Identical(t, types.Typ[types.Int]) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.values[c.object(e)]
	case *ast.SelectorExpr:
		if s := c.p.info.Selections[e]; s != nil {
			return c.values[s.Obj()]
		}
	}
	return false
}

func (c *compiler) object(id *ast.Ident) types.Object {
	if o := c.p.info.Defs[id]; o != nil {
		return o
	}
	return c.p.info.Uses[id]
}
