package export

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata from what is printed")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", file, got)
	}
}

// sample returns results with everything that a Printer may meet.
func sample() []Result {
	pos := func(line, col int) Pos { return Pos{File: "a/main.go", Line: line, Col: col} }
	pair := Pair{
		Kind: "race", ID: "3f2a90c1", Location: "counter.n", Missing: `"mu" is held at neither <access>`, Stage: "local-lock",
		A: Side{Pos: pos(15, 2), Op: "write", Func: "(*counter).add", Locks: []string{"c.mu", "global"},
			Goroutine: []Frame{{"main.main.func1", pos(30, 3)}, {"(*counter).add", pos(31, 8)}}},
		B: Side{Pos: pos(22, 9), Op: "atomic read", Func: "main.main", Goroutine: []Frame{{Func: "main.main"}}},
	}
	confirmed := pair
	confirmed.ID = "00000002"
	var many []Assumption
	for i := range 9 {
		many = append(many, Assumption{ID: fmt.Sprintf("X%d", i+1), Kind: "no body", Pos: pos(40+i, 1), Text: "function f has no body"})
	}
	many = append(many, Assumption{ID: "X10", Kind: "model", Text: "package sync is as its model says"})
	return []Result{
		{Program: "example.com/a", Kind: "main", Verdict: Open, Pairs: []Pair{pair}, Open: 3, OutOfScope: 2, Assumptions: many[8:],
			Funnel: []FunnelRow{{"original", 1000, 100, 0.5}, {"aliasing", 20, 3, 12.25}},
			Why:    []WhyRow{{A: pair.A, B: pair.B, Steps: []string{"original: kept"}, Outcome: "open"}}},
		{Program: "example.com/a", Kind: "test", Entry: "TestA", Verdict: Proved, Assumptions: many},
		{Program: "example.com/a", Kind: "test", Entry: "TestB", Verdict: Proved, Assumptions: many},
		{Program: "example.com/b", Kind: "main", Verdict: Confirmed, Pairs: []Pair{confirmed}, Open: 1},
		{Program: "example.com/c", Kind: "main", Verdict: Abandoned, Reason: "out of time (try -timeout 1m)"},
	}
}

// printAll drives p as the command does.
func printAll(p Printer) {
	p.Config(Config{Version: "v1", Patterns: []string{"./..."}, K: 1, HK: -1, Ctx: "hybrid", Build: "linux/amd64 go1.26.0"})
	p.Progress("example.com/a", "aliasing", 2, 9)
	p.Error("example.com/a", Pos{"a/main.go", 1, 2}, "undefined: x")
	for _, r := range sample() {
		p.Result(r)
	}
	p.Unverified(Library{Path: "example.com/lib", Group: "covered only as the programs above use them"})
	p.Unverified(Library{Path: "example.com/alone", Text: "no program uses it"})
	p.Close()
}

func TestText(t *testing.T) {
	for name, opt := range map[string]TextOptions{
		"plain.txt": {},
		"quiet.txt": {Quiet: true},
		"long.txt":  {Long: true, Stats: true, Why: "a/main.go:15"},
		"color.txt": {Color: true, Why: "a/other.go:1"},
	} {
		var b strings.Builder
		p := NewText(&b, opt)
		printAll(p)
		if err := p.Flush(); err != nil {
			t.Error(err)
		}
		golden(t, name, b.String())
	}
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	p := NewJSON(&b)
	printAll(p)
	if err := p.Flush(); err != nil {
		t.Error(err)
	}
	golden(t, "stream.json", b.String())
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestWriteError: a verdict that was not written is an error.
func TestWriteError(t *testing.T) {
	for _, p := range []Printer{NewText(failing{}, TextOptions{}), NewJSON(failing{})} {
		printAll(p)
		if p.Flush() == nil || p.Flush() == nil {
			t.Errorf("%T.Flush gives no error", p)
		}
	}
}

// TestManyPairs holds the list of pairs to what a reader can use, unless all
// are asked for.
func TestManyPairs(t *testing.T) {
	r := Result{Program: "p", Kind: "main", Verdict: Open, Open: 5000}
	for i := range 400 {
		r.Pairs = append(r.Pairs, Pair{Kind: "race", Location: fmt.Sprint("v", i/40), A: Side{Pos: Pos{"a.go", i + 1, 1}}, B: Side{Pos: Pos{"b.go", 1, 1}}})
	}
	for _, c := range []struct {
		long  bool
		shown int
		rest  string
	}{
		{false, 100, "4900 more open pairs are not shown (list more with -v, or all kept with -json)\n"},
		{true, 400, "4600 more open pairs are not shown\n"},
	} {
		var b strings.Builder
		p := NewText(&b, TextOptions{Long: c.long})
		p.Result(r)
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), ": race on v"); n != c.shown || !strings.Contains(b.String(), c.rest) {
			t.Errorf("long=%v: %d pairs shown, want %d, and %q in\n%s", c.long, n, c.shown, c.rest, b.String()[max(0, b.Len()-300):])
		}
	}
}
