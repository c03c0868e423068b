// Package facts is the narrow waist of bfverify: everything after loading works
// on the relations defined here and never on go/ssa values.
//
// # Terms
//
// A Record holds the facts of one package: the unit of extraction and of what is
// kept between runs. Inside a Record, functions, types, globals and method keys are
// references into the Record's own tables of stable names. A Universe interns
// those names once per process and rewrites the references to dense ids, so
// that many programs share one extraction. A Program is a choice of packages
// with an order of initialisation and a list of entries.
//
// # Domains
//
//	F  functions, closures, wrappers, generic instances   FuncID
//	B  basic blocks                                        index into Func.Blocks
//	I  instruction points                                  index into Func.Points
//	V  variables (SSA values)                              Reg, local to a function
//	H  allocation sites                                    SiteID, local to a function
//	T  types                                               TypeID
//	C  cells: leaves of a flattened type                   offset into Layout.Cells
//	S  call sites                                          index into Func.Calls
//	E  accesses                                            index into Func.Mems or Func.Deeps
//	Y  synchronisation operations                          index into Func.Syncs
//
// # Memory
//
// A type is flattened into cells. Structs become the cells of their fields;
// an array contributes the cells of one element, so that all elements of one
// array share them ("[]"). A pointer points to a (object, cell) pair. Channels
// and maps are objects of their own with the cells chan.buf, and map.header,
// map.key and map.value.
//
// A register of a type with n pointer-like leaves owns n variables; registers
// without pointer-like leaves (numbers, booleans, strings) own none, but still
// have an identity, which symbolic indices and branch conditions use.
//
// # Control
//
// Deferred calls are lowered: at every return and for panics the calls that
// may be pending stand as explicit blocks, last first. A point with MayPanic
// has an implicit edge to its Block.Panic; see control.go.
package facts
