package progen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// static returns the code of a function of the program.
func (f *function) static(at ast.Node, o types.Object) int {
	n, ok := f.c.fn[o]
	if !ok {
		f.c.fail(at, "function "+o.Name())
	}
	return n
}

// call emits code for a call; its result, if it has one, is left on the stack.
func (f *function) call(e *ast.CallExpr) {
	c := f.c
	if c.p.info.Types[e.Fun].IsType() {
		f.value(e.Args[0])
		return
	}
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		switch o := c.object(fun).(type) {
		case *types.Builtin:
			f.builtin(e, o.Name())
			return
		case *types.Func:
			switch o.Name() {
			case "maybe":
				f.emit(opMaybe, 0, 0)
				return
			case "use":
				f.value(e.Args[0])
				f.emit(opPop, 0, 0)
				return
			}
		}
	case *ast.IndexExpr:
		if _, ok := c.p.info.Types[fun.X].Type.(*types.Signature); ok && c.p.info.Types[fun.Index].IsType() {
			c.fail(e, "a generic call")
		}
	case *ast.SelectorExpr:
		if f.syncCall(e, fun) {
			return
		}
	}
	f.invoke(opCall, e)
}

// invoke emits code that calls, spawns or defers e. Sync operations become
// functions.
func (f *function) invoke(op opcode, e *ast.CallExpr) {
	c := f.c
	args := e.Args
	n := len(args)
	start := f.here()
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		switch o := c.object(fun).(type) {
		case *types.Func:
			if o.Name() == "maybe" || o.Name() == "use" {
				c.fail(e, "go or defer of "+o.Name())
			}
			f.emit(opFunc, f.static(fun, o), 0)
		case *types.Builtin:
			if o.Name() != "close" {
				c.fail(e, "go or defer of "+o.Name())
			}
			acc := c.accessOf("chan", CloseOp, e, types.ExprString(args[0]), false)
			f.emit(opFunc, c.wrap(fmt.Sprint("close ", acc), opClose, 1, 0, acc), 0)
		default:
			f.value(fun)
		}
	case *ast.SelectorExpr:
		sel := c.p.info.Selections[fun]
		switch {
		case sel == nil:
			c.fail(e, "go or defer of a function of a package")
		case sel.Kind() == types.MethodVal:
			n++
			if s := syncName(deref(sel.Recv(), sel)); s != "" {
				f.emit(opFunc, f.syncFunc(fun, s, e), 0)
				f.path(fun, sel)
				if fun.Sel.Name == "Done" {
					f.emit(opConst, -1, 0)
					n++
				}
			} else {
				f.emit(opFunc, f.static(fun, sel.Obj()), 0)
				f.receiver(fun, sel)
			}
		default:
			f.value(fun)
		}
	case *ast.FuncLit:
		f.literal(fun)
	default:
		f.value(fun)
	}
	// The last thing pushed before the arguments tells a known callee.
	known := 0
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.FuncLit:
		known = int(f.code.ins[f.here()-1].a) + 1
	case *ast.Ident, *ast.SelectorExpr:
		if in := f.code.ins[start]; in.op == opFunc && !f.isVar(fun) {
			known = int(in.a) + 1
		}
	}
	for _, a := range args {
		f.value(a)
	}
	f.emit(op, n, known)
}

// isVar reports whether fun is a variable or field that holds a function.
func (f *function) isVar(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		_, ok := f.c.object(fun).(*types.Var)
		return ok
	case *ast.SelectorExpr:
		sel := f.c.p.info.Selections[fun]
		return sel != nil && sel.Kind() == types.FieldVal
	}
	return true
}

// deref returns the type that declares the method of sel.
func deref(t types.Type, sel *types.Selection) types.Type {
	recv := sel.Obj().(*types.Func).Signature().Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		return p.Elem()
	}
	return recv
}

func (f *function) receiver(fun *ast.SelectorExpr, sel *types.Selection) {
	if _, ok := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer); !ok {
		f.c.fail(fun, "a method with a value receiver")
	}
	f.path(fun, sel)
}

// methodValue emits code for x.m as a value.
func (f *function) methodValue(e *ast.SelectorExpr) {
	sel := f.c.p.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal {
		f.c.fail(e, "this selector as a value")
	}
	if s := syncName(deref(sel.Recv(), sel)); s != "" {
		f.path(e, sel)
		b := 1
		if e.Sel.Name == "Done" {
			f.emit(opConst, -1, 0)
			b = 2
		}
		n := f.syncFunc(e, s, e)
		f.escape(n)
		f.emit(opClosure, n, b)
		return
	}
	f.receiver(e, sel)
	f.escape(f.static(e, sel.Obj()))
	f.emit(opClosure, f.static(e, sel.Obj()), 1)
}

// syncOps are the operations of package sync that are one instruction.
var syncOps = map[string]opcode{
	"Mutex.Lock": opLock, "Mutex.Unlock": opUnlock, "Mutex.TryLock": opTryLock,
	"RWMutex.Lock": opRWLock, "RWMutex.Unlock": opRWUnlock, "RWMutex.TryLock": opRWTryLock,
	"RWMutex.RLock": opRLock, "RWMutex.RUnlock": opRUnlock, "RWMutex.TryRLock": opTryRLock,
	"WaitGroup.Add": opWgAdd, "WaitGroup.Done": opWgAdd, "WaitGroup.Wait": opWgWait,
}

var atomicOps = map[string]opcode{
	"Load": opAtLoad, "Store": opAtStore, "Add": opAtAdd, "Swap": opAtSwap, "CompareAndSwap": opAtCas,
}

// syncAcc numbers the access of a sync operation, or returns -1 if it can
// conflict with nothing.
func (c *compiler) syncAcc(op opcode, at ast.Node, method string) int {
	switch {
	case op == opWgAdd && method != "Done":
		return c.accessOf("WaitGroup", AddFromZero, at, "WaitGroup", false)
	case op == opWgWait:
		return c.accessOf("WaitGroup", WaitOp, at, "WaitGroup", false)
	case c.m.copies:
		return c.access(SyncOp, at, method, false)
	}
	return -1
}

// syncFunc returns code for the method fun of the sync type name.
func (f *function) syncFunc(fun *ast.SelectorExpr, name string, at ast.Node) int {
	c := f.c
	method := fun.Sel.Name
	switch {
	case name == "Once" && method == "Do":
		return c.onceDo(at)
	case name == "WaitGroup" && method == "Go":
		return c.wgGo(at)
	}
	op, ok := syncOps[name+"."+method]
	args, res := 1, 0
	if !ok {
		op, ok = atomicOps[method]
		if !ok || len(name) < 7 || name[:7] != "atomic." {
			c.fail(at, name+"."+method)
		}
		switch op {
		case opAtStore:
			args = 2
		default:
			c.fail(at, "go or defer of "+name+"."+method)
		}
		return c.wrap(name+"."+method, op, args, res, f.atomicAcc(op, at, fun.X, true))
	}
	switch op {
	case opTryLock, opRWTryLock, opTryRLock:
		c.fail(at, "go or defer of "+name+"."+method)
	case opWgAdd:
		args = 2
	}
	acc := c.syncAcc(op, at, method)
	return c.wrap(fmt.Sprint(name, ".", method, acc), op, args, res, acc)
}

// wrap returns code for a function that is one instruction.
func (c *compiler) wrap(key string, op opcode, args, res, acc int) int {
	if n, ok := c.synth[key]; ok {
		return n
	}
	co := c.newCode(key)
	n := len(c.m.codes) - 1
	c.synth[key] = n
	f := &function{c: c, code: co}
	for i := range args {
		f.emit(opSlot, i, 0)
	}
	f.emitAcc(op, 0, 0, acc)
	f.emit(opRet, res, 0)
	co.slots, co.args, co.res = args, args, res
	return n
}

// onceDo returns code for Once.Do(o, fn).
func (c *compiler) onceDo(at ast.Node) int {
	acc := c.syncAcc(opOnceEnter, at, "Do")
	key := fmt.Sprint("Once.Do", acc)
	if n, ok := c.synth[key]; ok {
		return n
	}
	exit := c.wrap("Once.exit", opOnceExit, 1, 0, -1)
	co := c.newCode("Once.Do")
	n := len(c.m.codes) - 1
	c.synth[key] = n
	f := &function{c: c, code: co}
	f.emit(opSlot, 0, 0)
	f.emitAcc(opOnceEnter, 0, 0, acc)
	end := f.emit(opJumpFalse, 0, 0)
	f.emit(opFunc, exit, 0)
	f.emit(opSlot, 0, 0)
	f.emit(opDefer, 1, exit+1)
	f.emit(opSlot, 1, 0)
	f.emit(opCall, 0, 0)
	f.patch(end)
	f.emit(opRet, 0, 0)
	co.slots, co.args = 2, 2
	return n
}

// wgGo returns code for WaitGroup.Go(wg, fn). A panic in fn keeps Done from
// running, as in package sync.
func (c *compiler) wgGo(at ast.Node) int {
	acc := c.accessOf("WaitGroup", AddFromZero, at, "WaitGroup", false)
	done := -1
	if c.m.copies {
		done = c.access(SyncOp, at, "WaitGroup", false)
	}
	run := &function{c: c, code: c.newCode("WaitGroup.Go.func")}
	n := len(c.m.codes) - 1
	run.emit(opSlot, 1, 0)
	run.emit(opCall, 0, 0)
	run.emit(opSlot, 0, 0)
	run.emit(opConst, -1, 0)
	run.emitAcc(opWgAdd, 0, 0, done)
	run.emit(opRet, 0, 0)
	run.code.slots, run.code.args = 2, 2
	f := &function{c: c, code: c.newCode("WaitGroup.Go")}
	f.emit(opSlot, 0, 0)
	f.emit(opConst, 1, 0)
	f.emitAcc(opWgAdd, 0, 0, acc)
	f.emit(opFunc, n, 0)
	f.emit(opSlot, 0, 0)
	f.emit(opSlot, 1, 0)
	f.emit(opGo, 2, n+1)
	f.emit(opRet, 0, 0)
	f.code.slots, f.code.args = 2, 2
	return len(c.m.codes) - 1
}

// atomicAcc numbers the access of an atomic operation. A typed atomic meets
// plain accesses only if the program copies such objects.
func (f *function) atomicAcc(op opcode, at ast.Node, x ast.Expr, typed bool) int {
	if typed && !f.c.m.copies {
		return -1
	}
	name := types.ExprString(x)
	switch op {
	case opAtLoad:
		return f.c.access(AtomicRead, at, name, true)
	case opAtCas: // the one that fails is a read, and comes next
		n := f.c.access(AtomicWrite, at, name, true)
		f.c.access(AtomicRead, at, name, true)
		return n
	}
	return f.c.access(AtomicWrite, at, name, true)
}

// syncCall emits code for a call of package sync or sync/atomic, and reports
// whether e is one.
func (f *function) syncCall(e *ast.CallExpr, fun *ast.SelectorExpr) bool {
	c := f.c
	sel := c.p.info.Selections[fun]
	if sel == nil { // function of a package
		switch o := c.p.info.Uses[fun.Sel]; {
		case o.Pkg().Path() == "sync/atomic":
			f.atomicFunc(e, o.Name())
		case o.Name() == "OnceFunc":
			f.emit(opNew, 2, 0)
			f.value(e.Args[0])
			f.escape(c.onceDo(e))
			f.emit(opClosure, c.onceDo(e), 2)
		default:
			c.fail(e, "function "+o.Name())
		}
		return true
	}
	if sel.Kind() != types.MethodVal {
		return false
	}
	name := syncName(deref(sel.Recv(), sel))
	if name == "" {
		return false
	}
	method := fun.Sel.Name
	op, ok := syncOps[name+"."+method]
	if !ok {
		if op, ok = atomicOps[method]; !ok || name[:min(7, len(name))] != "atomic." {
			f.invoke(opCall, e) // Once.Do, WaitGroup.Go
			return true
		}
		f.path(fun, sel)
		for _, a := range e.Args {
			f.value(a)
		}
		f.emitAcc(op, 0, 0, f.atomicAcc(op, e, fun.X, true))
		return true
	}
	f.path(fun, sel)
	switch {
	case method == "Done":
		f.emit(opConst, -1, 0)
	case method == "Add":
		f.value(e.Args[0])
	}
	f.emitAcc(op, 0, 0, c.syncAcc(op, e, method))
	return true
}

// atomicFunc emits code for a function of sync/atomic on a plain integer.
func (f *function) atomicFunc(e *ast.CallExpr, name string) {
	for prefix, op := range atomicOps {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			for _, a := range e.Args {
				f.value(a)
			}
			x := e.Args[0]
			if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
				x = u.X
			}
			f.emitAcc(op, 0, 0, f.atomicAcc(op, e, x, false))
			return
		}
	}
	f.c.fail(e, "atomic."+name)
}

// builtin emits code for a call of a predeclared function.
func (f *function) builtin(e *ast.CallExpr, name string) {
	c := f.c
	switch name {
	case "make":
		switch t := f.typ(e).Underlying().(type) {
		case *types.Chan:
			if len(e.Args) > 1 {
				f.value(e.Args[1])
			} else {
				f.emit(opConst, 0, 0)
			}
			f.emit(opMakeChan, 0, 0)
		case *types.Slice:
			if len(e.Args) != 2 {
				c.fail(e, "make with a capacity")
			}
			f.value(e.Args[1])
			f.emit(opMakeSlice, c.size(t.Elem(), e), 0)
		case *types.Map:
			f.emit(opMakeMap, 0, 0)
		}
	case "new":
		t := f.typ(e).Underlying().(*types.Pointer).Elem()
		if !c.p.info.Types[e.Args[0]].IsType() {
			c.fail(e, "new of a value")
		}
		f.emit(opNew, c.size(t, e), 0)
	case "close":
		f.value(e.Args[0])
		f.emitAcc(opClose, 0, 0, c.accessOf("chan", CloseOp, e, types.ExprString(e.Args[0]), false))
	case "panic":
		f.emit(opPanic, 0, 0)
	case "recover":
		f.emit(opRecover, 0, 0)
	case "len":
		f.value(e.Args[0])
		switch f.typ(e.Args[0]).Underlying().(type) {
		case *types.Slice:
			f.emit(opLen, 0, 0)
		case *types.Map:
			f.emitAcc(opMapLen, 0, 0, c.accessOf("map", Read, e, types.ExprString(e.Args[0]), true))
		default:
			c.fail(e, "len of this type")
		}
	case "delete":
		f.value(e.Args[0])
		f.value(e.Args[1])
		f.emitAcc(opMapDelete, 0, 0, c.accessOf("map", Write, e, types.ExprString(e.Args[0]), true))
	case "append":
		t := f.typ(e).Underlying().(*types.Slice)
		if len(e.Args) != 2 || e.Ellipsis.IsValid() || c.size(t.Elem(), e) != 1 {
			c.fail(e, "append of this form")
		}
		f.value(e.Args[0])
		f.value(e.Args[1])
		r := c.access(Read, e, types.ExprString(e.Args[0])+"[*]", true)
		f.emitAcc(opAppend, 0, r, c.access(Write, e, types.ExprString(e.Args[0])+"[*]", true))
	default:
		c.fail(e, name)
	}
}
