//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package nistec

//bf:inline
func bf_p256FromMont(res, in *p256Element) {
	*res = *in
}

//bf:inline
func bf_p256Mul(res, in1, in2 *p256Element) {
	x, y := *in1, *in2
	x[0] += y[0]
	*res = x
}

//bf:inline
func bf_p256Sqr(res, in *p256Element, n int) {
	*res = *in
}

//bf:inline
func bf_p256NegCond(val *p256Element, cond int) {
	x := *val
	*val = x
}

//bf:inline
func bf_p256MovCond(res, a, b *P256Point, cond int) {
	x := *a
	if cond == 0 {
		x = *b
	}
	*res = x
}

//bf:inline
func bf_p256OrdMul(res, in1, in2 *p256OrdElement) {
	x, y := *in1, *in2
	x[0] += y[0]
	*res = x
}

//bf:inline
func bf_p256OrdSqr(res, in *p256OrdElement, n int) {
	*res = *in
}

//bf:inline
func bf_p256PointAddAffineAsm(res, in1 *P256Point, in2 *p256AffinePoint, sign, sel, zero int) {
	x, y := *in1, *in2
	x.x = y.x
	*res = x
}

//bf:inline
func bf_p256PointAddAsm(res, in1, in2 *P256Point) int {
	x, y := *in1, *in2
	x.x = y.x
	*res = x
	return int(x.x[0])
}

//bf:inline
func bf_p256PointDoubleAsm(res, in *P256Point) {
	*res = *in
}

//bf:inline
func bf_p256Select(res *P256Point, table *p256Table, idx int) {
	*res = table[idx]
}

//bf:inline
func bf_p256SelectAffine(res *p256AffinePoint, table *p256AffineTable, idx int) {
	*res = table[idx]
}
