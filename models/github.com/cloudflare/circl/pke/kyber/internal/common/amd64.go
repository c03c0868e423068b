//go:build bfmodel

// Assembly over polynomials, as the generic Go code beside it: p gets the result
// of a and b, or is changed in place.
package common

//bf:inline
func bf_addAVX2(p *[256]int16, a *[256]int16, b *[256]int16) {
	for i := range p {
		p[i] = a[i] + b[i]
	}
}

//bf:inline
func bf_subAVX2(p *[256]int16, a *[256]int16, b *[256]int16) {
	for i := range p {
		p[i] = a[i] + b[i]
	}
}

//bf:inline
func bf_mulHatAVX2(p *[256]int16, a *[256]int16, b *[256]int16) {
	for i := range p {
		p[i] = a[i] + b[i]
	}
}

//bf:inline
func bf_nttAVX2(p *[256]int16) { *p = *p }

//bf:inline
func bf_invNttAVX2(p *[256]int16) { *p = *p }

//bf:inline
func bf_detangleAVX2(p *[256]int16) { *p = *p }

//bf:inline
func bf_tangleAVX2(p *[256]int16) { *p = *p }

//bf:inline
func bf_barrettReduceAVX2(p *[256]int16) { *p = *p }

//bf:inline
func bf_normalizeAVX2(p *[256]int16) { *p = *p }
