package facts

// SiteID is an allocation site of one function: the domain H.
type SiteID uint32

// SiteKind says what allocates.
type SiteKind uint8

// The kinds of allocation site.
const (
	SiteNew     SiteKind = iota // new(T), &T{}, an addressed local variable
	SiteSlice                   // make([]T)
	SiteMap                     // make(map), map literals
	SiteChan                    // make(chan)
	SiteClosure                 // function literal with its bindings
	SiteBox                     // a value put into an interface
	SiteGrow                    // the new array of an append
	SiteBytes                   // []byte(string) and the like
	SiteUnknown                 // what code without body returns
)

// Site is the relation site(H, kind, T): an allocation site and the type of
// the objects made there.
type Site struct {
	Kind     SiteKind
	Heap     bool
	Type     TypeID // object type: for slices an array of unknown length
	Fn       FuncID // closures: the function
	Cap      int64  // channels: the capacity, where CapKnown
	CapKnown bool
	Pos      Pos
	Name     string // the source variable, if any
}

// Alloc is alloc(I, V, H): the point puts the address of a fresh object of the
// site into Dst.
type Alloc struct {
	Dst  Reg
	Site SiteID
}

// Copy is copy(I, V, leaf, V', leaf', n): n pointer-like leaves flow. For a
// tuple's component Index tells which one (Extract); else it is -1.
type Copy struct {
	Dst, Src         Reg
	DstLeaf, SrcLeaf uint16
	N                uint16
	Index            int16
	// Unsafe marks a conversion from unsafe.Pointer: what flows may be viewed
	// at another type from here on.
	Unsafe bool
}

// Phi is phi(I, V, edges): edges stand in the order of the block's Preds;
// NoReg is a constant.
type Phi struct {
	Dst   Reg
	Edges []Reg
}

// AddrKind says how an address is derived.
type AddrKind uint8

// The kinds of derived address.
const (
	AddrField AddrKind = iota
	AddrElem           // of an array through a pointer to it, or of a slice
	AddrSlice          // s[lo:hi:max] of a slice, or of an array through a pointer
)

// Addr is addr(I, V, V', C): Dst points Off cells into what Base points to.
type Addr struct {
	Dst, Base Reg
	Kind      AddrKind
	Off       uint32 // cells
	Bytes     int64  // field offset
	Index     uint32 // AddrElem: Lins; AddrSlice: Lins of lo
	High, Max uint32 // AddrSlice: Lins; 0 unknown or absent
	Name      string // field name
}

// GlobalAddr is globalAddr(V, global): V holds the global's address.
type GlobalAddr struct {
	Dst    Reg
	Global GlobalID
}

// FuncAddr is funcAddr(V, F): V holds the function as a value.
type FuncAddr struct {
	Dst Reg
	Fn  FuncID
}

// GlobalID identifies a package-level variable.
type GlobalID uint32

// Global is the relation global(name, T).
type Global struct {
	Name string // path.Name
	Pkg  string
	Type TypeID
	Pos  Pos
}

// Assert is assert(I, V, V', T): Dst holds what X holds if its dynamic type
// is T, or implements T for an interface type.
type Assert struct {
	Dst, X  Reg
	Type    TypeID
	CommaOk bool
}

// Reach is reach(I, V, V', how): Dst holds a value of any type made from what
// is reachable from X.
type Reach struct {
	Dst, X Reg
	How    Reached
	Type   Reg  // ReachConverted: the types to convert to; ReachAt: those of the variables
	Kind   Kind // TypeOver: the kind of the types made
}

// Reached says how far something reaches.
type Reached uint8

// How far a Reach or a Deep goes.
const (
	// ReachAll is everything.
	ReachAll Reached = iota
	// ReachExported is what exported and embedded fields lead to, at any depth:
	// what reflection lets a program use.
	ReachExported
	// ReachPrint is what printing visits, and, for a Reach, what pointers in it
	// point to: pointers are followed from the operands only, slices, maps and
	// interfaces always.
	ReachPrint
	// ReachVars is, for a Deep, the variables that references in X denote;
	// ReachCells is those that pointers and boxes in X point to, too.
	ReachVars
	ReachCells
	// ReachGiven is, for a Deep, the cells in X and no others: X comes from a
	// Reach.
	ReachGiven
	// Step and StepAll are one step, for a Reach: the exported (or all) fields of
	// what X stands for, its elements, or what it points to.
	Step
	StepAll
	// ReachTypes is, for a Reach, the types of the values in X, without the
	// values.
	ReachTypes
	// ReachMethods is, for a Reach, the methods of the values in X: those of the
	// name that the call says that this function was copied for, or all.
	ReachMethods
	// ReachConverted is, for a Reach, the values in X converted to the types in
	// Type, without those that do not convert; ReachSliced is slices of the arrays
	// in X.
	ReachConverted
	ReachSliced
	// ReachAt is, for a Reach, the variables of the types in Type where the
	// unsafe.Pointer X points, and slices of them.
	ReachAt
	// TypeOver is, for a Reach from types, those of kind Kind whose elements, or fields,
	// have these types, as far as the program has them, and these types.
	TypeOver
	// TypeParts and TypeMethods are, for a Reach from types: those of elements,
	// keys, fields, parameters and results; those of exported methods' parameters
	// and results.
	TypeParts
	TypeMethods
)

// New is new(I, V, V'): Dst points to a fresh object of each type that X may
// stand for, and of what a value of that type itself points to.
type New struct{ Dst, X Reg }

// Ghost is ghost(I, V, V'): Dst points to the hidden cell, of type any, of the
// objects that Base points to.
type Ghost struct{ Dst, Base Reg }

// Const is const(V, value): integer and boolean constants used as operands.
type Const struct {
	Dst   Reg
	Known bool // an int64; otherwise a float, string ...
	Int   int64
}

// Arith is arith(I, V, op, V, V'): arithmetic and comparisons, for symbolic
// reasoning only.
type Arith struct {
	Dst, X, Y Reg
	Op        ArithOp
}

// ArithOp names an operator.
type ArithOp uint8

// The operators told apart.
const (
	ArithOther ArithOp = iota
	ArithAdd
	ArithSub
	ArithMul
	ArithMin
	ArithConv // X, an integer, as another type of integer
	ArithLen  // the length of X, a slice, a string or a pointer to an array
	ArithEq
	ArithNe
	ArithLt
	ArithLe
	ArithGt
	ArithGe
	ArithNot
)

// Lin is a linear form over registers: Const + sum of Coef*Reg. Known is
// false for anything else.
type Lin struct {
	Known bool
	Const int64
	Terms []Term
}

// Term is one summand of a Lin.
type Term struct {
	Reg  Reg
	Coef int64
}

// Assumption is the relation X: something the extraction could not model.
type Assumption struct {
	Kind string
	Text string
	Pos  Pos
}
