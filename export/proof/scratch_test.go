package proof_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
)

func TestScratch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(p), 0o777)
		os.WriteFile(p, []byte(text), 0o666)
	}
	write("go.mod", "module twins\n\ngo 1.26\n")
	names, _ := filepath.Glob("../../stages/testdata/*.txtar")
	for _, n := range names {
		a, _ := txtar.ParseFile(n)
		base := strings.TrimSuffix(filepath.Base(n), ".txtar")
		for _, f := range a.Files {
			write(filepath.Join(base, f.Name), string(f.Data))
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
	total := map[string]int{}
	for _, p := range res.Programs {
		fp, err := extract.Link(u, p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := pta.Analyze(context.Background(), fp, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1})
		if err != nil {
			t.Fatal(err)
		}
		c := map[string]int{}
		pk := map[string]bool{}
		for i := 1; i < len(r.Insts); i++ {
			f := r.Func(pta.InstID(i))
			if f == nil {
				c["nil "+u.FuncName(r.Insts[i].Fn)]++
				continue
			}
			w := " " + f.Pkg
			if len(f.Deeps) > 0 {
				c["deep"+w]++
			}
			if len(f.Reaches) > 0 {
				c["reach"+w]++
			}
			if len(f.News) > 0 {
				c["new"+w]++
			}
			if len(f.Anys) > 0 {
				c["any"+w]++
			}
			if len(f.Ghosts) > 0 {
				c["ghost"+w]++
			}
			if f.Is(facts.FnUnknown) {
				c["unknown"+w]++
			}
			for _, cp := range f.Copies {
				if cp.Unsafe && cp.N > 0 && u.Types[f.Regs[cp.Src].Type].Kind != facts.Map {
					c["unsafe "+f.Name]++
				}
			}
			pk[f.Pkg] = true
		}
		for i := range r.Objs {
			if i == 0 {
				continue
			}
			c[fmt.Sprint("objkind ", r.Objs[i].Kind)]++
			if r.Objs[i].Untyped {
				c["untyped "+u.Types[r.Objs[i].Type].Name]++
			}
		}
		var ks []string
		for k := range c {
			total[k]++
			ks = append(ks, fmt.Sprint(k, "=", c[k]))
		}
		sort.Strings(ks)
		fmt.Println(p.Path, len(r.Insts), len(r.Objs), r.Cells(), len(pk), ks)
	}
	var ks []string
	for k, n := range total {
		ks = append(ks, fmt.Sprintf("%4d %s", n, k))
	}
	sort.Strings(ks)
	fmt.Println(len(res.Programs))
	fmt.Println(strings.Join(ks, "\n"))
}
