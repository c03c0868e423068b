package progen

// A move is one step of the scheduler: the visible instruction of thread t,
// with thread u at the other end if it is a rendezvous on a channel.
type move struct {
	t, u  int // u is -1 but for a rendezvous: t sends, u receives
	alt   int // maybe: the result; TryLock: 1 if it succeeds; select: the case, or -1 for default
	other int // case of u's select, or -1
}

// at returns the next instruction of thread t.
func (e *explorer) at(s *state, t int) *instr {
	f := s.top(t)
	return &e.m.codes[f.code].ins[f.pc]
}

// moves appends the moves of s to buf. With a thread at an opaque choice, that
// is all: the choice concerns nobody else.
func (e *explorer) moves(s *state, buf []move) []move {
	for t := range s.threads {
		if e.at(s, t).op == opMaybe {
			return append(buf, move{t, -1, 0, -1}, move{t, -1, 1, -1})
		}
	}
	for t := range s.threads {
		in := e.at(s, t)
		switch in.op {
		case opTryLock, opRWTryLock, opTryRLock:
			buf = append(buf, move{t, -1, 0, -1})
			if e.enabled(s, t, in) {
				buf = append(buf, move{t, -1, 1, -1})
			}
		case opSend:
			buf = e.sends(s, buf, t, s.top(t).peek(1), 0)
		case opSelect:
			buf = e.selects(s, buf, t, &e.m.selects[in.a])
		default:
			if e.enabled(s, t, in) {
				buf = append(buf, move{t, -1, 0, -1})
			}
		}
	}
	return buf
}

// sends appends the moves by which thread t may send on ch, as case alt if it is
// in a select.
func (e *explorer) sends(s *state, buf []move, t int, ch value, alt int) []move {
	if ch.tag() != tagRef {
		return buf
	}
	o, _ := ch.place()
	c := s.objs[o].cells
	switch {
	case c[chanClosed] != 0, c[chanLen].int() < c[chanCap].int():
		return append(buf, move{t, -1, alt, -1})
	case c[chanCap] != 0:
		return buf
	}
	impatient := e.impatient(s, t)
	for u := range s.threads {
		if u == t {
			continue
		}
		in := e.at(s, u)
		switch in.op {
		case opRecv, opRange:
			if s.top(u).peek(0) == ch {
				buf = append(buf, move{t, u, alt, -1})
			}
		case opSelect:
			if impatient && e.impatient(s, u) {
				continue // neither ever waits
			}
			table := &e.m.selects[in.a]
			for j, sc := range table.cases {
				if !sc.send && e.operand(s, u, table, sc.at) == ch {
					buf = append(buf, move{t, u, alt, j})
				}
			}
		}
	}
	return buf
}

// impatient reports whether thread t is at a select with default.
func (e *explorer) impatient(s *state, t int) bool {
	in := e.at(s, t)
	return in.op == opSelect && e.m.selects[in.a].dflt >= 0
}

func (e *explorer) operand(s *state, t int, table *selectTable, i int) value {
	return s.top(t).peek(table.operands - 1 - i)
}

// selects appends the moves of a select, but for the rendezvous that others
// start. Default is possible unless a case is ready whatever the others do: a
// partner that could meet a case may not have come yet.
func (e *explorer) selects(s *state, buf []move, t int, table *selectTable) []move {
	ready := false
	for i, sc := range table.cases {
		ch := e.operand(s, t, table, sc.at)
		if sc.send {
			n := len(buf)
			buf = e.sends(s, buf, t, ch, i)
			ready = ready || len(buf) > n && buf[n].u < 0
		} else if receivable(s, ch) {
			buf = append(buf, move{t, -1, i, -1})
			ready = true
		}
	}
	if table.dflt >= 0 && !ready {
		buf = append(buf, move{t, -1, -1, -1})
	}
	return buf
}

// receivable reports whether a receive finds a value or a closed channel.
func receivable(s *state, ch value) bool {
	if ch.tag() != tagRef {
		return false
	}
	o, _ := ch.place()
	return s.get(o, chanLen) != 0 || s.get(o, chanClosed) != 0
}

// enabled reports whether the instruction of thread t can run now. One that
// will panic can. Sends and selects are not asked about.
func (e *explorer) enabled(s *state, t int, in *instr) bool {
	if !in.op.visible() {
		return true // a plain access made visible
	}
	f := s.top(t)
	v := f.peek(0)
	if in.op == opRecv || in.op == opRange {
		return receivable(s, v)
	}
	switch in.op {
	case opLock, opTryLock, opRWLock, opRWTryLock, opRLock, opTryRLock, opWgWait, opOnceEnter:
	default:
		return true
	}
	if v.tag() != tagRef {
		return true
	}
	obj, cell := v.place()
	x := s.get(obj, cell)
	switch in.op {
	case opLock, opTryLock, opRLock, opTryRLock:
		return x == unlocked
	case opRWLock, opRWTryLock:
		return x == unlocked && s.get(obj, cell+rwReaders) == 0
	case opWgWait:
		return x == 0
	}
	return x != 1 // Once is not running
}

// apply executes a move.
func (e *explorer) apply(s *state, m move) {
	s.thaw(m.t)
	s.threads[m.t].ready = true
	f := s.top(m.t)
	in := &e.m.codes[f.code].ins[f.pc]
	if m.u >= 0 {
		s.thaw(m.u)
		s.threads[m.u].ready = true
		ch, v := e.takeSend(s, m.t, in, m.alt)
		e.access(s, m.t, objOf(ch), 0, e.sendAcc(in, m.alt))
		s.meet(m.t, m.u)
		g := s.top(m.u)
		e.deliver(s, m.u, &e.m.codes[g.code].ins[g.pc], m.other, v, true)
		return
	}
	switch in.op {
	case opMaybe:
		f.pc++
		f.push(value(m.alt))
	case opSend:
		e.bufferedSend(s, m.t, in, m.alt)
	case opRecv, opRange:
		e.bufferedRecv(s, m.t, in, m.alt, f.peek(0))
	case opSelect:
		table := &e.m.selects[in.a]
		switch {
		case m.alt < 0:
			f.vals = f.vals[:len(f.vals)-table.operands]
			f.pc = table.dflt
		case table.cases[m.alt].send:
			e.bufferedSend(s, m.t, in, m.alt)
		default:
			e.bufferedRecv(s, m.t, in, m.alt, e.operand(s, m.t, table, table.cases[m.alt].at))
		}
	default:
		if in.op.visible() {
			e.syncOp(s, m.t, f, in, m.alt)
		} else {
			e.step(s, m.t, f, in)
		}
	}
}

func objOf(v value) int { o, _ := v.place(); return o }

func (e *explorer) sendAcc(in *instr, alt int) int32 {
	if in.op == opSelect {
		return e.m.selects[in.a].cases[alt].acc
	}
	return in.acc
}

// takeSend ends the send of thread t and returns its channel and value.
func (e *explorer) takeSend(s *state, t int, in *instr, alt int) (ch, v value) {
	f := s.top(t)
	if in.op == opSend {
		f.pc++
		v = f.pop()
		return f.pop(), v
	}
	table := &e.m.selects[in.a]
	sc := table.cases[alt]
	ch, v = e.operand(s, t, table, sc.at), e.operand(s, t, table, sc.at+1)
	f.vals = f.vals[:len(f.vals)-table.operands]
	f.pc = sc.target
	return ch, v
}

// deliver ends the receive of thread t with v.
func (e *explorer) deliver(s *state, t int, in *instr, alt int, v value, ok bool) {
	f := s.top(t)
	var pushOK bool
	switch in.op {
	case opRecv:
		f.pc++
		f.pop()
		pushOK = in.a != 0
	case opRange:
		f.pc++
		f.pop()
		if !ok {
			f.push(0)
			return
		}
		pushOK = true
	case opSelect:
		table := &e.m.selects[in.a]
		f.vals = f.vals[:len(f.vals)-table.operands]
		f.pc = table.cases[alt].target
		pushOK = table.cases[alt].ok
	}
	f.push(v)
	if pushOK {
		f.push(boolean(ok))
	}
}

func (e *explorer) bufferedSend(s *state, t int, in *instr, alt int) {
	ch, v := e.takeSend(s, t, in, alt)
	o := objOf(ch)
	e.access(s, t, o, 0, e.sendAcc(in, alt))
	if s.get(o, chanClosed) != 0 {
		s.fail(t)
		return
	}
	n, c := s.get(o, chanLen).int(), s.get(o, chanCap).int()
	s.set(o, chanSlots+n, v)
	s.set(o, chanLen, scalar(n+1))
	s.exchange(t, o, chanSlots+c+n)
}

func (e *explorer) bufferedRecv(s *state, t int, in *instr, alt int, ch value) {
	o := objOf(ch)
	n, c := s.get(o, chanLen).int(), s.get(o, chanCap).int()
	if n == 0 {
		s.acquire(t, s.get(o, chanClock))
		e.deliver(s, t, in, alt, 0, false)
		return
	}
	v := s.get(o, chanSlots)
	clocks := chanSlots + c
	s.exchange(t, o, clocks)
	first := s.get(o, clocks)
	for i := range c - 1 {
		s.set(o, chanSlots+i, s.get(o, chanSlots+i+1))
		s.set(o, clocks+i, s.get(o, clocks+i+1))
	}
	s.set(o, chanSlots+c-1, 0)
	s.set(o, clocks+c-1, first)
	s.set(o, chanLen, scalar(n-1))
	e.deliver(s, t, in, alt, v, true)
}

// syncOp executes an enabled operation of package sync or sync/atomic, or a
// close.
func (e *explorer) syncOp(s *state, t int, f *frame, in *instr, alt int) {
	f.pc++
	var x, y value
	switch in.op {
	case opAtCas:
		y, x = f.pop(), f.pop()
	case opWgAdd, opAtStore, opAtAdd, opAtSwap:
		x = f.pop()
	}
	p := f.pop()
	if p.tag() != tagRef {
		if in.op == opClose || in.op == opSend || in.op.visible() {
			s.fail(t)
			return
		}
	}
	obj, cell := p.place()
	v := s.get(obj, cell)
	if in.acc >= 0 && e.m.accs[in.acc].Kind == SyncOp {
		e.access(s, t, obj, cell, in.acc)
	}
	switch in.op {
	case opLock, opTryLock:
		if alt == 1 || in.op == opLock {
			s.set(obj, cell, tagged(tagThread, t))
			s.acquire(t, s.get(obj, cell+mutexClock))
		}
		if in.op == opTryLock {
			f.push(value(alt))
		}
	case opUnlock:
		e.unlock(s, t, v, obj, cell, cell+mutexClock)
	case opRWLock, opRWTryLock:
		if alt == 1 || in.op == opRWLock {
			s.set(obj, cell, tagged(tagThread, t))
			s.acquire(t, s.get(obj, cell+rwClock))
			s.acquire(t, s.get(obj, cell+rwReadClock))
		}
		if in.op == opRWTryLock {
			f.push(value(alt))
		}
	case opRWUnlock:
		e.unlock(s, t, v, obj, cell, cell+rwClock)
	case opRLock, opTryRLock:
		if alt == 1 || in.op == opRLock {
			s.set(obj, cell+rwReaders, s.get(obj, cell+rwReaders)+1)
			s.acquire(t, s.get(obj, cell+rwClock))
		}
		if in.op == opTryRLock {
			f.push(value(alt))
		}
	case opRUnlock:
		n := s.get(obj, cell+rwReaders)
		if n == 0 {
			s.kill(t) // fatal error
			return
		}
		s.set(obj, cell+rwReaders, n-1)
		s.release(t, obj, cell+rwReadClock, true)
	case opWgAdd:
		n, d := v.int(), x.int()
		if d > 0 && n == 0 || in.acc >= 0 && e.m.accs[in.acc].Kind == SyncOp {
			e.access(s, t, obj, cell, in.acc)
		}
		if d < 0 {
			s.release(t, obj, cell+wgClock, true)
		}
		if n+d < 0 {
			s.fail(t)
			return
		}
		s.set(obj, cell, scalar(n+d))
	case opWgWait:
		e.access(s, t, obj, cell, in.acc)
		s.acquire(t, s.get(obj, cell+wgClock))
	case opOnceEnter:
		if v == 0 {
			s.set(obj, cell, 1)
			f.push(1)
		} else {
			s.acquire(t, s.get(obj, cell+onceClock))
			f.push(0)
		}
	case opOnceExit:
		s.set(obj, cell, 2)
		s.release(t, obj, cell+onceClock, true)
	case opClose:
		e.access(s, t, obj, 0, in.acc)
		if s.get(obj, chanClosed) != 0 {
			s.fail(t)
			return
		}
		s.set(obj, chanClosed, 1)
		s.release(t, obj, chanClock, false)
	default:
		e.atomicOp(s, t, f, in, x, y, v, obj, cell)
	}
}

// unlock releases a lock held for writing.
func (e *explorer) unlock(s *state, t int, holder value, obj, cell, clock int) {
	if holder != tagged(tagThread, t) {
		e.foreign = true // (E1) does not hold
	}
	if holder == unlocked {
		s.kill(t) // fatal error
		return
	}
	s.set(obj, cell, unlocked)
	s.release(t, obj, clock, true)
}

// atomicOp executes an operation of sync/atomic whose operands are x and y on
// the cell with content v. What the operation observes is before its access,
// and its access is before what observes it.
func (e *explorer) atomicOp(s *state, t int, f *frame, in *instr, x, y, v value, obj, cell int) {
	clock := cell + atomicClock
	update := func(n value) {
		s.acquire(t, s.get(obj, clock))
		e.access(s, t, obj, cell, in.acc)
		s.release(t, obj, clock, true)
		s.set(obj, cell, n)
	}
	look := func(acc int32) {
		s.acquire(t, s.get(obj, clock))
		e.access(s, t, obj, cell, acc)
	}
	switch in.op {
	case opAtCas:
		f.push(boolean(x == v))
		switch {
		case x == v:
			update(y)
		case in.acc >= 0:
			look(in.acc + 1)
		default:
			look(-1)
		}
	case opAtLoad:
		f.push(v)
		look(in.acc)
	case opAtStore:
		e.access(s, t, obj, cell, in.acc)
		s.release(t, obj, clock, false)
		s.set(obj, cell, x)
	case opAtAdd:
		n := scalar(v.int() + x.int())
		f.push(n)
		update(n)
	case opAtSwap:
		f.push(v)
		update(x)
	}
}
