//go:build bfverify

package sync

import _ "unsafe" // for linkname

// Implemented in package runtime.

//go:linkname bfTouch
//go:noescape
func bfTouch(p *int32)

//go:linkname bfCompareAndSwapInt32
//go:noescape
func bfCompareAndSwapInt32(p *int32, old, new int32) bool

//go:linkname bfAddInt32
//go:noescape
func bfAddInt32(p *int32, delta int32) int32
