//go:build bfmodel

// Run starts f in a goroutine of a new bubble and returns when that goroutine
// and all others of the bubble have ended. Only the join with f itself is
// claimed, and no order is claimed for Wait. A bubble that was acquired keeps
// nothing of its callers.
package synctest

import "unsafe"

func bfMaybe() bool

//bf:inline
func bf_Run(f func()) {
	done := make(chan bool, 1)
	go func() {
		defer func() { done <- true }()
		f()
	}()
	<-done
}

func bf_associate(p unsafe.Pointer) int {
	if bfMaybe() {
		return 1
	}
	return 0
}

func bf_disassociate(b unsafe.Pointer) {}

func bf_isAssociated(p unsafe.Pointer) bool { return bfMaybe() }

func bf_acquire() any {
	if bfMaybe() {
		return new(int)
	}
	return nil
}

func bf_release(b any) {}

//bf:inline
func bf_inBubble(b any, f func()) { f() }
