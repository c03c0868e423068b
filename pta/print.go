package pta

import "github.com/bfverify/bfverify/facts"

// What printing looks at: a block of variables for each slice of operands.
//
//	(P1) the operands' array, and what its boxes hold; a pointer is followed (top)
//	(P2) of all that: what slices, maps and interfaces hold (below), and so on
//	(P3) what other pointers point to is not read, but they are given for their
//	     methods, which are called on nil, too (also)
//	(P4) a reflect.Value is printed as the variable that it denotes
//	(P5) the parts of what a box holds that fmt may use, exported ones, are given
//	     for their methods too
const (
	printRead = iota // all that is read
	printOperand
	printTop
	printBelow
	printAlso
	printVars
)

// printVisit is a look of one kind at an object, for the operands of a block.
type printVisit struct {
	kind consKind
	b    uint32
	o    ObjID
}

// visit records a look and reports whether it is the first of its kind.
func (s *solver) visit(v printVisit) bool {
	seen := s.printVisits[v]
	s.printVisits[v] = true
	return !seen
}

// printed returns the block for the slice of operands in node n.
func (s *solver) printed(n uint32) uint32 {
	b, ok := s.prints[n]
	if !ok {
		b = s.nodes(variables, printVars)
		s.prints[n] = b
		s.on(n, constraint{kind: consPrint, off: b})
		s.on(b+printOperand, constraint{kind: consPrintOperand, off: b})
		s.on(b+printTop, constraint{kind: consPrintValue, off: b})
		s.on(b+printBelow, constraint{kind: consPrintValue, off: b})
	}
	return b
}

// print applies (P1) to (P4) to object o.
func (s *solver) print(kind consKind, b uint32, o ObjID) {
	ob := s.objs[o]
	if ob.Kind == ObjRef {
		for _, q := range s.variable(ob.Of, ob.As, false) {
			s.insert(s.find(b+printRead), q)
			if cell := s.cell(q); cell != nil && cell.Ptr {
				s.printCell(kind, b, q, cell.Type)
			}
		}
		return
	}
	if kind == consPrintOperand && !s.isBox(&ob) {
		for i := range ob.N { // a cell that reflection made an operand of
			s.insert(s.find(b+printTop), ob.Node+i)
		}
		return
	}
	// What one of these constraints does to an object, another does not: an operand
	// may have been met in a slice, and a part of an object before the whole.
	if !s.visit(printVisit{kind, b, o}) {
		return
	}
	s.insertAll(s.find(b+printRead), &ob)
	if s.isBox(&ob) { // (P5)
		if v := s.unboxed(o); v != o {
			s.giveParts(b+printAlso, s.objs[v].Node, ob.Type)
		}
	}
	for _, c := range s.ptrCells(o) {
		s.printCell(kind, b, ob.Node+c, s.u.Layout(ob.Type).Cells[c].Type)
	}
}

// giveParts adds to node dst references to the parts of the variable of type t at
// cell p that reflection lets a program use, and to theirs.
func (s *solver) giveParts(dst, p uint32, t facts.TypeID) {
	switch ty := &s.u.Types[t]; ty.Kind {
	case facts.Array:
		s.give(dst, p, ty.Elem)
		s.giveParts(dst, p, ty.Elem)
	case facts.Struct:
		s.fields(p, t, false, func(p uint32, t facts.TypeID) {
			s.give(dst, p, t)
			s.giveParts(dst, p, t)
		})
	}
}

// inValue reports whether cell q is the pointer in a reflect.Value, its second
// field.
func (s *solver) inValue(q uint32) bool {
	if s.obj[q-1] != s.obj[q] {
		return false
	}
	for _, t := range s.cell(q - 1).Types {
		if s.u.Types[t].Name == "reflect.Value" {
			return true
		}
	}
	return false
}

// printCell follows what cell q of type t holds, if q is part of what
// constraint kind looks at.
func (s *solver) printCell(kind consKind, b, q uint32, t facts.TypeID) {
	k := s.u.Types[t].Kind
	switch {
	case kind == consPrint:
		s.copyEdge(q, b+printOperand, flows)
	case k == facts.Slice, k == facts.Map, k == facts.Interface:
		s.copyEdge(q, b+printBelow, flows)
	case k == facts.UnsafePointer:
		if !s.inValue(q) {
			return // printed as a number
		}
		vals := s.node(0)
		s.on(q, constraint{kind: consHandle, only: true, a: vals})
		s.copyEdge(vals, b+printOperand, flows)
	case kind == consPrintOperand && k == facts.Pointer:
		s.copyEdge(q, b+printTop, flows)
	case k == facts.Pointer && !s.isBox(&s.objs[s.obj[q]]):
		s.give(b+printAlso, q, t)
	}
}
