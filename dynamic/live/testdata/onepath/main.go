// Command onepath has a lock and one path without it. Whether a run of it has a race
// depends on the schedule, and it says which: all adds are ordered before all reads if they
// came before the first read, which has the lock; else some read without it and some add are
// not ordered. With an argument main waits a while, so that most runs are ordered.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type registry struct {
	sync.Mutex
	seen map[string]int
}

// Locked sections so far, that of the last add and that of the first read. No detector looks
// at them; they are accessed with the lock.
var sections, lastAdd, firstRead int

//go:norace
func enter(add bool) {
	sections++
	if add {
		lastAdd = sections
	} else if firstRead == 0 {
		firstRead = sections
	}
}

//go:norace
func verdict() string {
	if lastAdd < firstRead {
		return "ordered"
	}
	return "race"
}

func (r *registry) add(k string) {
	r.Lock()
	defer r.Unlock()
	enter(true)
	r.seen[k]++
}

func (r *registry) count(k string, approx bool) int {
	if approx {
		return r.seen[k]
	}
	r.Lock()
	defer r.Unlock()
	enter(false)
	return r.seen[k]
}

func main() {
	r := &registry{seen: map[string]int{}}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range 50 {
			r.add("a")
		}
	}()
	if len(os.Args) > 1 {
		time.Sleep(20 * time.Millisecond)
	}
	sum := 0
	for i := range 50 {
		sum += r.count("a", i%2 == 1)
	}
	wg.Wait()
	fmt.Println(verdict(), sum >= 0)
}
