// Command micro times what a race detector adds to: accesses, synchronisation,
// goroutines, allocation. It prints a line for each row: the name, a tab, and
// nanoseconds of processor time, of all threads, for each operation; one row is
// bytes. The command bench/cmd/live builds it with and without detectors and compares.
//
//	micro [-rounds N] [-time D] [ROW ...]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// elements is the length of the arrays.
const elements = 1 << 20

type object struct{ a, b, c, d int64 }

// All are on the heap, where detectors look, and known to nobody else.
var (
	one    = new(object)
	from   = make([]float64, elements)
	to     = make([]float64, elements)
	ints   = make([]int32, elements)
	octets = make([]byte, elements)
	count  = new(atomic.Int64)
	kept   *object
	mu     sync.Mutex
)

// epoch ends the epoch of the current goroutine.
func epoch() { mu.Lock(); mu.Unlock() }

// A row is one operation: f does it n times.
type row struct {
	name string
	f    func(n int)
}

// passes calls f, which makes one access to each element, in n/elements epochs.
func passes(n int, f func()) {
	for ; n > 0; n -= elements {
		f()
		epoch()
	}
}

// barrier lets two goroutines through together.
type barrier struct {
	mu     sync.Mutex
	cond   *sync.Cond
	inside int
	round  int
}

func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside++
	if round := b.round; b.inside == 2 {
		b.inside = 0
		b.round++
		b.cond.Broadcast()
	} else {
		for b.round == round {
			b.cond.Wait()
		}
	}
}

// shared lets two goroutines compute to from from, each its part, and exchanges the two.
// An operation is one element.
func shared(part func(dst, src []float64, id int)) func(n int) {
	return func(n int) {
		b := new(barrier)
		b.cond = sync.NewCond(&b.mu)
		var wg sync.WaitGroup
		for id := range 2 {
			wg.Go(func() {
				dst, src := to, from
				for k := 0; k < n; k += elements {
					part(dst, src, id)
					b.wait()
					dst, src = src, dst
				}
			})
		}
		wg.Wait()
	}
}

var rows = []row{
	{"read, same epoch", func(n int) {
		s := int64(0)
		for range n {
			s += one.b
		}
		one.c = s
	}},
	{"write, same epoch", func(n int) {
		for i := range n {
			one.a = int64(i)
		}
	}},
	{"read 1M float64, new epochs", func(n int) {
		s := 0.0
		passes(n, func() {
			for i := range from {
				s += from[i]
			}
		})
		one.c = int64(s)
	}},
	{"write 1M float64, new epochs", func(n int) {
		passes(n, func() {
			for i := range to {
				to[i] = 1
			}
		})
	}},
	{"write 1M int32, new epochs", func(n int) {
		passes(n, func() {
			for i := range ints {
				ints[i] = 1
			}
		})
	}},
	{"write 1M bytes, new epochs", func(n int) {
		passes(n, func() {
			for i := range octets {
				octets[i] = 1
			}
		})
	}},
	{"1M loop of 2, halves", shared(func(dst, src []float64, id int) {
		for i := id * elements / 2; i < (id+1)*elements/2; i++ {
			dst[i] = src[i] * 0.5
		}
	})},
	{"1M loop of 2, stride 2", shared(func(dst, src []float64, id int) {
		for i := id; i < elements; i += 2 {
			dst[i] = src[i] * 0.5
		}
	})},
	{"1M loop of 2, rows of 1024", shared(func(dst, src []float64, id int) {
		for row := id * 1024; row < elements; row += 2 * 1024 {
			for i := row; i < row+1024; i++ {
				dst[i] = src[i] * 0.5
			}
		}
	})},
	{"copy 4 KB, new epochs", func(n int) {
		for range n {
			copy(to[:512], from)
			epoch()
		}
	}},
	{"copy 1M float64, new epochs", func(n int) {
		passes(n, func() { copy(to, from) })
	}},
	{"mutex pair", func(n int) {
		for range n {
			epoch()
		}
	}},
	{"RLock pair", func(n int) {
		var mu sync.RWMutex
		for range n {
			mu.RLock()
			mu.RUnlock()
		}
	}},
	{"atomic add", func(n int) {
		for range n {
			count.Add(1)
		}
	}},
	{"atomic load", func(n int) {
		for range n {
			count.Load()
		}
	}},
	{"channel pair, buffered", func(n int) {
		c := make(chan int, 1)
		for range n {
			c <- 1
			<-c
		}
	}},
	{"channel pair, unbuffered", func(n int) {
		c, d := make(chan int), make(chan int)
		go func() {
			for range n {
				<-c
				d <- 1
			}
		}()
		for range n {
			c <- 1
			<-d
		}
	}},
	{"go and Wait", func(n int) {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {})
			wg.Wait()
		}
	}},
	{"new(32 B)", func(n int) {
		for range n {
			kept = new(object)
		}
	}},
	// The later rows leave traces in a detector: goroutines that nothing orders.
	{"go, nobody waits", func(n int) {
		before := runtime.NumGoroutine()
		for i := range n {
			go func() { from[i] = 1 }()
		}
		for runtime.NumGoroutine() > before {
			runtime.Gosched()
		}
	}},
}

// cpu returns the processor time of this process.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		fail(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// measure returns the median time of one operation, once memory has been touched. Rows with
// 1M in their name go over all elements.
func (r row) measure(least time.Duration, rounds int) float64 {
	n, took := 1<<14, time.Duration(0)
	if strings.Contains(r.name, "1M") {
		n = elements
	}
	if r.name == "go, nobody waits" {
		n = 100_000 // of which there are so many in all of this program
		rounds, least = 1, 0
	} else {
		r.f(n)
	}
	var all []float64
	for len(all) < rounds {
		t := cpu()
		r.f(n)
		if took = cpu() - t; took < least {
			n *= 2
			continue
		}
		all = append(all, float64(took.Nanoseconds())/float64(n))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// size is the row of memory. It comes first: later there is memory to use again.
const size = "bytes per element of 8"

// resident returns the memory that this process has.
func resident() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	fmt.Sscan(string(data), &size, &pages)
	return pages * os.Getpagesize()
}

// bytesPerElement returns what an array costs whose elements two goroutines write, half
// each.
func bytesPerElement() float64 {
	const n = 8 * elements
	before := resident()
	a := make([]float64, n)
	var wg sync.WaitGroup
	for id := range 2 {
		wg.Go(func() {
			for i := id * n / 2; i < (id+1)*n/2; i++ {
				a[i] = 1
			}
		})
	}
	wg.Wait()
	used := resident() - before
	runtime.KeepAlive(a)
	return float64(used) / n
}

func main() {
	rounds := flag.Int("rounds", 3, "measurements of each row; the median is printed")
	least := flag.Duration("time", 50*time.Millisecond, "time of one measurement at least")
	profile := flag.String("cpuprofile", "", "write a profile of processor time to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fail(err)
		}
		defer pprof.StopCPUProfile()
	}
	wanted := func(name string) bool { return flag.NArg() == 0 || slices.Contains(flag.Args(), name) }
	if wanted(size) {
		fmt.Printf("%s\t%.1f\n", size, bytesPerElement())
	}
	for _, r := range rows {
		if wanted(r.name) {
			fmt.Printf("%s\t%.2f\n", r.name, r.measure(*least, *rounds))
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "micro:", err)
	os.Exit(2)
}
