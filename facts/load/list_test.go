package load

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/bfverify/bfverify/facts/cache"
)

// TestRecipe edits a file before, between and after listing and checking.
func TestRecipe(t *testing.T) {
	dir := write(t, "-- go.mod --\nmodule m\ngo 1.26\n-- main.go --\npackage main\nfunc main() {}\n")
	edit := func(src string) {
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list := func(more ...string) *List {
		l, err := NewList(context.Background(), Config{Dir: dir, Env: env(more...)})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	recipe := func(l *List) cache.Key {
		r := cache.NewRecipe("test")
		if !l.Recipe(r) {
			t.Fatal("no recipe")
		}
		return r.Sum()
	}
	check := func(l *List, changed bool) {
		t.Helper()
		r, err := l.Check(context.Background(), Reuse{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Changed != changed {
			t.Errorf("changed is %v", r.Changed)
		}
	}
	l := list()
	first := recipe(l)
	check(l, false)
	for _, v := range []string{"GOARCH=arm64", "GOOS=darwin", "GOAMD64=v3", "GOFLAGS=-tags=x", "GOEXPERIMENT=nodwarf5", "GOFIPS140=latest"} {
		if recipe(list(v)) == first {
			t.Errorf("one recipe with and without %s", v)
		}
	}
	if l = list(); recipe(l) != first {
		t.Error("two recipes for one program")
	}
	edit("package main\n\nfunc main() {}\n")
	check(l, true)
	if recipe(list()) == first {
		t.Error("one recipe for two programs")
	}
	if err := os.Remove(filepath.Join(dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	s := cache.NewRecipe("test")
	if list().Recipe(s) {
		t.Error("a recipe for a package without files")
	}
	edit("package main\nimport _ \"example.com/none\"\n")
	if list().Recipe(s) {
		t.Error("a recipe for a package with an error")
	}
}
