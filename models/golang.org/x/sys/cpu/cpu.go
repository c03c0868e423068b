//go:build bfmodel

// The vector that the kernel hands to a process is copied out by the runtime.
package cpu

func bf_runtime_getAuxv() []uintptr { return make([]uintptr, 2) }
