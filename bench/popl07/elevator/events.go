package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// A rider wants to get to a floor.
type rider struct{ id, to int }

// An arrival is an event: a rider comes to a floor at a tick of the clock.
type arrival struct {
	tick, from int
	rider      rider
}

// schedule returns arrivals, in order of time, the same ones for the same numbers.
func schedule(n, floors int) []arrival {
	var list []arrival
	seed, tick := uint32(2007), 0
	draw := func(below int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>16) % below
	}
	for id := range n {
		tick += draw(4)
		from, to := draw(floors), draw(floors-1)
		if to >= from {
			to++
		}
		list = append(list, arrival{tick, from, rider{id, to}})
	}
	return list
}

// A clock counts ticks of real time.
type clock struct {
	start time.Time
	tick  time.Duration
}

func newClock(tick time.Duration) clock { return clock{time.Now(), tick} }

// until sleeps until a tick.
func (c clock) until(tick int) {
	time.Sleep(time.Until(c.start.Add(time.Duration(tick) * c.tick)))
}

// pass lets one tick pass.
func (c clock) pass() { time.Sleep(c.tick) }

// A journal is what happened, told by many.
type journal struct {
	mu    sync.Mutex
	on    bool
	lines int
}

func (j *journal) printf(format string, args ...any) {
	if !j.on {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines++
	fmt.Fprintf(os.Stderr, "%5d ", j.lines)
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
