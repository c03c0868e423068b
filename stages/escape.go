package stages

import (
	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// escaping computes escape(H): the objects that two goroutines may reach.
// Flow-insensitive: an object that ever escapes has escaped always.
//
//	(E1) package-level variables
//	(E2) what a goroutine is started with: closure, receiver, arguments
//	(E3) whatever an escaped object's cells may hold, channels' buffers, maps,
//	     boxes, bindings and ghosts included
//	(E4) what an escaped reference, method or computed address leads to
//
// An object outside the set is reachable from the registers of one goroutine
// alone: every other way into another goroutine leads through (E1) to (E4).
func escaping(v *stage.View) stage.Bits {
	esc := stage.NewBits(len(v.Res.Objs))
	var todo []pta.ObjID
	add := func(c uint32) {
		o, _ := v.Res.Object(c)
		if esc.Add(int(o)) {
			todo = append(todo, o)
		}
	}
	ghosts := map[pta.ObjID][]pta.ObjID{}
	for i := range v.Res.Objs {
		ob := &v.Res.Objs[i]
		switch ob.Kind {
		case pta.ObjGlobal: // (E1)
			if i > 0 {
				add(ob.Node)
			}
		case pta.ObjGhost:
			of, _ := v.Res.Object(ob.Of)
			ghosts[of] = append(ghosts[of], pta.ObjID(i))
		}
	}
	for t := 1; t < len(v.Threads); t++ { // (E2)
		for _, s := range v.Threads[t].Spawns {
			f := v.Res.Func(s.By)
			all := func(r facts.Reg) {
				if r == facts.NoReg {
					return
				}
				for k := range v.Prog.Layout(f.Regs[r].Type).Ptrs {
					v.Res.PointsTo(s.By, r, uint32(k)).Each(add)
				}
			}
			if s.Kind == pta.EdgeAnyGo {
				all(f.Anys[s.Row].Fn)
				all(f.Anys[s.Row].X)
				continue
			}
			c := &f.Calls[s.Row]
			all(c.Fn)
			all(c.Recv)
			for _, a := range c.Args {
				all(a)
			}
		}
	}
	for len(todo) > 0 { // (E3)
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ob := &v.Res.Objs[o]
		for i := range ob.N {
			v.Res.Content(ob.Node + i).Each(add)
		}
		v.Res.Behind(o, add) // (E4)
		for _, g := range ghosts[o] {
			add(v.Res.Objs[g].Node)
		}
	}
	return esc
}
