//go:build bfmodel

// Assembly over field elements, as the generic Go code beside it: the steps of
// the ladder read and write their working set, double reads and writes x and z,
// and mulA24 writes z from x.
package x448

import fp "github.com/cloudflare/circl/math/fp448"

//bf:inline
func bf_ladderStepAmd64(w *[5]fp.Elt, b uint) { *w = *w }

//bf:inline
func bf_diffAddAmd64(w *[5]fp.Elt, b uint) { *w = *w }

//bf:inline
func bf_doubleAmd64(x, z *fp.Elt) { *x, *z = *z, *x }

//bf:inline
func bf_mulA24Amd64(z, x *fp.Elt) { *z = *x }
