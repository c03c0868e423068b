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
// All claims are may-facts: they hold at least what some run does.
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
}

// ObjKind says what an object stands for.
type ObjKind uint8

// The kinds of object.
const (
	ObjSite   ObjKind = iota // objects made at a site
	ObjGlobal                // a variable of a package
	ObjFunc                  // a function as a value
	ObjGhost                 // the hidden cell that models hang on cell Of
	ObjOther                 // anything else: no rule covers it
)

// Object is an abstract object. Two of one site are told apart by nothing but
// their numbers; whoever made the claims had a heap context for each.
type Object struct {
	Kind   ObjKind
	Fn     facts.FuncID // ObjSite: of the site; ObjFunc: the function
	Site   facts.SiteID
	Global facts.GlobalID
	Of     uint32       // ObjGhost
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
	// Edges are the calls that leave the instance, by row (may).
	Edges []Edge
}

// Edge says that Calls[Row] may enter an instance, with Go in a goroutine of its
// own.
type Edge struct {
	Row    uint32
	Go     bool
	Callee InstID
}
