package extract

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// unevaluated reports whether a load is of an array that a range statement names
// but does not evaluate: it has no second variable, and the length of the array is
// constant, as it is without calls and receives (the Go specification, "For
// statements with range clause"). go/ssa loads it all the same, and uses it nowhere.
func (l *lowering) unevaluated(in *ssa.UnOp) bool {
	if _, ok := in.Type().Underlying().(*types.Array); !ok || !in.Pos().IsValid() {
		return false
	}
	for _, r := range *in.Referrers() {
		if _, ok := r.(*ssa.DebugRef); !ok {
			return false
		}
	}
	found := false
	if syntax := origin(l.fn).Syntax(); syntax != nil {
		ast.Inspect(syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.RangeStmt); ok && s.Value == nil && s.X.Pos() <= in.Pos() && in.Pos() < s.X.End() && constantLength(s.X) {
				found = true
			}
			return !found
		})
	}
	return found
}

// constantLength reports whether an expression has no call and no receive.
func constantLength(x ast.Expr) bool {
	ok := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		}
		return ok
	})
	return ok
}
