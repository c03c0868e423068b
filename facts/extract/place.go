package extract

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
)

// isWrapper reports whether fn is a wrapper, a thunk or a bound method.
func isWrapper(fn *ssa.Function) bool {
	return fn.Synthetic != "" && fn.Synthetic != "package initializer" && fn.Origin() == nil && fn.Parent() == nil
}

// owns reports whether an object is declared in the package of the record.
func (b *builder) owns(o types.Object) bool { return o != nil && o.Pkg() == b.pkg.Types }

// funcPos returns the position of fn. A wrapper is where its method is declared:
// that is a place in another package often, which the record names.
func (b *builder) funcPos(fn *ssa.Function) facts.Pos {
	if !isWrapper(fn) || fn.Object() == nil || b.owns(fn.Object()) {
		return b.pos(fn.Pos())
	}
	name := b.declName(fn.Object())
	if name == "" { // of an interface without name, in a type that has one
		t := types.Type(nil)
		if r := fn.Signature.Recv(); r != nil {
			t = r.Type()
		} else if len(fn.FreeVars) > 0 {
			t = fn.FreeVars[0].Type()
		} else if ps := fn.Signature.Params(); ps.Len() > 0 {
			t = ps.At(0).Type()
		}
		if n := namedOf(t); n != nil {
			name = b.declName(n.Obj())
		}
	}
	if name == "" {
		return facts.Pos{}
	}
	return b.at(facts.DeclFile+name, 1, 1)
}

// declName returns the name of a Decl: "PkgID.T" for a package-level type,
// "PkgID.T.m" for a method of one; else "".
func (x *extractor) declName(o types.Object) string {
	id := x.ids[o.Pkg()]
	switch o := o.(type) {
	case *types.TypeName:
		if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			return id + "." + o.Name()
		}
	case *types.Func:
		if r := o.Origin().Signature().Recv(); r != nil {
			if n := namedOf(r.Type()); n != nil && n.Obj().Pkg() == o.Pkg() {
				if of := x.declName(n.Obj()); of != "" {
					return of + "." + o.Name()
				}
			}
		}
	}
	return ""
}

// namedOf returns the type with a name that t is or points to, without arguments; or
// nil.
func namedOf(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin()
	}
	return nil
}

// decls fills the record's Decls.
func (b *builder) decls() {
	scope := b.pkg.Types.Scope()
	for _, name := range scope.Names() {
		o, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		n, ok := o.Type().(*types.Named)
		if !ok {
			continue
		}
		b.decl(o)
		for m := range n.Methods() {
			b.decl(m)
		}
		if i, ok := n.Underlying().(*types.Interface); ok {
			for m := range i.ExplicitMethods() {
				b.decl(m)
			}
		}
	}
}

func (b *builder) decl(o types.Object) {
	if name := b.declName(o); name != "" {
		b.rec.Decls = append(b.rec.Decls, facts.Decl{Name: name, Pos: b.pos(o.Pos())})
	}
}
