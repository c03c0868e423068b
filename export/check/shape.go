package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// shape checks that the claims are well formed: numbers are in range, sets
// ascend, lists have their lengths. Nothing after it can go out of bounds.
//
//	(W1) sets ascend; set 0 is empty
//	(W2) objects follow each other without gaps; sites, globals and functions exist;
//	     a global is one object, and so is the hidden cell of a cell, and the copy
//	     of what a box holds, which comes after it
//	(W3) an instance has a set for each variable of its function, whose body is known
//	(W4) edges stand in the order of their rows, which are calls, and go to
//	     instances; they start goroutines just where the row is a go statement
//	(W5) the first instance is of the program's root
//	(W6) sets of threads and states have their sizes; states and what is released
//	     ascend, and name registers and cells that exist; classes and evidence too
func (k *checker) shape() {
	c, none := k.c, facts.Pos{}
	bad := func(ok bool, rule, format string, args ...any) {
		if !ok {
			k.fail(rule, none, format, args...)
		}
	}
	bad(len(c.Sets) > 0 && len(c.Sets[0]) == 0, "W1", "set 0 is not empty")
	for i, s := range c.Sets {
		for j := 1; j < len(s); j++ {
			bad(s[j-1] < s[j], "W1", "set %d does not ascend", i)
		}
	}
	k.subsets = map[[2]SetID]bool{}
	k.globals, k.ghosts = map[facts.GlobalID]ObjID{}, map[uint32][]ObjID{}
	bad(len(c.Objects) > 0, "W2", "there is no object 0")
	k.objType = make([]facts.TypeID, len(c.Objects))
	for i := 1; i < len(c.Objects); i++ {
		o := &c.Objects[i]
		switch o.Kind {
		case ObjSite:
			bad(int(o.Fn) < len(k.p.Funcs) && k.p.Funcs[o.Fn] != nil && int(o.Site) < len(k.p.Funcs[o.Fn].Sites), "W2", "object %d has no site", i)
			k.objType[i] = k.p.Funcs[o.Fn].Sites[o.Site].Type
		case ObjGlobal:
			bad(o.Global > 0 && int(o.Global) < len(k.p.Globals) && k.globals[o.Global] == 0, "W2", "object %d is of no global, or of one that has an object", i)
			k.globals[o.Global] = ObjID(i)
			k.objType[i] = k.p.Globals[o.Global].Type
		case ObjFunc:
			bad(o.Fn > 0 && int(o.Fn) < len(k.p.Funcs), "W2", "object %d is no function", i)
		case ObjGhost:
			bad(o.Type > 0 && int(o.Type) < len(k.p.Types), "W2", "object %d has no type", i)
			k.objType[i] = o.Type
			k.ghosts[o.Of] = append(k.ghosts[o.Of], ObjID(i))
		case ObjCopy:
			bad(int(o.Of) < len(k.objOf) && k.objType[k.objOf[o.Of]] > 0, "W2", "object %d is a copy of nothing before it", i)
			b := k.objOf[o.Of]
			_, box := k.box(o.Of)
			bad(box && k.copies[b] == 0, "W2", "object %d is a copy of no box, or the second", i)
			k.copies[b], k.objType[i] = ObjID(i), k.objType[b]
		default:
			k.refuse("objects of reflection and unsafe", none)
			return
		}
		bad(k.objType[i] == 0 || int(k.objType[i]) < len(k.p.Types), "W2", "object %d has no type", i)
		bad(int(o.First) == len(k.objOf), "W2", "object %d begins at cell %d, not %d", i, o.First, len(k.objOf))
		for range k.cells(ObjID(i)) {
			k.objOf = append(k.objOf, ObjID(i))
		}
	}
	bad(len(c.Content) == len(k.objOf), "W2", "there are %d cells, and content of %d", len(k.objOf), len(c.Content))
	for i := range c.Objects {
		if of := c.Objects[i].Of; c.Objects[i].Kind == ObjGhost {
			bad(int(of) < len(k.objOf) && len(k.ghosts[of]) == 1, "W2", "cell %d has %d hidden cells", of, len(k.ghosts[of]))
		}
	}
	k.pointing(c.Content)
	for i, s := range c.Signals {
		bad(int(s.Cell) < len(k.objOf) && s.Kind <= Group, "W2", "signal %d is of no object", i)
	}
	bad(len(c.Insts) > 0 && int(c.Root) < len(c.Insts) && c.Root > 0 && c.Insts[c.Root].Fn == k.p.Root, "W5", "the root is not the program's")
	for i := 1; i < len(c.Insts); i++ {
		in := &c.Insts[i]
		bad(int(in.Fn) < len(k.p.Funcs) && k.p.Funcs[in.Fn] != nil, "W3", "instance %d is of no function with a body", i)
		f := k.p.Funcs[in.Fn]
		bad(len(in.Vars) == int(f.NumNode) && len(in.Deeps) == len(f.Deeps), "W3", "instance %d has the wrong number of variables", i)
		k.pointing(in.Vars)
		k.pointing(in.Deeps)
		for j, e := range in.Edges {
			bad(int(e.Row) < len(f.Calls)+len(f.Anys) && e.Callee > 0 && int(e.Callee) < len(c.Insts), "W4", "edge %d of instance %d leads nowhere", j, i)
			bad(e.Go == (int(e.Row) < len(f.Calls) && f.Calls[e.Row].Mode == facts.ModeGo), "W4", "edge %d of instance %d is no such call", j, i)
			bad(j == 0 || in.Edges[j-1].Row <= e.Row, "W4", "the edges of instance %d are out of order", i)
		}
	}
	if k.p.Test {
		k.refuse("test binaries", none)
	}
}

// more checks the shape of the claims that rest on points-to sets. (W6)
func (k *checker) more() {
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			k.fail("W6", facts.Pos{}, format, args...)
		}
	}
	bits := func(b Bits, n int) bool { return len(b) == len(NewBits(n)) }
	bad(bits(k.c.Escaped, len(k.c.Objects)), "the escape set has the wrong size")
	for i := 1; i < len(k.c.Insts); i++ {
		in, f := &k.c.Insts[i], k.fn(InstID(i))
		state := func(s State) {
			bad(!s.All || len(s.Facts) == 0, "a state of instance %d is odd", i)
			for j, n := range s.Facts {
				ok := j == 0 || s.Facts[j-1].compare(n) < 0
				ok = ok && n.Kind <= Credit && int(n.Reg) < len(f.Regs) && int(n.Cell) < len(k.objOf) && (n.Reg == 0 || n.Cell == 0)
				bad(ok && (n.Kind == Held || int(n.Signal) < len(k.signals)) && n.N <= maxCount, "a state of instance %d is odd", i)
			}
		}
		bad(bits(in.Does, k.deeds()) && bits(in.Before, k.deeds()), "sets of threads of instance %d have the wrong size", i)
		bad(len(in.Held) == len(f.Blocks) && len(in.Own) == len(f.Blocks), "instance %d has the wrong number of states", i)
		for b := range in.Held {
			state(in.Held[b])
			state(in.Own[b])
		}
		state(in.Gained)
		state(in.Left)
		bad(len(in.Prints) == len(k.printRows(InstID(i))), "instance %d has the wrong number of rows that print", i)
		for _, p := range in.Prints {
			for _, list := range [...][]uint32{p.Operands, p.Visited} {
				for j, o := range list {
					bad((j == 0 || list[j-1] < o) && o > 0 && int(o) < len(k.c.Objects), "what instance %d prints is odd", i)
				}
			}
		}
		for j, c := range in.Releases {
			bad((j == 0 || in.Releases[j-1] < c) && int(c) < len(k.objOf), "what instance %d releases is odd", i)
		}
	}
	for i := range k.c.Evidence {
		e := &k.c.Evidence[i]
		for _, x := range e.List {
			n := len(e.Classes)
			bad(x.A >= Any && x.A < n && x.B >= Any && x.B < n, "evidence %d is about no classes", i)
		}
	}
}

// pointing checks sets of cells. (W1)
func (k *checker) pointing(sets []SetID) {
	for _, s := range sets {
		if int(s) >= len(k.c.Sets) {
			k.fail("W1", facts.Pos{}, "there is no set %d", s)
		}
		if x := k.set(s); len(x) > 0 && int(x[len(x)-1]) >= len(k.objOf) {
			k.fail("W1", facts.Pos{}, "there is no cell %d", x[len(x)-1])
		}
	}
}

// edgesAt returns the edges of a row.
func (k *checker) edgesAt(i InstID, row uint32) []Edge {
	es := k.c.Insts[i].Edges
	lo, _ := slices.BinarySearchFunc(es, row, func(e Edge, row uint32) int { return int(e.Row) - int(row) })
	hi := lo
	for hi < len(es) && es[hi].Row == row {
		hi++
	}
	return es[lo:hi]
}
