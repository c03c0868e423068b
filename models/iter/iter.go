//go:build bfmodel

// Pull runs the sequence in a coroutine that moves only while next or stop
// waits for it: what it does, it does between the call and the return, as if
// called. The stand-ins call it anew each time and stop anywhere, which shows
// the same code between the same points. Two calls at the same time are an
// error of the caller that the race detector reports as a write of the
// iterator's state; the variable state keeps that.
package iter

func bfMaybe() bool
func bfGoexit()

//bf:inline
func bf_Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	var state int
	next = func() (v1 V, ok1 bool) {
		defer func() { recover() }()
		state++
		seq(func(v V) bool {
			v1, ok1 = v, true
			if bfMaybe() {
				bfGoexit() // suspended here
			}
			return bfMaybe()
		})
		return v1, ok1
	}
	stop = func() {
		state++
		if bfMaybe() {
			seq(func(V) bool { return false })
		}
	}
	return next, stop
}

//bf:inline
func bf_Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	var state int
	next = func() (k1 K, v1 V, ok1 bool) {
		defer func() { recover() }()
		state++
		seq(func(k K, v V) bool {
			k1, v1, ok1 = k, v, true
			if bfMaybe() {
				bfGoexit() // suspended here
			}
			return bfMaybe()
		})
		return k1, v1, ok1
	}
	stop = func() {
		state++
		if bfMaybe() {
			seq(func(K, V) bool { return false })
		}
	}
	return next, stop
}

// What the replaced bodies called is never reached.
func bf_newcoro(f func(*coro)) *coro { return new(coro) }

func bf_coroswitch(c *coro) {}
