package progen

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Program is a type-checked program of the subset, compiled for the
// interpreter. It does not change once made.
type Program struct {
	Name string // idioms and mutations that made it, or the name given to Parse
	Seed uint64 // argument of Generate, or 0

	src  string // whole file, in gofmt's form
	body string // src without package clause, imports, maybe and use
	fset *token.FileSet
	file *ast.File
	info *types.Info
	pkg  *types.Package
	mach *machine
}

// An Access is one place in the source that reads or writes shared memory or
// operates on a synchronisation object.
type Access struct {
	ID   int
	Line int
	Kind Kind
	Expr string // the location as the source names it
}

// Kind says what an access does.
type Kind uint8

const (
	Read        Kind = iota // plain load
	Write                   // plain store
	AtomicRead              // load through sync/atomic
	AtomicWrite             // store or read-modify-write through sync/atomic
	SyncOp                  // operation on a mutex, Once or WaitGroup, as a user of its memory
	AddFromZero             // WaitGroup.Add of a positive number to a zero counter
	WaitOp                  // WaitGroup.Wait
	SendOp                  // channel send
	CloseOp                 // channel close
)

var kindNames = [...]string{"read", "write", "atomic read", "atomic write", "sync", "add", "wait", "send", "close"}

// String names the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// String shows the access as, for instance, "12: write of p.n".
func (a Access) String() string { return fmt.Sprintf("%d: %s of %s", a.Line, a.Kind, a.Expr) }

// builtins is the text of the two functions every program may use. A select
// with two ready cases picks either, so no analysis can know the result.
const builtins = `
func maybe() bool {
	yes, no := make(chan bool, 1), make(chan bool, 1)
	yes <- true
	no <- false
	select {
	case b := <-yes:
		return b
	case b := <-no:
		return b
	}
}

//go:noinline
func use(int) {}
`

// Parse reads a program. The text may lack the package clause, the imports and
// the functions maybe and use; what it lacks and needs is added. A parse or type error, or a
// construct outside the subset, is reported with its line.
func Parse(name, text string) (*Program, error) {
	return parse(name, stripHeader(text))
}

// parse makes a program of declarations without header and builtins.
func parse(name, body string) (*Program, error) {
	body, err := normalise(body)
	if err != nil {
		return nil, err
	}
	p := &Program{Name: name, body: body}
	p.src = assemble(p.body)
	p.fset = token.NewFileSet()
	p.file, err = parser.ParseFile(p.fset, "main.go", p.src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	p.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
		Instances:  map[*ast.Ident]types.Instance{},
	}
	conf := types.Config{Importer: stubs{}, GoVersion: "go1.26"}
	p.pkg, err = conf.Check("main", p.fset, []*ast.File{p.file}, p.info)
	if err != nil {
		return nil, err
	}
	p.mach, err = compile(p)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// normalise brings declarations to the form that Source shows.
func normalise(body string) (string, error) {
	formatted, err := format.Source([]byte(strings.TrimSpace(body) + "\n"))
	return squeeze(string(formatted)), err
}

// assemble adds to body the header that it needs.
func assemble(body string) string {
	var b strings.Builder
	b.WriteString("package main\n\n")
	needSync, needAtomic := strings.Contains(body, "sync."), strings.Contains(body, "atomic.")
	switch {
	case needSync && needAtomic:
		b.WriteString("import (\n\t\"sync\"\n\t\"sync/atomic\"\n)\n\n")
	case needSync:
		b.WriteString("import \"sync\"\n\n")
	case needAtomic:
		b.WriteString("import \"sync/atomic\"\n\n")
	}
	b.WriteString(body)
	maybe, use, _ := strings.Cut(builtins, "\n\n")
	if strings.Contains(body, "maybe()") {
		b.WriteString(maybe + "\n")
	}
	if strings.Contains(body, "use(") {
		b.WriteString("\n" + use)
	}
	return b.String()
}

// stripHeader removes from text what assemble adds.
func stripHeader(text string) string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return text // no package clause: nothing to remove, or the error comes again
	}
	off := func(p token.Pos) int { return fset.Position(p).Offset }
	type span struct{ from, to int }
	cuts := []span{{0, off(f.Name.End())}}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				cuts = append(cuts, span{off(d.Pos()), off(d.End())})
			}
		case *ast.FuncDecl:
			if d.Recv == nil && (d.Name.Name == "maybe" || d.Name.Name == "use") {
				from := d.Pos()
				if d.Doc != nil {
					from = d.Doc.Pos()
				}
				cuts = append(cuts, span{off(from), off(d.End())})
			}
		}
	}
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		b.WriteString(text[at:c.from])
		at = c.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// Source returns the program as one file of package main, in gofmt's form.
func (p *Program) Source() string { return p.src }

// Accesses lists the accesses of the program in the order of their numbers,
// which is that of the compiled source and the same on every run.
func (p *Program) Accesses() []Access { return p.mach.accs }

// Access returns the access with number id.
func (p *Program) Access(id int) Access { return p.mach.accs[id] }

// Lines returns the pairs of lines of some pairs of accesses, the smaller line first,
// sorted, each once.
func (p *Program) Lines(pairs []Pair) [][2]int {
	var out [][2]int
	for _, pair := range pairs {
		a, b := p.Access(pair.A).Line, p.Access(pair.B).Line
		out = append(out, [2]int{min(a, b), max(a, b)})
	}
	slices.SortFunc(out, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(out)
}

// Batch writes one main package for each seed, dir/pSEED/main.go, in one module,
// so that one run of a tool loads all of them. It returns the programs in order.
func Batch(dir string, seeds []uint64, cfg Config) ([]*Program, error) {
	var progs []*Program
	var names []string
	for _, seed := range seeds {
		progs = append(progs, Generate(seed, cfg))
		names = append(names, fmt.Sprintf("p%04d", seed))
	}
	return progs, WriteModule(dir, names, progs)
}

// WriteModule writes each program as the main package of dir/name, in one module.
func WriteModule(dir string, names []string, progs []*Program) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module gen\n\ngo 1.26\n"), 0o666); err != nil {
		return err
	}
	for i, p := range progs {
		sub := filepath.Join(dir, names[i])
		if err := os.MkdirAll(sub, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(sub, "main.go"), []byte(p.Source()), 0o666); err != nil {
			return err
		}
	}
	return nil
}
