//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package field

//bf:inline
func bf_feMul(out *Element, a *Element, b *Element) {
	x, y := *a, *b
	x.l0 += y.l0
	*out = x
}

//bf:inline
func bf_feSquare(out *Element, a *Element) {
	*out = *a
}
