// Package observe is a run-time oracle for package pta: it instruments the
// programs of a module, runs them, and checks that all that was seen is in the
// static result. The command bench/cmd/observe does so for the tests of real
// modules; the test here for testdata/programs.txtar.
//
// # What may be believed
//
// A Miss is a flow or a call that happened and that the result does not have: a
// bug in pta, in extraction or in a model, or code that breaks an assumption
// about package unsafe (U1 to U3 of package pta). No miss says nothing about
// code that did not run, about objects that are not tracked, or about values
// that are not observed. TestMutants says how much of what could be lost in
// code that runs would be noticed.
//
// # What is observed
//
//	(O1) objects: those of new, make, &T{...}, literals of slices and maps,
//	     conversions of strings to slices and growing appends, and variables whose
//	     address is taken, when it is. A tracked object is kept alive, so that an
//	     address means one object for ever. Each site has 4096 objects or 64 MiB,
//	     all together 3 GiB; later objects are not tracked
//	(O2) addresses: pointers, slices, maps, channels, and those in interface
//	     values, at the places that Role lists. An address in no tracked object is
//	     counted as unknown: that of an object of the standard library, of a
//	     closure, of a box, of the array of variadic arguments, of mmap
//	(O3) offsets in objects: an address at byte n must be in the set as a cell
//	     that starts there; not in objects of 64 KiB or more, and not where the
//	     result views the object at a foreign type
//	(O4) the dynamic types of interface values that are named, or pointers to or
//	     slices of such. Local types and instances of generic ones are left out
//	(O5) calls: the function that a call of a function value or of an interface's
//	     method enters, through wrappers. Each function that runs must be reached
//
// A place logs its first 65536 events and each 64th of the later ones.
//
// # How
//
// Sources get text inserted, never a line, and go to the go command by -overlay;
// the logger is a package put into GOROOT/src in the same way, so that each
// package can import it. Positions in the original, which the analysis loads,
// name uses, sites and functions: those that go/ssa gives to the instruction
// that an expression becomes. A use at whose position the analysis has no
// register of the kind is reported as such; it must not hide a miss. Packages
// that use cgo, or whose language has no generics, are left as they are, and so
// are functions with directives for the compiler. The standard library is not
// instrumented: what it does shows where it hands pointers back.
//
// A use stands for all instances and generic copies of its function: a fact is
// in the result if one of them has it. So contexts are not checked.
package observe
