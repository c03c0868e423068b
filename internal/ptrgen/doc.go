// Package ptrgen generates import-free Go programs that are rich in pointers,
// to compare points-to analyses on.
//
// Every program compiles, depends on its seed and [Config] alone, and calls each of
// its functions and methods somewhere, so that all are reached. A run ends, mostly:
// functions return at once when a program has made a few hundred calls, loops are
// short, and channels are used in select statements with a default. Much panics, but
// inside the function try, which recovers; initialisers may end a run, slices may
// double, and a promoted method may call itself.
//
// What is in them: structs, by value and nested, with embedded structs,
// pointers and interfaces; arrays of arrays; slices, append and copy; maps and channels of
// structs, slices, maps and channels; interfaces with embedded interfaces; type
// switches and assertions; function values, closures over variables that are
// assigned later, method values and expressions; promoted methods; generic
// functions and types; named and multiple results, variadic functions, defer and
// recover; conversions between pointers to structs of one underlying type;
// initialised globals; goroutines.
//
// What is not: packages, unsafe, strings, arithmetic beyond counters.
package ptrgen
