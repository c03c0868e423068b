package pta_test

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// builtin calls a builtin function.
func (fr *frame) builtin(name string, call ssa.CallInstruction, args [][]leaf) []leaf {
	m := fr.m
	switch name {
	case "append":
		return []leaf{m.append(call.Value(), args)}
	case "copy":
		d := args[0][0].(sliceRef)
		src, n := m.elements(args[1][0], call.Common().Args[1].Type())
		n = min(n, d.len)
		if es := m.size(call.Common().Args[0].Type().Underlying().(*types.Slice).Elem()); n > 0 {
			copy(d.m.cells[d.off:d.off+n*es], src)
		}
		return []leaf{int64(n)}
	case "len", "cap":
		switch x := args[0][0].(type) {
		case string:
			return []leaf{int64(len(x))}
		case sliceRef:
			if name == "cap" {
				return []leaf{int64(x.cap)}
			}
			return []leaf{int64(x.len)}
		case *table:
			if x == nil {
				return []leaf{int64(0)}
			}
			return []leaf{int64(len(x.at))}
		case *queue:
			if x == nil {
				return []leaf{int64(0)}
			}
			return []leaf{int64(len(x.buf))}
		}
		t := call.Common().Args[0].Type().Underlying()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
		}
		return []leaf{t.(*types.Array).Len()}
	case "close":
		q := args[0][0].(*queue)
		if q == nil || q.closed {
			fault()
		}
		q.closed = true
		return nil
	case "delete":
		if t := args[0][0].(*table); t != nil {
			t.remove(key(args[1]))
		}
		return nil
	case "clear":
		switch x := args[0][0].(type) {
		case *table:
			if x != nil {
				x.keys, x.at = nil, map[string][2][]leaf{}
			}
		case sliceRef:
			el := call.Common().Args[0].Type().Underlying().(*types.Slice).Elem()
			for i := range x.len {
				copy(x.m.cells[x.off+i*m.size(el):], m.zero(el))
			}
		}
		return nil
	case "recover":
		// In a deferred function whose caller panics.
		if c := fr.caller; c != nil && !fr.panicking && c.panicking {
			c.panicking = false
			return []leaf{c.thrown.(thrown).v}
		}
		return []leaf{box{}}
	case "print", "println":
		return nil
	case "ssa:wrapnilchk":
		if args[0][0].(address).m == nil {
			fault()
		}
		return args[0]
	case "ssa:deferstack":
		return []leaf{fr.defers}
	}
	panic("machine: builtin " + name)
}

// elements returns the leaves of the elements of a slice or a string, and how
// many elements there are.
func (m *machine) elements(x leaf, t types.Type) ([]leaf, int) {
	switch x := x.(type) {
	case string:
		var cells []leaf
		for _, c := range []byte(x) {
			cells = append(cells, int64(c))
		}
		return cells, len(x)
	case sliceRef:
		if x.len == 0 {
			return nil, 0
		}
		es := m.size(t.Underlying().(*types.Slice).Elem())
		return clone(x.m.cells[x.off : x.off+x.len*es]), x.len
	}
	panic("machine: elements")
}

func (m *machine) append(site ssa.Value, args [][]leaf) leaf {
	s := args[0][0].(sliceRef)
	el := site.Type().Underlying().(*types.Slice).Elem()
	es := m.size(el)
	more, n := m.elements(args[1][0], site.(*ssa.Call).Call.Args[1].Type())
	if n == 0 {
		return s
	}
	if m.steps += n; s.len+n > maxLen {
		panic(ended{})
	}
	if s.len+n > s.cap {
		c := max(2*s.cap, s.len+n)
		o := m.alloc(site, types.NewArray(el, int64(c)))
		if s.len > 0 {
			copy(o.cells, s.m.cells[s.off:s.off+s.len*es])
		}
		s = sliceRef{o, 0, s.len, c}
	}
	copy(s.m.cells[s.off+s.len*es:s.off+(s.len+n)*es], more)
	s.len += n
	return s
}
