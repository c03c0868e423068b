//go:build bfmodel

// Timers belong to the runtime. One that has a channel sends on it, from the
// runtime, whenever the channel has room; one that has a function starts it in
// a goroutine of its own, once when it is made and once again for each Reset.
// Stop promises nothing about a function that already runs, so it orders
// nothing. A channel's sends come after the timer was made (the goroutine that
// sends is started there), which the runtime does order.
package time

import (
	"errors"
	"unsafe"
)

func bfMaybe() bool
func bfGhost(p any) *any

// bfx_fire sends any number of times: a ticker's ticks, and a timer's after
// each Reset.
func bfx_fire(c chan Time) {
	for bfMaybe() {
		select {
		case c <- Now():
		default:
		}
	}
}

//bf:inline
func bf_NewTimer(d Duration) *Timer {
	c := make(chan Time, 1)
	go bfx_fire(c)
	return &Timer{C: c, initTimer: true}
}

//bf:inline
func bf_After(d Duration) <-chan Time {
	c := make(chan Time, 1)
	go bfx_fire(c)
	return c
}

//bf:inline
func bf_NewTicker(d Duration) *Ticker {
	if d <= 0 {
		panic("non-positive interval for NewTicker")
	}
	c := make(chan Time, 1)
	go bfx_fire(c)
	return &Ticker{C: c, initTicker: true}
}

//bf:inline
func bf_Tick(d Duration) <-chan Time {
	if d <= 0 {
		return nil
	}
	c := make(chan Time, 1)
	go bfx_fire(c)
	return c
}

// AfterFunc keeps the function in the timer's hidden cell for Reset.
//
//bf:inline
func bf_AfterFunc(d Duration, f func()) *Timer {
	t := &Timer{initTimer: true}
	*bfGhost(t) = f
	go f()
	return t
}

//bf:inline
func (t *Timer) bf_Reset(d Duration) bool {
	if !t.initTimer {
		panic("time: Reset called on uninitialized Timer")
	}
	if f, ok := (*bfGhost(t)).(func()); ok {
		go f()
	}
	return bfMaybe()
}

//bf:inline
func (t *Timer) bf_Stop() bool {
	if !t.initTimer {
		panic("time: Stop called on uninitialized Timer")
	}
	return bfMaybe()
}

//bf:inline
func (t *Ticker) bf_Stop() {
	if !t.initTicker {
		return
	}
}

//bf:inline
func (t *Ticker) bf_Reset(d Duration) {
	if d <= 0 {
		panic("non-positive interval for Ticker.Reset")
	}
	if !t.initTicker {
		panic("time: Reset called on uninitialized Ticker")
	}
}

// What the replaced bodies called, for whoever reaches it by a linkname.
//
//bf:inline
func bf_newTimer(when, period int64, f func(any, uintptr, int64), arg any, cp unsafe.Pointer) *Timer {
	t := &Timer{initTimer: true}
	fire := func() {
		for bfMaybe() { // each period
			f(arg, 0, 0)
		}
	}
	*bfGhost(t) = fire
	go fire()
	return t
}

func bf_stopTimer(t *Timer) bool { return t.Stop() }

func bf_resetTimer(t *Timer, when, period int64) bool { return t.Reset(Duration(when)) }

// Zones come from files that nobody writes; a Location does not change once
// it is loaded, and localOnce, which runs initLocal, is a sync.Once.
func bf_initLocal() {
	localLoc = *bfx_zone("Local")
}

func bfx_zone(name string) *Location {
	l := &Location{
		name:   name,
		zone:   make([]zone, 1),
		tx:     make([]zoneTrans, 1),
		extend: "",
	}
	l.cacheZone = &l.zone[0]
	return l
}

func bf_loadLocation(name string, sources []string) (z *Location, firstErr error) {
	for range sources {
	}
	if bfMaybe() {
		return nil, errors.New("unknown time zone " + name)
	}
	return bfx_zone(name), nil
}
