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
// # What is not checked yet
//
// Pairs and their evidence: escape, order, locks. Until then Closed is no verdict
// on races. Programs with these constructs in an instance are refused, and counted:
// reflection (steps, new objects, calls of whatever a value holds), conversions
// from unsafe.Pointer of something, functions without body, writes through all that
// is reachable, calls at another type by go:linkname, test binaries.
//
// # What is taken for granted
//
// The facts, and that code without package unsafe keeps to its types: an interface
// is called by a method that its dynamic type has, a function value with as many
// arguments as it has parameters, a field address lies in its object.
package check
