//go:build bfmodel

// Package time keeps the function and calls it, from whatever goroutine looks a
// location up. It is this package's own loader, which reads a constant and
// returns a part of it, so that when it runs and who calls it makes no
// difference: it is called here in a goroutine of its own.
package tzdata

//bf:inline
func bf_registerLoadFromEmbeddedTZData(f func(string) (string, error)) { go f("UTC") }
