// Package shadow is the state machine that all detectors of bfverify share:
// clocks, epochs, cells, array descriptors with their partitions, footprints and
// the table of synchronisation objects.
//
// # What may be believed
//
// A race is reported on a byte if and only if two accesses to it conflict and
// neither happens before the other, for whatever sequence of calls describes
// the run. The exception is counted in Stats: goroutines beyond the number of slots,
// which hide races and make none. On one byte the first race is certain to be
// reported; of the later ones some may not be, as in FastTrack. Memory whose
// life ends is assumed to be dead, in particular all of an array when a part of it
// begins another life; see Clear.
//
// Accesses are plain or atomic. A plain write conflicts with every access, a
// plain read with plain and atomic writes, an atomic access with plain ones only.
//
// # Sources
//
//   - Epochs and adaptive read clocks: FastTrack, as reviewed in SlimState
//     (section II) and figure 3 there, left column.
//   - Footprints, partitions, Table I: SlimState, sections III to V.
//   - When checks may be deferred: BigFoot (PLDI 2017), section 2.
//
// # Two homes
//
// The package works offline, on recorded traces, and is meant to be copied into
// Go's package runtime. So all files but those named shim*.go keep to a subset of
// Go: no import but unsafe; no map, channel, interface, closure, defer,
// goroutine, string operation or recursion; memory only through alloc, which
// takes it from sysAlloc. TestSubset checks that. What the copy must supply
// stands in shim.go: atomics, sysAlloc, sysReport, pause, zero, fatal. Types
// that live outside the Go heap begin with a field of type notInHeap. One call
// does a bounded amount of work where its comment says so; where it may be more,
// the comment says what bounds it.
//
// # Concurrency
//
// Cells of memory outside arrays, and of arrays in mode FINE, take no lock: an
// access first publishes its epoch, then checks against what others published,
// so of two simultaneous accesses one sees the other. Changing the structure
// of a cell marks its read word busy for some instructions. All other modes work
// under a spin lock of the array. A Thread is used by one goroutine at a time.
package shadow
