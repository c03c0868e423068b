package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// The stand-in takes the real declaration's name, and the real declaration
// becomes a blank function: still type-checked, so that its imports stay used,
// but called by nobody. So instances of generic functions, methods of embedded
// types and method tables reach the model by the ordinary rules of Go.
//
// A stand-in of a user's makes that of a built-in model blank in the same way.
// Markers and helpers of both may have one name: the user's is given another.

// A fit is what one package and its models make of each other.
type fit struct {
	names  map[string]bool          // all stand-ins
	user   map[string]bool          // those of users
	taken  map[string]bool          // names of built-in models' markers and helpers
	blank  map[string]*ast.FuncDecl // the real declarations, made blank
	stands map[string]*ast.FuncDecl // the stand-ins
}

func newFit(list []*Model) *fit {
	f := &fit{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]*ast.FuncDecl{}, map[string]*ast.FuncDecl{}}
	for _, m := range list {
		for _, name := range m.StandIns {
			f.names[name] = true
			if m.User() {
				f.user[name] = true
			}
		}
		if !m.User() {
			for name := range m.names {
				f.taken[name] = true
			}
		}
	}
	return f
}

// real renames the declarations of a file of the package itself.
func (f *fit) real(file *ast.File) {
	for _, d := range file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok {
			if name := declName(fd, fd.Name.Name); f.names[name] {
				fd.Name.Name = "_"
				f.blank[name] = fd
			}
		}
	}
}

// model renames the declarations of a model.
func (f *fit) model(m *Model, file *ast.File) {
	for _, d := range file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		rest, ok := strings.CutPrefix(fd.Name.Name, ModelPrefix)
		if !ok {
			continue
		}
		if name := declName(fd, rest); !m.User() && f.user[name] {
			fd.Name.Name = "_"
		} else {
			fd.Name.Name = rest
			f.stands[name] = fd
		}
	}
	if m.User() {
		f.rename(file)
	}
}

// ModelSuffix ends the name of a user's marker or helper where a built-in model
// has one of that name.
const ModelSuffix = "\u00b7"

// rename gives other names to what a user's model shares with a built-in one.
// All names in the file that look like them are theirs: nothing else in Go is
// named so, and a selector is left alone.
func (f *fit) rename(file *ast.File) {
	selected := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			selected[n.Sel] = true
		case *ast.Ident:
			if f.taken[n.Name] && !selected[n] {
				n.Name += ModelSuffix
			}
		}
		return true
	})
}

// check reports the stand-ins that do not fit what they stand for. It returns
// those of built-in models that stand for nothing: another version or build may
// have what they are for.
func (f *fit) check(p *packages.Package, list []*Model, report func(pos token.Pos, msg string)) (idle []string) {
	var names []string
	for _, m := range list {
		names = append(names, m.StandIns...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		stand, real := f.stands[name], f.blank[name]
		if stand == nil {
			continue // its file did not parse
		}
		if real == nil {
			if f.user[name] {
				report(stand.Name.Pos(), fmt.Sprintf("there is no %s in %s for this to stand for", declared(name), p.PkgPath))
			} else {
				idle = append(idle, p.PkgPath+" "+name)
			}
			continue
		}
		a, _ := p.TypesInfo.Defs[stand.Name].(*types.Func)
		b, _ := p.TypesInfo.Defs[real.Name].(*types.Func)
		if a == nil || b == nil {
			continue // the type checker has said why
		}
		if got, want := signature(a, p), signature(b, p); !same(a, b) {
			report(stand.Name.Pos(), fmt.Sprintf("this stands for %s, which is %s, but is %s", declared(name), want, got))
		}
	}
	for _, m := range list {
		if m.User() {
			f.markers(p, m, report)
		}
	}
	return idle
}

// markers reports the functions without body in a user's model that are no
// markers: a misspelt one would be assumed to do the worst.
func (f *fit) markers(p *packages.Package, m *Model, report func(pos token.Pos, msg string)) {
	for _, file := range p.Syntax {
		if p.Fset.Position(file.Package).Filename != m.At {
			continue
		}
		for _, d := range file.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body != nil {
				continue
			}
			if name := strings.TrimSuffix(fd.Name.Name, ModelSuffix); !markers[name] {
				report(fd.Name.Pos(), fmt.Sprintf("%s has no body and is no marker (docs/models.md lists them)", name))
			}
		}
	}
}

// IsMarker reports whether a function without body in a model is a marker of
// docs/models.md.
func IsMarker(name string) bool { return markers[name] }

// Markers returns the names of all markers, sorted.
func Markers() []string { return slices.Sorted(maps.Keys(markers)) }

// markers are the functions that facts/extract knows by name.
var markers = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`
		bfAcquire bfRelease bfAdd bfWait bfOnce bfMaybe bfReach bfExported bfStep
		bfStepAll bfPrinted bfPrintRead bfDeepRead bfDeepWrite bfExportedRead
		bfExportedFill bfReadVars bfStoreVars bfReadCells bfRead bfStore bfTypes
		bfTypeParts bfTypeMethods bfTypeOver bfConvert bfAt bfSlice bfNew bfMethods
		bfGhost bfHide bfShow bfCallFunc bfParallel bfTests bfExit bfGoexit bfUnknown`) {
		m[name] = true
	}
	return m
}()

// same reports whether two functions have one type, receiver included.
func same(a, b *types.Func) bool {
	x, y := a.Type().(*types.Signature), b.Type().(*types.Signature)
	switch {
	case x.Recv() == nil && y.Recv() == nil:
		return types.Identical(x, y)
	case x.Recv() == nil || y.Recv() == nil:
		return false
	case x.RecvTypeParams().Len() > 0:
		// Each declaration has type parameters of its own, which must be
		// spelled as the other's.
		return x.String() == y.String() && x.Recv().Type().String() == y.Recv().Type().String()
	}
	return types.Identical(x, y) && types.Identical(x.Recv().Type(), y.Recv().Type())
}

// signature spells the type of f, receiver included.
func signature(f *types.Func, p *packages.Package) string {
	q := types.RelativeTo(p.Types)
	s := types.TypeString(f.Type(), q)
	if r := f.Type().(*types.Signature).Recv(); r != nil {
		s = "a method of " + types.TypeString(r.Type(), q) + ", " + s
	}
	return s
}

// declared names a function or method as its declaration does.
func declared(name string) string {
	if t, m, ok := strings.Cut(name, "."); ok {
		return "method " + m + " of " + t
	}
	return "func " + name
}

// DeclName returns "F" for a declared function and "T.M" for a method.
func DeclName(fd *ast.FuncDecl) string { return declName(fd, fd.Name.Name) }

// declName is DeclName with another last name.
func declName(fd *ast.FuncDecl, name string) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return name
	}
	t := fd.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + name
		default:
			return name
		}
	}
}
