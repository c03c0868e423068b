package facts

// CallMode says how a call runs.
type CallMode uint8

// The modes of call.
const (
	ModeCall  CallMode = iota
	ModeGo             // in a new goroutine
	ModeDefer          // at exit: its points stand where it runs
)

// Call is the relation call(S, mode, callee, args, result). Exactly one of
// Static, Fn and Method says who is called: a function, a function value, or
// a method of the interface value Recv.
type Call struct {
	Mode   CallMode
	Static FuncID
	Fn     Reg
	Method MethodID
	Recv   Reg
	Args   []Reg // NoReg for constants; without Recv for interface calls
	Dst    Reg   // results as a tuple, or the single result
	// Name is the constant argument of a call of reflect's MethodByName.
	Name string
	Pos  Pos
	// Once, if set, points to the object (a sync.Once) for which the call runs
	// at most once.
	Once Reg
}

// CallAny is callAny(I, V, V', V”): every function held by what Fn reaches is
// called with arguments out of what X reaches; Dst is any of the results.
type CallAny struct {
	Fn, X, Dst Reg
	// Spawn calls each any number of times in goroutines of its own.
	Spawn bool
}
