//go:build bfverify

// Package runtime here is what bfverify puts into the Go tree's package of that name.
//
// This file takes the place of race.go, the functions by which the runtime calls the
// race detector. There they call ThreadSanitizer; here they are the detector.
//
// # Stacks
//
// The state machine (the files shadow_*.go, copies of dynamic/shadow) takes spin locks.
// If a goroutine's stack grew while it holds one, the runtime would call racemalloc
// for the new stack, and wait for itself. So the state machine runs on the system
// stack, where nothing grows and nothing is preempted. Fast paths are nosplit
// functions: they look, or take a lock that is free for some instructions.
//
// # Which memory
//
// Only the Go heap and the program's data have shadow: other memory may be unmapped
// and mapped again without the runtime's knowledge. Goroutines do not share
// variables on their stacks, so accesses to the own stack are left out too.
package runtime

import (
	"internal/abi"
	"internal/runtime/sys"
	"unsafe"
)

const raceenabled = true

var (
	bfWorld bfState // all that is known

	bfArenaLo, bfArenaHi uintptr // the Go heap
	bfDataLo, bfDataHi   uintptr // data and bss
)

// bfOf returns the detector's state of a goroutine, nil before it has one.
//
//go:nosplit
func bfOf(racectx uintptr) *bfThread { return (*bfThread)(unsafe.Pointer(racectx)) }

// bfHas reports whether the memory at addr has shadow.
//
//go:nosplit
func bfHas(addr uintptr) bool {
	return addr-bfArenaLo < bfArenaHi-bfArenaLo || addr-bfDataLo < bfDataHi-bfDataLo
}

// raceinit is called once, before there is a heap.
func raceinit() (gctx, pctx uintptr) {
	m := &firstmoduledata
	bfDataLo = min(m.noptrdata, m.data, m.noptrbss, m.bss)
	bfDataHi = max(m.enoptrdata, m.edata, m.enoptrbss, m.ebss)
	bf_initState(&bfWorld, bfOptions{Firsts: true})
	t := bfFork(&bfWorld, nil, 1)
	bfOwn(t, 0)
	return uintptr(unsafe.Pointer(t)), 1
}

func raceproccreate() uintptr     { return 1 }
func raceprocdestroy(ctx uintptr) {}

//go:nosplit
func racemapshadow(addr unsafe.Pointer, size uintptr) {
	if bfArenaLo == 0 || uintptr(addr) < bfArenaLo {
		bfArenaLo = uintptr(addr)
	}
	bfArenaHi = max(bfArenaHi, uintptr(addr)+size)
}

// racemalloc says that sz bytes at p begin a new life.
//
//go:nosplit
func racemalloc(p unsafe.Pointer, sz uintptr) {
	if bfBlank(&bfWorld, uintptr(p), sz) {
		return
	}
	systemstack(func() { bfClear(&bfWorld, uintptr(p), sz) })
}

// racefree says that sz bytes at p are not used until racemalloc. What is known about
// small ones is cleared there.
//
//go:nosplit
func racefree(p unsafe.Pointer, sz uintptr) {
	if sz >= bfPageSize {
		systemstack(func() { bfClear(&bfWorld, uintptr(p), sz) })
	}
}

// racegostart is called for a new goroutine, whose go statement returns to pc, and
// for each P, which runs timers.
//
//go:nosplit
func racegostart(pc uintptr) uintptr {
	gp := getg()
	if gp.m.curg != nil {
		gp = gp.m.curg
	}
	return racectxstart(pc, gp.racectx)
}

//go:nosplit
func racectxstart(pc, spawnctx uintptr) (racectx uintptr) {
	systemstack(func() {
		id := uint64(0)
		if pp := getg().m.p.ptr(); pp != nil {
			id = pp.goidcache - 1 // newproc1 has just taken that one
		}
		t := bfFork(&bfWorld, bfOf(spawnctx), id)
		t.local.starter = getg().m.id
		bfOwn(t, pc)
		racectx = uintptr(unsafe.Pointer(t))
	})
	return racectx
}

//go:nosplit
func racegoend() {
	gp := getg()
	ctx := gp.racectx
	gp.racectx = 0
	racectxend(ctx)
}

//go:nosplit
func racectxend(racectx uintptr) {
	if t := bfOf(racectx); t != nil {
		systemstack(func() {
			bfDisown(t)
			bfEnd(&bfWorld, t)
		})
	}
}

// racefingo orders what the caller does from now on after all that was done.
func racefingo() {
	if t := bfOf(getg().racectx); t != nil {
		systemstack(func() { bfAcquireAll(&bfWorld, t) })
	}
}

// Synchronisation. Objects are addresses.

//go:nosplit
func raceacquire(addr unsafe.Pointer) { raceacquireg(getg(), addr) }

//go:nosplit
func raceacquireg(gp *g, addr unsafe.Pointer) {
	if getg().raceignore == 0 {
		raceacquirectx(gp.racectx, addr)
	}
}

//go:nosplit
func raceacquirectx(racectx uintptr, addr unsafe.Pointer) {
	if t := bfOf(racectx); t != nil && bfHas(uintptr(addr)) && !bfTryAcquire(&bfWorld, t, uintptr(addr)) {
		systemstack(func() { bfAcquire(&bfWorld, t, uintptr(addr)) })
	}
}

//go:nosplit
func racerelease(addr unsafe.Pointer) { racereleaseg(getg(), addr) }

//go:nosplit
func racereleaseg(gp *g, addr unsafe.Pointer) {
	if t := bfOf(gp.racectx); t != nil && getg().raceignore == 0 && bfHas(uintptr(addr)) && !bfTryRelease(&bfWorld, t, uintptr(addr), false) {
		systemstack(func() { bfRelease(&bfWorld, t, uintptr(addr)) })
	}
}

//go:nosplit
func racereleasemerge(addr unsafe.Pointer) { racereleasemergeg(getg(), addr) }

//go:nosplit
func racereleasemergeg(gp *g, addr unsafe.Pointer) {
	if t := bfOf(gp.racectx); t != nil && getg().raceignore == 0 && bfHas(uintptr(addr)) && !bfTryRelease(&bfWorld, t, uintptr(addr), true) {
		systemstack(func() { bfReleaseMerge(&bfWorld, t, uintptr(addr)) })
	}
}

//go:nosplit
func racereleaseacquire(addr unsafe.Pointer) { racereleaseacquireg(getg(), addr) }

//go:nosplit
func racereleaseacquireg(gp *g, addr unsafe.Pointer) {
	if t := bfOf(gp.racectx); t != nil && getg().raceignore == 0 && bfHas(uintptr(addr)) && !bfTryRelease(&bfWorld, t, uintptr(addr), true) {
		systemstack(func() { bfReleaseAcquire(&bfWorld, t, uintptr(addr)) })
	}
}

// Accesses that the runtime itself reports for its caller. callerpc and pc are not
// needed: the stack says the same.

func raceReadObjectPC(t *_type, addr unsafe.Pointer, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), bfExtent(t), bfRead, getfp(), sys.GetCallerPC(), 0)
}

func raceWriteObjectPC(t *_type, addr unsafe.Pointer, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), bfExtent(t), bfWrite, getfp(), sys.GetCallerPC(), 0)
}

// bfExtent returns how many bytes an access to a variable of type t names: all of
// those with parts, the first one of others.
func bfExtent(t *_type) uintptr {
	if n := t.Size_; n == 0 || t.Kind() == abi.Array || t.Kind() == abi.Struct {
		return n
	}
	return 1
}

//go:nosplit
func racereadpc(addr unsafe.Pointer, callerpc, pc uintptr) {
	bfNoted(uintptr(addr), bfRead, getfp(), sys.GetCallerPC())
}

//go:nosplit
func racewritepc(addr unsafe.Pointer, callerpc, pc uintptr) {
	bfNoted(uintptr(addr), bfWrite, getfp(), sys.GetCallerPC())
}

//go:nosplit
func racereadrangepc(addr unsafe.Pointer, sz, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), sz, bfRead, getfp(), sys.GetCallerPC(), 0)
}

//go:nosplit
func racewriterangepc(addr unsafe.Pointer, sz, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), sz, bfWrite, getfp(), sys.GetCallerPC(), 0)
}
