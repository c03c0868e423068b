package check

import "github.com/bfverify/bfverify/facts"

// SetID names one of Claims.Sets; 0 is the empty set.
type SetID uint32

// InstID names a claimed instance: a function in a context. 0 is none.
type InstID uint32

// ObjID names a claimed abstract object. 0 is none.
type ObjID uint32

// Claims are what a proof says of a program, as plain data: numbers, and lists of
// them in an order that the program decides. Functions, types, sites, globals,
// points and registers are those of the facts that the checker is given. What the lists hold are claims: the
// checker believes none of them.
//
// Claims marked may hold at least what some run does, those marked must at most
// what every run does.
type Claims struct {
	// Sets are ascending lists of numbers, shared by the claims that name them.
	Sets [][]uint32
	// Objects are the abstract objects. The cells of object o are numbered from
	// Objects[o].First on, as many as its type has leaves.
	Objects []Object
	// Content is, by cell, the cells that it may point to (may).
	Content []SetID
	// Insts are the instances that may run (may), Root the one that runs first.
	Insts []Inst
	Root  InstID
	// Escaped are the objects that two goroutines may reach (may).
	Escaped Bits
	// Signals are what facts of kinds Past, Joined and Credit are about.
	Signals []Signal
	// Evidence says why pairs do not race, by cell.
	Evidence []CellEvidence
}

// At is a point of an instance.
type At struct {
	Inst  InstID
	Point uint32
}

// CellEvidence is the evidence for pairs of accesses to one cell.
type CellEvidence struct {
	Cell    uint32
	Classes [][]At
	List    []Evidence
}

// Any stands, for A and B of an Evidence, for all accesses.
const Any = -1

// Evidence says why no access of class A races with one of class B. Several may be
// given for the same accesses, of different threads.
type Evidence struct {
	A, B  int
	Kind  string
	Of    uint32 // SameLock: the cell of the lock; Signalled: which of Claims.Signals
	Delta int64  // SameBase: how many bytes the lock lies from what is accessed
}

// ObjKind says what an object stands for.
type ObjKind uint8

// The kinds of object.
const (
	ObjSite   ObjKind = iota // objects made at a site
	ObjGlobal                // a variable of a package
	ObjFunc                  // a function as a value
	ObjGhost                 // the hidden cell that models hang on cell Of
	ObjCopy                  // a copy of what the box holds whose first cell is Of
	ObjOther                 // anything else: no rule covers it
)

// Object is an abstract object. Two of one site are told apart by nothing but
// their numbers; whoever made the claims had a heap context for each.
type Object struct {
	Kind   ObjKind
	Fn     facts.FuncID // ObjSite: of the site; ObjFunc: the function
	Site   facts.SiteID
	Global facts.GlobalID
	Of     uint32       // ObjGhost, ObjCopy
	Type   facts.TypeID // ObjGhost: of the hidden cell
	First  uint32
}

// Inst is a function in a context, of which nothing but the number is known.
type Inst struct {
	Fn facts.FuncID
	// Vars is, by variable of the function, the cells that it may point to (may).
	Vars []SetID
	// Deeps is, by row of Deeps, the cells that it touches (may).
	Deeps []SetID
	// Prints are what the rows visit that print: those of Deeps, those of Reaches.
	Prints []Print
	// Edges are the calls that leave the instance, by row (may).
	Edges []Edge
	// Does are the threads that one execution of it may start, and the events that it
	// may be, directly or through others; Before what the goroutine which enters it by
	// a call may have done by then (may). Threads are numbered from 1, the edges with
	// Go in the order of instances and edges; events after them, see findSignals.
	Does, Before Bits
	// Held are, at the head of each block, the facts that hold for the goroutine; Own
	// those that it gained in the instance; Gained those at every return, and Left the
	// credits of Held there (must).
	Held, Own    []State
	Gained, Left State
	// Releases are, ascending, the cells of the locks that it may release without
	// having acquired them (may).
	Releases []uint32
}

// Edge says that Calls[Row] may enter an instance, with Go in a goroutine of its
// own; rows from the length of Calls on are those of Anys.
type Edge struct {
	Row    uint32
	Go     bool
	Callee InstID
}
