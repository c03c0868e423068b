package observe

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sort"
)

// node decides what is logged at n and at its operands. Positions are those
// that go/ssa gives to the instructions that n becomes.
func (x *file) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			x.place(e)
		}
	case *ast.IncDecStmt:
		x.place(n.X)
	case *ast.RangeStmt:
		if n.Key != nil {
			x.place(n.Key)
		}
		if n.Value != nil {
			x.place(n.Value)
		}
	case *ast.GoStmt:
		x.calls[n.Call], x.plain[n.Call] = n.Go, true
	case *ast.DeferStmt:
		x.calls[n.Call], x.plain[n.Call] = n.Defer, true
	case *ast.SendStmt:
		x.observe(n.Chan, n.Arrow, SyncObj, 0)
	case *ast.CommClause:
		x.comm(n)
	case *ast.ParenExpr:
		if x.plain[n] {
			x.plain[n.X] = true
		}
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok {
			if v, ok := x.info.Uses[id].(*types.Var); ok && v.IsField() {
				x.silent[id] = true
			}
		}
	case *ast.SelectorExpr:
		x.selector(n)
	case *ast.IndexExpr:
		x.index(n)
	case *ast.IndexListExpr:
		x.silent[n.X] = true // an instance of a generic function
	case *ast.StarExpr:
		if !x.part[n] {
			x.observe(n.X, n.Star, MemBase, 0)
		}
		x.result(n, n.Star, Loaded)
	case *ast.SliceExpr:
		x.slice(n)
	case *ast.UnaryExpr:
		switch n.Op {
		case token.AND:
			x.address(n)
		case token.ARROW:
			if !x.plain[n] {
				x.observe(n.X, n.OpPos, SyncObj, 0)
				x.result(n, n.OpPos, Loaded)
			}
		}
	case *ast.TypeAssertExpr:
		if n.Type != nil { // else it is the guard of a type switch
			x.observe(n.X, n.Lparen, AssertX, 0)
			x.result(n, n.Lparen, AssertDst)
		}
	case *ast.CallExpr:
		x.call(n)
	case *ast.CompositeLit:
		x.literal(n)
	}
}

// place marks an expression that names a variable rather than a value.
func (x *file) place(e ast.Expr) { x.plain[e] = true }

// result asks for the value of e to be logged, unless e is used as a place.
func (x *file) result(e ast.Expr, pos token.Pos, role Role) {
	if !x.plain[e] {
		x.observe(e, pos, role, 0)
	}
}

// comm leaves the communication of a select clause as syntax wants it.
func (x *file) comm(n *ast.CommClause) {
	switch s := n.Comm.(type) {
	case *ast.SendStmt:
		x.silent[s] = true
	case *ast.ExprStmt:
		x.plain[ast.Unparen(s.X)] = true
	case *ast.AssignStmt:
		x.plain[ast.Unparen(s.Rhs[0])] = true
	}
}

func isPointer(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok || t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func (x *file) selector(n *ast.SelectorExpr) {
	sel := x.info.Selections[n]
	if sel != nil && sel.Kind() == types.FieldVal {
		x.part[ast.Unparen(n.X)] = true
	}
	if sel == nil {
		x.silent[n.X] = true // a package
		return
	}
	switch sel.Kind() {
	case types.FieldVal:
		if isPointer(x.info.TypeOf(n.X)) && len(sel.Index()) == 1 {
			x.observe(n.X, n.Sel.Pos(), AddrBase, 0)
		}
		x.result(n, n.Sel.Pos(), Loaded)
	case types.MethodVal:
		m := sel.Obj().(*types.Func)
		if r := m.Signature().Recv(); r != nil && isPointer(r.Type()) && !isPointer(x.info.TypeOf(n.X)) {
			x.place(n.X)
			x.part[ast.Unparen(n.X)] = true
			if !sel.Indirect() || len(sel.Index()) == 1 {
				x.take(n.X)
			}
		}
	}
}

// index handles x[i].
func (x *file) index(n *ast.IndexExpr) {
	tv := x.info.Types[n.X]
	if _, ok := tv.Type.(*types.Signature); ok || tv.Type == nil {
		x.silent[n.X], x.silent[n.Index] = true, true // an instance of a generic function
		return
	}
	if _, ok := types.Unalias(tv.Type).(*types.TypeParam); ok {
		if x.plain[n] {
			x.place(n.X)
		}
		return
	}
	switch tv.Type.Underlying().(type) {
	case *types.Map:
		x.observe(n.X, n.Lbrack, MemBase, 0)
	case *types.Slice, *types.Pointer:
		x.observe(n.X, n.Lbrack, AddrBase, 0)
	case *types.Array:
		x.part[ast.Unparen(n.X)] = true
	}
	x.result(n, n.Lbrack, Loaded)
}

func (x *file) slice(n *ast.SliceExpr) {
	t := x.info.TypeOf(n.X)
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return
	}
	switch t.Underlying().(type) {
	case *types.Array:
		x.place(n.X)
		x.part[ast.Unparen(n.X)] = true
		x.take(n.X)
	case *types.Slice, *types.Pointer:
		x.observe(n.X, n.Lbrack, AddrBase, 0)
	}
	x.result(n, n.Lbrack, AddrDst)
}

// root returns the variable that e is or is a part of, without a pointer on
// the way, and the expression that names it.
func (x *file) root(e ast.Expr) (*types.Var, ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		v, _ := x.info.Uses[e].(*types.Var)
		return v, e
	case *ast.SelectorExpr:
		sel := x.info.Selections[e]
		if sel == nil {
			v, _ := x.info.Uses[e.Sel].(*types.Var)
			return v, e
		}
		if sel.Kind() == types.FieldVal && !sel.Indirect() {
			return x.root(e.X)
		}
	case *ast.IndexExpr:
		if t := x.info.TypeOf(e.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				return x.root(e.X)
			}
		}
	}
	return nil, nil
}

// taken returns the text that logs the address of e, up to the address itself,
// or "".
func (x *file) taken(e ast.Expr) string {
	at := 0
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if sel := x.info.Selections[e]; sel != nil {
			at = x.use(e.Sel.Pos(), AddrDst, 0)
		}
	case *ast.IndexExpr:
		at = x.use(e.Lbrack, AddrDst, 0)
	case *ast.Ident:
	default:
		return ""
	}
	if v, name := x.root(e); v != nil {
		text := x.src[x.tf.Offset(name.Pos()):x.tf.Offset(name.End())]
		return fmt.Sprintf("%s.Var(%d, %d, &%s, ", alias, x.plan.site(x.pos(v.Pos())), at, text)
	}
	if at != 0 {
		return fmt.Sprintf("%s.A(%d, ", alias, at)
	}
	return ""
}

// take makes an address that is taken implicitly an explicit one, and logs it.
func (x *file) take(e ast.Expr) {
	if open := x.taken(e); open != "" {
		x.wrap(e, open+"&")
	}
}

// address handles &x.
func (x *file) address(n *ast.UnaryExpr) {
	x.place(n.X)
	x.part[ast.Unparen(n.X)] = true
	if lit, ok := ast.Unparen(n.X).(*ast.CompositeLit); ok {
		x.plain[lit] = true
		x.wrap(n, fmt.Sprintf("%s.New(%d, ", alias, x.plan.site(x.pos(lit.Lbrace))))
		return
	}
	if open := x.taken(ast.Unparen(n.X)); open != "" {
		x.wrap(n, open)
	}
}

// literal handles slice and map literals, and those of elements without type,
// which get it from around them: {...} in []*T{...} is &T{...}.
func (x *file) literal(n *ast.CompositeLit) {
	typ := n.Type
	if typ == nil {
		typ = x.implied[n]
	}
	if star, ok := typ.(*ast.StarExpr); ok {
		x.wrap(n, fmt.Sprintf("%s.New(%d, &%s", alias, x.plan.site(x.pos(n.Lbrace)), x.text(star.X)))
		typ = star.X
	} else if typ != nil && !x.plain[n] {
		x.made(n, n.Lbrace)
		if ws := x.wraps[n]; n.Type == nil && len(ws) > 0 {
			ws[len(ws)-1].open += x.text(typ)
		}
	}
	var elem ast.Expr
	switch t := typ.(type) {
	case *ast.ArrayType:
		elem = t.Elt
	case *ast.MapType:
		elem = t.Value
	}
	if elem == nil {
		return
	}
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
			x.implied[lit] = elem
		}
	}
}

func (x *file) text(e ast.Expr) string {
	return string(x.src[x.tf.Offset(e.Pos()):x.tf.Offset(e.End())])
}

// made asks for what e just made to be tracked.
func (x *file) made(e ast.Expr, pos token.Pos) {
	f := ""
	t := x.info.TypeOf(e)
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return
	}
	switch t.Underlying().(type) {
	case *types.Pointer:
		f = "New"
	case *types.Slice:
		f = "Array"
	case *types.Map, *types.Chan:
		f = "Word"
	default:
		return
	}
	x.wrap(e, fmt.Sprintf("%s.%s(%d, ", alias, f, x.plan.site(x.pos(pos))))
}

// call handles calls, conversions and builtins.
func (x *file) call(n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	if x.info.Types[fun].IsType() {
		x.silent[n.Fun] = true
		if b, ok := x.info.TypeOf(n.Args[0]).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 && logger(x.info.TypeOf(n)) == "S" {
			x.made(n, n.Lparen)
		}
		return
	}
	switch f := fun.(type) {
	case *ast.Ident:
		if b, ok := x.info.Uses[f].(*types.Builtin); ok {
			x.builtin(b.Name(), n)
			return
		}
	case *ast.SelectorExpr:
		if _, ok := x.info.Uses[f.Sel].(*types.Builtin); ok {
			return // package unsafe
		}
	}
	pos, ok := x.calls[n]
	if !ok {
		pos = n.Lparen
	}
	sig, ok := types.Unalias(x.info.TypeOf(fun)).Underlying().(*types.Signature)
	if !ok {
		return
	}
	offset := x.callee(fun, pos)
	fixed := sig.Params().Len()
	if sig.Variadic() && !n.Ellipsis.IsValid() {
		fixed--
	}
	for i, arg := range n.Args {
		if _, tuple := x.info.TypeOf(arg).(*types.Tuple); !tuple && i < fixed {
			x.observe(arg, pos, CallArg, i+offset)
		}
	}
	if !x.plain[n] {
		x.observe(n, pos, CallDst, 0)
	}
}

// callee logs who is called, and returns the number of arguments that go/ssa
// puts before those of the source.
func (x *file) callee(fun ast.Expr, pos token.Pos) int {
	base := fun
	switch f := fun.(type) {
	case *ast.IndexExpr:
		base = f.X
	case *ast.IndexListExpr:
		base = f.X
	}
	switch f := base.(type) {
	case *ast.FuncLit:
		return 0
	case *ast.Ident:
		if _, static := x.info.Uses[f].(*types.Func); static {
			return 0
		}
	case *ast.SelectorExpr:
		sel := x.info.Selections[f]
		if sel == nil {
			if _, static := x.info.Uses[f.Sel].(*types.Func); static {
				return 0
			}
			break
		}
		if sel.Kind() == types.MethodExpr {
			return 0
		}
		if sel.Kind() == types.FieldVal {
			break
		}
		return x.method(f, sel, pos)
	}
	x.plain[fun] = true // a function value
	x.wrap(fun, fmt.Sprintf("%s.F(%d, ", alias, x.use(pos, CallFn, 0)))
	return 0
}

// method handles the receiver of a method call.
func (x *file) method(f *ast.SelectorExpr, sel *types.Selection, pos token.Pos) int {
	m := sel.Obj().(*types.Func)
	t := x.info.TypeOf(f.X)
	if types.IsInterface(m.Signature().Recv().Type()) {
		if logger(t) == "I" {
			x.wrap(f.X, fmt.Sprintf("%s.M(%d, %d, ", alias, x.use(pos, CallRecv, 0), methodIndex(t.Underlying().(*types.Interface), m.Name())))
		}
		return 0
	}
	if isPointer(t) && isPointer(m.Signature().Recv().Type()) && len(sel.Index()) == 1 {
		x.observe(f.X, pos, CallArg, 0)
	}
	return 1
}

// methodIndex returns the place of a method in the run-time table of an
// interface type: in the order of names.
func methodIndex(it *types.Interface, name string) int {
	var names []string
	for i := range it.NumMethods() {
		names = append(names, it.Method(i).Name())
	}
	sort.Strings(names)
	return sort.SearchStrings(names, name)
}

// builtin handles the builtin functions that allocate.
func (x *file) builtin(name string, n *ast.CallExpr) {
	switch name {
	case "new", "make":
		x.made(n, n.Lparen)
	case "append":
		t := x.info.TypeOf(n.Args[0])
		if len(n.Args) < 2 || x.isNil(n.Args[0]) || logger(t) != "S" || logger(x.info.TypeOf(n)) != "S" {
			return
		}
		site := x.plan.site(x.pos(n.Lparen))
		if b, ok := x.info.TypeOf(n.Args[1]).Underlying().(*types.Basic); ok && n.Ellipsis.IsValid() && b.Info()&types.IsString != 0 {
			x.replace(n.Fun, alias+".AppendString")
			x.insert(n.Lparen+1, fmt.Sprintf("%d, ", site))
			x.plainEllipsis(n)
			return
		}
		if n.Ellipsis.IsValid() && logger(x.info.TypeOf(n.Args[1])) != "S" {
			return // nil, or bytes or a string in generic code
		}
		x.replace(n.Fun, alias+".Append")
		x.insert(n.Lparen+1, fmt.Sprintf("%d, ", site))
		if c := x.comma(n.Args[0].End()); c >= 0 {
			x.edits = append(x.edits, edit{off: c, del: 1, text: ")("})
		}
	}
}

func (x *file) replace(e ast.Expr, text string) {
	x.silent[e] = true
	x.edits = append(x.edits, edit{off: x.tf.Offset(e.Pos()), del: x.tf.Offset(e.End()) - x.tf.Offset(e.Pos()), text: text})
}

// plainEllipsis removes the three dots of a call.
func (x *file) plainEllipsis(n *ast.CallExpr) {
	x.edits = append(x.edits, edit{off: x.tf.Offset(n.Ellipsis), del: 3})
}

// comma returns the offset of the first comma after p outside of comments.
func (x *file) comma(p token.Pos) int {
	for i := x.tf.Offset(p); i < len(x.src); i++ {
		switch {
		case x.src[i] == ',':
			return i
		case x.src[i] == '/' && x.src[i+1] == '/':
			for x.src[i] != '\n' {
				i++
			}
		case x.src[i] == '/' && x.src[i+1] == '*':
			for i += 2; x.src[i] != '*' || x.src[i+1] != '/'; i++ {
			}
			i++
		}
	}
	return -1
}
