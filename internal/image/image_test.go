package image

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bfverify/bfverify/facts"
)

// fill gives every field of v a value other than zero, and slices several elements,
// an empty one, or none.
func fill(rnd *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) > 0)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rnd.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(rnd.Uint64()) >> (64 - v.Type().Bits()))
	case reflect.String:
		v.SetString([]string{"", "x", "\xff\x00", "p.(*T).m"}[rnd.IntN(4)])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rnd, v.Elem())
	case reflect.Slice:
		if n := rnd.IntN(5); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range v.Len() {
			fill(rnd, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rnd, v.Field(i))
		}
	}
}

// TestImage reads what was written of records with anything in them, and refuses, or
// at least survives, what was cut off or changed.
func TestImage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var r facts.Record
		fill(rnd, reflect.ValueOf(&r).Elem())
		b := Encode(&r)
		got, err := Decode[facts.Record](b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, &r) {
			t.Fatalf("read:\n%+v\nwritten:\n%+v", got, r)
		}
		if again := Encode(got); !bytes.Equal(again, b) {
			t.Fatal("two forms of one record")
		}
		for range 20 {
			if _, err := Decode[facts.Record](b[:rnd.IntN(len(b))]); err == nil {
				t.Fatal("a record that was cut off is one")
			}
			bad := bytes.Clone(b)
			bad[rnd.IntN(len(bad))] ^= byte(1 << rnd.IntN(8))
			Decode[facts.Record](bad)
		}
	}
}
