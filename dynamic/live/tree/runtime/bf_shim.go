//go:build bfverify

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// What the copy of dynamic/shadow needs; see shim.go there.

type bf_notInHeap struct{ _ sys.NotInHeap }

// bf_home is what belongs to a State outside the state machine: nothing.
type bf_home struct{ _ bf_notInHeap }

// bf_local is what is kept with each thread: the stacks of its last accesses. One is
// that of another access at the same place in the same call of the same function.
type bf_local struct {
	calls   uint64 // functions entered so far
	sites   [bfSites]bfSiteMemo
	starter int64 // the system's thread that executed the go statement
}

const bfSites = 8

type bfSiteMemo struct {
	pc, fp uintptr
	calls  uint64
	site   uint32
}

//go:nosplit
func bf_load64(p *uint64) uint64 { return atomic.Load64(p) }

//go:nosplit
func bf_store64(p *uint64, v uint64) { atomic.Store64(p, v) }

//go:nosplit
func bf_cas64(p *uint64, old, new uint64) bool { return atomic.Cas64(p, old, new) }

//go:nosplit
func bf_load32(p *uint32) uint32 { return atomic.Load(p) }

//go:nosplit
func bf_store32(p *uint32, v uint32) { atomic.Store(p, v) }

//go:nosplit
func bf_release32(p *uint32, v uint32) { atomic.StoreRel(p, v) }

//go:nosplit
func bf_cas32(p *uint32, old, new uint32) bool { return atomic.Cas(p, old, new) }

//go:nosplit
func bf_swap32(p *uint32, v uint32) uint32 { return atomic.Xchg(p, v) }

//go:nosplit
func bf_add32(p *uint32, d int32) uint32 { return atomic.Xadd(p, d) }

//go:nosplit
func bf_loadp(p unsafe.Pointer) unsafe.Pointer { return atomic.Loadp(p) }

// Nothing that is stored lies in the Go heap, so there are no write barriers.
//
//go:nosplit
func bf_storep(p unsafe.Pointer, v unsafe.Pointer) { atomic.StorepNoWB(p, v) }

//go:nosplit
func bf_casp(p unsafe.Pointer, old, new unsafe.Pointer) bool {
	return atomic.Casp1((*unsafe.Pointer)(p), old, new)
}

// bf_pause waits a little; n counts the attempts so far.
func bf_pause(n int) {
	if n < 32 {
		procyield(20)
	} else {
		osyield()
	}
}

func bf_zero(p unsafe.Pointer, n uintptr) { memclrNoHeapPointers(p, n) }

//go:nosplit
func bf_fatal(why string) { throw(why) }

func bf_sysReport(s *bfState, r *bfRace) { bfReport(r) }

func bf_sysAlloc(s *bfState, n uintptr) unsafe.Pointer {
	return persistentalloc(n, 64, &memstats.other_sys)
}
