package pta_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var mutantsFlag = flag.String("mutants", "", "mutants to run: all, or a part of their names; some if empty")

// mutant is the analysis without one of its rules.
//
// Domain: testdata/mutants.txt, one rule after another:
//
//	# what the rule says
//	file of the module
//	kill PROGRAM.FUNCTION -NAME   an expectation that must fail: what it loses
//	kill PROGRAM.FUNCTION +NAME   or has too much
//	 a line that stays
//	-a line that goes
//	+a line that comes
//
// A mutant that loses something shows that the programs notice a flow that is
// missing; one that has too much, that they notice a filter that is.
//
// All mutants are built into one binary, in which facts.Mutant chooses one: see
// schemata.
type mutant struct {
	id         int // from 1
	rule, file string
	old, new   string
	kills      []kill
}

type kill struct{ fn, what string }

func (k kill) String() string { return k.fn + " " + k.what }

func readMutants(t *testing.T) []*mutant {
	t.Helper()
	data, err := os.ReadFile("testdata/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	var ms []*mutant
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if rule, ok := strings.CutPrefix(line, "# "); ok {
			ms = append(ms, &mutant{id: len(ms) + 1, rule: rule})
			continue
		}
		if len(ms) == 0 || line == "" {
			continue // the heading, or between rules
		}
		m := ms[len(ms)-1]
		switch rest := line[1:]; {
		case line[0] == ' ':
			m.old += rest + "\n"
			m.new += rest + "\n"
		case line[0] == '-':
			m.old += rest + "\n"
		case line[0] == '+':
			m.new += rest + "\n"
		case strings.HasPrefix(line, "kill "):
			w := strings.Fields(line)
			if len(w) != 3 || w[2][0] != '-' && w[2][0] != '+' {
				t.Fatalf("mutants.txt:%d: want kill PROGRAM.FUNCTION -NAME", i+1)
			}
			m.kills = append(m.kills, kill{w[1], w[2]})
		case m.file == "":
			m.file = line
		default:
			t.Fatalf("mutants.txt:%d: what is this?", i+1)
		}
	}
	return ms
}

// TestMutants checks that for each rule some program fails without it: that the
// text that a mutant replaces is still there, that the expectations that kill it
// exist, and, for some of the mutants, that they do fail. With -mutants all it
// runs all and prints what kills each.
func TestMutants(t *testing.T) {
	ms := readMutants(t)
	if len(ms) < 60 {
		t.Fatalf("%d mutants", len(ms))
	}
	wants := expectations(t)
	files := map[string][]*mutant{}
	text := map[string]string{}
	names := map[string]bool{}
	for _, m := range ms {
		if names[m.rule] {
			t.Errorf("%s: twice", m.rule)
		}
		names[m.rule] = true
		if text[m.file] == "" {
			data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(m.file)))
			if err != nil {
				t.Fatal(err)
			}
			text[m.file] = string(data)
		}
		files[m.file] = append(files[m.file], m)
		if n := strings.Count(text[m.file], m.old); n != 1 {
			t.Errorf("%s: what it replaces is %d times in %s:\n%s", m.rule, n, m.file, m.old)
		}
		if m.old == m.new {
			t.Errorf("%s: replaces nothing", m.rule)
		}
		if len(m.kills) == 0 && *mutantsFlag != "survey" {
			t.Errorf("%s: nothing kills it", m.rule)
		}
		for _, k := range m.kills {
			if !wants[k] && !(k.what[0] == '+' && wants[kill{k.fn, ""}]) {
				t.Errorf("%s: no expectation for %s", m.rule, k)
			}
		}
	}
	if t.Failed() || testing.Short() {
		return
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	write := func(name, data string) string {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(to, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		return to
	}
	over := func(name, data string) { replace[filepath.Join(root, filepath.FromSlash(name))] = write(name, data) }
	h := fnv.New32a()
	for name, ms := range files {
		with, err := schemata(text[name], ms)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		over(name, with)
	}
	over("facts/mutant.go", "package facts\n\n// Mutant chooses the rule that is left out.\nvar Mutant int\n")
	for _, m := range ms { // which ones run depends on the code: in time all of them do
		h.Write([]byte(text[m.file]))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-vet=off", "-count=1", "-v", "-tags", "mutants", "-timeout", "60m", "-overlay", write("overlay.json", string(overlay)),
		"-run", "^TestMutantsRun$", ".", "-mutants", *mutantsFlag, "-first", fmt.Sprint(h.Sum32())}
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	if cmd.Stdout, cmd.Stderr = &out, &out; *mutantsFlag != "" {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // it takes minutes
	}
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// schemata returns the text of a Go file in which facts.Mutant chooses one of
// the mutants ms, or none of them. What a mutant replaces must be one or more
// statements, or the head of an if, a case or a loop.
func schemata(text string, ms []*mutant) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	type region struct{ from, to int }
	alts := map[region][]*mutant{}
	news := map[*mutant]string{}
	var regions []region
	for _, m := range ms {
		from := strings.Count(text[:strings.Index(text, m.old)], "\n")
		o, n := strings.SplitAfter(m.old, "\n"), strings.SplitAfter(m.new, "\n")
		o, n = o[:len(o)-1], n[:len(n)-1] // they end in a newline
		for len(o) > 0 && len(n) > 0 && o[0] == n[0] {
			o, n, from = o[1:], n[1:], from+1
		}
		for len(o) > 0 && len(n) > 0 && o[len(o)-1] == n[len(n)-1] {
			o, n = o[:len(o)-1], n[:len(n)-1]
		}
		r := region{from, from + len(o)}
		if alts[r] == nil {
			regions = append(regions, r)
		}
		alts[r] = append(alts[r], m)
		news[m] = strings.Join(n, "")
	}
	slices.SortFunc(regions, func(a, b region) int { return b.from - a.from })
	last := len(lines)
	for _, r := range regions {
		if r.to > last {
			return "", fmt.Errorf("%q overlaps with another mutant", alts[r][0].rule)
		}
		last = r.from
		old := strings.Join(lines[r.from:r.to], "")
		with, err := choose(old, alts[r], news)
		if err != nil {
			return "", fmt.Errorf("%q: %v", alts[r][0].rule, err)
		}
		lines = append(lines[:r.from:r.from], append([]string{with}, lines[r.to:]...)...)
	}
	out := strings.Join(lines, "")
	if !strings.Contains(out, "\"github.com/bfverify/bfverify/facts\"") {
		i := strings.Index(out, "\nimport")
		out = out[:i] + "\nimport \"github.com/bfverify/bfverify/facts\"" + out[i:]
	}
	return out, nil
}

// choose returns code that does what old does, or one of its mutants ms.
func choose(old string, ms []*mutant, news map[*mutant]string) (string, error) {
	trim, _, _ := strings.Cut(strings.TrimSpace(old), " // ")
	single := strings.Count(old, "\n") == 1
	// either merges an expression of old with those of the mutants.
	either := func(expr func(string) (string, bool)) (string, error) {
		x, ok := expr(trim)
		if !ok {
			return "", fmt.Errorf("cannot choose in %s", trim)
		}
		var choices, not []string
		for _, m := range ms {
			y, _, _ := strings.Cut(strings.TrimSpace(news[m]), " // ")
			y, ok := expr(y)
			if !ok {
				return "", fmt.Errorf("cannot choose %s", news[m])
			}
			choices = append(choices, fmt.Sprintf("facts.Mutant == %d && (%s)", m.id, y))
			not = append(not, fmt.Sprintf("facts.Mutant != %d", m.id))
		}
		return strings.Join(choices, " || ") + " || " + strings.Join(not, " && ") + " && (" + x + ")", nil
	}
	switch {
	case single && strings.HasPrefix(trim, "if ") && strings.HasSuffix(trim, "{"):
		head := trim[:max(strings.LastIndex(trim, "; ")+1, 2)] // with what is declared
		cond, err := either(func(s string) (string, bool) {
			s, ok := strings.CutPrefix(s, head)
			return strings.TrimSuffix(s, "{"), ok
		})
		return head + " " + cond + " {\n", err
	case single && strings.HasPrefix(trim, "case "):
		cond, err := either(func(s string) (string, bool) {
			s, ok := strings.CutPrefix(s, "case ")
			return strings.TrimSuffix(s, ":"), ok
		})
		return "case " + cond + ":\n", err
	case single && strings.HasPrefix(trim, "for ") && strings.Contains(trim, " range "):
		head, x, _ := strings.Cut(strings.TrimSuffix(trim, " {"), " range ")
		out := "ranged := " + x + "\n"
		for _, m := range ms {
			y, _, _ := strings.Cut(strings.TrimSpace(news[m]), " // ")
			_, y, ok := strings.Cut(strings.TrimSuffix(y, " {"), " range ")
			if !ok {
				return "", fmt.Errorf("cannot choose %s", news[m])
			}
			out += fmt.Sprintf("if facts.Mutant == %d { ranged = %s }\n", m.id, y)
		}
		return out + head + " range ranged {\n", nil
	case single && strings.HasPrefix(trim, "for ") && !strings.Contains(trim, ";"):
		cond, err := either(func(s string) (string, bool) {
			s, ok := strings.CutPrefix(s, "for ")
			return strings.TrimSuffix(s, "{"), ok
		})
		return "for " + cond + " {\n", err
	case single && strings.Contains(trim, " := "):
		out := old
		for _, m := range ms {
			out += fmt.Sprintf("if facts.Mutant == %d { %s }\n", m.id, strings.Replace(strings.TrimSpace(news[m]), " := ", " = ", 1))
		}
		return out, nil
	}
	if strings.Count(old, "{") != strings.Count(old, "}") {
		return "", fmt.Errorf("no whole statement: %s", trim)
	}
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "if facts.Mutant == %d {\n%s} else ", m.id, news[m])
	}
	return b.String() + "{\n" + old + "}\n", nil
}

// expectations returns what there is to lose, by function, and with what "" all
// functions that expect something.
func expectations(t *testing.T) map[kill]bool {
	t.Helper()
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	out := map[kill]bool{}
	for _, f := range files {
		eachLine(f, func(_ int, text, fn string) {
			for _, verb := range []string{"want", "calls", "alias"} {
				_, s, ok := strings.Cut(text, "// "+verb+" ")
				if !ok {
					continue
				}
				out[kill{fn, ""}], out[kill{fn, "-call"}] = true, true
				if verb == "alias" {
					s = "alias"
				}
				for _, w := range strings.Fields(s) {
					out[kill{fn, "-" + w}] = true
				}
			}
		})
	}
	return out
}
