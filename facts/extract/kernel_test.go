package extract

import (
	"go/types"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// TestToKernel holds what is found about numbers that are handed to the kernel: by
// function, the parameters that it passes on, and whether a number from elsewhere
// is an assumption.
func TestToKernel(t *testing.T) {
	dir := t.TempDir()
	cfg := &packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Overlay: map[string][]byte{
		dir + "/go.mod": []byte("module p\n\ngo 1.26\n"), dir + "/p.s": {}, dir + "/p.go": []byte(kernelCalls),
	}}
	pkgs, err := packages.Load(cfg, "p")
	if err != nil {
		t.Fatal(err)
	}
	prog, ssas := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	b := &builder{extractor: &extractor{}, kernelArgs: map[kernelArg]bool{}}
	for name, want := range map[string][]bool{
		"asm": {true, true}, "asmMany": {true, true}, "once": {false, true}, "sum": {true, true, true}, "many": {true}, "first": {true},
		"counts": {false}, "itself": {true}, "first2": {true}, "unused": {false},
	} {
		fn := ssas[0].Func(name)
		var got []bool
		for i, p := range fn.Params {
			got = append(got, numbers(p.Type()) && b.toKernel(fn, i))
		}
		if fn.Blocks == nil {
			got = nil
			for i := range fn.Signature.Params().Len() {
				got = append(got, b.toKernel(fn, i))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s hands on %v, want %v", name, got, want)
		}
	}
	x := &extractor{prog: prog, cfg: Config{Fset: prog.Fset, Sizes: types.SizesFor("gc", "amd64")}, ids: map[*types.Package]string{}, needs: map[string]bool{}}
	packages.Visit(pkgs, nil, func(p *packages.Package) { x.ids[p.Types] = p.ID })
	rec, err := x.record(Package{ID: "p", Path: "p", SSA: ssas[0], Types: pkgs[0].Types})
	if err != nil {
		t.Fatal(err)
	}
	assumed := map[string]int{}
	for _, f := range rec.Record.Funcs {
		assumed[f.Name] = len(f.Unknown)
	}
	for name, want := range map[string]int{"p.loads": 1, "p.sums": 0, "p.descriptor": 0, "p.constant": 0, "p.length": 0, "p.many": 0} {
		if assumed[name] != want {
			t.Errorf("%s rests on %d assumptions, want %d", name, assumed[name], want)
		}
	}
}

const kernelCalls = `package p

import "unsafe"

func asm(n, p uintptr)
func asmMany(n uintptr, ps ...uintptr)

func once(n, p uintptr)           { asm(1, p); _ = n }
func sum(n, p, q uintptr)         { asm(n, p+q) }
func many(ps ...uintptr)          { asmMany(1, ps...) }
func first(ps ...uintptr)         { asm(1, ps[0]) }
func first2(p uintptr)            { first(p, 1) }
func counts(p uintptr) uintptr    { return p % 8 }
func itself(p uintptr)            { if p > 8 { itself(p - 8) } }
func unused(p uintptr)            { asm(1, 2) }

var kept uintptr

type file struct{ fd uintptr }

func (f file) Fd() uintptr { return f.fd }

type fder interface{ Fd() uintptr }

func loads()             { asm(1, kept) }
func sums(p *int)        { asm(1, uintptr(unsafe.Pointer(p))+kept) }
func descriptor(f fder)  { asm(f.Fd(), 0) }
func constant()          { asm(1, 2) }
func length(b []byte)    { asm(1, uintptr(len(b))) }
`
