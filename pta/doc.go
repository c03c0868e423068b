// Package pta computes what every variable of a Go program may point to, and
// the call graph with it.
//
// # Classification
//
// Whole-program, inclusion-based (Andersen), flow-insensitive over the
// registers of SSA form (so that local variables whose address is not taken are
// told apart by their definitions), field-sensitive, with type filters, an
// on-the-fly call graph and a choice of context policies:
//
//	insens  one context
//	obj     object sensitivity (Milanova, Rountev, Ryder: Parameterized object
//	        sensitivity for points-to analysis for Java, TOSEM 14(1), 2005): a
//	        method's context is its receiver's abstract object, a closure's the
//	        closure object; plain functions have the empty context, as static
//	        methods have in section 3 of Naik and Aiken, Conditional must not
//	        aliasing for static race detection, POPL 2007
//	hybrid  obj, and a plain function, or a method with a value receiver, gets
//	        its call site in front of its caller's context (Kastrinis and
//	        Smaragdakis: Hybrid context-sensitivity for points-to analysis,
//	        PLDI 2013): Go makes objects in NewT functions, which obj merges
//
// A context is a sequence of call and allocation sites, cut to Config.K; that of
// a method is the receiver object whole, site and heap context. An object's
// heap context is its maker's context cut to Config.HK. Functions with FnInline
// (small models) have one copy a call site under every policy. After the
// analysis contexts are labels without meaning.
//
// # What may be believed
//
// If a run of the program has a register of some function hold the address of
// a variable, then PointsTo of that register, in some instance of the function,
// has the cell of that variable; the same for the content of cells. If a run
// calls g from a row of f, there is such an Edge between instances of f and g.
// Both hold for the program as its facts show it, with models in place of what
// they model, and under these assumptions, which concern package unsafe:
//
//	(U1) a conversion of an unsafe.Pointer follows rule (1) of package unsafe:
//	     the target, or one element of an array, is no larger than the rest of the
//	     object and has pointers just where the object has (plausible)
//	(U2) an unsafe.Pointer that was passed or kept is converted back to a type
//	     that starts where it points; bytes may be viewed as numbers, and all
//	     memory as bytes (opaque)
//	(U3) an address computed by arithmetic in an object leads to a cell of the
//	     type that it is then converted to (arithmetic)
//	(U4) bytes and numbers carry no pointers: who copies memory as bytes copies
//	     none, and an interface that is made of words is made of an interface's
//
// Results are deterministic: equal inputs give equal numbers and sets. More
// context (obj after insens, a larger K) gives no pair that less context does
// not give, contexts projected away, but for the widening (N) below.
//
// # Terms
//
//	object    an allocation site with a heap context, a global, a function as a
//	          value, a ghost (a hidden cell that a model hangs on an object), an
//	          object that a model makes of a type found at run time (ObjNew), or
//	          ObjArith, which is none: an address somewhere in an object
//	cell      a leaf of an object's flattened type; elements of one array share
//	          their cells. Points-to sets hold cells
//	variable  a pointer-like leaf of a register in an instance
//	node      a cell or a variable: what has a points-to set
//	instance  a function in a context
//	box       the object that an interface value points to: its dynamic type and
//	          payload. Nobody writes a box after it is made
//	reference a cell with the type of the variable that starts there, as an
//	          element: what reflection gives. In an interface it stands for a
//	          pointer to the variable, or for what the variable holds
//	raw       a cell that is no box, as element of an interface: code that is not
//	          known may have put it there
//
// # Filters
//
// A node holds only what its type allows, as if each flow checked it:
//
//	(F1) a pointer, slice, map or channel holds cells at which a variable of its
//	     target's class starts. Types are of one class if code that is reached
//	     converts between pointers to them, at any level of a type; a type that
//	     unsafe converts to admits all of its shape. An array counts as its
//	     element, since slices, pointers to arrays and pointers to elements share
//	     cells. The first field starts where its struct does
//	(F2) an interface holds boxes whose dynamic type implements it, and
//	     references and raw cells whose types do, themselves or through a pointer
//	(F3) a function value holds functions and closures
//	(F4) an object that was viewed at a foreign type fits where that type and
//	     its parts do, and interfaces that pointers to it implement; memory that
//	     was viewed as a function fits functions; what filters refused before is
//	     offered again
//
// A load or store through a pointer acts on those cells in its set that F1
// admits for the pointer's declared type, also where nodes were merged.
//
// # Rules, by construct
//
// Variables, new, composite literals: an object a site and heap context.
// Copies, conversions, phis, extraction of results: inclusion, leaf by leaf; a
// variable that is a copy of one other is that variable.
//
// Fields and elements: &x.f is the cell Off further in the same object; &a[i]
// and s[i:j] are the cell itself. Loads and stores of structs move all leaves.
//
// Interfaces: x.(T) gives the payload of boxes of type T; x.(I) gives the boxes
// that implement I; an interface call looks the method up in the box's dynamic
// type and hands over its payload, pointer receivers one object at a time, so
// that each gets its context.
//
// Closures: an object whose cells are the bindings, which flow into the free
// variables of the instance that a call of the closure reaches. Extraction has
// bound by value what nobody assigns later. Method values and expressions are
// closures over wrappers, and functions.
//
// Conversions: copies; strings and byte slices are not the same memory, so that
// []byte(s) makes an object. A type switch is a chain of x.(T); reflection apart,
// a value has one dynamic type a box.
//
// Calls: arguments flow to parameters, results to the register; a variadic call
// makes its slice. A static call
// of a pointer method under obj or hybrid is made once a receiver object; if
// none ever comes (a nil receiver), under the plain rule at the end. A call of
// a function value ignores functions of another number of parameters. go and
// defer differ in the kind of edge alone. A deferred call stands wherever its
// function may end. Panics: one global variable holds what any panic was given,
// and, where package runtime is linked, its errors; recover reads it. A loop over a function calls it with a closure.
//
// Channels: a send stores into the cell buf, a receive loads from it, and select
// does so for each of its cases, taken or not.
//
// Slices: append yields a new array and, if elements may fit in place, the old
// one; extraction knows surely full slices. Maps have cells header, key and
// value, whatever the key; range over a map is a load from its cells. Strings hold
// no pointers.
//
// Generics: instances are separate functions. Globals are objects, and their
// initialisers a function like others, called before main; nothing is held to an
// order.
//
// Ghosts (sync.Pool, sync.Map, time.Timer): the hidden cell of the object, a part
// of all that reaches the object.
//
// # Reflection and everything that is reachable
//
// Models of reflect, encoding/json and the like say what they do in terms of
// references (docs/models.md lists the words).
//
//	(R1) a step leads from a value to its fields (the exported and embedded ones,
//	     where the program may use what comes out), its elements, what it points
//	     to and what it holds as an interface, each with its static type. What a
//	     box holds is copied, so that its parts are variables
//	(R2) all that exported fields lead to is one variable a value, shared by all
//	     that asks (fillCell); all that is reachable at all, one an object
//	     (objectReach). Cycles collapse
//	(R3) what is stored through reflection goes, as far as it fits, into the
//	     variables that are written: into interfaces the value itself, into others
//	     what assignable values hold, leaf by leaf, or a reference's pointer. In an
//	     object that unsafe viewed at other types, what structs hold may go
//	     anywhere. What decoding stores is fresh: an object of the pointee type of
//	     each variable that is reached
//	(R4) code that is not known may store anything that is reachable into
//	     everything that is reachable: through one variable a type. For a cell p
//	     of type t that is reachable itself, p and the variable of t hold the
//	     same, and are made one node; for the empty interface that is the reach
//	     variable itself. Boxes and bindings are not written
//	(R5) printing (P1-P4 in print.go) follows pointers from operands only
//	(R6) a reflect.Type keeps types without values, and gives those of parts, of
//	     parameters and results, step by step. Types of values behind more than
//	     two unexported fields are not known
//	(R7) a method that reflection gives may be any exported one of the value, or,
//	     for MethodByName of a constant, that of the name
//	(N)  bfNew makes variables of all types that its operand may stand for, told
//	     apart for the first 16 of a row in a context; others are one a type in
//	     all of the program, and so are the boxes that conversions make
//	(R8) NewAt gives the variables of the types asked for where its pointer
//	     points, if they are declared so (U2)
//
// # Unsafe
//
// A conversion of the address of something, made in one function, views the
// object at the new type if that is plausible (U1): the object becomes Untyped.
// If it has just the cells of the new type, pointers and numbers at the same
// places (atomic.LoadPointer of a field), these fit both types, and it stays as it
// is. Else its cells stay as they are for accesses through pointers of types that they
// have. Another access touches the cells whose bytes it overlaps, all of them
// where an array or a derived address makes that unclear; what is loaded or
// stored so is viewed at the other type in turn. A slice or array that unsafe
// takes to start at a field, or sees in a struct, goes on with the fields that
// follow. A pointer to
// bytes, however it was come by, leads to all cells of the object, which stays as
// it is (U4). An interface viewed as its words gives what the box holds, if that
// is a pointer. Only conversions of addresses mark objects: a pointer that is kept
// or passed as an unsafe.Pointer does not (U2), and arithmetic gives an ObjArith
// (U3).
//
// # Solver
//
// Difference propagation in two phases: new elements go along copy edges, in
// topological order of these as last known, until nothing moves; then the loads,
// stores and calls of all variables that got something are applied, each to all
// that is new. So elements travel in large sets. Cycles of unfiltered edges
// collapse when enough edges are new or enough was copied; within one function,
// variables that are copies of one other are that variable before anything is
// solved. What depends on a variable alone (loads of the same field through it,
// steps of reflection from it) is computed once, and what is stored into many
// variables goes through one node a type. What deep reads touch is computed last,
// by the components of the graph of objects. Sets are sorted arrays up to 16
// elements, then sorted chunks of 512 that sets share until one of them changes;
// cells are numbered apart from variables. Filters work on whole sets. There is no
// recursion over the program.
//
// # Coming from golang.org/x/tools/go/pointer
//
// That package has no successor and stops at std of today. What it offers is
// found here so:
//
//	Config.Mains            a facts.Program, of load.Load, extract.Universe and
//	                        extract.Link; see the example of Analyze
//	Config.Queries          none: PointsTo answers for every register afterwards.
//	                        Which one an ssa.Value became, extract.UniverseWith
//	                        tells; At finds those of a source line, Instances the
//	                        contexts of a function
//	Config.IndirectQueries  Content of the cells
//	Pointer, PointsToSet    an instance with a register and a leaf; a Set of cells
//	Pointer.MayAlias        MayAlias
//	Label                   a cell: Object, Cell and Site describe it, Label prints it
//	DynamicTypes            objects of kind SiteBox in the set of an interface:
//	                        Object.Type is the dynamic type, Content the payload
//	CallGraph               Insts and Edge, EdgesAt for one call; Root calls main
//
// Without contexts (Insens) and on programs without imports the two give the same
// sets at every value and the same callees at every call, contexts of short
// functions there put aside: TestPointerPrograms and TestPointerGenerated hold them
// to that, and their table of kinds names what is left, all of it imprecision or a
// lost flow of the other. A struct and its first field, an array and its elements
// are one cell here and two labels there. What a machine sees that runs the same
// programs is in the results under all policies.
//
// What that package takes for nothing has rules here: unsafe, reflection, code
// without a Go body.
//
// # Budget
//
// An analysis with contexts that copies more than Config.Effort, or needs more
// memory than Config.MemLimit, takes the contexts from the packages that hold
// most, and starts again with what they cost in mind (in the spirit of
// Smaragdakis, Kastrinis and Balatsouras: Introspective analysis, PLDI 2014).
// Result.Coarse names them. Effort is counted in work, not in time, so that the
// same input gives the same result.
package pta
