package progen

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A loop is an enclosing statement that break or continue may name.
type loop struct {
	label     string
	base      int // slots from here on belong to it
	isLoop    bool
	breaks    []int
	continues []int
}

func (f *function) push(l *loop) { f.loops = append(f.loops, l) }

func (f *function) pop() *loop {
	l := f.loops[len(f.loops)-1]
	f.loops = f.loops[:len(f.loops)-1]
	return l
}

func (f *function) patchAll(pcs []int) {
	for _, pc := range pcs {
		f.patch(pc)
	}
}

func (f *function) branch(s *ast.BranchStmt) {
	for i := len(f.loops) - 1; i >= 0; i-- {
		l := f.loops[i]
		if s.Label != nil && s.Label.Name != l.label || s.Tok == token.CONTINUE && !l.isLoop {
			continue
		}
		f.clear(l.base)
		pc := f.emit(opJump, 0, 0)
		switch s.Tok {
		case token.BREAK:
			l.breaks = append(l.breaks, pc)
			return
		case token.CONTINUE:
			l.continues = append(l.continues, pc)
			return
		}
	}
	f.c.fail(s, s.Tok.String())
}

// forStmt compiles a for statement. Its variables are new in each iteration:
// they are copied before the post statement.
func (f *function) forStmt(s *ast.ForStmt, label string) {
	base := f.next
	if s.Init != nil {
		f.stmt(s.Init)
	}
	own := f.next
	top := f.here()
	exit := -1
	if s.Cond != nil {
		f.value(s.Cond)
		exit = f.emit(opJumpFalse, 0, 0)
	}
	f.push(&loop{label: label, base: own, isLoop: true})
	f.block(s.Body.List)
	l := f.pop()
	f.patchAll(l.continues)
	if init, ok := s.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE {
		for _, v := range init.Lhs {
			id := v.(*ast.Ident)
			if o := f.c.p.info.Defs[id]; o != nil && f.c.boxed[o] {
				f.emit(opSlot, f.slots[o], 0)
				f.load(id)
				f.emit(opBox, 0, 0)
				f.emit(opSetSlot, f.slots[o], 0)
			}
		}
	}
	if s.Post != nil {
		f.stmt(s.Post)
	}
	f.emit(opJump, top, 0)
	if exit >= 0 {
		f.patch(exit)
	}
	f.patchAll(l.breaks)
	f.leave(base)
}

func (f *function) rangeStmt(s *ast.RangeStmt, label string) {
	c := f.c
	base := f.next
	define := s.Tok == token.DEFINE
	blank := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return e == nil || ok && id.Name == "_"
	}
	if _, ok := f.typ(s.X).Underlying().(*types.Chan); ok {
		f.value(s.X)
		ch := f.slot()
		f.emit(opSetSlot, ch, 0)
		own := f.next
		top := f.here()
		f.emit(opSlot, ch, 0)
		f.emit(opRange, 0, 0)
		exit := f.emit(opJumpFalse, 0, 0)
		tmp := f.slot()
		f.emit(opSetSlot, tmp, 0)
		if !blank(s.Key) {
			f.bind(s.Key, define, tmp)
		}
		f.push(&loop{label: label, base: own, isLoop: true})
		f.block(s.Body.List)
		l := f.pop()
		f.patchAll(l.continues)
		f.leave(own)
		f.emit(opJump, top, 0)
		f.patch(exit)
		f.patchAll(l.breaks)
		f.leave(base)
		return
	}
	f.value(s.X)
	x, i, n := f.slot(), f.slot(), f.slot()
	var elem types.Type
	switch t := f.typ(s.X).Underlying().(type) {
	case *types.Basic:
		f.emit(opSetSlot, n, 0)
	case *types.Slice:
		elem = t.Elem()
		f.emit(opDup, 0, 0)
		f.emit(opSetSlot, x, 0)
		f.emit(opLen, 0, 0)
		f.emit(opSetSlot, n, 0)
	default:
		c.fail(s, "range over this type")
	}
	f.emit(opConst, 0, 0)
	f.emit(opSetSlot, i, 0)
	own := f.next
	top := f.here()
	f.emit(opSlot, i, 0)
	f.emit(opSlot, n, 0)
	f.emit(opBin, int(token.LSS), 0)
	exit := f.emit(opJumpFalse, 0, 0)
	if !blank(s.Key) {
		f.bind(s.Key, define, i)
	}
	if !blank(s.Value) {
		if isAggregate(elem) {
			c.fail(s, "range with struct values")
		}
		f.emit(opSlot, x, 0)
		f.emit(opSlot, i, 0)
		f.emit(opIndex, c.size(elem, s), -1)
		f.emitAcc(opLoad, 0, 0, c.accessOf(c.classElem(elem), Read, s.X, types.ExprString(s.X)+"[*]", true))
		tmp := f.slot()
		f.emit(opSetSlot, tmp, 0)
		f.bind(s.Value, define, tmp)
	}
	f.push(&loop{label: label, base: own, isLoop: true})
	f.block(s.Body.List)
	l := f.pop()
	f.patchAll(l.continues)
	f.emit(opSlot, i, 0)
	f.emit(opConst, 1, 0)
	f.emit(opBin, int(token.ADD), 0)
	f.emit(opSetSlot, i, 0)
	f.leave(own)
	f.emit(opJump, top, 0)
	f.patch(exit)
	f.patchAll(l.breaks)
	f.leave(base)
}

func (f *function) selectStmt(s *ast.SelectStmt, label string) {
	c := f.c
	table := selectTable{dflt: -1}
	var clauses []*ast.CommClause // in the order of table.cases
	var dflt *ast.CommClause
	recvOf := func(st ast.Stmt) (x *ast.UnaryExpr, lhs []ast.Expr, define bool) {
		switch st := st.(type) {
		case *ast.ExprStmt:
			x, _ = ast.Unparen(st.X).(*ast.UnaryExpr)
		case *ast.AssignStmt:
			x, _ = ast.Unparen(st.Rhs[0]).(*ast.UnaryExpr)
			lhs, define = st.Lhs, st.Tok == token.DEFINE
		}
		return
	}
	for _, cl := range s.Body.List {
		cl := cl.(*ast.CommClause)
		if cl.Comm == nil {
			dflt = cl
			continue
		}
		sc := selectCase{at: table.operands, acc: -1}
		if send, ok := cl.Comm.(*ast.SendStmt); ok {
			sc.send = true
			f.value(send.Chan)
			f.value(send.Value)
			sc.acc = int32(c.accessOf("chan", SendOp, send, types.ExprString(send.Chan), false))
			table.operands += 2
		} else {
			x, lhs, _ := recvOf(cl.Comm)
			f.value(x.X)
			sc.ok = len(lhs) == 2
			table.operands++
		}
		table.cases = append(table.cases, sc)
		clauses = append(clauses, cl)
	}
	n := len(c.m.selects)
	c.m.selects = append(c.m.selects, table)
	f.emit(opSelect, n, 0)
	base := f.next
	f.push(&loop{label: label, base: base})
	var ends []int
	for i, cl := range clauses {
		c.m.selects[n].cases[i].target = int32(f.here())
		if !table.cases[i].send {
			_, lhs, define := recvOf(cl.Comm)
			tmp := f.slot()
			okTmp := f.slot()
			if table.cases[i].ok {
				f.emit(opSetSlot, okTmp, 0)
			}
			f.emit(opSetSlot, tmp, 0)
			for j, l := range lhs {
				f.bind(l, define, tmp+j)
			}
		}
		f.block(cl.Body)
		f.leave(base)
		ends = append(ends, f.emit(opJump, 0, 0))
	}
	if dflt != nil {
		c.m.selects[n].dflt = int32(f.here())
		f.block(dflt.Body)
	}
	l := f.pop()
	f.patchAll(ends)
	f.patchAll(l.breaks)
	f.leave(base)
}
