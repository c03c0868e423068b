package stage

import (
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
)

// Frame is an activation of an instance, or, with a Loop, an iteration of that
// loop in one: all that runs in it, what it calls and starts, directly or not,
// included.
type Frame struct {
	Root pta.InstID
	Loop *Loop
}

// known limits what a view may take for one object, and remembers which of the
// frame's objects something in it makes.
type known struct {
	own Bits
	see map[pta.ObjID]bool
}

// InFrame returns the view of one execution of a frame as if it were a program:
// its goroutine enters Root once, or Head of the loop, and control that leaves
// the iteration ends. Objects outside own are unknown to the view: it takes none
// of them for one object. Root is not called from within the frame, nor is its
// function if it has a Loop.
//
// The caller decides whether what the view shows carries over to the whole
// program. Cost: the instances of the program, and the analyses of what runs.
func (v *View) InFrame(fr Frame, own Bits) *View {
	w := v.World
	if fr.Loop != nil {
		w = w.iteration(fr)
	}
	in := &View{World: w, root: fr.Root, known: &known{own, map[pta.ObjID]bool{}}, skipTest: v.skipTest}
	in.live()
	in.findOnce()
	in.findThreads()
	return in
}

// iteration returns the world in which Root's function is one iteration of the
// loop: block 0 is empty and leads to Head; edges back to Head or out of the loop
// lead to a return; panics that leave the loop leave the function.
func (w *World) iteration(fr Frame) *World {
	f := *w.Res.Func(fr.Root)
	end := len(f.Blocks)
	dead := NewBits(end + 1)
	blocks := make([]facts.Block, end+1)
	for b := range blocks {
		blocks[b].Panic = -1
		if b == end || !fr.Loop.Blocks.Has(b) {
			dead.Add(b)
			continue
		}
		blk := f.Blocks[b]
		blk.Succs = slices.Clone(blk.Succs)
		for i, s := range blk.Succs {
			if int(s) == fr.Loop.Head || !fr.Loop.Blocks.Has(int(s)) {
				blk.Succs[i] = uint32(end)
			}
		}
		if blk.Panic >= 0 && !fr.Loop.Blocks.Has(int(blk.Panic)) {
			blk.Panic = -1
		}
		blk.Return = false
		blocks[b] = blk
	}
	if old := w.dead[fr.Root]; old != nil {
		for b := range f.Blocks {
			if old.Has(b) {
				dead.Add(b)
			}
		}
	}
	blocks[0] = facts.Block{Succs: []uint32{uint32(fr.Loop.Head)}, Panic: -1}
	blocks[end] = facts.Block{Start: uint32(len(f.Points)), End: uint32(len(f.Points)), Return: true, Panic: -1}
	f.Blocks = blocks
	out := *w
	out.Res = w.Res.With(&f)
	out.Prog = out.Res.Prog
	out.flows = slices.Clone(w.flows)
	out.flows[f.ID] = newIterationFlow(&f, w.Flow(fr.Root))
	out.dead = slices.Clone(w.dead)
	out.dead[fr.Root] = dead
	return &out
}

// newIterationFlow is NewFlow where points keep the blocks that they had.
func newIterationFlow(f *facts.Func, old *Flow) *Flow {
	fl := NewFlow(f)
	fl.blockOf = old.blockOf
	return fl
}
