package extract

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/internal/image"
)

// Facts are all that is to be known of a package for programs that use it: its
// record, and what the lowering of its callers asks of its functions' bodies.
type Facts struct {
	Record   *facts.Record
	Recovers []string     // functions that call recover themselves
	Kernel   []kernelName // arguments that functions hand to the kernel
	Needs    []string     // ids of other packages whose generic functions it has instances of
}

type kernelName struct {
	Func string
	Arg  uint32
}

// knownFacts are Facts of an earlier run.
type knownFacts struct {
	facts    *Facts
	source   bool // the package is there from source all the same
	recovers map[string]bool
	kernel   map[kernelName]bool
}

func newKnownFacts(b []byte, source bool) (*knownFacts, error) {
	f, err := image.Decode[Facts](b)
	if err != nil {
		return nil, err
	}
	k := &knownFacts{facts: f, source: source, recovers: map[string]bool{}, kernel: map[kernelName]bool{}}
	for _, name := range f.Recovers {
		k.recovers[name] = true
	}
	for _, name := range f.Kernel {
		k.kernel[name] = true
	}
	return k, nil
}

// Needs returns Facts.Needs of what UniverseKnown has kept.
func Needs(b []byte) []string {
	if f, err := image.Decode[Facts](b); err == nil {
		return f.Needs
	}
	return nil
}

// A NeedSourceError tells that packages which are known have to be there from source:
// they declare generic functions of which there are new instances.
type NeedSourceError struct{ IDs []string }

func (e *NeedSourceError) Error() string {
	return "generic functions are known without bodies, of " + strings.Join(e.IDs, ", ")
}

// fromTypes reports whether go/ssa made fn of export data, without a body.
func fromTypes(fn *ssa.Function) bool {
	return strings.HasPrefix(fn.Synthetic, "from type information")
}

// summaryOf returns what is known of the bodies of fn's package, where fn is there
// without its own; else nil.
func (x *extractor) summaryOf(fn *ssa.Function) *knownFacts {
	if fn.Pkg == nil || fn.Blocks != nil || fn.Parent() != nil || fn.Origin() != nil {
		return nil
	}
	if k := x.known[fn.Pkg.Pkg]; k != nil && !k.source {
		return k
	}
	return nil
}

// source sees to it that a function that this record holds has a body if its source
// has one: go/ssa makes an instance of a generic function that it knows from export
// data alone without one, and says nothing.
func (b *builder) source(fn *ssa.Function) {
	o := fn.Origin()
	if o != nil && o.Pkg != nil && fn.Parent() == nil {
		id := b.ids[o.Pkg.Pkg]
		if o.Pkg != b.pkg.SSA {
			b.needs[id] = true
		}
		if k := b.known[o.Pkg.Pkg]; k != nil && !k.source {
			b.need(id)
			return
		}
	}
	if fn.Blocks != nil {
		return
	}
	if fromTypes(fn) {
		id := ""
		if fn.Object() != nil {
			id = b.ids[fn.Object().Pkg()]
		}
		b.need(id)
		return
	}
	if d, ok := origin(fn).Syntax().(*ast.FuncDecl); ok && d.Body != nil && b.err == nil {
		b.err = fmt.Errorf("%s: %s has a body, but none in SSA form: this is a bug in bfverify", b.cfg.Fset.Position(d.Pos()), b.funcName(fn))
	}
}

func (x *extractor) need(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.needs[id] = true
}

// summarize fills in what other packages' records ask of this package's functions.
func (b *builder) summarize() {
	b.out.Needs = slices.Sorted(maps.Keys(b.needs))
	for _, fn := range slices.SortedFunc(maps.Keys(b.queued), func(x, y *ssa.Function) int {
		return strings.Compare(b.funcName(x), b.funcName(y))
	}) {
		if fn.Pkg != b.pkg.SSA || fn.Parent() != nil || fn.Origin() != nil {
			continue
		}
		name := b.funcName(fn)
		if callsRecover(fn) {
			b.out.Recovers = append(b.out.Recovers, name)
		}
		i := 0
		arg := func(isNumber bool) {
			if isNumber && b.toKernel(fn, i) {
				b.out.Kernel = append(b.out.Kernel, kernelName{name, uint32(i)})
			}
			i++
		}
		if fn.Signature.Recv() != nil {
			arg(numbers(fn.Signature.Recv().Type()))
		}
		for v := range fn.Signature.Params().Variables() {
			arg(numbers(v.Type()))
		}
	}
}
