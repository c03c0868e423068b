// Package extract turns type-checked packages into facts.Records. It and
// placement are the only packages that know about go/ssa and syntax.
//
// What may be believed: every SSA instruction and builtin of every function of
// a package, and of the wrappers and generic instances that the package
// induces, becomes rows of its Record. An instruction that is not understood is
// an error with its position, never silence. Control is lowered here once, so
// that no later stage has to know Go's defer, panic and recover (defers.go),
// and variables that closures capture but nobody assigns afterwards are
// captured by value (capture.go), as the compiler does.
package extract

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/load"
)

// Package is one package to extract.
type Package struct {
	ID    string // with variant
	Path  string
	SSA   *ssa.Package
	Types *types.Package
	// Links are its linkname directives: the symbol of a function by local name.
	Links map[string]string
	known *knownFacts // from an earlier run, or nil
}

// Models answers which functions come from models.
type Models interface {
	// File returns the model with the file name, or nil.
	File(name string) *load.Model
	// Inert returns the model that says that functions of a package without
	// stand-in do nothing with what they are handed, or nil.
	Inert(path string) *load.Model
}

// Config is what extraction needs besides the packages.
type Config struct {
	Fset   *token.FileSet
	Sizes  types.Sizes
	Models Models
	// Lowered, if set, is told for each function which registers its SSA values
	// became, so that a client with the SSA form can ask an analysis about them.
	// Constants have no entry, and a free variable that is captured by value has a
	// register that holds the variable's content. Several goroutines call it; regs
	// is the callee's to keep. The ID of f is final once Universe.Add has its
	// Record; a function that several Records define is u.Funcs[f.ID] then.
	Lowered func(fn *ssa.Function, f *facts.Func, regs map[ssa.Value]facts.Reg)
}

// Records extracts pkgs in parallel and returns their records in the order of pkgs.
func Records(prog *ssa.Program, pkgs []Package, cfg Config) ([]*facts.Record, error) {
	kept, err := records(prog, pkgs, cfg)
	if err != nil {
		return nil, err
	}
	recs := make([]*facts.Record, len(kept))
	for i, k := range kept {
		recs[i] = k.Record
	}
	return recs, nil
}

// records extracts pkgs in parallel and returns what is to be known of them in the
// order of pkgs. Cost: linear in the instructions.
func records(prog *ssa.Program, pkgs []Package, cfg Config) ([]*Facts, error) {
	x := &extractor{prog: prog, cfg: cfg, ids: map[*types.Package]string{}, known: map[*types.Package]*knownFacts{}, needs: map[string]bool{}}
	for _, p := range pkgs {
		x.ids[p.Types] = p.ID
		if p.known != nil {
			x.known[p.Types] = p.known
		}
	}
	out := make([]*Facts, len(pkgs))
	errs := make([]error, len(pkgs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				if k := pkgs[i].known; k != nil {
					out[i] = k.facts
				} else {
					out[i], errs[i] = x.record(pkgs[i])
				}
			}
		})
	}
	for i := range pkgs {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if len(x.needs) > 0 {
		return nil, &NeedSourceError{slices.Sorted(maps.Keys(x.needs))}
	}
	return out, nil
}

// An UnknownInstructionError reports an SSA instruction that no rule covers.
type UnknownInstructionError struct {
	Pos   token.Position
	Func  string
	Instr string
}

func (e *UnknownInstructionError) Error() string {
	return fmt.Sprintf("%s: in %s: extraction does not know the instruction %s: this is a bug in bfverify, please report it with this line", e.Pos, e.Func, e.Instr)
}

// extractor is shared by the packages of one call; its maps are guarded.
type extractor struct {
	prog  *ssa.Program
	cfg   Config
	ids   map[*types.Package]string
	names sync.Map // types.Type -> string
	known map[*types.Package]*knownFacts

	mu    sync.Mutex
	needs map[string]bool // for NeedSourceError
}

// builder builds one Record.
type builder struct {
	*extractor
	pkg        Package
	rec        *facts.Record
	types      map[types.Type]facts.TypeID
	typeOf     map[string]facts.TypeID
	funcs      map[*ssa.Function]facts.FuncID
	funcOf     map[string]facts.FuncID
	methods    map[string]facts.MethodID
	globals    map[string]facts.GlobalID
	files      map[string]uint32
	leafN      typeutil.Map // types.Type -> int
	cellN      typeutil.Map
	work       []*ssa.Function
	queued     map[*ssa.Function]bool
	byValue    map[*ssa.FreeVar]bool
	capture    map[*ssa.Alloc]bool
	kernelArgs map[kernelArg]bool // by toKernel
	tables     []tableJob
	out        *Facts          // rec is part of it
	needs      map[string]bool // for Facts.Needs
	err        error
}

// tableJob asks for the method table of a concrete type.
type tableJob struct {
	t  types.Type
	id facts.TypeID
}

func (x *extractor) record(p Package) (*Facts, error) {
	b := &builder{
		extractor: x, pkg: p,
		rec: &facts.Record{
			PkgID: p.ID, Path: p.Path, Name: p.Types.Name(),
			Files: []string{""}, Types: make([]facts.Type, 1), FuncRef: []string{""},
			Methods: []string{""}, Globals: make([]facts.Global, 1),
		},
		types: map[types.Type]facts.TypeID{}, typeOf: map[string]facts.TypeID{},
		funcs: map[*ssa.Function]facts.FuncID{}, funcOf: map[string]facts.FuncID{},
		methods: map[string]facts.MethodID{}, globals: map[string]facts.GlobalID{},
		files: map[string]uint32{"": 0}, queued: map[*ssa.Function]bool{},
		byValue: map[*ssa.FreeVar]bool{}, capture: map[*ssa.Alloc]bool{}, kernelArgs: map[kernelArg]bool{},
		needs: map[string]bool{},
	}
	b.out = &Facts{Record: b.rec}
	if p.SSA == nil {
		return b.out, nil
	}
	names := make([]string, 0, len(p.SSA.Members))
	for n := range p.SSA.Members {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		switch m := p.SSA.Members[n].(type) {
		case *ssa.Function:
			if m.TypeParams().Len() > 0 {
				continue // its instances belong to whoever makes them
			}
			b.enqueue(m)
			id := b.fn(m)
			if m == p.SSA.Func("init") {
				b.rec.Init = id
			}
			b.rec.Exports = append(b.rec.Exports, facts.ExportFn{Name: n, Fn: id})
		case *ssa.Type:
			t := m.Type()
			if _, alias := m.Object().Type().(*types.Alias); alias || isGeneric(t) || types.IsInterface(t) {
				continue
			}
			b.table(t)
			b.table(types.NewPointer(t))
		case *ssa.Global:
			b.global(m)
		}
	}
	b.links()
	b.decls()
	for len(b.work) > 0 || len(b.tables) > 0 {
		for len(b.work) > 0 {
			fn := b.work[len(b.work)-1]
			b.work = b.work[:len(b.work)-1]
			f := b.lower(fn)
			if b.err != nil {
				return nil, b.err
			}
			b.rec.Funcs = append(b.rec.Funcs, f)
		}
		if n := len(b.tables); n > 0 {
			job := b.tables[n-1]
			b.tables = b.tables[:n-1]
			b.fillTable(job)
		}
	}
	sort.Slice(b.rec.Funcs, func(i, j int) bool { return b.rec.Funcs[i].ID < b.rec.Funcs[j].ID })
	b.summarize()
	return b.out, nil
}

func isGeneric(t types.Type) bool {
	n, ok := t.(*types.Named)
	return ok && n.TypeParams().Len() > 0 && n.TypeArgs().Len() == 0
}

// own reports whether fn's facts belong to this record: source functions of
// the package, and everything synthetic that it uses.
func (b *builder) own(fn *ssa.Function) bool {
	top := fn
	for top.Parent() != nil {
		top = top.Parent()
	}
	if top.Origin() != nil || top.Pkg == nil {
		return true
	}
	return top.Pkg == b.pkg.SSA
}

// enqueue asks for fn's facts, and those of the function literals in it.
func (b *builder) enqueue(fn *ssa.Function) {
	if b.queued[fn] || !b.own(fn) {
		return
	}
	b.queued[fn] = true
	b.findCaptures(fn)
	b.work = append(b.work, fn)
}

// fn returns the reference of fn, asking for its facts if they belong here.
func (b *builder) fn(fn *ssa.Function) facts.FuncID {
	if id, ok := b.funcs[fn]; ok {
		return id
	}
	name := b.funcName(fn)
	id, ok := b.funcOf[name]
	if !ok {
		id = facts.FuncID(len(b.rec.FuncRef))
		b.funcOf[name] = id
		b.rec.FuncRef = append(b.rec.FuncRef, name)
		b.funcs[fn] = id
		b.enqueue(fn)
	}
	b.funcs[fn] = id
	return id
}

// funcName gives the stable name of fn.
func (x *extractor) funcName(fn *ssa.Function) string {
	if p := fn.Parent(); p != nil {
		return x.funcName(p) + "$" + strings.TrimPrefix(fn.Name(), p.Name()+"$")
	}
	var s strings.Builder
	sig := fn.Signature
	if o := fn.Origin(); o != nil {
		s.WriteString(x.funcName(o))
		s.WriteByte('[')
		for i, t := range fn.TypeArgs() {
			if i > 0 {
				s.WriteByte(',')
			}
			s.WriteString(x.typeName(t))
		}
		s.WriteByte(']')
		return s.String()
	}
	if fn.Pkg != nil && (fn.Synthetic == "" || fromTypes(fn)) || fn.Synthetic == "package initializer" {
		s.WriteString(x.ids[fn.Pkg.Pkg])
		s.WriteByte('.')
		if r := sig.Recv(); r != nil {
			t, ptr := r.Type(), ""
			if p, ok := types.Unalias(t).(*types.Pointer); ok {
				t, ptr = p.Elem(), "*"
			}
			if n, ok := types.Unalias(t).(*types.Named); ok {
				fmt.Fprintf(&s, "(%s%s).", ptr, n.Obj().Name())
			}
		}
		s.WriteString(fn.Name())
		return s.String()
	}
	// Wrappers, thunks and bound methods: what they are, for which receiver.
	kind, _, _ := strings.Cut(fn.Synthetic, " for ")
	s.WriteString(kind)
	s.WriteByte(' ')
	if r := sig.Recv(); r != nil {
		s.WriteString(x.typeName(r.Type()))
	} else if len(fn.FreeVars) > 0 {
		s.WriteString(x.typeName(fn.FreeVars[0].Type()))
	} else if sig.Params().Len() > 0 {
		s.WriteString(x.typeName(sig.Params().At(0).Type()))
	}
	s.WriteByte('.')
	if o := fn.Object(); o != nil {
		s.WriteString(o.Id()) // unexported names carry their package
	}
	s.WriteByte('.')
	s.WriteString(fn.Name())
	return s.String()
}

// method returns the reference of a method key.
func (b *builder) method(m *types.Func) facts.MethodID {
	key := m.Name()
	if !m.Exported() && m.Pkg() != nil {
		key = b.ids[m.Pkg()] + "." + key
	}
	key += " " + b.sigName(m.Signature())
	id, ok := b.methods[key]
	if !ok {
		id = facts.MethodID(len(b.rec.Methods))
		b.methods[key] = id
		b.rec.Methods = append(b.rec.Methods, key)
	}
	return id
}

func (b *builder) global(g *ssa.Global) facts.GlobalID {
	name := b.ids[g.Pkg.Pkg] + "." + g.Name()
	pos := token.NoPos
	if g.Pkg == b.pkg.SSA { // only its own package says where it is
		pos = g.Pos()
	}
	return b.globalNamed(name, g.Pkg.Pkg.Path(), types.Unalias(g.Type()).(*types.Pointer).Elem(), pos)
}

func (b *builder) globalNamed(name, pkg string, t types.Type, pos token.Pos) facts.GlobalID {
	id, ok := b.globals[name]
	if !ok {
		id = facts.GlobalID(len(b.rec.Globals))
		b.globals[name] = id
		b.rec.Globals = append(b.rec.Globals, facts.Global{})
		b.rec.Globals[id] = facts.Global{Name: name, Pkg: pkg, Type: b.typ(t), Pos: b.pos(pos)}
	}
	return id
}

func (b *builder) pos(p token.Pos) facts.Pos {
	if !p.IsValid() {
		return facts.Pos{}
	}
	q := b.cfg.Fset.Position(p)
	return b.at(q.Filename, q.Line, q.Column)
}

func (b *builder) at(file string, line, col int) facts.Pos {
	id, ok := b.files[file]
	if !ok {
		id = uint32(len(b.rec.Files))
		b.files[file] = id
		b.rec.Files = append(b.rec.Files, file)
	}
	return facts.Pos{File: id, Line: uint32(line), Col: uint32(col)}
}

// modelAt returns the model that pos lies in, or nil.
func (x *extractor) modelAt(pos token.Pos) *load.Model {
	if !pos.IsValid() || x.cfg.Models == nil {
		return nil
	}
	return x.cfg.Models.File(x.cfg.Fset.Position(pos).Filename)
}
