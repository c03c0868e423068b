package facts

// Mode says how an access takes part in races.
type Mode uint8

// The modes. A Flow row moves values and is no access: boxes, bindings and
// channel buffers are private to the run-time system.
const (
	Plain Mode = iota
	Atomic
	Flow
)

// What names the kind of an access in reports.
type What uint8

// The kinds of access.
const (
	WhatVar What = iota
	WhatElem
	WhatMap // map header or cells
	WhatAppend
	WhatCopy
	WhatConvert
	WhatRange
)

// Mem is the relation access(I, V, C, rw, mode, T): a load or a store of a
// value of type T, Off cells into what Base points to. Val (from leaf ValLeaf)
// gives or takes the pointer-like leaves; NoReg means that none move.
type Mem struct {
	Base    Reg
	Off     uint32
	Type    TypeID
	Val     Reg
	ValLeaf uint16
	Write   bool
	Mode    Mode
	What    What
	Index   uint32 // Lins: the element, for accesses that carry it themselves
}

// Deep is deepAccess(I, V, rw): the point reads (or writes) everything that is
// reachable from X.
type Deep struct {
	X     Reg
	Write bool
	How   Reached
	// Fresh tells of a write that what it stores is fresh: in each variable that
	// points to something, a new object of what its type points to.
	Fresh bool
	// From, if set, is where a write takes its values from; else from X itself.
	From Reg
}
