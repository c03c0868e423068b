package pta

import "github.com/bfverify/bfverify/facts"

// ObjID identifies an abstract object: an allocation site with a heap context,
// a global, a function as a value, a ghost. 0 is none.
type ObjID uint32

const noObj ObjID = 0

// ObjKind says what an abstract object stands for.
type ObjKind uint8

// The kinds of object.
const (
	ObjSite ObjKind = iota
	ObjGlobal
	ObjFunc
	ObjGhost
	ObjNew   // made by a model, of a type found at run time
	ObjArith // no object: an address somewhere in object Of, computed with unsafe
	// ObjUnboxed is the variable that reflection makes of what box Of holds, if
	// that has parts. Nobody writes it.
	ObjUnboxed
	ObjBox    // a box that a model makes of what it was given
	ObjType   // no object: stands for type Of in a reflect.Type
	ObjMethod // no object: a method of what node Of holds, at call site As of MethodByName
	ObjRef    // no object: the variable of type As that starts at cell Of
)

// Object is an abstract object. Its cells are the nodes [Node, Node+N).
type Object struct {
	Kind   ObjKind
	Type   facts.TypeID
	Node   uint32
	N      uint32
	Ctx    CtxID          // heap context
	Inst   InstID         // ObjSite: some instance of the function that allocates it
	Fn     facts.FuncID   // ObjSite: the allocating function; ObjFunc: the function
	Site   facts.SiteID   // ObjSite
	Global facts.GlobalID // ObjGlobal
	Of     uint32         // ObjGhost, ObjRef: the cell it belongs to; ObjArith, ObjUnboxed: the object; ObjType: the type
	As     facts.TypeID   // ObjRef: the variable's type
	// Untyped is set when a pointer into the object was converted to a type that
	// it does not have. An access through a pointer of a type that its cell does
	// not have touches the cells that it overlaps.
	Untyped bool
	blurred bool   // Untyped: accesses at other types touch all cells
	foreign uint32 // Untyped: the variable that holds what such stores stored
	elem    element
}

type objKey struct {
	kind ObjKind
	a, b uint32
	ctx  CtxID
}

// elemBase numbers the sites and calls of fn.
func (s *solver) elemBase(fn facts.FuncID) {
	if s.siteBase[fn] == 0 {
		f := s.u.Funcs[fn]
		s.siteBase[fn] = s.nextElem
		s.nextElem += uint32(len(f.Sites))
		s.callBase[fn] = s.nextElem
		s.nextElem += uint32(len(f.Calls)+len(f.Anys)) + 1
		for uint32(len(s.elemFn)) < s.nextElem {
			s.elemFn = append(s.elemFn, fn)
		}
	}
}

// object returns the object for a key, making it with type t.
func (s *solver) object(k objKey, t facts.TypeID, inst InstID) ObjID {
	if o, ok := s.objOf[k]; ok {
		return o
	}
	id := ObjID(len(s.objs))
	o := Object{Kind: k.kind, Type: t, Ctx: k.ctx, Inst: inst, N: 1}
	switch k.kind {
	case ObjSite:
		o.Fn, o.Site = facts.FuncID(k.a), facts.SiteID(k.b)
		o.elem = element(s.siteBase[k.a] + k.b)
	case ObjGlobal:
		o.Global = facts.GlobalID(k.a)
	case ObjFunc:
		o.Fn = facts.FuncID(k.a)
	case ObjGhost, ObjArith, ObjUnboxed, ObjType:
		o.Of = k.a
	case ObjRef, ObjMethod:
		o.Of, o.As = k.a, facts.TypeID(k.b)
	case ObjNew:
		o.Fn, o.Site = facts.FuncID(k.a), facts.SiteID(k.b)
	}
	if k.kind != ObjSite {
		o.elem = element(s.nextElem)
		s.nextElem++
		s.elemFn = append(s.elemFn, o.Fn)
	}
	if t == 0 {
		o.Node = s.nodes(cells, 1)
		s.obj[o.Node] = id
	} else {
		l := s.u.Layout(t)
		o.N = uint32(len(l.Cells))
		o.Node = s.nodes(cells, len(l.Cells))
		for i := range l.Cells {
			c := &l.Cells[i]
			n := o.Node + uint32(i)
			s.typ[n], s.decl[n], s.obj[n] = c.Type, c.Type, id
			for _, t := range c.Types {
				s.starts(n, t)
			}
		}
	}
	s.objs = append(s.objs, o)
	s.objReach = append(s.objReach, 0)
	if box, fn := s.isBox(&o), o.Kind == ObjFunc || o.Kind == ObjMethod || s.isClosure(&o); box || fn {
		for i := range o.N {
			if box {
				s.boxCells.Add(o.Node + i)
			} else {
				s.funcCells.Add(o.Node + i)
			}
		}
	}
	switch {
	case o.Kind == ObjRef:
		s.refCells.Add(o.Node)
		s.values.Add(o.Node)
		s.like(s.u.SkeletonOf(o.As)).Add(o.Node)
	case s.isBox(&o):
		for i := range o.N {
			s.values.Add(o.Node + i)
			s.like(s.u.SkeletonOf(o.Type)).Add(o.Node + i)
		}
	}
	s.objOf[k] = id
	return id
}

func (s *solver) isBox(o *Object) bool {
	return o.Kind == ObjBox || o.Kind == ObjSite && s.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteBox
}

func (s *solver) isClosure(o *Object) bool {
	return o.Kind == ObjSite && s.u.Funcs[o.Fn].Sites[o.Site].Kind == facts.SiteClosure
}

// ptrCells returns the offsets of an object's pointer-like cells.
func (s *solver) ptrCells(o ObjID) []uint32 {
	if t := s.objs[o].Type; t != 0 {
		return s.u.Layout(t).Ptrs
	}
	return nil
}

// like returns the set of references and boxes that stand for a value of a type
// with skeleton k.
func (s *solver) like(k facts.SkeletonID) *Set {
	for int(k) >= len(s.valuesLike) {
		s.valuesLike = append(s.valuesLike, nil)
	}
	if s.valuesLike[k] == nil {
		s.valuesLike[k] = new(Set)
	}
	return s.valuesLike[k]
}
