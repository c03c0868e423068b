//go:build bfmodel

// This is how the runtime implements maps. An operation on a map is an
// instruction of the program, with its own accesses, and does not come here.
//
//bf:default inert map operations are instructions, not calls of this package
package maps
