//go:build bfmodel

// A linkname of a function of go/types that sets one unexported field of the
// configuration. Here all of its fields are read and written, with what they
// hold.
package srcimporter

import "go/types"

//bf:inline
func bf_setUsesCgo(conf *types.Config) { *conf = *conf }
