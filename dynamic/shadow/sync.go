package shadow

import "unsafe"

// Synchronisation objects are told apart by their exact address: the two
// semaphores of a RWMutex share one word, and the slots of a chan bool are one
// byte apart. They hang on the page of their address, so that they end with the
// memory.

// An object whose memory ends becomes idle, and then one of another address, but is never
// anything else; its lock stays usable, and guards its address. So a goroutine may keep
// a reference, lock it, and see whether it is still the object that was meant.
type syncObj struct {
	_    notInHeap
	next *syncObj
	addr uintptr
	vc   clock
	from uint64 // the epoch whose clock vc is, or 0 if it is none or not known
	lk   uint32
}

const syncBuckets = 128

type syncTable struct {
	_ notInHeap
	b [syncBuckets]*syncObj
}

// seenSync is an object that a thread has used.
type seenSync struct {
	addr uintptr
	o    *syncObj
}

const nSyncs = 4

// lockSync returns the locked object at addr, which t wants. It is made if there is none.
func lockSync(s *State, t *Thread, addr uintptr) *syncObj {
	e := &t.syncs[(addr>>2^addr>>5)%nSyncs]
	if o := e.o; o != nil && e.addr == addr {
		lock(&o.lk)
		if o.addr == addr {
			return o
		}
		unlock(&o.lk)
	}
	p := pageOf(s, addr, true)
	lock(&p.lk)
	o := findSync(s, p, addr)
	lock(&o.lk)
	unlock(&p.lk)
	e.addr, e.o = addr, o
	return o
}

// findSync returns the object at addr of the locked page p. It is made if there is none.
func findSync(s *State, p *page, addr uintptr) *syncObj {
	if p.syncs == nil {
		p.syncs = (*syncTable)(alloc(s, poolMisc, unsafe.Sizeof(syncTable{})))
	}
	head := &p.syncs.b[addr/4%syncBuckets]
	for o := *head; o != nil; o = o.next {
		if o.addr == addr {
			return o
		}
	}
	o := newSync(s)
	lock(&o.lk)
	o.addr, o.next = addr, *head
	unlock(&o.lk)
	*head = o
	return o
}

func newSync(s *State) *syncObj {
	lock(&s.memLock)
	o := s.idle
	if o != nil {
		s.idle = o.next
	}
	unlock(&s.memLock)
	if o == nil {
		o = (*syncObj)(alloc(s, poolMisc, unsafe.Sizeof(syncObj{})))
	}
	return o
}

// dropSync makes o, which no page has any more, idle.
func dropSync(s *State, o *syncObj) {
	lock(&o.lk)
	o.vc.release(s)
	o.addr, o.from = 0, 0
	unlock(&o.lk)
	lock(&s.memLock)
	o.next = s.idle
	s.idle = o
	unlock(&s.memLock)
}

// Acquire orders what t does from now on after all that was released to the
// object at addr. There is an object from then on, so that t remembers that it is
// empty: the semaphores of a RWMutex that has no writers are acquired only.
func Acquire(s *State, t *Thread, addr uintptr) {
	commitAll(s, t)
	o := lockSync(s, t, addr)
	acquire(s, t, o)
	unlock(&o.lk)
}

// acquire is Acquire for a locked object.
func acquire(s *State, t *Thread, o *syncObj) {
	if !covers(s, t, o) {
		t.vc.join(s, &o.vc)
	}
}

// release makes the clock of the locked object o that of t. A new epoch must follow.
func release(s *State, t *Thread, o *syncObj) {
	o.vc.copyFrom(s, &t.vc)
	o.from = fromOf(t)
}

// Release publishes what t did through the object at addr, in place of what was
// released there before. It begins a new epoch, after the footprints of this one
// are committed: one committed later would bear an epoch that nobody has acquired.
func Release(s *State, t *Thread, addr uintptr) {
	commitAll(s, t)
	o := lockSync(s, t, addr)
	release(s, t, o)
	unlock(&o.lk)
	tick(t)
}

// ReleaseMerge is Release that keeps what was released to the object before.
func ReleaseMerge(s *State, t *Thread, addr uintptr) {
	commitAll(s, t)
	o := lockSync(s, t, addr)
	if covers(s, t, o) {
		release(s, t, o)
	} else {
		o.vc.fold(s)
		o.vc.own = 0
		o.vc.join(s, &t.vc)
		o.from = 0
	}
	unlock(&o.lk)
	tick(t)
}

// ReleaseAcquire is Release and Acquire in one: t acquires what was released
// before, but that is not passed on.
func ReleaseAcquire(s *State, t *Thread, addr uintptr) {
	commitAll(s, t)
	o := lockSync(s, t, addr)
	if covers(s, t, o) {
		release(s, t, o)
	} else {
		t.was.copyFrom(s, &o.vc)
		release(s, t, o)
		t.vc.join(s, &t.was)
		t.was.release(s)
	}
	unlock(&o.lk)
	tick(t)
}

// BeginAtomic and EndAtomic enclose an atomic operation on the word at addr. So the
// clocks that pass through the word follow the order of the operations on it: whoever
// reads a value acquires what its writer released, and not what a later or earlier
// one did.
func BeginAtomic(s *State, t *Thread, addr uintptr) *syncObj {
	commitAll(s, t)
	return lockSync(s, t, addr)
}

// EndAtomic ends what BeginAtomic began, on object o: an operation that reads
// acquires, one that writes releases, and one that does both passes on what it
// acquired.
func EndAtomic(s *State, t *Thread, o *syncObj, reads, writes bool) {
	if reads {
		acquire(s, t, o)
	}
	if writes {
		release(s, t, o)
	}
	unlock(&o.lk)
	if writes {
		tick(t)
	}
}

// Forget drops the object at addr.
func Forget(s *State, addr uintptr) {
	if p := pageOf(s, addr, false); p != nil {
		lock(&p.lk)
		dropSyncs(s, p, addr, addr+1)
		unlock(&p.lk)
	}
}

// dropSyncs drops the objects at addresses in [lo, hi) of a locked page.
func dropSyncs(s *State, p *page, lo, hi uintptr) {
	if p.syncs == nil {
		return
	}
	n := (hi-1)/4 - lo/4 + 1 // granules
	if n > syncBuckets {
		n = syncBuckets
	}
	for k := uintptr(0); k < n; k++ {
		i := (lo/4 + k) % syncBuckets
		var last *syncObj
		for o := p.syncs.b[i]; o != nil; {
			next := o.next
			if o.addr < lo || o.addr >= hi {
				last = o
			} else {
				if last == nil {
					p.syncs.b[i] = next
				} else {
					last.next = next
				}
				dropSync(s, o)
			}
			o = next
		}
	}
}
