package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sort"
	"strings"
)

// standIns holds, by directory, the declarations that model files stand in
// for: "F" for functions, "T.M" for methods.
//
// The stand-in takes the real declaration's name, and the real declaration
// becomes a blank function: still type-checked, so that its imports stay used,
// but called by nobody. So instances of generic functions, methods of embedded
// types and method tables reach the model by the ordinary rules of Go.
type standIns map[string]map[string]bool

// ModelPrefix is the start of the names of model files in an overlay.
const ModelPrefix = "bf_"

// findStandIns reads the model files of an overlay.
func findStandIns(overlay map[string][]byte) standIns {
	in := standIns{}
	names := make([]string, 0, len(overlay))
	for name := range overlay {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !strings.HasPrefix(filepath.Base(name), ModelPrefix) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, overlay[name], parser.SkipObjectResolution)
		if err != nil {
			continue // reported when the package is loaded
		}
		dir := filepath.Dir(name)
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fd.Name.Name, ModelPrefix) {
				if in[dir] == nil {
					in[dir] = map[string]bool{}
				}
				in[dir][declName(fd, strings.TrimPrefix(fd.Name.Name, ModelPrefix))] = true
			}
		}
	}
	return in
}

// apply renames the declarations of one parsed file.
func (in standIns) apply(file string, f *ast.File) {
	names := in[filepath.Dir(file)]
	if names == nil {
		return
	}
	model := strings.HasPrefix(filepath.Base(file), ModelPrefix)
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		switch {
		case model:
			if rest, ok := strings.CutPrefix(fd.Name.Name, ModelPrefix); ok {
				fd.Name.Name = rest
			}
		case names[declName(fd, fd.Name.Name)]:
			fd.Name.Name = "_"
		}
	}
}

// declName returns "F" for a function and "T.M" for a method.
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
