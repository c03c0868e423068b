//go:build bfmodel

// A weak pointer keeps what it was made from and gives it back or nothing; the
// runtime keeps the two in a table of its own. When the referent goes is not
// the program's doing, so Value orders nothing.
package weak

import "unsafe"

func bfMaybe() bool

//bf:inline
func bf_Make[T any](ptr *T) Pointer[T] { return Pointer[T]{u: unsafe.Pointer(ptr)} }

//bf:inline
func (p Pointer[T]) bf_Value() *T {
	if bfMaybe() {
		return nil
	}
	return (*T)(p.u)
}

func bf_runtime_registerWeakPointer(p unsafe.Pointer) unsafe.Pointer { return p }

func bf_runtime_makeStrongFromWeak(u unsafe.Pointer) unsafe.Pointer { return u }
