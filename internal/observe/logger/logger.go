//go:build bfobserve

// Package bfobserve is what instrumented code calls. The instrumenter puts it
// into GOROOT/src by an overlay, so that every package may import it.
//
// Each operand that it is given comes back unchanged. Objects that are tracked
// are kept for ever: an address that was given to an object means that object.
package bfobserve

import (
	"internal/abi"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A use is what was seen at one place of the source.
type use struct {
	events  atomic.Uint64
	unknown atomic.Uint64 // addresses that no tracked object has
	mu      sync.Mutex
	key     uint64 // the last fact, and how often it was seen in a row
	run     uint64
	facts   map[uint64]uint64       // site<<32|offset to count
	types   map[reflect.Type]uint64 // dynamic types of interface values
	code    map[uintptr]uint64      // entries of functions that are called here
}

// A site is one place of the source where objects are made.
type site struct{ made, tracked, bytes atomic.Uint64 }

// An enterable is one function of the source.
type enterable struct {
	entered atomic.Uint64
	name    string // of its code; set by who enters first
}

var (
	uses  [numUses]use
	sites [numSites]site
	funcs [numFuncs]enterable
)

// Limits. A use logs its first full events and one of sparse later ones.
const (
	full        = 1 << 16
	sparse      = 64
	siteObjects = 4096
	siteBytes   = 64 << 20
	allBytes    = 3 << 30
	wide        = 1 << 16 // no offsets in objects this large: they would be too many
)

var tracked atomic.Uint64

// kept keeps tracked objects alive.
var kept struct {
	sync.Mutex
	ptrs []unsafe.Pointer
}

// track makes the object at p known, unless its site had its share.
func track(id uint32, p unsafe.Pointer, size, unit uintptr) {
	if size == 0 || p == nil {
		return
	}
	s := &sites[id]
	s.made.Add(1)
	if s.tracked.Load() >= siteObjects || s.bytes.Load() >= siteBytes || tracked.Load() >= allBytes {
		return
	}
	s.tracked.Add(1)
	s.bytes.Add(uint64(size))
	tracked.Add(uint64(size))
	kept.Lock()
	kept.ptrs = append(kept.ptrs, p)
	kept.Unlock()
	if size > wide && unit == 0 {
		unit = 1
	}
	insert(interval{lo: uintptr(p), hi: uintptr(p) + size, unit: unit, site: id})
}

// New tracks what p points to.
func New[T any](id uint32, p *T) *T {
	track(id, unsafe.Pointer(p), unsafe.Sizeof(*p), 0)
	return p
}

// Array tracks the array of a slice that was just made.
func Array[S ~[]E, E any](id uint32, s S) S {
	var e E
	track(id, unsafe.Pointer(unsafe.SliceData(s)), uintptr(cap(s))*unsafe.Sizeof(e), unsafe.Sizeof(e))
	return s
}

// Word tracks the object that a map or a channel is.
func Word[T any](id uint32, v T) T {
	track(id, word(&v), 1, 0)
	return v
}

// Append is append, and tracks the array if that is new.
func Append[S ~[]E, E any](id uint32, s S) func(...E) S {
	return func(e ...E) S {
		r := append(s, e...)
		if unsafe.SliceData(r) != unsafe.SliceData(s) {
			Array(id, r)
		}
		return r
	}
}

// AppendString is append([]byte, string...).
func AppendString[S ~[]byte, T ~string](id uint32, s S, t T) S {
	r := append(s, t...)
	if unsafe.SliceData(r) != unsafe.SliceData(s) {
		Array(id, r)
	}
	return r
}

// Var tracks the variable that v points to, and logs p, an address in it.
func Var[V, P any](id, at uint32, v *V, p *P) *P {
	if find(uintptr(unsafe.Pointer(v))) == nil {
		track(id, unsafe.Pointer(v), unsafe.Sizeof(*v), 0)
	}
	if at != 0 {
		seen(at, unsafe.Pointer(p))
	}
	return p
}

// P logs a pointer, map or channel.
func P[T any](at uint32, v T) T {
	seen(at, word(&v))
	return v
}

// A is P for pointers of types without names. The compiler (go1.26) fails where
// an array is sliced through a pointer that an instance for all pointers gave.
func A[T any](at uint32, p *T) *T {
	seen(at, unsafe.Pointer(p))
	return p
}

// S logs a slice.
func S[S ~[]E, E any](at uint32, s S) S {
	var e E
	if cap(s) > 0 && unsafe.Sizeof(e) > 0 {
		seen(at, unsafe.Pointer(unsafe.SliceData(s)))
	}
	return s
}

// I logs an interface value: its dynamic type, and what it points to if that is
// a pointer, map, channel or slice.
func I[T any](at uint32, v T) T {
	dynamic(at, any(v))
	return v
}

// M is I for the receiver of a call of its i-th method.
func M[T any](at uint32, i int, v T) T {
	if tab := (*abi.ITab)(word(&v)); tab != nil {
		called(at, *(*uintptr)(unsafe.Add(unsafe.Pointer(&tab.Fun[0]), uintptr(i)*unsafe.Sizeof(uintptr(0)))))
	}
	dynamic(at, any(v))
	return v
}

// F logs a function value that is called.
func F[T any](at uint32, v T) T {
	if p := word(&v); p != nil {
		called(at, *(*uintptr)(p))
	}
	return v
}

func word[T any](v *T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(v)) }

func dynamic(at uint32, v any) {
	if v == nil {
		return
	}
	e := (*abi.EmptyInterface)(unsafe.Pointer(&v))
	switch e.Type.Kind() {
	case abi.Pointer, abi.Map, abi.Chan, abi.UnsafePointer:
		seen(at, e.Data)
	case abi.Slice:
		s := (*struct {
			p        unsafe.Pointer
			len, cap int
		})(e.Data)
		if s.cap > 0 && e.Type.Elem().Size_ > 0 {
			seen(at, s.p)
		}
	}
	u := &uses[at]
	if n := u.events.Add(1); n > full && n%sparse != 0 {
		return
	}
	t := reflect.TypeOf(v)
	u.mu.Lock()
	if u.types == nil {
		u.types = map[reflect.Type]uint64{}
	}
	u.types[t]++
	u.mu.Unlock()
}

func called(at uint32, code uintptr) {
	u := &uses[at]
	if n := u.events.Add(1); n > full && n%sparse != 0 {
		return
	}
	u.mu.Lock()
	if u.code == nil {
		u.code = map[uintptr]uint64{}
	}
	u.code[code]++
	u.mu.Unlock()
}

func seen(at uint32, p unsafe.Pointer) {
	if p == nil {
		return
	}
	u := &uses[at]
	if n := u.events.Add(1); n > full && n%sparse != 0 {
		return
	}
	iv := find(uintptr(p))
	if iv == nil {
		u.unknown.Add(1)
		return
	}
	off := uintptr(p) - iv.lo
	if iv.unit > 0 {
		off %= iv.unit
	}
	key := uint64(iv.site)<<32 | uint64(uint32(off))
	u.mu.Lock()
	if u.key == key {
		u.run++
	} else {
		u.settle()
		u.key, u.run = key, 1
	}
	u.mu.Unlock()
}

// settle moves the last fact to the others.
func (u *use) settle() {
	if u.run > 0 {
		if u.facts == nil {
			u.facts = map[uint64]uint64{}
		}
		u.facts[u.key] += u.run
		u.run = 0
	}
}

// Enter logs that a function runs.
func Enter(id uint32) {
	f := &funcs[id]
	if f.entered.Add(1) == 1 {
		var pc [1]uintptr
		if runtime.Callers(2, pc[:]) == 1 {
			f.name = runtime.FuncForPC(pc[0] - 1).Name()
		}
	}
}
