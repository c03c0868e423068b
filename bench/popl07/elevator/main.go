// Command elevator simulates the lifts of a building in real time: riders come at
// given ticks of a clock to the floors where they start, lifts go for them, one
// goroutine each, and take a tick from floor to floor.
//
//	go run ./bench/popl07/elevator [-workers N] [-size N] [-floors N] [-tick D] [-v]
//
// It prints how many riders there were and how many floors they rode up and down
// together, and fails if these are not the numbers asked for.
//
// What lifts share lies in the building's controls or on a floor, each with a lock
// of its own. There is no race.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"time"
)

// totals is what a lift has done.
type totals struct{ riders, up, down int }

func (t *totals) add(u totals) {
	t.riders += u.riders
	t.up += u.up
	t.down += u.down
}

// simulate has riders come, and lifts take them, until all have arrived.
func simulate(b *building, arrivals []arrival, lifts int, c clock) totals {
	var cars []*lift
	var wg sync.WaitGroup
	for i := range lifts {
		l := newLift(i, b, c)
		cars = append(cars, l)
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.run()
		}()
	}
	for _, a := range arrivals {
		c.until(a.tick)
		b.press(a.from, a.rider)
	}
	b.close()
	wg.Wait()
	var sum totals
	for _, l := range cars {
		sum.add(l.done)
	}
	return sum
}

// wanted is what simulate has to return.
func wanted(arrivals []arrival) totals {
	t := totals{riders: len(arrivals)}
	for _, a := range arrivals {
		if d := a.rider.to - a.from; d > 0 {
			t.up += d
		} else {
			t.down -= d
		}
	}
	return t
}

func main() {
	lifts := flag.Int("workers", 3, "lifts")
	riders := flag.Int("size", 100, "riders")
	floors := flag.Int("floors", 12, "floors, two or more")
	tick := flag.Duration("tick", 200*time.Microsecond, "time from floor to floor")
	verbose := flag.Bool("v", false, "tell on stderr what the lifts do")
	flag.Parse()
	if *lifts < 1 || *riders < 0 || *floors < 2 || *tick < 0 {
		fmt.Fprintln(os.Stderr, "elevator: there are one lift and two floors at least, and times and riders are no less than nothing")
		os.Exit(2)
	}
	j := &journal{on: *verbose}
	arrivals := schedule(*riders, *floors)
	got := simulate(newBuilding(*floors, j), arrivals, *lifts, newClock(*tick))
	fmt.Printf("riders %d, floors up %d, down %d\n", got.riders, got.up, got.down)
	if want := wanted(arrivals); got != want {
		fmt.Fprintf(os.Stderr, "elevator: that should be %d, %d, %d\n", want.riders, want.up, want.down)
		os.Exit(1)
	}
}
