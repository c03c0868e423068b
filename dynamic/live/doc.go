// Package live runs programs with a race detector that is made of Go: the state machine
// of dynamic/shadow inside package runtime, by an overlay of the Go tree. See
// docs/dynamic.md for how it works.
//
// # What may be believed
//
// The compiler reports the accesses of all packages, and the runtime all
// synchronisation, as they do for Go's own race detector. Two accesses that conflict and
// that nothing orders are reported if they are made in a run, unless BFRACE=stats=1
// counts a slot that was used again early, or accesses of goroutines without one.
// What is reported is a race. Not seen are accesses by assembly and C, and to memory that
// is neither Go heap nor data.
//
// # Trees
//
// An overlay replaces files, so it must fit the Go tree in use. New looks for anchors in
// the tree (see TestMutants), and Command.Run tries small programs once for each
// tree. A Refusal is not a failure: go -race is used instead.
package live
