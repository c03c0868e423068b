//go:build bfmodel

// Assembly over field elements, as the generic Go code beside it: z gets the
// result of x and y; cmov may copy y to x, cswap may exchange the two, addsub
// sets x to their sum and y to their difference.
package fp25519

//bf:inline
func bfx_two(z, x, y *Elt) {
	a, b := *x, *y
	a[0] += b[0]
	*z = a
}

//bf:inline
func bf_cmovAmd64(x, y *Elt, n uint) { bfx_two(x, x, y) }

//bf:inline
func bf_cswapAmd64(x, y *Elt, n uint) { *x, *y = *y, *x }

//bf:inline
func bf_addAmd64(z, x, y *Elt) { bfx_two(z, x, y) }

//bf:inline
func bf_subAmd64(z, x, y *Elt) { bfx_two(z, x, y) }

//bf:inline
func bf_addsubAmd64(x, y *Elt) { *x, *y = *y, *x }

//bf:inline
func bf_mulAmd64(z, x, y *Elt) { bfx_two(z, x, y) }

//bf:inline
func bf_sqrAmd64(z, x *Elt) { *z = *x }

//bf:inline
func bf_modpAmd64(z *Elt) { *z = *z }
