package stages

import (
	"encoding/binary"
	"slices"

	"github.com/bfverify/bfverify/facts"
	"github.com/bfverify/bfverify/pta"
	"github.com/bfverify/bfverify/stages/stage"
)

// frames finds the frames that objects belong to: the relation own(frame, H).
// An execution of a frame is an activation of its root, or an iteration of a loop
// in one, with all that it calls and starts. If own(f, h), an activation that has a
// pointer to an object at h and the activation that made the object are in one
// execution of the frame, or both in none:
//
//	(M1) the root is not entered from within the frame; so an activation is in
//	     one execution of the frame at most
//	(M2) no register by which pointers get into an execution or leave it leads to
//	     h, directly or through memory: of an activation its parameters, captured
//	     variables and results; of an iteration what it reads that was computed
//	     outside of the loop, and what is read outside of the loop, or by the next
//	     iteration, that was computed in it
//	(M3) no global, and no object without a site, leads to h
//	(M4) reflection, unsafe and unknown code have no pointer to h
//
// By induction over the steps of the program: who makes an object has a pointer to
// it. A pointer is handed over by a call, a start or a return, which stay inside or
// outside of an execution, or cross at the registers of (M2); or by memory, of
// which whoever stores and loads has a pointer; if it is an object of the frame's,
// he is inside or outside as its maker is, and if not, it never leads to h (M2),
// (M3).
//
// So what happens to objects that an execution makes happens in that execution
// alone, which is like a program of its own. Of an object that is the frame's and
// that nothing outside makes,
//
//	(M5) whatever makes an object at h runs in the frame only: no path of calls and
//	     starts from the root of the program leads there but through the frame
//
// all accesses are of that kind: made(frame, H).
type frames struct {
	r      *run
	of     map[pta.ObjID][]*frame
	known  map[frameKey]*frame
	list   []*frame // those whose analyses are kept, latest last
	spent  int
	ghosts map[pta.ObjID][]pta.ObjID // hidden objects, by the object that they belong to
	shared stage.Bits                // the objects that (M3) and (M4) exclude
}

type frameKey struct {
	root pta.InstID
	head int // of the loop, or -1
}

// frame is a frame with the objects that belong to it.
type frame struct {
	stage.Frame
	id   int
	own  stage.Bits // nil: (M1) fails, or the frame is too large
	live stage.Bits // what may run in it
	// outside is what runs in the program without the frame.
	outside stage.Bits
	view    *stage.View
	par     *parallel
	alone   map[pta.InstID]bool // see only
}

// Bounds of the work on frames: how many instances one may run, how far above an
// object's maker one may begin, how many instances all views may have together,
// and how many views are kept. What is beyond stays open.
const (
	maxFrameInsts  = 4096
	maxFrameHeight = 8
	maxFrameWork   = 200_000_000
	keptFrames     = 12
)

func newFrames(r *run) *frames {
	return &frames{r: r, of: map[pta.ObjID][]*frame{}, known: map[frameKey]*frame{}}
}

// Of lists the frames that an object belongs to, inner ones first.
func (fs *frames) Of(o pta.ObjID) []*frame {
	if l, ok := fs.of[o]; ok {
		return l
	}
	v := fs.r.v
	var l []*frame
	fs.of[o] = nil
	if ob := &v.Res.Objs[o]; ob.Kind == pta.ObjSite {
		root := pta.InstID(0)
		for _, m := range v.MakersOf(o) {
			switch {
			case !v.Live.Has(int(m)):
			case root == 0:
				root = m
			default:
				root = v.CommonDominator(root, m)
			}
		}
		for range maxFrameHeight {
			if root == 0 || root == v.Root() || v.Res.Func(root) == nil {
				break
			}
			loops := v.Flow(root).Loops()
			for i := len(loops) - 1; i >= 0; i-- {
				if f := fs.frame(root, loops[i]); fs.made(f, o) {
					l = append(l, f)
				}
			}
			if f := fs.frame(root, nil); fs.made(f, o) {
				l = append(l, f)
			}
			root = v.Dominator(root)
		}
	}
	fs.of[o] = l
	return l
}

// key tells objects apart that do not belong to the same frames.
func (fs *frames) key(o pta.ObjID) string {
	var b []byte
	for _, f := range fs.Of(o) {
		b = binary.AppendUvarint(b, uint64(f.id))
	}
	return string(b)
}

// frame returns a frame with what belongs to it.
func (fs *frames) frame(root pta.InstID, loop *stage.Loop) *frame {
	k := frameKey{root, -1}
	if loop != nil {
		k.head = loop.Head
	}
	f := fs.known[k]
	if f == nil {
		f = &frame{Frame: stage.Frame{Root: root, Loop: loop}, id: len(fs.known)}
		fs.known[k] = f
		fs.findOwn(f)
	}
	return f
}

// inside reports whether a point of the root belongs to the frame.
func (f *frame) inside(v *stage.View, p uint32) bool {
	return f.Loop == nil || f.Loop.Blocks.Has(v.Flow(f.Root).Block(p))
}

// reach returns what runs in the frame, or what runs in the program without it.
func (fs *frames) reach(f *frame, within bool) stage.Bits {
	v := fs.r.v
	out := stage.NewBits(len(v.Res.Insts))
	var todo []pta.InstID
	add := func(n pta.InstID) {
		if out.Add(int(n)) {
			todo = append(todo, n)
		}
	}
	enter := func(n pta.InstID) { // from the root: rows with points on the side asked for
		for _, e := range v.Res.Insts[n].Out {
			if v.Has(n, e) && slices.ContainsFunc(v.PointsOf(n, e.Kind, e.Row), func(p uint32) bool { return f.inside(v, p) == within }) {
				add(e.Callee)
			}
		}
	}
	if within {
		enter(f.Root)
	} else {
		add(v.Root())
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == f.Root {
			if within {
				return out // (M1) fails
			}
			enter(n)
			continue
		}
		for _, e := range v.Res.Insts[n].Out {
			if v.Has(n, e) {
				add(e.Callee)
			}
		}
	}
	return out
}

// findOwn fills in live and own.
func (fs *frames) findOwn(f *frame) {
	v := fs.r.v
	f.live = fs.reach(f, true)
	if f.live.Has(int(f.Root)) || f.Loop != nil && f.Loop.Head == 0 { // (M1); or each call is an iteration
		return
	}
	insts := 0
	for i := range v.Res.Insts {
		if f.live.Has(i) {
			if insts++; insts > maxFrameInsts || f.Loop != nil && v.Res.Insts[i].Fn == v.Res.Insts[f.Root].Fn {
				return
			}
		}
	}
	f.live.Add(int(f.Root))
	f.outside = fs.reach(f, false)
	fs.findShared()
	out := fs.shared.Clone()
	var todo []pta.ObjID
	g := v.Res.Func(f.Root)
	cross := func(r facts.Reg) {
		for k := range v.Prog.Layout(g.Regs[r].Type).Ptrs {
			v.Res.PointsTo(f.Root, r, uint32(k)).Each(func(c uint32) {
				if o, _ := v.Res.Object(c); out.Add(int(o)) {
					todo = append(todo, o)
				}
			})
		}
	}
	fs.crossing(f, g, cross)
	fs.spread(out, todo)
	f.own = stage.NewBits(len(v.Res.Objs))
	for o := 1; o < len(v.Res.Objs); o++ {
		if !out.Has(o) {
			f.own.Add(o)
		}
	}
}

// crossing calls cross with the registers of the root that (M2) names.
func (fs *frames) crossing(f *frame, g *facts.Func, cross func(facts.Reg)) {
	if f.Loop == nil {
		for _, r := range g.Params {
			cross(r)
		}
		for _, r := range g.Free {
			cross(r)
		}
		if g.Ret != facts.NoReg {
			cross(g.Ret)
		}
		return
	}
	seen := stage.NewBits(len(g.Regs))
	for b := range g.Blocks {
		in := f.Loop.Blocks.Has(b)
		for p := g.Blocks[b].Start; p < g.Blocks[b].End; p++ {
			if pt := g.Points[p]; pt.Op == facts.OpArith && g.Ariths[pt.Row].Op == facts.ArithLen {
				continue // no pointer gets anywhere
			}
			next := b == f.Loop.Head && g.Points[p].Op == facts.OpPhi
			g.Uses(g.Points[p], func(r facts.Reg) {
				d := g.Regs[r].Def
				computed := d != 0 && f.inside(fs.r.v, d-1)
				if (computed != in || next) && seen.Add(int(r)) {
					cross(r)
				}
			})
		}
	}
}

// findShared fills in shared.
func (fs *frames) findShared() {
	if fs.shared != nil {
		return
	}
	v := fs.r.v
	fs.r.pub.index(fs.r.w)
	fs.shared = stage.NewBits(len(v.Res.Objs))
	var todo []pta.ObjID
	for i := 1; i < len(v.Res.Objs); i++ {
		o := pta.ObjID(i)
		ob := &v.Res.Objs[i]
		ok := ob.Kind == pta.ObjGhost
		if ob.Kind == pta.ObjSite {
			ok = v.Res.Site(o).Kind != facts.SiteUnknown
		}
		if !ok || ob.Untyped || fs.r.pub.reflects.Has(i) {
			fs.shared.Add(i)
			todo = append(todo, o)
		}
	}
	fs.spread(fs.shared, todo)
}

// spread adds to out what some objects lead to.
func (fs *frames) spread(out stage.Bits, todo []pta.ObjID) {
	v := fs.r.v
	add := func(o pta.ObjID) {
		if out.Add(int(o)) {
			todo = append(todo, o)
		}
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ob := &v.Res.Objs[o]
		for i := range ob.N {
			v.Res.Content(ob.Node + i).Each(func(c uint32) {
				q, _ := v.Res.Object(c)
				add(q)
			})
		}
		for _, g := range fs.ghostsOf(o) {
			add(g)
		}
		v.Res.Behind(o, func(c uint32) {
			q, _ := v.Res.Object(c)
			add(q)
		})
	}
}

// made reports whether an object is the frame's and (M5).
func (fs *frames) made(f *frame, o pta.ObjID) bool {
	v := fs.r.v
	if f.own == nil || !f.own.Has(int(o)) || v.Res.Objs[o].Kind != pta.ObjSite {
		return false
	}
	for _, m := range v.MakersOf(o) {
		switch {
		case !v.Live.Has(int(m)):
		case m == f.Root:
			for _, p := range v.AllocsOf(m, o) {
				if !f.inside(v, p) {
					return false
				}
			}
		case f.outside.Has(int(m)):
			return false
		}
	}
	return true
}

// only reports whether an instance other than the root runs in the frame alone:
// no path leads there without the frame; or it is entered as a closure, and all
// closures that may have its captured values are made in the frame; or all that
// calls or starts it is in the frame alone.
func (fs *frames) only(f *frame, n pta.InstID) bool {
	if !f.live.Has(int(n)) || n == f.Root {
		return false
	}
	if !f.outside.Has(int(n)) {
		return true
	}
	if is, ok := f.alone[n]; ok {
		return is
	}
	if f.alone == nil {
		f.alone = map[pta.InstID]bool{}
	}
	f.alone[n] = false
	v := fs.r.v
	is := fs.closuresOf(f, n)
	if !is {
		is = n != v.Root() && !slices.ContainsFunc(v.In(n), func(c stage.Caller) bool {
			if c.Inst == f.Root {
				return slices.ContainsFunc(v.PointsOf(c.Inst, c.Kind, c.Row), func(p uint32) bool { return !f.inside(v, p) })
			}
			return !fs.only(f, c.Inst)
		})
	}
	f.alone[n] = is
	return is
}

// closuresOf reports whether all closures that may enter an instance are made in
// the frame. A closure that does binds what the instance's captured variables may
// point to.
func (fs *frames) closuresOf(f *frame, n pta.InstID) bool {
	v := fs.r.v
	g := v.Res.Func(n)
	if len(g.Free) == 0 || n == v.Root() {
		return false
	}
	ok := true
	for _, c := range v.In(n) {
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo || v.Res.Func(c.Inst).Calls[c.Row].Fn == facts.NoReg {
			return false
		}
		v.Res.PointsTo(c.Inst, v.Res.Func(c.Inst).Calls[c.Row].Fn, 0).Each(func(cell uint32) {
			o, _ := v.Res.Object(cell)
			if s := v.Res.Site(o); ok && s != nil && s.Kind == facts.SiteClosure && s.Fn == g.ID && fs.binds(n, g, o) {
				ok = fs.made(f, o)
			}
		})
	}
	return ok
}

// origin returns the instance that the frames of an instance's accesses may have
// as root, or begin above: where its closures are made, or itself.
func (fs *frames) origin(n pta.InstID) pta.InstID {
	v := fs.r.v
	g := v.Res.Func(n)
	if len(g.Free) == 0 {
		return n
	}
	root := pta.InstID(0)
	for _, c := range v.In(n) {
		if c.Kind == pta.EdgeAny || c.Kind == pta.EdgeAnyGo {
			return n
		}
		v.Res.PointsTo(c.Inst, v.Res.Func(c.Inst).Calls[c.Row].Fn, 0).Each(func(cell uint32) {
			o, _ := v.Res.Object(cell)
			if s := v.Res.Site(o); s == nil || s.Kind != facts.SiteClosure || s.Fn != g.ID || !fs.binds(n, g, o) {
				return
			}
			for _, m := range v.MakersOf(o) {
				if v.Live.Has(int(m)) && root == 0 {
					root = m
				} else if v.Live.Has(int(m)) {
					root = v.CommonDominator(root, m)
				}
			}
		})
	}
	if root == 0 {
		return n
	}
	return root
}

// binds reports whether what a closure binds is among what the captured variables
// of an instance may point to.
func (fs *frames) binds(n pta.InstID, g *facts.Func, o pta.ObjID) bool {
	v := fs.r.v
	cell := v.Res.Objs[o].Node
	for _, r := range g.Free {
		l := v.Prog.Layout(g.Regs[r].Type)
		for k, at := range l.Ptrs {
			has := v.Res.PointsTo(n, r, uint32(k))
			all := true
			v.Res.Content(cell + at).Each(func(c uint32) { all = all && has.Has(c) })
			if !all {
				return false
			}
		}
		cell += uint32(len(l.Cells))
	}
	return true
}

// owner returns the object that a hidden one belongs to.
func (fs *frames) owner(ghost pta.ObjID) pta.ObjID {
	o, _ := fs.r.v.Res.Object(fs.r.v.Res.Objs[ghost].Of)
	return o
}

// ghostsOf lists the hidden objects that belong to an object.
func (fs *frames) ghostsOf(o pta.ObjID) []pta.ObjID {
	if fs.ghosts == nil {
		fs.ghosts = map[pta.ObjID][]pta.ObjID{}
		for i := range fs.r.v.Res.Objs {
			if fs.r.v.Res.Objs[i].Kind == pta.ObjGhost {
				q := fs.owner(pta.ObjID(i))
				fs.ghosts[q] = append(fs.ghosts[q], pta.ObjID(i))
			}
		}
	}
	return fs.ghosts[o]
}

// open makes the view of a frame and its order relation; not if too much was
// spent on such.
func (fs *frames) open(f *frame) bool {
	if f.par == nil {
		r := fs.r
		if fs.spent += len(r.v.Res.Insts); fs.spent > maxFrameWork {
			return false
		}
		f.view = r.v.InFrame(f.Frame, f.own)
		joins := r.waitGroups(f.view)
		f.par = newParallel(f.view, newRunning(f.view, joins), newAwaited(r, f.view, joins))
		if len(fs.list) == keptFrames {
			fs.list[0].view, fs.list[0].par = nil, nil
			fs.list = fs.list[1:]
		}
		fs.list = append(fs.list, f)
	}
	return true
}
