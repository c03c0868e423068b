package extract

import (
	"golang.org/x/tools/go/ssa"
)

// findCaptures decides, for the variables declared in fn and captured by its
// function literals, which are captured by value.
//
// go/ssa captures every variable by reference. Where nobody assigns to the
// variable once a closure over it exists, the closure may as well hold the
// value: what it reads is what the variable held when the closure was made.
//
//	(C1) the variable's address is used only to load, to store, and to bind it
//	(C2) the literals, and those nested in them, only load it or bind it again
//	(C3) no store can follow the making of a closure over the same variable,
//	     that is, before the variable is allocated anew
//
// The rule changes neither the values that flow nor their order: by (C3) all
// stores precede the making of the closure in one activation of fn.
func (b *builder) findCaptures(fn *ssa.Function) {
	for _, blk := range fn.Blocks {
		for _, in := range blk.Instrs {
			if a, ok := in.(*ssa.Alloc); ok {
				b.findCapture(a)
			}
		}
	}
	for _, anon := range fn.AnonFuncs {
		b.queued[anon] = true
		b.findCaptures(anon)
		b.work = append(b.work, anon)
	}
}

func (b *builder) findCapture(a *ssa.Alloc) {
	var makes []ssa.Instruction
	stores := map[ssa.Instruction]bool{}
	var free []*ssa.FreeVar
	for _, r := range *a.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr != a || r.Val == a {
				return // (C1)
			}
			stores[r] = true
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			makes = append(makes, r)
			for i, bound := range r.Bindings {
				if bound == a {
					fv := r.Fn.(*ssa.Function).FreeVars[i]
					if free = readOnly(fv, free); free == nil {
						return // (C2)
					}
				}
			}
		default:
			return // (C1)
		}
	}
	if len(makes) == 0 {
		return
	}
	for _, m := range makes {
		if storeFollows(m, a, stores) {
			return // (C3)
		}
	}
	b.capture[a] = true
	for _, fv := range free {
		b.byValue[fv] = true
	}
}

// readOnly appends fv and the free variables of nested literals that it is
// bound to, or returns nil if one of them does more than load.
func readOnly(fv *ssa.FreeVar, free []*ssa.FreeVar) []*ssa.FreeVar {
	free = append(free, fv)
	for _, r := range *fv.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			for i, bound := range r.Bindings {
				if bound == fv {
					if free = readOnly(r.Fn.(*ssa.Function).FreeVars[i], free); free == nil {
						return nil
					}
				}
			}
		default:
			return nil
		}
	}
	return free
}

// storeFollows reports whether some path from m reaches one of stores without
// executing a again.
func storeFollows(m ssa.Instruction, a *ssa.Alloc, stores map[ssa.Instruction]bool) bool {
	if len(stores) == 0 {
		return false
	}
	seen := map[*ssa.BasicBlock]bool{}
	var todo []*ssa.BasicBlock
	// scan reports a store in instrs, and whether the end was reached.
	scan := func(instrs []ssa.Instruction) (found, through bool) {
		for _, in := range instrs {
			if in == ssa.Instruction(a) {
				return false, false
			}
			if stores[in] {
				return true, false
			}
		}
		return false, true
	}
	push := func(blk *ssa.BasicBlock) {
		for _, s := range blk.Succs {
			if !seen[s] {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	blk := m.Block()
	for i, in := range blk.Instrs {
		if in == m {
			found, through := scan(blk.Instrs[i+1:])
			if found {
				return true
			}
			if through {
				push(blk)
				// A panic may lead to the recover block, which stores nothing
				// but is reached by no edge; its stores count.
				if r := m.Parent().Recover; r != nil && !seen[r] {
					seen[r] = true
					todo = append(todo, r)
				}
			}
			break
		}
	}
	for len(todo) > 0 {
		blk := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		found, through := scan(blk.Instrs)
		if found {
			return true
		}
		if through {
			push(blk)
		}
	}
	return false
}
