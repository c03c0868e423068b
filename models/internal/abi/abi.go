//go:build bfmodel

// The escape helpers give back what they are handed (the compiler knows some
// of them by name and ignores their bodies); types are tables that nobody
// writes; a program counter is a number.
//
//bf:default inert types are tables that nobody writes
package abi

import "unsafe"

//bf:inline
func bf_NoEscape(p unsafe.Pointer) unsafe.Pointer { return p }

//bf:inline
func bf_Escape[T any](x T) T { return x }

//bf:inline
func bf_EscapeNonString[T any](v T) {}

//bf:inline
func bf_EscapeToResultNonString[T any](v T) T { return v }

func bf_FuncPCABI0(f any) uintptr { return 1 }

func bf_FuncPCABIInternal(f any) uintptr { return 1 }
