package shadow

// Synchronisation where nothing new is learnt: a goroutine uses an object that it has used
// lately and whose clock it knows, as most locks are used most of the time. As the
// functions of fast.go these may run where the rest of the package may not. They do take
// the lock of an object, but never wait for it; and lest somebody else waits for them
// they, and what they call, are marked nosplit: in package runtime nothing interrupts
// such functions. TestSubset holds them to that.

// tryLock takes a spin lock if it is free.
//
//go:nosplit
func tryLock(p *uint32) bool { return load32(p) == 0 && cas32(p, 0, 1) }

// recall returns the object at addr, locked; nil if t has not used it lately, or another
// goroutine has it.
//
//go:nosplit
func recall(t *Thread, addr uintptr) *syncObj {
	e := &t.syncs[(addr>>2^addr>>5)%nSyncs]
	if e.o == nil || e.addr != addr || !tryLock(&e.o.lk) {
		return nil
	}
	if e.o.addr != addr {
		unlock(&e.o.lk)
		return nil
	}
	return e.o
}

// covers reports whether t surely knows all that was released to the locked object o. A
// clock that covers an epoch covers the clock of that epoch, unless its slot was taken
// from a goroutine that its next owner does not come after.
//
//go:nosplit
func covers(s *State, t *Thread, o *syncObj) bool {
	if o.from == 0 {
		return o.vc.root == 0 && o.vc.own == 0
	}
	return before(t, o.from) && load32(&s.uncovered) == 0
}

// alike reports whether the clocks of t and of the locked object o differ in the owner's
// entry only.
//
//go:nosplit
func alike(t *Thread, o *syncObj) bool {
	return t.vc.root == o.vc.root && t.vc.height == o.vc.height
}

// settle is release where the clocks are alike.
//
//go:nosplit
func settle(t *Thread, o *syncObj) {
	o.vc.own, o.vc.v = t.vc.own, t.vc.v
	o.from = fromOf(t)
}

// fromOf returns what a release by t in its epoch is known by.
//
//go:nosplit
func fromOf(t *Thread) uint64 {
	if load64(&t.bare) >= t.epoch {
		return 0
	}
	return t.epoch
}

// TryAcquire is Acquire if it finds that there is nothing to do. It reports whether it did.
//
//go:nosplit
func TryAcquire(s *State, t *Thread, addr uintptr) bool {
	if t.fps != nil {
		return false
	}
	o := recall(t, addr)
	if o == nil {
		return false
	}
	ok := covers(s, t, o)
	unlock(&o.lk)
	return ok
}

// TryRelease is Release or, where merge asks for it, ReleaseMerge and ReleaseAcquire, which
// are the same where t knows all that was released before. It reports whether it did it.
//
//go:nosplit
func TryRelease(s *State, t *Thread, addr uintptr, merge bool) bool {
	if t.fps != nil {
		return false
	}
	o := recall(t, addr)
	if o == nil {
		return false
	}
	ok := alike(t, o) && (!merge || covers(s, t, o))
	if ok {
		settle(t, o)
	}
	unlock(&o.lk)
	if ok {
		tick(t)
	}
	return ok
}

// TryBegin is BeginAtomic for an operation that TryEnd can end; nil if it cannot.
//
//go:nosplit
func TryBegin(s *State, t *Thread, addr uintptr, reads, writes bool) *syncObj {
	if t.fps != nil {
		return nil
	}
	o := recall(t, addr)
	if o == nil {
		return nil
	}
	if reads && !covers(s, t, o) || writes && !alike(t, o) {
		unlock(&o.lk)
		return nil
	}
	return o
}

// TryEnd is EndAtomic after TryBegin.
//
//go:nosplit
func TryEnd(t *Thread, o *syncObj, wrote bool) {
	if wrote {
		settle(t, o)
	}
	unlock(&o.lk)
	if wrote {
		tick(t)
	}
}

// TryAtomic is touchAtomic for a cell that Find returned, where nothing races and t has a
// place in the vector. It says Check like TryRead and TryWrite.
//
//go:nosplit
func TryAtomic(t *Thread, c *cell, kind uint8, site uint32) int {
	r, w := load64(&c.r), load64(&c.w)
	if r&special == 0 || r == busy || w&special != 0 {
		return Hard
	}
	x := readersOf(r)
	at := loadAtoms(x)
	if at == nil {
		return Hard
	}
	v := &at.r
	if kind == AtomicWrite {
		v = &at.w
	}
	e := entryKnown(v, t.slot)
	if e == nil {
		return Hard
	}
	store64(&e.epoch, t.epoch)
	e.site = site
	if load32(&v.dirty) == 0 {
		store32(&v.dirty, 1)
	}
	t.stat.Checks++
	// What follows is as in touchAtomic. The cell cannot have been split: it stands for one
	// byte.
	if w = load64(&c.w); w != 0 && !before(t, w) || kind == AtomicWrite && load32(&x.r.dirty) != 0 {
		return Check
	}
	return Done
}
