// Package dynamic holds the source of the state machine for whoever builds it in
// elsewhere; see its subfolders for everything else.
package dynamic

import "embed"

// Shadow is package dynamic/shadow as source text, with its tests.
//
//go:embed shadow/*.go
var Shadow embed.FS
