//go:build bfmodel

// Assembly over fixed operands: it reads its inputs and writes its outputs, all
// of each, and keeps nothing. Which is which is taken from the generic Go code
// beside it.
package big

//bf:inline
func bf_addVV(z, x, y []Word) (c Word) {
	for i := range z {
		z[i] = x[i] + y[i]
		c += z[i]
	}
	return c
}

//bf:inline
func bf_subVV(z, x, y []Word) (c Word) {
	for i := range z {
		z[i] = x[i] + y[i]
		c += z[i]
	}
	return c
}

//bf:inline
func bf_lshVU(z, x []Word, s uint) (c Word) {
	for i := range z {
		z[i] = x[i] << s
		c += z[i]
	}
	return c
}

//bf:inline
func bf_rshVU(z, x []Word, s uint) (c Word) {
	for i := range z {
		z[i] = x[i] << s
		c += z[i]
	}
	return c
}

//bf:inline
func bf_mulAddVWW(z, x []Word, m, a Word) (c Word) {
	for i := range z {
		z[i] = x[i]*m + a
		c += z[i]
	}
	return c
}

//bf:inline
func bf_addMulVVWW(z, x, y []Word, m, a Word) (c Word) {
	for i := range z {
		z[i] = x[i] + y[i]*m + a
		c += z[i]
	}
	return c
}
