package progen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sync"
)

// stubs is an importer of the two packages of the subset. It type-checks
// signatures only, so it needs neither export data nor the source of std.
type stubs struct{}

var stubText = map[string]string{
	"sync": `package sync
type Locker interface { Lock(); Unlock() }
type Mutex struct { _ int }
func (m *Mutex) Lock() {}
func (m *Mutex) Unlock() {}
func (m *Mutex) TryLock() bool { return false }
type RWMutex struct { _ int }
func (m *RWMutex) Lock() {}
func (m *RWMutex) Unlock() {}
func (m *RWMutex) TryLock() bool { return false }
func (m *RWMutex) RLock() {}
func (m *RWMutex) RUnlock() {}
func (m *RWMutex) TryRLock() bool { return false }
type WaitGroup struct { _ int }
func (w *WaitGroup) Add(n int) {}
func (w *WaitGroup) Done() {}
func (w *WaitGroup) Wait() {}
func (w *WaitGroup) Go(f func()) {}
type Once struct { _ int }
func (o *Once) Do(f func()) {}
func OnceFunc(f func()) func() { return nil }
`,
	"sync/atomic": `package atomic
type Int32 struct { _ int }
func (x *Int32) Load() int32 { return 0 }
func (x *Int32) Store(v int32) {}
func (x *Int32) Add(d int32) int32 { return 0 }
func (x *Int32) Swap(v int32) int32 { return 0 }
func (x *Int32) CompareAndSwap(a, b int32) bool { return false }
type Int64 struct { _ int }
func (x *Int64) Load() int64 { return 0 }
func (x *Int64) Store(v int64) {}
func (x *Int64) Add(d int64) int64 { return 0 }
func (x *Int64) Swap(v int64) int64 { return 0 }
func (x *Int64) CompareAndSwap(a, b int64) bool { return false }
type Bool struct { _ int }
func (x *Bool) Load() bool { return false }
func (x *Bool) Store(v bool) {}
func (x *Bool) Swap(v bool) bool { return false }
func (x *Bool) CompareAndSwap(a, b bool) bool { return false }
type Pointer[T any] struct { _ int; v *T }
func (x *Pointer[T]) Load() *T { return nil }
func (x *Pointer[T]) Store(v *T) {}
func (x *Pointer[T]) Swap(v *T) *T { return nil }
func (x *Pointer[T]) CompareAndSwap(a, b *T) bool { return false }
func LoadInt32(p *int32) int32 { return 0 }
func StoreInt32(p *int32, v int32) {}
func AddInt32(p *int32, v int32) int32 { return 0 }
func SwapInt32(p *int32, v int32) int32 { return 0 }
func CompareAndSwapInt32(p *int32, a, b int32) bool { return false }
func LoadInt64(p *int64) int64 { return 0 }
func StoreInt64(p *int64, v int64) {}
func AddInt64(p *int64, v int64) int64 { return 0 }
func SwapInt64(p *int64, v int64) int64 { return 0 }
func CompareAndSwapInt64(p *int64, a, b int64) bool { return false }
`,
}

var loadStubs = sync.OnceValue(func() map[string]*types.Package {
	pkgs := map[string]*types.Package{}
	for path, text := range stubText {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, text, 0)
		if err != nil {
			panic(err)
		}
		pkg, err := new(types.Config).Check(path, fset, []*ast.File{f}, nil)
		if err != nil {
			panic(err)
		}
		pkgs[path] = pkg
	}
	return pkgs
})

// Import returns the stub of a package of the subset.
func (stubs) Import(path string) (*types.Package, error) {
	if pkg := loadStubs()[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("package %s is outside the subset", path)
}
