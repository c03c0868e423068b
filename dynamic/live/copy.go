package live

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"

	"github.com/bfverify/bfverify/dynamic"
)

// shadowFiles returns copies of the files of dynamic/shadow that go into package
// runtime, by name there. Package runtime has names of its own, so each name of the
// package gets a prefix: Access becomes bfAccess, and access bf_access. The shim is not
// copied; bf_shim.go stands in for it.
func shadowFiles() (map[string][]byte, error) {
	names, err := fs.Glob(dynamic.Shadow, "shadow/*.go")
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	files := map[string]*ast.File{}
	taken := map[string]bool{}
	for _, name := range names {
		base := strings.TrimPrefix(name, "shadow/")
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "shim_") || base == "doc.go" {
			continue
		}
		src, err := dynamic.Shadow.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, base, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files[base] = f
		for _, d := range f.Decls {
			for _, id := range declared(d) {
				taken[id.Name] = true
			}
		}
	}
	out := map[string][]byte{}
	for base, f := range files {
		if base == "shim.go" {
			continue // its names are needed, its code is not
		}
		rename(f, taken)
		f.Name.Name = "runtime"
		var b bytes.Buffer
		fmt.Fprintf(&b, "//go:build race\n\n// This is %s of github.com/bfverify/bfverify/dynamic/shadow, with other names.\n\n", base)
		if err := format.Node(&b, fset, f); err != nil {
			return nil, fmt.Errorf("%s: %w", base, err)
		}
		out["bf_shadow_"+base] = b.Bytes()
	}
	return out, nil
}

// declared returns the names that d declares in the package.
func declared(d ast.Decl) (ids []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				ids = append(ids, s.Name)
			case *ast.ValueSpec:
				ids = append(ids, s.Names...)
			}
		}
	}
	return ids
}

// rename renames the names of the package in f. A name that a function declares for
// itself, or that selects a field, is left alone.
func rename(f *ast.File, taken map[string]bool) {
	to := func(id *ast.Ident) {
		if !taken[id.Name] || id.Name == "_" {
			return
		}
		if id.IsExported() {
			id.Name = "bf" + id.Name
		} else {
			id.Name = "bf_" + id.Name
		}
	}
	for _, d := range f.Decls {
		own := localNames(d)
		skip := map[*ast.Ident]bool{}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				skip[n.Sel] = true
			case *ast.Field:
				for _, id := range n.Names {
					skip[id] = true
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					skip[id] = true
				}
			case *ast.FuncDecl:
				if n.Recv != nil {
					skip[n.Name] = true // a method
				}
			case *ast.LabeledStmt:
				skip[n.Label] = true
			case *ast.BranchStmt:
				if n.Label != nil {
					skip[n.Label] = true
				}
			case *ast.Ident:
				if !skip[n] && !slices.Contains(own, n.Name) {
					to(n)
				}
			}
			return true
		})
	}
}

// localNames returns the names that a function declares: parameters, results and
// variables. In the subset that the package keeps to, no function uses one of them
// for a thing of the package too; the compiler finds it if one does.
func localNames(d ast.Decl) (names []string) {
	fn, ok := d.(*ast.FuncDecl)
	if !ok {
		return nil
	}
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			names = append(names, id.Name)
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, l := range []*ast.FieldList{n.Params, n.Results} {
				if l != nil {
					for _, p := range l.List {
						add(p.Names...)
					}
				}
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if id, ok := e.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.ValueSpec:
			add(n.Names...)
		}
		return true
	})
	if fn.Recv != nil {
		for _, p := range fn.Recv.List {
			add(p.Names...)
		}
	}
	return names
}
