package extract

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// TestFuncNames holds names of functions to identity: what has a body of its
// own has a name of its own, wrappers and instances included, or two functions
// would be taken for one.
func TestFuncNames(t *testing.T) {
	dir := t.TempDir()
	cfg := &packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Overlay: map[string][]byte{
		dir + "/go.mod": []byte("module p\n\ngo 1.26\n"), dir + "/p.go": []byte(wrappers),
	}}
	pkgs, err := packages.Load(cfg, "p", "net/http", "encoding/json", "go/types")
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	x := &extractor{prog: prog, cfg: Config{Fset: prog.Fset}, ids: map[*types.Package]string{}}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			t.Error(e)
		}
		x.ids[p.Types] = p.ID
	})
	byName := map[string]*ssa.Function{}
	for fn := range ssautil.AllFunctions(prog) {
		if len(fn.Blocks) == 0 || fn.Name() == "_" || abstract(fn) {
			continue // declared only, never called, or not run as it is
		}
		name := x.funcName(fn)
		if old := byName[name]; old != nil && old.String() != fn.String() {
			t.Errorf("two functions have one name, %s: %v and %v", name, old, fn)
		} else if old != nil && !types.Identical(old.Signature, fn.Signature) {
			t.Errorf("two functions have one name, %s: with %v and %v", name, old.Signature, fn.Signature)
		}
		byName[name] = fn
	}
	if len(byName) < 5000 {
		t.Errorf("%d functions are too few to tell", len(byName))
	}
}

// abstract reports whether a function is the body of a generic one, or an
// instance that such a body calls: they run through other instances only.
func abstract(fn *ssa.Function) bool {
	for ; fn != nil; fn = fn.Parent() {
		if fn.TypeParams().Len() > len(fn.TypeArgs()) {
			return true
		}
		for _, t := range fn.TypeArgs() {
			if open(t, map[types.Type]bool{}) {
				return true
			}
		}
	}
	return false
}

const wrappers = `package p

type in struct{ n int }

func (i in) get() int   { return i.n }
func (i *in) set(n int) { i.n = n }

type mid struct{ *in }
type out struct{ mid }
type out2 struct{ in }

type getter interface{ get() int }

type list[T any] struct{ v []T }

func (l *list[T]) add(x T)            { l.v = append(l.v, x) }
func (l list[T]) each(f func(T))      { for _, x := range l.v { func() { f(x) }() } }
func apply[T, U any](x T, f func(T) U) U { return func() U { return f(x) }() }

func init() { println(1) }
func init() { println(2) }

type local interface{ m() int }

func a() local { type t struct{ in }; return w{t{}.get} }
func b() local { type t struct{ in }; return w{(&t{}).get} }

type w struct{ f func() int }

func (x w) m() int { return x.f() }

var (
	f1 = in.get
	f2 = (*in).get
	f3 = (*in).set
	f4 = out.get
	f5 = (*out).set
	f6 = out2.get
	f7 = getter.get
	f8 = new(out).get
	f9 = getter(in{}).get
	g1 = (*list[byte]).add
	g2 = (*list[rune]).add
	g3 = list[int32].each
	g4 = apply[byte, rune]
	g5 = apply[uint8, []int32]
	e1 any = out{}
	e2 any = &out2{}
	e3 any = struct{ in }{}
	e4 any = struct{ *in }{}
)
`
