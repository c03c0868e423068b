package progen

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// function compiles one function body.
type function struct {
	c     *compiler
	code  *code
	slots map[types.Object]int
	next  int // first free slot
	loops []*loop
	label string // of the statement that comes next
}

func (f *function) emit(op opcode, a, b int) int {
	f.code.ins = append(f.code.ins, instr{op, int32(a), int32(b), -1})
	return len(f.code.ins) - 1
}

func (f *function) emitAcc(op opcode, a, b, acc int) {
	f.code.ins = append(f.code.ins, instr{op, int32(a), int32(b), int32(acc)})
}

func (f *function) here() int { return len(f.code.ins) }

// patch makes the jump at pc go to the next instruction.
func (f *function) patch(pc int) { f.code.ins[pc].a = int32(f.here()) }

// slot takes a free slot.
func (f *function) slot() int {
	f.next++
	f.code.slots = max(f.code.slots, f.next)
	return f.next - 1
}

func (f *function) typ(e ast.Expr) types.Type { return f.c.p.info.TypeOf(e) }

// load emits the access that replaces the address on the stack by its content.
func (f *function) load(e ast.Expr) {
	if isAggregate(f.typ(e)) {
		f.c.fail(e, "a struct or array value here")
	}
	f.emitAcc(opLoad, 0, 0, f.c.accessOf(f.c.class(e), Read, e, types.ExprString(e), f.c.looked(e)))
}

// store emits the access that writes the value on the stack to e, whose
// address lies below it.
func (f *function) store(e ast.Expr) {
	looked := f.c.looked(e)
	b := 0
	if !looked {
		b |= storeZero
	}
	if f.c.size(f.typ(e), e) == 2 {
		b |= storeUnsync
	}
	f.emitAcc(opStore, 0, b, f.c.accessOf(f.c.class(e), Write, e, types.ExprString(e), looked))
}

// value emits code that pushes the value of e.
func (f *function) value(e ast.Expr) {
	c := f.c
	tv := c.p.info.Types[e]
	if tv.Value != nil {
		f.constant(e, tv.Value)
		return
	}
	if tv.IsNil() {
		f.emit(opConst, 0, 0)
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.value(e.X)
	case *ast.Ident:
		switch o := c.object(e).(type) {
		case *types.Func:
			f.escape(f.static(e, o))
			f.emit(opFunc, f.static(e, o), 0)
		case *types.Var:
			if s, ok := f.slots[o]; ok && !c.boxed[o] {
				f.emit(opSlot, s, 0)
				return
			}
			f.addr(e)
			f.load(e)
		default:
			c.fail(e, "name "+e.Name)
		}
	case *ast.SelectorExpr:
		if s := c.p.info.Selections[e]; s == nil || s.Kind() != types.FieldVal {
			f.methodValue(e)
			return
		}
		f.addr(e)
		f.load(e)
	case *ast.IndexExpr:
		if _, ok := f.typ(e.X).Underlying().(*types.Map); ok {
			f.mapGet(e, 0)
			return
		}
		f.addr(e)
		f.load(e)
	case *ast.StarExpr:
		f.addr(e)
		f.load(e)
	case *ast.UnaryExpr:
		f.unary(e)
	case *ast.BinaryExpr:
		f.binary(e)
	case *ast.FuncLit:
		f.escape(f.literal(e))
	case *ast.CompositeLit:
		f.composite(e)
	case *ast.SliceExpr:
		s, ok := f.typ(e.X).Underlying().(*types.Slice)
		if !ok || e.Slice3 {
			c.fail(e, "slicing of this kind")
		}
		f.value(e.X)
		for i, x := range []ast.Expr{e.Low, e.High} {
			if x == nil {
				f.emit(opConst, -i, 0)
			} else {
				f.value(x)
			}
		}
		f.emit(opSlice, c.size(s.Elem(), e), 0)
	case *ast.CallExpr:
		f.call(e)
	default:
		c.fail(e, "this expression")
	}
}

func (f *function) constant(e ast.Expr, v constant.Value) {
	n := 0
	switch v.Kind() {
	case constant.Bool:
		if constant.BoolVal(v) {
			n = 1
		}
	case constant.Int:
		i, ok := constant.Int64Val(v)
		if !ok || i > 1<<26 || i < -1<<26 {
			f.c.fail(e, "a large constant")
		}
		n = int(i)
	case constant.String:
		s := constant.StringVal(v)
		if _, ok := f.c.strs[s]; !ok {
			f.c.strs[s] = len(f.c.strs)
		}
		n = f.c.strs[s]
	default:
		f.c.fail(e, "this constant")
	}
	f.emit(opConst, n, 0)
}

func (f *function) unary(e *ast.UnaryExpr) {
	switch e.Op {
	case token.AND:
		if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
			f.emit(opNew, f.c.size(f.typ(lit), e), 0)
			f.elements(lit)
			return
		}
		f.addr(e.X)
	case token.ARROW:
		f.value(e.X)
		f.emit(opRecv, 0, 0)
	case token.NOT:
		f.value(e.X)
		f.emit(opNot, 0, 0)
	case token.SUB:
		f.emit(opConst, 0, 0)
		f.value(e.X)
		f.emit(opBin, int(token.SUB), 0)
	default:
		f.c.fail(e, "operator "+e.Op.String())
	}
}

func (f *function) binary(e *ast.BinaryExpr) {
	switch e.Op {
	case token.LAND, token.LOR:
		f.value(e.X)
		f.emit(opDup, 0, 0)
		if e.Op == token.LOR {
			f.emit(opNot, 0, 0)
		}
		end := f.emit(opJumpFalse, 0, 0)
		f.emit(opPop, 0, 0)
		f.value(e.Y)
		f.patch(end)
	case token.ADD, token.SUB, token.MUL, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.value(e.X)
		f.value(e.Y)
		f.emit(opBin, int(e.Op), 0)
	default:
		f.c.fail(e, "operator "+e.Op.String())
	}
}

// addr emits code that pushes the address of e.
func (f *function) addr(e ast.Expr) {
	c := f.c
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.addr(e.X)
	case *ast.Ident:
		o := c.object(e)
		if g, ok := c.global[o]; ok {
			f.emit(opGlobal, g, 0)
			return
		}
		s, ok := f.slots[o]
		if !ok || !c.boxed[o] {
			c.fail(e, "the address of "+e.Name)
		}
		f.emit(opSlot, s, 0)
	case *ast.SelectorExpr:
		sel := c.p.info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			c.fail(e, "the address of a selector")
		}
		f.path(e, sel)
	case *ast.IndexExpr:
		t := f.typ(e.X).Underlying()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
			f.value(e.X)
		} else if _, ok := t.(*types.Array); ok {
			f.addr(e.X)
		} else {
			f.value(e.X)
		}
		f.value(e.Index)
		switch t := t.(type) {
		case *types.Array:
			f.emit(opIndex, c.size(t.Elem(), e), int(t.Len()))
		case *types.Slice:
			f.emit(opIndex, c.size(t.Elem(), e), -1)
		default:
			c.fail(e, "the address of an element of this type")
		}
	case *ast.StarExpr:
		f.value(e.X)
		f.emit(opField, 0, 0)
	default:
		c.fail(e, "the address of this expression")
	}
}

// path emits code that pushes the address of the field that sel selects, or of
// the receiver if sel is a method: the part of its path before the method.
func (f *function) path(e *ast.SelectorExpr, sel *types.Selection) {
	c := f.c
	t := f.typ(e.X)
	if _, ok := t.Underlying().(*types.Pointer); ok {
		f.value(e.X)
	} else {
		f.addr(e.X)
	}
	index := sel.Index()
	if sel.Kind() != types.FieldVal {
		index = index[:len(index)-1]
	}
	for k, i := range index {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
			if k > 0 {
				f.emitAcc(opLoad, 0, 0, c.access(Read, e, types.ExprString(e), true))
			}
		}
		s := t.Underlying().(*types.Struct)
		f.emit(opField, c.offset(s, i, e), 0)
		t = s.Field(i).Type()
	}
	if _, ok := t.Underlying().(*types.Pointer); ok && sel.Kind() != types.FieldVal && len(index) > 0 {
		f.emitAcc(opLoad, 0, 0, c.access(Read, e, types.ExprString(e), true))
	}
}

// fill emits code that stores e in the new variable of type t whose address is on
// the stack.
func (f *function) fill(class string, t types.Type, e ast.Expr, name string) {
	if !isAggregate(t) {
		f.value(e)
		f.emitAcc(opStore, 0, 0, f.c.accessOf(class, Write, e, name, true))
		return
	}
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		f.elements(lit)
		f.emit(opPop, 0, 0)
		return
	}
	f.addr(e)
	r := f.c.access(Read, e, types.ExprString(e), true)
	f.emitAcc(opCopy, f.c.size(t, e), f.c.access(Write, e, name, true), r)
}

// elements emits code that fills the struct or array whose address is on the
// stack, and leaves the address.
func (f *function) elements(lit *ast.CompositeLit) {
	t := f.typ(lit)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem() // {} for &T{}
	}
	for i, el := range lit.Elts {
		kv, keyed := el.(*ast.KeyValueExpr)
		f.emit(opDup, 0, 0)
		switch u := t.Underlying().(type) {
		case *types.Struct:
			if keyed {
				el = kv.Value
				for j := range u.NumFields() {
					if u.Field(j).Name() == kv.Key.(*ast.Ident).Name {
						i = j
					}
				}
			}
			f.emit(opField, f.c.offset(u, i, lit), 0)
			f.fill(f.c.classVar(u.Field(i)), u.Field(i).Type(), el, u.Field(i).Name())
		case *types.Array:
			if keyed {
				f.c.fail(lit, "a keyed array literal")
			}
			f.emit(opField, i*f.c.size(u.Elem(), lit), 0)
			f.fill(f.c.classElem(u.Elem()), u.Elem(), el, "element")
		default:
			f.c.fail(lit, "a literal of this type")
		}
	}
}

// composite emits code for a literal that is a value of one cell.
func (f *function) composite(lit *ast.CompositeLit) {
	switch u := f.typ(lit).Underlying().(type) {
	case *types.Pointer:
		f.emit(opNew, f.c.size(u.Elem(), lit), 0)
		f.elements(lit)
	case *types.Slice:
		f.emit(opConst, len(lit.Elts), 0)
		f.emit(opMakeSlice, f.c.size(u.Elem(), lit), 0)
		for i, el := range lit.Elts {
			f.emit(opDup, 0, 0)
			f.emit(opConst, i, 0)
			f.emit(opIndex, f.c.size(u.Elem(), lit), -1)
			f.fill(f.c.classElem(u.Elem()), u.Elem(), el, "element")
		}
	case *types.Map:
		f.emit(opMakeMap, 0, 0)
		for _, el := range lit.Elts {
			kv := el.(*ast.KeyValueExpr)
			f.emit(opDup, 0, 0)
			f.value(kv.Key)
			f.value(kv.Value)
			f.emitAcc(opMapSet, 0, 0, f.c.accessOf("map", Write, kv, "map", true))
		}
	case *types.Struct:
		if u.NumFields() > 0 {
			f.c.fail(lit, "a struct value here")
		}
		f.emit(opConst, 0, 0)
	default:
		f.c.fail(lit, "a literal of this type")
	}
}

func (f *function) mapGet(e *ast.IndexExpr, ok int) {
	f.value(e.X)
	f.value(e.Index)
	f.emitAcc(opMapGet, ok, 0, f.c.accessOf("map", Read, e, types.ExprString(e), true))
}

// escape notes that code n may be called where no callee is known.
func (f *function) escape(n int) { f.c.m.escaped = append(f.c.m.escaped, n) }

// literal emits code for a function literal, its environment and the closure,
// and returns the number of its code.
func (f *function) literal(lit *ast.FuncLit) int {
	c := f.c
	var free []types.Object
	seen := map[types.Object]bool{}
	ast.Inspect(lit, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := c.p.info.Uses[id].(*types.Var); ok && !seen[v] {
				if s, ok := f.slots[v]; ok {
					seen[v] = true
					free = append(free, v)
					f.emit(opSlot, s, 0)
				}
			}
		}
		return true
	})
	co := c.newCode(f.code.name + ".func")
	n := len(c.m.codes) - 1
	f.emit(opClosure, n, len(free))
	c.body(co, free, nil, lit.Type, lit.Body)
	return n
}
