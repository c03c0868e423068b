package load

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/models"
)

// Models join packages after the go command listed these: a model is one more
// file of its package, which the go command never hears of. So a package in the
// module cache, where the go command takes no overlay, is modelled as any other.
// What the go command would have done for such a file is done here: its build
// constraints choose it, and its imports join the graph.

// A Model is a model file that joins a package of the programs.
type Model struct {
	models.File
	At       string   // file name in positions: where it is, or would be
	Words    []string // its directives for the whole file, without "bf:"
	Inert    string   // reason why functions of the package without stand-in are inert; "" if they are not
	StandIns []string // what it stands for, "F" or "T.M", in the order of the file

	imports []modelImport
	names   map[string]bool // its markers and helpers
}

type modelImport struct {
	path string
	pos  token.Position
}

// A LeftOut is a package with a built-in model that does not fit the version in
// use. The functions that it stands for are assumed to do the worst.
type LeftOut struct {
	Path string
	Why  string // the first thing that does not fit, with its place
}

// ModelPrefix is the start of the name of a stand-in, and of the file name that
// a built-in model has in its package.
const ModelPrefix = "bf_"

// A modelSet holds the models of a load, by import path; users' come last.
type modelSet map[string][]*Model

// newModelSet reads the models that hold for a build. A user's model that is no
// Go is a *ModelError.
func newModelSet(files []models.File, b *Build) (modelSet, error) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = b.GOOS, b.GOARCH, b.Cgo
	ctx.BuildTags = append(b.Tags[:len(b.Tags):len(b.Tags)], models.Tag)
	ctx.UseAllFiles = false
	if n := goMinor(b.GoVersion); n < 1<<20 {
		ctx.ReleaseTags = nil
		for i := 1; i <= n; i++ {
			ctx.ReleaseTags = append(ctx.ReleaseTags, "go1."+strconv.Itoa(i))
		}
	}
	set := modelSet{}
	for _, user := range []bool{false, true} {
		for _, f := range files {
			if f.User() != user {
				continue
			}
			ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Source)), nil }
			if ok, err := ctx.MatchFile(".", f.Name); err == nil && !ok {
				continue
			}
			m, err := ReadModel(f)
			if err != nil {
				err.GoVersion = b.GoVersion
				return nil, err
			}
			set[f.Path] = append(set[f.Path], m)
		}
	}
	return set, nil
}

// ReadModel reads what a model declares and imports. A file that is no Go, or
// has a directive that there is not, is an error.
func ReadModel(f models.File) (*Model, *ModelError) {
	m := &Model{File: f, At: f.File, names: map[string]bool{}}
	if m.At == "" {
		m.At = f.Path + "/" + ModelPrefix + f.Name
	}
	wrong := func(diags []Diag) *ModelError {
		return &ModelError{Files: []string{shown(m.At)}, User: f.User(), Packages: []string{f.Path}, Diags: diags}
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, m.At, f.Source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, wrong(parseDiags(m.At, err))
	}
	for _, g := range file.Comments {
		for _, c := range g.List {
			rest, ok := strings.CutPrefix(c.Text, "//bf:")
			if !ok || directives[rest] || strings.HasPrefix(rest, "default inert ") && g.End() < file.Package {
				continue
			}
			pos := fset.Position(c.Pos())
			pos.Filename = shown(pos.Filename)
			return nil, wrong([]Diag{{Pos: pos, Msg: "there is no such directive here: " + c.Text}})
		}
	}
	for _, line := range docLines(file) {
		if rest, ok := strings.CutPrefix(line, "//bf:default inert "); ok {
			m.Inert = strings.TrimSpace(rest)
		} else if rest, ok := strings.CutPrefix(line, "//bf:"); ok {
			m.Words = append(m.Words, strings.Fields(rest)...)
		}
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			m.imports = append(m.imports, modelImport{path, fset.Position(spec.Pos())})
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if rest, ok := strings.CutPrefix(d.Name.Name, ModelPrefix); ok {
				m.StandIns = append(m.StandIns, declName(d, rest))
			} else if d.Recv == nil {
				m.names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					m.names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						m.names[n.Name] = true
					}
				}
			}
		}
	}
	return m, nil
}

// directives are those of docs/models.md that hold for one function or a file.
var directives = map[string]bool{"inline": true, "atomic": true, "silent": true}

// docLines returns the lines of the comments above the package clause.
func docLines(f *ast.File) []string {
	var lines []string
	for _, g := range f.Comments {
		if g.End() < f.Package {
			for _, c := range g.List {
				lines = append(lines, c.Text)
			}
		}
	}
	return lines
}

// of returns the models of a package; GOROOT's vendored copies have those of the
// package that they are a copy of.
func (s modelSet) of(p *packages.Package) []*Model {
	return s[strings.TrimPrefix(p.PkgPath, "vendor/")]
}

// split returns the models among list that are built in, and the user's.
func split(list []*Model) (builtIn, user []*Model) {
	for i, m := range list {
		if m.User() {
			return list[:i], list[i:]
		}
	}
	return list, nil
}

// at returns m as it is in the package p: a built-in model's place is beside the
// package's own files.
func (m *Model) at(p *packages.Package) *Model {
	if m.User() {
		return m
	}
	c := *m
	c.At = filepath.Join(p.Dir, ModelPrefix+m.Name)
	return &c
}

// A graph is the packages that the go command listed, by path and by the test
// binary that they were compiled anew for.
type graph struct {
	roots []*packages.Package
	all   []*packages.Package // dependencies first
	byID  map[string]*packages.Package
	byKey map[graphKey]*packages.Package
}

type graphKey struct{ path, forTest string }

func newGraph(roots []*packages.Package) *graph {
	g := &graph{roots: roots, byID: map[string]*packages.Package{}, byKey: map[graphKey]*packages.Package{}}
	g.add(roots)
	return g
}

// add adds roots and what they import, as far as it is new.
func (g *graph) add(roots []*packages.Package) {
	seen := map[*packages.Package]bool{}
	for _, p := range roots {
		closure(p, seen, func(p *packages.Package) {
			if g.byID[p.ID] != nil {
				return
			}
			for path, q := range p.Imports {
				if have := g.byID[q.ID]; have != nil {
					p.Imports[path] = have
				}
			}
			g.all = append(g.all, p)
			g.byID[p.ID] = p
			if g.byKey[graphKey{p.PkgPath, p.ForTest}] == nil {
				g.byKey[graphKey{p.PkgPath, p.ForTest}] = p
			}
		})
	}
}

// find returns the package that an import in a file of p means, or nil.
func (g *graph) find(p *packages.Package, path string) *packages.Package {
	if q := g.byKey[graphKey{path, p.ForTest}]; q != nil {
		return q
	}
	return g.byKey[graphKey{path, ""}]
}

// importPath returns the path by which go list knows what a file of p imports.
func importPath(p *packages.Package, path, goroot string) string {
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && under(p.Dir, filepath.Join(goroot, "src")) {
		return "vendor/" + path
	}
	return path
}

// missing returns the import paths of models that no package of g has, sorted.
func (s modelSet) missing(g *graph, goroot string) []string {
	set := map[string]bool{}
	for _, p := range g.all {
		for _, m := range s.of(p) {
			for _, imp := range m.imports {
				if imp.path == "unsafe" || imp.path == "C" || p.Imports[imp.path] != nil {
					continue
				}
				if path := importPath(p, imp.path, goroot); g.find(p, path) == nil {
					set[path] = true
				}
			}
		}
	}
	var list []string
	for path := range set {
		list = append(list, path)
	}
	sort.Strings(list)
	return list
}

// join adds to each package the imports of its models. What cannot be imported
// is an error of the package.
func (s modelSet) join(g *graph, goroot string) {
	for _, p := range g.all {
		for _, m := range s.of(p) {
			for _, imp := range m.imports {
				if imp.path == "unsafe" || p.Imports[imp.path] != nil {
					continue
				}
				q := g.find(p, importPath(p, imp.path, goroot))
				why := g.refuses(p, q, imp.path)
				if why == "" {
					p.Imports[imp.path] = q
					continue
				}
				pos := imp.pos
				pos.Filename = m.at(p).At
				p.Errors = append(p.Errors, packages.Error{Pos: pos.String(), Msg: why, Kind: packages.TypeError})
			}
		}
	}
}

// refuses returns why a model of p cannot import q by path, or "".
func (g *graph) refuses(p, q *packages.Package, path string) string {
	switch {
	case path == "C":
		return "a model cannot use cgo"
	case q == nil:
		return fmt.Sprintf("there is no package %s for this import (see: go list %s)", path, path)
	}
	if len(q.Errors) > 0 {
		return q.Errors[0].Msg
	}
	below := map[*packages.Package]bool{}
	closure(q, below, func(*packages.Package) {})
	if below[p] {
		return fmt.Sprintf("import cycle: %s imports %s, which imports it", p.PkgPath, path)
	}
	// A package that a test binary compiles anew must not be in that binary
	// under its plain name too, or its variables would be there twice.
	for _, root := range g.roots {
		if !isTestMain(root) {
			continue
		}
		tested := strings.TrimSuffix(root.PkgPath, ".test")
		in := map[*packages.Package]bool{}
		closure(root, in, func(*packages.Package) {})
		if !in[p] {
			continue
		}
		for _, r := range g.all {
			if below[r] && r.ForTest == "" && g.byKey[graphKey{r.PkgPath, tested}] != nil {
				return fmt.Sprintf("%s cannot be imported where %s is tested, which is compiled anew for its tests", path, r.PkgPath)
			}
		}
	}
	return ""
}
