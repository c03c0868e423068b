package export

import "strings"

// A Config says what a run does, for the first message of its output.
type Config struct {
	Version  string   // of bfverify
	Patterns []string // as given
	K, HK    int      // -k, -hk
	Ctx      string   // -ctx
	Build    string   // the build configuration that the verdicts hold for
}

// A Printer writes what a run finds, in the order of the calls. Its methods are
// not safe for concurrent use. After a write error the rest is dropped and
// Flush reports the error, because a verdict that was cut off must not look
// like one that was given.
type Printer interface {
	// Config comes first.
	Config(Config)
	// Progress says that a stage of a program begins: the done-th of so many.
	Progress(program, stage string, done, of int)
	// Error is an error about program, or about the run when program is "". It
	// is for streams: people read errors on stderr.
	Error(program string, pos Pos, text string)
	// Result is the verdict for a program or an entry, with all that goes with it.
	Result(Result)
	// Unverified says what no verdict covers, and how to get one.
	Unverified(Library)
	// Close comes last.
	Close()
	// Flush makes what was printed visible and returns the first write error.
	Flush() error
}

// A Library is a matched package that has no verdict of its own.
type Library struct {
	Path  string
	Group string // what is so for it and for all of its group; or
	Text  string // what is so for it, and what to do
}

// kinds explains the kinds of program to people.
var kinds = map[string]string{"main": "main package", "test": "test binary", "open": "open program"}

// name returns the program's name as people know it.
func (r *Result) name() string {
	s := r.Program
	if k := kinds[r.Kind]; k != "" {
		s += " (" + k + ")"
	}
	if r.Entry != "" {
		s += " " + r.Entry
	}
	return s
}

// Counts tells how many results had each verdict.
type Counts map[Verdict]int

// String returns "3 verdicts: 2 proved, 1 open", or "" for less than two.
func (c Counts) String() string {
	total := 0
	var parts []string
	for _, v := range [...]Verdict{Proved, Open, Confirmed, Abandoned} {
		if n := c[v]; n > 0 {
			total += n
			parts = append(parts, count(n, strings.ToLower(string(v)), strings.ToLower(string(v))))
		}
	}
	if total < 2 {
		return ""
	}
	return count(total, "verdict", "verdicts") + ": " + strings.Join(parts, ", ")
}

// Discard is a Printer that prints nothing.
var Discard Printer = discard{}

type discard struct{}

func (discard) Config(Config)                     {}
func (discard) Progress(string, string, int, int) {}
func (discard) Error(string, Pos, string)         {}
func (discard) Result(Result)                     {}
func (discard) Unverified(Library)                {}
func (discard) Close()                            {}
func (discard) Flush() error                      { return nil }
