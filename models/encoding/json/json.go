//go:build bfmodel

// Encoding reads what it is handed and calls the marshalling methods that it
// finds there. Decoding writes it, calls the unmarshalling methods, and hangs
// fresh values under it: of the types that are there, and in interfaces the
// documented ones. The real code does both with reflection and with tables of
// functions for each type, in buffers that it takes from pools. Here everything
// reachable is read or written and all methods are called, any number of
// times, which is a superset. Results are fresh memory; an Unmarshaler is
// handed a part of the input, as in the source.
//
// Readers, writers and the state of Encoder and Decoder are handled as in the
// source.
package json

import (
	"encoding"
	"reflect"
)

func bfMaybe() bool
func bfExported(x any) any
func bfStore(p, x any)
func bfExportedRead(x any)
func bfExportedFill(x any)

func bfx_text() string {
	if bfMaybe() {
		return "text"
	}
	return ""
}

func bfx_marshalErr() error {
	switch {
	case bfMaybe():
		return &UnsupportedTypeError{reflect.TypeOf(0)}
	case bfMaybe():
		return &UnsupportedValueError{reflect.ValueOf(0), bfx_text()}
	}
	return nil
}

func bfx_unmarshalErr() error {
	switch {
	case bfMaybe():
		return &UnmarshalTypeError{Value: bfx_text(), Type: reflect.TypeOf(0)}
	case bfMaybe():
		return &InvalidUnmarshalError{reflect.TypeOf(0)}
	case bfMaybe():
		return &SyntaxError{msg: bfx_text()}
	}
	return nil
}

func bfx_encodeWith(x any) error {
	if m, ok := x.(Marshaler); ok {
		b, err := m.MarshalJSON()
		if err != nil || len(b) == 0 || b[0] == 0 {
			return &MarshalerError{reflect.TypeOf(x), err, "MarshalJSON"}
		}
	}
	if m, ok := x.(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		if err != nil || len(b) == 0 || b[0] == 0 {
			return &MarshalerError{reflect.TypeOf(x), err, "MarshalText"}
		}
	}
	if z, ok := x.(interface{ IsZero() bool }); ok {
		z.IsZero()
	}
	return nil
}

//bf:inline
func bfx_encode(v any) error {
	bfExportedRead(v)
	for bfMaybe() {
		if err := bfx_encodeWith(bfExported(v)); err != nil {
			return err
		}
	}
	return bfx_marshalErr()
}

func bfx_decodeWith(data []byte, x any) error {
	if u, ok := x.(Unmarshaler); ok {
		return u.UnmarshalJSON(data)
	}
	if u, ok := x.(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText(append([]byte(nil), data...))
	}
	return nil
}

//bf:inline
func bfx_decode(data []byte, v any) error {
	n := 0
	for _, c := range data {
		n += int(c)
	}
	bfExportedRead(v)
	bfExportedFill(v)
	m := map[string]any{}
	s := []any{nil, true, 1.5, "text", Number("1"), m}
	s[0] = s
	m[bfx_text()] = m
	m[bfx_text()] = s
	for _, x := range s {
		m[bfx_text()] = x
	}
	for bfMaybe() {
		p := bfExported(v)
		bfStore(p, m)
		bfStore(p, make([]byte, n))
		for _, x := range s {
			bfStore(p, x)
		}
		if err := bfx_decodeWith(data, bfExported(v)); err != nil {
			return err
		}
	}
	return bfx_unmarshalErr()
}

//bf:inline
func bf_Marshal(v any) ([]byte, error) {
	if err := bfx_encode(v); err != nil {
		return nil, err
	}
	return make([]byte, 1), nil
}

//bf:inline
func bf_MarshalIndent(v any, prefix, indent string) ([]byte, error) {
	if err := bfx_encode(v); err != nil {
		return nil, err
	}
	return make([]byte, 1), nil
}

//bf:inline
func bf_Unmarshal(data []byte, v any) error { return bfx_decode(data, v) }

//bf:inline
func (enc *Encoder) bf_Encode(v any) error {
	if enc.err != nil {
		return enc.err
	}
	if err := bfx_encode(v); err != nil {
		return err
	}
	text := make([]byte, 1)
	b := text
	if enc.escapeHTML || enc.indentPrefix != "" || enc.indentValue != "" {
		enc.indentBuf = append(enc.indentBuf[:0], b...)
		b = enc.indentBuf
	}
	_, err := enc.w.Write(b)
	text[0] = 0 // it goes back to a pool, and who takes it next overwrites it
	if err != nil {
		enc.err = err
	}
	return err
}

//bf:inline
func (dec *Decoder) bf_Decode(v any) error {
	if dec.err != nil {
		return dec.err
	}
	if err := dec.tokenPrepareForDecode(); err != nil {
		return err
	}
	n, err := dec.readValue()
	if err != nil {
		return err
	}
	data := dec.buf[dec.scanp : dec.scanp+n]
	dec.scanp += n
	if dec.d.useNumber || dec.d.disallowUnknownFields {
		n++
	}
	err = bfx_decode(data, v)
	dec.tokenValueEnd()
	return err
}

// A scanner from the pool belongs to the call that took it.
func bf_newScanner() *scanner {
	s := new(scanner)
	s.reset()
	return s
}

func bf_freeScanner(scan *scanner) {}
