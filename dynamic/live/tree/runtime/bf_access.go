//go:build bfverify

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// What the compiler calls with -race. It gives scalars (also strings, slices and
// interfaces) by their first byte, so that is the byte that they race on: see
// Options.Firsts in dynamic/shadow.

// racefuncenter and racefuncexit enclose functions that make accesses. Stacks are found
// by frame pointers; the count tells when they need not be.
//
//go:nosplit
func racefuncenter(callpc uintptr) {
	if t := bfOf(getg().racectx); t != nil {
		if t.local.calls++; t.local.calls == 1 {
			bfBegin(t)
		}
	}
}

// bfBegin lets the thread go first that has started this goroutine and woken this thread to
// run it. Where threads outnumber processors the system may run the woken one in place of
// the other, and so all of a short goroutine within its go statement: then locks order what
// else would run side by side, and races are not seen.
//
//go:nosplit
func bfBegin(t *bfThread) {
	if t.local.starter != getg().m.id {
		systemstack(osyield)
	}
}

//go:nosplit
func racefuncexit() {}

//go:nosplit
func raceread(addr uintptr) {
	t := bfOf(getg().racectx)
	if t == nil {
		return
	}
	// This is bfFind and bfSame for aligned addresses. Page 0 is none.
	if e := &t.seen[addr>>bf_pageShift%bf_nSeen]; e.no == addr>>bf_pageShift && addr&7 == 0 {
		if c := e.p.cells; c != nil {
			if c = bf_cellAt(c, addr>>3%bf_words); c.w == t.epoch || c.r == t.epoch {
				return
			}
		}
	}
	bfOther(t, addr, bfRead, getfp(), sys.GetCallerPC())
}

//go:nosplit
func racewrite(addr uintptr) {
	t := bfOf(getg().racectx)
	if t == nil {
		return
	}
	if e := &t.seen[addr>>bf_pageShift%bf_nSeen]; e.no == addr>>bf_pageShift && addr&7 == 0 {
		if c := e.p.cells; c != nil {
			if c = bf_cellAt(c, addr>>3%bf_words); c.w == t.epoch {
				return
			}
		}
	}
	bfOther(t, addr, bfWrite, getfp(), sys.GetCallerPC())
}

// bfOther is bfOne for an address whose cell is not known.
//
//go:nosplit
func bfOther(t *bfThread, addr uintptr, kind uint8, fp, pc uintptr) {
	c := bfFind(&bfWorld, t, addr)
	if c == nil {
		bfSeen(addr, 1, kind, fp, pc, 0)
	} else if !bfSame(t, c, kind) {
		bfOne(t, c, addr, kind, fp, pc)
	}
}

// bfOne is bfSeen for one byte that has the cell c, and tries to do without the system stack.
//
//go:nosplit
func bfOne(t *bfThread, c *bf_cell, addr uintptr, kind uint8, fp, pc uintptr) {
	if gp := getg(); addr-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return // and the stack may move before the end of this
	}
	site := bfSiteOf(t, fp, pc)
	if site == 0 || t.epoch == 0 || !bfTry(t, c, addr, kind, site) {
		bfSeen(addr, 1, kind, fp, pc, site)
	}
}

// bfSiteOf returns the site of an access that compiled code makes at pc, if the last one or
// one of a few was made there in the same call; else 0.
//
//go:nosplit
func bfSiteOf(t *bfThread, fp, pc uintptr) uint32 {
	if m := &t.local.sites[pc>>2%bfSites]; m.pc == pc && m.fp == fp && m.calls == t.local.calls {
		return m.site
	}
	return 0
}

// bfNoted is bfOne for an access that a function makes for its caller, and that does not
// count as a call.
//
//go:nosplit
func bfNoted(addr uintptr, kind uint8, fp, pc uintptr) {
	gp := getg()
	t := bfOf(gp.racectx)
	if t == nil || gp != gp.m.curg || !bfHas(addr) {
		return
	}
	if c := bfFind(&bfWorld, t, addr); c != nil {
		if bfSame(t, c, kind) {
			return
		}
		if site := bfSiteKnown(t, fp, pc, gp); site != 0 && bfTry(t, c, addr, kind, site) {
			return
		}
	}
	bfSeen(addr, 1, kind, fp, pc, 0)
}

// bfTry makes an access of any kind to c, which bfFind returned for addr, unless that takes
// the system stack. It reports whether it did.
//
//go:nosplit
func bfTry(t *bfThread, c *bf_cell, addr uintptr, kind uint8, site uint32) bool {
	how := bfHard
	switch kind {
	case bfRead:
		how = bfTryRead(t, c, site)
	case bfWrite:
		how = bfTryWrite(t, c, site)
	default:
		how = bfTryAtomic(t, c, kind, site)
	}
	if how == bfCheck {
		systemstack(func() { bfRecheck(&bfWorld, t, addr, 1, kind, site) })
	}
	return how != bfHard
}

//go:nosplit
func racereadrange(addr, size uintptr) {
	bfSome(addr, size, bfRead, getfp(), sys.GetCallerPC())
}

//go:nosplit
func racewriterange(addr, size uintptr) {
	bfSome(addr, size, bfWrite, getfp(), sys.GetCallerPC())
}

// bfSome is bfSeen for compiled code, and tries to do without the system stack.
//
//go:nosplit
func bfSome(addr, size uintptr, kind uint8, fp, pc uintptr) {
	gp := getg()
	t := bfOf(gp.racectx)
	if t == nil || addr-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return
	}
	site := bfSiteOf(t, fp, pc)
	if site != 0 && size <= bfMaxTry {
		n, how := bfTryRange(t, addr, size, kind, site)
		switch how {
		case bfDone:
			return
		case bfCheck:
			systemstack(func() { bfRecheck(&bfWorld, t, addr+n, 8, kind, site) })
			n += 8
		}
		addr, size = addr+n, size-n
	}
	bfSeen(addr, size, kind, fp, pc, site)
}

// bfSeen says that the current goroutine accesses size bytes at addr. site is that of the
// access, or 0: then fp is the frame pointer of the function that pc returns from.
//
//go:nosplit
func bfSeen(addr, size uintptr, kind uint8, fp, pc uintptr, site uint32) {
	gp := getg()
	t := bfOf(gp.racectx)
	if t == nil || gp != gp.m.curg || !bfHas(addr) || addr-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return
	}
	systemstack(func() {
		if site == 0 {
			site = bfSite(fp, pc, gp)
			t.local.sites[pc>>2%bfSites] = bfSiteMemo{pc, fp, t.local.calls, site}
		}
		for size > 0 {
			n := bfAccess(&bfWorld, t, addr, size, kind, site)
			if n >= size {
				break
			}
			addr, size = addr+n, size-n
		}
	})
}

// What internal/race and package runtime of race builds offer.

//go:linkname race_Read internal/race.Read
//go:nosplit
func race_Read(addr unsafe.Pointer) {
	bfNoted(uintptr(addr), bfRead, getfp(), sys.GetCallerPC())
}

//go:linkname race_Write internal/race.Write
//go:nosplit
func race_Write(addr unsafe.Pointer) {
	bfNoted(uintptr(addr), bfWrite, getfp(), sys.GetCallerPC())
}

//go:linkname race_ReadRange internal/race.ReadRange
//go:nosplit
func race_ReadRange(addr unsafe.Pointer, len int) {
	bfSeen(uintptr(addr), uintptr(max(len, 0)), bfRead, getfp(), sys.GetCallerPC(), 0)
}

//go:linkname race_WriteRange internal/race.WriteRange
//go:nosplit
func race_WriteRange(addr unsafe.Pointer, len int) {
	bfSeen(uintptr(addr), uintptr(max(len, 0)), bfWrite, getfp(), sys.GetCallerPC(), 0)
}

//go:linkname race_ReadPC internal/race.ReadPC
func race_ReadPC(addr unsafe.Pointer, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), 1, bfRead, getfp(), sys.GetCallerPC(), 0)
}

//go:linkname race_WritePC internal/race.WritePC
func race_WritePC(addr unsafe.Pointer, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), 1, bfWrite, getfp(), sys.GetCallerPC(), 0)
}

//go:linkname race_ReadObjectPC internal/race.ReadObjectPC
func race_ReadObjectPC(t *_type, addr unsafe.Pointer, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), bfExtent(t), bfRead, getfp(), sys.GetCallerPC(), 0)
}

//go:linkname race_WriteObjectPC internal/race.WriteObjectPC
func race_WriteObjectPC(t *_type, addr unsafe.Pointer, callerpc, pc uintptr) {
	bfSeen(uintptr(addr), bfExtent(t), bfWrite, getfp(), sys.GetCallerPC(), 0)
}

//go:linkname race_Acquire internal/race.Acquire
//go:nosplit
func race_Acquire(addr unsafe.Pointer) { raceacquire(addr) }

//go:linkname race_Release internal/race.Release
//go:nosplit
func race_Release(addr unsafe.Pointer) { racerelease(addr) }

//go:linkname race_ReleaseMerge internal/race.ReleaseMerge
//go:nosplit
func race_ReleaseMerge(addr unsafe.Pointer) { racereleasemerge(addr) }

//go:linkname race_Disable internal/race.Disable
//go:nosplit
func race_Disable() { getg().raceignore++ }

//go:linkname race_Enable internal/race.Enable
//go:nosplit
func race_Enable() { getg().raceignore-- }

//go:linkname race_Errors internal/race.Errors
func race_Errors() int { return int(bfLoadCount()) }
