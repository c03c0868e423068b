package proof_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
)

// corpus is the main programs of the stages' tests, and some more, over one universe, so that
// std is loaded once: the twins, and those of which all race.
type corpus struct {
	twins, racy []*facts.Program
	races       map[string]bool // by path: some line is marked as racing, or all race
}

var loaded *corpus

func programs(t *testing.T) *corpus {
	t.Helper()
	if loaded != nil {
		return loaded
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := &corpus{races: map[string]bool{}}
	write("go.mod", []byte("module twins\n\ngo 1.26\n"))
	racy := map[string]bool{}
	for _, folder := range []string{"../../stages/testdata", "../../stages/testdata/racy", "testdata"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
		if err != nil || len(names) == 0 {
			t.Fatal("no test programs", err)
		}
		for _, n := range names {
			a, err := txtar.ParseFile(n)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				name := filepath.Join(strings.TrimSuffix(filepath.Base(n), ".txtar"), f.Name)
				at := "twins/" + filepath.ToSlash(filepath.Dir(name))
				racy[at] = filepath.Base(folder) == "racy"
				c.races[at] = c.races[at] || racy[at] || strings.Contains(string(f.Data), "// want: race")
				write(name, f.Data)
			}
		}
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Patterns: []string{"./..."}, Models: models.Files()})
	if err != nil {
		t.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			t.Fatal(err)
		}
		if racy[fp.Path] {
			c.racy = append(c.racy, fp)
		} else {
			c.twins = append(c.twins, fp)
		}
	}
	loaded = c
	return c
}

func analyze(t *testing.T, p *facts.Program, policy pta.Policy) *pta.Result {
	t.Helper()
	r, err := pta.Analyze(context.Background(), p, pta.Config{Policy: policy, K: 1, HK: -1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
