package progen

import (
	"go/ast"
	"go/token"
	"go/types"
)

// body compiles a function. Free variables come first among its slots, then the
// receiver and the parameters.
func (c *compiler) body(co *code, free []types.Object, recv *ast.FieldList, typ *ast.FuncType, block *ast.BlockStmt) {
	f := &function{c: c, code: co, slots: map[types.Object]int{}}
	for _, o := range free {
		f.slots[o] = f.slot()
		if !c.boxed[o] {
			panic("progen: captured variable " + o.Name() + " has no box")
		}
	}
	co.bound = len(free)
	var boxes []types.Object
	for _, list := range []*ast.FieldList{recv, typ.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				f.slot()
				co.args++
			}
			for _, name := range field.Names {
				o := c.p.info.Defs[name]
				s := f.slot()
				co.args++
				if o == nil {
					continue
				}
				if isAggregate(o.Type()) {
					c.fail(name, "a struct or array parameter")
				}
				f.slots[o] = s
				if c.boxed[o] {
					boxes = append(boxes, o)
				}
			}
		}
	}
	if r := typ.Results; r != nil {
		if len(r.List) != 1 || len(r.List[0].Names) > 0 || isAggregate(f.typ(r.List[0].Type)) {
			c.fail(r, "this list of results")
		}
		co.res = 1
	}
	for _, o := range boxes {
		f.emit(opSlot, f.slots[o], 0)
		f.emit(opBox, 0, 0)
		f.emit(opSetSlot, f.slots[o], 0)
	}
	f.block(block.List)
	if co.res == 1 {
		f.emit(opConst, 0, 0)
	}
	f.emit(opRet, co.res, 0)
}

// block compiles a list of statements in a scope of its own.
func (f *function) block(list []ast.Stmt) {
	base := f.next
	for _, s := range list {
		f.stmt(s)
	}
	f.leave(base)
}

// leave ends the scope whose slots start at base.
func (f *function) leave(base int) {
	f.clear(base)
	f.next = base
}

// clear forgets the slots from base on, so that dead values tell no states apart.
func (f *function) clear(base int) {
	for s := base; s < f.next; s++ {
		f.emit(opClear, s, 0)
	}
}

func (f *function) stmt(s ast.Stmt) {
	c := f.c
	label := f.label
	f.label = ""
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.LabeledStmt:
		f.label = s.Label.Name
		f.stmt(s.Stmt)
	case *ast.BlockStmt:
		f.block(s.List)
	case *ast.DeclStmt:
		f.decl(s.Decl.(*ast.GenDecl))
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.IncDecStmt:
		f.update(s.X, s.Tok == token.INC, nil)
	case *ast.ExprStmt:
		f.value(s.X)
		if tv := c.p.info.Types[s.X]; !tv.IsVoid() {
			f.emit(opPop, 0, 0)
		}
	case *ast.SendStmt:
		f.value(s.Chan)
		f.value(s.Value)
		f.emitAcc(opSend, 0, 0, c.accessOf("chan", SendOp, s, types.ExprString(s.Chan), false))
	case *ast.GoStmt:
		f.invoke(opGo, s.Call)
	case *ast.DeferStmt:
		f.invoke(opDefer, s.Call)
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			f.value(r)
		}
		f.emit(opRet, len(s.Results), 0)
	case *ast.IfStmt:
		f.ifStmt(s)
	case *ast.ForStmt:
		f.forStmt(s, label)
	case *ast.RangeStmt:
		f.rangeStmt(s, label)
	case *ast.SelectStmt:
		f.selectStmt(s, label)
	case *ast.BranchStmt:
		f.branch(s)
	default:
		c.fail(s, "this statement")
	}
}

func (f *function) decl(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		f.c.fail(d, "this declaration")
	}
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		for i, name := range spec.Names {
			var init ast.Expr
			if i < len(spec.Values) {
				init = spec.Values[i]
			}
			f.define(name, init)
		}
	}
}

// define compiles the declaration of one local variable.
func (f *function) define(name *ast.Ident, init ast.Expr) {
	if name.Name == "_" {
		f.value(init)
		f.emit(opPop, 0, 0)
		return
	}
	o := f.c.p.info.Defs[name]
	if !f.c.boxed[o] {
		if init != nil {
			f.value(init)
		} else {
			f.emit(opConst, 0, 0)
		}
		f.slots[o] = f.slot()
		f.emit(opSetSlot, f.slots[o], 0)
		return
	}
	f.emit(opNew, f.c.size(o.Type(), name), 0)
	if init == nil {
		f.slots[o] = f.slot()
		f.emit(opSetSlot, f.slots[o], 0)
		return
	}
	f.emit(opDup, 0, 0)
	f.fill(f.c.classVar(o), o.Type(), init, name.Name)
	f.slots[o] = f.slot()
	f.emit(opSetSlot, f.slots[o], 0)
}

// bind declares name, or the variable that e names if it is an assignment, with
// the value in slot tmp.
func (f *function) bind(e ast.Expr, define bool, tmp int) {
	id, isIdent := e.(*ast.Ident)
	if isIdent && id.Name == "_" {
		return
	}
	if o := types.Object(nil); isIdent && define {
		if o = f.c.p.info.Defs[id]; o != nil {
			f.emit(opSlot, tmp, 0)
			if f.c.boxed[o] {
				f.emit(opBox, 0, 0)
			}
			f.slots[o] = f.slot()
			f.emit(opSetSlot, f.slots[o], 0)
			return
		}
	}
	if isIdent {
		if s, ok := f.slots[f.c.object(id)]; ok && !f.c.boxed[f.c.object(id)] {
			f.emit(opSlot, tmp, 0)
			f.emit(opSetSlot, s, 0)
			return
		}
	}
	if ix, ok := e.(*ast.IndexExpr); ok && f.isMap(ix.X) {
		f.c.fail(e, "this assignment to a map")
	}
	f.addr(e)
	f.emit(opSlot, tmp, 0)
	f.store(e)
}

func (f *function) isMap(e ast.Expr) bool {
	_, ok := f.typ(e).Underlying().(*types.Map)
	return ok
}

func (f *function) assign(s *ast.AssignStmt) {
	c := f.c
	define := s.Tok == token.DEFINE
	if s.Tok != token.ASSIGN && !define {
		f.update(s.Lhs[0], s.Tok == token.ADD_ASSIGN, s)
		return
	}
	if len(s.Lhs) == 1 {
		f.assign1(s.Lhs[0], s.Rhs[0], define)
		return
	}
	// Several: all values first, then the variables from left to right.
	base := f.next
	if len(s.Rhs) == 1 {
		switch r := ast.Unparen(s.Rhs[0]).(type) {
		case *ast.UnaryExpr:
			f.value(r.X)
			f.emit(opRecv, 1, 0)
		case *ast.IndexExpr:
			f.mapGet(r, 1)
		default:
			c.fail(s, "several results")
		}
	} else {
		for _, r := range s.Rhs {
			f.value(r)
		}
	}
	// The temporaries lie above the variables, so that their slots can go.
	n := len(s.Lhs)
	tmp := base + n
	f.next = tmp
	for range n {
		f.slot()
	}
	for i := n - 1; i >= 0; i-- {
		f.emit(opSetSlot, tmp+i, 0)
	}
	f.next = base
	for i, l := range s.Lhs {
		if isAggregate(f.typLhs(l)) {
			c.fail(l, "this assignment")
		}
		f.bind(l, define, tmp+i)
	}
	for i := range n {
		f.emit(opClear, tmp+i, 0)
	}
}

// typLhs returns the type of the left side e, or that of bool for the blank identifier.
func (f *function) typLhs(e ast.Expr) types.Type {
	if id, ok := e.(*ast.Ident); ok {
		if id.Name == "_" {
			return types.Typ[types.Bool]
		}
		return f.c.object(id).Type()
	}
	return f.typ(e)
}

func (f *function) assign1(l, r ast.Expr, define bool) {
	c := f.c
	id, isIdent := l.(*ast.Ident)
	switch {
	case isIdent && id.Name == "_":
		if isAggregate(f.typ(r)) {
			c.fail(r, "a struct or array value here")
		}
		f.value(r)
		f.emit(opPop, 0, 0)
		return
	case define:
		f.define(id, r)
		return
	case isIdent:
		if o := c.object(id); !c.boxed[o] {
			if s, ok := f.slots[o]; ok {
				f.value(r)
				f.emit(opSetSlot, s, 0)
				return
			}
		}
	}
	if ix, ok := l.(*ast.IndexExpr); ok && f.isMap(ix.X) {
		f.value(ix.X)
		f.value(ix.Index)
		f.value(r)
		f.emitAcc(opMapSet, 0, 0, c.accessOf("map", Write, l, types.ExprString(l), true))
		return
	}
	t := f.typ(l)
	if !isAggregate(t) {
		f.addr(l)
		f.value(r)
		f.store(l)
		return
	}
	f.addr(l)
	if lit, ok := ast.Unparen(r).(*ast.CompositeLit); ok {
		if len(lit.Elts) > 0 {
			c.fail(r, "a struct literal with values in an assignment")
		}
		f.emitAcc(opZero, c.size(t, l), 0, c.access(Write, l, types.ExprString(l), true))
		return
	}
	f.addr(r)
	rd := c.access(Read, r, types.ExprString(r), true)
	f.emitAcc(opCopy, c.size(t, l), c.access(Write, l, types.ExprString(l), true), rd)
}

// update compiles x++, x-- and x op= y.
func (f *function) update(x ast.Expr, add bool, s *ast.AssignStmt) {
	op := int(token.SUB)
	if add {
		op = int(token.ADD)
	}
	if s != nil && s.Tok != token.ADD_ASSIGN && s.Tok != token.SUB_ASSIGN {
		f.c.fail(s, "operator "+s.Tok.String())
	}
	operand := func() {
		if s != nil {
			f.value(s.Rhs[0])
		} else {
			f.emit(opConst, 1, 0)
		}
		f.emit(opBin, op, 0)
	}
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if o := f.c.object(id); !f.c.boxed[o] {
			if slot, ok := f.slots[o]; ok {
				f.emit(opSlot, slot, 0)
				operand()
				f.emit(opSetSlot, slot, 0)
				return
			}
		}
	}
	if ix, ok := ast.Unparen(x).(*ast.IndexExpr); ok && f.isMap(ix.X) {
		f.value(ix.X)
		f.value(ix.Index)
		f.mapGet(ix, 0)
		operand()
		f.emitAcc(opMapSet, 0, 0, f.c.accessOf("map", Write, x, types.ExprString(x), true))
		return
	}
	f.addr(x)
	f.emit(opDup, 0, 0)
	f.load(x)
	operand()
	f.store(x)
}

func (f *function) ifStmt(s *ast.IfStmt) {
	base := f.next
	if s.Init != nil {
		f.stmt(s.Init)
	}
	f.value(s.Cond)
	no := f.emit(opJumpFalse, 0, 0)
	f.block(s.Body.List)
	if s.Else != nil {
		end := f.emit(opJump, 0, 0)
		f.patch(no)
		f.stmt(s.Else)
		f.patch(end)
	} else {
		f.patch(no)
	}
	f.leave(base)
}
