package export

import (
	"fmt"
	"strings"
)

// funnel prints what every stage left, as the tables of the POPL 2007 paper do.
//
//	stage       tuples   pairs  refuted  seconds
//	original     10200     914               0.1
//	aliasing      4100     310      604      0.3
func (t *Text) funnel(r *Result) {
	if len(r.Funnel) == 0 {
		return
	}
	rows := [][]string{{"stage", "tuples", "pairs", "refuted", "seconds"}}
	for i, f := range r.Funnel {
		refuted := ""
		if i > 0 {
			refuted = fmt.Sprint(r.Funnel[i-1].Pairs - f.Pairs)
		}
		rows = append(rows, []string{f.Stage, fmt.Sprint(f.Tuples), fmt.Sprint(f.Pairs), refuted, fmt.Sprintf("%.2f", f.Seconds)})
	}
	t.printf("funnel of %s:\n", r.name())
	t.table(rows)
}

// table prints rows with the first column to the left and the others to the
// right.
func (t *Text) table(rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], len(c))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		fmt.Fprintf(&b, "    %-*s", width[0], row[0])
		for i := 1; i < len(row); i++ {
			fmt.Fprintf(&b, "  %*s", width[i], row[i])
		}
		t.printf("%s\n", strings.TrimRight(b.String(), " "))
	}
}

// why prints the pairs asked for with -why on their way down the stages.
func (t *Text) why(r *Result) {
	t.whys += len(r.Why)
	for _, w := range r.Why {
		t.printf("%s: why, in %s: %s in %s against %s in %s at %s\n",
			at(w.A.Pos), r.name(), w.A.Op, w.A.Func, w.B.Op, w.B.Func, at(w.B.Pos))
		for _, s := range w.Steps {
			t.printf("    %s\n", s)
		}
		t.printf("    outcome: %s\n", w.Outcome)
	}
}
