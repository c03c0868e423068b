package pta_test

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// size returns the number of leaves of a type; at least one, so that what has
// no size has an address.
func (m *machine) size(t types.Type) int {
	if n, ok := m.sizes[t]; ok {
		return n
	}
	n := 0
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			n += m.size(u.Field(i).Type())
		}
		n = max(n, 1)
	case *types.Array:
		n = max(int(u.Len())*m.size(u.Elem()), 1)
	case *types.Tuple:
		for i := range u.Len() {
			n += m.size(u.At(i).Type())
		}
	default:
		n = 1
	}
	m.sizes[t] = n
	return n
}

func (m *machine) fieldOff(st *types.Struct, i int) int {
	off := 0
	for j := range i {
		off += m.size(st.Field(j).Type())
	}
	return off
}

// zero returns the zero value of a type.
func (m *machine) zero(t types.Type) []leaf {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		var x []leaf
		for i := range u.NumFields() {
			x = append(x, m.zero(u.Field(i).Type())...)
		}
		if len(x) == 0 {
			x = []leaf{int64(0)}
		}
		return x
	case *types.Array:
		var x []leaf
		for range u.Len() {
			x = append(x, m.zero(u.Elem())...)
		}
		if len(x) == 0 {
			x = []leaf{int64(0)}
		}
		return x
	case *types.Tuple:
		var x []leaf
		for i := range u.Len() {
			x = append(x, m.zero(u.At(i).Type())...)
		}
		return x
	case *types.Pointer:
		return []leaf{address{}}
	case *types.Slice:
		return []leaf{sliceRef{}}
	case *types.Map:
		return []leaf{(*table)(nil)}
	case *types.Chan:
		return []leaf{(*queue)(nil)}
	case *types.Signature:
		return []leaf{(*closure)(nil)}
	case *types.Interface:
		return []leaf{box{}}
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return []leaf{false}
		case u.Info()&types.IsString != 0:
			return []leaf{""}
		}
	}
	return []leaf{int64(0)}
}

func (m *machine) constant(c *ssa.Const) []leaf {
	if c.Value == nil {
		return m.zero(c.Type())
	}
	switch c.Value.Kind() {
	case constant.Bool:
		return []leaf{constant.BoolVal(c.Value)}
	case constant.String:
		return []leaf{constant.StringVal(c.Value)}
	}
	i, _ := constant.Int64Val(constant.ToInt(c.Value))
	return []leaf{i}
}

func (m *machine) alloc(site ssa.Value, t types.Type) *memory {
	return &memory{site, t, m.zero(t)}
}

func (m *machine) global(g *ssa.Global) *memory {
	if m.globals[g] == nil {
		m.globals[g] = m.alloc(g, g.Type().Underlying().(*types.Pointer).Elem())
	}
	return m.globals[g]
}

// at returns the n leaves that a pointer leads to.
func (m *machine) at(p address, n int) []leaf {
	if p.m == nil {
		fault()
	}
	return p.m.cells[p.off : p.off+n]
}

// element returns the address of an element of a slice, or of an array through a
// pointer to it.
func (m *machine) element(x leaf, t types.Type, i int) leaf {
	switch x := x.(type) {
	case sliceRef:
		if i < 0 || i >= x.len {
			fault()
		}
		return address{x.m, x.off + i*m.size(t.Underlying().(*types.Slice).Elem())}
	case address:
		a := t.Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		if x.m == nil || i < 0 || i >= int(a.Len()) {
			fault()
		}
		return address{x.m, x.off + i*m.size(a.Elem())}
	}
	panic("machine: element")
}

func (fr *frame) slice(v *ssa.Slice) leaf {
	lo := fr.int(v.Low)
	bound := func(x ssa.Value, def int) int {
		if x == nil {
			return def
		}
		return fr.int(x)
	}
	switch x := fr.one(v.X).(type) {
	case string:
		hi := bound(v.High, len(x))
		if lo < 0 || lo > hi || hi > len(x) {
			fault()
		}
		return x[lo:hi]
	case sliceRef:
		hi, limit := bound(v.High, x.len), bound(v.Max, x.cap)
		if lo < 0 || lo > hi || hi > limit || limit > x.cap {
			fault()
		}
		return sliceRef{x.m, x.off + lo*fr.m.size(v.Type().Underlying().(*types.Slice).Elem()), hi - lo, limit - lo}
	case address:
		if x.m == nil {
			fault()
		}
		n := int(v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array).Len())
		hi, limit := bound(v.High, n), bound(v.Max, n)
		if lo < 0 || lo > hi || hi > limit || limit > n {
			fault()
		}
		return sliceRef{x.m, x.off + lo*fr.m.size(v.Type().Underlying().(*types.Slice).Elem()), hi - lo, limit - lo}
	}
	panic("machine: slice")
}

// label names what a leaf points to as the analyses do; "" for nothing.
func (m *machine) label(x leaf) string {
	switch x := x.(type) {
	case address:
		if x.m != nil {
			return siteName(x.m.site) + m.path(x.m, x.off)
		}
	case sliceRef:
		if x.m != nil {
			off := x.off
			if x.cap == 0 && off > 0 {
				off-- // of what ends where it begins
			}
			return siteName(x.m.site) + m.path(x.m, off)
		}
	case *table:
		if x != nil {
			return siteName(x.site)
		}
	case *queue:
		if x != nil {
			return siteName(x.site)
		}
	case *closure:
		if x != nil {
			return siteName(x.fn)
		}
	case box:
		if x.site != nil {
			return siteName(x.site)
		}
	}
	return ""
}

// path names a leaf of an object. Nested arrays look like one.
func (m *machine) path(o *memory, off int) string {
	var s strings.Builder
	t := o.typ
	for {
		switch u := t.Underlying().(type) {
		case *types.Array:
			if s.WriteString("[]"); u.Len() > 0 {
				off %= m.size(u.Elem())
			}
			t = u.Elem()
			continue
		case *types.Struct:
			if u.NumFields() > 0 {
				i := 0
				for i < u.NumFields()-1 && off >= m.size(u.Field(i).Type()) {
					off -= m.size(u.Field(i).Type())
					i++
				}
				s.WriteString("." + u.Field(i).Name())
				t = u.Field(i).Type()
				continue
			}
		}
		return arrays.ReplaceAllString(s.String(), "[]")
	}
}

// key identifies a comparable value.
func key(x []leaf) string {
	var s strings.Builder
	for _, l := range x {
		switch l := l.(type) {
		case address:
			fmt.Fprintf(&s, "%p+%d;", l.m, l.off)
		case *table, *queue, *closure:
			fmt.Fprintf(&s, "%p;", l)
		case sliceRef:
			fault()
		case box:
			if l.typ == nil {
				s.WriteString("nil;")
				continue
			}
			if !types.Comparable(l.typ) {
				fault()
			}
			s.WriteString(l.typ.String() + "{" + key(l.v) + "};")
			if s.Len() > maxLen {
				panic(ended{})
			}
		default:
			fmt.Fprintf(&s, "%#v;", l)
		}
	}
	return s.String()
}

func (t *table) put(k, v []leaf) {
	if t == nil {
		fault()
	}
	s := key(k)
	if _, ok := t.at[s]; !ok {
		t.keys = append(t.keys, s)
	}
	t.at[s] = [2][]leaf{clone(k), clone(v)}
}

func (t *table) get(k []leaf) ([]leaf, bool) {
	s := key(k)
	if t == nil {
		return nil, false
	}
	e, ok := t.at[s]
	return e[1], ok
}

func (t *table) remove(s string) {
	delete(t.at, s)
	if i := slices.Index(t.keys, s); i >= 0 {
		t.keys = slices.Delete(slices.Clone(t.keys), i, i+1)
	}
}

func (m *machine) next(v *ssa.Next, it *iterator) []leaf {
	tup := v.Type().(*types.Tuple)
	if v.IsString {
		for i, r := range it.s[it.pos:] {
			x := []leaf{true, int64(it.pos + i), int64(r)}
			it.pos += len(string(r))
			return x
		}
		return []leaf{false, int64(0), int64(0)}
	}
	for it.pos < len(it.keys) {
		e, ok := it.over.at[it.keys[it.pos]]
		it.pos++
		if !ok {
			continue // deleted meanwhile
		}
		x := []leaf{true}
		for i := range 2 { // a blank one has no type
			if tup.At(i+1).Type() == types.Typ[types.Invalid] {
				x = append(x, int64(0))
			} else {
				x = append(x, e[i]...)
			}
		}
		return x
	}
	return m.zero(tup)
}

func (m *machine) send(q *queue, x []leaf) {
	m.until(func() bool { return q != nil && (q.closed || len(q.buf) < q.cap+q.wanted) })
	if q.closed {
		fault()
	}
	q.buf = append(q.buf, clone(x))
}

func (m *machine) receive(q *queue, t types.Type) ([]leaf, bool) {
	if q != nil {
		q.wanted++
		defer func() { q.wanted-- }()
	}
	m.until(func() bool { return q != nil && (q.closed || len(q.buf) > 0) })
	if len(q.buf) == 0 {
		return m.zero(t.Underlying().(*types.Chan).Elem()), false
	}
	x := q.buf[0]
	q.buf = q.buf[1:]
	return x, true
}

// selectOne takes the ready case that stands first after one that turns.
func (fr *frame) selectOne(v *ssa.Select) []leaf {
	m := fr.m
	chosen := -1
	ready := func() bool {
		for i := range v.States {
			i := (i + m.steps) % len(v.States)
			s := v.States[i]
			q := fr.one(s.Chan).(*queue)
			if q == nil {
				continue
			}
			if q.closed || s.Dir == types.SendOnly && len(q.buf) < q.cap+q.wanted || s.Dir == types.RecvOnly && len(q.buf) > 0 {
				chosen = i
				return true
			}
		}
		return false
	}
	if v.Blocking {
		m.until(ready)
	} else {
		ready()
	}
	received := false
	var values []leaf
	for i, s := range v.States {
		q := fr.one(s.Chan).(*queue)
		switch {
		case s.Dir == types.SendOnly:
			if i == chosen {
				m.send(q, fr.get(s.Send))
			}
		case i == chosen:
			x, ok := m.receive(q, s.Chan.Type())
			received = ok
			values = append(values, x...)
		default:
			values = append(values, m.zero(s.Chan.Type().Underlying().(*types.Chan).Elem())...)
		}
	}
	return append([]leaf{int64(chosen), received}, values...)
}

func (m *machine) assert(v *ssa.TypeAssert, b box) []leaf {
	ok := false
	var x []leaf
	if i, isI := v.AssertedType.Underlying().(*types.Interface); isI {
		if ok = b.typ != nil && types.Implements(b.typ, i); ok {
			x = []leaf{b}
		}
	} else if ok = b.typ != nil && types.Identical(b.typ, v.AssertedType); ok {
		x = b.v
	}
	if !ok {
		if !v.CommaOk {
			fault()
		}
		x = m.zero(v.AssertedType)
	}
	if v.CommaOk {
		x = append(clone(x), ok)
	}
	return x
}

func (m *machine) convert(v *ssa.Convert, x leaf) []leaf {
	to := v.Type().Underlying()
	switch x := x.(type) {
	case string:
		if s, ok := to.(*types.Slice); ok {
			var cells []leaf
			if b := s.Elem().Underlying().(*types.Basic); b.Kind() == types.Uint8 {
				for _, c := range []byte(x) {
					cells = append(cells, int64(c))
				}
			} else {
				for _, c := range x {
					cells = append(cells, int64(c))
				}
			}
			o := m.alloc(v, types.NewArray(s.Elem(), int64(len(cells))))
			copy(o.cells, cells)
			return []leaf{sliceRef{o, 0, len(cells), len(cells)}}
		}
	case sliceRef:
		s := ""
		for i := range x.len {
			s += string(rune(x.m.cells[x.off+i].(int64)))
		}
		return []leaf{s}
	}
	return []leaf{x}
}

func binop(op token.Token, x, y []leaf) leaf {
	switch op {
	case token.EQL, token.NEQ:
		eq := false
		sx, isSlice := x[0].(sliceRef)
		bx, isBox := x[0].(box)
		switch {
		case isSlice: // with nil
			eq = sx.m == nil && y[0].(sliceRef).m == nil
		case isBox && len(x) == 1 && (bx.typ == nil || y[0].(box).typ == nil):
			eq = bx.typ == y[0].(box).typ
		default:
			eq = key(x) == key(y)
		}
		return eq == (op == token.EQL)
	}
	if s, ok := x[0].(string); ok {
		t := y[0].(string)
		switch op {
		case token.ADD:
			return s + t
		case token.LSS:
			return s < t
		}
	}
	a, b := x[0].(int64), y[0].(int64)
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.REM:
		if b == 0 {
			fault()
		}
		return a % b
	case token.LSS:
		return a < b
	case token.LEQ:
		return a <= b
	case token.GTR:
		return a > b
	case token.GEQ:
		return a >= b
	}
	panic("machine: operator " + op.String())
}
