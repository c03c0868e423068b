//go:build bfmodel

// A Builder only appends: it never rewrites bytes below its length, so the
// string that String shares with it never changes, and a fresh one with the
// same bytes cannot be told from it. Clone's string likewise. Reading the
// bytes here adds nothing: a write of them comes with a write of the Builder,
// which String reads anyway.
package strings

//bf:inline
func (b *Builder) bf_String() string { return string(b.buf) }

//bf:inline
func bf_Clone(s string) string { return string([]byte(s)) }
