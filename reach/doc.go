// Package reach tells which objects were made together: the types and effects
// and the disjoint reachability of Naik and Aiken, Conditional must not aliasing
// for static race detection, POPL 2007, sections 3 and 4, for whole Go programs.
//
// # Frames
//
// The paper stamps an object with the counts of all loops at its allocation.
// Here the counts are the vertices of a tree. A frame is one iteration of a loop,
// or one activation of a function that may be entered twice within one frame of
// its callers; a goroutine's frames lie below the one that started it. A frame's
// parent is the frame in which it began, so that the loops and calls around an
// allocation are the path from the root, and two objects have the same count of
// a loop exactly if they lie below one frame of it. A node is an abstract frame:
//
//	(T1) the root of the program is a node
//	(T2) a loop of a function's control flow, in an instance, is a node: a part
//	     that is strongly connected, panics included. A part that is entered in
//	     several places (goto) has a node for each block, each execution of which
//	     is a frame, so that nothing is taken to be in one iteration of it
//	(T3) the activations of an instance are a node, below the nodes of all calls,
//	     starts and call-backs that lead to it. Where just one point does, a call
//	     or go statement, they are those of that point: one a frame
//
// A node is recursive if frames of it may lie below each other.
//
// # Types
//
// The type of a variable at a point is a node w: its objects and the point lie
// below one frame of w, the nearest frame of w above both. That is Π(w) = 1 for
// w and every node above it. At the root nothing is said: Π = ⊤. A call does not
// change the caller's frames, so that types survive it, and a value that the
// callee made comes back as made in the frame of the call.
//
//	(R1) what is allocated has the node of the point (paper, rule 12)
//	(R2) an SSA value that is used where it is defined, but for some loops that
//	     were left or that began another iteration since, keeps the nodes outside
//	     these (rule 18)
//	(R3) a phi, a parameter, a result: what holds for all that may come (rule 17)
//	(R4) a store makes an effect of the two types (rule 15); of a value that was
//	     loaded from that very place in this frame it makes none that is new
//	(R5) a load gives what the cell's effects say of the base's type (the paper,
//	     rule 14, gives ⊤): C holds all that was ever stored, so that no order
//	     and no race matters
//	(R6) whatever else fills a variable gives the root: reflection, unsafe,
//	     unknown code, models' own objects, call-backs' parameters
//
// # Effects
//
// The effects of a cell are one node w: whatever the cell of an object o1 was
// ever set to point to, o2, lies below the nearest frame of w above o1, and that
// frame is the nearest of w above o2. Types and effects are the greatest solution
// of (R1) to (R6), by induction over the steps of a run. Cells have fields, so
// effects are labelled.
//
// Two such facts compose over the object that they share: both frames lie above
// it, so one lies above the other, and the outer one holds both ends, if its node
// is not recursive with the other's (meet). This is Definition 4.2.
//
// # Objects made at most once
//
// Globals, functions, and what is made directly below the root have no types:
// what they point to says nothing (their cells have the root), and nothing is
// ever concluded about who reaches them.
//
// # Disjoint reachability
//
// h is in DR(H) if at most one object of H reaches each object of h (Figure 9).
// If o1 of site h1, made by one point at node w1, reaches o by effects that compose
// to w1, then o1 is the object that this point made in the nearest frame of w1
// above o: o determines o1. See query.go. A step may instead be made by one store,
// of what was allocated in the frame of the store: then the object itself tells
// into which other it was put (unique.go).
//
// # Cost
//
// One word a pointer-like variable and cell. Instances are visited until nothing
// changes; types only fall, along dominators. Budget: past Config.Rounds all that
// is not settled is ⊤.
package reach
