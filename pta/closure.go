package pta

import (
	"cmp"
	"slices"

	"github.com/bfverify/bfverify/facts"
)

// Deep reads are computed last: nothing depends on what they touch. Those of
// everything that is reachable are the closure of the graph of objects, by its
// strongly connected components (Tarjan, 1972).

// deepRead is Deeps[row] of an instance, which reads.
type deepRead struct {
	inst InstID
	row  uint32
}

// deepReads computes what all deep reads touch, and notes how many there were.
func (s *solver) deepReads() error {
	var all []deepRead
	for _, r := range s.reads {
		in := s.insts[r.inst]
		f := s.u.Funcs[in.Fn]
		if f.Deeps[r.row].How == facts.ReachAll {
			all = append(all, r)
		} else {
			s.touches(r.inst, in, f, r.row)
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	c := newReachability(s)
	for _, r := range all {
		in := s.insts[r.inst]
		f := s.u.Funcs[in.Fn]
		x := f.Deeps[r.row].X
		touched := in.Deep + r.row
		switch n := s.leaves(f, x); n {
		case 0:
		case 1:
			set, err := c.from(in.Base + f.Regs[x].Node)
			if err != nil {
				return err
			}
			s.pts[touched] = set
		default:
			s.pts[touched] = new(Set)
			for i := range uint32(n) {
				set, err := c.from(in.Base + f.Regs[x].Node + i)
				if err != nil {
					return err
				}
				s.pts[touched].addAll(set)
			}
		}
	}
	return nil
}

// reachability computes what nodes reach in the solution: for each node and
// object the cells of all objects on paths from there. Vertices are objects and
// nodes; those of a cycle share one set. Sets share chunks.
type reachability struct {
	s      *solver
	nodes  []uint32 // vertex by node, 0 if none yet
	objs   []uint32 // the same by object
	verts  []vertex
	buf    []uint32 // successors of the frames
	frames []frame
	stack  []uint32
	next   uint32
}

// vertex is an object or, where that is 0, a node.
type vertex struct {
	obj        ObjID
	node       uint32
	index, low uint32
	set        *Set // when done
}

// frame is a vertex whose successors are being visited: buf[start:], the next
// at i.
type frame struct {
	v        uint32
	start, i int
}

func newReachability(s *solver) *reachability {
	return &reachability{s: s, nodes: make([]uint32, len(s.rep)), objs: make([]uint32, len(s.objs)), verts: make([]vertex, 1)}
}

// from returns the cells that node n reaches. The caller must not change the set.
func (c *reachability) from(n uint32) (*Set, error) {
	v := c.node(n)
	if c.verts[v].index == 0 {
		if err := c.visit(v); err != nil {
			return nil, err
		}
	}
	return c.verts[v].set, nil
}

func (c *reachability) node(n uint32) uint32 {
	n = c.s.find(n)
	if c.nodes[n] == 0 {
		c.nodes[n] = uint32(len(c.verts))
		c.verts = append(c.verts, vertex{node: n})
	}
	return c.nodes[n]
}

// object returns the vertex of object o. What the solver has found to be
// reachable from it is final.
func (c *reachability) object(o ObjID) uint32 {
	if c.objs[o] == 0 {
		c.objs[o] = uint32(len(c.verts))
		v := vertex{obj: o}
		if r := c.s.objReach[o]; r != 0 {
			v.index, v.set = ^uint32(0), c.s.pts[c.s.find(r)]
		}
		c.verts = append(c.verts, v)
	}
	return c.objs[o]
}

// successors appends the successors of vertex v to buf; the same as in
// fillObject, but that a box of which nobody has a copy stands for itself.
func (c *reachability) successors(v uint32, buf []uint32) []uint32 {
	s, id := c.s, c.verts[v].obj
	if id == 0 {
		last := noObj
		if x := s.pts[c.verts[v].node]; x != nil {
			x.Each(func(p uint32) {
				if o := s.obj[p]; o != last {
					last = o
					buf = append(buf, c.object(o))
				}
			})
		}
		return buf
	}
	o := &s.objs[id]
	switch o.Kind {
	case ObjArith:
		buf = append(buf, c.object(ObjID(o.Of)))
	case ObjRef:
		buf = append(buf, c.object(s.obj[o.Of]))
	}
	if s.isBox(o) {
		if u, ok := s.objOf[objKey{ObjUnboxed, uint32(id), 0, 0}]; ok {
			return append(buf, c.object(u))
		}
	}
	for _, p := range s.ptrCells(id) {
		buf = append(buf, c.node(o.Node+p))
	}
	for _, g := range s.ghostsOf[id] {
		buf = append(buf, c.object(g))
	}
	if o.Untyped {
		buf = append(buf, c.node(o.foreign))
	}
	return buf
}

// visit computes the set of vertex v and of all that it reaches.
func (c *reachability) visit(v uint32) error {
	c.enter(v)
	for len(c.frames) > 0 {
		if err := c.s.tick(); err != nil {
			return err
		}
		f := &c.frames[len(c.frames)-1]
		if f.i < len(c.buf) {
			w := &c.verts[c.buf[f.i]]
			f.i++
			switch {
			case w.index == 0:
				c.enter(c.buf[f.i-1])
			case w.set == nil:
				c.verts[f.v].low = min(c.verts[f.v].low, w.index)
			}
			continue
		}
		done := *f
		c.frames = c.frames[:len(c.frames)-1]
		c.buf = c.buf[:done.start]
		x := &c.verts[done.v]
		if len(c.frames) > 0 {
			p := &c.verts[c.frames[len(c.frames)-1].v]
			p.low = min(p.low, x.low)
		}
		if x.low == x.index {
			c.component(done.v)
		}
	}
	return nil
}

func (c *reachability) enter(v uint32) {
	c.next++
	c.verts[v].index, c.verts[v].low = c.next, c.next
	c.stack = append(c.stack, v)
	start := len(c.buf)
	c.buf = c.successors(v, c.buf)
	slices.Sort(c.buf[start:])
	c.buf = c.buf[:start+len(slices.Compact(c.buf[start:]))]
	c.frames = append(c.frames, frame{v, start, start})
}

// component gives the vertices on the stack, down to v, their set: the cells of
// the objects among them and what their other successors reach, the largest
// first, since they often hold the others.
func (c *reachability) component(v uint32) {
	i := len(c.stack) - 1
	for c.stack[i] != v {
		i--
	}
	members := c.stack[i:]
	c.stack = c.stack[:i]
	var out []uint32
	own := false
	for _, m := range members {
		own = own || c.verts[m].obj != 0
		out = c.successors(m, out)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	out = slices.DeleteFunc(out, func(w uint32) bool { return c.verts[w].set == nil })
	slices.SortStableFunc(out, func(a, b uint32) int {
		return cmp.Compare(c.verts[b].set.Len(), c.verts[a].set.Len())
	})
	set := new(Set)
	shared := false
	if !own && len(out) > 0 {
		set, shared = c.verts[out[0]].set, true
		out = out[1:]
	}
	var last *Set
	for _, w := range out {
		x := &c.verts[w]
		if x.set == last || x.set == set || x.obj != 0 && set.Has(c.s.objs[x.obj].Node) {
			continue
		}
		last = x.set
		if shared {
			all := new(Set)
			all.addAll(set)
			set, shared = all, false
		}
		c.s.stats.Effort += 1 + len(x.set.keys)
		set.addAll(x.set)
	}
	for _, m := range members {
		if o := c.verts[m].obj; o != 0 {
			for i := range c.s.objs[o].N {
				set.Add(c.s.objs[o].Node + i)
			}
		}
	}
	for _, m := range members {
		c.verts[m].set = set
	}
}
