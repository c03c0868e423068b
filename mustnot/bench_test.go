package mustnot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// BenchmarkLocks solves the locksets of a server, shared and by the plain twin.
func BenchmarkLocks(b *testing.B) {
	dir := b.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module server\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"net/http\"\n\nfunc main() { http.ListenAndServe(\":80\", nil) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Models: models.Files()})
	if err != nil {
		b.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		b.Fatal(err)
	}
	p, err := extract.Link(u, res.Programs[0])
	if err != nil {
		b.Fatal(err)
	}
	sol, err := pta.Analyze(context.Background(), p, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1})
	if err != nil {
		b.Fatal(err)
	}
	v := stage.NewView(stage.NewWorld(sol), stage.AllEntries)
	l := NewLocks(v, func(uint32) bool { return false })
	b.Run("shared", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			NewLocks(v, func(uint32) bool { return false })
		}
		b.ReportMetric(float64(len(sol.Insts)), "instances")
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			newPlain(v, l.opAt, l.Effects().SameLoads, l.Effects().WrittenOnce)
		}
	})
}
