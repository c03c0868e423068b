package pta

import (
	"math"

	"github.com/bfverify/bfverify/facts"
)

// view makes the object of cell p fit at type t (of a pointer, slice, map or
// channel), to which unsafe converted a pointer to it: (F4).
//
// If the object has the same cells as the type, they get its shapes. Else
// the cells stay as they are for accesses through pointers of types that they
// have; foreignAccess says what others do.
func (s *solver) view(p uint32, t facts.TypeID) {
	id := s.obj[p]
	o := &s.objs[id]
	if !o.Untyped && s.sameCells(p, o, s.target(t)) {
		s.viewCells(p, s.target(t))
		return
	}
	s.untype(p, t)
}

// untype is view for a type that has other cells than the object.
func (s *solver) untype(p uint32, t facts.TypeID) {
	id := s.obj[p]
	o := &s.objs[id]
	var fresh Set
	for _, c := range s.u.Layout(s.target(t)).Cells {
		for _, x := range c.Types {
			for i := range o.N {
				if s.viewsAs(o.Node+i, x) {
					fresh.Add(o.Node + i)
				}
			}
		}
	}
	s.reconsider(&fresh)
	if o.Untyped {
		return
	}
	o.Untyped = true
	for _, n := range s.refs[id] { // they are taken whole now
		s.refit.Add(n)
		if s.cellReach[n] != 0 {
			s.reachTodo = append(s.reachTodo, reachJob{cell: n})
		}
	}
	s.stats.Untyped++
	foreign := s.node(0)
	o.foreign = foreign
	for i := range o.N {
		s.refit.Add(o.Node + i)
	}
	if r := s.objReach[id]; r != 0 {
		s.copyEdge(s.contentReach(everything, foreign), r, flows)
	}
}

// sameCells reports whether a variable of type t at cell p of ob has a cell for
// each one of the object's, at the same bytes and of the same kind: a pointer of
// any type, or a number. Such a view keeps the object's cells apart:
// atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&x.f))) is one.
func (s *solver) sameCells(p uint32, ob *Object, t facts.TypeID) bool {
	have, want := s.u.Layout(ob.Type).Cells[p-ob.Node:], s.u.Layout(t).Cells
	if len(want) > len(have) || want[0].Array != 0 && have[0].Array == 0 && len(have) > 1 {
		return false
	}
	for i := range want {
		a, b := &have[i], &want[i]
		if len(want) > 1 && (a.Array != 0 || b.Array != 0) || a.Off-have[0].Off != b.Off || a.Size != b.Size {
			return false
		}
		x, y := &s.u.Types[a.Type], &s.u.Types[b.Type]
		if x.Shape != y.Shape && (!x.Kind.OneWord() || !y.Kind.OneWord()) && (x.Kind != facts.Scalar || y.Kind != facts.Scalar || x.Shape == "string" || y.Shape == "string") {
			return false
		}
	}
	return true
}

// viewCells makes the cells from p on fit where those of a variable of type t do.
func (s *solver) viewCells(p uint32, t facts.TypeID) {
	var fresh Set
	for i, c := range s.u.Layout(t).Cells {
		q := p + uint32(i)
		for _, x := range c.Types {
			if s.viewsAs(q, x) {
				fresh.Add(q)
				s.viewed.Add(q)
			}
		}
		if x := &s.u.Types[c.Type]; x.Kind == facts.FuncKind {
			s.loosenFuncs(c.Type)
		}
	}
	s.reconsider(&fresh)
}

// accessMode is how a value of type t is loaded from or stored into cell q
// through a pointer to cell p. In a cell that was viewed, pointers of another
// type are converted: an unsafe.Pointer by (U2).
func (s *solver) accessMode(p, q uint32, t facts.TypeID) edgeMode {
	if !s.viewed.Has(p) {
		return flows
	}
	a, b := &s.u.Types[t], &s.u.Types[s.decl[q]]
	switch {
	case a.Shape == b.Shape:
		return flows
	case a.Kind == facts.UnsafePointer || b.Kind == facts.UnsafePointer:
		return opaque
	}
	return views
}

// raw reports whether o is an array of bytes and t points to plain numbers.
func (s *solver) raw(o ObjID, t facts.TypeID) bool {
	ob := &s.objs[o]
	elem := s.target(t)
	if elem == 0 || ob.Type == 0 || ob.N != 1 || !s.isBytes(&s.u.Layout(ob.Type).Cells[0]) {
		return false
	}
	ok := true
	l := s.u.Layout(elem)
	for i := range l.Cells {
		s.words(&l.Cells[i], func(_ int64, w byte) { ok = ok && w != 'p' })
	}
	return ok
}

// asBytes reports whether t points to a byte or to an array of bytes: memory of
// any type is looked at so, also through an unsafe.Pointer that was passed.
func (s *solver) asBytes(t facts.TypeID) bool {
	elem := s.target(t)
	for elem != 0 && s.u.Types[elem].Kind == facts.Array {
		elem = s.u.Types[elem].Elem
	}
	return elem != 0 && s.u.Types[elem].Shape == "uint8"
}

func (s *solver) isBytes(c *facts.Cell) bool {
	return c.Array != 0 && s.u.Types[c.Type].Shape == "uint8"
}

// viewKey names a question to plausible.
type viewKey struct {
	of, as facts.TypeID
	off    uint32
}

// plausible reports whether a pointer to cell p may be converted to type t by
// rule (1) of package unsafe: the target is no larger, and has an equivalent
// memory layout, that is, pointers where the object has pointers (the garbage
// collector needs that too). A target without pointers fits all memory, bytes
// fit any target, a uintptr fits a pointer. That programs keep to the rule is an
// assumption: without it, one function that converts to several types is taken
// to view all that it is handed at each of them.
func (s *solver) plausible(p uint32, ob *Object, t facts.TypeID) bool {
	elem := s.target(t)
	if ob.Type == 0 || elem == 0 {
		return false
	}
	k := viewKey{ob.Type, elem, p - ob.Node}
	if r, ok := s.fits[k]; ok {
		return r
	}
	r := s.plausibleView(k)
	s.fits[k] = r
	return r
}

func (s *solver) plausibleView(k viewKey) bool {
	have, want := s.u.Layout(k.of), s.u.Layout(k.as)
	base := &have.Cells[k.off]
	least := k.as // an array may be larger: programs slice it to the length that is there
	if s.u.Types[least].Kind == facts.Array {
		least = s.u.Types[least].Elem
	}
	if base.Array == 0 && base.Off+s.u.Types[least].Size > s.u.Types[k.of].Size {
		return false
	}
	if len(want.Ptrs) == 0 {
		return true
	}
	if s.isBytes(base) {
		return true // an arena
	}
	words := map[int64]byte{}
	for i := range have.Cells {
		if c := &have.Cells[i]; c.Array == base.Array {
			s.words(c, func(off int64, w byte) { words[off] = w })
		}
	}
	ok := true
	for i := range want.Cells {
		c := &want.Cells[i]
		if c.Array != want.Cells[0].Array {
			continue
		}
		s.words(c, func(off int64, w byte) {
			if h := words[base.Off+off]; h != w && h != 'u' && w != 'u' && (h != 0 || w == 'p') {
				ok = false
			}
		})
	}
	return ok
}

// words tells f of each word of a cell whether it is a pointer ('p'), a number
// ('n') or a uintptr ('u').
func (s *solver) words(c *facts.Cell, f func(off int64, w byte)) {
	kinds := "n"
	switch ty := &s.u.Types[c.Type]; ty.Kind {
	case facts.Slice:
		kinds = "pnn"
	case facts.Interface:
		kinds = "pp"
	case facts.Scalar:
		switch ty.Shape {
		case "string":
			kinds = "pn"
		case "uintptr":
			kinds = "u"
		case "complex128":
			kinds = "nn"
		}
	default:
		kinds = "p"
	}
	for i := range len(kinds) {
		f(c.Off&^7+int64(8*i), kinds[i])
	}
}

// edgeMode says what a copy edge does with cells that do not fit its target.
type edgeMode uint8

const (
	// flows refuses them.
	flows edgeMode = iota
	// views makes them fit: an address is converted where it is taken.
	views
	// opaque is a conversion of an unsafe.Pointer that was passed or kept. It
	// refuses cells that do not fit, but for bytes that are viewed as numbers and
	// memory that is viewed as bytes: that such a pointer is converted back to a
	// type that its object has is an assumption.
	opaque
	// arithmetic gives an address somewhere in the object. A conversion of it to
	// a pointer gives the cells that have the type; in raw memory that has none,
	// the object viewed at the type. That arithmetic in a structured object leads
	// to a field of the type that the result is given is an assumption.
	arithmetic
)

// unsafeEdge stands for the copy edges out of one node of another mode than
// flows, to variables declared with type typ: they lead there by way of a
// variable of that type.
type unsafeEdge struct {
	mode edgeMode
	typ  facts.TypeID
	via  uint32
}

// unsafely returns the variable of type typ that gets what node src holds by an
// edge of another mode than flows.
func (s *solver) unsafely(src uint32, mode edgeMode, typ facts.TypeID) uint32 {
	for _, e := range s.usucc[src] {
		if e.mode == mode && e.typ == typ {
			return e.via
		}
	}
	s.loosen(typ)
	via := s.node(typ)
	s.usucc[src] = append(s.usucc[src], unsafeEdge{mode, typ, via})
	s.newEdges++
	if s.pts[src] != nil {
		s.flowUnsafe(s.pts[src], via, mode, typ)
	}
	return via
}

// dereferenced returns from without references, whose words are what they refer
// to or what pointers there hold: through one variable for all of the program.
// Types tell apart what comes out where it is used.
func (s *solver) dereferenced(from *Set, dst uint32, mode edgeMode, t facts.TypeID) *Set {
	var refs, fresh Set
	refs.addMeet(from, &s.refCells)
	if refs.Empty() {
		return from
	}
	if s.refWords == 0 {
		s.refWords = s.node(0)
	}
	fresh.addMinus(&refs, &s.worded)
	s.worded.addAll(&fresh)
	for _, p := range fresh.Elems(nil) {
		ob := s.objs[s.obj[p]]
		s.insert(s.find(s.refWords), ob.Of)
		if k := s.u.Types[ob.As].Kind; k.PointerLike() && k != facts.Slice && k != facts.Interface {
			s.copyEdge(ob.Of, s.refWords, flows)
		}
	}
	if mode != arithmetic {
		mode = opaque
	}
	s.typedEdge(s.refWords, dst, mode, t)
	out := new(Set)
	out.addMinus(from, &refs)
	return out
}

// flowUnsafe lets everything flow: what does not fit is viewed at type t, with
// which dst was declared, from now on. An interface value seen as its words is what it holds, if that
// is a pointer, else a pointer to it.
func (s *solver) flowUnsafe(from *Set, dst uint32, mode edgeMode, t facts.TypeID) {
	if t == 0 {
		s.flow(from, dst)
		return
	}
	var add Set
	kind := s.u.Types[t].Kind
	if kind != facts.Interface {
		from = s.dereferenced(from, dst, mode, t)
		dst = s.find(dst)
	}
	if mode == arithmetic {
		last := noObj
		for _, p := range from.Elems(nil) {
			if o := s.obj[p]; o != last {
				last = o
				switch ob := &s.objs[o]; {
				case ob.Kind == ObjFunc, ob.Kind == ObjMethod, ob.Kind == ObjType, ob.Kind == ObjArith:
					add.Add(p)
				case ob.Kind != ObjGhost:
					add.Add(s.objs[s.object(objKey{ObjArith, uint32(o), 0, 0}, 0, 0)].Node)
				}
			}
		}
	} else {
		add.addAll(from)
	}
	if kind != facts.Interface {
		var boxes Set
		boxes.addMeet(from, &s.boxCells)
		for _, p := range boxes.Elems(nil) {
			o := &s.objs[s.obj[p]]
			if ty := s.u.Types[o.Type]; o.Node == p && ty.Kind.PointerLike() && ty.Kind != facts.Slice && ty.Kind != facts.Interface {
				s.typedEdge(p, dst, mode, t)
			}
		}
		dst = s.find(dst)
	}
	if k, ok := s.targetClass(t); ok {
		var odd, parts Set
		odd.addMinus(&add, s.cellsOf(k))
		bytes := s.asBytes(t)
		for _, p := range odd.Elems(nil) {
			switch ob := &s.objs[s.obj[p]]; {
			case ob.Kind == ObjFunc:
			case ob.Kind == ObjArith:
				of := ob.Of
				b := &s.objs[of]
				for i := range b.N {
					parts.Add(b.Node + i)
				}
				if bytes {
					s.viewBytes(ObjID(of), t, &parts)
				} else if s.raw(ObjID(of), t) && !s.native(b.Node, b, t) && s.plausible(b.Node, b, t) {
					s.view(b.Node, t)
				}
			case !bytes && !s.cellsOf(k).Has(p) && (mode == views || s.raw(s.obj[p], t)) && s.plausible(p, ob, t):
				s.view(p, t)
			}
		}
		if bytes {
			last := noObj
			for _, p := range add.Elems(nil) {
				if o := s.obj[p]; o != last {
					last = o
					s.viewBytes(o, t, &parts)
				}
			}
		} else if size, many := s.elements(t); many && mode == views {
			for _, p := range add.Elems(nil) {
				if s.obj[p] != noObj && s.objs[s.obj[p]].Type != 0 && s.cellsOf(k).Has(p) {
					s.following(p, t, size, &parts)
				}
			}
		}
		add.addMeet(&parts, s.cellsOf(k))
		dst = s.find(dst)
	}
	if kind == facts.FuncKind && mode == views { // (F4)
		var made Set
		made.addMinus(&add, &s.funcCells)
		s.funcCells.addAll(&made)
		s.refit.addAll(&made)
	}
	s.flowFiltered(&add, dst)
}

// viewBytes makes all cells of an object fit type t, which leads to bytes, and
// adds them to parts: who goes on from one byte to the next reaches them all. Bytes hold no
// pointers, so that the cells stay apart, whatever is done to them so.
func (s *solver) viewBytes(id ObjID, t facts.TypeID, parts *Set) {
	ob := &s.objs[id]
	if ob.Type == 0 || ob.N == 1 && s.isBytes(&s.u.Layout(ob.Type).Cells[0]) {
		return
	}
	var fresh Set
	for q := ob.Node; q < ob.Node+ob.N; q++ {
		if s.viewsAs(q, s.base(s.target(t))) {
			fresh.Add(q)
			s.viewed.Add(q)
		}
		parts.Add(q)
	}
	s.reconsider(&fresh)
}

// elements reports whether a value of type t, a slice or a pointer to an array,
// leads to several elements, and to how many bytes of them.
func (s *solver) elements(t facts.TypeID) (size int64, many bool) {
	switch ty := &s.u.Types[t]; {
	case ty.Kind == facts.Slice:
		return math.MaxInt32, true
	case ty.Kind == facts.Pointer && s.u.Types[ty.Elem].Kind == facts.Array:
		return s.u.Types[ty.Elem].Size, s.u.Types[ty.Elem].Size > s.u.Types[s.base(ty.Elem)].Size
	}
	return 0, false
}

// manyElements reports whether t is an array of more than one element.
func (s *solver) manyElements(t facts.TypeID) bool {
	ty := &s.u.Types[t]
	return ty.Kind == facts.Array && ty.Size > s.u.Types[ty.Elem].Size
}

// seenAsArray reports whether a pointer of type t, to the type's cell off, sees an
// array where object ob has cell q, which is in none: its elements may then be the
// cells that follow, too.
func (s *solver) seenAsArray(q uint32, ob *Object, t facts.TypeID, off uint32) bool {
	elem := s.target(t)
	if elem == 0 || s.u.Layout(ob.Type).Cells[q-ob.Node].Array != 0 {
		return false
	}
	l := s.u.Layout(elem)
	return int(off) < len(l.Cells) && l.Cells[off].Array != 0
}

// access is a load or store, by a pointer to cell p, of cell q.
func (s *solver) access(c constraint, p, q uint32) {
	mode := s.accessMode(p, q, s.decl[c.a])
	if c.kind == consLoad {
		s.copyEdge(q, c.a, mode)
	} else {
		s.copyEdge(c.a, q, mode)
	}
}

// following adds to parts the cells after p that are elements, too, of the slice
// or array of type t and so many bytes that unsafe takes to start at cell p:
// fields of one type in a row are such. If others follow, and elements are
// numbers, which fit all memory, the object is viewed.
func (s *solver) following(p uint32, t facts.TypeID, size int64, parts *Set) {
	ob := &s.objs[s.obj[p]]
	cells := s.u.Layout(ob.Type).Cells
	base, elem := &cells[p-ob.Node], s.u.Layout(s.base(s.target(t)))
	k, _ := s.targetClass(t)
	for q := p + uint32(len(elem.Cells)); q < ob.Node+ob.N; q++ {
		c := &cells[q-ob.Node]
		switch {
		case c.Array != base.Array && base.Array != 0:
		case c.Array == base.Array && base.Array == 0 && c.Off >= base.Off+size:
			return
		case s.cellsOf(k).Has(q):
			parts.Add(q)
		case ob.Untyped:
		case s.sameCells(q, ob, s.base(s.target(t))):
			s.viewCells(q, s.base(s.target(t)))
			parts.Add(q)
		case len(elem.Ptrs) == 0:
			s.untype(p, t)
			parts.Add(q)
		}
	}
}

// conversion tells how register x is converted to d: an unsafe.Pointer to
// something is a view if it is the address of a variable, made right here, else
// opaque; to an unsafe.Pointer it is arithmetic.
func (s *solver) conversion(f *facts.Func, d, x facts.Reg) edgeMode {
	if s.u.Types[f.Regs[d].Type].Kind == facts.UnsafePointer {
		return arithmetic
	}
	if s.u.Types[f.Regs[x].Type].Kind != facts.UnsafePointer {
		return views
	}
	if def := f.Regs[x].Def; def != 0 {
		if p := f.Points[def-1]; p.Op == facts.OpCopy {
			if y := f.Copies[p.Row].Src; s.u.Types[f.Regs[y].Type].Kind.PointerLike() && s.u.Types[f.Regs[y].Type].Kind != facts.UnsafePointer {
				return views
			}
		}
	}
	return opaque
}

// foreignRange returns the bytes that cell off of what a pointer of type t
// points to takes, if it points to cell p of ob; ok is false if an array makes
// that unclear.
func (s *solver) foreignRange(p uint32, ob *Object, t facts.TypeID, off uint32) (from, to int64, ok bool) {
	elem := s.target(t)
	base := &s.u.Layout(ob.Type).Cells[p-ob.Node]
	if elem == 0 || base.Array != 0 || ob.blurred || s.u.Types[elem].Kind == facts.Array {
		return 0, 0, false
	}
	l := s.u.Layout(elem)
	if int(off) >= len(l.Cells) || l.Cells[off].Array != 0 {
		return 0, 0, false
	}
	c := &l.Cells[off]
	return base.Off + c.Off, base.Off + c.Off + c.Size, true
}

// foreignAddr derives the address of a part of an untyped object, through a
// pointer to cell p of a type that the cell does not have: the cell that starts
// at that byte. If there is none, the object is blurred: from then on every
// such access touches all cells.
func (s *solver) foreignAddr(c constraint, p uint32, o ObjID) {
	ob := &s.objs[o]
	from, _, ok := s.foreignRange(p, ob, c.typ, c.off)
	cells := s.u.Layout(ob.Type).Cells
	if ok {
		for i := range cells {
			if cells[i].Array == 0 && cells[i].Off == from {
				s.pointsTo(c.a, ob.Node+uint32(i))
				return
			}
		}
	}
	if !ob.blurred {
		ob.blurred = true
		for i := range ob.N {
			s.refit.Add(ob.Node + i)
		}
	}
	for i := range cells {
		s.pointsTo(c.a, ob.Node+uint32(i))
	}
}

// foreignAccess is a load or store through a pointer to cell p of an untyped
// object, of a type that the cell does not have. It touches the cells whose
// bytes it overlaps, or all if that is unclear. What is loaded from or stored
// into a cell that holds pointers is viewed at the other type; what overlaps no
// such cell goes through a variable of its own.
func (s *solver) foreignAccess(c constraint, p uint32, o ObjID) {
	ob := s.objs[o]
	from, to, ok := s.foreignRange(p, &ob, c.typ, c.off)
	plain := false
	cells := s.u.Layout(ob.Type).Cells
	for i := range cells {
		x := &cells[i]
		if ok && x.Array == 0 && (x.Off >= to || from >= x.Off+x.Size) {
			continue
		}
		switch q := ob.Node + uint32(i); {
		case !x.Ptr:
			plain = true
		case c.kind == consStore:
			s.copyEdge(c.a, q, views)
		default:
			s.copyEdge(q, c.a, views)
		}
	}
	if plain && c.kind == consStore {
		s.copyEdge(c.a, ob.foreign, flows)
	} else if plain {
		s.copyEdge(ob.foreign, c.a, opaque)
	}
}
