// Package cache keeps what can be computed again: a Badger store of values under
// keys that are recipes.
//
// What may be believed: a value that Get returns is, byte for byte, one that was put
// under that kind and that recipe. Anything else, a value that was cut off or
// changed, a store of another layout, a store that is in use, a full disk, is a miss.
// A cache costs time, never truth.
//
// # Keys
//
// A Key is a hash of all that a value depends on, written by a Recipe. Who forgets
// an input makes the cache lie, so what is hashed is what was read: the content of
// files, never their times.
//
// # Values
//
// A value is compressed and sealed with a checksum over its kind, its key and its
// content (value.go). It is verified when it is read. One that does not fit is
// deleted, counted, and a miss.
//
// # Processes
//
// Badger maps its files into memory, so that a full disk is a SIGBUS, and ends the
// process where it finds its own files wrong. Neither may happen to a verification
// of an hour. So the store is in a process of its own (Serve), which a Client starts
// and talks to over pipes: it opens Badger once, and when it dies the rest of the
// run is one without a cache. A process that is killed leaves the store as it was
// after the last entry written.
//
// Badger's lock shuts out all other processes. One that finds the store in use
// waits a moment (Wait) and then goes on without it.
//
// # Size
//
// Each value has a time of last use, to the hour. When values are put and the files
// are larger than the limit, those unused for longest go, and what is left is copied
// into a new store, as Badger itself gives space back late.
package cache
