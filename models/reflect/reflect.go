//go:build bfmodel

// A Value is a handle on variables and values, without their names. What is
// derived from it (Elem, Field, Index, MapIndex, Convert ...) may be whatever
// exported and embedded fields lead to from there: that is what Interface
// gives, Set and its like write, and Call calls. It may as well be what an
// unexported field led to, which can only be read: for that, a derived Value
// keeps what it was derived from. Getters read the variables that a Value
// stands for, those of maps, slices and channels also what these hold, and all
// that is reachable from what it was derived from; setters write them, and let
// what they are handed be stored wherever its type fits.
//
// The handle is kept in the field ptr and is the Value's own: moving it is no
// access. Types are tables that never change, or that the package makes once
// and synchronises; a Type keeps the types of what it was asked of, parts
// included, for New and its like.
//
// A method that Method or MethodByName gives may be any exported method of what
// the Value stands for. What cannot be known is recorded: calls, MakeFunc, raw
// pointers.
//
//bf:inline
//bf:default inert types are tables that nobody writes, and the caches of made types are synchronised inside
package reflect

import (
	"iter"
	"unsafe"
)

func bfMaybe() bool
func bfStep(x any) any
func bfStepAll(x any) any
func bfTypes(x any) any
func bfMethods(x any) any
func bfTypeParts(t any) any
func bfTypeMethods(t any) any
func bfNew(t any) any
func bfReadVars(x any)
func bfStoreVars(p, x any)
func bfStore(p, x any)
func bfDeepRead(x any)
func bfGhost(p any) *any
func bfCallFunc(f, x any) any
func bfConvert(x, types any) any
func bfSlice(x any) any
func bfAt(p unsafe.Pointer, types any) any
func bfTypeOver(t any, kind int) any
func bfUnknown(reason string)

// bfx_handle is what ptr points to.
type bfx_handle struct {
	val  any // usable
	root any // what it was derived from, by fields that may be unexported
}

//bf:inline
//bf:silent
func bfx_handleOf(val, root any) Value {
	return Value{ptr: unsafe.Pointer(&bfx_handle{val, root}), flag: flag(bfx_int())}
}

//bf:inline
//bf:silent
func bfx_value(val any) Value {
	return Value{ptr: unsafe.Pointer(&bfx_handle{val: val}), flag: flag(bfx_int())}
}

//bf:inline
//bf:silent
func (v Value) bfx_val() any {
	if v.ptr == nil {
		return nil
	}
	return (*bfx_handle)(v.ptr).val
}

//bf:inline
//bf:silent
func (v Value) bfx_root() any {
	if v.ptr == nil {
		return nil
	}
	return (*bfx_handle)(v.ptr).root
}

// bfx_derive is what v leads to.
func (v Value) bfx_derive() Value {
	val := v.bfx_val()
	root := val
	if bfMaybe() {
		root = v.bfx_root()
	}
	next := bfStep(val)
	if bfMaybe() {
		next = val // where values go round, all of them are one
	}
	return bfx_handleOf(next, root)
}

// bfx_read reads the variables themselves, bfx_look what they point to as well.
func (v Value) bfx_read() {
	bfReadVars(v.bfx_val())
	bfDeepRead(v.bfx_root())
}

func (v Value) bfx_look() {
	v.bfx_read()
	bfReadVars(bfStepAll(v.bfx_val()))
}

// bfx_walk is what v leads to in any number of steps: an embedded field is one.
func (v Value) bfx_walk() Value {
	for bfMaybe() {
		v = v.bfx_derive()
	}
	return v
}

// bfx_set stores x in the variables, bfx_put in what they point to.
func (v Value) bfx_set(x any) { bfStoreVars(v.bfx_val(), x) }

// What MakeSlice and its like make of a type that the program does not have is
// its element itself: it is put there too.
func (v Value) bfx_put(x any) {
	bfStoreVars(bfStep(v.bfx_val()), x)
	bfStoreVars(v.bfx_val(), x)
}

//bf:inline
//bf:silent
func bfx_type(types any) *rtype {
	t := new(rtype)
	*bfGhost(t) = types
	return t
}

//bf:inline
//bf:silent
func bfx_like(t Type) any {
	if r, ok := t.(*rtype); ok {
		return *bfGhost(r)
	}
	return nil
}

func bfx_fresh(t Type) Value { return bfx_value(bfNew(bfx_like(t))) }

func bfx_int() int {
	if bfMaybe() {
		return 1
	}
	return 2
}

func bfx_text() string {
	if bfMaybe() {
		return "text"
	}
	return ""
}

func bf_ValueOf(i any) Value {
	if i == nil {
		return Value{}
	}
	return bfx_value(i)
}

func bf_TypeOf(i any) Type {
	if i == nil {
		return nil
	}
	return bfx_type(bfTypes(i))
}

func bf_TypeFor[T any]() Type { return bfx_type(bfTypeParts(bfTypes(new(T)))) }

func bf_TypeAssert[T any](v Value) (T, bool) {
	x, ok := v.Interface().(T)
	return x, ok
}

// Interface copies the variable out, which reads it.
func (v Value) bf_Interface() (i any) {
	bfReadVars(v.bfx_val())
	return v.bfx_val()
}

func bf_valueInterface(v Value, safe bool) any { return v.Interface() }

func (v Value) bf_Type() Type {
	if bfMaybe() {
		return bfx_type(bfx_parts(bfTypes(v.bfx_root())))
	}
	return bfx_type(bfTypes(v.bfx_val()))
}

// bfx_parts is the types of parts and of their parts: those of values behind
// more unexported fields than that are not known.
func bfx_parts(t any) any {
	if bfMaybe() {
		return bfTypeParts(t)
	}
	return bfTypeParts(bfTypeParts(t))
}

func (v Value) bf_typeSlow() Type { return v.Type() }

func (v Value) bf_Addr() Value {
	return v // a variable stands for a pointer to it too
}

func (v Value) bf_Elem() Value {
	v.bfx_read()
	return v.bfx_derive()
}

func (v Value) bf_Field(i int) Value {
	v.bfx_read()
	return v.bfx_derive()
}

func (v Value) bf_FieldByIndex(index []int) Value {
	v.bfx_read()
	for _, i := range index {
		_ = i
	}
	return v.bfx_walk()
}

func (v Value) bf_FieldByName(name string) Value {
	v.bfx_read()
	return v.bfx_walk()
}

func (v Value) bf_Index(i int) Value {
	v.bfx_read()
	return v.bfx_derive()
}

func (v Value) bf_Slice(i, j int) Value {
	v.bfx_read()
	if bfMaybe() {
		return v // of a slice or a string
	}
	return bfx_value(bfSlice(v.bfx_val()))
}

func (v Value) bf_Slice3(i, j, k int) Value {
	v.bfx_read()
	if bfMaybe() {
		return v // of a slice or a string
	}
	return bfx_value(bfSlice(v.bfx_val()))
}

func (v Value) bf_Convert(t Type) Value {
	bfUnknown("reflect.Value.Convert: where it may convert to many types, pointers keep the type of what they point to")
	v.bfx_look()
	return bfx_value(bfConvert(v.bfx_val(), bfx_like(t)))
}

func (v Value) bf_MapIndex(key Value) Value {
	v.bfx_look()
	key.bfx_read()
	return v.bfx_derive()
}

func (v Value) bf_FieldByNameFunc(match func(string) bool) Value {
	for bfMaybe() {
		match(bfx_text())
	}
	v.bfx_read()
	return v.bfx_walk()
}

func (v Value) bf_FieldByIndexErr(index []int) (Value, error) {
	if bfMaybe() {
		return Value{}, &ValueError{}
	}
	return v.FieldByIndex(index), nil
}

// A method value keeps its receiver; which method it is is not known.

func (v Value) bf_Method(i int) Value {
	return bfx_value(bfMethods(v.bfx_val()))
}

func (v Value) bf_MethodByName(name string) Value {
	return bfx_value(bfMethods(v.bfx_val()))
}

// Call calls any function or method that v stands for.

func (v Value) bf_Call(in []Value) []Value {
	bfUnknown("reflect.Value.Call: any function that its value holds may be called")
	var args []any
	for _, x := range in {
		x.bfx_read()
		args = append(args, x.bfx_val())
	}
	return v.bfx_call(args)
}

func (v Value) bf_CallSlice(in []Value) []Value {
	bfUnknown("reflect.Value.CallSlice: any function that its value holds may be called")
	var args []any
	for _, x := range in {
		x.bfx_read()
		args = append(args, x.bfx_val())
	}
	return v.bfx_call(args)
}

func (v Value) bfx_call(args []any) []Value {
	r := bfCallFunc(v.bfx_val(), args)
	return []Value{bfx_value(r)}
}

func (v Value) bf_Bool() bool {
	v.bfx_read()
	return bfMaybe()
}

func (v Value) bf_Complex() complex128 {
	v.bfx_read()
	return complex(float64(bfx_int()), 0)
}

func (v Value) bf_Float() float64 {
	v.bfx_read()
	return float64(bfx_int())
}

func (v Value) bf_Int() int64 {
	v.bfx_read()
	return int64(bfx_int())
}

func (v Value) bf_Uint() uint64 {
	v.bfx_read()
	return uint64(bfx_int())
}

func (v Value) bf_Len() int {
	v.bfx_look()
	return bfx_int()
}

func (v Value) bf_Cap() int {
	v.bfx_look()
	return bfx_int()
}

// CanConvert looks at the length of a slice where the type is an array's.
func (v Value) bf_CanConvert(t Type) bool {
	v.bfx_look()
	return bfMaybe()
}

func (e *ValueError) bf_Error() string {
	return "reflect: call of " + e.Method + " on " + e.Kind.String()
}

func (v Value) bf_IsNil() bool {
	v.bfx_read()
	return bfMaybe()
}

func (v Value) bf_IsZero() bool {
	v.bfx_look()
	return bfMaybe()
}

func (v Value) bf_Comparable() bool {
	v.bfx_look()
	return bfMaybe()
}

func (v Value) bf_Pointer() uintptr {
	v.bfx_read()
	return uintptr(bfx_int())
}

func (v Value) bf_String() string {
	v.bfx_read()
	return bfx_text()
}

func (v Value) bf_InterfaceData() [2]uintptr {
	v.bfx_read()
	return [2]uintptr{}
}

func (v Value) bf_Equal(u Value) bool {
	v.bfx_look()
	u.bfx_look()
	return bfMaybe()
}

// Bytes gives the variable's own bytes, of whatever type they are.

func (v Value) bf_Bytes() []byte {
	v.bfx_read()
	b := bfConvert(v.bfx_val(), bfTypes([]byte(nil)))
	if bfMaybe() {
		b = bfSlice(v.bfx_val())
	}
	x, _ := b.([]byte)
	return x
}

func (v Value) bf_bytesSlow() []byte {
	return v.Bytes()
}

func (v Value) bf_UnsafePointer() unsafe.Pointer {
	bfUnknown("reflect.Value.UnsafePointer: the pointer is not followed")
	v.bfx_read()
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&(*bfx_handle)(v.ptr).val))[1]
}

func (v Value) bf_UnsafeAddr() uintptr {
	bfUnknown("reflect.Value.UnsafeAddr: the address is not followed")
	return uintptr(bfx_int())
}

func (v Value) bf_Recv() (x Value, ok bool) {
	v.bfx_look()
	return v.bfx_derive(), bfMaybe()
}

func (v Value) bf_TryRecv() (x Value, ok bool) {
	v.bfx_look()
	return v.bfx_derive(), bfMaybe()
}

// A send stores into the channel's buffer, which bfStore takes for a send.

func (v Value) bf_Send(x Value) {
	x.bfx_read()
	v.bfx_put(x.bfx_val())
}

func (v Value) bf_TrySend(x Value) bool {
	x.bfx_read()
	v.bfx_put(x.bfx_val())
	return bfMaybe()
}

// Close is an access to the channel like the others: the stages take any access
// of this package to a channel for a send, a receive and a close.
func (v Value) bf_Close() { v.bfx_put(nil) }

func (v Value) bf_Set(x Value) {
	x.bfx_read()
	v.bfx_set(x.bfx_val())
}

func (v Value) bf_SetBool(x bool) {
	v.bfx_set(nil)
}

func (v Value) bf_SetComplex(x complex128) {
	v.bfx_set(nil)
}

func (v Value) bf_SetFloat(x float64) {
	v.bfx_set(nil)
}

func (v Value) bf_SetInt(x int64) {
	v.bfx_set(nil)
}

func (v Value) bf_SetLen(n int) {
	v.bfx_set(nil)
}

func (v Value) bf_SetCap(n int) {
	v.bfx_set(nil)
}

func (v Value) bf_SetUint(x uint64) {
	v.bfx_set(nil)
}

func (v Value) bf_SetString(x string) {
	v.bfx_set(nil)
}

func (v Value) bf_SetZero() {
	v.bfx_set(nil)
}

func (v Value) bf_Grow(n int) {
	v.bfx_look()
	n2 := bfNew(bfTypes(v.bfx_val()))
	bfStoreVars(bfStep(n2), bfStep(v.bfx_val()))
	v.bfx_set(n2)
}

func (v Value) bf_Clear() {
	v.bfx_read()
	v.bfx_put(nil)
}

func (v Value) bf_SetBytes(x []byte) {
	v.bfx_set(x)
}

func (v Value) bf_SetPointer(x unsafe.Pointer) {
	bfUnknown("reflect.Value.SetPointer stores a raw pointer")
	v.bfx_set(x)
}

func (v Value) bf_SetMapIndex(key, elem Value) {
	key.bfx_read()
	elem.bfx_read()
	v.bfx_read()
	v.bfx_put(key.bfx_val())
	v.bfx_put(elem.bfx_val())
}

func (v Value) bf_SetIterKey(iter *MapIter) {
	v.Set(iter.Key())
}

func (v Value) bf_SetIterValue(iter *MapIter) {
	v.Set(iter.Value())
}

func (v Value) bf_MapKeys() []Value {
	v.bfx_look()
	var keys []Value
	for bfMaybe() {
		keys = append(keys, v.bfx_derive())
	}
	return keys
}

func (v Value) bf_MapRange() *MapIter {
	return &MapIter{m: v}
}

func (iter *MapIter) bf_Key() Value {
	iter.m.bfx_look()
	return iter.m.bfx_derive()
}

func (iter *MapIter) bf_Value() Value {
	iter.m.bfx_look()
	return iter.m.bfx_derive()
}

func (iter *MapIter) bf_Next() bool {
	iter.m.bfx_look()
	iter.m.flag = flag(bfx_int())
	return bfMaybe()
}

func (iter *MapIter) bf_Reset(v Value) {
	iter.m = v
}

func (v Value) bf_Seq() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		v.bfx_look()
		for bfMaybe() {
			if !yield(v.bfx_derive()) {
				return
			}
		}
	}
}

func (v Value) bf_Seq2() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		v.bfx_look()
		for bfMaybe() {
			if !yield(v.bfx_derive(), v.bfx_derive()) {
				return
			}
		}
	}
}

func (v Value) bf_Fields() iter.Seq2[StructField, Value] {
	return func(yield func(StructField, Value) bool) {
		for bfMaybe() {
			if !yield(v.Type().Field(0), v.Field(0)) {
				return
			}
		}
	}
}

func (v Value) bf_Methods() iter.Seq2[Method, Value] {
	return func(yield func(Method, Value) bool) {
		for bfMaybe() {
			if !yield(v.Type().Method(0), v.Method(0)) {
				return
			}
		}
	}
}

// Functions that make values or move them.

func bf_Append(s Value, x ...Value) Value {
	s.bfx_look()
	n := bfNew(bfTypes(s.bfx_val()))
	bfStoreVars(bfStep(n), bfStep(s.bfx_val()))
	for _, e := range x {
		e.bfx_read()
		s.bfx_put(e.bfx_val())
		bfStoreVars(bfStep(n), e.bfx_val())
	}
	if bfMaybe() {
		return bfx_value(n)
	}
	return s
}

func bf_AppendSlice(s, t Value) Value {
	t.bfx_look()
	return Append(s, bfx_value(bfStep(t.bfx_val())))
}

func bf_Copy(dst, src Value) int {
	src.bfx_look()
	dst.bfx_put(bfStep(src.bfx_val()))
	return bfx_int()
}

func bf_Select(cases []SelectCase) (chosen int, recv Value, recvOK bool) {
	for i, c := range cases {
		if bfMaybe() {
			switch c.Dir {
			case SelectSend:
				c.Chan.Send(c.Send)
				return i, Value{}, false
			case SelectRecv:
				recv, recvOK = c.Chan.Recv()
				return i, recv, recvOK
			default:
				return i, Value{}, false
			}
		}
	}
	return 0, Value{}, false
}

func bf_Indirect(v Value) Value {
	if bfMaybe() {
		return v
	}
	return v.Elem()
}

func bf_MakeSlice(typ Type, len, cap int) Value {
	return bfx_fresh(typ)
}

func bf_MakeChan(typ Type, buffer int) Value {
	return bfx_fresh(typ)
}

func bf_MakeMap(typ Type) Value {
	return bfx_fresh(typ)
}

func bf_MakeMapWithSize(typ Type, n int) Value {
	return bfx_fresh(typ)
}

func bf_Zero(typ Type) Value {
	return bfx_fresh(typ)
}

func bf_New(typ Type) Value {
	return bfx_fresh(typ)
}

func bf_NewAt(typ Type, p unsafe.Pointer) Value {
	bfUnknown("reflect.NewAt makes a pointer of a type not known here")
	return bfx_value(bfAt(p, bfx_like(typ)))
}

func bf_SliceAt(typ Type, p unsafe.Pointer, n int) Value {
	bfUnknown("reflect.SliceAt makes a slice of a type not known here")
	return bfx_value(bfAt(p, bfx_like(typ)))
}

func bf_MakeFunc(typ Type, fn func(args []Value) (results []Value)) Value {
	bfUnknown("reflect.MakeFunc: who calls the function that it makes, and with what, is not known")
	go func() {
		for bfMaybe() {
			for _, r := range fn([]Value{bfx_fresh(typ)}) {
				r.bfx_read()
			}
		}
	}()
	return bfx_fresh(typ)
}

func bf_DeepEqual(x, y any) bool {
	bfDeepRead(x)
	bfDeepRead(y)
	return bfMaybe()
}

func bf_Swapper(slice any) func(i, j int) {
	return func(i, j int) { bfStore(slice, nil) }
}

func bf_VisibleFields(t Type) []StructField {
	return []StructField{t.Field(0)}
}

// Types lead to types.

// The kinds of package facts.
const (
	bfx_pointer = 1
	bfx_slice   = 3
	bfx_array   = 4
	bfx_struct  = 5
	bfx_map     = 6
	bfx_chan    = 7
)

func bf_PointerTo(t Type) Type { return bfx_type(bfTypeOver(bfx_like(t), bfx_pointer)) }

func bf_PtrTo(t Type) Type { return PointerTo(t) }

func bf_ChanOf(dir ChanDir, t Type) Type { return bfx_type(bfTypeOver(bfx_like(t), bfx_chan)) }

func bf_SliceOf(t Type) Type { return bfx_type(bfTypeOver(bfx_like(t), bfx_slice)) }

func bf_ArrayOf(length int, elem Type) Type { return bfx_type(bfTypeOver(bfx_like(elem), bfx_array)) }

// What a map of a type that the program does not have makes is its key or its
// element.
func bf_MapOf(key, elem Type) Type {
	if bfMaybe() {
		return bfx_type(bfx_like(key))
	}
	return bfx_type(bfTypeOver(bfx_like(elem), bfx_map))
}

func bf_FuncOf(in, out []Type, variadic bool) Type {
	for _, t := range append(in[:len(in):len(in)], out...) {
		if bfMaybe() {
			return bfx_type(bfx_like(t))
		}
	}
	return bfx_type(nil)
}

func bf_StructOf(fields []StructField) Type {
	for _, f := range fields {
		if bfMaybe() {
			return bfx_type(bfTypeOver(bfx_like(f.Type), bfx_struct))
		}
	}
	return bfx_type(nil)
}

func (t *rtype) bfx_part() *rtype { return bfx_type(bfTypeParts(bfx_like(t))) }

func (t *rtype) bf_Elem() Type {
	return t.bfx_part()
}

func (t *rtype) bf_Key() Type {
	return t.bfx_part()
}

// The type of a method is those of its parameters and results already.

func (t *rtype) bfx_param() *rtype {
	if bfMaybe() {
		return t
	}
	return t.bfx_part()
}

func (t *rtype) bf_In(i int) Type {
	return t.bfx_param()
}

func (t *rtype) bf_Out(i int) Type {
	return t.bfx_param()
}

func (t *rtype) bf_Field(i int) StructField {
	return StructField{Name: bfx_text(), PkgPath: bfx_text(), Type: t.bfx_part(), Tag: StructTag(bfx_text()), Index: []int{bfx_int()}, Anonymous: bfMaybe()}
}

func (t *rtype) bf_FieldByIndex(index []int) StructField {
	for range index {
		t = t.bfx_part()
	}
	return t.Field(0)
}

func (t *rtype) bf_FieldByName(name string) (StructField, bool) {
	return t.FieldByIndex(make([]int, bfx_int())), bfMaybe()
}

func (t *rtype) bf_FieldByNameFunc(match func(string) bool) (StructField, bool) {
	for bfMaybe() {
		match(bfx_text())
	}
	return t.FieldByIndex(make([]int, bfx_int())), bfMaybe()
}

func (t *rtype) bf_Method(i int) (m Method) {
	return Method{Name: bfx_text(), PkgPath: bfx_text(), Type: bfx_type(bfTypeMethods(bfx_like(t))), Func: bfx_value(bfMethods(bfx_like(t))), Index: bfx_int()}
}

func (t *rtype) bf_MethodByName(name string) (m Method, ok bool) {
	return Method{Name: name, PkgPath: bfx_text(), Type: bfx_type(bfTypeMethods(bfx_like(t))), Func: bfx_value(bfMethods(bfx_like(t))), Index: bfx_int()}, bfMaybe()
}

func (t *rtype) bf_Fields() iter.Seq[StructField] {
	return func(yield func(StructField) bool) {
		for bfMaybe() {
			if !yield(t.Field(0)) {
				return
			}
		}
	}
}

func (t *rtype) bf_Methods() iter.Seq[Method] {
	return func(yield func(Method) bool) {
		for bfMaybe() {
			if !yield(t.Method(0)) {
				return
			}
		}
	}
}

func (t *rtype) bf_Ins() iter.Seq[Type] {
	return func(yield func(Type) bool) {
		for bfMaybe() {
			if !yield(t.bfx_param()) {
				return
			}
		}
	}
}

func (t *rtype) bf_Outs() iter.Seq[Type] {
	return func(yield func(Type) bool) {
		for bfMaybe() {
			if !yield(t.bfx_param()) {
				return
			}
		}
	}
}

func (t *rtype) bf_String() string {
	return bfx_text()
}

func (t *rtype) bf_Name() string {
	return bfx_text()
}

func (t *rtype) bf_PkgPath() string {
	return bfx_text()
}
