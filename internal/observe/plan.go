package observe

import "go/token"

// A Role says which register of a point an observed value is.
type Role uint8

// The roles. The position of a use is that of the points that it may be at.
const (
	AddrBase  Role = iota // what an address is derived from: x of x.f, x[i] or x[i:j]
	AddrDst               // a derived address: &x.f, &x[i], x[i:j]
	MemBase               // what is accessed: p of *p, m of m[k]
	Loaded                // what a load or a part of a value gives
	CallArg               // argument Index of a call, receivers of methods included
	CallRecv              // the interface value of a call
	CallFn                // the function value of a call
	CallDst               // the result of a call
	SyncObj               // the channel of a send or receive
	AssertX               // the operand of a type assertion
	AssertDst             // its result
	Param                 // parameter Index of the function declared here
	numRoles
)

var roleNames = [numRoles]string{
	"base of an address", "address", "base of an access", "loaded value", "argument", "receiver of an interface call",
	"function value", "result of a call", "channel", "operand of an assertion", "result of an assertion", "parameter",
}

func (r Role) String() string { return roleNames[r] }

// A Use is a place where a value is observed.
type Use struct {
	Pos   token.Position
	Role  Role
	Index int
	Func  int // of the function that it is in, in Plan.Funcs; 0 is none
}

// A Plan lists what the instrumented code refers to by number. Element 0 of
// each list stands for none.
type Plan struct {
	Uses  []Use
	Sites []token.Position // where objects are made: the position of the allocation, or of the variable's declaration
	Funcs []token.Position // the name of a declared function, func of a literal
	Left  []string         // packages that were left as they are, and why

	sites map[token.Position]int
}

func newPlan() *Plan {
	return &Plan{Uses: make([]Use, 1), Sites: make([]token.Position, 1), Funcs: make([]token.Position, 1), sites: map[token.Position]int{}}
}

// site returns the number of the site at pos.
func (p *Plan) site(pos token.Position) int {
	n, ok := p.sites[pos]
	if !ok {
		n = len(p.Sites)
		p.Sites = append(p.Sites, pos)
		p.sites[pos] = n
	}
	return n
}
