package progen

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
)

// A set is a set of accesses, by number.
type set []uint64

func (s set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s set) del(i int)      { s[i>>6] &^= 1 << (i & 63) }
func (s set) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

// join adds t to s and reports whether s grew.
func (s set) join(t set) bool {
	grew := false
	for i, w := range t {
		if w&^s[i] != 0 {
			s[i] |= w
			grew = true
		}
	}
	return grew
}

func (s set) meets(t set) bool {
	for i, w := range t {
		if s[i]&w != 0 {
			return true
		}
	}
	return false
}

// class names the locations that e may denote: two expressions of different
// classes never denote one location.
//
//	(K1) a variable or field is a class of its own,
//	(K2) the elements of slices and arrays of one type are a class,
//	(K3) unless its address is taken: then all such of one type, and what
//	     pointers to that type point to, are a class.
func (c *compiler) class(e ast.Expr) string {
	own := c.ownClass(e)
	if c.taken[own] || own == "" {
		return "*" + types.TypeString(c.p.info.TypeOf(e), nil) // (K3)
	}
	return own
}

// ownClass is class without (K3); it is empty for what pointers point to.
func (c *compiler) ownClass(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.number(c.object(e)) // (K1)
	case *ast.SelectorExpr:
		if s := c.p.info.Selections[e]; s != nil {
			return c.number(s.Obj()) // (K1)
		}
	case *ast.IndexExpr:
		return "[]" + types.TypeString(c.p.info.TypeOf(e), nil) // (K2)
	}
	return ""
}

// classVar is the class of a variable or field.
func (c *compiler) classVar(o types.Object) string {
	if c.taken[c.number(o)] {
		return "*" + types.TypeString(o.Type(), nil)
	}
	return c.number(o)
}

// classElem is the class of the elements of slices and arrays of type t.
func (c *compiler) classElem(t types.Type) string {
	if own := "[]" + types.TypeString(t, nil); !c.taken[own] {
		return own
	}
	return "*" + types.TypeString(t, nil)
}

func (c *compiler) number(o types.Object) string {
	n, ok := c.ids[o]
	if !ok {
		n = len(c.ids)
		c.ids[o] = n
	}
	return "v" + strconv.Itoa(n)
}

// recursive reports whether d can reach itself through the functions that it
// names.
func (c *compiler) recursive(d *ast.FuncDecl) bool {
	self := c.p.info.Defs[d.Name]
	decls := map[types.Object]*ast.FuncDecl{}
	for _, x := range c.p.file.Decls {
		if x, ok := x.(*ast.FuncDecl); ok {
			decls[c.p.info.Defs[x.Name]] = x
		}
	}
	seen := map[types.Object]bool{}
	var visit func(d *ast.FuncDecl) bool
	visit = func(d *ast.FuncDecl) bool {
		found := false
		ast.Inspect(d.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !found {
				if o := c.p.info.Uses[id]; o == self {
					found = true
				} else if x := decls[o]; x != nil && !seen[o] {
					seen[o] = true
					found = visit(x)
				}
			}
			return !found
		})
		return found
	}
	return visit(d)
}

// foresee fills future and partner.
func (m *machine) foresee() {
	words := (len(m.accs) + 63) / 64
	m.partner = make([]set, len(m.accs))
	for i, a := range m.accs {
		m.partner[i] = make(set, words)
		for j, b := range m.accs {
			if conflicts[a.Kind][b.Kind] && (m.class[i] == m.class[j] || m.class[i] == "" || m.class[j] == "") {
				m.partner[i].add(j)
			}
		}
	}
	m.future = make([][]set, len(m.codes))
	for i, co := range m.codes {
		m.future[i] = make([]set, len(co.ins))
		for pc := range co.ins {
			m.future[i][pc] = make(set, words)
		}
	}
	escaped := make(set, words) // what a call without known callee may do
	for grew := true; grew; {
		grew = false
		for _, n := range m.escaped {
			grew = escaped.join(m.future[n][0]) || grew
		}
		for i, co := range m.codes {
			for pc, in := range slices.Backward(co.ins) {
				s := m.future[i][pc]
				next := func(pc int) { grew = s.join(m.future[i][pc]) || grew }
				add := func(acc int32) {
					if acc >= 0 && !s.has(int(acc)) {
						s.add(int(acc))
						grew = true
					}
				}
				if in.op != opRet && in.op != opJump && in.op != opPanic && in.op != opSelect {
					next(pc + 1)
				}
				add(in.acc)
				switch in.op {
				case opJump, opJumpFalse:
					next(int(in.a))
				case opCopy, opAppend:
					add(in.b)
				case opAtCas:
					if in.acc >= 0 {
						add(in.acc + 1)
					}
				case opSelect:
					table := m.selects[in.a]
					for _, sc := range table.cases {
						add(sc.acc)
						next(int(sc.target))
					}
					if table.dflt >= 0 {
						next(int(table.dflt))
					}
				case opCall, opGo, opDefer:
					if in.b > 0 {
						grew = s.join(m.future[in.b-1][0]) || grew
					} else {
						grew = s.join(escaped) || grew
					}
				}
			}
		}
	}
}

// ahead returns what thread t may still do, in a buffer that the next call for t
// overwrites. Deferred calls are in the future of the function until it returns,
// and then among the frame's own.
func (e *explorer) ahead(s *state, t int) set {
	a := e.aheadBuf[t]
	clear(a)
	for i := range s.threads[t].frames {
		f := &s.threads[t].frames[i]
		if f.mode == running {
			a.join(e.m.future[f.code][f.pc])
		}
		for _, d := range f.defers {
			n := d[0].num()
			switch d[0].tag() {
			case tagClosure:
				n = s.objs[n].cells[0].num()
			case tagFunc:
			default:
				continue
			}
			a.join(e.m.future[n][0])
		}
	}
	return a
}
