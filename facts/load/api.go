package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/bfverify/bfverify/facts/cache"
)

// api returns a hash of what facts of other packages may depend on of p, which was
// checked from source:
//
//	(U1) its exported package-level objects: types, constants with their values,
//	     variables, signatures, with names of parameters; and what types they lead to,
//	     with all fields and methods. Not where these are declared: facts name that.
//	(U2) the source of its generic functions and methods, and where it is, because
//	     instances belong to who makes them; with it all package-level objects, which
//	     generic code may use, and the language versions of its files
//	(U3) the source of functions that may call recover, and of those that have a
//	     uintptr for a parameter, or several: what they do with it is asked by callers
//	(U4) which models joined it
//
// What p uses of other packages is in their hashes: a key has those of all packages
// below.
func (c *checker) api(p *packages.Package, note *Known) cache.Key {
	w := &apiWriter{r: cache.NewRecipe("api"), pkg: p.Types, seen: map[types.Object]bool{}}
	w.r.Strings([]string{p.ID, p.PkgPath, p.Name})
	w.r.Strings(note.Models) // (U4)
	generic := false
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			obj, _ := p.TypesInfo.Defs[fd.Name].(*types.Func)
			switch {
			case obj == nil:
			case isGeneric(obj): // (U2)
				generic = true
				pos := c.fset.Position(fd.Pos())
				w.r.Strings([]string{pos.String(), p.TypesInfo.FileVersions[f], c.text(fd)})
			case recovers(fd) || takesNumbers(obj): // (U3)
				w.r.String(c.text(fd))
			}
		}
	}
	w.r.Bool(generic)
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		if generic || token.IsExported(name) {
			w.reach(scope.Lookup(name))
		}
	}
	for len(w.todo) > 0 {
		o := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.object(o)
	}
	return w.r.Sum()
}

// text returns the source of a declaration, with its comment.
func (c *checker) text(fd *ast.FuncDecl) string {
	from, to := c.fset.PositionFor(fd.Pos(), false), c.fset.PositionFor(fd.End(), false)
	if fd.Doc != nil {
		from = c.fset.PositionFor(fd.Doc.Pos(), false)
	}
	c.mu.Lock()
	src := c.sources[from.Filename]
	c.mu.Unlock()
	return string(src[from.Offset:to.Offset])
}

func isGeneric(f *types.Func) bool {
	sig := f.Signature()
	return sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0
}

// recovers reports whether recover is named in fd.
func recovers(fd *ast.FuncDecl) (yes bool) {
	ast.Inspect(fd, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "recover" {
			yes = true
		}
		return !yes
	})
	return yes
}

// takesNumbers reports whether f has a parameter of which facts/extract asks whether it
// is handed to the kernel.
func takesNumbers(f *types.Func) bool {
	number := func(t types.Type) bool {
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
		}
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Kind() == types.Uintptr
	}
	sig := f.Signature()
	if sig.Recv() != nil && number(sig.Recv().Type()) {
		return true
	}
	for v := range sig.Params().Variables() {
		if number(v.Type()) {
			return true
		}
	}
	return false
}

// An apiWriter writes objects of one package, and what they lead to in it, each once
// and in an order that depends on the objects alone.
type apiWriter struct {
	r    *cache.Recipe
	pkg  *types.Package
	seen map[types.Object]bool
	todo []types.Object
}

// reach asks for an object to be written, if it is the package's.
func (w *apiWriter) reach(o types.Object) {
	if o.Pkg() == w.pkg && !w.seen[o] {
		w.seen[o] = true
		w.todo = append(w.todo, o)
	}
}

func (w *apiWriter) object(o types.Object) {
	w.name(o)
	switch o := o.(type) {
	case *types.Const:
		w.r.String("const")
		w.typ(o.Type())
		w.r.String(o.Val().ExactString())
	case *types.Var:
		w.r.String("var")
		w.typ(o.Type())
	case *types.Func:
		w.r.String("func")
		w.typ(o.Type())
	case *types.TypeName:
		switch t := o.Type().(type) {
		case *types.Alias:
			w.r.String("alias")
			w.params(t.TypeParams())
			w.typ(t.Rhs())
		case *types.Named:
			w.r.String("type")
			w.params(t.TypeParams())
			w.typ(t.Underlying())
			methods := slices.Collect(t.Methods())
			sort.Slice(methods, func(i, j int) bool { return methods[i].Id() < methods[j].Id() })
			w.r.Int(int64(len(methods)))
			for _, m := range methods {
				w.name(m)
				w.typ(m.Type())
			}
		default:
			w.r.String("builtin")
		}
	}
}

// name writes a name with the package that tells it from others.
func (w *apiWriter) name(o types.Object) {
	if o.Pkg() != nil {
		w.r.String(o.Pkg().Path())
	} else {
		w.r.String("")
	}
	w.r.String(o.Name())
}

func (w *apiWriter) params(list *types.TypeParamList) {
	w.r.Int(int64(list.Len()))
	for p := range list.TypeParams() {
		w.r.String(p.Obj().Name())
		w.typ(p.Constraint())
	}
}

func (w *apiWriter) args(list *types.TypeList) {
	w.r.Int(int64(list.Len()))
	for t := range list.Types() {
		w.typ(t)
	}
}

func (w *apiWriter) tuple(t *types.Tuple) {
	w.r.Int(int64(t.Len()))
	for v := range t.Variables() {
		w.r.String(v.Name())
		w.typ(v.Type())
	}
}

func (w *apiWriter) typ(t types.Type) {
	switch t := t.(type) {
	case *types.Basic:
		w.r.Strings([]string{"basic", t.Name()})
	case *types.Alias:
		w.r.String("aliased")
		w.name(t.Obj())
		w.args(t.TypeArgs())
		w.reach(t.Origin().Obj())
	case *types.Named:
		w.r.String("named")
		w.name(t.Obj())
		w.args(t.TypeArgs())
		w.reach(t.Origin().Obj())
	case *types.TypeParam:
		w.r.Strings([]string{"param", t.Obj().Name()})
		w.r.Int(int64(t.Index()))
	case *types.Pointer:
		w.r.String("*")
		w.typ(t.Elem())
	case *types.Slice:
		w.r.String("[]")
		w.typ(t.Elem())
	case *types.Array:
		w.r.String("[n]")
		w.r.Int(t.Len())
		w.typ(t.Elem())
	case *types.Map:
		w.r.String("map")
		w.typ(t.Key())
		w.typ(t.Elem())
	case *types.Chan:
		w.r.String("chan")
		w.r.Int(int64(t.Dir()))
		w.typ(t.Elem())
	case *types.Tuple:
		w.r.String("tuple")
		w.tuple(t)
	case *types.Signature:
		w.r.String("func")
		w.r.Bool(t.Recv() != nil)
		if r := t.Recv(); r != nil {
			_, ptr := types.Unalias(r.Type()).(*types.Pointer)
			w.r.Bool(ptr)
		}
		w.params(t.TypeParams())
		w.r.Bool(t.Variadic())
		w.tuple(t.Params())
		w.tuple(t.Results())
	case *types.Struct:
		w.r.String("struct")
		w.r.Int(int64(t.NumFields()))
		for i := range t.NumFields() {
			f := t.Field(i)
			w.name(f)
			w.r.Bool(f.Embedded())
			w.r.String(t.Tag(i))
			w.typ(f.Type())
		}
	case *types.Interface:
		w.r.String("interface")
		w.r.Int(int64(t.NumExplicitMethods()))
		for m := range t.ExplicitMethods() {
			w.name(m)
			w.typ(m.Type())
		}
		w.r.Int(int64(t.NumEmbeddeds()))
		for e := range t.EmbeddedTypes() {
			w.typ(e)
		}
	case *types.Union:
		w.r.String("union")
		w.r.Int(int64(t.Len()))
		for x := range t.Terms() {
			w.r.Bool(x.Tilde())
			w.typ(x.Type())
		}
	default:
		w.r.String(strings.TrimSpace(t.String()))
	}
}
