package models

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles: each file begins with the build line, is formatted, and has a
// comment on its package clause that says why it may be believed.
func TestFiles(t *testing.T) {
	files := Files()
	if len(files) == 0 {
		t.Fatal("no model files embedded")
	}
	for _, f := range files {
		name := f.Path + "/" + f.Name
		if !bytes.HasPrefix(f.Source, []byte(buildLine)) {
			t.Errorf("%s does not begin with %q", name, buildLine)
		}
		if out, err := format.Source(f.Source); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(out, f.Source) {
			t.Errorf("%s is not formatted: run gofmt -w models", name)
		}
		head, _, _ := bytes.Cut(f.Source, []byte("\npackage "))
		if n := len(bytes.TrimPrefix(head, []byte(buildLine))); n < 60 {
			t.Errorf("%s: no comment says why the model may be believed", name)
		}
	}
}

// TestRead: what is not laid out as a directory of models is refused, with what
// to do.
func TestRead(t *testing.T) {
	const good = "//go:build bfmodel && amd64\n\npackage p\n"
	for _, c := range []struct{ name, file, src, says string }{
		{"good", "example.com/p/x.go", good, ""},
		{"hidden", "_old/x.go", good, "holds no model"},
		{"no package", "x.go", good, "IMPORT/PATH/x.go"},
		{"no build line", "example.com/p/x.go", "package p\n", `x.go:1: a model begins with the line "//go:build bfmodel"`},
		{"either tag", "example.com/p/x.go", "//go:build bfmodel || amd64\n", "begins with the line"},
		{"without the tag", "example.com/p/x.go", "//go:build !bfmodel\n", "begins with the line"},
		{"no Go", "example.com/p/x.s", good, "holds no model"},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(c.src), 0o666); err != nil {
			t.Fatal(err)
		}
		files, err := Read(dir)
		switch {
		case c.says == "" && (err != nil || len(files) != 1 || files[0].Path != "example.com/p" || !files[0].User()):
			t.Errorf("%s: %v, %v", c.name, files, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v does not say %q", c.name, err, c.says)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no directory of models") {
		t.Errorf("no directory: %v", err)
	}
}
