//go:build bfmodel

// Locks, groups and once are said with markers, because the bodies of package
// sync implement them and so cannot show them. The stand-ins touch no field:
// the fields are the package's own, reached through atomics only, and a copy
// or an overwriting by the user is seen at the user's instruction.
package sync

import "unsafe"

func bfAcquire(m any, write bool)
func bfRelease(m any, write bool)
func bfAdd(wg *WaitGroup, n int)
func bfWait(wg *WaitGroup)
func bfOnce(o *Once, f func())
func bfMaybe() bool
func bfGhost(p any) *any

// Lock and Unlock: https://go.dev/ref/mem#locks.
//
//bf:inline
func (m *Mutex) bf_Lock() { bfAcquire(m, true) }

//bf:inline
func (m *Mutex) bf_Unlock() { bfRelease(m, true) }

// TryLock orders like Lock where it says true and not at all where it says
// false.
//
//bf:inline
func (m *Mutex) bf_TryLock() bool {
	if bfMaybe() {
		bfAcquire(m, true)
		return true
	}
	return false
}

//bf:inline
func (rw *RWMutex) bf_Lock() { bfAcquire(rw, true) }

//bf:inline
func (rw *RWMutex) bf_Unlock() { bfRelease(rw, true) }

// RLock is a reader's lock: two readers are not ordered.
//
//bf:inline
func (rw *RWMutex) bf_RLock() { bfAcquire(rw, false) }

//bf:inline
func (rw *RWMutex) bf_RUnlock() { bfRelease(rw, false) }

//bf:inline
func (rw *RWMutex) bf_TryLock() bool {
	if bfMaybe() {
		bfAcquire(rw, true)
		return true
	}
	return false
}

//bf:inline
func (rw *RWMutex) bf_TryRLock() bool {
	if bfMaybe() {
		bfAcquire(rw, false)
		return true
	}
	return false
}

// RLocker gives the same object under another type, as the real one does.
//
//bf:inline
func (rw *RWMutex) bf_RLocker() Locker { return (*rlocker)(rw) }

//bf:inline
func (r *rlocker) bf_Lock() { bfAcquire((*RWMutex)(r), false) }

//bf:inline
func (r *rlocker) bf_Unlock() { bfRelease((*RWMutex)(r), false) }

// Only package syscall calls it, to choose between two ways to wait.
func bf_syscall_hasWaitingReaders(rw *RWMutex) bool { return bfMaybe() }

//bf:inline
func (wg *WaitGroup) bf_Add(delta int) { bfAdd(wg, delta) }

//bf:inline
func (wg *WaitGroup) bf_Done() { bfAdd(wg, -1) }

//bf:inline
func (wg *WaitGroup) bf_Wait() { bfWait(wg) }

// Go's Done is deferred after f. If f panics the real one panics again before
// Done, so that the program dies; a Done on that path orders nothing.
// Goexit in f runs Done.
//
//bf:inline
func (wg *WaitGroup) bf_Go(f func()) {
	bfAdd(wg, 1)
	go func() {
		defer bfAdd(wg, -1)
		f()
	}()
}

// Do may be entered by many; all of them return after f did.
// OnceFunc, OnceValue and OnceValues are analysed from their source, which
// needs Do only.
//
//bf:inline
func (o *Once) bf_Do(f func()) { bfOnce(o, f) }

// Wait reads the field L, as the real one does, and gives up and takes the
// lock. No order is claimed between Signal or Broadcast and Wait: the Go
// documentation promises it only for the Wait that the call unblocks, and the
// lock already orders what the condition is about.
//
//bf:inline
func (c *Cond) bf_Wait() {
	c.L.Unlock()
	c.L.Lock()
}

//bf:inline
func (c *Cond) bf_Signal() {}

//bf:inline
func (c *Cond) bf_Broadcast() {}

// Put and Get meet in the pool's hidden cell: Get gives what any Put of the
// same pool put, or what New makes. The field New is read as the real one
// reads it, that is when the pool had nothing.
//
//bf:inline
func (p *Pool) bf_Put(x any) {
	if x == nil {
		return
	}
	*bfGhost(p) = x
}

//bf:inline
func (p *Pool) bf_Get() any {
	if bfMaybe() {
		return *bfGhost(p)
	}
	if p.New != nil {
		return p.New()
	}
	return nil
}

// Map's methods hand on to internal/sync.HashTrieMap, which is modelled; the
// stand-ins only make one copy for each call.
//
//bf:inline
func (m *Map) bf_Load(key any) (value any, ok bool) { return m.m.Load(key) }

//bf:inline
func (m *Map) bf_Store(key, value any) { m.m.Store(key, value) }

//bf:inline
func (m *Map) bf_Clear() { m.m.Clear() }

//bf:inline
func (m *Map) bf_LoadOrStore(key, value any) (actual any, loaded bool) {
	return m.m.LoadOrStore(key, value)
}

//bf:inline
func (m *Map) bf_LoadAndDelete(key any) (value any, loaded bool) { return m.m.LoadAndDelete(key) }

//bf:inline
func (m *Map) bf_Delete(key any) { m.m.Delete(key) }

//bf:inline
func (m *Map) bf_Swap(key, value any) (previous any, loaded bool) { return m.m.Swap(key, value) }

//bf:inline
func (m *Map) bf_CompareAndSwap(key, old, new any) (swapped bool) {
	return m.m.CompareAndSwap(key, old, new)
}

//bf:inline
func (m *Map) bf_CompareAndDelete(key, old any) (deleted bool) {
	return m.m.CompareAndDelete(key, old)
}

//bf:inline
func (m *Map) bf_Range(f func(key, value any) bool) { m.m.Range(f) }

// The rest is what the replaced bodies called. Nothing reaches it; it is here
// so that a new caller finds a body that only parks, wakes or counts.
func bf_runtime_Semacquire(s *uint32)                                    {}
func bf_runtime_SemacquireWaitGroup(s *uint32, synctestDurable bool)     {}
func bf_runtime_SemacquireRWMutexR(s *uint32, lifo bool, skipframes int) {}
func bf_runtime_SemacquireRWMutex(s *uint32, lifo bool, skipframes int)  {}
func bf_runtime_Semrelease(s *uint32, handoff bool, skipframes int)      {}
func bf_runtime_notifyListAdd(l *notifyList) uint32                      { return 0 }
func bf_runtime_notifyListWait(l *notifyList, t uint32)                  {}
func bf_runtime_notifyListNotifyAll(l *notifyList)                       {}
func bf_runtime_notifyListNotifyOne(l *notifyList)                       {}
func bf_runtime_registerPoolCleanup(cleanup func())                      {}
func bf_poolCleanup()                                                    {}
func bf_indexLocal(l unsafe.Pointer, i int) *poolLocal                   { return (*poolLocal)(l) }
func bf_poolRaceAddr(x any) unsafe.Pointer                               { return nil }

//bf:atomic
func bf_runtime_LoadAcquintptr(ptr *uintptr) uintptr { return *ptr }

//bf:atomic
func bf_runtime_StoreReluintptr(ptr *uintptr, val uintptr) { *ptr = val }
