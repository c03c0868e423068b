package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// A checker parses and type-checks the packages of a graph with their models.
//
// It does what go/packages does with source, and adds the models. Packages are
// checked after what they import, so that a package's types are complete before
// they are used. Errors go to the package's Errors, as go/packages has it.
type checker struct {
	ctx    context.Context
	fset   *token.FileSet
	goroot string
	models modelSet
	parsed func()             // told of each file
	sums   map[string]fileSum // what files held before, or nil
	list   *List
	kept   *kept // or nil

	mu      sync.Mutex
	changed bool // one is not as in sums
	files   map[fileKey]*fileValue
	sources map[string][]byte // content of files, where there is a kept
	used    map[string]*Model // by file name
	left    []LeftOut
	idle    []string
	// idleOf are the idle stand-ins of the last set of models that a package was
	// checked with.
	idleOf map[*packages.Package][]string
}

// fileKey names a parse: packages of one path that test binaries compile anew
// share the trees of the files that they share. Models change a tree, so with
// them it is another.
type fileKey struct{ pkg, file, models string }

type fileValue struct {
	once sync.Once
	file *ast.File
	err  error
}

// check does the work for all packages that roots lead to. It returns early
// when the context is done.
func (c *checker) check(roots []*packages.Package) {
	seen := map[*packages.Package]bool{}
	waits := map[*packages.Package]int{}
	wakes := map[*packages.Package][]*packages.Package{}
	var order []*packages.Package
	for _, p := range roots {
		closure(p, seen, func(p *packages.Package) {
			order = append(order, p)
			imports := map[*packages.Package]bool{}
			for _, q := range p.Imports {
				if !imports[q] {
					imports[q] = true
					waits[p]++
					wakes[q] = append(wakes[q], p)
				}
			}
		})
	}
	// A buffer for all packages, so that no worker waits to hand one on.
	ready := make(chan *packages.Package, len(order))
	var mu sync.Mutex
	left := len(order)
	for _, p := range order {
		if waits[p] == 0 {
			ready <- p
		}
	}
	if left == 0 {
		return
	}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range ready {
				if c.ctx.Err() == nil {
					c.pkg(p)
				}
				mu.Lock()
				for _, q := range wakes[p] {
					if waits[q]--; waits[q] == 0 {
						ready <- q
					}
				}
				if left--; left == 0 {
					close(ready)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// pkg checks one package. Where it has errors with built-in models for a module,
// these are written for another version, and it is checked without those in which
// the errors are, or without them all.
func (c *checker) pkg(p *packages.Package) {
	p.Fset = c.fset
	var state *pkgState
	if c.kept != nil {
		state = c.kept.find(p)
	}
	if p.PkgPath == "unsafe" {
		p.Types, p.TypesInfo = types.Unsafe, newInfo()
		return
	}
	if state != nil && state.known != nil && !c.kept.source[p.ID] {
		c.use(p, state)
		return
	}
	note := Known{}
	listed := len(p.Errors)
	files := p.CompiledGoFiles
	list := c.models.of(p)
	builtIn, user := split(list)
	c.with(p, list)
	if len(p.Errors) > listed && len(builtIn) > 0 && !under(p.Dir, filepath.Join(c.goroot, "src")) {
		why := p.Errors[listed]
		fits := func(m *Model) bool { // as far as errors in the model itself tell
			return m.User() || !slices.ContainsFunc(p.Errors, func(e packages.Error) bool {
				return strings.HasPrefix(e.Pos, m.at(p).At+":")
			})
		}
		some := slices.DeleteFunc(slices.Clone(list), func(m *Model) bool { return !fits(m) })
		for _, fewer := range [][]*Model{some, user} {
			if len(fewer) < len(list) && len(p.Errors) > listed { // each set has another size, and with it other trees
				p.Errors, p.TypeErrors, p.CompiledGoFiles = p.Errors[:listed:listed], nil, files
				list = fewer
				c.with(p, list)
			}
		}
		if len(p.Errors) == listed {
			c.mu.Lock()
			note.LeftOut = []LeftOut{{Path: p.PkgPath, Why: why.Pos + ": " + why.Msg}}
			c.left = append(c.left, note.LeftOut...)
			c.mu.Unlock()
		}
	}
	c.mu.Lock()
	for _, m := range list {
		note.Models = append(note.Models, m.ref())
		m = m.at(p)
		c.used[m.At] = m
	}
	note.Idle = c.idleOf[p]
	c.idle = append(c.idle, note.Idle...)
	c.mu.Unlock()
	if state != nil {
		if state.known == nil && !p.IllTyped && len(p.Errors) == 0 && c.ctx.Err() == nil {
			note.API = c.api(p, &note)
			state.api = note.API
		}
		state.note = note
	}
}

// with checks p with the models in list.
func (c *checker) with(p *packages.Package, list []*Model) {
	fit := newFit(list)
	p.Types = types.NewPackage(p.PkgPath, p.Name)
	p.TypesInfo = newInfo()
	p.Syntax = nil
	report := func(err error) { c.report(p, err) }
	with := "" // which models change the trees
	if len(list) > 0 {
		with = fmt.Sprint(len(list), " ", p.ID) // of this package alone
	}
	for _, name := range p.CompiledGoFiles {
		f, err := c.parse(fileKey{p.PkgPath, name, with}, nil)
		if err != nil {
			report(err)
		}
		if f != nil {
			fit.real(f)
			p.Syntax = append(p.Syntax, f)
		}
	}
	files := p.CompiledGoFiles[:len(p.CompiledGoFiles):len(p.CompiledGoFiles)]
	for _, m := range list {
		at := m.at(p)
		f, err := c.parse(fileKey{p.PkgPath, at.At, with}, m.Source)
		if err != nil {
			report(err)
		}
		if f != nil {
			fit.model(m, f)
			p.Syntax = append(p.Syntax, f)
			files = append(files, at.At)
		}
	}
	p.CompiledGoFiles = files
	if c.ctx.Err() != nil {
		return
	}
	conf := &types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			q := p.Imports[path]
			if q == nil {
				return nil, fmt.Errorf("the go command did not list %s", path)
			}
			return c.typesOf(q)
		}),
		Error: report,
		Sizes: p.TypesSizes,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	err := types.NewChecker(conf, c.fset, p.Types, p.TypesInfo).Files(p.Syntax)
	if err != nil && len(p.Errors) == 0 {
		report(err) // one that was not reported, or the package would pass for right
	}
	idle := fit.check(p, list, func(pos token.Pos, msg string) {
		report(types.Error{Fset: c.fset, Pos: pos, Msg: msg})
	})
	c.mu.Lock()
	c.idleOf[p] = idle
	c.mu.Unlock()
	p.IllTyped = len(p.Errors) > 0
	for _, q := range p.Imports {
		p.IllTyped = p.IllTyped || q.IllTyped
	}
}

// report adds an error of the parser or the type checker to p.
func (c *checker) report(p *packages.Package, err error) {
	add := func(pos string, msg string, kind packages.ErrorKind) {
		p.Errors = append(p.Errors, packages.Error{Pos: pos, Msg: msg, Kind: kind})
	}
	switch err := err.(type) {
	case *os.PathError:
		add(err.Path+":1", err.Err.Error(), packages.ParseError)
	case scanner.ErrorList:
		for _, e := range err {
			add(e.Pos.String(), e.Msg, packages.ParseError)
		}
	case types.Error:
		p.TypeErrors = append(p.TypeErrors, err)
		add(err.Fset.Position(err.Pos).String(), err.Msg, packages.TypeError)
	default:
		// The type checker refuses a package for a newer Go in words alone.
		pos := "-"
		if len(p.Syntax) > 0 {
			pos = c.fset.Position(p.Syntax[0].Package).String()
		}
		add(pos, err.Error(), packages.TypeError)
	}
}

// parse parses a file once for each key; src is that of a model, nil otherwise.
func (c *checker) parse(key fileKey, src []byte) (*ast.File, error) {
	c.mu.Lock()
	v := c.files[key]
	if v == nil {
		v = &fileValue{}
		c.files[key] = v
	}
	c.mu.Unlock()
	v.once.Do(func() {
		// Parsing most files of the program comes before checking most of it,
		// so this is where a cancelled run stops.
		if err := c.ctx.Err(); err != nil {
			v.err = &os.PathError{Op: "parse", Path: key.file, Err: err}
			return
		}
		c.parsed()
		if src == nil {
			if src, v.err = os.ReadFile(key.file); v.err != nil {
				return
			}
			if c.sums != nil && c.sums[key.file] != sha256.Sum256(src) {
				c.mu.Lock()
				c.changed = true
				c.mu.Unlock()
			}
		}
		if c.kept != nil {
			c.mu.Lock()
			c.sources[key.file] = src
			c.mu.Unlock()
		}
		v.file, v.err = parser.ParseFile(c.fset, key.file, src, parser.ParseComments|parser.AllErrors|parser.SkipObjectResolution)
	})
	return v.file, v.err
}

// tell puts what became of the models into r.
func (c *checker) tell(r *Result) {
	has := map[string]bool{} // users' models
	for _, m := range c.used {
		r.Models = append(r.Models, m)
		has[m.Path] = has[m.Path] || m.User()
	}
	sort.Slice(r.Models, func(i, j int) bool { return r.Models[i].At < r.Models[j].At })
	slices.Sort(c.idle)
	r.Idle = slices.Compact(c.idle)
	seen := map[string]bool{}
	for _, l := range c.left { // once for a package and its test variants
		if !seen[l.Path] {
			seen[l.Path] = true
			r.LeftOut = append(r.LeftOut, l)
		}
	}
	sort.Slice(r.LeftOut, func(i, j int) bool { return r.LeftOut[i].Path < r.LeftOut[j].Path })
	for path, list := range c.models {
		if _, user := split(list); len(user) > 0 && !has[path] {
			r.Unused = append(r.Unused, path)
		}
	}
	sort.Strings(r.Unused)
}

// importer is a types.Importer that is a function.
type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

func newInfo() *types.Info {
	return &types.Info{
		Types:        make(map[ast.Expr]types.TypeAndValue),
		Defs:         make(map[*ast.Ident]types.Object),
		Uses:         make(map[*ast.Ident]types.Object),
		Implicits:    make(map[ast.Node]types.Object),
		Instances:    make(map[*ast.Ident]types.Instance),
		Scopes:       make(map[ast.Node]*types.Scope),
		Selections:   make(map[*ast.SelectorExpr]*types.Selection),
		FileVersions: make(map[*ast.File]string),
	}
}
