//go:build bfmodel

// Mutex is the lock under sync.Mutex. HashTrieMap synchronises itself inside;
// what it must show is which keys and values meet.
package sync

import "unsafe"

func bfAcquire(m any, write bool)
func bfRelease(m any, write bool)
func bfMaybe() bool
func bfGhost(p any) *any

//bf:inline
func (m *Mutex) bf_Lock() { bfAcquire(m, true) }

//bf:inline
func (m *Mutex) bf_Unlock() { bfRelease(m, true) }

//bf:inline
func (m *Mutex) bf_TryLock() bool {
	if bfMaybe() {
		bfAcquire(m, true)
		return true
	}
	return false
}

// bfx_pair is an entry. Pairs are made by Store and its like and never
// changed, so a reader sees a key with a value that was stored for it. All
// pairs of a map meet in the map's hidden cell: a lookup may give any value.
// The real map also hashes and compares keys; a key in an interface is a
// private copy, so that reads nothing a user can write.
type bfx_pair[K comparable, V any] struct {
	k K
	v V
}

//bf:inline
//bf:silent
func (ht *HashTrieMap[K, V]) bfx_put(key K, value V) {
	*bfGhost(ht) = &bfx_pair[K, V]{key, value}
}

//bf:inline
//bf:silent
func (ht *HashTrieMap[K, V]) bfx_get() (value V, ok bool) {
	if p, ok := (*bfGhost(ht)).(*bfx_pair[K, V]); ok {
		return p.v, true
	}
	return value, false
}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_init() {}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_Load(key K) (value V, ok bool) { return ht.bfx_get() }

//bf:inline
func (ht *HashTrieMap[K, V]) bf_LoadOrStore(key K, value V) (result V, loaded bool) {
	if bfMaybe() {
		return ht.bfx_get()
	}
	ht.bfx_put(key, value)
	return value, false
}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_Store(key K, new V) { ht.bfx_put(key, new) }

//bf:inline
func (ht *HashTrieMap[K, V]) bf_Swap(key K, new V) (previous V, loaded bool) {
	previous, loaded = ht.bfx_get()
	ht.bfx_put(key, new)
	return previous, loaded
}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_CompareAndSwap(key K, old, new V) (swapped bool) {
	if bfMaybe() {
		ht.bfx_put(key, new)
		return true
	}
	return false
}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_LoadAndDelete(key K) (value V, loaded bool) { return ht.bfx_get() }

//bf:inline
func (ht *HashTrieMap[K, V]) bf_Delete(key K) {}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_CompareAndDelete(key K, old V) (deleted bool) { return bfMaybe() }

// All gives a function that ranges over the map when it is called.
//
//bf:inline
func (ht *HashTrieMap[K, V]) bf_All() func(yield func(K, V) bool) {
	return func(yield func(K, V) bool) { ht.Range(yield) }
}

// Range calls yield for any number of entries, until it says false, in the
// calling goroutine and with nothing locked.
//
//bf:inline
//bf:silent
func (ht *HashTrieMap[K, V]) bf_Range(yield func(K, V) bool) {
	for bfMaybe() {
		p, ok := (*bfGhost(ht)).(*bfx_pair[K, V])
		if !ok || !yield(p.k, p.v) {
			return
		}
	}
}

//bf:inline
func (ht *HashTrieMap[K, V]) bf_Clear() {}

// What the replaced bodies called: it parks and wakes.
func bf_runtime_SemacquireMutex(s *uint32, lifo bool, skipframes int) {}
func bf_runtime_Semrelease(s *uint32, handoff bool, skipframes int)   {}

var _ unsafe.Pointer
