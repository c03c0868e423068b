package extract

import (
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// spellings are types that are identical though spelled differently, and types
// that differ though they look alike.
const spellings = `package p

type (
	a1 = []byte
	a2 = []uint8
	a3 = func(rune, ...interface{}) error
	a4 = func(x int32, y ...any) (err error)
	a5 = func(int32, []any) error
	a6 = struct{ x byte }
	a7 = struct{ x uint8 }
	a8 = struct{ x byte "tag" }
	a9 = struct{ X byte }
	b1 = interface{ M(byte); N() }
	b2 = interface{ N(); M(uint8) }
	b3 = interface{ N(); interface{ M(x uint8) } }
	b4 = interface{ m(byte); N() }
	c1 = chan (<-chan int)
	c2 = (chan<- chan int)
	c3 = chan<- (chan int)
	d1 = gen[byte, rune]
	d2 = gen[uint8, int32]
	d3 = gen[int32, uint8]
	e1 = map[any]alias
	e2 = map[interface{}][]*gen[rune, any]
	f1 = [3]alias
	f2 = [4]alias
)

type gen[K, V any] struct { k K; v V }
type alias = []*gen[int32, interface{}]
type galias[T comparable] = map[T]byte
type g1 = galias[rune]
type g2 = map[int32]uint8

func local1() any { type t struct{ n int }; return new(t) }
func local2() any { type t struct{ n int }; return new(t) }
`

// TestTypeNames holds names of types to identity: two types have one name if
// and only if they are identical. Types are compared by name everywhere after
// extraction, so that a second name would hide flows.
func TestTypeNames(t *testing.T) {
	dir := t.TempDir()
	cfg := &packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Overlay: map[string][]byte{
		dir + "/go.mod": []byte("module p\n\ngo 1.26\n"), dir + "/p.go": []byte(spellings),
	}}
	pkgs, err := packages.Load(cfg, "p", "net/http", "encoding/json", "go/types", "slices", "maps", "iter", "sync/atomic")
	if err != nil {
		t.Fatal(err)
	}
	x := &extractor{cfg: Config{}, ids: map[*types.Package]string{}}
	var infos []*types.Info
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			t.Error(e)
		}
		x.ids[p.Types] = p.ID
		x.cfg.Fset = p.Fset
		infos = append(infos, p.TypesInfo)
	})
	byType := new(typeutil.Map) // name by identity
	byName := map[string]types.Type{}
	hasher := typeutil.MakeHasher()
	byType.SetHasher(hasher)
	n := 0
	check := func(u types.Type) {
		if u == nil || open(u, map[types.Type]bool{}) {
			return
		}
		if b, ok := u.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 || ok && b.Kind() == types.Invalid {
			return
		}
		name := x.typeName(u)
		if old, ok := byType.At(u).(string); ok && old != name {
			t.Errorf("one type has two names: %s and %s", old, name)
		}
		if old := byName[name]; old != nil && !types.Identical(old, u) {
			t.Errorf("two types have one name, %s: %v and %v", name, old, u)
		}
		byType.Set(u, name)
		byName[name] = u
		n++
	}
	for _, info := range infos {
		for _, tv := range info.Types {
			check(tv.Type)
		}
		for _, o := range info.Defs {
			if o != nil {
				check(o.Type())
			}
		}
		for _, i := range info.Instances {
			check(i.Type)
		}
	}
	if n < 10000 || len(byName) < 1000 {
		t.Errorf("%d types with %d names are too few to tell", n, len(byName))
	}
	if a, b := byName["struct{p.x uint8;}"], byName["struct{p.x uint8\"tag\";}"]; a == nil || b == nil {
		var like []string
		for k := range byName {
			if strings.HasPrefix(k, "struct{p.x") {
				like = append(like, k)
			}
		}
		t.Errorf("the types of package p were not seen, only %q", like)
	}
}

// open reports whether a type mentions a type parameter.
func open(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.TypeParam, *types.Union:
		return true
	case *types.Alias:
		return open(types.Unalias(t), seen)
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			if open(t.TypeArgs().At(i), seen) {
				return true
			}
		}
		if t.TypeParams().Len() > 0 && t.TypeArgs().Len() == 0 {
			return true // the generic type itself
		}
		// A type declared in a generic function depends on its parameters.
		if o := t.Obj(); o.Pkg() != nil && o.Parent() != o.Pkg().Scope() {
			return open(t.Underlying(), seen)
		}
	case interface{ Elem() types.Type }:
		if m, ok := t.(*types.Map); ok && open(m.Key(), seen) {
			return true
		}
		return open(t.Elem(), seen)
	case *types.Struct:
		for i := range t.NumFields() {
			if open(t.Field(i).Type(), seen) {
				return true
			}
		}
	case *types.Tuple:
		for i := range t.Len() {
			if open(t.At(i).Type(), seen) {
				return true
			}
		}
	case *types.Signature:
		return t.TypeParams().Len() > 0 || t.RecvTypeParams().Len() > 0 || open(t.Params(), seen) || open(t.Results(), seen)
	case *types.Interface:
		for i := range t.NumMethods() {
			if open(t.Method(i).Type(), seen) {
				return true
			}
		}
		for i := range t.NumEmbeddeds() {
			if open(t.EmbeddedType(i), seen) {
				return true
			}
		}
	}
	return false
}
