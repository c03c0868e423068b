package check

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Facts that surely hold: locks.go, signals.go and joins.go say what makes and breaks
// them. An instance has two flows through its blocks: Held, with what every caller
// has, and Own, with what it gains itself, as if entered with nothing. Facts are
// added narrowly and taken away widely:
//
//	(M1) the first goroutine starts with nothing, another with what is past where it
//	     is started; an instance that is called starts with no more than every caller
//	     has, in names of its parameters; Own with nothing
//	(M2) a point adds and takes away as the rules of each kind say
//	(M3) a call takes away what some callee may, and adds what all callees surely
//	     gained when they return
//	(M4) a register that is defined again loses its names
//	(M5) where control meets, no more is so than on each way; a point that panics has
//	     taken away, and added nothing. Edges may add (signals.go)
//	(M6) credits count for the goroutine as a whole: Left is what Held has of them at
//	     every return
//
// A state with All is that of a point that no execution reaches.
func (k *checker) musts(i InstID, ask *Asked) {
	if i == k.c.Root {
		ask.Holds("M1", i, k.head(i, 0, true), State{})
	}
	ask.Holds("M1", i, k.head(i, 0, false), State{})
	k.mustFlow(i, false, ask)
	k.mustFlow(i, true, ask)
}

// head is the claim of the state at the head of a block.
func (k *checker) head(i InstID, b uint32, held bool) *State {
	if held {
		return &k.c.Insts[i].Held[b]
	}
	return &k.c.Insts[i].Own[b]
}

// mustFlow checks one flow of an instance, block by block.
func (k *checker) mustFlow(i InstID, held bool, ask *Asked) {
	f, in := k.fn(i), &k.c.Insts[i]
	for b := range f.Blocks {
		blk := &f.Blocks[b]
		s := *k.head(i, uint32(b), held)
		if s.All {
			continue
		}
		for p := blk.Start; p < blk.End && !s.All; p++ {
			if !held {
				k.releases(i, f, p, s, ask)
			} else if row, ok := callRow(f, f.Points[p]); ok {
				k.enters(i, f, row, s, ask)
			}
			out, panics := k.step(i, f, p, s)
			if f.Points[p].Flags&facts.MayPanic != 0 && blk.Panic >= 0 {
				ask.Holds("M5", i, k.head(i, uint32(blk.Panic), held), panics)
			}
			s = out
		}
		for n, q := range blk.Succs {
			ask.Holds("M5", i, k.head(i, q, held), s.and(k.edgeFacts(i, f, b, n)...))
		}
		switch {
		case !blk.Return:
		case held:
			ask.Holds("M6", i, &in.Left, s.keep(Credit))
		default:
			ask.Holds("M3", i, &in.Gained, s.drop(func(n Fact) bool { return n.Kind == Credit || n.Reg != 0 && !slices.Contains(f.Params, n.Reg) }))
		}
	}
}

// enters checks what the callees of a row start with. (M1)
func (k *checker) enters(i InstID, f *facts.Func, row uint32, s State, ask *Asked) {
	if int(row) >= len(f.Calls) { // any of them may come after any
		s = k.afterCallees(i, f, row, s)
	}
	for _, e := range k.edgesAt(i, row) {
		if e.Go {
			ask.Holds("M1", e.Callee, k.head(e.Callee, 0, true), s.keep(Past))
			continue
		}
		var in []Fact
		for _, n := range s.Facts {
			if n.Reg == 0 {
				in = append(in, n)
				continue
			}
			for j, q := range k.fn(e.Callee).Params {
				if rt, ok := k.argument(f, row, j); ok && rt.reg == n.Reg {
					in = append(in, Fact{Reg: q, Off: n.Off - rt.off, Write: n.Write})
				}
			}
		}
		ask.Holds("M1", e.Callee, k.head(e.Callee, 0, true), State{Facts: Sorted(in)})
	}
}

// argument returns what a call passes for a parameter, as root. A call that a
// function makes when it ends may stand for several, one for each time that its
// statement ran, and its registers hold what they held then: those that are defined
// in a cycle say nothing.
func (k *checker) argument(f *facts.Func, row uint32, j int) (root, bool) {
	if int(row) >= len(f.Calls) {
		return root{}, false
	}
	c := &f.Calls[row]
	if c.Method != 0 {
		j--
	}
	if j < 0 || j >= len(c.Args) || c.Args[j] == facts.NoReg {
		return root{}, false
	}
	rt := k.rootsOf(f)[c.Args[j]]
	def := f.Regs[rt.reg].Def
	return rt, c.Mode != facts.ModeDefer || def == 0 || !k.flowOf(f).follows(def-1, def-1)
}

// step returns the state after a point, and where it panics.
func (k *checker) step(i InstID, f *facts.Func, p uint32, s State) (out, panics State) {
	pt := f.Points[p]
	if d := f.Defines(pt); d != facts.NoReg { // (M4)
		s = s.drop(func(n Fact) bool { return n.Kind == Held && n.Reg == d })
	}
	if row, ok := callRow(f, pt); ok { // (M3)
		s = k.afterCallees(i, f, row, s)
		edges := k.edgesAt(i, row)
		if len(edges) == 0 || edges[0].Go || pt.Op == facts.OpAny {
			return s, s
		}
		gained := State{All: true}
		for _, e := range edges {
			gained = gained.Meet(k.gained(f, row, e.Callee))
		}
		return s.union(gained), s
	}
	s = k.afterRelease(i, f, pt, s)
	s, panics = k.afterAdd(i, f, pt, s)
	return s.and(append(k.acquired(i, f, pt), k.waited(i, f, p)...)...), panics
}

// afterCallees takes away what some callee of a row may, or its start. (M3)
func (k *checker) afterCallees(i InstID, f *facts.Func, row uint32, s State) State {
	for _, e := range k.edgesAt(i, row) {
		if !e.Go && len(k.c.Insts[e.Callee].Releases) > 0 {
			s = s.drop(func(n Fact) bool { return n.Kind == Held && k.mayBe(i, f, n, k.c.Insts[e.Callee].Releases) })
		}
	}
	return k.afterStarts(i, row, s)
}

// gained gives what a callee gains names in the caller.
func (k *checker) gained(f *facts.Func, row uint32, m InstID) State {
	in := &k.c.Insts[m]
	if in.Gained.All {
		return in.Gained
	}
	var out []Fact
	for _, n := range in.Gained.Facts {
		if n.Reg == 0 {
			out = append(out, n)
			continue
		}
		for j, q := range k.fn(m).Params {
			if rt, ok := k.argument(f, row, j); ok && q == n.Reg {
				out = append(out, Fact{Reg: rt.reg, Off: rt.off + n.Off, Write: n.Write})
			}
		}
	}
	return State{Facts: Sorted(out)}.union(in.Left)
}

// heldAt returns the facts at a point.
func (k *checker) heldAt(at At) State {
	if s, ok := k.stateAt[at]; ok {
		return s
	}
	f := k.fn(at.Inst)
	b := k.flowOf(f).blockOf[at.Point]
	s := *k.head(at.Inst, b, true)
	for q := f.Blocks[b].Start; q < at.Point && !s.All; q++ {
		s, _ = k.step(at.Inst, f, q, s)
	}
	k.stateAt[at] = s
	return s
}
