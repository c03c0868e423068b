//go:build bfmodel

// Files are analysed from their source down to internal/poll, which is
// modelled. Exit ends the program with no deferred call run.
package os

import "internal/testlog"

func bfExit()
func bfMaybe() bool

func bf_Exit(code int) {
	if code == 0 && testlog.PanicOnExit0() {
		panic("unexpected call to os.Exit(0) during test")
	}
	bfExit()
}

// What the runtime hands over is fresh.
func bf_runtime_args() []string { return make([]string, 1) }
