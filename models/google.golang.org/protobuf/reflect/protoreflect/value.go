//go:build bfmodel

// A Value is a union: one of its words is the data word of an interface, a slice
// or a string, another its type. Here the data word keeps the interface, or a box
// of the slice or string, so that what comes out of a Value has the type that went
// in. Types are compared only.
package protoreflect

import "unsafe"

func bfHide(x any) unsafe.Pointer
func bfShow(p unsafe.Pointer) any

var bfx_type byte

func bf_typeOf(t any) unsafe.Pointer { return unsafe.Pointer(&bfx_type) }

func bf_valueOfString(v string) Value {
	return Value{typ: stringType, ptr: bfHide(v), num: uint64(len(v))}
}

func bf_valueOfBytes(v []byte) Value {
	return Value{typ: bytesType, ptr: bfHide(v), num: uint64(len(v))}
}

func bf_valueOfIface(v any) Value {
	return Value{typ: typeOf(v), ptr: bfHide(v)}
}

func (v Value) bf_getString() string {
	x, _ := bfShow(v.ptr).(string)
	return x
}

func (v Value) bf_getBytes() []byte {
	x, _ := bfShow(v.ptr).([]byte)
	return x
}

func (v Value) bf_getIface() any { return bfShow(v.ptr) }
