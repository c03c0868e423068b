package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// texts is a Sink that keeps what it is told.
type texts struct{ all string }

func (s *texts) String(t string)    { s.all += fmt.Sprintf("%q ", t) }
func (s *texts) Strings(t []string) { s.all += fmt.Sprintf("%q ", t) }
func (s *texts) Bool(b bool)        { s.all += fmt.Sprint(b, " ") }

// TestRecipe edits a file before, between and after listing and checking.
func TestRecipe(t *testing.T) {
	dir := write(t, "-- go.mod --\nmodule m\ngo 1.26\n-- main.go --\npackage main\nfunc main() {}\n")
	edit := func(src string) {
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list := func() *List {
		l, err := NewList(context.Background(), Config{Dir: dir, Env: env()})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	recipe := func(l *List) [32]byte {
		var s texts
		if !l.Recipe(&s) {
			t.Fatal("no recipe")
		}
		return sha256.Sum256([]byte(s.all))
	}
	check := func(l *List, changed bool) {
		t.Helper()
		r, err := l.Check(context.Background())
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
	var s texts
	if list().Recipe(&s) {
		t.Error("a recipe for a package without files")
	}
	edit("package main\nimport _ \"example.com/none\"\n")
	if list().Recipe(&s) {
		t.Error("a recipe for a package with an error")
	}
}
