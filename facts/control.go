package facts

// Reg is an SSA value of one function: the domain V. 0 is no value (constants
// that carry no pointer, nil).
type Reg uint32

// NoReg is the absent register.
const NoReg Reg = 0

// RegInfo is the relation reg(V, T, node): the type of a register and the
// first of its variables, one a pointer-like leaf, numbered within the function.
type RegInfo struct {
	Type TypeID
	Node uint32
	Def  uint32 // the defining point plus one; 0 for parameters, constants, addresses of globals and functions
}

// Pos is a source position; File indexes Universe.Files (0 is unknown).
type Pos struct {
	File, Line uint32
	Col        uint32
}

// Valid reports whether the position is known.
func (p Pos) Valid() bool { return p.Line != 0 }

// Op is the kind of a point and names the table that its Row indexes.
type Op uint8

// The operations.
const (
	OpNop    Op = iota // keeps a position (a defer statement, a jump)
	OpAlloc            // Allocs
	OpCopy             // Copies
	OpPhi              // Phis
	OpAddr             // Addrs
	OpMem              // Mems
	OpDeep             // Deeps
	OpReach            // Reaches
	OpAssert           // Asserts
	OpCall             // Calls
	OpAny              // Anys
	OpSync             // Syncs
	OpSelect           // Selects
	OpGhost            // Ghosts
	OpNew              // News
	OpArith            // Ariths
	OpExit             // the path ends, deferred calls do not run
)

// Point is one instruction point: the domain I. Points of a block stand in
// execution order; one SSA instruction may give several.
type Point struct {
	Op    Op
	Flags uint8
	Row   uint32
	Pos   Pos
}

// MayPanic marks a point from which control may go to its block's Panic (or,
// if that is -1, out of the function): the relation panicEdge(I, B).
const MayPanic uint8 = 1

// Block is a basic block: points [Start, End) and the edges out of it.
// The relation edge(B, B') with the condition under which each edge is taken.
type Block struct {
	Start, End uint32
	Succs      []uint32
	Preds      []uint32
	Cond       Cond  // for two successors; Succs[0] is taken when it holds
	Return     bool  // ends in an ordinary return
	Results    []Reg // what a return statement returns; NoReg: not described
	Panic      int32 // where a point of the block that panics continues; -1: out of the function
}

// CondKind says what decides a branch.
type CondKind uint8

// The kinds of condition.
const (
	CondOther CondKind = iota // not described
	CondTrue                  // X is true
	CondEq                    // X == K
	CondNil                   // X == nil
	CondConst                 // a constant: it holds
)

// Cond is a branch condition over a register.
type Cond struct {
	Kind CondKind
	Neg  bool
	X    Reg
	K    int64
}

// FuncKind flags.
const (
	FnMethod   uint32 = 1 << iota // pointer-receiver method: its first parameter is the receiver
	FnValue                       // value-receiver method
	FnClosure                     // has free variables or is a function literal
	FnWrapper                     // synthetic: wrapper, thunk, bound method
	FnInit                        // package initialiser
	FnModel                       // body taken from a model
	FnInline                      // one copy per call site under every policy
	FnAtomic                      // accesses are atomic
	FnSilent                      // accesses are not accesses
	FnUnknown                     // no body, no model, handed pointers: assume the worst
	FnInert                       // no body and nothing to do with pointers, or declared inert by its models
	FnTests                       // bfTests: the linker gives it the program's entries
	FnRecovers                    // calls recover itself
	FnAnyOrder                    // of the linker: runs each of its points at most once, whatever cycles its blocks make
)

// FuncID identifies a function. 0 is none.
type FuncID uint32

// Func is the relation group of one function.
type Func struct {
	ID      FuncID
	Name    string // stable, unique in the Universe
	Pkg     string // import path, without variant
	PkgID   string // package with its variant, as the loader names it
	Pos     Pos
	Flags   uint32
	Parent  FuncID // enclosing function of a literal
	Recv    TypeID // receiver type of a method
	Params  []Reg  // receiver first
	Free    []Reg  // free variables, bound when a closure is called
	Ret     Reg    // the results as one tuple; 0 if there are none
	Regs    []RegInfo
	NumNode uint32
	Sites   []Site
	Blocks  []Block
	Points  []Point

	Allocs  []Alloc
	Copies  []Copy
	Phis    []Phi
	Addrs   []Addr
	Mems    []Mem
	Deeps   []Deep
	Reaches []Reach
	Asserts []Assert
	Calls   []Call
	Anys    []CallAny
	Syncs   []Sync
	Selects []Select
	Ghosts  []Ghost
	News    []New
	Ariths  []Arith
	Globals []GlobalAddr
	FuncRef []FuncAddr
	Consts  []Const
	Lins    []Lin // symbolic indices; element 0 is unused
	Unknown []Assumption
}

// Is reports whether all flags are set.
func (f *Func) Is(flags uint32) bool { return f.Flags&flags == flags }

// Defines returns the register that a point defines, or NoReg.
func (f *Func) Defines(p Point) Reg {
	switch p.Op {
	case OpAlloc:
		return f.Allocs[p.Row].Dst
	case OpCopy:
		return f.Copies[p.Row].Dst
	case OpPhi:
		return f.Phis[p.Row].Dst
	case OpAddr:
		return f.Addrs[p.Row].Dst
	case OpMem:
		if m := &f.Mems[p.Row]; !m.Write {
			return m.Val
		}
	case OpReach:
		return f.Reaches[p.Row].Dst
	case OpAssert:
		return f.Asserts[p.Row].Dst
	case OpCall:
		return f.Calls[p.Row].Dst
	case OpAny:
		return f.Anys[p.Row].Dst
	case OpSync:
		return f.Syncs[p.Row].Dst
	case OpSelect:
		return f.Selects[p.Row].Dst
	case OpGhost:
		return f.Ghosts[p.Row].Dst
	case OpNew:
		return f.News[p.Row].Dst
	case OpArith:
		return f.Ariths[p.Row].Dst
	}
	return NoReg
}
