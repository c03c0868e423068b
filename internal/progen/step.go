package progen

import (
	"errors"
	"go/token"
	"slices"
)

var errTooBig = errors.New("progen: program too big for the interpreter")

// Bounds that only programs with endless loops pass.
const (
	maxDefers = 16
	maxObjs   = 300
)

// maxRun bounds the invisible instructions between two visible ones.
const maxRun = 4000

// run executes the invisible instructions of thread t up to the next visible
// one, or to its end.
func (e *explorer) run(s *state, t int) {
	s.threads[t].ready = false
	s.thaw(t)
	for n := 0; !s.threads[t].dead; n++ {
		f := s.top(t)
		if f.mode != running {
			e.unwind(s, t)
			continue
		}
		in := &e.m.codes[f.code].ins[f.pc]
		if e.stops(s, t, f, in) {
			return
		}
		if n == maxRun {
			// A loop without visible instructions. Others cannot end it,
			// or one of its accesses races and will be made visible.
			e.looped = true
			s.kill(t)
			return
		}
		if in.op.visible() {
			e.syncOp(s, t, f, in, 0)
		} else {
			e.step(s, t, f, in)
		}
	}
}

// stops reports whether in must wait for the scheduler.
func (e *explorer) stops(s *state, t int, f *frame, in *instr) bool {
	switch {
	case in.op == opMaybe:
		return true
	case in.op == opUnlock || in.op == opRWUnlock:
		// (E1) While locks are released only by their holders, an Unlock
		// commutes with whatever the others can do before it: a Lock has
		// to wait for it, and a TryLock may fail in any case. Copies of
		// the mutex would see the difference, so it is off with them.
		v := f.peek(0)
		if !e.eager || v.tag() != tagRef {
			return true
		}
		obj, cell := v.place()
		return s.get(obj, cell) != tagged(tagThread, t)
	case in.op.visible():
		return true
	}
	if in.op == opCopy || in.op == opAppend {
		if e.visible[in.b] {
			return true
		}
	}
	return in.acc >= 0 && e.visible[in.acc]
}

// kill ends thread t, because of its return or because the program ends here.
func (s *state) kill(t int) {
	s.threads[t].dead = true
	s.threads[t].frames = nil
}

// fail starts a panic in thread t.
func (s *state) fail(t int) {
	f := s.top(t)
	f.mode = panicking
	f.vals = f.vals[:0]
}

// unwind goes on with a frame that has ended: its deferred calls, then its
// caller.
func (e *explorer) unwind(s *state, t int) {
	th := &s.threads[t]
	f := s.top(t)
	if n := len(f.defers); n > 0 {
		d := f.defers[n-1]
		f.defers = f.defers[:n-1]
		e.enter(s, t, d)
		return
	}
	mode, ret, res := f.mode, f.ret, e.m.codes[f.code].res
	th.frames = th.frames[:len(th.frames)-1]
	if len(th.frames) == 0 {
		s.kill(t)
		return
	}
	f = s.top(t)
	switch {
	case mode == panicking:
		f.mode = panicking
		f.vals = f.vals[:0]
	case f.mode == running && res == 1:
		f.push(ret)
	}
}

// enter pushes a frame for a call; call holds the callee and the arguments.
func (e *explorer) enter(s *state, t int, call []value) {
	fr, ok := e.frame(s, call)
	if !ok {
		s.fail(t)
		return
	}
	s.threads[t].frames = append(s.threads[t].frames, fr)
}

// frame makes the frame of a call. It fails if the callee is nil.
func (e *explorer) frame(s *state, call []value) (frame, bool) {
	fn := call[0]
	var bound []value
	n := fn.num()
	switch fn.tag() {
	case tagFunc:
	case tagClosure:
		cells := s.objs[n].cells
		n, bound = cells[0].num(), cells[1:]
	default:
		return frame{}, false
	}
	co := e.m.codes[n]
	vals := make([]value, co.slots, co.slots+6)
	copy(vals[copy(vals, bound):], call[1:])
	return frame{code: int32(n), vals: vals}, true
}

// spawn starts a goroutine that does call.
func (e *explorer) spawn(s *state, t int, call []value) {
	fr, ok := e.frame(s, call)
	if !ok {
		s.fail(t)
		return
	}
	th := &s.threads[t]
	th.kids++
	u := len(s.threads)
	if u >= firstClock || th.kids > 15 || th.path>>60 != 0 {
		panic(errTooBig)
	}
	s.threads = append(s.threads, thread{
		path: th.path<<4 | uint64(th.kids), frames: []frame{fr}, owned: true, ready: true,
	})
	for i := range s.recs {
		if b := &s.recs[i].known; b.has(t) {
			b.add(u)
		} else {
			b.del(u)
		}
	}
}

// step executes one instruction that is not synchronisation.
func (e *explorer) step(s *state, t int, f *frame, in *instr) {
	f.pc++
	a, b := int(in.a), int(in.b)
	switch in.op {
	case opConst:
		f.push(scalar(a))
	case opFunc:
		f.push(tagged(tagFunc, a))
	case opSlot:
		f.push(f.vals[a])
	case opSetSlot:
		f.vals[a] = f.pop()
	case opClear:
		f.vals[a] = 0
	case opGlobal:
		f.push(ref(a, 0))
	case opNew:
		f.push(ref(s.alloc(a), 0))
	case opBox:
		o := s.alloc(1)
		s.set(o, 0, f.pop())
		f.push(ref(o, 0))
	case opField:
		p := f.pop()
		if p.tag() != tagRef {
			s.fail(t)
			return
		}
		f.push(p + value(a))
	case opIndex:
		i, base := f.pop().int(), f.pop()
		limit := b
		if b < 0 {
			if base.tag() != tagRef {
				s.fail(t)
				return
			}
			h, _ := base.place()
			base, limit = s.get(h, sliceRef), s.get(h, sliceLen).int()
		}
		if i < 0 || i >= limit || base.tag() != tagRef {
			s.fail(t)
			return
		}
		f.push(base + value(i*a))
	case opLoad:
		obj, cell := f.pop().place()
		e.access(s, t, obj, cell, in.acc)
		f.push(s.get(obj, cell))
	case opStore:
		v := f.pop()
		obj, cell := f.pop().place()
		e.access(s, t, obj, cell, in.acc)
		if b&storeZero != 0 {
			v = 0
		}
		s.set(obj, cell, v)
		if b&storeUnsync != 0 {
			s.set(obj, cell+1, 0)
		}
	case opCopy:
		so, sc := f.pop().place()
		do, dc := f.pop().place()
		for i := range a {
			e.access(s, t, so, sc+i, in.acc)
			e.access(s, t, do, dc+i, int32(b))
			v := s.get(so, sc+i)
			if v.tag() == tagClock {
				v = 0
			}
			s.set(do, dc+i, v)
		}
	case opZero:
		obj, cell := f.pop().place()
		for i := range a {
			e.access(s, t, obj, cell+i, in.acc)
			s.set(obj, cell+i, 0)
		}
	case opDup:
		f.push(f.peek(0))
	case opPop:
		f.pop()
	case opBin:
		y, x := f.pop(), f.pop()
		f.push(arith(token.Token(a), x, y))
	case opNot:
		f.push(1 - f.pop())
	case opJump:
		f.pc = in.a
	case opJumpFalse:
		if f.pop() == 0 {
			f.pc = in.a
		}
	case opClosure:
		o := s.alloc(1 + b)
		s.set(o, 0, tagged(tagFunc, a))
		for i := b; i > 0; i-- {
			s.set(o, i, f.pop())
		}
		f.push(tagged(tagClosure, o))
	case opCall, opGo, opDefer:
		at := len(f.vals) - a - 1
		call := f.vals[at:]
		switch in.op {
		case opCall:
			f.vals = f.vals[:at]
			e.enter(s, t, call)
		case opGo:
			f.vals = f.vals[:at]
			e.spawn(s, t, call)
		case opDefer:
			f.defers = append(f.defers, slices.Clone(call))
			if len(f.defers) > maxDefers {
				panic(errTooBig)
			}
			f.vals = f.vals[:at]
		}
	case opRet:
		if a == 1 {
			f.ret = f.pop()
		}
		f.mode = returning
		f.vals = f.vals[:0]
	case opPanic:
		s.fail(t)
	case opRecover:
		th := &s.threads[t]
		v := value(0)
		if n := len(th.frames); n > 1 && th.frames[n-2].mode == panicking {
			th.frames[n-2].mode = returning
			th.frames[n-2].ret = 0
			v = 1
		}
		f.push(v)
	default:
		e.containers(s, t, f, in)
	}
}

// containers executes the instructions on slices, maps and new channels.
func (e *explorer) containers(s *state, t int, f *frame, in *instr) {
	a, b := int(in.a), int(in.b)
	switch in.op {
	case opMakeChan:
		n := f.pop().int()
		o := s.alloc(chanSlots + 2*n)
		s.set(o, chanCap, scalar(n))
		f.push(ref(o, 0))
	case opMakeSlice:
		n := f.pop().int()
		h, o := s.alloc(3), s.alloc(n*a)
		s.set(h, sliceRef, ref(o, 0))
		s.set(h, sliceLen, scalar(n))
		s.set(h, sliceCap, scalar(n))
		f.push(ref(h, 0))
	case opMakeMap:
		f.push(ref(s.alloc(mapEntries), 0))
	case opLen:
		v := f.pop()
		n := value(0)
		if v.tag() == tagRef {
			h, _ := v.place()
			n = s.get(h, sliceLen)
		}
		f.push(n)
	case opSlice:
		hi, lo, v := f.pop().int(), f.pop().int(), f.pop()
		if v.tag() != tagRef {
			s.fail(t)
			return
		}
		o, _ := v.place()
		if hi < 0 {
			hi = s.get(o, sliceLen).int()
		}
		c := s.get(o, sliceCap).int()
		if lo < 0 || lo > hi || hi > c {
			s.fail(t)
			return
		}
		h := s.alloc(3)
		s.set(h, sliceRef, s.get(o, sliceRef)+value(lo*a))
		s.set(h, sliceLen, scalar(hi-lo))
		s.set(h, sliceCap, scalar(c-lo))
		f.push(ref(h, 0))
	case opAppend:
		e.appendTo(s, t, f, in)
	case opMapGet, opMapLen:
		k := value(0)
		if in.op == opMapGet {
			k = f.pop()
		}
		m := f.pop()
		v, ok, n := value(0), value(0), 0
		if m.tag() == tagRef {
			o, _ := m.place()
			e.access(s, t, o, 0, in.acc)
			cells := s.objs[o].cells
			n = (len(cells) - mapEntries) / 2
			if i := find(cells, k); in.op == opMapGet && i < len(cells) {
				v, ok = cells[i+1], 1
			}
		}
		if in.op == opMapLen {
			f.push(scalar(n))
			return
		}
		f.push(v)
		if a != 0 {
			f.push(ok)
		}
	case opMapSet, opMapDelete:
		v := value(0)
		if in.op == opMapSet {
			v = f.pop()
		}
		k, m := f.pop(), f.pop()
		if b != 0 {
			v = 0
		}
		if m.tag() != tagRef {
			if in.op == opMapSet {
				s.fail(t)
			}
			return
		}
		o, _ := m.place()
		e.access(s, t, o, 0, in.acc)
		cells := slices.Clone(s.objs[o].cells)
		i := find(cells, k)
		switch {
		case in.op == opMapDelete && i < len(cells):
			cells = slices.Delete(cells, i, i+2)
		case in.op == opMapDelete:
		case i < len(cells):
			cells[i+1] = v
		default:
			at := mapEntries // keep the keys sorted: their order is not observable
			for at < len(cells) && cells[at] < k {
				at += 2
			}
			cells = slices.Insert(cells, at, k, v)
		}
		s.objs[o] = object{cells, true}
	default:
		panic("progen: unknown instruction")
	}
}

// find returns the index of key k in the cells of a map, or their number.
func find(cells []value, k value) int {
	for i := mapEntries; i < len(cells); i += 2 {
		if cells[i] == k {
			return i
		}
	}
	return len(cells)
}

// appendTo appends one element, in place if the capacity allows it. New
// capacities are those of the gc compiler for elements of one word.
func (e *explorer) appendTo(s *state, t int, f *frame, in *instr) {
	v, sl := f.pop(), f.pop()
	n, c := 0, 0
	base := value(0)
	if sl.tag() == tagRef {
		o, _ := sl.place()
		base, n, c = s.get(o, sliceRef), s.get(o, sliceLen).int(), s.get(o, sliceCap).int()
	}
	if n == c {
		c = max(1, 2*n)
		o := s.alloc(c)
		for i := range n {
			obj, cell := (base + value(i)).place()
			e.access(s, t, obj, cell, in.b)
			s.set(o, i, s.get(obj, cell))
		}
		base = ref(o, 0)
	}
	obj, cell := (base + value(n)).place()
	e.access(s, t, obj, cell, in.acc)
	s.set(obj, cell, v)
	h := s.alloc(3)
	s.set(h, sliceRef, base)
	s.set(h, sliceLen, scalar(n+1))
	s.set(h, sliceCap, scalar(c))
	f.push(ref(h, 0))
}

func arith(op token.Token, x, y value) value {
	a, b := x.int(), y.int()
	switch op {
	case token.ADD:
		return scalar(a + b)
	case token.SUB:
		return scalar(a - b)
	case token.MUL:
		return scalar(a * b)
	case token.EQL:
		return boolean(x == y)
	case token.NEQ:
		return boolean(x != y)
	case token.LSS:
		return boolean(a < b)
	case token.LEQ:
		return boolean(a <= b)
	case token.GTR:
		return boolean(a > b)
	case token.GEQ:
		return boolean(a >= b)
	}
	panic("progen: unknown operator")
}
