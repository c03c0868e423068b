//go:build bfverify

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// What package runtime exports with the tag race, for programs that synchronise in ways
// that the detector does not know.

// RaceRead says that the caller reads the variable at addr.
//
//go:nosplit
func RaceRead(addr unsafe.Pointer) {
	bfSeen(uintptr(addr), 1, bfRead, getfp(), sys.GetCallerPC(), 0)
}

// RaceWrite says that the caller writes the variable at addr.
//
//go:nosplit
func RaceWrite(addr unsafe.Pointer) {
	bfSeen(uintptr(addr), 1, bfWrite, getfp(), sys.GetCallerPC(), 0)
}

// RaceReadRange says that the caller reads len bytes at addr.
//
//go:nosplit
func RaceReadRange(addr unsafe.Pointer, len int) {
	bfSeen(uintptr(addr), uintptr(max(len, 0)), bfRead, getfp(), sys.GetCallerPC(), 0)
}

// RaceWriteRange says that the caller writes len bytes at addr.
//
//go:nosplit
func RaceWriteRange(addr unsafe.Pointer, len int) {
	bfSeen(uintptr(addr), uintptr(max(len, 0)), bfWrite, getfp(), sys.GetCallerPC(), 0)
}

// RaceAcquire orders what the caller does from now on after all that was released to
// addr.
//
//go:nosplit
func RaceAcquire(addr unsafe.Pointer) { raceacquire(addr) }

// RaceRelease publishes what the caller did through addr, in place of what was released
// there before.
//
//go:nosplit
func RaceRelease(addr unsafe.Pointer) { racerelease(addr) }

// RaceReleaseMerge is RaceRelease that keeps what was released before.
//
//go:nosplit
func RaceReleaseMerge(addr unsafe.Pointer) { racereleasemerge(addr) }

// RaceDisable makes the detector ignore the synchronisation of the calling goroutine
// until RaceEnable. Calls nest.
func RaceDisable() { race_Disable() }

// RaceEnable undoes RaceDisable.
func RaceEnable() { race_Enable() }

// RaceErrors returns the number of races reported so far.
func RaceErrors() int { return race_Errors() }
