package check

import "github.com/bfverify/bfverify/facts"

// escape checks that the claimed escape set is closed: an object outside it is
// reachable from the registers of one goroutine alone, because every other way
// into another goroutine leads through what these rules name.
//
//	(E1) variables of packages escape
//	(E2) what a go statement is handed escapes: closure, receiver, arguments
//	(E3) what the cells of an escaped object may point to escapes, and so do their
//	     hidden cells
func (k *checker) escape(ask *Asked) {
	for o := 1; o < len(k.c.Objects); o++ {
		if k.c.Objects[o].Kind == ObjGlobal {
			ask.Escapes("E1", ObjID(o))
		}
	}
	all := func(rule string, s SetID) {
		for _, c := range k.set(s) {
			ask.Escapes(rule, k.objOf[c])
		}
	}
	for i := 1; i < len(k.c.Insts); i++ {
		id := InstID(i)
		f := k.fn(id)
		for row := range f.Calls {
			c := &f.Calls[row]
			if c.Mode != facts.ModeGo {
				continue
			}
			for _, r := range append([]facts.Reg{c.Fn, c.Recv}, c.Args...) {
				for n := range k.leaves(f, r) {
					all("E2", k.pts(id, r, n))
				}
			}
		}
	}
	for o := 1; o < len(k.c.Objects); o++ {
		if !k.c.Escaped.Has(o) {
			continue
		}
		for n := range k.cells(ObjID(o)) {
			c := k.c.Objects[o].First + n
			all("E3", k.c.Content[c])
			for _, g := range k.ghosts[c] {
				ask.Escapes("E3", g)
			}
		}
	}
}

// private reports whether one goroutine alone has pointers to the object of a cell.
func (k *checker) private(c uint32) bool { return !k.c.Escaped.Has(int(k.objOf[c])) }
