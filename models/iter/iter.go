//go:build bfmodel

// Pull runs the sequence in a goroutine of its own that moves only while next or
// stop waits for it. It is one activation that all calls of next share: what it
// has made or waited for in one, it has in all later ones, whatever its caller
// did between them. Two calls at the same time are an error of the caller that
// the race detector reports as a write of the iterator's state; the variable
// state keeps that.
package iter

func bfMaybe() bool
func bfGoexit()

// bfx_pulled is what a sequence hands over: a value, or that it has ended.
type bfx_pulled[V any] struct {
	v   V
	ok  bool
	err any
}

//bf:inline
func bf_Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	var state int
	resume := make(chan bool)
	out := make(chan bfx_pulled[V])
	go func() {
		defer func() { out <- bfx_pulled[V]{err: recover()} }()
		if <-resume {
			seq(func(v V) bool {
				out <- bfx_pulled[V]{v: v, ok: true}
				return <-resume
			})
		}
	}()
	move := func(on bool) (p bfx_pulled[V]) {
		state++
		if bfMaybe() {
			return p // it has ended
		}
		resume <- on
		p = <-out
		if p.err != nil {
			panic(p.err)
		}
		if !p.ok && on && bfMaybe() {
			bfGoexit() // as the sequence did
		}
		return p
	}
	next = func() (V, bool) {
		p := move(true)
		return p.v, p.ok
	}
	stop = func() { move(false) }
	return next, stop
}

//bf:inline
func bf_Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	type pair struct {
		k K
		v V
	}
	one, stop := Pull(func(yield func(pair) bool) {
		seq(func(k K, v V) bool { return yield(pair{k, v}) })
	})
	next = func() (K, V, bool) {
		p, ok := one()
		return p.k, p.v, ok
	}
	return next, stop
}

// What the replaced bodies called is never reached.
func bf_newcoro(f func(*coro)) *coro { return new(coro) }

func bf_coroswitch(c *coro) {}
