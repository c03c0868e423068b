package extract

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

// instr lowers one instruction.
func (l *lowering) instr(blk *ssa.BasicBlock, j int, in ssa.Instruction) {
	switch in.(type) {
	case *ssa.MakeSlice, *ssa.MakeChan, *ssa.MakeMap, *ssa.Index, *ssa.Lookup, *ssa.Slice, *ssa.SliceToArrayPointer, *ssa.MultiConvert, *ssa.Next:
		// These may panic before they do anything else; the rows below carry
		// their own flags where they have points.
		l.point(facts.OpNop, 0, facts.MayPanic)
	}
	switch in := in.(type) {
	case *ssa.DebugRef:
	case *ssa.Jump, *ssa.If:
	case *ssa.Return:
		leaf := 0
		var results []facts.Reg
		for _, v := range in.Results {
			n := l.leaves(v.Type())
			r := l.reg(v)
			if r != facts.NoReg && n > 0 {
				l.copyLeaves(l.f.Ret, leaf, r, 0, n, -1, false)
			}
			leaf += n
			results = append(results, r)
		}
		l.f.Blocks[l.cur].Return, l.f.Blocks[l.cur].Results = true, results
	case *ssa.Panic:
		l.panics(in.X)
	case *ssa.RunDefers:
		l.runDefers(blk, j)
	case *ssa.Defer:
		l.deferred(blk, j, in)
	case *ssa.Go:
		l.call(&in.Call, facts.ModeGo, nil)
	case *ssa.Call:
		l.call(&in.Call, facts.ModeCall, in)
	case *ssa.Phi:
		r := l.reg(in)
		l.f.Phis = append(l.f.Phis, facts.Phi{Dst: r})
		l.point(facts.OpPhi, len(l.f.Phis)-1, 0)
	case *ssa.Alloc:
		l.alloc(l.reg(in), facts.Site{
			Kind: facts.SiteNew, Heap: in.Heap, Pos: l.at, Name: in.Comment,
			Type: l.typ(in.Type().Underlying().(*types.Pointer).Elem()),
		})
	case *ssa.MakeSlice:
		l.alloc(l.reg(in), facts.Site{Kind: facts.SiteSlice, Heap: true, Pos: l.at,
			Type: l.arrayOf(in.Type().Underlying().(*types.Slice).Elem())})
	case *ssa.MakeMap:
		l.alloc(l.reg(in), facts.Site{Kind: facts.SiteMap, Heap: true, Pos: l.at,
			Type: l.mapObj(in.Type().Underlying().(*types.Map))})
	case *ssa.MakeChan:
		r := l.alloc(l.reg(in), facts.Site{Kind: facts.SiteChan, Heap: true, Pos: l.at,
			Type: l.chanObj(in.Type().Underlying().(*types.Chan))})
		_ = r
		if c, ok := in.Size.(*ssa.Const); ok {
			if n, ok := constInt(c); ok {
				s := &l.f.Sites[len(l.f.Sites)-1]
				s.Cap, s.CapKnown = n, true
			}
		}
	case *ssa.MakeInterface:
		l.box(in)
	case *ssa.MakeClosure:
		l.closure(in)
	case *ssa.UnOp:
		l.unop(in)
	case *ssa.BinOp:
		l.binop(in)
	case *ssa.Store:
		if returnsItself(in) {
			return
		}
		l.mem(facts.Mem{Base: l.reg(in.Addr), Type: l.typ(in.Val.Type()), Val: l.reg(in.Val), Write: true, What: l.what(in.Addr)})
	case *ssa.FieldAddr:
		st := in.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
		off, bytes := l.fieldCell(st, in.Field)
		l.addr(in, facts.Addr{Base: l.reg(in.X), Kind: facts.AddrField, Off: uint32(off), Bytes: bytes, Name: st.Field(in.Field).Name()})
	case *ssa.IndexAddr:
		l.addr(in, facts.Addr{Base: l.reg(in.X), Kind: facts.AddrElem, Index: l.lin(in.Index)})
	case *ssa.Slice:
		if _, str := in.X.Type().Underlying().(*types.Basic); str {
			l.result(in)
			return
		}
		l.addr(in, facts.Addr{Base: l.reg(in.X), Kind: facts.AddrSlice, Index: l.lin(in.Low), High: l.lin(in.High), Max: l.lin(in.Max)})
	case *ssa.Field:
		st := in.X.Type().Underlying().(*types.Struct)
		l.copyLeaves(l.reg(in), 0, l.reg(in.X), l.fieldLeaf(st, in.Field), l.leaves(in.Type()), -1, false)
	case *ssa.Index:
		if n := l.leaves(in.Type()); n > 0 {
			l.copyLeaves(l.reg(in), 0, l.reg(in.X), 0, n, -1, false)
		} else {
			l.result(in)
		}
	case *ssa.Extract:
		tup := in.Tuple.Type().(*types.Tuple)
		leaf := 0
		for i := range in.Index {
			leaf += l.leaves(tup.At(i).Type())
		}
		l.copyLeaves(l.reg(in), 0, l.reg(in.Tuple), leaf, l.leaves(in.Type()), in.Index, false)
	case *ssa.ChangeType:
		l.copyAll(in, in.X, 0)
	case *ssa.ChangeInterface:
		l.copyAll(in, in.X, 0)
	case *ssa.SliceToArrayPointer:
		l.copyAll(in, in.X, facts.MayPanic)
	case *ssa.Convert:
		l.convert(in, in.X)
	case *ssa.MultiConvert:
		l.convert(in, in.X)
	case *ssa.TypeAssert:
		var flags uint8
		if !in.CommaOk {
			flags = facts.MayPanic
		}
		l.f.Asserts = append(l.f.Asserts, facts.Assert{Dst: l.reg(in), X: l.reg(in.X), Type: l.typ(in.AssertedType), CommaOk: in.CommaOk})
		l.point(facts.OpAssert, len(l.f.Asserts)-1, flags)
	case *ssa.Lookup:
		l.lookup(in)
	case *ssa.MapUpdate:
		m := in.Map.Type().Underlying().(*types.Map)
		l.mem(facts.Mem{Base: l.reg(in.Map), Type: l.header(), Write: true, What: facts.WhatMap})
		l.mem(facts.Mem{Base: l.reg(in.Map), Off: 1, Type: l.typ(m.Key()), Val: l.reg(in.Key), Write: true, Mode: facts.Flow})
		l.mem(facts.Mem{Base: l.reg(in.Map), Off: 1 + uint32(l.cells(m.Key())), Type: l.typ(m.Elem()), Val: l.reg(in.Value), Write: true, Mode: facts.Flow})
	case *ssa.Range:
		if _, ok := in.X.Type().Underlying().(*types.Map); ok {
			l.copyLeaves(l.reg(in), 0, l.reg(in.X), 0, 1, -1, true)
			l.mem(facts.Mem{Base: l.reg(in.X), Type: l.header(), What: facts.WhatRange})
			return
		}
		l.result(in)
	case *ssa.Next:
		l.next(in)
	case *ssa.Send:
		l.send(l.reg(in.Chan), in.Chan.Type(), in.X)
	case *ssa.Select:
		l.selects(in)
	default:
		l.unknown(in.String())
	}
}

// returnsItself reports whether a store is what go/ssa makes of a named result
// that a return statement gives itself. The compiler stores nothing there: what
// the result holds was loaded in the same block, and nothing that may change it,
// no call and no other store to it, stands between.
func returnsItself(in *ssa.Store) bool {
	ld, ok := in.Val.(*ssa.UnOp)
	if !ok || ld.Op != token.MUL || ld.X != in.Addr || ld.Block() != in.Block() {
		return false
	}
	is := in.Block().Instrs
	ret, ok := is[len(is)-1].(*ssa.Return)
	if a, isAlloc := in.Addr.(*ssa.Alloc); !ok || !isAlloc || ret.Pos() != in.Pos() || a.Parent() != in.Parent() {
		return false
	}
	between := false
	for _, x := range is {
		switch x := x.(type) {
		case *ssa.UnOp:
			if x == ld {
				between = true
			} else if between && x.Op == token.ARROW {
				return false
			}
		case *ssa.Store:
			if x == in {
				return between
			}
			if _, other := x.Addr.(*ssa.Alloc); between && (!other || x.Addr == in.Addr) {
				return false
			}
		case *ssa.DebugRef, *ssa.BinOp:
		default:
			if between {
				return false
			}
		}
	}
	return false
}

func (l *lowering) unknown(what string) {
	if l.err == nil {
		p := l.at
		l.err = &UnknownInstructionError{
			Pos:  token.Position{Filename: l.rec.Files[p.File], Line: int(p.Line), Column: int(p.Col)},
			Func: l.f.Name, Instr: what,
		}
	}
}

// alloc adds an allocation into dst and returns it.
func (l *lowering) alloc(dst facts.Reg, s facts.Site) facts.Reg {
	l.f.Sites = append(l.f.Sites, s)
	l.f.Allocs = append(l.f.Allocs, facts.Alloc{Dst: dst, Site: facts.SiteID(len(l.f.Sites) - 1)})
	l.point(facts.OpAlloc, len(l.f.Allocs)-1, 0)
	return dst
}

// copyLeaves adds a flow of n leaves; index is a tuple's component or -1.
func (l *lowering) copyLeaves(dst facts.Reg, dstLeaf int, src facts.Reg, srcLeaf, n, index int, unsafe bool) {
	if src == facts.NoReg {
		return
	}
	l.f.Copies = append(l.f.Copies, facts.Copy{
		Dst: dst, Src: src, DstLeaf: uint16(dstLeaf), SrcLeaf: uint16(srcLeaf), N: uint16(n), Index: int16(index), Unsafe: unsafe,
	})
	l.point(facts.OpCopy, len(l.f.Copies)-1, 0)
}

// copyAll adds a flow of all the leaves of src, which has dst's layout.
func (l *lowering) copyAll(dst, src ssa.Value, flags uint8) {
	r := l.reg(dst)
	if s := l.reg(src); s != facts.NoReg {
		l.copyLeaves(r, 0, s, 0, l.leaves(src.Type()), -1, false)
		ps := l.points[l.cur]
		ps[len(ps)-1].Flags |= flags
	}
}

func (l *lowering) copyUnsafe(dst, src ssa.Value) {
	r := l.reg(dst)
	if s := l.reg(src); s != facts.NoReg && l.leaves(src.Type()) > 0 {
		l.copyLeaves(r, 0, s, 0, 1, -1, true)
	}
}

// temp returns a fresh register of type t.
func (l *lowering) temp(t types.Type) facts.Reg { return l.newReg(nil, t) }

// mem adds a load or store. Accesses take the mode of the function.
func (l *lowering) mem(m facts.Mem) {
	if m.Base == facts.NoReg { // a constant nil: panics, touches nothing
		l.point(facts.OpNop, 0, facts.MayPanic)
		return
	}
	if m.Mode == facts.Plain {
		m.Mode = l.mode
	}
	flags := facts.MayPanic
	if m.Mode == facts.Flow {
		flags = 0
	}
	l.f.Mems = append(l.f.Mems, m)
	l.point(facts.OpMem, len(l.f.Mems)-1, flags)
}

func (l *lowering) deep(d facts.Deep) {
	if d.X == facts.NoReg {
		return
	}
	l.f.Deeps = append(l.f.Deeps, d)
	l.point(facts.OpDeep, len(l.f.Deeps)-1, 0)
}

func (l *lowering) addr(v ssa.Value, a facts.Addr) {
	a.Dst = l.reg(v)
	if a.Base == facts.NoReg {
		l.point(facts.OpNop, 0, facts.MayPanic)
		return
	}
	l.f.Addrs = append(l.f.Addrs, a)
	l.point(facts.OpAddr, len(l.f.Addrs)-1, facts.MayPanic)
}

// what says what kind of place an address names.
func (l *lowering) what(addr ssa.Value) facts.What {
	if _, ok := addr.(*ssa.IndexAddr); ok {
		return facts.WhatElem
	}
	return facts.WhatVar
}

// fieldCell returns the first cell and the byte offset of a field.
func (l *lowering) fieldCell(st *types.Struct, field int) (int, int64) {
	n := 0
	vars := make([]*types.Var, st.NumFields())
	for i := range vars {
		vars[i] = st.Field(i)
		if i < field {
			n += l.cells(vars[i].Type())
		}
	}
	return n, l.cfg.Sizes.Offsetsof(vars)[field]
}

func (l *lowering) fieldLeaf(st *types.Struct, field int) int {
	n := 0
	for i := range field {
		n += l.leaves(st.Field(i).Type())
	}
	return n
}

// box lowers the making of an interface value: an object of the dynamic type
// that nobody writes again.
func (l *lowering) box(in *ssa.MakeInterface) {
	t := in.X.Type()
	l.table(t)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		_ = p
	}
	r := l.alloc(l.reg(in), facts.Site{Kind: facts.SiteBox, Heap: true, Type: l.typ(t), Pos: l.at})
	if x := l.reg(in.X); x != facts.NoReg && l.leaves(t) > 0 {
		l.mem(facts.Mem{Base: r, Type: l.typ(t), Val: x, Write: true, Mode: facts.Flow})
	}
}

// closure lowers the making of a closure: an object whose cells are bindings.
func (l *lowering) closure(in *ssa.MakeClosure) {
	fn := in.Fn.(*ssa.Function)
	var fields []facts.Field
	name := "closure.object " + l.funcName(fn)
	var vals []facts.Reg
	var ts []types.Type
	for i, bound := range in.Bindings {
		t := bound.Type()
		val := facts.NoReg
		if l.byValue[fn.FreeVars[i]] {
			t = t.Underlying().(*types.Pointer).Elem()
			if fv, ok := bound.(*ssa.FreeVar); ok {
				val = l.reg(fv) // captured by value here too
			} else {
				val = l.temp(t)
				l.mem(facts.Mem{Base: l.reg(bound), Type: l.typ(t), Val: val})
			}
		} else {
			val = l.reg(bound)
		}
		fields = append(fields, facts.Field{Name: fn.FreeVars[i].Name(), Type: l.typ(t)})
		vals, ts = append(vals, val), append(ts, t)
	}
	obj := l.synthetic(name, fields...)
	r := l.alloc(l.reg(in), facts.Site{Kind: facts.SiteClosure, Heap: true, Type: obj, Fn: l.builder.fn(fn), Pos: l.at})
	off := 0
	for i, t := range ts {
		if vals[i] != facts.NoReg {
			l.mem(facts.Mem{Base: r, Off: uint32(off), Type: l.typ(t), Val: vals[i], Write: true, Mode: facts.Flow})
		}
		off += l.cells(t)
	}
}

func (l *lowering) unop(in *ssa.UnOp) {
	switch in.Op {
	case token.MUL:
		if fv, ok := in.X.(*ssa.FreeVar); ok && l.byValue[fv] {
			l.copyLeaves(l.reg(in), 0, l.reg(fv), 0, l.leaves(in.Type()), -1, false)
			return
		}
		l.mem(facts.Mem{Base: l.reg(in.X), Type: l.typ(in.Type()), Val: l.reg(in), What: l.what(in.X)})
	case token.ARROW:
		el := in.X.Type().Underlying().(*types.Chan).Elem()
		r := l.reg(in)
		l.f.Syncs = append(l.f.Syncs, facts.Sync{Op: facts.SyncRecv, Obj: l.reg(in.X), Dst: r, Comma: in.CommaOk})
		l.point(facts.OpSync, len(l.f.Syncs)-1, 0)
		l.mem(facts.Mem{Base: l.reg(in.X), Type: l.typ(el), Val: r, Mode: facts.Flow})
	case token.NOT:
		l.arith(in, facts.ArithNot, in.X, nil)
	default:
		l.result(in)
	}
}

var ariths = map[token.Token]facts.ArithOp{
	token.ADD: facts.ArithAdd, token.SUB: facts.ArithSub, token.MUL: facts.ArithMul,
	token.EQL: facts.ArithEq, token.NEQ: facts.ArithNe, token.LSS: facts.ArithLt,
	token.LEQ: facts.ArithLe, token.GTR: facts.ArithGt, token.GEQ: facts.ArithGe,
}

func (l *lowering) binop(in *ssa.BinOp) {
	l.arith(in, ariths[in.Op], in.X, in.Y)
	if mayPanicBinOp(in) {
		l.point(facts.OpNop, 0, facts.MayPanic)
	}
}

// mayPanicBinOp reports whether an operator may panic: division, a shift by a
// count that may be negative, a comparison in which interfaces may hold values
// that do not compare.
func mayPanicBinOp(in *ssa.BinOp) bool {
	switch in.Op {
	case token.QUO, token.REM:
		return true
	case token.SHL, token.SHR:
		b, ok := in.Y.Type().Underlying().(*types.Basic)
		_, constant := in.Y.(*ssa.Const)
		return !constant && (!ok || b.Info()&types.IsUnsigned == 0)
	case token.EQL, token.NEQ:
		return holdsInterface(in.X.Type()) || holdsInterface(in.Y.Type())
	}
	return false
}

func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for i := range u.NumFields() {
			if holdsInterface(u.Field(i).Type()) {
				return true
			}
		}
	case *types.Array:
		return holdsInterface(u.Elem())
	}
	return false
}

func (l *lowering) arith(v ssa.Value, op facts.ArithOp, x, y ssa.Value) {
	a := facts.Arith{Dst: l.reg(v), Op: op, X: l.reg(x)}
	if y != nil {
		a.Y = l.reg(y)
	}
	l.f.Ariths = append(l.f.Ariths, a)
	l.point(facts.OpArith, len(l.f.Ariths)-1, 0)
}

// convert lowers conversions that may change the representation.
func (l *lowering) convert(v ssa.Value, x ssa.Value) {
	from, to := x.Type().Underlying(), v.Type().Underlying()
	r := l.reg(v)
	tb, toBasic := to.(*types.Basic)
	fb, fromBasic := from.(*types.Basic)
	switch {
	case toBasic && tb.Kind() == types.UnsafePointer && fromBasic && fb.Kind() == types.Uintptr:
		l.fromUintptr(r, x)
	case fromBasic && fb.Kind() == types.UnsafePointer && !toBasic:
		if !l.f.Is(facts.FnModel) {
			l.assume("unsafe", "a pointer converted through unsafe.Pointer views memory as rule (1) of package unsafe allows")
		}
		l.copyUnsafe(v, x)
	case l.leaves(v.Type()) == 1 && l.leaves(x.Type()) == 1:
		l.copyAll(v, x, 0)
	case toBasic && fromBasic && tb.Info()&fb.Info()&types.IsInteger != 0:
		l.arith(v, facts.ArithConv, x, nil)
	case toBasic && tb.Info()&types.IsString != 0:
		if el, ok := sliceElem(from); ok {
			l.mem(facts.Mem{Base: l.reg(x), Type: l.typ(el), What: facts.WhatConvert})
		}
	case fromBasic && fb.Info()&types.IsString != 0:
		if el, ok := sliceElem(to); ok {
			l.alloc(r, facts.Site{Kind: facts.SiteBytes, Heap: true, Type: l.arrayOf(el), Pos: l.at})
		}
	}
}

func (l *lowering) lookup(in *ssa.Lookup) {
	m, ok := in.X.Type().Underlying().(*types.Map)
	r := l.reg(in)
	if !ok {
		return // a string
	}
	l.mem(facts.Mem{Base: l.reg(in.X), Type: l.header(), What: facts.WhatMap})
	l.mem(facts.Mem{Base: l.reg(in.X), Off: 1 + uint32(l.cells(m.Key())), Type: l.typ(m.Elem()), Val: r, Mode: facts.Flow})
}

// next lowers a step of a range over a map; strings have no memory here.
func (l *lowering) next(in *ssa.Next) {
	r := l.reg(in)
	if in.IsString {
		return
	}
	m := in.Iter.(*ssa.Range).X.Type().Underlying().(*types.Map)
	iter := l.reg(in.Iter)
	l.mem(facts.Mem{Base: iter, Type: l.header(), What: facts.WhatRange})
	tup := in.Type().(*types.Tuple)
	leaf := 0
	if n := l.leaves(tup.At(1).Type()); n > 0 {
		l.mem(facts.Mem{Base: iter, Off: 1, Type: l.typ(m.Key()), Val: r, Mode: facts.Flow})
		leaf = n
	}
	if n := l.leaves(tup.At(2).Type()); n > 0 {
		l.mem(facts.Mem{Base: iter, Off: 1 + uint32(l.cells(m.Key())), Type: l.typ(m.Elem()), Val: r, ValLeaf: uint16(leaf), Mode: facts.Flow})
	}
}

func (l *lowering) send(ch facts.Reg, t types.Type, x ssa.Value) {
	el := t.Underlying().(*types.Chan).Elem()
	l.mem(facts.Mem{Base: ch, Type: l.typ(el), Val: l.reg(x), Write: true, Mode: facts.Flow})
	l.f.Syncs = append(l.f.Syncs, facts.Sync{Op: facts.SyncSend, Obj: ch, Val: l.reg(x)})
	l.point(facts.OpSync, len(l.f.Syncs)-1, facts.MayPanic)
}

func (l *lowering) selects(in *ssa.Select) {
	r := l.reg(in)
	sel := facts.Select{Dst: r, Blocking: in.Blocking}
	for _, s := range in.States {
		ch := l.reg(s.Chan)
		sel.Cases = append(sel.Cases, facts.SelectCase{Send: s.Dir == types.SendOnly, Chan: ch})
		if s.Dir == types.SendOnly && ch != facts.NoReg {
			el := s.Chan.Type().Underlying().(*types.Chan).Elem()
			l.mem(facts.Mem{Base: ch, Type: l.typ(el), Val: l.reg(s.Send), Write: true, Mode: facts.Flow})
		}
	}
	l.f.Selects = append(l.f.Selects, sel)
	l.point(facts.OpSelect, len(l.f.Selects)-1, facts.MayPanic)
	leaf := 0
	for _, s := range in.States {
		if s.Dir == types.SendOnly {
			continue
		}
		el := s.Chan.Type().Underlying().(*types.Chan).Elem()
		if n := l.leaves(el); n > 0 {
			if ch := l.reg(s.Chan); ch != facts.NoReg {
				l.mem(facts.Mem{Base: ch, Type: l.typ(el), Val: r, ValLeaf: uint16(leaf), Mode: facts.Flow})
			}
			leaf += n
		}
	}
}

// call lowers a call, a go statement or a deferred call.
func (l *lowering) call(c *ssa.CallCommon, mode facts.CallMode, dst ssa.Value) {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		if mode == facts.ModeGo {
			l.goBuiltin(b.Name(), c)
			return
		}
		l.builtin(b.Name(), c, dst)
		return
	}
	row := facts.Call{Mode: mode, Pos: l.at}
	if dst != nil {
		row.Dst = l.reg(dst)
	}
	fn := c.StaticCallee()
	switch {
	case c.IsInvoke():
		row.Method, row.Recv = l.method(c.Method), l.reg(c.Value)
	case fn != nil && fn.Synthetic == "package initializer":
		return // the linker orders initialisers
	case fn != nil && l.markerName(fn) != "":
		l.marker(l.markerName(fn), c, dst)
		return
	case fn != nil && len(fn.FreeVars) == 0:
		row.Static = l.builder.fn(fn)
	default:
		row.Fn = l.reg(c.Value)
	}
	for _, a := range c.Args {
		row.Args = append(row.Args, l.reg(a))
	}
	row.Name = methodName(c)
	l.kernel(fn, c)
	l.f.Calls = append(l.f.Calls, row)
	l.point(facts.OpCall, len(l.f.Calls)-1, facts.MayPanic)
}

// methodName returns the constant name in a call of MethodByName of a
// reflect.Value or reflect.Type, or "".
func methodName(c *ssa.CallCommon) string {
	m := c.Method
	if fn := c.StaticCallee(); fn != nil {
		m, _ = fn.Object().(*types.Func)
	}
	if m == nil || m.Name() != "MethodByName" || m.Pkg() == nil || m.Pkg().Path() != "reflect" || len(c.Args) == 0 {
		return ""
	}
	if k, ok := c.Args[len(c.Args)-1].(*ssa.Const); ok && k.Value != nil && k.Value.Kind() == constant.String {
		return constant.StringVal(k.Value)
	}
	return ""
}

// markerName returns the name of the model marker that fn is, or "".
func (l *lowering) markerName(fn *ssa.Function) string {
	if fn.Blocks != nil || fn.Parent() != nil {
		return ""
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	name := strings.TrimSuffix(fn.Name(), load.ModelSuffix)
	if len(name) > 2 && strings.HasPrefix(name, "bf") && name[2] >= 'A' && name[2] <= 'Z' && name != "bfTests" && l.modelAt(fn.Pos()) != nil {
		return name
	}
	return ""
}

// marker lowers a call of a model's marker function; docs/models.md lists them.
func (l *lowering) marker(name string, c *ssa.CallCommon, dst ssa.Value) {
	arg := func(i int) facts.Reg {
		v := c.Args[i]
		for {
			if m, ok := v.(*ssa.MakeInterface); ok {
				v = m.X
			} else if m, ok := v.(*ssa.ChangeInterface); ok {
				v = m.X
			} else {
				return l.reg(v)
			}
		}
	}
	val := func(i int) facts.Reg { return l.reg(c.Args[i]) } // as an interface value
	flag := func(i int) bool {
		k, ok := c.Args[i].(*ssa.Const)
		if !ok {
			l.unknown(name + " with a mode that is no constant")
			return false
		}
		v, _ := constInt(k)
		return v != 0
	}
	reach := func(how facts.Reached) {
		x := val(0)
		if how == facts.ReachPrint {
			x = arg(0)
		}
		l.f.Reaches = append(l.f.Reaches, facts.Reach{Dst: l.reg(dst), X: x, How: how})
		l.point(facts.OpReach, len(l.f.Reaches)-1, 0)
	}
	sync := func(s facts.Sync) {
		if s.Obj == facts.NoReg {
			return
		}
		l.f.Syncs = append(l.f.Syncs, s)
		l.point(facts.OpSync, len(l.f.Syncs)-1, facts.MayPanic)
	}
	switch name {
	case "bfAcquire":
		sync(facts.Sync{Op: facts.SyncAcquire, Obj: arg(0), Write: flag(1)})
	case "bfRelease":
		sync(facts.Sync{Op: facts.SyncRelease, Obj: arg(0), Write: flag(1)})
	case "bfAdd":
		s := facts.Sync{Op: facts.SyncAdd, Obj: arg(0), Val: l.reg(c.Args[1])}
		if k, ok := c.Args[1].(*ssa.Const); ok {
			s.N, s.Known = constInt(k)
		}
		sync(s)
	case "bfWait":
		sync(facts.Sync{Op: facts.SyncWait, Obj: arg(0)})
	case "bfOnce":
		from := l.cur
		call := l.block()
		l.edge(from, call)
		l.f.Blocks[call].Panic = l.f.Blocks[from].Panic
		l.f.Calls = append(l.f.Calls, facts.Call{Fn: arg(1), Once: arg(0), Pos: l.at})
		l.point(facts.OpCall, len(l.f.Calls)-1, facts.MayPanic)
		next := l.block()
		l.edge(call, next)
		l.edge(from, next)
		l.f.Blocks[next].Panic = l.f.Blocks[from].Panic
		sync(facts.Sync{Op: facts.SyncOnce, Obj: arg(0)})
	case "bfMaybe":
		l.result(dst)
	case "bfReach":
		reach(facts.ReachAll)
	case "bfExported":
		reach(facts.ReachExported)
	case "bfPrinted":
		reach(facts.ReachPrint)
	case "bfStep":
		reach(facts.Step)
	case "bfStepAll":
		reach(facts.StepAll)
	case "bfConvert":
		l.f.Reaches = append(l.f.Reaches, facts.Reach{Dst: l.reg(dst), X: val(0), Type: val(1), How: facts.ReachConverted})
		l.point(facts.OpReach, len(l.f.Reaches)-1, 0)
	case "bfAt":
		l.f.Reaches = append(l.f.Reaches, facts.Reach{Dst: l.reg(dst), X: l.reg(c.Args[0]), Type: val(1), How: facts.ReachAt})
		l.point(facts.OpReach, len(l.f.Reaches)-1, 0)
	case "bfHide", "bfShow":
		l.copyAll(dst, c.Args[0], 0)
	case "bfSlice":
		reach(facts.ReachSliced)
	case "bfTypeOver":
		kind, ok := c.Args[1].(*ssa.Const)
		if !ok {
			l.unknown(name + " with a kind that is no constant")
			return
		}
		n, _ := constInt(kind)
		l.f.Reaches = append(l.f.Reaches, facts.Reach{Dst: l.reg(dst), X: val(0), How: facts.TypeOver, Kind: facts.Kind(n)})
		l.point(facts.OpReach, len(l.f.Reaches)-1, 0)
	case "bfMethods":
		reach(facts.ReachMethods)
	case "bfTypes":
		reach(facts.ReachTypes)
	case "bfTypeParts":
		reach(facts.TypeParts)
	case "bfTypeMethods":
		reach(facts.TypeMethods)
	case "bfNew":
		l.f.News = append(l.f.News, facts.New{Dst: l.reg(dst), X: l.reg(c.Args[0])})
		l.point(facts.OpNew, len(l.f.News)-1, 0)
	case "bfStore":
		l.deep(facts.Deep{X: val(0), Write: true, How: facts.ReachCells, From: val(1)})
	case "bfStoreVars":
		l.deep(facts.Deep{X: val(0), Write: true, How: facts.ReachVars, From: val(1)})
	case "bfReadVars":
		l.deep(facts.Deep{X: val(0), How: facts.ReachVars})
	case "bfReadCells":
		l.deep(facts.Deep{X: arg(0), How: facts.ReachGiven})
	case "bfRead":
		l.deep(facts.Deep{X: val(0), How: facts.ReachCells})
	case "bfDeepRead":
		l.deep(facts.Deep{X: val(0)})
	case "bfDeepWrite":
		l.deep(facts.Deep{X: val(0), Write: true})
	case "bfExportedRead":
		l.deep(facts.Deep{X: val(0), How: facts.ReachExported})
	case "bfExportedFill":
		l.deep(facts.Deep{X: val(0), Write: true, How: facts.ReachExported, Fresh: true})
	case "bfPrintRead":
		l.deep(facts.Deep{X: arg(0), How: facts.ReachPrint})
	case "bfGhost":
		l.f.Ghosts = append(l.f.Ghosts, facts.Ghost{Dst: l.reg(dst), Base: arg(0)})
		l.point(facts.OpGhost, len(l.f.Ghosts)-1, 0)
	case "bfCallFunc":
		a := facts.CallAny{Fn: val(0), X: val(1)}
		if dst != nil {
			a.Dst = l.reg(dst)
		}
		l.f.Anys = append(l.f.Anys, a)
		l.point(facts.OpAny, len(l.f.Anys)-1, facts.MayPanic)
	case "bfParallel":
		l.f.Syncs = append(l.f.Syncs, facts.Sync{Op: facts.SyncParallel})
		l.point(facts.OpSync, len(l.f.Syncs)-1, 0)
	case "bfExit":
		l.point(facts.OpExit, 0, 0)
		l.block()
	case "bfGoexit":
		l.point(facts.OpNop, 0, facts.MayPanic)
		panicTo := l.f.Blocks[l.cur].Panic
		l.block()
		l.f.Blocks[l.cur].Panic = panicTo
	case "bfUnknown":
		text := "unmodelled"
		if k, ok := c.Args[0].(*ssa.Const); ok && k.Value != nil {
			text = strings.Trim(k.Value.ExactString(), `"`)
		}
		l.assume("model", text)
	default:
		l.unknown("marker " + name)
	}
}
