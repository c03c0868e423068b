package extract_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A module is a small program whose parts can be edited one by one. What packages use
// of each other is of every kind that extraction looks at: types, constants, generic
// functions and types, methods through embedding, functions that recover or hand
// numbers to the kernel, linkname directives, variables.
type module struct {
	lines  [4]int // blank lines at the top of a, b, c, main
	bodies [4]int // what a function of each computes
	field  bool   // a.T has one more field
	konst  int    // a.K
	order  bool   // the fields of a.T are in another order
	generi int    // the body of b.Map
	count  bool   // b.Box has one more method
	rename bool   // a.Do has another name
	second bool   // there is a second file in b
	tag    bool   // a file with a build tag is in c
	using  int    // which package of std main imports besides
	recovr bool   // a.Rescue recovers
	kernel bool   // a.Call hands its argument to the kernel
	linked bool   // c has a function that a gives it
	inst   int    // which instances main makes
	cmain  bool   // main imports c
	tests  int    // test files of b: none, one, an external one
}

// edits change one thing each.
var edits = []struct {
	name string
	do   func(m *module, rnd *rand.Rand)
}{
	{"lines", func(m *module, r *rand.Rand) { m.lines[r.IntN(4)] = r.IntN(5) }},
	{"body of a", func(m *module, r *rand.Rand) { m.bodies[0]++ }},
	{"body of b", func(m *module, r *rand.Rand) { m.bodies[1]++ }},
	{"body of c", func(m *module, r *rand.Rand) { m.bodies[2]++ }},
	{"body of main", func(m *module, r *rand.Rand) { m.bodies[3]++ }},
	{"field", func(m *module, r *rand.Rand) { m.field = !m.field }},
	{"constant", func(m *module, r *rand.Rand) { m.konst++ }},
	{"order of fields", func(m *module, r *rand.Rand) { m.order = !m.order }},
	{"generic body", func(m *module, r *rand.Rand) { m.generi++ }},
	{"method of a generic type", func(m *module, r *rand.Rand) { m.count = !m.count }},
	{"rename", func(m *module, r *rand.Rand) { m.rename = !m.rename }},
	{"file", func(m *module, r *rand.Rand) { m.second = !m.second }},
	{"tagged file", func(m *module, r *rand.Rand) { m.tag = !m.tag }},
	{"dependency", func(m *module, r *rand.Rand) { m.using = r.IntN(4) }},
	{"recover", func(m *module, r *rand.Rand) { m.recovr = !m.recovr }},
	{"kernel", func(m *module, r *rand.Rand) { m.kernel = !m.kernel }},
	{"linkname", func(m *module, r *rand.Rand) { m.linked = !m.linked }},
	{"instances", func(m *module, r *rand.Rand) { m.inst = r.IntN(4) }},
	{"import", func(m *module, r *rand.Rand) { m.cmain = !m.cmain }},
	{"tests", func(m *module, r *rand.Rand) { m.tests = r.IntN(3) }},
}

func when(ok bool, text string) string {
	if ok {
		return text
	}
	return ""
}

// files renders the module.
func (m *module) files() map[string]string {
	do := "Do"
	if m.rename {
		do = "Make"
	}
	fields := "\tN int\n\tp *int\n"
	if m.order {
		fields = "\tp *int\n\tN int\n"
	}
	head := func(i int, name string) string {
		return "// Package " + name + " is edited.\n" + strings.Repeat("\n", m.lines[i]) + "package " + name + "\n\n"
	}
	body := func(i int) string { return fmt.Sprintf("\tx := %d\n\t_ = x\n", m.bodies[i]) }
	f := map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n"}
	f["a/a.go"] = head(0, "a") + `import (
	"sync"
	_ "unsafe"
)

const K = ` + fmt.Sprint(m.konst) + `

type T struct {
` + fields + when(m.field, "\tq map[string]*T\n") + `}

var V = &T{}

var mu sync.Mutex

func (t *T) Set(p *int) { mu.Lock(); t.p = p; mu.Unlock() }
func (t *T) hidden() *int { return t.p }
func (t T) Get() *int { return t.p }

type I interface{ Get() *int }

type U struct{ I }

type J = interface{ Get() *int }

type W struct{ J }

func ` + do + `() *T {
` + body(0) + `	return V
}

func Rescue() {
` + when(m.recovr, "\trecover()\n") + `}

func asm(n uintptr)

func Call(n uintptr) {
` + when(m.kernel, "\tasm(n)\n") + `}

//go:linkname give example.com/m/c.taken
func give(p **int) *int { return *p }
`
	f["a/a.s"] = ""
	f["b/b.go"] = head(1, "b") + `import (
	"example.com/m/a"
	"sync/atomic"
)

type E struct {
	*a.T
	a.U
	n atomic.Pointer[int]
}

type Box[X any] struct {
	x X
	n atomic.Int64
}

func (b *Box[X]) Put(x X) { b.x = x; b.n.Add(1) }
func (b *Box[X]) Get() X { return b.x }
` + when(m.count, "func (b *Box[X]) Count() int64 { return b.n.Load() }\n") + `
func Map[X, Y any](xs []X, f func(X) Y) []Y {
	type local struct{ y Y }
	var ys []local
	for _, x := range xs {
		ys = append(ys, local{f(x)})
	}
	out := make([]Y, ` + fmt.Sprint(m.generi) + `)
	for _, y := range ys {
		out = append(out, y.y)
	}
	return out
}

func New(p *int) *E {
` + body(1) + `	e := &E{T: a.` + do + `()}
	e.n.Store(p)
	defer a.Rescue()
	return e
}
`
	if m.second {
		f["b/second.go"] = "package b\n\nfunc init() { Second = New(nil) }\n\nvar Second *E\n"
	}
	f["c/c.go"] = head(2, "c") + `import (
	"example.com/m/a"
	"unsafe"
)

type F func(*a.T)

type S struct {
	*a.W
	name [a.K + 1]*int
}

func Run(f F) (s S) {
	defer a.Rescue()
` + body(2) + `	f(a.V)
	p := new(int)
	a.Call(uintptr(unsafe.Pointer(p)))
	a.V.Set(p)
	s.name[a.K] = a.V.Get()
	return s
}
` + when(m.linked, "\nfunc taken(p **int) *int\n\nfunc Taken(p *int) *int { return taken(&p) }\n")
	f["c/c.s"] = ""
	if m.tag {
		f["c/tagged.go"] = "//go:build extra\n\npackage c\n\nvar Extra = new(int)\n"
	}
	uses := []string{"", "\t\"errors\"\n", "\t\"slices\"\n", "\t\"strconv\"\n"}
	use := []string{"", "\t_ = errors.New(\"x\")\n", "\tslices.Sort([]int{2, 1})\n", "\t_ = strconv.Itoa(a.K)\n"}
	insts := []string{"", "\t_ = b.Map([]int{1}, func(i int) *int { return &i })\n",
		"\tvar box b.Box[*a.T]\n\tbox.Put(a.V)\n\tvar i interface{ Get() *a.T } = &box\n\ti.Get()\n",
		"\tvar bs struct{ b.Box[b.Box[int]] }\n\t_ = any(&bs)\n"}
	f["main.go"] = head(3, "main") + `import (
` + uses[m.using] + `	"example.com/m/a"
	"example.com/m/b"
` + when(m.cmain, "\t\"example.com/m/c\"\n") + `)

type both struct {
	*b.E
	extra int
}

func main() {
` + body(3) + use[m.using] + insts[m.inst] + `	p := new(int)
	e := both{E: b.New(p)}
	go e.Set(p)
	var g interface{ Set(*int) } = e
	g.Set(e.T.Get())
	h := e.Set
	h(p)
	(*b.E).Set(e.E, p)
	_ = a.V
` + when(m.cmain, "\tc.Run(func(t *a.T) { t.N++ })\n") + `}
`
	if m.tests > 0 {
		f["b/b_test.go"] = "package b\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { t.Parallel(); New(new(int)).Set(nil) }\n\nfunc helper() *E { return New(nil) }\n\nvar Helper = helper\n"
	}
	if m.tests > 1 {
		f["b/x_test.go"] = "package b_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/b\"\n)\n\nfunc TestX(t *testing.T) { b.Helper().Set(nil); var x b.Box[int]; x.Put(1) }\n"
	}
	return f
}
