//go:build !race

package shadow

const raceDetector = false
