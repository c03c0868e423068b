package pta

import (
	"context"
	"testing"

	"github.com/bfverify/bfverify/facts"
)

// TestMergeKeepsFilters checks that nodes which accept the same of each other go on
// refusing the rest when they are one: functions of two types, say, after a cycle
// of conversions. Types that do refuse each other's values end the filter.
func TestMergeKeepsFilters(t *testing.T) {
	ts := &types{rec: &facts.Record{PkgID: "p", Path: "p", Name: "main", Files: make([]string, 1), Types: make([]facts.Type, 1), FuncRef: make([]string, 1), Methods: []string{"", "M"}, Globals: make([]facts.Global, 1)}, byName: map[string]facts.TypeID{}}
	num := ts.add(facts.Type{Name: "int", Size: 8})
	ptr := ts.ptr(num)
	f, g := ts.funcOf(sig{}), ts.funcOf(sig{params: []facts.TypeID{ptr}})
	one := []facts.Method{{Key: 1}}
	i := ts.add(facts.Type{Name: "p.I", Kind: facts.Interface, Named: true, Methods: one})
	j := ts.add(facts.Type{Name: "p.J", Kind: facts.Interface, Named: true, Methods: one})
	empty := ts.add(facts.Type{Name: "interface{}", Kind: facts.Interface})
	names := map[facts.TypeID]string{}
	for i, ty := range ts.rec.Types {
		names[facts.TypeID(i)] = ty.Name
	}
	u := facts.NewUniverse()
	if err := u.Add(ts.rec); err != nil { // uses the record up
		t.Fatal(err)
	}
	p := &facts.Program{Universe: u}
	id := func(t facts.TypeID) facts.TypeID { return u.TypeByName(names[t]) }
	for _, c := range []struct {
		name    string
		a, b    facts.TypeID
		refuses bool // afterwards, a cell of an int
	}{
		{"functions", f, g, true},
		{"interfaces", i, j, true},
		{"an interface and the empty one", i, empty, false},
		{"functions and an interface", f, empty, false},
		{"pointers and functions", ptr, f, false},
	} {
		s := newSolver(context.Background(), p, Config{Policy: Insens, HK: -1})
		x, y := s.node(id(c.a)), s.node(id(c.b))
		o := s.object(objKey{ObjGlobal, 1, 0, 0}, id(num), 0)
		s.merge(x, y)
		if n := s.find(x); s.accepts(n, s.objs[o].Node) == c.refuses {
			t.Errorf("%s: refuses an int: %t", c.name, !c.refuses)
		}
	}
}
