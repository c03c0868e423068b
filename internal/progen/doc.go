// Package progen generates small concurrent Go programs and decides, by
// running every interleaving, whether each of them can race. It is the
// independent oracle of the verifier's tests: a program that Explore calls racy
// must never be proved. It shares no code with the rest of the repository.
//
// # Programs
//
// A [Program] is Go source in a subset of the language: one file of package
// main that imports sync and sync/atomic at most. [Generate] makes one from a
// library of idioms (most of them race-free) by zero or more mutations of
// their syntax; [Parse] reads one written by hand. Two functions are built in:
//
//	maybe() bool   an opaque choice: every call may return either value
//	use(int)       reads its argument and does nothing
//
// # The interpreter
//
// Sound and exact on the subset, for sequentially consistent executions. By
// the guarantee of the Go memory model for race-free programs, whether a
// program can race is exact without that condition; the full set of pairs of a
// racy program is the set of its sequentially consistent executions.
//
// Happens-before follows go.dev/ref/mem to the letter and adds nothing:
//
//   - go statement: what precedes it, before the new goroutine. The exit of a
//     goroutine orders nothing.
//   - Mutex: every earlier Unlock before a later Lock. A TryLock that returns
//     false orders nothing, and it may return false at any time.
//   - RWMutex: Unlock before later Lock and RLock; RUnlock before later Lock.
//   - WaitGroup: every Done (negative Add) before a Wait that returns later.
//   - Channel: the start of a send before the end of its receive; the start of
//     the k-th receive before the end of the k+C-th send; close before a
//     receive that it ends.
//   - Once: the end of the function before the return of every Do.
//   - Atomics: a store before the loads that see it; read-modify-write
//     operations observe what they replace. An overwritten store orders
//     nothing.
//
// A plain access and an access through sync/atomic conflict as two plain ones
// do. A map's header stands for the whole map. Zeroing of new memory is no
// access; an explicit initial value is a write.
//
// Misuse of a synchronisation object is kept apart from races: see [Result].
//
// A panic or a fatal error ends the program, and so does the return of main.
// Both only cut executions short, so the explorer lets the other goroutines go
// on: each set of pairs found is that of some shorter execution.
//
// # Not in the subset
//
// Recursion, interfaces, generics, goto, switch, strings other than constant map keys,
// multiple results, struct values as arguments, results and messages,
// sync.Cond, sync.Map, sync.Pool, and every other package.
package progen
