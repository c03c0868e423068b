// Package check is the checker of proofs: a small program, apart from all that
// finds proofs, that judges what they claim. It imports facts and nothing else of
// this module, and it solves nothing: that claims are closed under the rules is
// seen in one pass over the rows of every instance.
//
// # What is checked
//
// That the claimed points-to sets, instances and call edges are a post-fixpoint of
// the rules of points.go and calls.go: whatever a run of the program may make a
// register or cell point to, and whatever it may call, the claims have. Contexts
// are opaque: an instance is a function with a number.
//
// That the escape set (escape.go) and what goroutines may have done (done.go) are
// closed under their rules, and that facts which surely hold are inductive (musts.go):
// locks held (locks.go), waits that are past (signals.go, waits.go), goroutines that
// are joined (joins.go, credits.go).
//
// That evidence refutes every pair of accesses in scope (scope.go). Which accesses and
// pairs there are is found from the facts and the claimed points-to sets (pairs.go),
// never taken from the proof. Seven kinds of evidence are judged:
//
//	never-escapes  the object is outside the escape set
//	starts         one access comes before the start that leads to the other, or both
//	               are in one goroutine, or one is joined (order.go)
//	signalled      one precedes a signal that the other has waited for (precede.go)
//	published      one belongs to the making of the object (published.go, leaks.go)
//	apart          goroutines of one go statement have an index each (apart.go,
//	               induction.go)
//	same-lock      both hold one lock, one variable of the run (guards.go), which may
//	               be a channel (chanlock.go)
//	same-base      both hold the lock at one distance from what they access
//
// # What is not checked yet
//
// All other kinds of evidence: owners, stable paths, own goroutines, frames, other
// indices, flags, signals that are counted at a place.
// Pairs with such evidence are counted by kind, and with any of them the program is
// not Proved. Locks taken by TryLock guard nothing. What the stages know more of a
// kind than the checker does is of a kind "a finer" one.
//
// Programs with these constructs in an instance are refused, and counted: reflection
// (steps, new objects), conversions from unsafe.Pointer that change what a pointer
// leads to, functions without body, writes through all that is reachable, or of
// pointers into a part of it, calls at another type by go:linkname, test binaries.
// What printing and finalizers do is checked (print.go, any.go).
//
// # What is taken for granted
//
// The facts, with the assumptions that they list (Report.Assumed); and that code
// without package unsafe keeps to its types: an interface is called by a method that
// its dynamic type has, a function value with as many arguments as it has
// parameters, a field address lies in its object. A register has one definition,
// which comes before its uses on every path.
package check
