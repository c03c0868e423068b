package facts

import "fmt"

// TestEntry names an entry function of a test binary for Link.
type TestEntry struct {
	Name  string
	PkgID string // the variant that holds the function
	Kind  EntryKind
}

// EntryKind says which of package testing's runners runs an entry.
type EntryKind uint8

// The kinds of entry.
const (
	EntryTest EntryKind = iota
	EntryBenchmark
	EntryFuzz
	EntryExample
)

// runners are the model functions that run one entry of each kind.
var runners = [...]string{"bfx_tRunner", "bfx_bRunner", "bfx_fRunner", "bfx_eRunner"}

// Link makes a Program: a root that runs the initialisers of pkgIDs in order
// and then the function main of mainID. For a test binary entries are what
// package testing runs; for a main program they are nil.
func Link(u *Universe, path, mainID string, pkgIDs []string, test bool, entries []TestEntry) (*Program, error) {
	p := &Program{Universe: u, Path: path, Test: test, PkgIDs: pkgIDs}
	root := &Func{Name: "root of " + mainID, Pkg: "", Regs: make([]RegInfo, 1), Lins: make([]Lin, 1)}
	for _, id := range pkgIDs {
		if f := u.Init(id); f != 0 {
			root.Calls = append(root.Calls, Call{Static: f})
		}
	}
	mainFn := u.Lookup(mainID, "main")
	if mainFn == 0 {
		return nil, fmt.Errorf("%s: function main is not declared", mainID)
	}
	root.Calls = append(root.Calls, Call{Static: mainFn})
	straight(root)
	p.Root = u.AddFunc(root)
	if !test {
		return p, nil
	}
	t := &Func{Name: "entries of " + mainID, Pkg: "testing", Regs: make([]RegInfo, 1), Lins: make([]Lin, 1)}
	for _, e := range entries {
		fn := u.Lookup(e.PkgID, e.Name)
		if fn == 0 {
			return nil, fmt.Errorf("%s: entry %s is not declared in %s", mainID, e.Name, e.PkgID)
		}
		runner := u.Lookup("testing", runners[e.Kind])
		if runner == 0 || u.Funcs[runner] == nil {
			return nil, fmt.Errorf("%s: package testing is not modelled", mainID)
		}
		params := u.Funcs[runner].Params
		fp := params[len(params)-1] // the function is the last parameter
		r := Reg(len(t.Regs))
		t.Regs = append(t.Regs, RegInfo{Type: u.Funcs[runner].Regs[fp].Type, Node: t.NumNode})
		t.NumNode++
		t.FuncRef = append(t.FuncRef, FuncAddr{Dst: r, Fn: fn})
		var args []Reg
		pos := u.Funcs[fn].Pos
		if len(params) == 2 { // the *T, *B or *F that the entry gets
			pt := u.Funcs[runner].Regs[params[0]].Type
			x := Reg(len(t.Regs))
			t.Regs = append(t.Regs, RegInfo{Type: pt, Node: t.NumNode})
			t.NumNode++
			t.Sites = append(t.Sites, Site{Kind: SiteNew, Heap: true, Type: u.Types[pt].Elem, Pos: pos})
			t.Allocs = append(t.Allocs, Alloc{Dst: x, Site: SiteID(len(t.Sites) - 1)})
			args = append(args, x)
		}
		p.Entries = append(p.Entries, Entry{Name: e.Name, Fn: fn, Row: uint32(len(t.Calls))})
		t.Calls = append(t.Calls, Call{Static: runner, Args: append(args, r), Pos: pos})
	}
	anyOrder(t, entries)
	p.Tests = u.AddFunc(t)
	return p, nil
}

// straight gives f one block that performs its allocations and calls in order.
func straight(f *Func) {
	for i := range f.Allocs {
		f.Points = append(f.Points, Point{Op: OpAlloc, Row: uint32(i)})
	}
	for i := range f.Calls {
		f.Points = append(f.Points, Point{Op: OpCall, Row: uint32(i), Pos: f.Calls[i].Pos})
	}
	f.Blocks = []Block{{End: uint32(len(f.Points)), Return: true, Panic: -1}}
	f.setDefs()
}

func (f *Func) setDefs() {
	for i, p := range f.Points {
		if d := f.Defines(p); d != NoReg {
			f.Regs[d].Def = uint32(i) + 1
		}
	}
}

// anyOrder gives f blocks that perform its allocations and then its calls, of
// which each runs an entry: tests, fuzz tests, examples and benchmarks after each
// other, those of one kind in any order (-shuffle), and any of them left out
// (-run). For each kind there is a hub, a block without points, that leads to the
// calls, which lead back to it, and on. A call executes at most once (FnAnyOrder).
func anyOrder(f *Func, entries []TestEntry) {
	f.Flags |= FnAnyOrder
	add := func(op Op, row int) {
		f.Points = append(f.Points, Point{Op: op, Row: uint32(row)})
	}
	for i := range f.Allocs {
		add(OpAlloc, i)
	}
	block := func(start int) uint32 {
		f.Blocks = append(f.Blocks, Block{Start: uint32(start), End: uint32(len(f.Points)), Panic: -1})
		return uint32(len(f.Blocks) - 1)
	}
	edge := func(from, to uint32) { f.Blocks[from].Succs = append(f.Blocks[from].Succs, to) }
	last := block(0)
	for _, k := range [...]EntryKind{EntryTest, EntryFuzz, EntryExample, EntryBenchmark} {
		hub := block(len(f.Points))
		edge(last, hub)
		for i, e := range entries {
			if e.Kind == k {
				add(OpCall, i)
				f.Points[len(f.Points)-1].Pos = f.Calls[i].Pos
				b := block(len(f.Points) - 1)
				edge(hub, b)
				edge(b, hub)
			}
		}
		last = hub
	}
	f.Blocks[last].Return = true
	f.setDefs()
}
