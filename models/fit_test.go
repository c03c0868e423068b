package models_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
)

// loadAll loads all of std that has a model, with the models in place.
func loadAll(t *testing.T, patterns ...string) *load.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("loads the standard library")
	}
	r, err := load.Load(context.Background(), load.Config{Patterns: patterns, Models: models.Files()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFit: the models compile in their packages, and every stand-in stands for a
// function of the same type. That Load gives no error says so but for those that
// stand for nothing.
func TestFit(t *testing.T) {
	seen := map[string]bool{}
	var paths []string
	for _, f := range models.Files() {
		if first, _, _ := strings.Cut(f.Path, "/"); !seen[f.Path] && !strings.Contains(first, ".") {
			seen[f.Path] = true
			paths = append(paths, f.Path)
		}
	}
	r := loadAll(t, paths...)
	for _, name := range r.Idle {
		t.Errorf("%s stands for nothing", name)
	}
	if len(r.Models) < len(paths) {
		t.Errorf("%d models for %d packages", len(r.Models), len(paths))
	}
}

// TestMarkers holds the markers that models declare to those that docs/models.md
// describes, and functions without body to markers.
func TestMarkers(t *testing.T) {
	doc, err := os.ReadFile("../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, w := range regexp.MustCompile("`(bf[A-Z][A-Za-z]*)\\(").FindAllSubmatch(doc, -1) {
		described[string(w[1])] = true
	}
	for _, name := range load.Markers() {
		if !described[name] {
			t.Errorf("docs/models.md does not describe %s", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("docs/models.md describes %s, which package load does not know", name)
	}
	declared := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+).*$`)
	for _, f := range models.Files() {
		for _, m := range declared.FindAllStringSubmatch(string(f.Source), -1) {
			name, bodied := m[1], strings.HasSuffix(m[0], "{") || strings.HasSuffix(m[0], "}")
			helper := strings.HasPrefix(name, "bf_") || strings.HasPrefix(name, "bfx_") || name == "init" || ordinary(m[0])
			if bodied && !helper || !bodied && !load.IsMarker(name) {
				t.Errorf("%s/%s: %s is neither a stand-in (bf_), nor a helper (bfx_), nor init, nor a marker", f.Path, f.Name, m[0])
			}
		}
	}
}

// ordinary reports whether a line declares a method of a model's own type.
func ordinary(line string) bool {
	return regexp.MustCompile(`^func \(\w* ?\*?bfx_\w+\)`).MatchString(line)
}

// TestModule: models of a module in the module cache join it.
func TestModule(t *testing.T) {
	r := loadAll(t, "golang.org/x/sys/unix", "golang.org/x/sys/cpu")
	if len(r.LeftOut) > 0 {
		t.Errorf("left out: %v", r.LeftOut)
	}
	got := map[string]bool{}
	for _, m := range r.Models {
		for _, name := range m.StandIns {
			got[m.Path+" "+name] = true
		}
	}
	for _, name := range []string{"golang.org/x/sys/cpu runtime_getAuxv", "golang.org/x/sys/unix mmapper.Mmap", "golang.org/x/sys/unix syscall_prlimit"} {
		if !got[name] {
			t.Errorf("%s is not modelled", name)
		}
	}
}
