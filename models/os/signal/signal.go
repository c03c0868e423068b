//go:build bfmodel

// A signal is sent on the channel from a goroutine of the package, any number
// of times, never blocking, at any time after Notify. The real package keeps
// all channels in one table under a lock; each channel is served here by a
// goroutine of its own, which orders less. Stop promises that no signal is
// sent after it returns, which orders nothing before it.
package signal

import (
	"os"
	"syscall"
)

func bfMaybe() bool

func bfx_deliver(c chan<- os.Signal) {
	for bfMaybe() {
		select {
		case c <- syscall.Signal(1):
		default:
		}
	}
}

//bf:inline
func bf_Notify(c chan<- os.Signal, sig ...os.Signal) {
	if c == nil {
		panic("os/signal: Notify using nil channel")
	}
	for _, s := range sig {
		_ = signum(s)
	}
	go bfx_deliver(c)
}

func bf_Stop(c chan<- os.Signal) {}

func bf_cancel(sigs []os.Signal, action func(int)) {
	for _, s := range sigs {
		_ = signum(s)
	}
}

func bf_Ignored(sig os.Signal) bool { return bfMaybe() }

// The table's own loop never starts.
func bf_loop() {}
