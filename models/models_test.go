package models

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// markers is the vocabulary of docs/models.md.
var markers = func() map[string]bool {
	doc, err := os.ReadFile("../docs/models.md")
	if err != nil {
		panic(err)
	}
	m := map[string]bool{}
	for _, w := range regexp.MustCompile("`(bf[A-Z][A-Za-z]*)\\(").FindAllSubmatch(doc, -1) {
		m[string(w[1])] = true
	}
	return m
}()

var directives = map[string]bool{"//bf:inline": true, "//bf:atomic": true, "//bf:silent": true}

// load type-checks every package of GOROOT that has a model, with the models
// in place.
func load(t *testing.T) []*packages.Package {
	t.Helper()
	if testing.Short() {
		t.Skip("loads the modelled part of the standard library")
	}
	overlay, err := Overlay(runtime.GOROOT())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	seen := make(map[string]bool)
	for name := range overlay {
		rel, err := filepath.Rel(filepath.Join(runtime.GOROOT(), "src"), filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		if p := filepath.ToSlash(rel); !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Overlay: overlay,
	}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// TestTypeCheck: the models compile in their packages, and every stand-in has
// a counterpart of the same signature.
func TestTypeCheck(t *testing.T) {
	pkgs := load(t)
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, err)
		}
	})
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			name := filepath.Base(p.Fset.Position(f.Package).Filename)
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok {
					if err := checkFunc(p, d); err != nil {
						t.Errorf("%s: %v", p.Fset.Position(d.Pos()), err)
					}
				}
			}
		}
	}
}

// checkFunc checks one function of a model file against the contract.
func checkFunc(p *packages.Package, d *ast.FuncDecl) error {
	name := d.Name.Name
	if d.Doc != nil {
		for _, c := range d.Doc.List {
			if strings.HasPrefix(c.Text, "//bf:") && !directives[c.Text] {
				return fmt.Errorf("%s has an unknown directive %s", name, c.Text)
			}
		}
	}
	switch {
	case markers[name]:
		if d.Body != nil || d.Type.TypeParams != nil {
			return fmt.Errorf("marker %s has a body or type parameters", name)
		}
		return nil
	case d.Body == nil:
		return fmt.Errorf("%s has no body and is no marker", name)
	case strings.HasPrefix(name, "bfx_"):
		return nil
	case !strings.HasPrefix(name, "bf_"):
		return fmt.Errorf("%s is neither a stand-in (bf_) nor a helper (bfx_)", name)
	}
	obj, _ := p.TypesInfo.Defs[d.Name].(*types.Func)
	if obj == nil {
		return fmt.Errorf("%s was not type-checked", name)
	}
	sig := obj.Type().(*types.Signature)
	realName := strings.TrimPrefix(name, "bf_")
	var real types.Object
	if recv := sig.Recv(); recv == nil {
		real = p.Types.Scope().Lookup(realName)
	} else {
		real, _, _ = types.LookupFieldOrMethod(recv.Type(), false, p.Types, realName)
	}
	f, _ := real.(*types.Func)
	if f == nil {
		return fmt.Errorf("%s stands in for nothing", name)
	}
	if got, want := shape(sig), shape(f.Type().(*types.Signature)); got != want {
		return fmt.Errorf("%s is %s, but %s is %s", name, got, realName, want)
	}
	return nil
}

// shape spells a signature, receiver included, without parameter names.
func shape(sig *types.Signature) string {
	var b strings.Builder
	if r := sig.Recv(); r != nil {
		fmt.Fprintf(&b, "(%s) ", r.Type())
	}
	if tps := sig.TypeParams(); tps != nil {
		for i := range tps.Len() {
			fmt.Fprintf(&b, "[%s %s]", tps.At(i), tps.At(i).Constraint())
		}
	}
	for _, tuple := range [...]*types.Tuple{sig.Params(), sig.Results()} {
		b.WriteByte('(')
		for i := range tuple.Len() {
			fmt.Fprintf(&b, "%s; ", tuple.At(i).Type())
		}
		b.WriteByte(')')
	}
	fmt.Fprintf(&b, " variadic=%v", sig.Variadic())
	return b.String()
}

// TestFiles: each file begins with the build line, is formatted, and has a
// comment on its package clause that says why it may be believed.
func TestFiles(t *testing.T) {
	files := Files()
	if len(files) == 0 {
		t.Fatal("no model files embedded")
	}
	for _, f := range files {
		name := f.Path + "/" + f.Name
		if !bytes.HasPrefix(f.Source, []byte(buildLine)) {
			t.Errorf("%s does not begin with %q", name, buildLine)
		}
		if out, err := format.Source(f.Source); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(out, f.Source) {
			t.Errorf("%s is not formatted: run gofmt -w models", name)
		}
		head, _, _ := bytes.Cut(f.Source, []byte("\npackage "))
		if n := len(bytes.TrimPrefix(head, []byte(buildLine))); n < 60 {
			t.Errorf("%s: no comment says why the model may be believed", name)
		}
	}
}

// TestOverlay: no model takes the place of a real file.
func TestOverlay(t *testing.T) {
	overlay, err := Overlay(runtime.GOROOT())
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range overlay {
		if m, _ := filepath.Glob(name); m != nil {
			t.Errorf("%s exists in GOROOT", name)
		}
		if bytes.Contains(src, []byte(buildLine)) {
			t.Errorf("%s keeps its build line", name)
		}
	}
	if _, err := Overlay(t.TempDir()); err == nil {
		t.Error("Overlay accepts a directory that is no GOROOT")
	}
}
