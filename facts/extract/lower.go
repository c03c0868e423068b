package extract

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

// lowering turns one SSA function into its facts.
type lowering struct {
	*builder
	fn   *ssa.Function
	f    *facts.Func
	regs map[ssa.Value]facts.Reg
	ints map[int64]facts.Reg
	lins map[facts.Reg]uint32
	mode facts.Mode // of the accesses of this function
	cur  int        // the block that points are added to
	at   facts.Pos  // position of the instruction being lowered
	last facts.Pos  // last known position: for instructions without one
	// foreign tells of a wrapper for a method of another package: all of it is where
	// that is.
	foreign bool
	points  [][]facts.Point
	defers  *deferPlan
}

// lower returns the facts of fn. It sets b.err for what it does not understand.
func (b *builder) lower(fn *ssa.Function) *facts.Func {
	f := &facts.Func{
		ID: b.fn(fn), Name: b.funcName(fn), PkgID: b.pkg.ID, Pkg: b.pkg.Path,
		Pos: b.funcPos(fn), Regs: make([]facts.RegInfo, 1), Lins: make([]facts.Lin, 1),
	}
	if o := origin(fn); o.Pkg != nil {
		f.PkgID, f.Pkg = b.ids[o.Pkg.Pkg], o.Pkg.Pkg.Path()
	}
	l := &lowering{builder: b, fn: fn, f: f, regs: map[ssa.Value]facts.Reg{}, ints: map[int64]facts.Reg{}, lins: map[facts.Reg]uint32{}}
	l.last, l.foreign = f.Pos, isWrapper(fn) && !b.owns(fn.Object())
	if p := fn.Parent(); p != nil {
		f.Parent = b.fn(p)
	}
	b.source(fn)
	l.flags()
	if f.Is(facts.FnSilent) {
		l.mode = facts.Flow
	} else if f.Is(facts.FnAtomic) {
		l.mode = facts.Atomic
	}
	for _, p := range fn.Params {
		f.Params = append(f.Params, l.newReg(p, p.Type()))
	}
	if len(fn.Params) == 0 && fn.Blocks == nil { // from type information: no parameters were built
		if r := fn.Signature.Recv(); r != nil {
			f.Params = append(f.Params, l.newReg(nil, r.Type()))
		}
		for i := range fn.Signature.Params().Len() {
			f.Params = append(f.Params, l.newReg(nil, fn.Signature.Params().At(i).Type()))
		}
	}
	for _, fv := range fn.FreeVars {
		t := fv.Type()
		if b.byValue[fv] {
			t = t.Underlying().(*types.Pointer).Elem()
		}
		f.Free = append(f.Free, l.newReg(fv, t))
	}
	if fn.Signature.Results().Len() > 0 {
		f.Ret = l.newReg(nil, fn.Signature.Results())
	}
	switch {
	case f.Is(facts.FnInert), f.Is(facts.FnUnknown):
		l.opaque()
	case f.Is(facts.FnTests):
		l.block()
		l.f.Blocks[0].Return = true
	default:
		l.body()
	}
	l.finish()
	if b.cfg.Lowered != nil {
		b.cfg.Lowered(fn, f, l.regs)
	}
	return f
}

func origin(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if o := fn.Origin(); o != nil {
		return o
	}
	return fn
}

// flags sets what is known of the function as a whole.
func (l *lowering) flags() {
	fn, f := l.fn, l.f
	if r := fn.Signature.Recv(); r != nil && fn.Parent() == nil {
		f.Recv = l.typ(r.Type())
		if _, ptr := r.Type().Underlying().(*types.Pointer); ptr {
			f.Flags |= facts.FnMethod
		} else {
			f.Flags |= facts.FnValue
		}
	}
	if fn.Parent() != nil || len(fn.FreeVars) > 0 {
		f.Flags |= facts.FnClosure
	}
	switch {
	case fn.Synthetic == "package initializer":
		f.Flags |= facts.FnInit
	case isWrapper(fn):
		f.Flags |= facts.FnWrapper
	}
	if m := l.modelAt(originPos(fn)); m != nil {
		f.Flags |= facts.FnModel
		l.trust(m)
		l.directives(m.Words)
		if d, ok := origin(fn).Syntax().(*ast.FuncDecl); ok && d.Doc != nil {
			for _, c := range d.Doc.List {
				if rest, ok := strings.CutPrefix(c.Text, "//bf:"); ok {
					l.directives(strings.Fields(rest))
				}
			}
		}
		if fn.Parent() != nil {
			f.Flags &^= facts.FnInline // a literal's context is its closure
		}
	} else if l.cfg.Models != nil && l.cfg.Models.Inert(f.Pkg) != nil && (fn.Synthetic == "" || fn.Origin() != nil) {
		f.Flags |= facts.FnInert
		if m := l.cfg.Models.Inert(f.Pkg); m.User() {
			l.at = f.Pos
			l.assume("model", "function "+f.Name+" is assumed to do nothing with what it is handed, as a model of its package says: "+m.Inert)
		}
		return
	}
	if fn.Blocks == nil && strings.TrimSuffix(fn.Name(), load.ModelSuffix) == "bfTests" {
		f.Flags |= facts.FnTests
		return
	}
	if fn.Blocks == nil {
		if l.handsPointers(fn.Signature) {
			f.Flags |= facts.FnUnknown
		} else {
			f.Flags |= facts.FnInert
		}
	}
}

// trust records that the verdict rests on a user's model of the function.
// Helpers of the model and function literals in it go with what stands in.
func (l *lowering) trust(m *load.Model) {
	d, ok := origin(l.fn).Syntax().(*ast.FuncDecl)
	if !ok || !m.User() || l.fn.Parent() != nil || d.Body == nil {
		return
	}
	for _, s := range m.StandIns {
		if s == load.DeclName(d) {
			l.at = l.f.Pos
			l.assume("model", "function "+l.f.Name+" is assumed to do no more than your model of it says")
			return
		}
	}
}

func originPos(fn *ssa.Function) token.Pos {
	if o := origin(fn); o.Syntax() != nil {
		return o.Syntax().Pos()
	}
	return token.NoPos
}

func (l *lowering) directives(words []string) {
	for _, w := range words {
		switch w {
		case "inline":
			l.f.Flags |= facts.FnInline
		case "atomic":
			l.f.Flags |= facts.FnAtomic
		case "silent":
			l.f.Flags |= facts.FnSilent
		}
	}
}

// handsPointers reports whether a call hands over or returns anything with a
// pointer in it.
func (l *lowering) handsPointers(sig *types.Signature) bool {
	if r := sig.Recv(); r != nil && l.leaves(r.Type()) > 0 {
		return true
	}
	return l.leaves(sig.Params()) > 0 || l.leaves(sig.Results()) > 0
}

// flat reports whether the function's parameters and results point to memory
// without pointers, and to nothing else, as those of assembly that computes on
// buffers do.
func (l *lowering) flat() bool {
	sig := l.fn.Signature
	ts := append(tupleTypes(sig.Params()), tupleTypes(sig.Results())...)
	if sig.Recv() != nil {
		ts = append(ts, sig.Recv().Type())
	}
	for _, t := range ts {
		if l.leaves(t) == 0 {
			continue
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			if l.leaves(u.Elem()) > 0 {
				return false
			}
		case *types.Slice:
			if l.leaves(u.Elem()) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func tupleTypes(t *types.Tuple) []types.Type {
	var ts []types.Type
	for v := range t.Variables() {
		ts = append(ts, v.Type())
	}
	return ts
}

// opaque gives a function without body its rows: fresh results for an inert
// one; for an unknown one what it may do to what it is handed: to the memory
// that its parameters' types name if that is flat, else to everything.
func (l *lowering) opaque() {
	l.block()
	if l.f.Is(facts.FnUnknown) {
		var x facts.Reg
		for _, p := range l.f.Params {
			// One register of opaque type collects all that was handed over.
			if x == 0 {
				x = l.newReg(nil, types.Typ[types.UnsafePointer])
			}
			if n := l.leaves(l.paramType(p)); n > 0 {
				for i := range n {
					l.f.Copies = append(l.f.Copies, facts.Copy{Dst: x, Src: p, SrcLeaf: uint16(i), N: 1, Index: -1})
					l.point(facts.OpCopy, len(l.f.Copies)-1, 0)
				}
			}
		}
		if l.flat() {
			l.assume("no body", "function "+l.f.Name+" has no Go body and no model: it is assumed to read and write what its parameters point to, and nothing else")
			l.deep(facts.Deep{X: x, How: facts.ReachCells})
			l.deep(facts.Deep{X: x, Write: true, How: facts.ReachCells})
			for i := range l.leaves(l.fn.Signature.Results()) {
				if x != 0 {
					l.copyLeaves(l.f.Ret, i, x, 0, 1, -1, false)
				}
			}
		} else {
			l.assume("no body", "function "+l.f.Name+" has no Go body and no model: it is assumed to read and write everything it was ever handed, and to call every function it is handed in any goroutine")
		}
		if x != 0 && !l.flat() {
			l.deep(facts.Deep{X: x})
			l.deep(facts.Deep{X: x, Write: true})
			dst := l.newReg(nil, emptyInterface)
			l.f.Anys = append(l.f.Anys, facts.CallAny{Fn: x, X: x, Dst: dst, Spawn: true})
			l.point(facts.OpAny, len(l.f.Anys)-1, facts.MayPanic)
			if l.f.Ret != 0 {
				r := l.newReg(nil, emptyInterface)
				l.f.Reaches = append(l.f.Reaches, facts.Reach{Dst: r, X: x})
				l.point(facts.OpReach, len(l.f.Reaches)-1, 0)
				for i := range l.leaves(l.fn.Signature.Results()) {
					l.copyLeaves(l.f.Ret, i, r, 0, 1, -1, false)
				}
			}
		}
	}
	leaf := 0
	for i := range l.fn.Signature.Results().Len() {
		t := l.fn.Signature.Results().At(i).Type()
		n := l.leaves(t)
		if n == 1 {
			var obj facts.TypeID
			switch u := t.Underlying().(type) {
			case *types.Pointer:
				obj = l.typ(u.Elem())
			case *types.Slice:
				obj = l.arrayOf(u.Elem())
			case *types.Map:
				obj = l.mapObj(u)
			case *types.Chan:
				obj = l.chanObj(u)
			}
			if obj != 0 {
				r := l.alloc(l.newReg(nil, t), facts.Site{Kind: facts.SiteUnknown, Heap: true, Type: obj, Pos: l.f.Pos})
				l.copyLeaves(l.f.Ret, leaf, r, 0, 1, -1, false)
			}
		}
		leaf += n
	}
	l.f.Blocks[0].Return = true
}

var emptyInterface = types.NewInterfaceType(nil, nil)

func (l *lowering) paramType(r facts.Reg) types.Type {
	for i, p := range l.f.Params {
		if p == r {
			if len(l.fn.Params) > 0 {
				return l.fn.Params[i].Type()
			}
			if rc := l.fn.Signature.Recv(); rc != nil {
				if i == 0 {
					return rc.Type()
				}
				i--
			}
			return l.fn.Signature.Params().At(i).Type()
		}
	}
	return types.Typ[types.Int]
}

// newReg makes a register of type t for v (nil: a temporary).
func (l *lowering) newReg(v ssa.Value, t types.Type) facts.Reg {
	r := facts.Reg(len(l.f.Regs))
	l.f.Regs = append(l.f.Regs, facts.RegInfo{Type: l.typ(t), Node: l.f.NumNode})
	l.f.NumNode += uint32(l.leaves(t))
	if v != nil {
		l.regs[v] = r
	}
	return r
}

// reg returns the register of an operand; NoReg for nil and for constants
// other than integers and booleans.
func (l *lowering) reg(v ssa.Value) facts.Reg {
	if v == nil {
		return facts.NoReg
	}
	if r, ok := l.regs[v]; ok {
		return r
	}
	switch v := v.(type) {
	case *ssa.Const:
		if i, ok := constInt(v); ok {
			return l.constant(i)
		}
		return facts.NoReg
	case *ssa.Function:
		r := l.newReg(v, v.Type())
		l.f.FuncRef = append(l.f.FuncRef, facts.FuncAddr{Dst: r, Fn: l.builder.fn(v)})
		return r
	case *ssa.Global:
		r := l.newReg(v, v.Type())
		l.f.Globals = append(l.f.Globals, facts.GlobalAddr{Dst: r, Global: l.global(v)})
		return r
	case *ssa.Builtin:
		return facts.NoReg
	}
	return l.newReg(v, v.Type())
}

func constInt(c *ssa.Const) (int64, bool) {
	if c.Value == nil {
		return 0, false
	}
	switch c.Value.Kind() {
	case constant.Int:
		return constant.Int64Val(c.Value)
	case constant.Bool:
		if constant.BoolVal(c.Value) {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func (l *lowering) constant(i int64) facts.Reg {
	if r, ok := l.ints[i]; ok {
		return r
	}
	r := l.newReg(nil, types.Typ[types.Int])
	l.ints[i] = r
	l.f.Consts = append(l.f.Consts, facts.Const{Dst: r, Known: true, Int: i})
	return r
}

// lin returns the number of the linear form of an integer value; 0 if absent.
func (l *lowering) lin(v ssa.Value) uint32 {
	if v == nil {
		return 0
	}
	if c, ok := v.(*ssa.Const); !ok || c.Value != nil {
		if n, ok := l.lins[l.reg(v)]; ok {
			return n
		}
	}
	form := facts.Lin{Known: true}
	l.linear(&form, v, 1, 8)
	n := uint32(len(l.f.Lins))
	l.f.Lins = append(l.f.Lins, form)
	l.lins[l.reg(v)] = n
	return n
}

// linear adds coef*v to form. Only operations at type int are looked through,
// so that no conversion and no narrow wrap-around hides in a form.
func (l *lowering) linear(form *facts.Lin, v ssa.Value, coef int64, depth int) {
	if c, ok := v.(*ssa.Const); ok {
		if i, ok := constInt(c); ok {
			form.Const += coef * i
			return
		}
	}
	if op, ok := v.(*ssa.BinOp); ok && depth > 0 && v.Type().Underlying() == types.Typ[types.Int] {
		switch op.Op {
		case token.ADD:
			l.linear(form, op.X, coef, depth-1)
			l.linear(form, op.Y, coef, depth-1)
			return
		case token.SUB:
			l.linear(form, op.X, coef, depth-1)
			l.linear(form, op.Y, -coef, depth-1)
			return
		case token.MUL:
			if c, ok := op.Y.(*ssa.Const); ok {
				if i, ok := constInt(c); ok && i > -1<<20 && i < 1<<20 {
					l.linear(form, op.X, coef*i, depth-1)
					return
				}
			}
		}
	}
	r := l.reg(v)
	if r == facts.NoReg {
		form.Known = false
		return
	}
	for i := range form.Terms {
		if form.Terms[i].Reg == r {
			form.Terms[i].Coef += coef
			return
		}
	}
	form.Terms = append(form.Terms, facts.Term{Reg: r, Coef: coef})
}

// block starts a new block and makes it current.
func (l *lowering) block() int {
	l.f.Blocks = append(l.f.Blocks, facts.Block{Panic: -1})
	l.points = append(l.points, nil)
	l.cur = len(l.f.Blocks) - 1
	return l.cur
}

func (l *lowering) edge(from, to int) {
	l.f.Blocks[from].Succs = append(l.f.Blocks[from].Succs, uint32(to))
}

// point appends a point to the current block.
func (l *lowering) point(op facts.Op, row int, flags uint8) {
	l.points[l.cur] = append(l.points[l.cur], facts.Point{Op: op, Row: uint32(row), Flags: flags, Pos: l.at})
}

func (l *lowering) assume(kind, text string) {
	l.f.Unknown = append(l.f.Unknown, facts.Assumption{Kind: kind, Text: text, Pos: l.at})
}

// finish numbers the points and fills in predecessors and definitions.
func (l *lowering) finish() {
	f := l.f
	n := 0
	for _, ps := range l.points {
		n += len(ps)
	}
	f.Points = make([]facts.Point, 0, n)
	for i := range f.Blocks {
		f.Blocks[i].Start = uint32(len(f.Points))
		f.Points = append(f.Points, l.points[i]...)
		f.Blocks[i].End = uint32(len(f.Points))
	}
	// Preds of lowered blocks were set as edges were made; here all at once,
	// in the order of the edges' sources.
	for i := range f.Blocks {
		for _, s := range f.Blocks[i].Succs {
			f.Blocks[s].Preds = append(f.Blocks[s].Preds, uint32(i))
		}
	}
	for i, p := range f.Points {
		if d := f.Defines(p); d != facts.NoReg {
			f.Regs[d].Def = uint32(i) + 1
		}
	}
}

// body lowers the blocks of a function that has some.
func (l *lowering) body() {
	l.defers = l.planDefers()
	heads := make([]int, len(l.fn.Blocks)) // first lowered block of each SSA block
	tails := make([]int, len(l.fn.Blocks)) // last one, which has the edges
	for i := range l.fn.Blocks {
		heads[i] = l.block()
	}
	if l.defers != nil {
		l.defers.reserve(l)
	}
	for i, blk := range l.fn.Blocks {
		l.cur = heads[i]
		l.defers.setPanic(l, blk, 0)
		for j, in := range blk.Instrs {
			l.at = l.last
			if !l.foreign {
				l.at = l.pos(in.Pos())
			}
			if !l.at.Valid() {
				l.at = l.operandPos(in)
			}
			if l.at.Valid() {
				l.last = l.at
			} else {
				l.at = l.last
			}
			l.instr(blk, j, in)
			if l.err != nil {
				return
			}
		}
		tails[i] = l.cur
	}
	for i, blk := range l.fn.Blocks {
		succs := blk.Succs
		if l.f.Is(facts.FnInit) && i == 0 && len(succs) == 2 {
			succs = succs[1:] // the guard: the linker runs each initialiser once
		}
		for _, s := range succs {
			l.edge(tails[i], heads[s.Index])
		}
		l.cur = tails[i]
		if n := len(blk.Instrs); n > 0 && len(succs) == 2 {
			if c, ok := blk.Instrs[n-1].(*ssa.If); ok {
				l.f.Blocks[tails[i]].Cond = l.cond(c.Cond, false)
			}
		}
	}
	l.phis(heads, tails)
	if l.defers != nil {
		l.defers.lowerPanics(l, heads)
	}
}

// phis fills in the operands of phi rows in the order of the lowered Preds.
// A lowered block's predecessors are exactly the tails of the SSA ones.
func (l *lowering) phis(heads, tails []int) {
	for i, blk := range l.fn.Blocks {
		for _, in := range blk.Instrs {
			phi, ok := in.(*ssa.Phi)
			if !ok {
				break
			}
			// Order the operands as finish will order Preds: by source block,
			// then by successor position.
			row := &l.f.Phis[l.phiRow(phi)]
			type edge struct {
				from int
				val  ssa.Value
			}
			var es []edge
			for k, p := range blk.Preds {
				es = append(es, edge{tails[p.Index], phi.Edges[k]})
			}
			for a := 1; a < len(es); a++ {
				for c := a; c > 0 && es[c].from < es[c-1].from; c-- {
					es[c], es[c-1] = es[c-1], es[c]
				}
			}
			for _, e := range es {
				row.Edges = append(row.Edges, l.reg(e.val))
			}
		}
		_ = heads[i]
	}
}

func (l *lowering) phiRow(phi *ssa.Phi) int {
	r := l.reg(phi)
	for i := range l.f.Phis {
		if l.f.Phis[i].Dst == r {
			return i
		}
	}
	panic("phi without row in " + l.f.Name)
}

// cond describes a branch condition.
func (l *lowering) cond(v ssa.Value, neg bool) facts.Cond {
	switch v := v.(type) {
	case *ssa.Const:
		if i, ok := constInt(v); ok {
			return facts.Cond{Kind: facts.CondConst, Neg: neg != (i == 0)}
		}
	case *ssa.UnOp:
		if v.Op == token.NOT {
			return l.cond(v.X, !neg)
		}
	case *ssa.BinOp:
		if holds, ok := constCompare(v); ok {
			return facts.Cond{Kind: facts.CondConst, Neg: neg == holds}
		}
		if v.Op == token.EQL || v.Op == token.NEQ {
			x, y := v.X, v.Y
			if _, ok := x.(*ssa.Const); ok {
				x, y = y, x
			}
			if c, ok := y.(*ssa.Const); ok {
				neg = neg != (v.Op == token.NEQ)
				if c.Value == nil && c.IsNil() {
					return facts.Cond{Kind: facts.CondNil, X: l.reg(x), Neg: neg}
				}
				if i, ok := constInt(c); ok {
					return facts.Cond{Kind: facts.CondEq, X: l.reg(x), K: i, Neg: neg}
				}
			}
		}
	}
	return facts.Cond{Kind: facts.CondTrue, X: l.reg(v), Neg: neg}
}

// constCompare decides a comparison of two constants.
func constCompare(v *ssa.BinOp) (holds, ok bool) {
	x, xok := v.X.(*ssa.Const)
	y, yok := v.Y.(*ssa.Const)
	if !xok || !yok || x.Value == nil || y.Value == nil || x.Value.Kind() != y.Value.Kind() {
		return false, false
	}
	switch v.Op {
	case token.EQL, token.NEQ:
		return constant.Compare(x.Value, v.Op, y.Value), true
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return x.Value.Kind() != constant.Bool && constant.Compare(x.Value, v.Op, y.Value), x.Value.Kind() != constant.Bool
	}
	return false, false
}

// operandPos finds a position for an instruction that has none: that of the
// expression it comes from.
func (l *lowering) operandPos(in ssa.Instruction) facts.Pos {
	var buf [8]*ssa.Value
	for _, op := range in.Operands(buf[:0]) {
		if *op == nil {
			continue
		}
		if _, ok := (*op).(ssa.Instruction); ok {
			if p := l.pos((*op).Pos()); p.Valid() {
				return p
			}
		}
	}
	return facts.Pos{}
}
