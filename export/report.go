// Package export turns results into what people and programs read. Its types
// are plain data: ids, claims and texts, never closures.
package export

// Verdict is the outcome for a program or an entry.
type Verdict string

// The verdicts; see docs/glossary.md.
const (
	Proved    Verdict = "PROVED"
	Open      Verdict = "OPEN"
	Confirmed Verdict = "CONFIRMED"
	Abandoned Verdict = "ABANDONED"
)

// Pos is a source position; File is relative to the working directory where
// that is shorter.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// Frame is one call on the way from a goroutine's start to an access: the
// function and where it is called (for the first, where the goroutine starts).
type Frame struct {
	Func string `json:"func"`
	Pos  Pos    `json:"pos"`
}

// Side is one access of a pair.
type Side struct {
	Pos       Pos      `json:"pos"`
	Op        string   `json:"op"` // "read", "write", "atomic read", "atomic write"
	Func      string   `json:"func"`
	Goroutine []Frame  `json:"goroutine"` // outermost first
	Locks     []string `json:"locks"`
}

// Pair is one open pair.
type Pair struct {
	Entry    string `json:"entry"`
	Kind     string `json:"kind"` // race, misuse
	ID       string `json:"id"`
	Location string `json:"location"`
	Waived   string `json:"waived"`
	A        Side   `json:"a"`
	B        Side   `json:"b"`
	Missing  string `json:"missing"`
	Stage    string `json:"stage"`
}

// Assumption is something that a verdict rests on.
type Assumption struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Pos  Pos    `json:"pos"`
	Text string `json:"text"`
}

// FunnelRow counts what is left after a stage.
type FunnelRow struct {
	Stage   string  `json:"stage"`
	Tuples  int64   `json:"tuples"`
	Pairs   int64   `json:"pairs"`
	Seconds float64 `json:"seconds"`
}

// Coarse is a package that was analysed without contexts, because it cost most
// when the points-to analysis had spent its budget.
type Coarse struct {
	Package string  `json:"package"`
	Share   float64 `json:"share"` // of what all variables held then
}

// Result is the verdict for one program, or for one entry of it.
type Result struct {
	Program     string // import path of the main package or the package under test
	Kind        string // main, test, open
	Entry       string // entry function, with -entry
	Verdict     Verdict
	Reason      string // ABANDONED: which budget ran out, and what to do next
	Pairs       []Pair // the open pairs in scope, grouped by location
	Open        int    // how many there are; Pairs may hold a cover of them only
	OutOfScope  int
	Waived      int
	Assumptions []Assumption
	Funnel      []FunnelRow
	Coarse      []Coarse // packages that lost their contexts, costliest first
	Why         []WhyRow // with Options.Why
}

// WhyRow is one pair going down the stages, for -why.
type WhyRow struct {
	A, B    Side
	Steps   []string // "aliasing: kept, ..." one a stage
	Outcome string
}
