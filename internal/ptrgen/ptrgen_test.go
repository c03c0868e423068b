package ptrgen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestCompiles type-checks programs of all configurations.
func TestCompiles(t *testing.T) {
	for seed := range uint64(40) {
		cfg := Config{Full: seed%2 == 1, Structs: seed%4 > 1}
		src := Program(seed, cfg)
		if src != Program(seed, cfg) {
			t.Fatalf("seed %d: two programs", seed)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "main.go", src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		conf := types.Config{Error: func(err error) { t.Errorf("seed %d: %v", seed, err) }}
		conf.Check("main", fset, []*ast.File{f}, nil)
		if t.Failed() {
			t.Fatal(src)
		}
	}
}
