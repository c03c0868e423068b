//go:build bfmodel

// The collector scans the heap with these functions. It sees the program's
// memory as words, while it knows that the program does not write them or with
// barriers of its own, and hands nothing to the program.
//
//bf:default inert only the collector calls these functions
package scan
