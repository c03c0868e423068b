package stage

import "github.com/bfverify/bfverify/pta"

// Pair is what a stage sees: two accesses to a common cell, each by a thread,
// standing for all accesses of their classes.
type Pair struct {
	Cell uint32
	A, B *Class
}

// Class is a set of accesses to one cell, by threads of one kind, that no stage
// can tell apart.
type Class struct {
	Thread int   // of the kind; not every one runs every access
	Tuples int64 // accesses, each as often as there are threads that run it
	Write  bool
	Atomic bool
	// Rep is an access of the class, Members all of them, each once.
	Rep     uint32
	Members []Member
	// Order is the class's place in the order relation (see parallel.go), Locks
	// its guards.
	Order *OrderClass
	Locks []Guard
	// User: the access runs under a call made by the packages in scope; InScope:
	// it lies in one of them.
	User, InScope bool
	// Own, if its Node is not 0, is the frame in which the goroutine began and below
	// which the accessed object was made (reach.Frame).
	Own Began
	// Heard are the homes (stages/homes.go) whose signals the accesses have surely
	// waited for, if it is them that the accessed object belongs to.
	Heard []int
	// Fresh: the accesses precede all that others do to the object; see the stage
	// published.
	Fresh bool
	// Under: the access runs under the entry that is verified.
	Under bool
}

// Began is the node, of package reach, in whose frames the goroutines of a thread
// begin; Alone tells that nobody else's do.
type Began struct {
	Thread int
	Node   uint32
	Alone  bool
}

// Member is an access, and a thread that makes it as a member of its class.
type Member struct {
	Access uint32
	Thread int32
}

// OrderClass is an equivalence class of (thread, point) under ordering. Thread
// is one of its threads, which are of one kind.
type OrderClass struct {
	ID     int
	Thread int
	// Running are the elements that the thread has started and that may run
	// beside the point, Beside those that may run where the thread or one of its
	// ancestors is started; After tells, for each join in which the thread takes
	// part, whether the point may follow its Done.
	Running Bits
	Beside  Bits
	After   Bits
	// Awaited are the signals waited for before the point, Before those of
	// whose signals every one follows the point (or whose body holds it).
	Awaited, Before Bits
	// Whole: the class stands for all points of a thread that is one goroutine,
	// or of accesses that no ordering is asked about.
	Whole bool
}

// Guard is a lock held at an access, named so that two guards can be compared
// across functions.
type Guard struct {
	Object bool   // one object: Cell
	Cell   uint32 //
	Delta  int64  // else the lock lies Delta bytes from the accessed cell
	// Way, if not 0, numbers how the accessed object determines another one, that
	// which owns it: the lock is its cell Cell (reach.Owner). With Stable, how it
	// leads to the lock, beginning with its cell Cell (reach.StablePath).
	Way    uint32
	Stable bool
	Write  bool
	// Element: Delta is between addresses of one element, computed more than once.
	Element bool
	// Once: a sync.Once, held for writing by what Do calls, and for reading by what
	// follows a Do.
	Once bool
	// Again: something gives the lock up and takes it again (mustnot, L8).
	Again bool
}

// Evidence says why a pair cannot race, as data that a checker can verify.
type Evidence interface{ Kind() string }

// NoConflict: neither access writes, or both are atomic.
type NoConflict struct{}

// NeverEscapes: no object with the cell is reachable from two goroutines.
type NeverEscapes struct{ Object uint32 }

// Ordered: one access happens before the other.
type Ordered struct {
	Rule   string // "go", "wait", "count", "program order", "one goroutine"
	Thread int    // whose accesses come first
	Object uint32 // the cell of the object that orders, for all but "go"
}

// Signalled: one access precedes signals that the other has waited for. A checker
// must check, by the conditions of the rule (stages/signals.go): that Signals are
// all points that may signal the object at Cell, or, for counted rules, each run
// once at most; that the access of thread First precedes all of them (All) or one
// of them, by program order, by starts, or by evidence of this kind for the
// signal's point; and that Need waits are completed on every path to the other.
type Signalled struct {
	Rule    string // "close", "message", "send", "receive", "once", "wait", "count", "flag", "claim"
	First   int    // the thread whose access comes first
	Cell    uint32
	Need    int
	All     bool
	Signals []At
}

// At is a point of an instance.
type At struct {
	Inst  pta.InstID
	Point uint32
}

// Published: the access, an index into World.Accesses, is by the goroutine that
// made the object, before it could be known to another, and every way of getting
// to know it orders.
type Published struct{ Object, Access uint32 }

// Framed: the object belongs to the frame of instance Root, or of the iterations
// of its loop at block Head (-1: none), and By says for each two accesses why they
// cannot race in one execution of it.
type Framed struct {
	Root   pta.InstID
	Head   int
	Object uint32
	By     []Evidence
}

// Apart: the accesses are to different elements of one array. With Head -1 they
// are at constant positions; else at positions that differ between iterations of
// the loop of Root at block Head, and By says why they cannot race in one.
type Apart struct {
	Object uint32
	Root   pta.InstID
	Head   int
	By     []Evidence
}

// Drawn: the accesses are to elements at positions that atomic additions to the
// counter at Cell returned, each to who accesses the element. The counter and the
// array belong to one execution of a frame, the activation of Root or the iteration
// of its loop at block Head, or Root is 0.
type Drawn struct {
	Object, Cell uint32
	Root         pta.InstID
	Head         int
}

// SameLock: both hold the lock at Cell, one object, in modes that exclude. With Again,
// something gives up a lock there and takes it again.
type SameLock struct {
	Cell  uint32
	Once  bool // a sync.Once
	Again bool
}

// Inherited: one access is by goroutines that an activation of Root starts and waits
// for while it holds the lock at Cell. The other access holds it; or it is the same
// of it, and By says for each two accesses why they cannot race in one activation.
type Inherited struct {
	Cell uint32
	Root pta.InstID
	By   []Evidence
}

// SameBase: both hold the lock Delta bytes from the accessed location. With Element,
// that is in an element whose address is computed more than once; Again as above.
type SameBase struct {
	Delta   int64
	Element bool
	Once    bool // a sync.Once
	Again   bool
}

// SameOwner: both hold the lock at Cell of the object that owns the accessed one.
// A checker must check that both load their way from a value that they hold the
// lock of, and that the effects of the cells on the way, or the stores into them,
// let the accessed object determine that one (reach.OwnerOf).
type SameOwner struct{ Cell uint32 }

// StablePath: both hold the lock that the accessed object leads to, by fields that
// are written once, the first of them Cell. A checker must check the stores to all
// cells on the way.
type StablePath struct{ Cell uint32 }

// OwnGoroutine: what one accesses was made in its goroutine, or for it; the other
// is another goroutine, of which the same holds.
type OwnGoroutine struct{ A, B uint32 }

// HomeSignal: one access is by the goroutine of Thread that the accessed object
// belongs to, having begun in its frame of Node, and precedes all signals that this
// goroutine gives by channels of the site of Cell which belong to it; the other has
// waited for one of these. A checker must check (D1) to (D5) of stages/homes.go:
// that Signals are all closes of such channels, and without Closes all sends, too.
type HomeSignal struct {
	Thread  int
	Node    uint32
	Cell    uint32
	Closes  bool
	Signals []At
}

// Kind names the kind of evidence.
func (NoConflict) Kind() string   { return "no-conflict" }
func (NeverEscapes) Kind() string { return "never-escapes" }
func (Ordered) Kind() string      { return "ordered" }
func (Signalled) Kind() string    { return "signalled" }
func (Published) Kind() string    { return "published" }
func (Framed) Kind() string       { return "framed" }
func (Apart) Kind() string        { return "apart" }
func (Drawn) Kind() string        { return "drawn" }
func (SameLock) Kind() string     { return "same-lock" }
func (Inherited) Kind() string    { return "inherited" }
func (SameBase) Kind() string     { return "same-base" }
func (SameOwner) Kind() string    { return "same-owner" }
func (StablePath) Kind() string   { return "stable-path" }
func (OwnGoroutine) Kind() string { return "own-goroutine" }
func (HomeSignal) Kind() string   { return "home-signal" }
