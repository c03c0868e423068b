// Package image writes values as bytes that stand as they do in memory, so that
// reading them costs little more than copying them. Equal values have equal bytes, and
// what is read equals what was written, empty slices told from nil ones. The bytes are
// for one program on one machine: there is no version in them, and who keeps them has
// to see to that. A value is made of numbers, truth values, strings, arrays of
// numbers, and slices, structs and pointers of these.
package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Encode writes *x. Pointers in it are not nil. Cost: linear in the bytes.
func Encode[T any](x *T) []byte {
	return planFor(reflect.TypeFor[T]()).encode(nil, unsafe.Pointer(x))
}

// errImage reports bytes that no value was written as.
var errImage = errors.New("image: bytes that are no value of the type")

// Decode reads what Encode wrote of a value of the same type.
func Decode[T any](b []byte) (*T, error) {
	x := new(T)
	d := &decoder{b: b}
	planFor(reflect.TypeFor[T]()).decode(d, unsafe.Pointer(x))
	if d.failed || len(d.b) > 0 {
		return nil, errImage
	}
	return x, nil
}

var plans sync.Map // reflect.Type -> *plan

func planFor(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := planOf(t, map[reflect.Type]*plan{})
	plans.Store(t, p)
	return p
}

// A plan says how values of one type are written.
//
//	numbers, truth values   as in memory; arrays of them, too
//	strings, slices         length, then bytes or elements
//	pointers                what they point to; never nil
//	structs                 their fields, one after another
type plan struct {
	size   uintptr
	plain  bool // numbers all through, without gaps: as in memory
	encode func([]byte, unsafe.Pointer) []byte
	decode func(*decoder, unsafe.Pointer)
}

type decoder struct {
	b      []byte
	failed bool
}

// take returns the next n bytes, or nil.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.failed, d.b = true, nil
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) length() int {
	n, k := binary.Uvarint(d.b)
	if k <= 0 || n > 1<<40 {
		d.failed, d.b = true, nil
		return 0
	}
	d.b = d.b[k:]
	return int(n)
}

// planOf returns the plan of a type; made has those of the types that it is in.
func planOf(t reflect.Type, made map[reflect.Type]*plan) *plan {
	if p := made[t]; p != nil {
		return p
	}
	p := &plan{size: t.Size()}
	made[t] = p
	kind := t.Kind()
	if kind == reflect.Array && planOf(t.Elem(), made).plain {
		kind = reflect.Uint8 // whatever its size
	}
	switch kind {
	case reflect.Bool, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.plain = true
		p.encode = func(b []byte, at unsafe.Pointer) []byte { return append(b, memory(at, p.size)...) }
		p.decode = func(d *decoder, at unsafe.Pointer) { copy(memory(at, p.size), d.take(uint64(p.size))) }
	case reflect.String:
		p.encode = func(b []byte, at unsafe.Pointer) []byte {
			s := *(*string)(at)
			return append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
		p.decode = func(d *decoder, at unsafe.Pointer) { *(*string)(at) = string(d.take(uint64(d.length()))) }
	case reflect.Pointer:
		elem := planOf(t.Elem(), made)
		p.encode = func(b []byte, at unsafe.Pointer) []byte { return elem.encode(b, *(*unsafe.Pointer)(at)) }
		p.decode = func(d *decoder, at unsafe.Pointer) {
			x := reflect.New(t.Elem()).UnsafePointer()
			elem.decode(d, x)
			*(*unsafe.Pointer)(at) = x
		}
	case reflect.Slice:
		slicePlan(p, t, planOf(t.Elem(), made))
	case reflect.Struct:
		structPlan(p, t, made)
	default:
		panic(fmt.Sprintf("image: a value cannot hold a %s", t))
	}
	return p
}

// memory returns the bytes of a value.
func memory(at unsafe.Pointer, n uintptr) []byte { return unsafe.Slice((*byte)(at), n) }

func slicePlan(p *plan, t reflect.Type, elem *plan) {
	// A nil slice and an empty one are told apart: length plus one.
	p.encode = func(b []byte, at unsafe.Pointer) []byte {
		s := *(*[]byte)(at) // its length is that of the slice, whatever its elements
		if s == nil {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(len(s))+1)
		first := unsafe.Pointer(unsafe.SliceData(s))
		if elem.plain {
			return append(b, memory(first, elem.size*uintptr(len(s)))...)
		}
		for i := range len(s) {
			b = elem.encode(b, unsafe.Add(first, uintptr(i)*elem.size))
		}
		return b
	}
	p.decode = func(d *decoder, at unsafe.Pointer) {
		n := d.length() - 1
		if n < 0 {
			return
		}
		if elem.plain {
			src := d.take(uint64(n) * uint64(elem.size))
			if src == nil && n > 0 {
				return
			}
			s := reflect.MakeSlice(t, n, n)
			copy(memory(s.UnsafePointer(), elem.size*uintptr(n)), src)
			reflect.NewAt(t, at).Elem().Set(s)
			return
		}
		if n > len(d.b) { // an element has one byte at least
			d.failed, d.b = true, nil
			return
		}
		s := reflect.MakeSlice(t, n, n)
		for i := 0; i < n && !d.failed; i++ {
			elem.decode(d, unsafe.Add(s.UnsafePointer(), uintptr(i)*elem.size))
		}
		reflect.NewAt(t, at).Elem().Set(s)
	}
}

// structPlan joins plain fields that lie side by side.
func structPlan(p *plan, t reflect.Type, made map[reflect.Type]*plan) {
	type part struct {
		off, size uintptr
		plan      *plan // nil: memory
	}
	var parts []part
	var total uintptr // of plain fields
	for i := range t.NumField() {
		f := t.Field(i)
		fp := planOf(f.Type, made)
		if fp.plain {
			total += fp.size
			if n := len(parts); n > 0 && parts[n-1].plan == nil && parts[n-1].off+parts[n-1].size == f.Offset {
				parts[n-1].size += fp.size
			} else {
				parts = append(parts, part{f.Offset, fp.size, nil})
			}
			continue
		}
		parts = append(parts, part{f.Offset, fp.size, fp})
	}
	p.plain = total == t.Size() // what lies in gaps is anything
	p.encode = func(b []byte, at unsafe.Pointer) []byte {
		for _, x := range parts {
			if x.plan == nil {
				b = append(b, memory(unsafe.Add(at, x.off), x.size)...)
			} else {
				b = x.plan.encode(b, unsafe.Add(at, x.off))
			}
		}
		return b
	}
	p.decode = func(d *decoder, at unsafe.Pointer) {
		for _, x := range parts {
			if x.plan == nil {
				copy(memory(unsafe.Add(at, x.off), x.size), d.take(uint64(x.size)))
			} else {
				x.plan.decode(d, unsafe.Add(at, x.off))
			}
		}
	}
}
