// Command philo seats philosophers at a round table. Between each two neighbours
// lies one fork, and a philosopher eats with the two beside him, so neighbours
// never eat at once. A monitor guards the table; who is hungry waits there until
// both of his forks are free, and so nobody deadlocks by holding one.
//
//	go run ./bench/popl07/philo [-workers N] [-size N] [-v]
//
// It prints the number of meals, which is that of philosophers times that of
// meals each, and fails if it is another.
//
// The count of meals that have been served so far is kept outside of the monitor,
// as it is only there to be looked at. That is a race; see the lines that say so.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"time"
)

// A table is the monitor.
type table struct {
	mu    sync.Mutex
	freed *sync.Cond // forks were put back
	taken []bool     // by fork; fork i lies to the left of seat i
	most  int        // philosophers that ate at one time
	now   int        // that eat now

	served int // meals so far, for who watches
}

func newTable(seats int) *table {
	t := &table{taken: make([]bool, seats)}
	t.freed = sync.NewCond(&t.mu)
	return t
}

// forks returns the two beside a seat.
func (t *table) forks(seat int) (left, right int) {
	return seat, (seat + 1) % len(t.taken)
}

// take waits until both forks of a seat are free, and takes them.
func (t *table) take(seat int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left, right := t.forks(seat)
	for t.taken[left] || t.taken[right] {
		t.freed.Wait()
	}
	t.taken[left], t.taken[right] = true, true
	t.now++
	t.most = max(t.most, t.now)
}

// put puts the forks of a seat back.
func (t *table) put(seat int) {
	t.mu.Lock()
	left, right := t.forks(seat)
	t.taken[left], t.taken[right] = false, false
	t.now--
	t.mu.Unlock()
	t.freed.Broadcast()
}

// A philosopher lives in a goroutine of its own.
type philosopher struct {
	seat  int
	table *table
	meals int    // eaten
	mind  uint32 // thinking changes it
}

// live thinks and eats until it has had so many meals.
func (p *philosopher) live(meals int) {
	for p.meals < meals {
		p.think()
		p.table.take(p.seat)
		p.eat()
		p.table.put(p.seat)
		p.table.served++ // want: race table.served
	}
}

// think takes a while that differs from thought to thought.
func (p *philosopher) think() {
	for range p.mind % 97 {
		p.mind = p.mind*1664525 + 1013904223
	}
	p.mind++
}

func (p *philosopher) eat() {
	p.meals++
	p.mind ^= uint32(p.meals) << p.seat
}

// watch prints how far the meal has got until it is told to stop.
func (t *table) watch(every time.Duration, all int, stop <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "%d of %d meals served\n", t.served, all) // want: race table.served
		}
	}
}

// dinner seats philosophers, has them eat, and returns how many meals there were
// and how many ate at once.
func dinner(seats, meals int, verbose bool) (eaten, most int) {
	t := newTable(seats)
	stop := make(chan struct{})
	var watching sync.WaitGroup
	if verbose {
		watching.Add(1)
		go func() {
			defer watching.Done()
			t.watch(time.Millisecond, seats*meals, stop)
		}()
	}
	var guests []*philosopher
	var wg sync.WaitGroup
	for seat := range seats {
		p := &philosopher{seat: seat, table: t, mind: uint32(seat) * 2654435761}
		guests = append(guests, p)
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.live(meals)
		}()
	}
	wg.Wait()
	close(stop)
	watching.Wait()
	for _, p := range guests {
		eaten += p.meals
	}
	return eaten, t.most
}

func main() {
	seats := flag.Int("workers", 5, "philosophers, two or more")
	meals := flag.Int("size", 1000, "meals of each")
	verbose := flag.Bool("v", false, "tell on stderr how far they are")
	flag.Parse()
	if *seats < 2 || *meals < 0 {
		fmt.Fprintln(os.Stderr, "philo: -workers is two or more, -size no less than nothing")
		os.Exit(2)
	}
	eaten, most := dinner(*seats, *meals, *verbose)
	fmt.Println("meals", eaten)
	if eaten != *seats**meals || most > *seats/2 {
		fmt.Fprintf(os.Stderr, "philo: %d meals, %d at once: want %d, and %d at most\n", eaten, most, *seats**meals, *seats/2)
		os.Exit(1)
	}
}
