//go:build bfmodel

// Assembly over field elements, as the generic Go code beside it: out = a*b and
// out = a*a. Nothing else is read or written.
package field

//bf:inline
func bf_feMul(out *Element, a *Element, b *Element) {
	x, y := *a, *b
	x.l0 += y.l0
	*out = x
}

//bf:inline
func bf_feSquare(out *Element, a *Element) {
	x := *a
	*out = x
}
