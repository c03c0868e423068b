package check_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// evidence are the files that judge evidence, or what only models do, or that makers
// of claims use; the others are the core.
var evidence = map[string]bool{"escape.go": true, "done.go": true, "order.go": true, "flow.go": true, "state.go": true, "musts.go": true,
	"locks.go": true, "chanlock.go": true, "names.go": true, "guards.go": true, "signals.go": true, "waits.go": true, "joins.go": true, "credits.go": true,
	"threads.go": true, "precede.go": true,
	"print.go": true, "any.go": true, "deep.go": true, "scope.go": true, "published.go": true, "leaks.go": true, "apart.go": true, "induction.go": true, "rules.go": true}

// TestImports holds the checker to what it may import of this module, facts and
// facts/extract, and to its size: the core is below 1,500 lines, and what judges
// evidence a file of 200 at most for each idea.
func TestImports(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	lines := 0
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), n, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range f.Imports {
			path, _ := strconv.Unquote(im.Path.Value)
			const module = "github.com/bfverify/bfverify/"
			if rest, ours := strings.CutPrefix(path, module); ours && rest != "facts" && rest != "facts/extract" {
				t.Errorf("%s imports %s", n, path)
			}
		}
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		own := strings.Count(string(text), "\n")
		if !evidence[n] {
			lines += own
		} else if own > 200 {
			t.Errorf("%s has %d lines", n, own)
		}
	}
	if lines >= 1500 {
		t.Errorf("the core has %d lines", lines)
	}
}
