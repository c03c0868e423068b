package main

import (
	"strings"
	"testing"
)

func TestSummarise(t *testing.T) {
	for _, c := range []struct {
		name, in, last string
		ok             bool
		says           string
	}{
		{"good", `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA/x","Elapsed":2}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":3}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Elapsed":3}
`, "1 passed, 0 failed, 1 skipped", true, "   2.00s p TestA/x\n"},
		{"bad", `{"Action":"output","Package":"p","Test":"TestA","Output":"p_test.go:1: no\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`, "0 passed, 1 failed, 0 skipped", false, "p_test.go:1: no\n"},
		{"build", `{"Action":"build-output","ImportPath":"p","Output":"p.go:1: syntax\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`, "0 passed, 1 failed, 0 skipped", false, "p.go:1: syntax\n"},
		{"nothing", "go: no such module\n", "0 passed, 0 failed, 0 skipped", false, "go: no such module\n"},
	} {
		var w strings.Builder
		ok := summarise(strings.NewReader(c.in), &w)
		lines := strings.Split(strings.TrimSpace(w.String()), "\n")
		if ok != c.ok || lines[len(lines)-1] != c.last || !strings.Contains(w.String(), c.says) {
			t.Errorf("%s: %v\n%s", c.name, ok, w.String())
		}
	}
}
