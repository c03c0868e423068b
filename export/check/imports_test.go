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

// TestImports holds the checker to what it may import of this module, facts and
// facts/extract, and to its size: fewer than 1,500 lines.
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
		lines += strings.Count(string(text), "\n")
	}
	if lines >= 1500 {
		t.Errorf("the checker has %d lines", lines)
	}
}
