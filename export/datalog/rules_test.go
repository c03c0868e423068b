package datalog

import (
	"regexp"
	"strings"
	"testing"
)

var atom = regexp.MustCompile(`(\w+)\(([^)]*)\)`)

// TestRulesJoinTwo holds the rules to what makes engines fast: a rule joins two
// relations at most, and these have a variable in common. Every relation is
// declared, with as many columns as it is used with.
func TestRulesJoinTwo(t *testing.T) {
	columns := map[string]int{}
	for _, m := range atom.FindAllStringSubmatch(relations, -1) {
		if columns[m[1]] != 0 {
			t.Errorf("%s is declared twice", m[1])
		}
		columns[m[1]] = strings.Count(m[2], ",") + 1
	}
	n := 0
	defined := map[string]bool{}
	for _, rule := range strings.Split(rules, "\n") {
		head, body, ok := strings.Cut(rule, " :- ")
		if !ok {
			continue
		}
		n++
		defined[atom.FindStringSubmatch(head)[1]] = true
		atoms := atom.FindAllStringSubmatch(body, -1)
		for _, a := range atom.FindAllStringSubmatch(rule, -1) {
			if strings.Count(a[2], ",")+1 != columns[a[1]] {
				t.Errorf("%s: %s is declared with %d columns", rule, a[1], columns[a[1]])
			}
		}
		if len(atoms) > 2 {
			t.Errorf("%s: joins %d relations", rule, len(atoms))
		}
		if len(atoms) == 2 {
			common := false
			for _, v := range strings.Split(atoms[0][2], ", ") {
				for _, w := range strings.Split(atoms[1][2], ", ") {
					common = common || v == w
				}
			}
			if !common {
				t.Errorf("%s: no variable in common", rule)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d rules", n)
	}
	_, later, _ := strings.Cut(relations, "# What follows.")
	for _, m := range atom.FindAllStringSubmatch(later, -1) {
		if !defined[m[1]] {
			t.Errorf("no rule defines %s", m[1])
		}
	}
}
