package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// TextOptions say how much Text prints.
type TextOptions struct {
	Color bool // highlight with ANSI sequences
	Quiet bool // verdict lines only
	Long  bool // every assumption on a line of its own
	Stats bool // the funnel of every program
	Why   string
}

// Text prints for people, in the compiler's form, so that editors jump:
//
//	main.go:15:2: race on registry.seen (map): no common lock
//	    main.go:15:2: write in (*registry).add, holding r.Mutex
//	        main.go:30:2: goroutine main.main.func1
//	        main.go:31:8: (*registry).add
//	    main.go:22:9: read in (*registry).count, holding no lock
//	        main.go:27:1: goroutine main.main
//	        main.go:35:3: (*registry).count
//	    not refuted by local-lock; pair 3f2a90c1
//	OPEN example.com/m (main package): 1 open pair; rests on 1 assumption:
//	    X1 reflect: main.go:9:4: ...
type Text struct {
	w      *bufio.Writer
	opt    TextOptions
	err    error
	counts Counts
	listed string              // the assumptions last listed, and of which program
	groups []string            // of libraries, in the order of the first of each
	libs   map[string][]string // by group
	whys   int
}

// NewText returns a Printer for people.
func NewText(w io.Writer, opt TextOptions) *Text {
	return &Text{w: bufio.NewWriter(w), opt: opt, counts: Counts{}, libs: map[string][]string{}}
}

func (t *Text) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// The colours; see paint.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

var verdictColor = map[Verdict]string{Proved: green, Open: red, Confirmed: red, Abandoned: yellow}

// paint returns s in a colour where colours are on.
func (t *Text) paint(color, s string) string {
	if !t.opt.Color || color == "" {
		return s
	}
	return "\x1b[" + bold + ";" + color + "m" + s + "\x1b[0m"
}

// Config prints the build configuration that all verdicts hold for.
func (t *Text) Config(c Config) {
	if t.opt.Quiet || c.Build == "" {
		return
	}
	policy := c.Ctx
	if c.Ctx != "insens" {
		policy += fmt.Sprintf(" k=%d", c.K)
		if c.HK >= 0 {
			policy += fmt.Sprintf(" hk=%d", c.HK)
		}
	}
	t.printf("verdicts hold for %s (analysed with %s)\n", c.Build, policy)
}

// Progress prints nothing: it is for stderr.
func (t *Text) Progress(string, string, int, int) {}

// Error prints nothing: it is for stderr.
func (t *Text) Error(string, Pos, string) {}

// Result prints the pairs, then what was asked for with flags, then the verdict
// with its assumptions.
func (t *Text) Result(r Result) {
	t.counts[r.Verdict]++
	if !t.opt.Quiet {
		t.pairs(&r)
		t.why(&r)
		if t.opt.Stats {
			t.funnel(&r)
		}
		t.coarse(&r)
	}
	t.verdict(&r)
}

// Without Long, so many pairs are printed for one location, and in all: a list
// that nobody reads to its end hides what it says.
const (
	pairsOfLocation = 10
	pairsOfProgram  = 200
)

// pairs prints the open pairs, or as many as a reader can use.
func (t *Text) pairs(r *Result) {
	shown := 0
	of := map[string]int{}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if of[p.Location]++; t.opt.Long || of[p.Location] <= pairsOfLocation && shown < pairsOfProgram {
			t.pair(p)
			shown++
		}
	}
	if hidden := r.Open + r.Waived - shown; shown > 0 && hidden > 0 {
		hint := ""
		if !t.opt.Long && shown < len(r.Pairs) {
			hint = " (list more with -v, or all kept with -json)"
		}
		t.printf("%s not shown%s\n", count(hidden, "more open pair is", "more open pairs are"), hint)
	}
}

// pair prints one pair.
func (t *Text) pair(p *Pair) {
	what := p.Kind
	if p.Waived != "" {
		what = "waived " + what
	}
	t.printf("%s: %s on %s: %s\n", at(p.A.Pos), t.paint(red, what), p.Location, p.Missing)
	t.side(&p.A)
	t.side(&p.B)
	if p.Waived != "" {
		t.printf("    waived: %s\n", p.Waived)
	}
	t.printf("    not refuted by %s; pair %s\n", p.Stage, p.ID)
}

// side prints one access with the way to it.
func (t *Text) side(s *Side) {
	locks := "no lock"
	if len(s.Locks) > 0 {
		locks = strings.Join(s.Locks, ", ")
	}
	t.printf("    %s: %s in %s, holding %s\n", at(s.Pos), s.Op, s.Func, locks)
	for i, f := range s.Goroutine {
		start := ""
		if i == 0 {
			start = "goroutine "
		}
		if f.Pos.Line == 0 {
			t.printf("        %s%s\n", start, f.Func)
			continue
		}
		t.printf("        %s: %s%s\n", at(f.Pos), start, f.Func)
	}
}

// coarse prints which packages lost their contexts.
func (t *Text) coarse(r *Result) {
	if len(r.Coarse) == 0 {
		return
	}
	t.printf("%s without contexts, because they cost most:", count(len(r.Coarse), "package", "packages"))
	for i, c := range r.Coarse {
		if i == 3 && !t.opt.Long {
			t.printf(" and %d more (list them with -v)", len(r.Coarse)-i)
			break
		}
		t.printf(" %s (%.0f %%)", c.Package, 100*c.Share)
	}
	t.printf("; saying so from the start saves time: -ctx '%s=insens'\n", r.Coarse[0].Package)
}

// verdict prints the verdict line and the assumptions.
func (t *Text) verdict(r *Result) {
	t.printf("%s %s: ", t.paint(verdictColor[r.Verdict], string(r.Verdict)), r.name())
	switch {
	case r.Verdict == Abandoned:
		t.printf("%s\n", orUnknown(r.Reason))
		return // nothing was shown, so there is nothing to assume
	case r.Open > 0:
		t.printf("%s", count(r.Open, "open pair", "open pairs"))
	default:
		t.printf("no open pair")
	}
	if r.Waived > 0 {
		t.printf(", %d waived", r.Waived)
	}
	if r.OutOfScope > 0 {
		t.printf(", %d out of scope (list them with -scope=all)", r.OutOfScope)
	}
	if len(r.Assumptions) == 0 {
		t.printf("; rests on no assumption\n")
		return
	}
	n := count(len(r.Assumptions), "assumption", "assumptions")
	if t.opt.Quiet {
		t.printf("; rests on %s\n", n)
		return
	}
	lines := t.assumptions(r.Assumptions)
	if lines == t.listed {
		t.printf("; rests on the same %s\n", n)
		return
	}
	t.listed = lines
	t.printf("; rests on %s:\n%s", n, lines)
}

func orUnknown(reason string) string {
	if reason == "" {
		return "the analysis gave up and did not say why"
	}
	return reason
}

// many is how many assumptions are listed one by one. With more, those of a
// kind share a line, unless all are asked for.
const many = 8

// assumptions returns the list that goes with a verdict.
func (t *Text) assumptions(list []Assumption) string {
	var b strings.Builder
	if t.opt.Long || len(list) <= many {
		for _, a := range list {
			fmt.Fprintf(&b, "    %s %s: %s\n", a.ID, a.Kind, placed(a))
		}
		return b.String()
	}
	var order []string
	byKind := map[string][]Assumption{}
	for _, a := range list {
		if byKind[a.Kind] == nil {
			order = append(order, a.Kind)
		}
		byKind[a.Kind] = append(byKind[a.Kind], a)
	}
	grouped := false
	for _, k := range order {
		as := byKind[k]
		if len(as) == 1 {
			fmt.Fprintf(&b, "    %s %s: %s\n", as[0].ID, k, placed(as[0]))
			continue
		}
		grouped = true
		fmt.Fprintf(&b, "    %s %s: %d, of which the first: %s\n", as[0].ID, k, len(as), placed(as[0]))
	}
	if grouped {
		b.WriteString("    (list all with -v)\n")
	}
	return b.String()
}

// placed returns an assumption's text after its position.
func placed(a Assumption) string {
	if a.Pos.Line == 0 {
		return a.Text
	}
	return at(a.Pos) + ": " + a.Text
}

// Unverified collects groups and prints others.
func (t *Text) Unverified(l Library) {
	if l.Group != "" {
		if t.libs[l.Group] == nil {
			t.groups = append(t.groups, l.Group)
		}
		t.libs[l.Group] = append(t.libs[l.Group], l.Path)
		return
	}
	t.printf("%s %s: %s\n", t.paint(yellow, "NOT VERIFIED"), l.Path, l.Text)
}

// Close prints what concerns the whole run.
func (t *Text) Close() {
	if t.opt.Why != "" && t.whys == 0 && len(t.counts) > 0 {
		t.printf("no pair has an access at %s (name a line that reads or writes memory, with the file as it is named here)\n", t.opt.Why)
	}
	if t.opt.Quiet {
		return
	}
	for _, g := range t.groups {
		t.printf("%s: %s\n", g, strings.Join(t.libs[g], " "))
	}
	if s := t.counts.String(); s != "" {
		t.printf("%s\n", s)
	}
}

// Flush writes what is buffered.
func (t *Text) Flush() error {
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

// at returns "file:line:col", with less where less is known.
func at(p Pos) string {
	switch {
	case p.Line == 0 && p.File == "":
		return "-"
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// count returns "1 pair" or "2 pairs".
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
