//go:build race

package shadow

// The cells are meant to be accessed without locks, and sites are stored without
// synchronisation; the race detector of Go rightly says so.
const raceDetector = true
