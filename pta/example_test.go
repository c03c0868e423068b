package pta_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/facts/extract"
	"github.com/bfverify/bfverify/facts/load"
	"github.com/bfverify/bfverify/models"
	"github.com/bfverify/bfverify/pta"
)

// loadExample makes the facts of the program in a directory.
func loadExample(dir string) *facts.Program {
	// Models stand in for what cannot be analysed in std; without them its
	// functions without Go body are assumed to do anything.
	res, err := load.Load(context.Background(), load.Config{Dir: dir, Models: models.Files()})
	if err != nil {
		log.Fatal(err)
	}
	u, err := extract.Universe(res)
	if err != nil {
		log.Fatal(err)
	}
	prog, err := extract.Link(u, res.Programs[0])
	if err != nil {
		log.Fatal(err)
	}
	return prog
}

// Load a program, analyse it, and see what the parameters of a function may point
// to in each of its contexts.
func ExampleAnalyze() {
	res, err := load.Load(context.Background(), load.Config{Dir: "testdata/example", Patterns: []string{"."}, Models: models.Files()})
	if err != nil {
		log.Fatal(err)
	}
	u, err := extract.Universe(res) // the facts of all packages
	if err != nil {
		log.Fatal(err)
	}
	prog, err := extract.Link(u, res.Programs[0])
	if err != nil {
		log.Fatal(err)
	}

	r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1})
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range r.Instances(prog.FuncByName("example.com/list.newNode")) {
		fmt.Println("newNode, in one of its contexts")
		r.PointsTo(i, r.Func(i).Params[0], 0).Each(func(cell uint32) {
			fmt.Println("\tv points to", r.Label(cell))
		})
	}
	// Output:
	// newNode, in one of its contexts
	// 	v points to int at main.go:30
	// newNode, in one of its contexts
	// 	v points to int at main.go:30
}

// A call graph has instances as nodes: functions in contexts. Walk it from the
// root, which calls the initialisers and main.
func ExampleResult() {
	prog := loadExample("testdata/example")
	r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: pta.Insens})
	if err != nil {
		log.Fatal(err)
	}
	seen := map[pta.InstID]bool{r.Root: true}
	todo := []pta.InstID{r.Root}
	for len(todo) > 0 {
		i := todo[0]
		todo = todo[1:]
		for _, e := range r.Insts[i].Out {
			caller, callee := r.Insts[i].Fn, r.Insts[e.Callee].Fn
			line := uint32(0)
			if e.Kind == pta.EdgeCall || e.Kind == pta.EdgeGo {
				line = prog.Funcs[caller].Calls[e.Row].Pos.Line
			}
			fmt.Printf("%s calls %s, line %d\n", prog.FuncName(caller), prog.FuncName(callee), line)
			if !seen[e.Callee] {
				seen[e.Callee] = true
				todo = append(todo, e.Callee)
			}
		}
	}
	// Output:
	// root of example.com/list calls example.com/list.init, line 0
	// root of example.com/list calls example.com/list.main, line 0
	// example.com/list.main calls example.com/list.newNode, line 31
	// example.com/list.main calls example.com/list.newNode, line 31
	// example.com/list.main calls example.com/list.walk, line 37
	// example.com/list.walk calls example.com/list.(*keeper).visit, line 25
}

// The registers that a line defines, and what they hold. Lines 32 and 33 read the
// fields of two nodes that one statement of newNode makes.
func ExampleResult_At() {
	prog := loadExample("testdata/example")
	for _, policy := range []pta.Policy{pta.Insens, pta.Hybrid} {
		r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: policy, K: 1, HK: -1})
		if err != nil {
			log.Fatal(err)
		}
		for _, line := range []uint32{32, 33} {
			vars := r.At("main.go", line)
			v := vars[len(vars)-1] // the value loaded, after the address of the field
			fmt.Println(policy, "line", line, "has", r.PointsTo(v.Inst, v.Reg, 0).Len(), "target(s)")
		}
	}
	// Output:
	// insens line 32 has 2 target(s)
	// insens line 33 has 2 target(s)
	// hybrid line 32 has 1 target(s)
	// hybrid line 33 has 1 target(s)
}

// Ask about values of the SSA form, as with go/pointer's queries: here about the
// receivers of interface calls.
func ExampleResult_PointsTo() {
	res, err := load.Load(context.Background(), load.Config{Dir: "testdata/example"})
	if err != nil {
		log.Fatal(err)
	}
	type lowered struct {
		f    *facts.Func
		regs map[ssa.Value]facts.Reg
	}
	var mu sync.Mutex
	became := map[*ssa.Function]lowered{}
	u, err := extract.UniverseWith(res, func(fn *ssa.Function, f *facts.Func, regs map[ssa.Value]facts.Reg) {
		mu.Lock()
		defer mu.Unlock()
		became[fn] = lowered{f, regs}
	})
	if err != nil {
		log.Fatal(err)
	}
	prog, err := extract.Link(u, res.Programs[0])
	if err != nil {
		log.Fatal(err)
	}
	r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: pta.Insens})
	if err != nil {
		log.Fatal(err)
	}
	for fn, l := range became {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok || !c.Common().IsInvoke() {
					continue
				}
				for _, i := range r.Instances(l.f.ID) {
					r.PointsTo(i, l.regs[c.Common().Value], 0).Each(func(cell uint32) {
						fmt.Println(c, "on an", r.Label(cell))
						r.Content(cell).Each(func(cell uint32) { fmt.Println("\twhich holds a pointer to", r.Label(cell)) })
					})
				}
			}
		}
	}
	// Output:
	// invoke v.visit(t3) on an interface of *example.com/list.keeper at main.go:36
	// 	which holds a pointer to example.com/list.keeper at main.go:36.last
}

// Whether two values may point to one variable.
func ExampleResult_MayAlias() {
	prog := loadExample("testdata/example")
	for _, policy := range []pta.Policy{pta.Insens, pta.Hybrid} {
		r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: policy, K: 1, HK: -1})
		if err != nil {
			log.Fatal(err)
		}
		var ab []pta.Var // a and b: what the two calls on line 31 give
		for _, v := range r.At("main.go", 31) {
			if r.Func(v.Inst).Points[r.Func(v.Inst).Regs[v.Reg].Def-1].Op == facts.OpCall {
				ab = append(ab, v)
			}
		}
		fmt.Println(policy, r.MayAlias(ab[0].Inst, ab[0].Reg, ab[1].Inst, ab[1].Reg))
	}
	// Output:
	// insens true
	// hybrid false
}

// The callees of one call, here the interface call in walk.
func ExampleResult_EdgesAt() {
	prog := loadExample("testdata/example")
	r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: pta.Insens})
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range r.Instances(prog.FuncByName("example.com/list.walk")) {
		for _, p := range r.Func(i).Points {
			for _, e := range r.EdgesAt(i, p) {
				fmt.Println("line", p.Pos.Line, "calls", prog.FuncName(r.Insts[e.Callee].Fn))
			}
		}
	}
	// Output:
	// line 25 calls example.com/list.(*keeper).visit
}

// Packages that need no contexts, or more than others, get a policy of their own.
func ExamplePackagePolicy() {
	prog := loadExample("testdata/example")
	for _, packages := range [][]pta.PackagePolicy{
		nil,
		{{Pattern: "example.com/...", Policy: pta.Insens}},
	} {
		r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1, Packages: packages})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("instances of newNode:", len(r.Instances(prog.FuncByName("example.com/list.newNode"))))
	}
	// Output:
	// instances of newNode: 2
	// instances of newNode: 1
}

// A program that costs more than Effort loses contexts where they cost most. The
// result is as sound, and says so.
func ExampleCoarse() {
	prog := loadExample("testdata/printing")
	r, err := pta.Analyze(context.Background(), prog, pta.Config{Policy: pta.Hybrid, K: 1, HK: -1, Effort: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Coarse[:1] {
		fmt.Println("lost its contexts:", c.Pkg != "", "with a share from 0 to 1:", 0 < c.Share && c.Share <= 1)
	}
	fmt.Println("copied more than asked:", r.Stats.Effort > 1)
	fmt.Println("functions without facts:", len(r.Stats.Missing))
	// Output:
	// lost its contexts: true with a share from 0 to 1: true
	// copied more than asked: true
	// functions without facts: 0
}
