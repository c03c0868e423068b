//go:build bfverify

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

// Reports, in the format of Go's race detector.

var (
	bfReportLock uint32
	bfRaces      uint64              // reported
	bfSeenRaces  [1 << 12]bfSeenRace // a hash table of what was reported
	bfTraceback  [256]uintptr        // guarded by bfReportLock
	bfOutBuf     [1 << 12]byte       // as well
	bfOutLen     int
)

// bfSeenRace is what makes reports alike: the lines of the two stacks. So x++ against
// x++ is one race, not three.
type bfSeenRace struct{ a, b uint64 }

func bfLoadCount() uint64 { return atomic.Load64(&bfRaces) }

// bfReport prints a race, unless one with the same sites was printed. It is called on
// the system stack, in the middle of an operation of the state machine.
func bfReport(r *bfRace) {
	bf_lock(&bfReportLock)
	bfReadOptions()
	if bfOpts.all || bfNewRace(r) {
		atomic.Xadd64(&bfRaces, 1)
		bfPrintRace(r)
		bfFlush()
		if bfOpts.halt {
			exit(bfOpts.exitcode)
		}
	}
	bf_unlock(&bfReportLock)
}

// bfNewRace reports whether r is unlike all before. When the table is full, nothing
// is new.
func bfNewRace(r *bfRace) bool {
	a, b := bfLines(r.Site), bfLines(r.PrevSite)
	if a > b {
		a, b = b, a
	}
	key := bfSeenRace{a, b | 1}
	h := (a ^ b>>1) * bfMix >> 52
	for range bfSeenRaces {
		switch e := &bfSeenRaces[h]; *e {
		case key:
			return false
		case bfSeenRace{}:
			*e = key
			return true
		}
		h = (h + 1) % uint64(len(bfSeenRaces))
	}
	return false
}

// bfLines returns a hash of the functions and lines of a stack.
func bfLines(id uint32) (h uint64) {
	s := bfStackOf(id)
	if s == nil {
		return 0
	}
	for i := uint32(0); i < s.n; i++ {
		pc := *s.pc(i) - 1
		if f := findfunc(pc); f.valid() {
			_, line := funcline1(f, pc, false)
			h = (h ^ uint64(f.entry()) ^ uint64(line)<<32) * bfMix
		}
	}
	return h
}

const bfOurs = "sync/atomic.bf"

const bfRule = "==================\n"

func bfPrintRace(r *bfRace) {
	me, other := bfOwnerOf(r.Epoch), bfOwnerOf(r.PrevEpoch)
	bfPuts(bfRule)
	bfPuts("WARNING: DATA RACE\n")
	bfPuts(bfWord(r.Kind, "Read", "Write"))
	bfPuts(" at ")
	bfPutAddr(r.Lo)
	bfPuts(" by ")
	bfPutOwner(me)
	bfPuts(":\n")
	bfPutCurrent(r.Site)
	bfPuts("\nPrevious ")
	bfPuts(bfWord(r.PrevKind, "read", "write"))
	bfPuts(" at ")
	bfPutAddr(r.Lo)
	bfPuts(" by ")
	bfPutOwner(other)
	bfPuts(":\n")
	bfPutStack(r.PrevSite)
	bfPutSpawn(me)
	if other != me {
		bfPutSpawn(other)
	}
	bfPuts(bfRule)
}

func bfWord(kind uint8, read, write string) string {
	if kind&1 != 0 {
		return write
	}
	return read
}

func bfPutOwner(o *bfOwner) {
	switch {
	case o == nil:
		bfPuts("an earlier goroutine")
	case o.id == 1:
		bfPuts("main goroutine")
	default:
		bfPuts("goroutine ")
		bfPutNum(o.id)
	}
}

func bfPutSpawn(o *bfOwner) {
	if o == nil || o.spawned == 0 || o.id == 1 {
		return
	}
	bfPuts("\nGoroutine ")
	bfPutNum(o.id)
	if o.ended {
		bfPuts(" (finished) created at:\n")
	} else {
		bfPuts(" (running) created at:\n")
	}
	bfPutStack(o.spawned)
}

// bfPutCurrent prints the stack of the current goroutine from its access on, whose
// stack is site. If the access was made earlier, only what site holds is known.
func bfPutCurrent(site uint32) {
	s := bfStackOf(site)
	gp := getg().m.curg
	if s == nil || gp == nil {
		bfPutStack(site)
		return
	}
	n := gcallers(gp, 0, bfTraceback[:])
	for i, pc := range bfTraceback[:n] {
		if pc == *s.pc(0) {
			for _, pc := range bfTraceback[i:n] {
				bfPutFrames(pc)
			}
			return
		}
	}
	bfPutStack(site)
}

func bfPutStack(id uint32) {
	s := bfStackOf(id)
	if s == nil {
		bfPuts("  [failed to restore the stack]\n")
		return
	}
	for i := uint32(0); i < s.n; i++ {
		bfPutFrames(*s.pc(i))
	}
}

// bfPutFrames prints the frames, one if nothing is inlined, of a function that is
// returned to at pc.
func bfPutFrames(pc uintptr) {
	pc--
	f := findfunc(pc)
	if !f.valid() {
		return
	}
	u, uf := newInlineUnwinder(f, pc)
	for ; uf.valid(); uf = u.next(uf) {
		sf := u.srcFunc(uf)
		if sf.funcID == abi.FuncIDWrapper && u.isInlined(uf) || sf.funcID == abi.FuncID_goexit || sf.funcID == abi.FuncID_runtime_main {
			continue
		}
		name := sf.name()
		if u.isInlined(uf) && len(name) > len(bfOurs) && name[:len(bfOurs)] == bfOurs {
			continue // our half of a function
		}
		file, line := u.fileLine(uf)
		bfPuts("  ")
		bfPuts(name)
		bfPuts("()\n      ")
		if n := len(bfOpts.strip); n > 0 && len(file) > n && file[:n] == bfOpts.strip {
			file = file[n:]
		}
		bfPuts(file)
		bfPuts(":")
		bfPutNum(uint64(line))
		bfPuts(" +0x")
		bfPutHex(uint64(pc+1-f.entry()), 1)
		bfPuts("\n")
	}
}

func bfPutAddr(p uintptr) {
	bfPuts("0x")
	bfPutHex(uint64(p), 12)
}

func bfPutHex(n uint64, digits int) {
	for i := 60; i >= 0; i -= 4 {
		if d := n >> i; d != 0 || i < digits*4 {
			bfPut("0123456789abcdef"[d&15])
		}
	}
}

func bfPutNum(n uint64) {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		n /= 10
		if n == 0 {
			break
		}
	}
	for _, c := range b[i:] {
		bfPut(c)
	}
}

func bfPuts(s string) {
	for i := 0; i < len(s); i++ {
		bfPut(s[i])
	}
}

func bfPut(c byte) {
	if bfOutLen == len(bfOutBuf) {
		bfFlush()
	}
	bfOutBuf[bfOutLen] = c
	bfOutLen++
}

// bfFlush writes what was put, to where GORACE says.
func bfFlush() {
	for p := unsafe.Pointer(&bfOutBuf[0]); bfOutLen > 0; {
		n := write(uintptr(bfOpts.fd), p, int32(bfOutLen))
		if n <= 0 {
			break
		}
		p = unsafe.Add(p, n)
		bfOutLen -= int(n)
	}
	bfOutLen = 0
}

// bfOthers reports whether a goroutine of the program other than the current one lives.
func bfOthers() bool {
	n := 0
	forEachGRace(func(gp *g) {
		if s := readgstatus(gp) &^ _Gscan; s != _Gdead && s != _Gidle && gp != getg() && !isSystemGoroutine(gp, false) {
			n++
		}
	})
	return n > 0
}

// racefini is called when the program ends with exit code 0: at the end of main, or
// by os.Exit(0). It does not return.
func racefini() {
	// On the system stack: who waits for bfReportLock does not let others run.
	systemstack(func() {
		bf_lock(&bfReportLock)
		bfReadOptions()
		bf_unlock(&bfReportLock)
	})
	if bfOpts.sleep > 0 && bfOthers() { // others may be about to race
		timeSleep(bfOpts.sleep)
	}
	systemstack(bfFinish)
}

// bfFinish prints what there is to say at the end, and ends the program.
func bfFinish() {
	bf_lock(&bfReportLock) // for ever: nothing is printed from now on
	n := bfLoadCount()
	if n > 0 {
		bfPuts("Found ")
		bfPutNum(n)
		bfPuts(" data race(s)\n")
	}
	if bfOpts.stats {
		bfPutStats()
	}
	bfFlush()
	if n > 0 {
		exit(bfOpts.exitcode)
	}
	exit(0)
}
