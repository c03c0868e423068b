package pta_test

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A machine runs an import-free program in SSA form and notes, for every value
// that is computed, what it points to, and for every call, whom it calls. It is
// the judge over both analyses: what it sees is in every sound result.
//
// A run is one real execution, or the beginning of one. A goroutine starts when
// another waits, or at the end, and runs until it ends or waits itself while
// nobody else can go on; then it is never heard of again.
//
// A value is the sequence of its leaves, structs and arrays flattened; memory too,
// so that a pointer is an object and a number of leaves. Leaves are
//
//	int64, bool, string   basic values; floating-point ones are not known
//	address, sliceRef     places in objects
//	*table, *queue        maps and channels
//	*closure              function values
//	box                   interface values
//	*iterator, *[]deferral
//
// and the zero of each, never nil.
type machine struct {
	prog    *ssa.Program
	globals map[*ssa.Global]*memory
	waiting []func() // goroutines that did not start
	steps   int
	depth   int

	sizes map[types.Type]int
	seen  map[ssa.Value]map[string]bool
	calls map[ssa.CallInstruction]map[*ssa.Function]bool

	entered map[*ssa.Function]bool
	now     ssa.Instruction // of the panic of a run that ended with one
	end     string          // why main did not return; "" if it did
}

type leaf interface{}

// memory is an object; site is what allocated it.
type memory struct {
	site  ssa.Value
	typ   types.Type
	cells []leaf
}

type address struct {
	m   *memory
	off int
}

type sliceRef struct {
	m        *memory
	off      int // leaves
	len, cap int // elements
}

type table struct {
	site ssa.Value
	keys []string
	at   map[string][2][]leaf
}

type queue struct {
	site   ssa.Value
	buf    [][]leaf
	cap    int
	wanted int // receivers that wait
	closed bool
}

type closure struct {
	fn   *ssa.Function
	free [][]leaf
}

type box struct {
	typ  types.Type
	v    []leaf
	site ssa.Value
}

type iterator struct {
	over *table
	keys []string
	s    string
	pos  int
}

type deferral struct {
	fn   *closure
	b    *ssa.Builtin
	args [][]leaf
	call ssa.CallInstruction
}

// What unwinds the machine: a panic of the program, and ends of a run.
type (
	thrown struct{ v box }
	ended  struct{} // too many steps
	stuck  struct{} // waits for ever
)

// fault is the panic of a nil dereference and the like.
func fault() { panic(thrown{box{typ: types.Typ[types.String], v: []leaf{"run-time error"}}}) }

// Bounds of a run: steps, and the length of slices and of compared values.
const (
	maxSteps = 20_000
	maxLen   = 1_000
)

// run executes a program and returns what it saw.
func run(main *ssa.Package) *machine {
	m := &machine{
		prog: main.Prog, globals: map[*ssa.Global]*memory{}, sizes: map[types.Type]int{},
		seen: map[ssa.Value]map[string]bool{}, calls: map[ssa.CallInstruction]map[*ssa.Function]bool{},
		entered: map[*ssa.Function]bool{},
	}
	guard := func(f func()) {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case thrown, ended, stuck:
				if m.end == "" {
					m.end = fmt.Sprintf("%T at %v", p, m.prog.Fset.Position(m.now.Pos()))
				}
			default:
				panic(p) // a bug
			}
		}()
		f()
	}
	guard(func() {
		m.call(nil, main.Func("init"), nil, nil)
		m.call(nil, main.Func("main"), nil, nil)
	})
	for len(m.waiting) > 0 && m.steps < maxSteps {
		guard(m.startOne)
	}
	return m
}

// startOne runs a goroutine that has not started, until it ends or is stuck.
func (m *machine) startOne() {
	g := m.waiting[0]
	m.waiting = m.waiting[1:]
	defer func() {
		switch p := recover().(type) {
		case nil, stuck:
		default:
			panic(p)
		}
	}()
	g()
}

// until lets others run until ready holds.
func (m *machine) until(ready func() bool) {
	for !ready() {
		if len(m.waiting) == 0 {
			panic(stuck{})
		}
		m.startOne()
	}
}

// A frame is one activation of a function.
type frame struct {
	m         *machine
	caller    *frame
	fn        *ssa.Function
	env       map[ssa.Value][]leaf
	defers    *[]deferral
	block     *ssa.BasicBlock
	from      *ssa.BasicBlock
	result    []leaf
	panicking bool
	thrown    interface{}
}

func (m *machine) call(caller *frame, fn *ssa.Function, args, free [][]leaf) []leaf {
	if m.depth++; m.depth > 2000 {
		panic(ended{})
	}
	defer func() { m.depth-- }()
	m.entered[fn] = true
	fr := &frame{m: m, caller: caller, fn: fn, env: map[ssa.Value][]leaf{}, defers: new([]deferral), block: fn.Blocks[0]}
	for i, p := range fn.Params {
		fr.set(p, args[i])
	}
	for i, v := range fn.FreeVars {
		fr.set(v, free[i])
	}
	for i := range fn.Signature.Results().Len() {
		fr.result = append(fr.result, m.zero(fn.Signature.Results().At(i).Type())...)
	}
	for fr.block != nil {
		fr.run()
	}
	return fr.result
}

// run executes blocks until the function returns; a panic that is recovered
// leaves the recover block to be executed.
func (fr *frame) run() {
	defer func() {
		if fr.block == nil {
			return
		}
		p := recover()
		if _, ok := p.(thrown); !ok {
			panic(p)
		}
		fr.panicking, fr.thrown = true, p
		fr.runDefers()
		fr.block = fr.fn.Recover
	}()
	for {
		next := fr.exec(fr.block)
		if next == nil {
			fr.block = nil
			return
		}
		fr.from, fr.block = fr.block, next
	}
}

func (fr *frame) runDefers() {
	for len(*fr.defers) > 0 {
		ds := *fr.defers
		d := ds[len(ds)-1]
		*fr.defers = ds[:len(ds)-1]
		fr.runDefer(d)
	}
	if fr.panicking {
		panic(fr.thrown)
	}
}

func (fr *frame) runDefer(d deferral) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(thrown); !ok {
				panic(p)
			}
			fr.panicking, fr.thrown = true, p
		}
	}()
	fr.invoke(d)
}

func (fr *frame) invoke(d deferral) []leaf {
	if d.b != nil {
		return fr.builtin(d.b.Name(), d.call, d.args)
	}
	if d.fn == nil {
		fault()
	}
	if fr.m.calls[d.call] == nil {
		fr.m.calls[d.call] = map[*ssa.Function]bool{}
	}
	fr.m.calls[d.call][d.fn.fn] = true
	return fr.m.call(fr, d.fn.fn, d.args, d.fn.free)
}

// set gives v its value and notes where that points.
func (fr *frame) set(v ssa.Value, x []leaf) {
	fr.env[v] = x
	if len(x) != 1 {
		return
	}
	if l := fr.m.label(x[0]); l != "" {
		if fr.m.seen[v] == nil {
			fr.m.seen[v] = map[string]bool{}
		}
		fr.m.seen[v][l] = true
	}
}

func (fr *frame) get(v ssa.Value) []leaf {
	switch v := v.(type) {
	case *ssa.Const:
		return fr.m.constant(v)
	case *ssa.Global:
		return []leaf{address{fr.m.global(v), 0}}
	case *ssa.Function:
		return []leaf{&closure{fn: v}}
	}
	x, ok := fr.env[v]
	if !ok {
		panic(fmt.Sprintf("machine: no value for %s in %s", v.Name(), fr.fn))
	}
	return x
}

func (fr *frame) one(v ssa.Value) leaf { return fr.get(v)[0] }

func (fr *frame) int(v ssa.Value) int {
	if v == nil {
		return 0
	}
	return int(fr.one(v).(int64))
}

// exec executes a block and returns the next one, or nil at a return.
func (fr *frame) exec(b *ssa.BasicBlock) *ssa.BasicBlock {
	m := fr.m
	phis := map[ssa.Value][]leaf{}
	for _, in := range b.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		for i, p := range b.Preds {
			if p == fr.from {
				phis[phi] = fr.get(phi.Edges[i])
			}
		}
	}
	for _, in := range b.Instrs {
		if m.steps++; m.steps > maxSteps {
			panic(ended{})
		}
		m.now = in
		switch in := in.(type) {
		case *ssa.Phi:
			fr.set(in, phis[in])
		case *ssa.Jump:
			return b.Succs[0]
		case *ssa.If:
			if fr.one(in.Cond).(bool) {
				return b.Succs[0]
			}
			return b.Succs[1]
		case *ssa.Return:
			fr.result = nil
			for _, r := range in.Results {
				fr.result = append(fr.result, fr.get(r)...)
			}
			return nil
		case *ssa.Panic:
			panic(thrown{fr.one(in.X).(box)})
		case *ssa.RunDefers:
			fr.runDefers()
		case *ssa.Defer:
			d := fr.callee(in)
			stack := fr.defers
			if in.DeferStack != nil {
				stack = fr.one(in.DeferStack).(*[]deferral)
			}
			*stack = append(*stack, d)
		case *ssa.Go:
			d := fr.callee(in)
			m.waiting = append(m.waiting, func() { (&frame{m: m, fn: fr.fn}).invoke(d) })
		case *ssa.Call:
			fr.set(in, fr.invoke(fr.callee(in)))
		case *ssa.Store:
			p := fr.one(in.Addr).(address)
			copy(m.at(p, m.size(in.Val.Type())), fr.get(in.Val))
		case *ssa.MapUpdate:
			fr.one(in.Map).(*table).put(fr.get(in.Key), fr.get(in.Value))
		case *ssa.Send:
			m.send(fr.one(in.Chan).(*queue), fr.get(in.X))
		case *ssa.DebugRef:
		case ssa.Value:
			fr.set(in, fr.eval(in))
		default:
			panic(fmt.Sprintf("machine: %T", in))
		}
	}
	panic("machine: block without end")
}

// callee evaluates who is called with what.
func (fr *frame) callee(in ssa.CallInstruction) deferral {
	c := in.Common()
	d := deferral{call: in}
	switch {
	case c.IsInvoke():
		b := fr.one(c.Value).(box)
		if b.typ == nil {
			fault()
		}
		fn := fr.m.prog.LookupMethod(b.typ, c.Method.Pkg(), c.Method.Name())
		d.fn = &closure{fn: fn}
		d.args = append(d.args, b.v)
	default:
		if b, ok := c.Value.(*ssa.Builtin); ok {
			d.b = b
		} else {
			d.fn = fr.one(c.Value).(*closure)
		}
	}
	for _, a := range c.Args {
		d.args = append(d.args, fr.get(a))
	}
	return d
}

func (fr *frame) eval(v ssa.Value) []leaf {
	m := fr.m
	switch v := v.(type) {
	case *ssa.Alloc:
		return []leaf{address{m.alloc(v, v.Type().Underlying().(*types.Pointer).Elem()), 0}}
	case *ssa.MakeSlice:
		n, c := fr.int(v.Len), fr.int(v.Cap)
		el := v.Type().Underlying().(*types.Slice).Elem()
		return []leaf{sliceRef{m.alloc(v, types.NewArray(el, int64(c))), 0, n, c}}
	case *ssa.MakeMap:
		return []leaf{&table{site: v, at: map[string][2][]leaf{}}}
	case *ssa.MakeChan:
		return []leaf{&queue{site: v, cap: fr.int(v.Size)}}
	case *ssa.MakeInterface:
		return []leaf{box{v.X.Type(), clone(fr.get(v.X)), v}}
	case *ssa.MakeClosure:
		c := &closure{fn: v.Fn.(*ssa.Function)}
		for _, b := range v.Bindings {
			c.free = append(c.free, fr.get(b))
		}
		return []leaf{c}
	case *ssa.UnOp:
		switch v.Op {
		case token.MUL:
			return clone(m.at(fr.one(v.X).(address), m.size(v.Type())))
		case token.ARROW:
			x, ok := m.receive(fr.one(v.X).(*queue), v.X.Type())
			if v.CommaOk {
				x = append(clone(x), ok)
			}
			return x
		case token.NOT:
			return []leaf{!fr.one(v.X).(bool)}
		case token.SUB:
			return []leaf{-fr.one(v.X).(int64)}
		}
	case *ssa.BinOp:
		return []leaf{binop(v.Op, fr.get(v.X), fr.get(v.Y))}
	case *ssa.ChangeType, *ssa.ChangeInterface:
		return fr.get(*v.(ssa.Instruction).Operands(nil)[0])
	case *ssa.Convert:
		return m.convert(v, fr.one(v.X))
	case *ssa.FieldAddr:
		p := fr.one(v.X).(address)
		if p.m == nil {
			fault()
		}
		st := v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
		return []leaf{address{p.m, p.off + m.fieldOff(st, v.Field)}}
	case *ssa.Field:
		off := m.fieldOff(v.X.Type().Underlying().(*types.Struct), v.Field)
		return fr.get(v.X)[off : off+m.size(v.Type())]
	case *ssa.Extract:
		off := 0
		tup := v.Tuple.Type().(*types.Tuple)
		for i := range v.Index {
			off += m.size(tup.At(i).Type())
		}
		return fr.get(v.Tuple)[off : off+m.size(v.Type())]
	case *ssa.IndexAddr:
		return []leaf{m.element(fr.one(v.X), v.X.Type(), fr.int(v.Index))}
	case *ssa.Index:
		i := fr.int(v.Index)
		if s, ok := fr.one(v.X).(string); ok {
			if i < 0 || i >= len(s) {
				fault()
			}
			return []leaf{int64(s[i])}
		}
		a := v.X.Type().Underlying().(*types.Array)
		if i < 0 || i >= int(a.Len()) {
			fault()
		}
		n := m.size(a.Elem())
		return fr.get(v.X)[i*n : (i+1)*n]
	case *ssa.Slice:
		return []leaf{fr.slice(v)}
	case *ssa.SliceToArrayPointer:
		s := fr.one(v.X).(sliceRef)
		if int(v.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array).Len()) > s.len {
			fault()
		}
		return []leaf{address{s.m, s.off}}
	case *ssa.Lookup:
		if s, ok := fr.one(v.X).(string); ok {
			return []leaf{int64(s[fr.int(v.Index)])}
		}
		x, ok := fr.one(v.X).(*table).get(fr.get(v.Index))
		if !ok {
			x = m.zero(v.X.Type().Underlying().(*types.Map).Elem())
		}
		if v.CommaOk {
			x = append(clone(x), ok)
		}
		return x
	case *ssa.TypeAssert:
		return m.assert(v, fr.one(v.X).(box))
	case *ssa.Range:
		if s, ok := fr.one(v.X).(string); ok {
			return []leaf{&iterator{s: s}}
		}
		it := &iterator{over: fr.one(v.X).(*table)}
		if it.over != nil {
			it.keys = append(it.keys, it.over.keys...)
		}
		return []leaf{it}
	case *ssa.Next:
		return m.next(v, fr.one(v.Iter).(*iterator))
	case *ssa.Select:
		return fr.selectOne(v)
	}
	panic(fmt.Sprintf("machine: %T %s", v, v))
}

func clone(x []leaf) []leaf { return append([]leaf(nil), x...) }
