package extract

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
)

// deferPlan lowers the deferred calls of one function.
//
// Let d1 ... dn be its defer statements in an order in which they can execute
// (reverse postorder). Where none lies on a cycle, the calls pending at a point
// are those whose statements reach it, and they run last first:
//
//	(D1) at a return, the pending calls in the order dn ... d1; one whose
//	     statement dominates the return surely runs, any other may be skipped
//	(D2) a point that may panic goes to entry k of the panic sequence, k being
//	     the last statement that reaches it; there each call may be skipped
//	(D3) a deferred call that panics itself goes on with the entry below its own
//	(D4) the panic sequence ends in the recover block if some deferred function
//	     may call recover, in the body of a range-over-func loop of its own too,
//	     else it leaves the function
//
// With a statement on a cycle, its call runs any number of times and the order
// is not fixed: (D5) both sequences become a loop over all the calls.
//
// (D7) Such a call may still recover a panic of the enclosing function, wherever
// that panics: then every point that may panic goes to the panic sequence.
//
// (D6) A defer statement in the body of a range-over-func loop belongs to the
// enclosing function, whose registers the body does not know. Its call is
// taken to run in a goroutine of its own from the statement on: unordered with
// all that follows, which is more than it can do.
type deferPlan struct {
	list    []*ssa.Defer
	cyclic  bool
	recover bool
	always  bool  // (D7)
	entry   []int // lowered block of panic entry k; entry[0] is the end
	rows    map[*ssa.Defer]int
	reach   []map[*ssa.BasicBlock]bool // blocks that list[i]'s block leads to
}

// planDefers returns the plan for l.fn, or nil if it defers nothing itself.
func (l *lowering) planDefers() *deferPlan {
	if l.inYield() {
		return nil
	}
	var ds []*ssa.Defer
	order := reversePostorder(l.fn)
	for _, blk := range order {
		for _, in := range blk.Instrs {
			if d, ok := in.(*ssa.Defer); ok {
				ds = append(ds, d)
			}
		}
	}
	foreign := l.yieldsRecover(l.fn)
	if len(ds) == 0 && !foreign {
		return nil
	}
	p := &deferPlan{list: ds, rows: map[*ssa.Defer]int{}, recover: foreign, always: foreign}
	for _, d := range ds {
		r := reachable(d.Block())
		p.reach = append(p.reach, r)
		if r[d.Block()] {
			p.cyclic = true
		}
		if l.mayRecover(&d.Call) {
			p.recover = true
		}
	}
	return p
}

// yieldsRecover reports whether the body of a range-over-func loop of fn, at any
// depth, defers a call that may recover. (D7)
func (b *builder) yieldsRecover(fn *ssa.Function) bool {
	for _, a := range fn.AnonFuncs {
		if a.Synthetic != "range-over-func yield" {
			continue
		}
		for _, blk := range a.Blocks {
			for _, in := range blk.Instrs {
				if d, ok := in.(*ssa.Defer); ok && b.mayRecover(&d.Call) {
					return true
				}
			}
		}
		if b.yieldsRecover(a) {
			return true
		}
	}
	return false
}

// inYield reports whether fn is the body of a range-over-func loop.
func (l *lowering) inYield() bool { return l.fn.Synthetic == "range-over-func yield" }

func reversePostorder(fn *ssa.Function) []*ssa.BasicBlock {
	seen := make([]bool, len(fn.Blocks))
	var post []*ssa.BasicBlock
	type frame struct {
		b *ssa.BasicBlock
		i int
	}
	visit := func(root *ssa.BasicBlock) {
		if seen[root.Index] {
			return
		}
		seen[root.Index] = true
		stack := []frame{{root, 0}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.i < len(f.b.Succs) {
				s := f.b.Succs[f.i]
				f.i++
				if !seen[s.Index] {
					seen[s.Index] = true
					stack = append(stack, frame{s, 0})
				}
				continue
			}
			post = append(post, f.b)
			stack = stack[:len(stack)-1]
		}
	}
	visit(fn.Blocks[0])
	if fn.Recover != nil {
		visit(fn.Recover)
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// reachable returns the blocks that b leads to, b itself only over a cycle.
func reachable(b *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	seen := map[*ssa.BasicBlock]bool{}
	todo := []*ssa.BasicBlock{b}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range x.Succs {
			if !seen[s] {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	return seen
}

// mayRecover reports whether the deferred function may call recover itself;
// only then does recover stop a panic.
func (b *builder) mayRecover(c *ssa.CallCommon) bool {
	if _, ok := c.Value.(*ssa.Builtin); ok {
		return false
	}
	fn := c.StaticCallee()
	if fn == nil {
		return true
	}
	if k := b.summaryOf(fn); k != nil {
		return k.recovers[b.funcName(fn)]
	}
	return callsRecover(fn)
}

func callsRecover(fn *ssa.Function) bool {
	for _, blk := range fn.Blocks {
		for _, in := range blk.Instrs {
			if c, ok := in.(ssa.CallInstruction); ok {
				if b, ok := c.Common().Value.(*ssa.Builtin); ok && b.Name() == "recover" {
					return true
				}
			}
		}
	}
	for _, a := range fn.AnonFuncs { // such a body is part of the function
		if a.Synthetic == "range-over-func yield" && callsRecover(a) {
			return true
		}
	}
	// A wrapper passes its callee's recover on.
	return fn.Synthetic != "" && fn.Origin() == nil
}

// pending reports whether list[i] may have executed before instruction j of blk.
func (p *deferPlan) pending(i int, blk *ssa.BasicBlock, j int) bool {
	d := p.list[i]
	if d.Block() != blk || p.reach[i][blk] {
		if p.reach[i][blk] {
			return true
		}
		return false
	}
	for _, in := range blk.Instrs[:j] {
		if in == ssa.Instruction(d) {
			return true
		}
	}
	return false
}

// surely reports whether list[i] has executed whenever instruction j of blk does.
func (p *deferPlan) surely(i int, blk *ssa.BasicBlock, j int) bool {
	d := p.list[i]
	if d.Block() == blk {
		return p.pending(i, blk, j)
	}
	return d.Block().Dominates(blk)
}

// reserve makes the entries of the panic sequence.
func (p *deferPlan) reserve(l *lowering) {
	n := len(p.list)
	if p.cyclic {
		n = 1
	}
	for range n + 1 {
		p.entry = append(p.entry, l.block())
	}
}

// setPanic sets where points of the current lowered block go on a panic, as of
// instruction j of blk. (D2)
func (p *deferPlan) setPanic(l *lowering, blk *ssa.BasicBlock, j int) {
	if p == nil {
		return
	}
	k := 0
	for i := range p.list {
		if p.pending(i, blk, j) {
			k = i + 1
		}
	}
	if k > 0 && p.cyclic {
		k = 1
	}
	if k > 0 || p.always {
		l.f.Blocks[l.cur].Panic = int32(p.entry[k])
	}
}

// deferred handles a defer statement: its operands are evaluated, and from
// here on its call is pending.
func (l *lowering) deferred(blk *ssa.BasicBlock, j int, d *ssa.Defer) {
	if l.inYield() { // (D6)
		l.call(&d.Call, facts.ModeGo, nil)
		return
	}
	l.point(facts.OpNop, 0, 0)
	prev := l.cur
	l.block()
	l.edge(prev, l.cur)
	l.defers.setPanic(l, blk, j+1)
}

// runDefers lowers the calls pending at an ordinary exit. (D1), (D5)
func (l *lowering) runDefers(blk *ssa.BasicBlock, j int) {
	p := l.defers
	if p == nil {
		return
	}
	if p.cyclic {
		from := l.cur
		exit := p.loop(l, from)
		l.cur = exit
		return
	}
	for i := len(p.list) - 1; i >= 0; i-- {
		if !p.pending(i, blk, j) {
			continue
		}
		before := l.cur
		call := l.block()
		l.edge(before, call)
		l.f.Blocks[call].Panic = p.below(i)
		p.run(l, i)
		after := l.cur
		next := l.block()
		l.edge(after, next)
		if !p.surely(i, blk, j) {
			l.edge(before, next)
		}
		l.f.Blocks[next].Panic = p.below(i)
	}
}

// below is where a panic in the deferred call i goes. (D3)
func (p *deferPlan) below(i int) int32 { return int32(p.entry[i]) }

// loop lowers "any of the calls, any number of times" starting at block from
// and returns the block after it.
func (p *deferPlan) loop(l *lowering, from int) int {
	head := l.block()
	l.edge(from, head)
	exit := l.block()
	l.edge(head, exit)
	for i := range p.list {
		call := l.block()
		l.f.Blocks[call].Panic = int32(p.entry[1])
		l.edge(head, call)
		p.run(l, i)
		l.edge(l.cur, head)
	}
	return exit
}

// run lowers deferred call i into the current block. One row serves all the
// places where the call may run.
func (p *deferPlan) run(l *lowering, i int) {
	d := p.list[i]
	at := l.at
	l.at = l.pos(d.Pos())
	if row, ok := p.rows[d]; ok {
		l.point(facts.OpCall, row, facts.MayPanic)
	} else {
		n := len(l.f.Calls)
		l.call(&d.Call, facts.ModeDefer, nil)
		// Builtins and markers make rows of other kinds, afresh each time.
		if len(l.f.Calls) == n+1 && l.f.Calls[n].Once == facts.NoReg {
			p.rows[d] = n
		}
	}
	l.at = at
}

// lowerPanics fills the panic sequence. (D2) to (D5)
func (p *deferPlan) lowerPanics(l *lowering, heads []int) {
	end := p.entry[0]
	if p.recover && l.fn.Recover != nil {
		l.edge(end, heads[l.fn.Recover.Index])
	} else if p.recover {
		l.f.Blocks[end].Return = true
	}
	if p.cyclic {
		l.f.Blocks[p.entry[1]].Panic = int32(p.entry[1])
		exit := p.loop(l, p.entry[1])
		l.edge(exit, end)
		return
	}
	for i := len(p.list) - 1; i >= 0; i-- {
		head := p.entry[i+1]
		call := l.block()
		l.edge(head, call)
		l.f.Blocks[call].Panic = p.below(i)
		p.run(l, i)
		l.edge(l.cur, p.entry[i])
		l.edge(head, p.entry[i])
	}
}

// goBuiltin lowers a builtin that runs in a goroutine of its own: as a function
// made for the purpose, which gets the operands as parameters.
func (l *lowering) goBuiltin(name string, c *ssa.CallCommon) {
	b := l.builder
	full := fmt.Sprintf("%s$go %s %d", l.f.Name, name, len(l.f.Calls))
	id := facts.FuncID(len(b.rec.FuncRef))
	b.rec.FuncRef = append(b.rec.FuncRef, full)
	b.funcOf[full] = id
	g := &lowering{builder: b, fn: l.fn, regs: map[ssa.Value]facts.Reg{}, ints: map[int64]facts.Reg{}, lins: map[facts.Reg]uint32{}, mode: l.mode, at: l.at, last: l.last,
		f: &facts.Func{ID: id, Name: full, Pkg: l.f.Pkg, PkgID: l.f.PkgID, Pos: l.at, Regs: make([]facts.RegInfo, 1), Lins: make([]facts.Lin, 1)}}
	row := facts.Call{Mode: facts.ModeGo, Static: id, Pos: l.at}
	for _, a := range c.Args {
		g.f.Params = append(g.f.Params, g.newReg(a, a.Type()))
		row.Args = append(row.Args, l.reg(a))
	}
	g.block()
	g.builtin(name, c, nil)
	g.f.Blocks[g.cur].Return = true
	g.finish()
	b.rec.Funcs = append(b.rec.Funcs, g.f)
	l.f.Calls = append(l.f.Calls, row)
	l.point(facts.OpCall, len(l.f.Calls)-1, facts.MayPanic)
}

// builtin lowers a call of a builtin function.
func (l *lowering) builtin(name string, c *ssa.CallCommon, dst ssa.Value) {
	args := c.Args
	switch name {
	case "append":
		l.appendCall(c, dst)
	case "copy":
		if el, ok := sliceElem(args[1].Type()); ok {
			moved := l.temp(el)
			l.mem(facts.Mem{Base: l.reg(args[1]), Type: l.typ(el), Val: moved, What: facts.WhatCopy})
			l.mem(facts.Mem{Base: l.reg(args[0]), Type: l.typ(el), Val: moved, Write: true, What: facts.WhatCopy})
		} else if el, ok := sliceElem(args[0].Type()); ok {
			l.mem(facts.Mem{Base: l.reg(args[0]), Type: l.typ(el), Write: true, What: facts.WhatCopy})
		}
		l.result(dst)
	case "len", "cap":
		if m, ok := args[0].Type().Underlying().(*types.Map); ok {
			l.mem(facts.Mem{Base: l.reg(args[0]), Type: l.header(), What: facts.WhatMap})
			_ = m
		} else if name == "len" && dst != nil && lengthStays(args[0].Type()) {
			l.arith(dst, facts.ArithLen, args[0], nil)
			break
		}
		l.result(dst)
	case "delete":
		l.mem(facts.Mem{Base: l.reg(args[0]), Type: l.header(), Write: true, What: facts.WhatMap})
	case "clear":
		if _, ok := args[0].Type().Underlying().(*types.Map); ok {
			l.mem(facts.Mem{Base: l.reg(args[0]), Type: l.header(), Write: true, What: facts.WhatMap})
		} else if el, ok := sliceElem(args[0].Type()); ok {
			l.mem(facts.Mem{Base: l.reg(args[0]), Type: l.typ(el), Write: true, What: facts.WhatVar})
		}
	case "close":
		l.f.Syncs = append(l.f.Syncs, facts.Sync{Op: facts.SyncClose, Obj: l.reg(args[0])})
		l.point(facts.OpSync, len(l.f.Syncs)-1, facts.MayPanic)
	case "recover":
		r := l.reg(dst)
		l.mem(facts.Mem{Base: l.panicValue(), Type: l.typ(emptyInterface), Val: r, Mode: facts.Flow})
	case "print", "println", "real", "imag", "complex", "Sizeof", "Alignof", "Offsetof":
		l.result(dst)
	case "min", "max":
		if name == "min" && len(args) == 2 && dst != nil {
			l.arith(dst, facts.ArithMin, args[0], args[1])
			break
		}
		l.result(dst)
	case "panic":
		l.panics(args[0])
	case "ssa:wrapnilchk":
		l.copyAll(dst, args[0], facts.MayPanic)
	case "ssa:deferstack":
		l.result(dst)
	case "Slice", "SliceData", "Add":
		l.point(facts.OpNop, 0, facts.MayPanic)
		l.copyUnsafe(dst, args[0])
	case "String":
		l.point(facts.OpNop, 0, facts.MayPanic)
		l.assume("unsafe", "unsafe.String: the bytes are not written after the string is made")
		l.result(dst)
	case "StringData":
		// Points to immutable bytes: a fresh object that nobody else writes.
		r := l.reg(dst)
		l.alloc(r, facts.Site{Kind: facts.SiteBytes, Type: l.arrayOf(types.Typ[types.Byte]), Pos: l.at})
	default:
		l.unknown("builtin " + name)
	}
}

// result makes sure that a value without rows has its register.
func (l *lowering) result(v ssa.Value) {
	if v != nil {
		l.reg(v)
	}
}

// panicValue is a register that points to the hidden variable through which
// the values of panics reach recover.
func (l *lowering) panicValue() facts.Reg {
	t := types.NewPointer(emptyInterface)
	r := l.newReg(nil, t)
	l.f.Globals = append(l.f.Globals, facts.GlobalAddr{Dst: r, Global: l.globalNamed("panic value", "", emptyInterface, token.NoPos)})
	return r
}

func (l *lowering) panics(x ssa.Value) {
	l.mem(facts.Mem{Base: l.panicValue(), Type: l.typ(emptyInterface), Val: l.reg(x), Write: true, Mode: facts.Flow})
	l.point(facts.OpNop, 0, facts.MayPanic)
}

// lengthStays reports whether a value of a type always has one length.
func lengthStays(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	_, slice := sliceElem(t)
	return slice || ok && b.Info()&types.IsString != 0
}

func sliceElem(t types.Type) (types.Type, bool) {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem(), true
	case *types.Pointer:
		if a, ok := u.Elem().Underlying().(*types.Array); ok {
			return a.Elem(), true
		}
	}
	return nil, false
}

// appendCall lowers dst = append(s, t...).
//
// (A1) dst is a new array, or s's own; only the new one if at least one element
// is added and s is surely full. (A2) t's elements are read. (A3) Unless s is
// surely full, elements of s's array beyond its length are written. (A4) s's
// elements are read, when they move.
func (l *lowering) appendCall(c *ssa.CallCommon, dst ssa.Value) {
	s, t := c.Args[0], ssa.Value(nil)
	if len(c.Args) > 1 {
		t = c.Args[1]
	}
	r := l.reg(dst)
	el := dst.Type().Underlying().(*types.Slice).Elem()
	full := l.surelyFull(s) && addsOne(t)
	fresh := l.newReg(nil, dst.Type())
	l.alloc(fresh, facts.Site{Kind: facts.SiteGrow, Heap: true, Type: l.arrayOf(el), Pos: l.at})
	l.copyLeaves(r, 0, fresh, 0, 1, -1, false)
	base := l.reg(s)
	if base != facts.NoReg {
		if !full {
			l.copyLeaves(r, 0, base, 0, 1, -1, false) // (A1)
		}
		old := l.temp(el)
		l.mem(facts.Mem{Base: base, Type: l.typ(el), Val: old, What: facts.WhatAppend}) // (A4)
		l.mem(facts.Mem{Base: fresh, Type: l.typ(el), Val: old, Write: true, Mode: facts.Flow})
	}
	if t == nil || l.reg(t) == facts.NoReg {
		return
	}
	if te, ok := sliceElem(t.Type()); ok {
		val := l.temp(te)
		l.mem(facts.Mem{Base: l.reg(t), Type: l.typ(te), Val: val, What: facts.WhatAppend}) // (A2)
		l.mem(facts.Mem{Base: fresh, Type: l.typ(el), Val: val, Write: true, Mode: facts.Flow})
		if base != facts.NoReg && !full { // (A3)
			l.mem(facts.Mem{Base: base, Type: l.typ(el), Val: val, Write: true, What: facts.WhatAppend})
		}
	} else if base != facts.NoReg && !full { // a string
		l.mem(facts.Mem{Base: base, Type: l.typ(el), Write: true, What: facts.WhatAppend})
	}
}

// surelyFull reports whether s's length equals its capacity, as it is defined:
// s[lo:hi:hi], make with one length, a literal, or a variable captured by value
// that holds one of those where it is captured.
func (l *lowering) surelyFull(s ssa.Value) bool {
	switch s := s.(type) {
	case *ssa.UnOp:
		if fv, ok := s.X.(*ssa.FreeVar); ok && s.Op == token.MUL && l.byValue[fv] {
			if v := captured(fv); v != nil {
				return l.surelyFull(v)
			}
		}
	case *ssa.Slice:
		if s.Max != nil && s.High != nil {
			return l.sameInt(s.Max, s.High)
		}
		// Of an array: full if it ends with the array.
		if p, ok := s.X.Type().Underlying().(*types.Pointer); ok && s.Max == nil {
			if a, ok := p.Elem().Underlying().(*types.Array); ok {
				if s.High == nil {
					return true
				}
				if c, ok := s.High.(*ssa.Const); ok {
					n, ok := constInt(c)
					return ok && n == a.Len()
				}
			}
		}
	case *ssa.MakeSlice:
		return l.sameInt(s.Len, s.Cap)
	}
	return false
}

// captured returns what the variable that a free variable is bound to holds where it
// is captured, if that is one value, or nil.
func captured(fv *ssa.FreeVar) ssa.Value {
	fn := fv.Parent()
	for i, f := range fn.FreeVars {
		if f != fv {
			continue
		}
		for _, r := range *fn.Referrers() {
			m, ok := r.(*ssa.MakeClosure)
			if !ok {
				return nil
			}
			switch b := m.Bindings[i].(type) {
			case *ssa.FreeVar:
				return captured(b)
			case *ssa.Alloc:
				return lastStored(b, m)
			}
		}
	}
	return nil
}

// lastStored returns what a variable holds where an instruction executes, if that is
// what one store has stored there on every path; or nil. The variable's address is
// used for loads, stores and bindings that only load alone.
func lastStored(a *ssa.Alloc, at ssa.Instruction) ssa.Value {
	var last *ssa.Store
	blk := at.Block()
	for steps := 0; steps < 64; steps++ { // back to the only block before
		instrs := blk.Instrs
		if blk == at.Block() && steps == 0 {
			instrs = instrs[:slices.Index(instrs, at)]
		}
		for _, in := range slices.Backward(instrs) {
			if st, ok := in.(*ssa.Store); ok && st.Addr == a {
				last = st
				break
			}
			if in == ssa.Instruction(a) {
				return nil
			}
		}
		if last != nil || len(blk.Preds) == 0 {
			break
		}
		// Of a block with several before, the one that dominates them all, if nothing
		// on the way stores.
		idom := blk.Idom()
		if idom == nil || len(blk.Preds) > 1 && storesBetween(a, idom, blk) {
			return nil
		}
		blk = idom
	}
	if last == nil {
		return nil
	}
	return last.Val
}

// storesBetween reports whether a block on some path from one block to another, which
// it dominates, stores to a variable.
func storesBetween(a *ssa.Alloc, from, to *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{from: true}
	todo := slices.Clone(to.Preds)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		for _, in := range b.Instrs {
			if st, ok := in.(*ssa.Store); ok && st.Addr == a {
				return true
			}
		}
		todo = append(todo, b.Preds...)
	}
	return false
}

// sameInt reports whether two integer values are surely equal: one SSA value,
// equal constants, or the length of one slice value taken twice.
func (l *lowering) sameInt(x, y ssa.Value) bool {
	if x == y {
		return true
	}
	cx, ok1 := x.(*ssa.Const)
	cy, ok2 := y.(*ssa.Const)
	if ok1 && ok2 {
		a, ok1 := constInt(cx)
		b, ok2 := constInt(cy)
		return ok1 && ok2 && a == b
	}
	lx, ok1 := x.(*ssa.Call)
	ly, ok2 := y.(*ssa.Call)
	if ok1 && ok2 {
		bx, ok1 := lx.Call.Value.(*ssa.Builtin)
		by, ok2 := ly.Call.Value.(*ssa.Builtin)
		// The length of a map or channel changes.
		_, slice := sliceElem(lx.Call.Args[0].Type())
		return ok1 && ok2 && slice && bx.Name() == "len" && by.Name() == "len" && l.sameLoad(lx.Call.Args[0], ly.Call.Args[0])
	}
	return false
}

// sameLoad reports whether two values are surely equal: one SSA value, or two loads in
// one block of a variable that nothing else stores to, without a store in between.
func (l *lowering) sameLoad(x, y ssa.Value) bool {
	if x == y {
		return true
	}
	p, ok1 := x.(*ssa.UnOp)
	q, ok2 := y.(*ssa.UnOp)
	if !ok1 || !ok2 || p.Op != token.MUL || q.Op != token.MUL || p.X != q.X || p.Block() != q.Block() {
		return false
	}
	a, ok := p.X.(*ssa.Alloc)
	if !ok || !l.capture[a] {
		return false
	}
	instrs := p.Block().Instrs
	i, j := slices.Index(instrs, ssa.Instruction(p)), slices.Index(instrs, ssa.Instruction(q))
	return !slices.ContainsFunc(instrs[min(i, j):max(i, j)], func(in ssa.Instruction) bool {
		st, ok := in.(*ssa.Store)
		return ok && st.Addr == a
	})
}

// addsOne reports whether at least one element is appended: t is the whole of
// a variadic array of known length above zero.
func addsOne(t ssa.Value) bool {
	s, ok := t.(*ssa.Slice)
	if !ok || s.Low != nil || s.High != nil {
		return false
	}
	p, ok := s.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	a, ok := p.Elem().Underlying().(*types.Array)
	return ok && a.Len() > 0
}
