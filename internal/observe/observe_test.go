package observe

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// observed is a program of testdata/programs.txtar and what runs of it showed.
type observed struct {
	name string
	prog *facts.Program
	rec  *Record
}

// observations builds and runs all programs once.
var observations = sync.OnceValues(func() (plan *Plan, err error) {
	dir, err := os.MkdirTemp("", "observe")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	a, err := txtar.ParseFile("testdata/programs.txtar")
	if err != nil {
		return nil, err
	}
	src, work := filepath.Join(dir, "src"), filepath.Join(dir, "work")
	for _, f := range a.Files {
		name := filepath.Join(src, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(work, 0o777); err != nil {
		return nil, err
	}
	ctx := context.Background()
	s, err := Open(ctx, src, work, []string{"./..."})
	if err != nil {
		return nil, err
	}
	for _, p := range s.Programs {
		var out bytes.Buffer
		rec, err := s.Run(ctx, p, &out)
		if err != nil {
			return nil, err
		}
		fp, err := s.Link(p)
		if err != nil {
			return nil, err
		}
		all = append(all, &observed{p.String(), fp, rec})
	}
	return s.Plan, nil
})

var all []*observed

// programs returns the plan, and fills all.
func programs(t *testing.T) *Plan {
	t.Helper()
	plan, err := observations()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

var policies = []pta.Config{
	{Policy: pta.Insens},
	{Policy: pta.Obj, K: 1, HK: -1},
	{Policy: pta.Hybrid, K: 1, HK: -1},
	{Policy: pta.Hybrid, K: 2, HK: -1},
}

// TestPrograms checks that what runs showed is in the result under all policies.
func TestPrograms(t *testing.T) {
	plan := programs(t)
	seen := 0
	for _, o := range all {
		t.Logf("%s: %d observations, %d unknown, %d of %d objects tracked", o.name, o.rec.Observations(), o.rec.Unknown, o.rec.Tracked, o.rec.Made)
		seen += o.rec.Observations()
		for _, cfg := range policies {
			if strings.HasSuffix(o.name, "/hooks") && (cfg.Policy == pta.Obj || cfg.K > 1) {
				continue // a web server and client: these take long
			}
			r, err := pta.Analyze(context.Background(), o.prog, cfg)
			if err != nil {
				t.Fatal(err)
			}
			rep := Check(plan, o.rec, r)
			t.Logf("%s, %s k=%d: %d facts, %d calls, %d types, %d functions", o.name, cfg.Policy, cfg.K, rep.Facts, rep.Calls, rep.Dynamics, rep.Entered)
			for _, m := range rep.Misses {
				t.Errorf("%s, %s k=%d: %s", o.name, cfg.Policy, cfg.K, m)
			}
			for _, u := range rep.Unplaced {
				t.Errorf("%s: %s", o.name, u)
			}
		}
	}
	if seen < 100_000 {
		t.Errorf("only %d observations", seen)
	}
}
